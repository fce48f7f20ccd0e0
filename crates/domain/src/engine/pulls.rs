//! Which pull request belongs to which session, and what became of it.

use jiff::Timestamp;

use super::dispatch::START_BRANCHES;
use super::draft::Draft;
use super::limits::{GONE_AFTER, PULLS_FOLLOWED};
use super::word::{self, Once};
use super::{Effect, Line, Pull, PullState, Reason, Session, Snapshot, Verdict, layers, put_away};
use crate::model::{BranchName, PullNumber, SessionId};
use crate::state::segment::amend;
use crate::state::{Amendment, HistoryEntry, Outcome, State, WatchedPull};

/// A session's pull request: by its own word first, then by its id in the branch or the description.
///
/// A branch in a fork can bear any name, so it never counts. The author is a hint that nothing hangs on: Jules opens
/// some pull requests as the connected person.
#[must_use]
pub fn of_session<'a>(snapshot: &'a Snapshot, session: &Session) -> Option<&'a Pull> {
    let by_word = session
        .pulls
        .iter()
        .filter_map(|number| snapshot.pulls.get(number))
        .max_by_key(|pull| rank(pull));
    by_word.or_else(|| {
        snapshot
            .pulls
            .values()
            .filter(|pull| {
                pull.same_repository
                    && names(pull, &session.id)
                    && pull.created_at >= session.created_at
            })
            .max_by_key(|pull| rank(pull))
    })
}

/// Where a session has several, the merged one counts, then an open one, then the newest.
fn rank(pull: &Pull) -> (u8, PullNumber) {
    let state = match pull.state {
        PullState::Merged => 2,
        PullState::Open => 1,
        PullState::Closed => 0,
    };
    (state, pull.number)
}

fn names(pull: &Pull, session: &SessionId) -> bool {
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
    at_end || in_middle || links(&pull.body, id)
}

