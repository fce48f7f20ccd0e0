//! Decides whether the ledger can be trusted and written.

use jiff::Timestamp;

use crate::Diagnostic;
use crate::engine::input::session::{Listing, ListingNeed, Session};
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::sessions::{self, Unidentified, is_of_ledger, own_prompt_line};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::{GRACE, POLL, SESSIONS_READ};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::outage::report_outage;
use crate::model::Marker;
use crate::state::State;

/// Whether the ledger can be trusted and written. If not, reports why, and opens a notice where a person must fix it.
pub(crate) fn is_ledger_trusted(builder: &mut DecisionBuilder<'_>) -> bool {
    let snapshot = builder.snapshot;
    if snapshot.repository.archived {
        let text = "the repository is archived; nothing can be written to it";
        builder.report_line(Line::about_repository(
            Verdict::Paused,
            Reason::RepositoryArchived,
            text,
        ));
        return false;
    }
    if snapshot.repository.default_head.is_none() {
        let text = "the repository has no commit yet; push one to its default branch";
        builder.report_line(Line::about_repository(
            Verdict::Paused,
            Reason::RepositoryEmpty,
            text,
        ));
        return false;
    }
    match &snapshot.ledger {
        Ledger::Corrupt { diagnostics, .. } => {
            let found: Vec<_> = diagnostics
                .iter()
                .take(10)
                .map(|one| format!("- {one}"))
                .collect();
            let detail = diagnostics
                .first()
                .map_or_else(|| "it cannot be read".to_owned(), ToString::to_string);
            builder.report_line(Line::about_repository(
                Verdict::Paused,
                Reason::LedgerCorrupt,
                detail,
            ));
            builder.open_notice(
                NoticeKey::LedgerCorrupt,
                "phileas: the state file cannot be read".to_owned(),
                match diagnostics.iter().any(Diagnostic::is_newer_format) {
                    true => newer_text(&found),
                    false => corrupt_text(&found),
                },
            );
            false
        }
        Ledger::Missing { .. } => may_be_born(builder),
        Ledger::Present { state, .. } => !is_foreign(builder, state) && !is_behind(builder, state),
    }
}

fn corrupt_text(found: &[String]) -> String {
    format!(
        "`.jules/cycle_state.json` on the branch `jules` cannot be read, so nothing is started and nothing is written \
         over it.\n\n{}\n\nTo fix it, look at what `phileas state repair` proposes (it compares the file's earlier \
         versions in the branch's history), then accept the proposal or put an earlier version back by a commit. \
         phileas goes on by itself once the file can be read, and closes this issue.",
        found.join("\n")
    )
}

fn newer_text(found: &[String]) -> String {
    format!(
        "`.jules/cycle_state.json` on the branch `jules` was written by a newer phileas than the one that looks at it \
         here, so nothing is started and nothing is written over it.\n\n{}\n\nTo fix it, upgrade this phileas (the \
         version that the workflow, the image or the machine names). Nothing is wrong with the file, so do not put an \
         earlier version back. phileas goes on by itself then, and closes this issue.",
        found.join("\n")
    )
}

fn report_unidentified(builder: &mut DecisionBuilder<'_>, unread: &Unidentified) {
    let text = match unread {
        Unidentified::Unreadable(sessions) => format!(
            "there is no ledger yet, and whether there was one stands in session {}, which Jules does not show; \
             it is tried again. If this repository never had a ledger, commit an empty one: the file \
             `.jules/cycle_state.json` with the content `{{\"version\": 5, \"history\": {{}}}}` on the branch \
             `jules`",
            sessions[0]
        ),
        _ => "there is no ledger yet; sessions of unknown origin are read first".to_owned(),
    };
    let until = builder.now_plus(POLL);
    builder.report_line(
        Line::about_repository(Verdict::Waiting, Reason::JulesUnavailable, text).with_until(until),
    );
}

/// Whether a missing ledger may be created: only when no session in Jules has this repository's marker.
fn may_be_born(builder: &mut DecisionBuilder<'_>) -> bool {
    match &builder.snapshot.sessions {
        Listing::NotTaken => {
            builder.reads.listing = Some(ListingNeed::Everything);
            let text = "there is no ledger yet; Jules is asked whether there should be one";
            let until = builder.now_plus(POLL);
            builder.report_line(
                Line::about_repository(Verdict::Waiting, Reason::JulesUnavailable, text)
                    .with_until(until),
            );
            false
        }
        Listing::Failed(_) => {
            report_outage(builder);
            false
        }
        Listing::Taken(sessions) if sessions.since.is_some() || !sessions.archived => {
            report_unproven(builder);
            false
        }
        Listing::Taken(sessions) => {
            let unread = sessions::request_unidentified(builder, Timestamp::MIN, None);
            if unread != Unidentified::None {
                report_unidentified(builder, &unread);
                return false;
            }
            let witness = sessions
                .sessions
                .iter()
                .filter(|session| sessions::session_marker(builder.snapshot, session).is_some())
                .min_by_key(|session| session.created_at);
            if let Some(witness) = witness {
                if builder.now().duration_since(witness.created_at) < GRACE {
                    // Another process may have created the ledger after this tick read it.
                    report_catching_up(builder, witness);
                    return false;
                }
                report_rolled_back(
                    builder,
                    &format!(
                        "there is no ledger, but session {} was started by phileas",
                        witness.id
                    ),
                );
                return false;
            }
            true
        }
    }
}

