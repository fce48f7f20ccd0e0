//! Proposals become issues, each once: that it is to be one is written down first, and the file leaves when it is.

use std::collections::{BTreeMap, BTreeSet};

use super::attempts::{forget, is_due, reads_for};
use crate::engine::lookup::exchange_view;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{INTENT_VALID, PUBLISHED_AT_ONCE, PUBLISHED_KEPT};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{offered, publication};

/// Stands in the state for the number of an issue that is about to be opened.
const INTENDED: u64 = 0;

pub(crate) fn proposals(draft: &mut Draft<'_>) {
    let intended: BTreeSet<String> = draft
        .state
        .published
        .iter()
        .filter(|(key, number)| **number == INTENDED && offered(key).is_none())
        .map(|(key, _)| key.clone())
        .collect();
    if draft.exchange.is_none() {
        reads_for(draft, &intended);
        return;
    }
    let picture = exchange_view::picture(draft);
    let Some(exchange) = &picture.exchange else {
        return;
    };
    let proposals = exchange
        .streams
        .values()
        .flat_map(|stream| &stream.proposals);
    let mut gone = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut open = 0;
    for proposal in proposals {
        let Some(issue) = publication(proposal) else {
            continue;
        };
        known.insert(issue.key.clone());
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
        if !is_due(draft, &issue.key) {
            continue;
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
    // What was taken back before it was an issue becomes none.
    for key in intended.difference(&known) {
        forget(draft, key);
        draft.headline(format!("withdrawn {key}"), None);
    }
}

/// A proposal is an issue now.
pub(crate) fn published(draft: &mut Draft<'_>, key: &str, number: u64) {
    draft.state.published.insert(key.to_owned(), number);
    draft.state.publishing.remove(key);
    draft.headline(format!("published {key} as #{number}"), None);
    let text = format!("`{key}` is issue #{number} now");
    draft.say(Line::repository(Verdict::Settled, Reason::Finished, text));
    // The oldest proposals make room. Offers go with their items, and must not push them out.
    let proposals = |draft: &Draft<'_>| {
        let keys = draft.state.published.keys();
        keys.filter(|key| offered(key).is_none()).count()
    };
    while proposals(draft) > PUBLISHED_KEPT {
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
