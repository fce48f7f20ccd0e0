//! Whether anything may be written or started at all.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::{CLOCK_TOLERANCE, GRACE, POLL, SESSIONS_READ};
use super::unseen::Unread;
use super::{
    Ask, Decision, Ledger, Line, Listing, ListingNeed, Needs, NoticeKey, Reason, Session, Snapshot,
    Verdict,
};
use crate::Diagnostic;
use crate::model::{Marker, PromptLine, TrackName};
use crate::plan::{Driver, Mode, SCHEDULES_PATH};
use crate::state::{Pause, State};

/// Whether the ledger can be trusted and written. If not, says why, and calls a person where only a person can mend it.
pub(super) fn ledger(draft: &mut Draft<'_>) -> bool {
    let snapshot = draft.snapshot;
    if snapshot.repository.archived {
        let text = "the repository is archived; nothing can be written to it";
        draft.say(Line::repository(
            Verdict::Paused,
            Reason::RepositoryArchived,
            text,
        ));
        return false;
    }
    if snapshot.repository.default_head.is_none() {
        let text = "the repository has no commit yet; push one to its default branch";
        draft.say(Line::repository(
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
            draft.say(Line::repository(
                Verdict::Paused,
                Reason::LedgerCorrupt,
                detail,
            ));
            draft.call(
                NoticeKey::LedgerCorrupt,
                "phileas: the state file cannot be read".to_owned(),
                match diagnostics.iter().any(Diagnostic::is_newer_format) {
                    true => newer_text(&found),
                    false => corrupt_text(&found),
                },
            );
            false
        }
        Ledger::Missing { .. } => born(draft),
        Ledger::Present { state, .. } => !foreign(draft, state) && !behind(draft, state),
    }
}

fn corrupt_text(found: &[String]) -> String {
    format!(
        "`.jules/cycle_state.json` on the branch `jules` cannot be read, so nothing is started and nothing is written \
         over it.\n\n{}\n\nTo mend it, look at what `phileas state repair` proposes (it compares the file's earlier \
         versions in the branch's history), then accept the proposal or put an earlier version back by a commit. \
         phileas goes on by itself once the file can be read, and closes this issue.",
        found.join("\n")
    )
}

fn newer_text(found: &[String]) -> String {
    format!(
        "`.jules/cycle_state.json` on the branch `jules` was written by a newer phileas than the one that looks at it \
         here, so nothing is started and nothing is written over it.\n\n{}\n\nTo mend it, upgrade this phileas (the \
         version that the workflow, the image or the machine names). Nothing is wrong with the file, so do not put an \
         earlier version back. phileas goes on by itself then, and closes this issue.",
        found.join("\n")
    )
}

/// A missing ledger is born only when nothing in Jules bears this repository's marker.
fn born(draft: &mut Draft<'_>) -> bool {
    match &draft.snapshot.sessions {
        Listing::NotTaken => {
            draft.needs.listing = Some(ListingNeed::Everything);
            let text = "there is no ledger yet; Jules is asked whether there should be one";
            let until = draft.after(POLL);
            draft.say(
                Line::repository(Verdict::Waiting, Reason::JulesUnavailable, text).until(until),
            );
            false
        }
        Listing::Failed(_) => {
            unavailable(draft);
            false
        }
        Listing::Taken(sessions) if sessions.since.is_some() || !sessions.archived => {
            unproven(draft);
            false
        }
        Listing::Taken(sessions) => {
            let unread = super::unseen::unread(draft, Timestamp::MIN, None);
            if unread != Unread::None {
                let text = match &unread {
                    Unread::Refused(sessions) => format!(
                        "there is no ledger yet, and whether there was one stands in session {}, which Jules does not show; \
                         it is tried again. If this repository never had a ledger, commit an empty one: the file \
                         `.jules/cycle_state.json` with the content `{{\"version\": 5, \"history\": {{}}}}` on the branch \
                         `jules`",
                        sessions[0]
                    ),
                    _ => "there is no ledger yet; sessions of unknown origin are looked at first"
                        .to_owned(),
                };
                let until = draft.after(POLL);
                draft.say(
                    Line::repository(Verdict::Waiting, Reason::JulesUnavailable, text).until(until),
                );
                return false;
            }
            let witness = sessions
                .sessions
                .iter()
                .filter(|session| super::adopt::marker_of(draft.snapshot, session).is_some())
                .min_by_key(|session| session.created_at);
            if let Some(witness) = witness {
                if draft.now().duration_since(witness.created_at) < GRACE {
                    // Another process may have given birth to it after the ledger was looked for.
                    catching_up(draft, witness);
                    return false;
                }
                rolled_back(
                    draft,
                    &format!(
                        "there is no ledger, but session {} is one of ours",
                        witness.id
                    ),
                );
                return false;
            }
            true
        }
    }
}

/// Everything that can be listed was, and it is not everything. Whether there was a ledger, a person has to say.
fn unproven(draft: &mut Draft<'_>) {
    let text = "there is no ledger, and Jules' list cannot be read to its end, so nobody can tell whether there was one";
    draft.say(Line::repository(
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
    draft.call(
        NoticeKey::LedgerUnproven,
        "phileas: is this repository new?".to_owned(),
        body.to_owned(),
    );
}

/// Whether the ledger was born for another repository, as in a copy with all branches. Its turns are not this one's.
fn foreign(draft: &mut Draft<'_>, state: &State) -> bool {
    let own = draft.snapshot.repository.id;
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
    draft.say(Line::repository(
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
    draft.call(
        NoticeKey::LedgerForeign,
        "phileas: the ledger belongs to another repository".to_owned(),
        body,
    );
    true
}

/// Whether the ledger is behind what Jules shows: somebody put an older one back.
fn behind(draft: &mut Draft<'_>, state: &State) -> bool {
    let Some(sessions) = draft.snapshot.listing() else {
        return false;
    };
    // A listing may leave prompts out; whose turn a session is stands there, and only its mark in the title.
    let unread: Vec<_> = sessions
        .sessions
        .iter()
        .filter(|session| session.prompt.is_none() && !session.elsewhere)
        .filter(|session| {
            Marker::in_title(&session.title).is_some_and(|marker| {
                let id = marker.turn.as_str();
                state.live_turn(id).is_none() && state.entry_named(id).is_none()
            })
        })
        .map(|session| session.id.clone())
        .take(SESSIONS_READ)
        .collect();
    draft.needs.sessions.extend(unread);
    let unknown = sessions.sessions.iter().filter(|session| {
        our_line(draft.snapshot, session).is_some_and(|line| {
            is_of_ledger(state, &line)
                && !line.track.as_str().starts_with("request:")
                && line.seq > state.seq(&line.track)
        })
    });
    let Some(oldest) = unknown.min_by_key(|session| session.created_at) else {
        return false;
    };
    // A listing taken after the ledger was read, or a lagging read of the ledger, looks the same for a while.
    if draft.now().duration_since(oldest.created_at) < GRACE {
        catching_up(draft, oldest);
    } else {
        let text = format!(
            "session {} ({}) stands for a turn that the ledger does not know",
            oldest.id, oldest.title
        );
        rolled_back(draft, &text);
    }
    true
}

fn catching_up(draft: &mut Draft<'_>, newer: &Session) {
    let until = draft.after(POLL);
    let text = format!(
        "session {} is newer than the ledger as it was read; it is read again",
        newer.id
    );
    draft.say(Line::repository(Verdict::Waiting, Reason::LedgerCatchingUp, text).until(until));
}

/// Whether the ledger made the marker of a line. Another one is a forgery or another ledger's, and proves nothing. A ledger
/// without a nonce made none, so that every marker of this repository is one that it forgot.
pub(super) fn is_of_ledger(state: &State, line: &PromptLine) -> bool {
    let genesis = state.genesis.as_ref();
    genesis.is_none_or(|genesis| line.is_made_by(&genesis.nonce))
}

/// What a session's prompt says, if it is one of this repository's.
pub(super) fn our_line(snapshot: &Snapshot, session: &Session) -> Option<PromptLine> {
    let line = Marker::in_prompt(session.prompt.as_deref()?)?;
    (line.repository == snapshot.repository.id).then_some(line)
}

fn rolled_back(draft: &mut Draft<'_>, detail: &str) {
    draft.say(Line::repository(
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
    draft.call(
        NoticeKey::LedgerRolledBack,
        "phileas: the ledger is older than the sessions it started".to_owned(),
        body,
    );
}

/// Says that Jules does not answer, or that the key is refused.
pub(super) fn unavailable(draft: &mut Draft<'_>) {
    let Listing::Failed(outage) = &draft.snapshot.sessions else {
        return;
    };
    if outage.credential {
        let text = format!("Jules refuses the key: {}", outage.detail);
        draft.say(Line::repository(
            Verdict::Paused,
            Reason::JulesCredential,
            text,
        ));
        draft.call(
            NoticeKey::JulesCredential,
            "phileas: Jules refuses the key".to_owned(),
            "Jules answers that the API key is missing, wrong or disabled. Make a new one in Jules' settings and put \
             it where phileas reads it (`JULES_API_KEY`). phileas goes on by itself then, and closes this issue."
                .to_owned(),
        );
    } else {
        let until = outage.retry_at.unwrap_or_else(|| draft.after(POLL));
        let text = format!("Jules does not answer: {}", outage.detail);
        draft.say(Line::repository(Verdict::Waiting, Reason::JulesUnavailable, text).until(until));
    }
}

/// Why no new turn may start, if none may. Says so.
pub(super) fn paused(draft: &mut Draft<'_>) -> Option<Reason> {
    let snapshot = draft.snapshot;
    let mut first = None;
    let mut say = |draft: &mut Draft<'_>, reason, text: String| {
        draft.say(Line::repository(Verdict::Paused, reason, text));
        first.get_or_insert(reason);
    };
    if let Some(mistake) = snapshot
        .plan_diagnostics
        .iter()
        .find(|one| holds_all_back(one))
    {
        // A limit that cannot be read must not turn into none, or into another one than was meant.
        let text = format!("a limit in the plan cannot be read: {mistake}");
        say(draft, Reason::PlanInvalid, text);
    }
    if let Some(value) = &snapshot.paused_by_variable {
        let text = format!("the variable PHILEAS_PAUSED says `{value}`");
        say(draft, Reason::PausedVariable, text);
    }
    if let Some(number) = snapshot.paused_by_label {
        let text = format!("#{number} carries the label `phileas:pause`");
        say(draft, Reason::PausedLabel, text);
    }
    if let Some(pause) = &draft.state.paused {
        let text = format!("paused{}", by_whom(pause));
        say(draft, Reason::PausedState, text);
    }
    first
}

/// That a track or a schedule is paused, by whom, why, and how it goes on.
pub(super) fn paused_by(what: &str, name: &TrackName, pause: &Pause) -> String {
    format!(
        "the {what} is paused{}; `phileas track resume {name}` lets it go on",
        by_whom(pause)
    )
}

/// Who paused something and why, as far as that was written down.
fn by_whom(pause: &Pause) -> String {
    let by = pause.by.as_ref().map(|by| format!(" by {by}"));
    let why = pause.reason.as_ref().map(|why| format!(": {why}"));
    by.unwrap_or_default() + &why.unwrap_or_default()
}

/// Whether a mistake of a plan keeps every new turn from starting: it is about budgets, gates, or what applies where nothing
/// else is said.
#[must_use]
pub fn holds_all_back(mistake: &Diagnostic) -> bool {
    let section = mistake.key.split(['.', '[']).next().unwrap_or_default();
    mistake.is_error()
        && mistake.file == SCHEDULES_PATH
        && matches!(section, "budget" | "gate" | "defaults")
}

/// Why a tick reports and touches nothing: the plan names another driver, or only observes.
///
/// Such a tick writes nothing down, so that what it reads is read again by the next one. It reads what tells what is due,
/// and not what only a session would need.
pub(super) fn only_observes(snapshot: &Snapshot) -> Option<(Reason, &'static str)> {
    let other = match snapshot.plan.gate.driver {
        Driver::Any => false,
        named => named != snapshot.driver && snapshot.ask == Ask::Due,
    };
    let observe = snapshot.plan.defaults.mode == Mode::Observe;
    if other {
        let text = "the plan's `gate.driver` names another driver; this one only observes";
        Some((Reason::OtherDriver, text))
    } else if observe {
        let text = "`defaults.mode` is \"observe\"; nothing is started and nothing is written";
        Some((Reason::ObserveMode, text))
    } else {
        None
    }
}

/// Takes from a decision what an observing tick does not do.
pub(super) fn silence_observers(
    (mut decision, mut needs): (Decision, Needs),
    snapshot: &Snapshot,
) -> (Decision, Needs) {
    let Some((reason, text)) = only_observes(snapshot) else {
        return (decision, needs);
    };
    decision.change = None;
    decision.effects.clear();
    for line in &mut decision.report.lines {
        if matches!(
            line.verdict,
            Verdict::Dispatched | Verdict::Adopted | Verdict::Advanced | Verdict::Settled
        ) {
            line.detail = format!("would be {}: {}", line.verdict.as_str(), line.detail);
            line.verdict = Verdict::Waiting;
            line.reason = reason;
        }
    }
    decision
        .report
        .lines
        .insert(0, Line::repository(Verdict::Waiting, reason, text));
    // Nothing would be said with these.
    needs.texts.clear();
    needs.folders.clear();
    needs.sources.clear();
    needs.plan_commit = false;
    needs.red.clear();
    needs.alone.clear();
    needs.merges.clear();
    needs.remarks.clear();
    needs.reviews.clear();
    (decision, needs)
}

/// The instant from which a listing must reach to show the session of an intent.
pub(super) fn horizon(created_at: Timestamp) -> Timestamp {
    created_at
        .checked_sub(CLOCK_TOLERANCE)
        .unwrap_or(Timestamp::MIN)
}
