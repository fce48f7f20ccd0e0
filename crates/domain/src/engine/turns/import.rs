//! What a session of a layer wrote enters the ledger, in the commit that ends its turn.

use crate::engine::input::pull::Pull;
use crate::engine::input::session::Session;
use crate::engine::lookup::slot::{self, Seat};
use crate::engine::lookup::{exchange_view, new_commits};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{FINDINGS_NOTE_CHARS, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::turn;
use crate::exchange::{CommitRange, Import, Request, import};
use crate::model::{Slot, TrackName};
use crate::state::{Outcome, Turn};
use crate::{Diagnostic, prompt};

/// Imports what the ended session of a live turn wrote, and ends the turn. Waits where that is still to be read.
///
/// `pull`: its pull request, where it opened one although nobody asked for it.
pub(crate) fn bring_in(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    seat: &Seat,
    (session, pull): (&Session, Option<&Pull>),
) {
    let snapshot = draft.snapshot;
    let soon = draft.after(POLL);
    let unread = exchange_view::unread(draft);
    let wait = |draft: &mut Draft<'_>, reason, text: String, until| {
        let line = draft.line(track, slot, turn, Verdict::Waiting, reason, text);
        draft.say(line.until(until));
    };
    if let Some(outage) = snapshot.unread.get(&session.id) {
        let text = format!("what it wrote cannot be read: {}", outage.detail);
        let until = outage.retry_at.unwrap_or(soon);
        return wait(draft, Reason::SessionUnread, text, until);
    }
    let Some(written) = snapshot.written.get(&session.id).filter(|_| !unread) else {
        if !snapshot.written.contains_key(&session.id) {
            let pinned = pull.map(|pull| (pull.number, pull.head_oid.clone()));
            draft.needs.written.insert(session.id.clone(), pinned);
        }
        let text = "what it wrote, and the exchange, are being read".to_owned();
        return wait(draft, Reason::ExchangeUnread, text, soon);
    };
    let picture = exchange_view::picture(draft);
    let (tree, exchange) = (&picture.tree, picture.exchange.as_ref());
    let streams = exchange.map(|exchange| &exchange.streams);
    let stream = slot::stream(exchange, seat);
    let stream = stream.as_str();
    let item = seat.item().unwrap_or_default();
    let path = streams
        .and_then(|streams| exchange_view::item(streams.get(stream)?, item))
        .map_or(item, |item| item.path.as_str());
    let author = seat.author(path);
    let given = exchange_view::as_given(tree, &turn.given);
    let range = draft
        .state
        .cursors
        .narrated
        .as_ref()
        .zip(turn.base_sha.as_ref());
    let imported = import(&Request {
        tree,
        base: Some(&given),
        author,
        stream,
        session_created: session.created_at,
        range: range.map(|(from, to)| CommitRange {
            from: from.as_str(),
            to: to.as_str(),
        }),
        published: &draft.state.published,
        changes: &written.files,
    });
    let subject = imported.subject(&author);
    let Import {
        files,
        taken,
        found,
    } = imported;
    let found: Vec<Diagnostic> = written.found.iter().cloned().chain(found).collect();
    // What is in the ledger already is as good as taken.
    let is_empty = files.is_empty() && (written.files.is_empty() || !found.is_empty());
    let outcome = if is_empty {
        Outcome::NoOutput
    } else {
        Outcome::Imported
    };
    draft.write(files);
    if let Some(subject) = subject {
        draft.headline(subject, None);
    }
    if *seat == Seat::Narrator
        && outcome == Outcome::Imported
        && let Some(base) = &turn.base_sha
    {
        new_commits::told(draft, base);
    }
    if !taken.is_empty() {
        let text = format!("taken into the ledger: {}", taken.join(", "));
        let line: Line = draft.line(track, slot, turn, Verdict::Imported, Reason::Finished, text);
        draft.say(line);
    }
    turn::end(draft, track, slot, outcome, note(&found));
}

/// What was not taken, on one line. It quotes what an agent wrote.
fn note(found: &[Diagnostic]) -> Option<String> {
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
