//! Work that waits for a person's word: each item is shown as an issue, and a writer's label on it has it done. That is
//! all of it with `approval = "human"`, else what is on the shelf for its label, or parked.
//!
//! That an item is to be shown is written down first, under a key that names the slot of its session and a digest of the
//! very text that people read. An item that was changed, or that is gone, takes its issue along: what was let through is
//! what was read, and nothing else.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::limits::{INTENT_VALID, OFFERED_AT_ONCE, OFFERS_LOOKED};
use super::super::step::Work;
use super::super::{Effect, Line, Reason, Subject, Verdict};
use super::due::{in_hand, in_hand_elsewhere};
use super::seat::Seat;
use super::{picture, publish};
use crate::Diagnostic;
use crate::exchange::{self, Exchange, Filed, Next, Publication, Stream, WorkItem};
use crate::model::{PersonaId, Slot, TrackName, Tree};
use crate::plan::Approval;

/// Stands in the state for the number of an issue that is about to be opened.
const INTENDED: u64 = 0;
/// The label that has the work item done that an issue shows.
pub const WORK_LABEL: &str = "phileas:implementer";
/// The word behind [`LABEL_PREFIX`](super::super::LABEL_PREFIX) in it.
const WORD: &str = "implementer";

/// Whether work waits for a person's word here.
pub(super) fn waits_for_people(draft: &Draft<'_>) -> bool {
    draft.snapshot.plan.roster.approval == Approval::Human
}

