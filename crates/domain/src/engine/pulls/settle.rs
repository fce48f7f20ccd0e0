//! Which pull request belongs to which session, and what became of it.

use crate::engine::input::pull::{Pull, PullState};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{GONE_AFTER, PULLS_FOLLOWED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::pull::{self, retarget};
use crate::engine::record::request::finish_request;
use crate::engine::record::{rest, work_item};
use crate::engine::text::markers::START_BRANCHES;
use crate::model::{BranchName, PullNumber};
use crate::state::segment::amend;
use crate::state::{Amendment, HistoryEntry, Outcome};

/// Completes history entries whose pull request was merged or closed since.
pub(crate) fn settle(draft: &mut Draft<'_>) {
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
        if !work_item::settles_later(draft, slot.as_ref(), &outcome, pull) {
            complete(draft, key, &outcome);
        }
    }
    amend_archived(draft);
    for (_, session, pull) in strayed {
        retarget(draft, pull, &session);
    }
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
    rest::learn(draft, &track, &entry.persona_id, was.as_ref(), outcome);
    let pull = entry.pr_number;
    work_item::settle(draft, entry.slot.as_ref(), outcome, None, pull);
    pull::note(&mut draft.state, &entry, now);
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
