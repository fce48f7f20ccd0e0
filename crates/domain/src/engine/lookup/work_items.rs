//! Work items that are shown as issues and wait for a maintainer.

use std::collections::BTreeMap;

use super::exchange_view;
use super::in_progress::in_hand_elsewhere;
use super::slot::Seat;
use crate::Diagnostic;
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::exchange::{self, Exchange, Filed, Next, Publication, Stream, WorkItem};
use crate::model::{PersonaId, Slot, TrackName, Tree};
use crate::plan::Approval;

/// The label that has the work item done that an issue shows.
pub const WORK_LABEL: &str = "phileas:implementer";

/// The word behind [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX) in it.
const WORD: &str = "implementer";

/// Whether work waits for a person's word here.
pub(crate) fn waits_for_people(draft: &Draft<'_>) -> bool {
    draft.snapshot.plan.roster.approval == Approval::Human
}

/// Whether the item of a slot may be in a file that is broken, and so be there all the same.
pub(crate) fn may_be_broken(exchange: Option<&Exchange>, tree: &Tree, slot: &str) -> bool {
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

/// Whether a word on an issue has a work item done.
pub(crate) fn is_about(draft: &Draft<'_>, subject: &Subject, word: &PersonaId) -> bool {
    word.as_str() == WORD && of_issue(draft, subject).is_some()
}

/// Who is asked for by that word on an issue: the slot of the item's session. `None`: the issue shows something else by
/// now than the item that was put there.
pub(crate) fn asked_for(draft: &Draft<'_>, subject: &Subject) -> Option<PersonaId> {
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
pub(crate) fn seat_of(asked: &PersonaId) -> Option<Seat> {
    let seat = Seat::of(&Slot::from(asked.as_str()))?;
    matches!(seat, Seat::Implementer { .. }).then_some(seat)
}

/// Whether an item may still be done, right before a session is started for it, however long ago that was announced: all
/// items of a step are announced at once, and a request waits for its time. The exchange must have been read. `shown`:
/// what a person has let through.
///
/// # Errors
///
/// It is not what was let through, or is gone; nobody has let it through where people are asked first; or another session
/// has opened its pull request meanwhile.
pub(crate) fn stands(
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
    let picture = exchange_view::picture(draft);
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
pub(crate) struct Offer {
    pub(crate) issue: Publication,
    pub(crate) next: Next,
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
pub(crate) fn offers(
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