/// Shows what waits for a person, and closes what does so no more.
pub(super) fn everybody(draft: &mut Draft<'_>) {
    let known: Vec<(String, u64)> = draft
        .state
        .published
        .iter()
        .filter(|(key, _)| exchange::offered(key).is_some())
        .map(|(key, number)| (key.clone(), *number))
        .collect();
    if draft.exchange.is_none() {
        let intended = known.into_iter().filter(|(_, number)| *number == INTENDED);
        publish::reads_for(draft, &intended.map(|(key, _)| key).collect());
        return;
    }
    // Without the files of layers nobody knows which labels there are, and so which items are sound. Where nothing was
    // shown before, and work goes on by itself, the next pass comes to it.
    let is_awaited = !known.is_empty() || waits_for_people(draft);
    if !draft.snapshot.layers_read && (!is_awaited || picture::unread(draft)) {
        return;
    }
    // An exchange that cannot be read is not an empty one: what people were shown stays, and is not let through meanwhile.
    let picture = picture::picture(draft);
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
            publish::forget(draft, key);
            draft.headline(format!("withdrawn {key}"), None);
            continue;
        }
        if !publish::is_due(draft, key) {
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
        if !publish::is_due(draft, &key) {
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

/// Whether the item of a slot may be in a file that is broken, and so be there all the same.
fn may_be_broken(exchange: Option<&Exchange>, tree: &Tree, slot: &str) -> bool {
    let seat = Seat::of(&Slot::from(slot));
    let (Some(Seat::Implementer { stream, item }), Some(exchange)) = (seat, exchange) else {
        return false;
    };
    let is_sound = exchange.streams.get(&stream).is_some_and(|stream| {
        let mut items = stream.items.iter();
        items.any(|one| one.sound && one.value.id == item)
    });
    !is_sound && !exchange.knows_items(tree, &stream)
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
pub(in crate::engine) fn shown(draft: &mut Draft<'_>, key: &str, number: u64) {
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
pub(in crate::engine) fn closed(draft: &mut Draft<'_>, number: u64) {
    let of_it = |(key, known): (&String, &u64)| {
        (*known == number && exchange::offered(key).is_some()).then(|| key.clone())
    };
    let keys: Vec<String> = draft.state.published.iter().filter_map(of_it).collect();
    for key in keys {
        publish::forget(draft, &key);
        draft.headline(format!("withdrawn {key}"), None);
    }
}

/// Whether a word on an issue has a work item done.
pub(in crate::engine) fn is_about(draft: &Draft<'_>, subject: &Subject, word: &PersonaId) -> bool {
    word.as_str() == WORD && of_issue(draft, subject).is_some()
}

/// Who is asked for by that word on an issue: the slot of the item's session. `None`: the issue shows something else by
/// now than the item that was put there.
pub(in crate::engine) fn asked_for(draft: &Draft<'_>, subject: &Subject) -> Option<PersonaId> {
    let (slot, digest) = of_issue(draft, subject)?;
    (exchange::offer_digest(&subject.title, &subject.body) == digest).then(|| slot.into())
}

fn of_issue<'d>(draft: &'d Draft<'_>, subject: &Subject) -> Option<(&'d str, &'d str)> {
    let mut published = draft.state.published.iter();
    let (key, _) = published
        .find(|(key, number)| **number == subject.number && exchange::offered(key).is_some())?;
    exchange::offered(key)
}

/// The slot that a request asks for, where it asks for a work item.
pub(in crate::engine) fn seat_of(asked: &PersonaId) -> Option<Seat> {
    let seat = Seat::of(&Slot::from(asked.as_str()))?;
    matches!(seat, Seat::Implementer { .. }).then_some(seat)
}

/// The work of a request for a work item.
///
/// # Errors
///
/// Somebody is at it.
pub(in crate::engine) fn work(draft: &Draft<'_>, seat: &Seat) -> Result<Work, (Reason, String)> {
    if in_hand(draft, seat) {
        let text = "somebody is at work on it, or its pull request is open".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    Ok(Work {
        slot: seat.slot(),
        persona: seat.persona(),
    })
}

/// Whether an item may still be done, right before a session is started for it, however long ago that was announced: all
/// items of a step are announced at once, and a request waits for its time. The exchange must have been read. `shown`:
/// what a person has let through.
///
/// # Errors
///
/// It is not what was let through, or is gone; nobody has let it through where people are asked first; or another session
/// has opened its pull request meanwhile.
pub(in crate::engine) fn stands(
    draft: &Draft<'_>,
    seat: &Seat,
    shown: Option<&Subject>,
    track: &TrackName,
) -> Result<(), (Reason, String)> {
    if !matches!(seat, Seat::Implementer { .. }) {
        return Ok(());
    }
    if in_hand_elsewhere(draft, seat, track) {
        let text = "somebody else is at work on it, or its pull request is open".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    let Some(subject) = shown else {
        // `approval` may have changed since it was announced.
        return match waits_for_people(draft) {
            true => {
                let text = "a person has to let it through first".to_owned();
                Err((Reason::NothingToDo, text))
            }
            false => Ok(()),
        };
    };
    let picture = picture::picture(draft);
    let shown = exchange::offer_digest(&subject.title, &subject.body);
    let slot = seat.slot();
    let (offers, _) = offers(draft, picture.exchange.as_ref());
    let same = offers
        .keys()
        .any(|key| exchange::offered(key) == Some((slot.as_str(), shown.as_str())));
    if same {
        return Ok(());
    }
    let text = format!(
        "the work item is not what #{} shows any more",
        subject.number
    );
    Err((Reason::ContentChanged, text))
}

/// A work item as it would be shown, and where it would go by itself.
struct Offer {
    issue: Publication,
    next: Next,
}

/// Two items of one id have one slot, and the text of the one would be let through for the other.
fn shown_alone(stream: &Stream, item: &Filed<WorkItem>) -> Result<(), Diagnostic> {
    let of_id = |other: &&Filed<WorkItem>| other.value.id == item.value.id;
    match stream.items.iter().filter(of_id).count() {
        1 => Ok(()),
        _ => {
            let message = format!(
                "it is not shown as an issue, for another work item has the id `{}`, too",
                item.value.id
            );
            let one = Diagnostic::warning(&item.path, message);
            Err(one.mend("give one of them another id, also in its events"))
        }
    }
}

/// Everything that implementers could do, as it would be shown, by key. What a person asks for is done whatever its label
/// is, and however often it was tried.
///
/// Beside them, what could be done and cannot be shown, and why.
fn offers(
    draft: &Draft<'_>,
    exchange: Option<&Exchange>,
) -> (BTreeMap<String, Offer>, Vec<Diagnostic>) {
    let labels = draft.snapshot.plan.roster.labels.as_deref();
    let (mut offers, mut unshown) = (BTreeMap::new(), Vec::new());
    let streams = exchange.iter().flat_map(|exchange| &exchange.streams);
    for (name, stream) in streams {
        for item in &stream.items {
            let next = Next::of(item, labels);
            if !matches!(next, Next::Implementer | Next::Shelved | Next::Parked) {
                continue;
            }
            let seat = Seat::Implementer {
                stream: name.clone(),
                item: item.value.id.clone(),
            };
            match shown_alone(stream, item)
                .and_then(|()| exchange::offer(seat.slot().as_str(), WORK_LABEL, stream, item))
            {
                Ok(issue) => {
                    offers.insert(issue.key.clone(), Offer { issue, next });
                }
                Err(why) => unshown.push(why),
            }
        }
    }
    (offers, unshown)
}
