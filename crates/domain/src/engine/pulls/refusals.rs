//! Closes pull requests that a person has refused by a command.
//!
//! The intent is recorded first, and what happened on the pull request is read right before: one that a person has
//! reopened since is refused no more.

use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::pull_activity::PullChange;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{ACTION_REPEATS, INTENT_VALID};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::attempts::{self, NextAttempt};
use crate::model::PullNumber;
use crate::state::WorkRefusal;

/// Closes the refused pull requests that are open.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    let snapshot = builder.snapshot;
    let refused = builder.state.work.refused.keys();
    let open: Vec<&Pull> = refused
        .filter_map(|number| snapshot.pulls.get(number))
        .filter(|pull| pull.state == PullState::Open)
        .collect();
    for pull in open {
        close_pull(builder, pull);
    }
}

fn close_pull(builder: &mut DecisionBuilder<'_>, pull: &Pull) {
    let (number, now) = (pull.number, builder.now());
    let snapshot = builder.snapshot;
    let not_after = builder.now_plus(INTENT_VALID);
    let Some(refusal) = builder.state.work.refused.get_mut(&number) else {
        return;
    };
    match attempts::next_attempt(refusal.closing.as_ref(), now) {
        // It was closed, and is open again.
        NextAttempt::Over if refusal.closing.as_ref().is_some_and(|one| one.notified) => {
            let Some(activity) = snapshot.pull_activity.get(&number) else {
                builder.reads.pull_activity.insert(number);
                return;
            };
            let is_shown = activity.as_ref().is_some_and(|activity| !activity.more);
            match (reopened_by(snapshot, number, refusal), &mut refusal.closing) {
                (Some(false), Some(closing)) if closing.repeats < ACTION_REPEATS => {
                    closing.notified = false;
                    builder.wake_by(now);
                }
                (Some(false), _) => report_reopened(builder, number),
                // GitHub may show an older state.
                (None, _) if is_shown => {}
                (Some(true) | None, _) => drop_refusal(builder, number),
            }
        }
        // The refusal stays, so that the record of one that is closed by hand has the reason.
        NextAttempt::Over => {
            let text = format!("pull request #{number} could not be closed; close it by hand");
            report(builder, number, text);
        }
        NextAttempt::Later(at) => builder.wake_by(at),
        NextAttempt::Now if !snapshot.pull_activity.contains_key(&number) => {
            builder.reads.pull_activity.insert(number);
        }
        NextAttempt::Now if reopened_by(snapshot, number, refusal) == Some(true) => {
            drop_refusal(builder, number);
        }
        NextAttempt::Now => {
            attempts::count_attempt(&mut refusal.closing, &pull.head_oid, now);
            builder.add_headline(format!("closing of pull request #{number}"), None);
            builder.add_effect(Effect::ClosePull {
                pull: number,
                not_after,
            });
        }
    }
}

/// Whether a person has reopened it since the refusal, or a bot alone. `None`: GitHub shows no reopening.
fn reopened_by(snapshot: &Snapshot, number: PullNumber, refusal: &WorkRefusal) -> Option<bool> {
    let activity = snapshot.pull_activity.get(&number)?.as_ref()?;
    let reopened = activity.events.iter().filter(|event| {
        let is_later = refusal.at.is_none_or(|at| event.at > at);
        event.what == PullChange::Reopened && is_later
    });
    reopened.map(|event| event.is_by_person()).max()
}

fn drop_refusal(builder: &mut DecisionBuilder<'_>, number: PullNumber) {
    builder.state.work.refused.remove(&number);
    let text = format!("pull request #{number} was reopened, so its refusal no longer counts");
    report(builder, number, text);
}

fn report_reopened(builder: &mut DecisionBuilder<'_>, number: PullNumber) {
    let text = format!("pull request #{number} is refused, and a bot reopens it; close it by hand");
    report(builder, number, text);
}

/// Records that a refused pull request is closed.
pub(crate) fn record_closed(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    let refusal = builder.state.work.refused.get_mut(&pull);
    if let Some(closing) = refusal.and_then(|refusal| refusal.closing.as_mut()) {
        closing.notified = true;
        report(
            builder,
            pull,
            format!("pull request #{pull} is refused and closed"),
        );
    }
}

fn report(builder: &mut DecisionBuilder<'_>, pull: PullNumber, text: String) {
    let mut line = Line::about_repository(Verdict::Settled, Reason::CommandExecuted, text);
    line.pr_number = Some(pull);
    builder.report_line(line);
}
