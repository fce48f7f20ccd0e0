//! Proposals become issues, each once: that it is to be one is written down first, and the file leaves when it is.

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::limits::{INTENT_VALID, PUBLISHED_AT_ONCE, PUBLISHED_KEPT};
use super::super::{Effect, Line, Reason, Verdict};
use super::{offer, picture};
use crate::exchange::{offered, publication};

/// Stands in the state for the number of an issue that is about to be opened.
const INTENDED: u64 = 0;

/// Shows work that waits for a person, opens an issue for each sound proposal that has none, and removes those that
/// have one. Nothing is read for it but
/// what an intent of before needs; a new proposal is seen by the decision that imports it.
pub(in crate::engine) fn everybody(draft: &mut Draft<'_>) {
    offer::everybody(draft);
    proposals(draft);
}

fn proposals(draft: &mut Draft<'_>) {
    if draft.exchange.is_none() {
        draft.needs.exchange |= draft
            .state
            .published
            .iter()
            .any(|(key, number)| *number == INTENDED && offered(key).is_none());
        return;
    }
    let Some(exchange) = picture::exchange(draft) else {
        return;
    };
    let proposals = exchange
        .streams
        .values()
        .flat_map(|stream| &stream.proposals);
    let mut gone = BTreeMap::new();
    let mut open = 0;
    for proposal in proposals {
        let Some(issue) = publication(proposal) else {
            continue;
        };
        match draft.state.published.get(&issue.key) {
            Some(number) if *number != INTENDED => {
                gone.insert(proposal.path.clone(), None);
                continue;
            }
            _ if open >= PUBLISHED_AT_ONCE => continue,
            Some(_) => {}
            None => {
                draft.state.published.insert(issue.key.clone(), INTENDED);
                draft.headline(format!("publish {}", issue.key), None);
            }
        }
        open += 1;
        let not_after = draft.after(INTENT_VALID);
        draft.effect(Effect::PublishProposal {
            key: issue.key,
            title: issue.title,
            body: issue.body,
            label: issue.label,
            marker: issue.marker,
            not_after,
        });
    }
    if !gone.is_empty() {
        draft.write(gone);
    }
}

/// A proposal is an issue now.
pub(in crate::engine) fn published(draft: &mut Draft<'_>, key: &str, number: u64) {
    draft.state.published.insert(key.to_owned(), number);
    draft.headline(format!("published {key} as #{number}"), None);
    let text = format!("`{key}` is issue #{number} now");
    draft.say(Line::repository(Verdict::Settled, Reason::Finished, text));
    // The oldest make room.
    while draft.state.published.len() > PUBLISHED_KEPT {
        let numbered = draft
            .state
            .published
            .iter()
            .filter(|(key, number)| **number != INTENDED && offered(key).is_none());
        let oldest = numbered
            .min_by_key(|(_, number)| **number)
            .map(|(key, _)| key.clone());
        let Some(oldest) = oldest else { break };
        draft.state.published.remove(&oldest);
    }
}
