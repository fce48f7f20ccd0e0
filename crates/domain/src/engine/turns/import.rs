//! Imports the output of a layer's session into the ledger, in the commit that ends its turn.

use crate::engine::input::pull::Pull;
use crate::engine::input::session::Session;
use crate::engine::input::snapshot::SessionFiles;
use crate::engine::lookup::slot::{self, SlotRole};
use crate::engine::lookup::{exchange_view, new_commits};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{FINDINGS_NOTE_CHARS, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::turn;
use crate::exchange::{CommitRange, Import, Request, import_changes};
use crate::model::{Slot, TrackName};
use crate::state::{Outcome, Turn};
use crate::{Diagnostic, prompt};

/// Imports the output of an ended session, and ends its turn. Waits where the output is still to be read.
///
/// `pull`: its pull request, where it opened one without being asked.
pub(crate) fn import_output(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    slot_role: &SlotRole,
    (session, pull): (&Session, Option<&Pull>),
) {
    let snapshot = builder.snapshot;
    let soon = builder.now_plus(POLL);
    let unread = exchange_view::request_exchange(builder);
    let wait = |builder: &mut DecisionBuilder<'_>, reason, text: String, until| {
        let line = builder.turn_line(track, slot, turn, Verdict::Waiting, reason, text);
        builder.report_line(line.with_until(until));
    };
    if let Some(outage) = snapshot.unread.get(&session.id) {
        let text = format!("what it wrote cannot be read: {}", outage.detail);
        let until = outage.retry_at.unwrap_or(soon);
        return wait(builder, Reason::SessionUnread, text, until);
    }
    let Some(written) = snapshot.session_files.get(&session.id).filter(|_| !unread) else {
        if !snapshot.session_files.contains_key(&session.id) {
            let pinned = pull.map(|pull| (pull.number, pull.head_oid.clone()));
            builder
                .reads
                .session_files
                .insert(session.id.clone(), pinned);
        }
        let text = "what it wrote, and the exchange, are being read".to_owned();
        return wait(builder, Reason::ExchangeUnread, text, soon);
    };
    let (subject, imported) = check_files(builder, turn, slot_role, session, written);
    let Import {
        files,
        taken,
        diagnostics: found,
    } = imported;
    let found: Vec<Diagnostic> = written.diagnostics.iter().cloned().chain(found).collect();
    // Output that is in the ledger already counts as imported.
    let is_empty = files.is_empty() && (written.files.is_empty() || !found.is_empty());
    let outcome = if is_empty {
        Outcome::NoOutput
    } else {
        Outcome::Imported
    };
    builder.write_files(files);
    if let Some(subject) = subject {
        builder.add_headline(subject, None);
    }
    if *slot_role == SlotRole::Narrator
        && outcome == Outcome::Imported
        && let Some(base) = &turn.base_sha
    {
        new_commits::mark_summarized(builder, base);
    }
    if !taken.is_empty() {
        let text = format!("into the ledger: {}", taken.join(", "));
        let line: Line =
            builder.turn_line(track, slot, turn, Verdict::Imported, Reason::Finished, text);
        builder.report_line(line);
    }
    turn::end_turn(builder, track, slot, outcome, findings_note(&found));
}

/// What of a session's files goes into the ledger, with the subject of its commit.
fn check_files(
    builder: &mut DecisionBuilder<'_>,
    turn: &Turn,
    slot_role: &SlotRole,
    session: &Session,
    written: &SessionFiles,
) -> (Option<String>, Import) {
    let view = exchange_view::current_view(builder);
    let (tree, exchange) = (&view.tree, view.exchange.as_ref());
    let streams = exchange.map(|exchange| &exchange.streams);
    let stream = slot::resolve_stream(exchange, slot_role);
    let stream = stream.as_str();
    let item = slot_role.item_id().unwrap_or_default();
    let path = streams
        .and_then(|streams| exchange_view::find_item(streams.get(stream)?, item))
        .map_or(item, |item| item.path.as_str());
    let author = slot_role.import_author(path);
    let given = exchange_view::unchanged_inputs(tree, &turn.inputs);
    let range = builder
        .state
        .cursors
        .summarized_commit
        .as_ref()
        .zip(turn.base_sha.as_ref());
    let imported = import_changes(&Request {
        tree,
        base: Some(&given),
        author,
        stream,
        session_created: session.created_at,
        range: range.map(|(from, to)| CommitRange {
            from: from.as_str(),
            to: to.as_str(),
        }),
        published: &builder.state.published,
        changes: &written.files,
    });
    (imported.commit_subject(&author), imported)
}

/// What was not imported, on one line. It quotes untrusted text.
fn findings_note(found: &[Diagnostic]) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    let line = prompt::without_secrets(&prompt::clean_line(&lines.join("; ")));
    let short: String = line.chars().take(FINDINGS_NOTE_CHARS).collect();
    Some(if short.len() < line.len() {
        format!("{short}…")
    } else {
        short
    })
}
