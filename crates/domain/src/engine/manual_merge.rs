//! The gates for merges outside of a tick: those that an MCP tool makes.

use super::dispatch::pause;
use super::input::merge_facts::{MergeFacts, MergeMethod, Opinion, ReviewDemand};
use super::input::snapshot::{Ledger, Snapshot};
use super::lookup::exchange_view;
use super::lookup::pull_owner::merge_allowed_by_plan;
use super::output::builder::DecisionBuilder;
use super::output::report::Reason;
use super::pulls::merge_gates::{FactsGap, check_facts};
use crate::model::PullNumber;

/// Why a pull request is not merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeRefusal {
    /// The reason.
    pub reason: Reason,
    /// What it means here. It follows the pull request's number.
    pub text: String,
    /// Whether it may be merged later without a change.
    pub waits: bool,
}

/// The gates for a merge that a person confirms in a conversation, not by a label: the plan, the pauses, and everything
/// about the commit. The person sees the commit and its files, so their confirmation stands for the approval that a
/// label needs.
///
/// # Errors
///
/// Why the pull request is not merged now.
pub fn check_manual_merge(
    snapshot: &Snapshot,
    pull: PullNumber,
    facts: &MergeFacts,
) -> Result<MergeMethod, MergeRefusal> {
    let refusal = |reason, text: String, waits| MergeRefusal {
        reason,
        text,
        waits,
    };
    if let Ledger::Corrupt { .. } = snapshot.ledger {
        let text = "is not merged while the ledger on the branch `jules` cannot be read".to_owned();
        return Err(refusal(Reason::LedgerCorrupt, text, true));
    }
    let builder = DecisionBuilder::new(snapshot, exchange_view::exchange_at_head(snapshot));
    if let Some((reason, text)) = pause::pause_reasons(&builder).into_iter().next() {
        // Time does not correct a mistake in the plan.
        let waits = reason != Reason::PlanInvalid;
        return Err(refusal(reason, format!("is not merged: {text}"), waits));
    }
    let track = merge_allowed_by_plan(&builder, pull)
        .map_err(|(reason, text)| refusal(reason, format!("is not merged: {text}"), false))?;
    if let Some(track) = track
        && let Some(known) = builder.state.tracks.get(&track)
        && let Some(pause) = &known.paused
    {
        let text = format!("is not merged: {}", pause::paused_text(&track, pause));
        return Err(refusal(Reason::PausedTrack, text, true));
    }
    let of_gap = |gap| match gap {
        FactsGap::Wait(reason, text) => refusal(reason, format!("is not merged yet: {text}"), true),
        FactsGap::Shut(reason, text) => refusal(reason, format!("is not merged: {text}"), false),
        FactsGap::Merged => {
            let text = "is not merged: it is merged already".to_owned();
            refusal(Reason::NothingToDo, text, false)
        }
    };
    let method = check_facts(&builder, facts, &facts.head, false).map_err(of_gap)?;
    match review_objection(facts) {
        None => Ok(method),
        Some(text) => {
            let text = format!("is not merged: {text}");
            Err(refusal(Reason::ReviewMissing, text, false))
        }
    }
}

/// What the reviews object to, where a person's confirmation stands for an approval.
fn review_objection(facts: &MergeFacts) -> Option<&'static str> {
    match facts.demand {
        ReviewDemand::Met => {}
        ReviewDemand::Missing => return Some("the rules of its base ask for more reviews"),
        ReviewDemand::ChangesAsked => return Some("a review asks for changes"),
    }
    let Some(opinions) = &facts.opinions else {
        return Some("it has more reviews than phileas reads");
    };
    let is_person = |one: &Opinion| one.actor.as_ref().is_none_or(|actor| !actor.bot);
    let mut against = opinions.iter().filter(|one| !one.approves);
    against
        .any(is_person)
        .then_some("a review asks for changes")
}
