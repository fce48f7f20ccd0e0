//! Settles history entries whose pull request was merged or closed.

use crate::engine::input::pull::{Pull, PullState};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{GONE_AFTER, PULLS_FOLLOWED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::pull::{self, retarget_pull};
use crate::engine::record::request::finish_request;
use crate::engine::record::{rest, work_item};
use crate::engine::text::markers::START_BRANCHES;
use crate::model::{BranchName, PullNumber};
use crate::state::segment::amend;
use crate::state::{Amendment, HistoryEntry, Outcome};

/// Completes history entries whose pull request was merged or closed since.
pub(crate) fn settle_pulls(builder: &mut DecisionBuilder<'_>) {
    let mut unseen = Vec::new();
    let mut news = Vec::new();
    let mut strayed = Vec::new();
    let default = builder.snapshot.repository.default_branch.clone();
    let history = &builder.state.history;
    let read = builder.snapshot.pulls.keys();
    let rejected = read.flat_map(|number| history.rejected_entries(*number));
    for (key, entry) in history.open_entries().chain(rejected) {
        let (Some(number), Some(outcome)) = (entry.pr_number, &entry.outcome) else {
            continue;
        };
        match builder.snapshot.pulls.get(&number) {
            Some(pull) => {
                let next = match pull.state {
                    PullState::Open => {
                        let session = entry.session_id.clone();
                        strayed.extend(
                            session
                                .filter(|_| targets_start_branch(pull, &default))
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
            // GitHub hides pull requests of suspected spam accounts; a missing one counts as closed.
            None if is_gone(builder, number, entry) => news.push((*key, Outcome::Rejected)),
            None => unseen.push(number),
        }
    }
    // The oldest first.
    news.sort_by_key(|(key, _)| *key);
    strayed.sort_by_key(|(key, ..)| *key);
    unseen.reverse();
    builder
        .reads
        .pulls
        .extend(unseen.into_iter().take(PULLS_FOLLOWED));
    for (key, outcome) in news {
        let entry = builder.state.history.get(&key);
        let slot = entry.and_then(|entry| entry.slot.clone());
        let pull = entry.and_then(|entry| entry.pr_number);
        if !work_item::needs_exchange_to_settle(builder, slot.as_ref(), &outcome, pull) {
            complete_entry(builder, key, &outcome);
        }
    }
    amend_archived(builder);
    for (_, session, pull) in strayed {
        retarget_pull(builder, pull, &session);
    }
}

/// Whether GitHub does not have it and it is too old to be merely delayed.
fn is_gone(builder: &DecisionBuilder<'_>, number: PullNumber, entry: &HistoryEntry) -> bool {
    let age = entry.created_at.map(|at| builder.now().duration_since(at));
    builder.snapshot.missing_pulls.contains(&number) && age.is_none_or(|age| age >= GONE_AFTER)
}

/// Amends archived entries whose pull request was reopened and merged since. Only the archive knows their turn, so no
/// rest changes.
fn amend_archived(builder: &mut DecisionBuilder<'_>) {
    let merged = |number| {
        let pull = builder.snapshot.pulls.get(&number);
        pull.is_some_and(|pull| pull.state == PullState::Merged)
    };
    let tracked = builder.state.amendments.iter().filter(|(_, known)| {
        let outcome = known.outcome.as_ref();
        outcome.is_some_and(Outcome::is_closed_unmerged)
    });
    let news: Vec<(u64, PullNumber)> = tracked
        .filter_map(|(key, known)| Some((*key, known.pr_number.filter(|number| merged(*number))?)))
        .collect();
    for (key, number) in news {
        let amendment = Amendment {
            outcome: Some(Outcome::Merged),
            finished_at: Some(builder.now()),
            ..Amendment::default()
        };
        if amend(&mut builder.state, key, &amendment).is_err() {
            continue;
        }
        builder.add_headline(format!("settled entry {key} merged"), None);
        let text = format!("pull request #{number} of the archived entry {key} was merged");
        let mut line = Line::about_repository(Verdict::Settled, Reason::PullSettled, text);
        line.pr_number = Some(number);
        builder.report_line(line);
    }
}

/// Whether a pull request targets a branch that a session started from. The process that should have retargeted it
/// died.
fn targets_start_branch(pull: &Pull, default: &BranchName) -> bool {
    pull.base != *default && pull.same_repository && pull.base.as_str().starts_with(START_BRANCHES)
}

fn complete_entry(builder: &mut DecisionBuilder<'_>, key: u64, outcome: &Outcome) {
    let now = builder.now();
    let Some(entry) = builder.state.history.get_mut(&key) else {
        return;
    };
    let was = entry.outcome.replace(outcome.clone());
    // A clock that went back does not move an end back.
    entry.finished_at = entry.finished_at.max(Some(now));
    let entry = entry.clone();
    let track = entry.track_name();
    rest::record_rest(builder, &track, &entry.persona_id, was.as_ref(), outcome);
    let pull = entry.pr_number;
    work_item::settle_work_item(builder, entry.slot.as_ref(), outcome, None, pull);
    pull::schedule_archiving(&mut builder.state, &entry, now);
    finish_request(&mut builder.state, &entry.turn, outcome, now);
    let seq = entry.seq.map(|seq| format!("#{seq}")).unwrap_or_default();
    builder.add_headline(
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
    builder.report_line(Line::about_entry(&entry, Reason::PullSettled, text));
}
