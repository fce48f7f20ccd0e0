//! Issues that called a person are closed once nothing waits for one.

use super::draft::Draft;
use super::gate::holds_all_back;
use super::limits::MISTAKES_SHOWN;
use super::neutral::neutral;
use super::{Checks, Listing, Mergeable, NoticeKey, PullState};
use crate::model::{PersonaId, PullNumber, TurnId};
use crate::plan::{self, SCHEDULES_PATH};
use crate::state::{Told, WatchedPull};

/// Closes what is settled. Only called while the ledger can be trusted.
pub(super) fn dismiss_settled(draft: &mut Draft<'_>) {
    draft.dismiss(
        &NoticeKey::LedgerCorrupt,
        "The state file can be read again; phileas goes on.",
    );
    draft.dismiss(
        &NoticeKey::LedgerRolledBack,
        "The ledger is whole again; phileas goes on.",
    );
    for key in [NoticeKey::LedgerUnproven, NoticeKey::LedgerForeign] {
        draft.dismiss(
            &key,
            "This repository has a ledger of its own; phileas goes on.",
        );
    }
    if matches!(draft.snapshot.sessions, Listing::Taken(_)) {
        draft.dismiss(
            &NoticeKey::JulesCredential,
            "Jules takes the key again; phileas goes on.",
        );
    }
    let about_pulls: Vec<PullNumber> = draft
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| Some(PullNumber(notice.key.strip_prefix("pull:")?.parse().ok()?)))
        .collect();
    for number in about_pulls {
        if !waits_for_person(draft, number) {
            let text = "This pull request no longer waits for a person.";
            draft.dismiss(&NoticeKey::Pull(number), text);
        }
    }
    let about_personas: Vec<PersonaId> = draft
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| Some(PersonaId::from(notice.key.strip_prefix("persona:")?)))
        .collect();
    for id in about_personas {
        let known = draft.state.personas.get(&id);
        if known.is_none_or(|known| known.refusals == 0) {
            let text = "No session of this persona is refused any more.";
            draft.dismiss(&NoticeKey::Persona(id), text);
        }
    }
    let about_turns: Vec<_> = draft
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| TurnId::parse(notice.key.strip_prefix("turn:")?))
        .collect();
    for id in about_turns {
        let waits = draft
            .state
            .tracks
            .values()
            .flat_map(|track| track.turns.values())
            .any(|turn| {
                let is_refused = turn.session_id.is_none() && turn.refusals > 0;
                turn.turn == id && (turn.warned_at.is_some() || is_refused)
            });
        if !waits {
            draft.dismiss(
                &NoticeKey::Turn(id),
                "This turn no longer waits for a person.",
            );
        }
    }
}

/// Calls a person while the plan has mistakes, and takes it back once it has none.
pub(super) fn plan(draft: &mut Draft<'_>) {
    let snapshot = draft.snapshot;
    // A repository without a plan need not have one: the service may look after all repositories of an account.
    let is_absent = plan::is_absent(&snapshot.tree);
    let mistakes: Vec<_> = snapshot
        .plan_diagnostics
        .iter()
        .filter(|one| one.is_error() && !(is_absent && one.file == SCHEDULES_PATH))
        .collect();
    if mistakes.is_empty() {
        let text = "The plan has no mistakes any more; phileas closes this issue.";
        draft.dismiss(&NoticeKey::PlanInvalid, text);
        return;
    }
    let mut lines: Vec<String> = mistakes
        .iter()
        .take(MISTAKES_SHOWN)
        .map(|one| format!("- {}", neutral(&one.to_string())))
        .collect();
    let more = mistakes.len().saturating_sub(MISTAKES_SHOWN);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    let holds = mistakes.iter().any(|one| holds_all_back(one));
    let effect = if holds {
        "Nothing starts until it is fixed: a limit that cannot be read is not guessed."
    } else {
        "What a mistake concerns does not run; the rest of the plan does."
    };
    let head = snapshot.repository.default_head.as_ref();
    let head = head.map(|head| format!(" at commit {head}"));
    draft.call(
        NoticeKey::PlanInvalid,
        "phileas: the plan has mistakes".to_owned(),
        format!(
            "phileas read the plan on `{}`{}:\n\n{}\n\n{effect} `phileas validate` lists all mistakes with their \
             fixes. phileas closes this issue when the plan has none.",
            snapshot.repository.default_branch,
            head.unwrap_or_default(),
            lines.join("\n")
        ),
    );
}

/// That it was marked as ready: who makes it a draft again means it.
fn known_ready(known: Option<&WatchedPull>) -> Option<&Told> {
    known?.ready.as_ref().filter(|ready| ready.told)
}

/// Whether a person was called about a pull request that is still as it was.
fn waits_for_person(draft: &Draft<'_>, number: PullNumber) -> bool {
    let called = draft.state.pulls.get(&number);
    let pull = draft.snapshot.pulls.get(&number);
    called.is_some_and(|known| known.calls > 0)
        && pull.is_none_or(|pull| {
            pull.state == PullState::Open
                && (matches!(pull.checks, Checks::Red | Checks::Pending)
                    || pull.mergeable != Mergeable::Yes
                    || pull.draft && known_ready(called).is_none())
        })
}