/// Whether a description links the session: `jules.google.com/task/<id>` or `/session/<id>`, and the id ends there.
fn links(body: &str, id: &str) -> bool {
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

/// Completes history entries whose pull request was merged or closed since.
pub(super) fn settle(draft: &mut Draft<'_>) {
    let mut unseen = Vec::new();
    let mut news = Vec::new();
    let mut strayed = Vec::new();
    let default = draft.snapshot.repository.default_branch.clone();
    let history = &draft.state.history;
    let read = draft.snapshot.pulls.keys();
    let rejected = read.flat_map(|number| history.rejected(*number));
    for (key, entry) in history.open().chain(rejected) {
        let (Some(number), Some(outcome)) = (entry.pr_number, &entry.outcome) else {
            continue;
        };
        match draft.snapshot.pulls.get(&number) {
            Some(pull) => {
                let next = match pull.state {
                    PullState::Open => {
                        let session = entry.session_id.clone();
                        strayed.extend(
                            session
                                .filter(|_| is_astray(pull, &default))
                                .map(|session| (*key, session, pull)),
                        );
                        continue;
                    }
                    PullState::Merged => Outcome::Merged,
                    PullState::Closed => Outcome::Rejected,
                };
                if next != *outcome && outcome.may_become(&next) {
                    news.push((*key, next));
                }
            }
            // GitHub hides those of accounts that it takes for spam; what stays away is over.
            None if is_gone(draft, number, entry) => news.push((*key, Outcome::Rejected)),
            None => unseen.push(number),
        }
    }
    // The oldest first, whatever became of them.
    news.sort_by_key(|(key, _)| *key);
    strayed.sort_by_key(|(key, ..)| *key);
    unseen.reverse();
    draft
        .needs
        .pulls
        .extend(unseen.into_iter().take(PULLS_FOLLOWED));
    for (key, outcome) in news {
        let entry = draft.state.history.get(&key);
        let slot = entry.and_then(|entry| entry.slot.clone());
        let pull = entry.and_then(|entry| entry.pr_number);
        if !layers::settles_later(draft, slot.as_ref(), &outcome, pull) {
            complete(draft, key, &outcome);
        }
    }
    amend_archived(draft);
    for (_, session, pull) in strayed {
        retarget(draft, pull, &session);
    }
}

/// Points it at the default branch. GitHub may refuse that, and a person may point it back: it is not done for ever.
pub(super) fn retarget(draft: &mut Draft<'_>, pull: &Pull, session: &SessionId) {
    let now = draft.now();
    let known = draft.state.pulls.get(&pull.number);
    match word::once(known.and_then(|known| known.retargeted.as_ref()), now) {
        Once::Over => return,
        Once::Later(at) => return draft.wake(at),
        Once::Now => {}
    }
    let fresh = || WatchedPull::new(session.clone());
    let known = draft.state.pulls.entry(pull.number);
    let known = known.or_insert_with(fresh);
    word::count_once(&mut known.retargeted, &pull.head_oid, now);
    draft.headline(format!("base of pull request #{}", pull.number), None);
    let base = draft.snapshot.repository.default_branch.clone();
    draft.effect(Effect::RetargetPull {
        pull: pull.number,
        base,
    });
}

/// Whether GitHub does not have it, and it is not one that may only not show yet.
fn is_gone(draft: &Draft<'_>, number: PullNumber, entry: &HistoryEntry) -> bool {
    let age = entry.created_at.map(|at| draft.now().duration_since(at));
    draft.snapshot.missing_pulls.contains(&number) && age.is_none_or(|age| age >= GONE_AFTER)
}

/// A pull request that was closed when its entry was archived may have been reopened and merged since. Whose turn it
/// was stands in the archive alone, so nobody's rest ends by it.
fn amend_archived(draft: &mut Draft<'_>) {
    let merged = |number| {
        let pull = draft.snapshot.pulls.get(&number);
        pull.is_some_and(|pull| pull.state == PullState::Merged)
    };
    let watched = draft
        .state
        .amendments
        .iter()
        .filter(|(_, known)| known.outcome == Some(Outcome::Rejected));
    let news: Vec<(u64, PullNumber)> = watched
        .filter_map(|(key, known)| Some((*key, known.pr_number.filter(|number| merged(*number))?)))
        .collect();
    for (key, number) in news {
        let amendment = Amendment {
            outcome: Some(Outcome::Merged),
            finished_at: Some(draft.now()),
            ..Amendment::default()
        };
        if amend(&mut draft.state, key, &amendment).is_err() {
            continue;
        }
        draft.headline(format!("settled entry {key} merged"), None);
        let text = format!("pull request #{number} of the archived entry {key} was merged");
        let mut line = Line::repository(Verdict::Settled, Reason::PullSettled, text);
        line.pr_number = Some(number);
        draft.say(line);
    }
}

/// Whether a pull request would be merged into a branch that a session started from. It was to be pointed at the
/// default branch when its turn ended, and whoever decided that did not come to do it.
fn is_astray(pull: &Pull, default: &BranchName) -> bool {
    pull.base != *default && pull.same_repository && pull.base.as_str().starts_with(START_BRANCHES)
}

fn complete(draft: &mut Draft<'_>, key: u64, outcome: &Outcome) {
    let now = draft.now();
    let Some(entry) = draft.state.history.get_mut(&key) else {
        return;
    };
    let was = entry.outcome.replace(outcome.clone());
    // A clock that was put back does not take an ending back.
    entry.finished_at = entry.finished_at.max(Some(now));
    let entry = entry.clone();
    let track = entry.track_name();
    super::rest::learn(draft, &track, &entry.persona_id, was.as_ref(), outcome);
    let pull = entry.pr_number;
    layers::settle(draft, entry.slot.as_ref(), outcome, None, pull);
    put_away::note(&mut draft.state, &entry, now);
    finish_request(&mut draft.state, &entry.turn, outcome, now);
    let seq = entry.seq.map(|seq| format!("#{seq}")).unwrap_or_default();
    draft.headline(
        format!("settled {track}{seq} {} {outcome}", entry.persona_id),
        entry.turn.as_ref(),
    );
    let number = entry
        .pr_number
        .map(|number| number.to_string())
        .unwrap_or_default();
    let text = format!(
        "pull request #{number} was {}",
        if *outcome == Outcome::Merged {
            "merged"
        } else {
            "closed"
        }
    );
    let mut line =
        Line::track(&track, Verdict::Settled, Reason::PullSettled, text).persona(&entry.persona_id);
    line.seq = entry.seq;
    line.slot.clone_from(&entry.slot);
    line.turn.clone_from(&entry.turn);
    line.session_id.clone_from(&entry.session_id);
    line.pr_number = entry.pr_number;
    draft.say(line);
}

/// Writes a turn's outcome into the request that asked for it.
pub(super) fn finish_request(
    state: &mut State,
    turn: &Option<crate::model::TurnId>,
    outcome: &Outcome,
    now: Timestamp,
) {
    let Some(turn) = turn else {
        return;
    };
    for request in state
        .requests
        .values_mut()
        .filter(|request| request.turn.as_ref() == Some(turn))
    {
        request.outcome = Some(outcome.as_str().to_owned());
        if outcome.is_final() {
            request.finished_at = Some(now);
        }
    }
}

/// Open pull requests of ours that no person has looked at. One that was not read counts as open; one that GitHub does
/// not have waits for nobody.
pub(super) fn unreviewed(draft: &Draft<'_>) -> Vec<PullNumber> {
    let live = draft
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .filter_map(|turn| turn.pr_number);
    let open = draft.state.history.open();
    let mut numbers: std::collections::BTreeSet<_> = open
        .filter_map(|(_, entry)| entry.pr_number)
        .chain(live)
        .collect();
    numbers.retain(|number| match draft.snapshot.pulls.get(number) {
        Some(pull) => pull.state == PullState::Open && !pull.reviewed,
        None => !draft.snapshot.missing_pulls.contains(number),
    });
    numbers.into_iter().collect()
}
