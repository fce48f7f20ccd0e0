//! Proposals become issues, each once: that it is to be one is written down first, and the file leaves when it is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::draft::Draft;
use super::super::limits::{
    DAY, INTENT_VALID, PUBLISH_AGAIN, PUBLISH_REPEATS, PUBLISHED_AT_ONCE, PUBLISHED_KEPT,
};
use super::super::{Effect, Line, Reason, Verdict};
use super::{offer, picture};
use crate::exchange::{offered, publication};
use crate::state::{Extra, PublishingState};

/// Stands in the state for the number of an issue that is about to be opened.
const INTENDED: u64 = 0;

/// Shows work that waits for a person, opens an issue for each sound proposal that has none, and removes those that
/// have one. Nothing is read for it but what an intent of before needs; a new proposal is seen by the decision that
/// imports it.
pub(in crate::engine) fn everybody(draft: &mut Draft<'_>) {
    offer::everybody(draft);
    proposals(draft);
}

fn proposals(draft: &mut Draft<'_>) {
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
    let picture = picture::picture(draft);
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

/// Asks for the exchange where an issue is due that it says the text of, and else looks again when one is.
pub(super) fn reads_for(draft: &mut Draft<'_>, intended: &BTreeSet<String>) {
    for key in intended {
        match next_time(draft, key) {
            Some(next) if next > draft.now() => draft.wake(next),
            _ => draft.needs.exchange = true,
        }
    }
}

/// Whether GitHub is to be asked now to open or close the issue of a key, which is counted: where the last time came to
/// nothing it waits, longer each time. It is told of once that is so often that a person must look.
pub(super) fn is_due(draft: &mut Draft<'_>, key: &str) -> bool {
    let now = draft.now();
    let is_due = next_time(draft, key).is_none_or(|next| next <= now);
    let known = draft.state.publishing.get(key);
    let before = known.map(|known| known.repeats);
    let mut repeats = before.unwrap_or_default();
    if is_due {
        repeats = before.map_or(0, |before| (before + 1).min(PUBLISH_REPEATS));
        let extra = known.map_or_else(Extra::new, |known| known.extra.clone());
        let one = PublishingState {
            at: now,
            repeats,
            extra,
        };
        draft.state.publishing.insert(key.to_owned(), one);
    }
    let next = next_time(draft, key).unwrap_or(now);
    draft.wake(next);
    if repeats == PUBLISH_REPEATS {
        if before < Some(repeats) {
            draft.headline(format!("put off {key}"), None);
        }
        let text = format!(
            "GitHub did not open or close the issue of `{key}` {PUBLISH_REPEATS} times; it is asked once a day now: see \
             that the repository has issues, and that this credential may write them"
        );
        let line = Line::repository(Verdict::Waiting, Reason::RetryPause, text);
        draft.say(line.until(next));
    }
    is_due
}

/// When GitHub is to be asked next for the issue of a key; `None`: it never was.
fn next_time(draft: &Draft<'_>, key: &str) -> Option<Timestamp> {
    let known = draft.state.publishing.get(key)?;
    let pause = match known.repeats {
        repeats if repeats >= PUBLISH_REPEATS => DAY,
        repeats => PUBLISH_AGAIN * 2_i32.pow(repeats),
    };
    Some(known.at.checked_add(pause).unwrap_or(Timestamp::MAX))
}

/// A key is no issue, and becomes none.
pub(super) fn forget(draft: &mut Draft<'_>, key: &str) {
    draft.state.published.remove(key);
    draft.state.publishing.remove(key);
}

/// A proposal is an issue now.
pub(in crate::engine) fn published(draft: &mut Draft<'_>, key: &str, number: u64) {
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
