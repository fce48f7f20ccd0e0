//! What becomes of a work item when the turn of its implementer ends: it leaves with the merge, or goes back.

use crate::Diagnostic;
use crate::engine::lookup::slot::Seat;
use crate::engine::lookup::{exchange_view, reviewer_remarks};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::limits::MAX_ATTEMPTS;
use crate::exchange::{self, SettleError};
use crate::model::{PullNumber, Slot};
use crate::state::Outcome;

/// Whether an outcome says what becomes of a slot's work item, and the exchange is not read yet; asks for it.
pub(crate) fn settles_later(
    draft: &mut Draft<'_>,
    slot: Option<&Slot>,
    outcome: &Outcome,
    pull: Option<PullNumber>,
) -> bool {
    let is_settled = slot.and_then(of_implementer).is_some() && end_of(outcome, None).is_some();
    if !is_settled {
        return false;
    }
    let pull = pull.filter(|_| *outcome == Outcome::Rejected);
    let words = pull.is_some_and(|pull| reviewer_remarks::unread(draft, pull));
    exchange_view::unread(draft) || words
}

/// Settles the work item of an implementer's slot. The exchange must have been read.
pub(crate) fn settle(
    draft: &mut Draft<'_>,
    slot: Option<&Slot>,
    outcome: &Outcome,
    note: Option<&str>,
    pull: Option<PullNumber>,
) {
    let Some((stream, id)) = slot.and_then(of_implementer) else {
        return;
    };
    let Some(end) = end_of(outcome, note) else {
        return;
    };
    let picture = exchange_view::picture(draft);
    let (tree, exchange) = (&picture.tree, picture.exchange.as_ref());
    let stream = exchange.and_then(|exchange| exchange.streams.get(&stream));
    // One that is gone was settled before.
    let Some(item) = stream.and_then(|stream| exchange_view::item(stream, &id)) else {
        return;
    };
    match end {
        End::Leaves => {
            let files = match exchange::merged(tree, &item.path) {
                Ok((files, left)) => {
                    draft.diagnose(left);
                    files
                }
                // What is merged is not done again, whatever is wrong with its links.
                Err(why @ SettleError::Unresolved { .. }) => {
                    let one = Diagnostic::warning(&item.path, why.to_string());
                    draft.diagnose(vec![one.mend("look at `phileas exchange check`")]);
                    [(item.path.clone(), None)].into()
                }
                Err(SettleError::Gone(_)) => return,
            };
            draft.headline(format!("done {id}"), None);
            say(
                draft,
                format!("the work item `{id}` is done and leaves the exchange"),
            );
            draft.write(files);
        }
        End::Returns(reason) => {
            let mut reasons = vec![reason];
            if let Some(pull) = pull.filter(|_| *outcome == Outcome::Rejected) {
                reasons.extend(reviewer_remarks::words(draft, pull));
            }
            let Ok((files, parked)) = exchange::returned(tree, &item.path, &reasons) else {
                return;
            };
            let word = if parked { "parked" } else { "returned" };
            draft.headline(format!("{word} {id}"), None);
            let attempts = item.value.attempts.saturating_add(1);
            let what = match parked {
                false => {
                    format!("goes back to the exchange after attempt {attempts} of {MAX_ATTEMPTS}")
                }
                true => format!("goes to nobody by itself any more after attempt {attempts}"),
            };
            let reasons = reasons.join("; ");
            say(draft, format!("the work item `{id}` {what}: {reasons}"));
            draft.write(files);
        }
    }
}

fn say(draft: &mut Draft<'_>, text: String) {
    draft.say(Line::repository(Verdict::Settled, Reason::Finished, text));
}

enum End {
    Leaves,
    Returns(String),
}

fn end_of(outcome: &Outcome, note: Option<&str>) -> Option<End> {
    let because = |what: &str| {
        let reason = note.map_or_else(|| what.to_owned(), |note| format!("{what}: {note}"));
        Some(End::Returns(reason))
    };
    match outcome {
        Outcome::Merged => Some(End::Leaves),
        Outcome::Rejected => because("its pull request was closed without a merge"),
        Outcome::Failed => because("its session failed"),
        Outcome::Stuck => because("its session did not get on"),
        Outcome::NoOutput => because("its session changed nothing"),
        Outcome::Completed => because("its session opened no pull request"),
        Outcome::Cancelled => because("a person cancelled it"),
        Outcome::PrOpen | Outcome::Imported | Outcome::Duplicate | Outcome::Other(_) => None,
    }
}

fn of_implementer(slot: &Slot) -> Option<(String, String)> {
    match Seat::of(slot)? {
        Seat::Implementer { stream, item } => Some((stream, item)),
        _ => None,
    }
}
