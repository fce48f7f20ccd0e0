//! Which pull request belongs to which session, and whether the plan allows its merge.

use std::collections::BTreeMap;

use super::policy;
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::session::Session;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, PullNumber, SessionId, TrackName};
use crate::plan::{Merge, Mode};
use crate::state::{HistoryEntry, State};

/// Why a pull request is not merged: a reason, and a sentence.
pub(crate) type Refusal = (Reason, String);

/// The track of the pull request's session, where the plan allows the merge.
pub(crate) fn merge_allowed(
    builder: &DecisionBuilder<'_>,
    pull: PullNumber,
) -> Result<TrackName, Refusal> {
    let not_ours = || {
        let text = "it is not a pull request of a session that phileas started".to_owned();
        (Reason::NotOurs, text)
    };
    if session_of_pull(builder, pull).is_none() {
        return Err(not_ours());
    }
    merge_allowed_by_plan(builder, pull)?.ok_or_else(not_ours)
}

/// Like [`merge_allowed`]; `None` where no turn has that session and the plan's defaults allow the merge.
pub(crate) fn merge_allowed_by_plan(
    builder: &DecisionBuilder<'_>,
    pull: PullNumber,
) -> Result<Option<TrackName>, Refusal> {
    let plan = &builder.snapshot.plan;
    let found = session_of_pull(builder, pull);
    let policy = match &found {
        Some((track, index, persona)) => policy::policy_of(plan, track, *index, persona),
        None => plan.defaults.clone(),
    };
    if policy.mode == Mode::Observe {
        let text = "`mode` is \"observe\" for it; remove that from the plan".to_owned();
        return Err((Reason::MergeOff, text));
    }
    match policy.merge {
        Merge::Green => Ok(found.map(|(track, ..)| track)),
        Merge::Off => Err((Reason::MergeOff, Reason::MergeOff.clause())),
    }
}

/// The track, the step and the persona of the pull request's session.
fn session_of_pull(
    builder: &DecisionBuilder<'_>,
    pull: PullNumber,
) -> Option<(TrackName, Option<u64>, PersonaId)> {
    let state = &builder.state;
    let live = state.tracks.iter().find_map(|(name, track)| {
        let mut turns = track.turns.values();
        let turn = turns.find(|one| one.pr_number == Some(pull) && one.session_id.is_some())?;
        Some((name.clone(), track.index, turn.persona_id.clone()))
    });
    let of_history = || {
        let mut newest_first = state.history.values().rev();
        let entry =
            newest_first.find(|one| one.pr_number == Some(pull) && one.session_id.is_some())?;
        Some((entry.track_name(), None, entry.persona_id.clone()))
    };
    live.or_else(of_history)
}

/// The history entries of pull requests that are not known to be closed, by number.
pub(crate) fn pull_owners(state: &State) -> BTreeMap<PullNumber, &HistoryEntry> {
    let over = state
        .history
        .open_entries()
        .filter_map(|(_, entry)| Some((entry.pr_number?, entry)));
    let live = state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .filter_map(|turn| Some((turn.pr_number?, state.history.get(&turn.history_key?)?)));
    over.chain(live).collect()
}

/// Whether a pull request belongs to a session of phileas and is not known to be closed.
pub(crate) fn is_own_pull(builder: &DecisionBuilder<'_>, number: PullNumber) -> bool {
    pull_owners(&builder.state)
        .get(&number)
        .is_some_and(|entry| entry.session_id.is_some())
}

/// Returns a session's pull request: by the session's outputs first, then by its id in the branch or the description.
///
/// A fork's branch can have any name, so it never counts. The author is no criterion, because Jules opens some pull
/// requests as the connected person.
#[must_use]
pub fn of_session<'a>(snapshot: &'a Snapshot, session: &Session) -> Option<&'a Pull> {
    let by_word = session
        .pulls
        .iter()
        .filter_map(|number| snapshot.pulls.get(number))
        .max_by_key(|pull| pull_rank(pull));
    by_word.or_else(|| {
        snapshot
            .pulls
            .values()
            .filter(|pull| {
                pull.same_repository
                    && names_session(pull, &session.id)
                    && pull.created_at >= session.created_at
            })
            .max_by_key(|pull| pull_rank(pull))
    })
}

/// Of several pull requests the merged one counts, then an open one, then the newest.
fn pull_rank(pull: &Pull) -> (u8, PullNumber) {
    let state = match pull.state {
        PullState::Merged => 2,
        PullState::Open => 1,
        PullState::Closed => 0,
    };
    (state, pull.number)
}

fn names_session(pull: &Pull, session: &SessionId) -> bool {
    let id = session.as_str();
    let branch = pull.head.as_str();
    let at_end = branch
        .strip_suffix(id)
        .is_some_and(|before| before.ends_with('-'));
    let in_middle = branch
        .strip_prefix("jules-")
        .and_then(|rest| rest.strip_prefix(id))
        .is_some_and(|rest| {
            rest.strip_prefix('-')
                .is_some_and(|hex| hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
        });
    at_end || in_middle || links_session(&pull.body, id)
}

/// Whether a description links the session: `jules.google.com/task/<id>` or `/session/<id>`, where the id ends there.
fn links_session(body: &str, id: &str) -> bool {
    ["jules.google.com/task/", "jules.google.com/session/"]
        .iter()
        .any(|prefix| {
            body.match_indices(prefix).any(|(at, _)| {
                let rest = &body[at + prefix.len()..];
                rest.strip_prefix(id)
                    .is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
            })
        })
}
