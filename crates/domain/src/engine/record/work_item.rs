//! Settles a work item when its implementer's turn ends: it leaves the exchange with the merge, or returns to it.

use crate::engine::lookup::slot::SlotRole;
use crate::engine::lookup::{exchange_view, reviewer_remarks};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange;
use crate::exchange::limits::MAX_ATTEMPTS;
use crate::model::{PullNumber, Slot, Tree};
use crate::state::Outcome;

/// Whether an outcome settles a slot's work item and the exchange must be read for it; requests it.
pub(crate) fn needs_exchange_to_settle(
    builder: &mut DecisionBuilder<'_>,
    slot: Option<&Slot>,
    outcome: &Outcome,
    pull: Option<PullNumber>,
) -> bool {
    let is_settled =
        slot.and_then(implementer_item).is_some() && settlement_of(outcome, None).is_some();
    if !is_settled {
        return false;
    }
    let pull = pull.filter(|_| *outcome == Outcome::Rejected);
    let words = pull.is_some_and(|pull| reviewer_remarks::request_remarks(builder, pull));
    exchange_view::request_exchange(builder) || words
}

/// Settles the work item of an implementer's slot. The exchange must have been read.
pub(crate) fn settle_work_item(
    builder: &mut DecisionBuilder<'_>,
    slot: Option<&Slot>,
    outcome: &Outcome,
    note: Option<&str>,
    pull: Option<PullNumber>,
) {
    let Some((stream, id)) = slot.and_then(implementer_item) else {
        return;
    };
    let Some(end) = settlement_of(outcome, note) else {
        return;
    };
    let view = exchange_view::current_view(builder);
    let (tree, exchange) = (&view.tree, view.exchange.as_ref());
    let stream = exchange.and_then(|exchange| exchange.streams.get(&stream));
    // A missing item was settled before.
    let Some(item) = stream.and_then(|stream| exchange_view::find_item(stream, &id)) else {
        return;
    };
    match end {
        Settlement::Leaves => remove_done(builder, tree, &item.path, &id),
        Settlement::Returns(reason) => {
            let mut reasons = vec![reason];
            let mut is_unwanted = false;
            if let Some(pull) = pull.filter(|_| *outcome == Outcome::Rejected) {
                if let Some(refusal) = builder.state.work.refused.get(&pull) {
                    is_unwanted = refusal.condemns_work();
                    reasons.push(format!("a person refused it: {}", refusal.reason));
                }
                reasons.extend(reviewer_remarks::writer_remarks(builder, pull));
            }
            let settled = exchange::settle_returned(tree, &item.path, &reasons, is_unwanted);
            let Ok((files, suspended)) = settled else {
                return;
            };
            let word = if suspended { "suspended" } else { "returned" };
            builder.add_headline(format!("{word} {id}"), None);
            let attempts = item.value.attempts.saturating_add(1);
            let what = if is_unwanted {
                "is not wanted and suspended; only a request starts it again".to_owned()
            } else if suspended {
                format!("is suspended after attempt {attempts}; only a request starts it again")
            } else {
                format!("goes back to the exchange after attempt {attempts} of {MAX_ATTEMPTS}")
            };
            let reasons = reasons.join("; ");
            report_settled(builder, format!("the work item `{id}` {what}: {reasons}"));
            builder.write_files(files);
        }
    }
}

/// Removes a merged work item.
fn remove_done(builder: &mut DecisionBuilder<'_>, tree: &Tree, path: &str, id: &str) {
    let Ok((files, left)) = exchange::settle_merged(tree, path) else {
        return;
    };
    builder.add_diagnostics(left);
    builder.add_headline(format!("done {id}"), None);
    report_settled(
        builder,
        format!("the work item `{id}` is done and leaves the exchange"),
    );
    builder.write_files(files);
}

fn report_settled(builder: &mut DecisionBuilder<'_>, text: String) {
    builder.report_line(Line::about_repository(
        Verdict::Settled,
        Reason::Finished,
        text,
    ));
}

enum Settlement {
    Leaves,
    Returns(String),
}

fn settlement_of(outcome: &Outcome, note: Option<&str>) -> Option<Settlement> {
    let because = |what: &str| {
        let reason = note.map_or_else(|| what.to_owned(), |note| format!("{what}: {note}"));
        Some(Settlement::Returns(reason))
    };
    match outcome {
        Outcome::Merged => Some(Settlement::Leaves),
        Outcome::Rejected | Outcome::Repeated | Outcome::NoOp | Outcome::Superseded => {
            because("its pull request was closed without a merge")
        }
        Outcome::Failed => because("its session failed"),
        Outcome::Stuck => because("its session made no progress"),
        Outcome::NoOutput => because("its session changed nothing"),
        Outcome::Completed => because("its session opened no pull request"),
        Outcome::Cancelled => because("a person cancelled it"),
        Outcome::PrOpen
        | Outcome::Imported
        | Outcome::Duplicate
        | Outcome::Reverted
        | Outcome::Other(_) => None,
    }
}

fn implementer_item(slot: &Slot) -> Option<(String, String)> {
    match SlotRole::from_slot(slot)? {
        SlotRole::Implementer { stream, item } => Some((stream, item)),
        _ => None,
    }
}
