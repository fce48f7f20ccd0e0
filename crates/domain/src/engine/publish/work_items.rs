//! Work that waits for a person's word: each item is shown as an issue, and a writer's label on it has it done. That is
//! all of it with `approval = "human"`, else what is on the shelf for its label, or parked.
//!
//! That an item is to be shown is written down first, under a key that names the slot of its session and a digest of the
//! very text that people read. An item that was changed, or that is gone, takes its issue along: what was let through is
//! what was read, and nothing else.

use std::cmp::Reverse;

use super::attempts;
use crate::engine::lookup::exchange_view;
use crate::engine::lookup::work_items::{
    Offer, WORK_LABEL, may_be_broken, offers, waits_for_people,
};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{INTENT_VALID, OFFERED_AT_ONCE, OFFERS_LOOKED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{self, Next};

/// Stands in the state for the number of an issue that is about to be opened.
const INTENDED: u64 = 0;

/// Shows what waits for a person, and closes what does so no more.
pub(crate) fn run(draft: &mut Draft<'_>) {
    let known: Vec<(String, u64)> = draft
        .state
        .published
        .iter()
        .filter(|(key, _)| exchange::offered(key).is_some())
        .map(|(key, number)| (key.clone(), *number))
        .collect();
    if draft.exchange.is_none() {
        let intended = known.into_iter().filter(|(_, number)| *number == INTENDED);
        attempts::reads_for(draft, &intended.map(|(key, _)| key).collect());
        return;
    }
    // Without the files of layers nobody knows which labels there are, and so which items are sound. Where nothing was
    // shown before, and work goes on by itself, the next pass comes to it.
    let is_awaited = !known.is_empty() || waits_for_people(draft);
    if !draft.snapshot.layers_read && (!is_awaited || exchange_view::unread(draft)) {
        return;
    }
    // An exchange that cannot be read is not an empty one: what people were shown stays, and is not let through meanwhile.
    let picture = exchange_view::picture(draft);
    if picture.is_unreadable {
        return;
    }
    let read = picture.exchange.as_ref();
    let (offers, unshown) = offers(draft, read);
    draft.diagnose(unshown);
    for (key, number) in &known {
        if offers.contains_key(key) {
            continue;
        }
        let slot = exchange::offered(key).map_or("", |(slot, _)| slot);
        let is_there = offers
            .keys()
            .any(|other| exchange::offered(other).is_some_and(|(one, _)| one == slot));
        if !is_there && may_be_broken(read, &picture.tree, slot) {
            continue;
        }
        if *number == INTENDED {
            attempts::forget(draft, key);
            draft.headline(format!("withdrawn {key}"), None);
            continue;
        }
        if !attempts::is_due(draft, key) {
            continue;
        }
        draft.effect(Effect::CloseOffer {
            number: *number,
            comment: if is_there {
                "The work item reads differently by now, and is shown by another issue.".to_owned()
            } else {
                "The work item is done, or was taken back.".to_owned()
            },
        });
    }
    let shown: Vec<u64> = known
        .iter()
        .filter(|(key, _)| offers.contains_key(key))
        .map(|(_, number)| *number)
        .collect();
    let mut room = OFFERED_AT_ONCE.saturating_sub(shown.len());
    let all = waits_for_people(draft);
    let is_new = |(key, offer): (&String, &Offer)| {
        (all || offer.next != Next::Implementer) && !draft.state.published.contains_key(key)
    };
    if room == 0 && offers.iter().any(is_new) {
        room = OFFERED_AT_ONCE.saturating_sub(open(draft, shown));
    }
    for (key, Offer { issue, next }) in offers {
        // What goes on by itself needs nobody's word.
        if !all && next == Next::Implementer {
            continue;
        }
        match draft.state.published.get(&key) {
            Some(number) if *number != INTENDED => continue,
            Some(_) => {}
            None if room == 0 => continue,
            None => {
                room -= 1;
                draft.state.published.insert(key.clone(), INTENDED);
                draft.headline(format!("offer {key}"), None);
            }
        }
        if !attempts::is_due(draft, &key) {
            continue;
        }
        let not_after = draft.after(INTENT_VALID);
        draft.effect(Effect::OfferWork {
            key,
            title: issue.title,
            body: issue.body,
            label: issue.label,
            marker: issue.marker,
            not_after,
        });
    }
}

/// How many of the issues that show work wait for people: one that somebody has closed is left undone, and takes no
/// room from others. What is not known yet counts, and is asked for; of very many only the newest are looked at, and the
/// rest is taken for closed.
fn open(draft: &mut Draft<'_>, mut numbers: Vec<u64>) -> usize {
    let snapshot = draft.snapshot;
    numbers.sort_unstable_by_key(|number| {
        Reverse(match *number {
            INTENDED => u64::MAX,
            number => number,
        })
    });
    numbers.truncate(OFFERS_LOOKED);
    numbers.retain(|number| match snapshot.subjects.get(number) {
        _ if *number == INTENDED => true,
        Some(subject) => subject.as_ref().is_some_and(|subject| subject.open),
        None => {
            draft.needs.subjects.insert(*number);
            true
        }
    });
    numbers.len()
}

/// An offer is an issue now.
pub(crate) fn shown(draft: &mut Draft<'_>, key: &str, number: u64) {
    draft.state.published.insert(key.to_owned(), number);
    draft.state.publishing.remove(key);
    draft.headline(format!("offered {key} as #{number}"), None);
    let text = format!(
        "issue #{number} shows a work item; the label `{}` on it has it done",
        WORK_LABEL
    );
    draft.say(Line::repository(Verdict::Settled, Reason::Finished, text));
}

/// An issue shows its work item no more.
pub(crate) fn closed(draft: &mut Draft<'_>, number: u64) {
    let of_it = |(key, known): (&String, &u64)| {
        (*known == number && exchange::offered(key).is_some()).then(|| key.clone())
    };
    let keys: Vec<String> = draft.state.published.iter().filter_map(of_it).collect();
    for key in keys {
        attempts::forget(draft, &key);
        draft.headline(format!("withdrawn {key}"), None);
    }
}
