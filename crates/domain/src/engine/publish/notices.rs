//! Issues that called a person are closed once nothing waits for one.

use std::collections::BTreeSet;

use crate::engine::input::pull::{Checks, Mergeable, PullState};
use crate::engine::input::session::Listing;
use crate::engine::lookup::policy::holds_all_back;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::{MISTAKES_SHOWN, REFUSALS_APART, REFUSALS_SHOWN};
use crate::engine::text::markdown::neutral;
use crate::model::{PersonaId, PullNumber, TrackName, TurnId};
use crate::plan::{self, SCHEDULES_PATH};
use crate::state::{Told, Turn, WatchedPull};

/// Why an issue about one refused persona or turn is closed that still is refused.
const LISTED: &str = "Jules refuses several sessions; another issue lists them.";

/// Closes what is settled. Only called while the ledger can be trusted.
pub(crate) fn dismiss_settled(draft: &mut Draft<'_>) {
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
    let refusals = refusals(draft);
    if refusals.is_empty() {
        let text = "Jules refuses no session any more.";
        draft.dismiss(&NoticeKey::Sessions, text);
    }
    let is_listed = draft.is_called(&NoticeKey::Sessions) && !refusals.is_empty();
    for id in about_personas {
        let key = NoticeKey::Persona(id);
        if !refusals.iter().any(|refusal| refusal.key == key) {
            draft.dismiss(&key, "No session of this persona is refused any more.");
        } else if is_listed {
            draft.dismiss(&key, LISTED);
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
            .any(|turn| turn.turn == id && (turn.warned_at.is_some() || is_refused(turn)));
        let key = NoticeKey::Turn(id);
        if !waits {
            draft.dismiss(&key, "This turn no longer waits for a person.");
        } else if is_listed && refusals.iter().any(|refusal| refusal.key == key) {
            draft.dismiss(&key, LISTED);
        }
    }
}

/// A refusal that lasts: of a persona in a track, or of a turn that is tried again.
struct RefusedSession {
    key: NoticeKey,
    track: TrackName,
    persona: PersonaId,
    why: String,
    notified: bool,
}

/// Whether the sessions of a turn are refused.
fn is_refused(turn: &Turn) -> bool {
    turn.session_id.is_none() && turn.refusals > 0
}

fn refusals(draft: &Draft<'_>) -> Vec<RefusedSession> {
    let mut all = Vec::new();
    for (name, track) in &draft.state.tracks {
        let one = |key, persona: &PersonaId, why: &str, notified| RefusedSession {
            key,
            track: name.clone(),
            persona: persona.clone(),
            why: why.to_owned(),
            notified,
        };
        let personas = track.refused.iter().map(|(id, refusal)| {
            let key = NoticeKey::Persona(id.clone());
            one(key, id, &refusal.why, refusal.notified)
        });
        all.extend(personas);
        let turns = track.turns.values().filter(|turn| is_refused(turn));
        all.extend(turns.map(|turn| {
            let key = NoticeKey::Turn(turn.turn.clone());
            let why = turn.refusal.as_deref().unwrap_or("no reason was given");
            // While its next session is asked for, there is nothing new to say of it.
            let notified = turn.warned_at.is_some() || turn.intent.is_some();
            one(key, &turn.persona_id, why, notified)
        }));
    }
    all
}

/// Calls a person about sessions that Jules refuses: by an issue each, and above a few by one that lists them. Waits while
/// other sessions are being created, since a cause that is common to all refuses these next.
pub(crate) fn refused_sessions(draft: &mut Draft<'_>) {
    let all = refusals(draft);
    if draft.is_creating() || all.iter().all(|refusal| refusal.notified) {
        return;
    }
    let keys: BTreeSet<String> = all.iter().map(|one| one.key.to_string()).collect();
    if keys.len() > REFUSALS_APART || draft.is_called(&NoticeKey::Sessions) {
        let body = listed(&all);
        let title = "phileas: Jules refuses several sessions".to_owned();
        draft.call(NoticeKey::Sessions, title, body);
    } else {
        for refusal in all.iter().filter(|refusal| !refusal.notified) {
            let (title, body) = alone(refusal);
            draft.call(refusal.key.clone(), title, body);
        }
    }
    let now = draft.now();
    for track in draft.state.tracks.values_mut() {
        track
            .refused
            .values_mut()
            .for_each(|one| one.notified = true);
        let turns = track.turns.values_mut();
        for turn in turns.filter(|turn| is_refused(turn) && turn.intent.is_none()) {
            turn.warned_at.get_or_insert(now);
        }
    }
}

fn alone(refusal: &RefusedSession) -> (String, String) {
    let RefusedSession {
        track,
        persona,
        why,
        ..
    } = refusal;
    match refusal.key {
        NoticeKey::Persona(_) => (
            format!("phileas: a session of {persona} is refused"),
            format!(
                "The session of persona `{persona}` in track `{track}` was refused:\n\n> {why}\n\nUsual causes: the branch \
                 that it starts from does not exist, its prompt is too long, or a rule forbids its branch. The track goes on \
                 with its next step. phileas tries this persona again by itself, less and less often."
            ),
        ),
        _ => (
            format!("phileas: a session of {track} is refused"),
            format!(
                "The session of track `{track}` was refused:\n\n> {why}\n\nUsual causes: the Jules GitHub App is \
                 not installed on this repository, the branch that the session should start from does not exist, \
                 or phileas may not make it (`contents: write`, branch rules). phileas tries again by itself, less and less often."
            ),
        ),
    }
}

/// What the issue says that lists several.
fn listed(all: &[RefusedSession]) -> String {
    let mut lines: Vec<String> = all
        .iter()
        .take(REFUSALS_SHOWN)
        .map(|one| {
            let why = neutral(&one.why);
            format!("- `{}` in track `{}`: {why}", one.persona, one.track)
        })
        .collect();
    let more = all.len().saturating_sub(REFUSALS_SHOWN);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    format!(
        "Jules refuses the sessions of several personas:\n\n{}\n\nUsual causes: the Jules GitHub App is not installed on \
         this repository, the branch that the sessions should start from does not exist, or a rule forbids their branches. \
         phileas tries each of them again by itself, less and less often; `phileas status` shows which ones are refused at \
         present. phileas closes this issue when none is.",
        lines.join("\n")
    )
}

/// Calls a person while the plan has mistakes, and takes it back once it has none.
pub(crate) fn plan(draft: &mut Draft<'_>) {
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