/// Reports that the complete list cannot be read, so that a person must say whether there was a ledger.
fn report_unproven(builder: &mut DecisionBuilder<'_>) {
    let text = "there is no ledger, and Jules' list cannot be read to its end, so whether there was one is not known";
    builder.report_line(Line::about_repository(
        Verdict::Paused,
        Reason::LedgerUnproven,
        text,
    ));
    let body = "The branch `jules` has no state file. Before one is born, phileas looks whether Jules knows sessions of \
                this repository that a lost ledger would have remembered; but Jules' list of this key is longer than \
                phileas reads, or does not show archived sessions.\n\nIf this repository never had a ledger, commit an \
                empty one: the file `.jules/cycle_state.json` with the content `{\"version\": 5, \"history\": {}}` on the \
                branch `jules`. If it had one, put its newest commit back. phileas goes on by itself then, and closes \
                this issue.";
    builder.open_notice(
        NoticeKey::LedgerUnproven,
        "phileas: is this repository new?".to_owned(),
        body.to_owned(),
    );
}

/// Whether the ledger belongs to another repository, as in a copy with all branches. Its turns are not this
/// repository's.
fn is_foreign(builder: &mut DecisionBuilder<'_>, state: &State) -> bool {
    let own = builder.snapshot.repository.id;
    let Some(other) = state
        .genesis
        .as_ref()
        .map(|genesis| genesis.repository_id)
        .filter(|id| *id != own)
    else {
        return false;
    };
    let text = format!(
        "the ledger was born for repository {}, and this one is {}: it came with a copy",
        other.0, own.0
    );
    builder.report_line(Line::about_repository(
        Verdict::Paused,
        Reason::LedgerForeign,
        text,
    ));
    let body = format!(
        "The state file on the branch `jules` belongs to the repository with the id {}; this repository has the id {}. \
         It seems to be a copy with all its branches. Nothing is started and nothing is written over it.\n\nTo let \
         phileas work here, delete the branch `jules` of this copy; a ledger of its own is born then. If phileas shall \
         not work here, delete `.jules/schedules.toml` or the workflow.",
        other.0, own.0
    );
    builder.open_notice(
        NoticeKey::LedgerForeign,
        "phileas: the ledger belongs to another repository".to_owned(),
        body,
    );
    true
}

/// Whether the ledger is older than what Jules shows, because an older version was restored.
fn is_behind(builder: &mut DecisionBuilder<'_>, state: &State) -> bool {
    let Some(sessions) = builder.snapshot.listing() else {
        return false;
    };
    // A listing may omit prompts; then only the title has the marker, and the session must be read.
    let unread: Vec<_> = sessions
        .sessions
        .iter()
        .filter(|session| session.prompt.is_none() && !session.elsewhere)
        .filter(|session| {
            Marker::from_title(&session.title).is_some_and(|marker| {
                let id = marker.turn.as_str();
                state.live_turn(id).is_none() && state.entry_named(id).is_none()
            })
        })
        .map(|session| session.id.clone())
        .take(SESSIONS_READ)
        .collect();
    builder.reads.sessions.extend(unread);
    let unknown = sessions.sessions.iter().filter(|session| {
        own_prompt_line(builder.snapshot, session).is_some_and(|line| {
            // The derivation comes last, because it hashes.
            !line.track.as_str().starts_with("request:")
                && line.seq > state.newest_seq(&line.track)
                && is_of_ledger(state, &line)
        })
    });
    let Some(oldest) = unknown.min_by_key(|session| session.created_at) else {
        return false;
    };
    // A listing that is newer than the ledger's read, or a lagging read, looks the same for a while.
    if builder.now().duration_since(oldest.created_at) < GRACE {
        report_catching_up(builder, oldest);
    } else {
        let text = format!(
            "session {} ({}) stands for a turn that the ledger does not know",
            oldest.id, oldest.title
        );
        report_rolled_back(builder, &text);
    }
    true
}

fn report_catching_up(builder: &mut DecisionBuilder<'_>, newer: &Session) {
    let until = builder.now_plus(POLL);
    let text = format!(
        "session {} is newer than the ledger as it was read; it is read again",
        newer.id
    );
    builder.report_line(
        Line::about_repository(Verdict::Waiting, Reason::LedgerCatchingUp, text).with_until(until),
    );
}

fn report_rolled_back(builder: &mut DecisionBuilder<'_>, detail: &str) {
    builder.report_line(Line::about_repository(
        Verdict::Paused,
        Reason::LedgerRolledBack,
        detail,
    ));
    let body = format!(
        "The ledger on the branch `jules` is older than what Jules shows: {detail}. Starting from it would repeat \
         work, so nothing is started and nothing is written.\n\nIf the branch was deleted or reset by mistake, put its \
         newest commit back. If that is lost, `phileas state rebuild` proposes a ledger from Jules' own list. phileas \
         goes on by itself once the ledger is whole, and closes this issue."
    );
    builder.open_notice(
        NoticeKey::LedgerRolledBack,
        "phileas: the ledger is older than the sessions it started".to_owned(),
        body,
    );
}
