//! Opens and closes notices that other stages do not open themselves.

use std::collections::BTreeSet;

use crate::engine::input::pull::{Checks, Mergeable, PullState};
use crate::engine::input::session::Listing;
use crate::engine::lookup::policy::blocking_mistakes;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::{MISTAKES_SHOWN, REFUSALS_APART, REFUSALS_SHOWN};
use crate::engine::text::markdown::quote_as_code;
use crate::model::{PersonaId, PullNumber, TrackName, TurnId};
use crate::plan::{self, SCHEDULES_PATH};
use crate::state::{PullAction, TrackedPull, Turn};

/// The comment for a notice that another one replaces.
const LISTED: &str = "Jules refuses several sessions; another issue lists them.";

/// Closes settled notices. Called only while the ledger can be trusted.
pub(crate) fn dismiss_settled(builder: &mut DecisionBuilder<'_>) {
    builder.close_notices(
        &NoticeKey::LedgerCorrupt,
        "The state file can be read again; phileas goes on.",
    );
    builder.close_notices(
        &NoticeKey::LedgerRolledBack,
        "The ledger is whole again; phileas goes on.",
    );
    for key in [NoticeKey::LedgerUnproven, NoticeKey::LedgerForeign] {
        builder.close_notices(
            &key,
            "This repository has a ledger of its own; phileas goes on.",
        );
    }
    if matches!(builder.snapshot.sessions, Listing::Taken(_)) {
        builder.close_notices(
            &NoticeKey::JulesCredential,
            "Jules takes the key again; phileas goes on.",
        );
    }
    let about_pulls: Vec<PullNumber> = builder
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| Some(PullNumber(notice.key.strip_prefix("pull:")?.parse().ok()?)))
        .collect();
    for number in about_pulls {
        if !waits_for_person(builder, number) {
            let text = "This pull request no longer waits for a person.";
            builder.close_notices(&NoticeKey::Pull(number), text);
        }
    }
    let refusals = list_refused_sessions(builder);
    if refusals.is_empty() {
        let text = "Jules refuses no session any more.";
        builder.close_notices(&NoticeKey::Sessions, text);
    }
    let is_listed = builder.has_notice(&NoticeKey::Sessions) && !refusals.is_empty();
    dismiss_of_personas(builder, &refusals, is_listed);
    dismiss_of_turns(builder, &refusals, is_listed);
}

/// Closes the notices about personas. `is_listed`: whether one notice lists the refusals of all.
fn dismiss_of_personas(
    builder: &mut DecisionBuilder<'_>,
    refusals: &[RefusedSession],
    is_listed: bool,
) {
    let about_personas: Vec<PersonaId> = builder
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| Some(PersonaId::from(notice.key.strip_prefix("persona:")?)))
        .collect();
    for id in about_personas {
        let key = NoticeKey::Persona(id);
        if !refusals.iter().any(|refusal| refusal.key == key) {
            builder.close_notices(&key, "No session of this persona is refused any more.");
        } else if is_listed {
            builder.close_notices(&key, LISTED);
        }
    }
}

/// Like [`dismiss_of_personas`], about turns.
fn dismiss_of_turns(
    builder: &mut DecisionBuilder<'_>,
    refusals: &[RefusedSession],
    is_listed: bool,
) {
    let about_turns: Vec<_> = builder
        .snapshot
        .notices
        .iter()
        .filter_map(|notice| TurnId::parse(notice.key.strip_prefix("turn:")?))
        .collect();
    for id in about_turns {
        let waits = builder
            .state
            .tracks
            .values()
            .flat_map(|track| track.turns.values())
            .any(|turn| turn.turn == id && (turn.warned_at.is_some() || has_refused_session(turn)));
        let key = NoticeKey::Turn(id);
        if !waits {
            builder.close_notices(&key, "This turn no longer waits for a person.");
        } else if is_listed && refusals.iter().any(|refusal| refusal.key == key) {
            builder.close_notices(&key, LISTED);
        }
    }
}

/// A lasting refusal: of a persona in a track, or of a turn that is tried again.
struct RefusedSession {
    key: NoticeKey,
    track: TrackName,
    persona: PersonaId,
    why: String,
    notified: bool,
}

/// Whether the sessions of a turn are refused.
fn has_refused_session(turn: &Turn) -> bool {
    turn.session_id.is_none() && turn.refusals > 0
}

fn list_refused_sessions(builder: &DecisionBuilder<'_>) -> Vec<RefusedSession> {
    let mut all = Vec::new();
    for (name, track) in &builder.state.tracks {
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
        let turns = track
            .turns
            .values()
            .filter(|turn| has_refused_session(turn));
        all.extend(turns.map(|turn| {
            let key = NoticeKey::Turn(turn.turn.clone());
            let why = turn.refusal.as_deref().unwrap_or("no reason was given");
            // While its next session is being created, there is nothing new to report.
            let notified = turn.warned_at.is_some() || turn.intent.is_some();
            one(key, &turn.persona_id, why, notified)
        }));
    }
    all
}

/// Opens notices about sessions that Jules refuses: one each, or above a few one that lists them. Waits while other
/// sessions are being created, because a common cause refuses these next.
pub(crate) fn open_refusal_notices(builder: &mut DecisionBuilder<'_>) {
    let all = list_refused_sessions(builder);
    if builder.creates_session() || all.iter().all(|refusal| refusal.notified) {
        return;
    }
    let keys: BTreeSet<String> = all.iter().map(|one| one.key.to_string()).collect();
    if keys.len() > REFUSALS_APART || builder.has_notice(&NoticeKey::Sessions) {
        let body = combined_body(&all);
        let title = "phileas: Jules refuses several sessions".to_owned();
        builder.open_notice(NoticeKey::Sessions, title, body);
    } else {
        for refusal in all.iter().filter(|refusal| !refusal.notified) {
            let (title, body) = single_notice(refusal);
            builder.open_notice(refusal.key.clone(), title, body);
        }
    }
    let now = builder.now();
    for track in builder.state.tracks.values_mut() {
        track
            .refused
            .values_mut()
            .for_each(|one| one.notified = true);
        let turns = track.turns.values_mut();
        for turn in turns.filter(|turn| has_refused_session(turn) && turn.intent.is_none()) {
            turn.warned_at.get_or_insert(now);
        }
    }
}

fn single_notice(refusal: &RefusedSession) -> (String, String) {
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

/// The text of the notice that lists several.
fn combined_body(all: &[RefusedSession]) -> String {
    let mut lines: Vec<String> = all
        .iter()
        .take(REFUSALS_SHOWN)
        .map(|one| {
            let why = quote_as_code(&one.why);
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

/// Opens a notice while the plan has mistakes, and closes it once it has none.
pub(crate) fn update_plan_notice(builder: &mut DecisionBuilder<'_>) {
    let snapshot = builder.snapshot;
    // A repository needs no plan: the service may serve all repositories of an account.
    let is_absent = plan::is_absent(&snapshot.tree);
    let mistakes: Vec<_> = snapshot
        .plan_diagnostics
        .iter()
        .filter(|one| one.is_error() && !(is_absent && one.file == SCHEDULES_PATH))
        .collect();
    if mistakes.is_empty() {
        let text = "The plan has no mistakes any more; phileas closes this issue.";
        builder.close_notices(&NoticeKey::PlanInvalid, text);
        return;
    }
    let mut lines: Vec<String> = mistakes
        .iter()
        .take(MISTAKES_SHOWN)
        .map(|one| format!("- {}", quote_as_code(&one.to_string())))
        .collect();
    let more = mistakes.len().saturating_sub(MISTAKES_SHOWN);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    let blocking = blocking_mistakes(&snapshot.plan_diagnostics, &snapshot.tree);
    let effect = if blocking.is_empty() {
        "What a mistake concerns does not run; the rest of the plan does."
    } else {
        "Nothing starts until it is fixed: it may concern everything, and a limit that cannot be read is not guessed."
    };
    let head = snapshot.repository.default_head.as_ref();
    let head = head.map(|head| format!(" at commit {head}"));
    builder.open_notice(
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

/// The record that it was marked as ready.
fn ready_mark(known: Option<&TrackedPull>) -> Option<&PullAction> {
    known?.draft_ready.as_ref().filter(|ready| ready.notified)
}

/// Whether the cause of a notice about a pull request still exists.
fn waits_for_person(builder: &DecisionBuilder<'_>, number: PullNumber) -> bool {
    let called = builder.state.pulls.get(&number);
    let pull = builder.snapshot.pulls.get(&number);
    called.is_some_and(|known| known.notices_opened > 0)
        && pull.is_none_or(|pull| {
            pull.state == PullState::Open
                && (matches!(pull.checks, Checks::Failed | Checks::Pending)
                    || pull.mergeable != Mergeable::Yes
                    || pull.draft && ready_mark(called).is_none())
        })
}
