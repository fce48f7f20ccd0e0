//! Work items that wait for a person as issues.

use std::collections::BTreeMap;

use super::exchange_view;
use super::in_progress::is_in_progress_elsewhere;
use super::slot::SlotRole;
use crate::Diagnostic;
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::exchange::{self, Exchange, Filed, Next, Publication, Stream, WorkItem};
use crate::model::{PersonaId, Slot, TrackName, Tree};
use crate::plan::Approval;

/// The label that starts the work item of an issue.
pub const WORK_LABEL: &str = "phileas:implementer";

/// Its name after [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX).
const WORD: &str = "implementer";

/// Whether work items need a person's approval.
pub(crate) fn needs_human_approval(builder: &DecisionBuilder<'_>) -> bool {
    builder.snapshot.plan.roster.approval == Approval::Human
}

/// Whether the item of a slot may exist in a file that cannot be parsed.
pub(crate) fn may_be_broken(exchange: Option<&Exchange>, tree: &Tree, slot: &str) -> bool {
    let slot_role = SlotRole::from_slot(&Slot::from(slot));
    let (Some(SlotRole::Implementer { stream, item }), Some(exchange)) = (slot_role, exchange)
    else {
        return false;
    };
    let is_sound = exchange.streams.get(&stream).is_some_and(|stream| {
        let mut items = stream.items.iter();
        items.any(|one| one.sound && one.value.id == item)
    });
    !is_sound && !exchange.knows_items(tree, &stream)
}

/// Whether a request on an issue means its work item.
pub(crate) fn names_work_item(
    builder: &DecisionBuilder<'_>,
    subject: &Subject,
    word: &PersonaId,
) -> bool {
    word.as_str() == WORD && published_item(builder, subject).is_some()
}

/// The slot of the work item of an issue. `None`: the issue no longer shows the item as it was published.
fn requested_slot(builder: &DecisionBuilder<'_>, subject: &Subject) -> Option<PersonaId> {
    let (slot, digest) = published_item(builder, subject)?;
    (exchange::offer_digest(&subject.title, &subject.body) == digest).then(|| slot.into())
}

/// The session that a request for a persona asks for: the persona's, or that of the issue's work item.
///
/// # Errors
///
/// The issue no longer shows the work item as it was published.
pub(crate) fn requested_session(
    builder: &DecisionBuilder<'_>,
    subject: &Subject,
    persona: &PersonaId,
) -> Result<PersonaId, (Reason, String)> {
    if names_work_item(builder, subject, persona) {
        requested_item(builder, subject)
    } else {
        Ok(persona.clone())
    }
}

/// The session of the work item of an issue.
///
/// # Errors
///
/// The issue no longer shows the work item as it was published.
pub(crate) fn requested_item(
    builder: &DecisionBuilder<'_>,
    subject: &Subject,
) -> Result<PersonaId, (Reason, String)> {
    requested_slot(builder, subject).ok_or_else(|| {
        let text = "the issue does not show the work item as it was put there".to_owned();
        (Reason::ItemChanged, text)
    })
}

fn published_item<'d>(
    builder: &'d DecisionBuilder<'_>,
    subject: &Subject,
) -> Option<(&'d str, &'d str)> {
    let mut published = builder.state.published.iter();
    let (key, _) = published.find(|(key, number)| {
        **number == subject.number && exchange::split_issue_key(key).is_some()
    })?;
    exchange::split_issue_key(key)
}

/// The role that a request names, where it names a work item.
pub(crate) fn implementer_role(asked: &PersonaId) -> Option<SlotRole> {
    let slot_role = SlotRole::from_slot(&Slot::from(asked.as_str()))?;
    matches!(slot_role, SlotRole::Implementer { .. }).then_some(slot_role)
}

/// Checks right before a session starts whether its work item may still be done. All items of a step are announced at
/// once, and a request may wait, so that the announcement may be old. The exchange must have been read. `shown`: the
/// issue that a person approved.
///
/// # Errors
///
/// The item differs from the approved one, is gone, lacks a required approval, or is in progress elsewhere.
pub(crate) fn check_is_current(
    builder: &DecisionBuilder<'_>,
    slot_role: &SlotRole,
    shown: Option<&Subject>,
    track: &TrackName,
) -> Result<(), (Reason, String)> {
    if !matches!(slot_role, SlotRole::Implementer { .. }) {
        return Ok(());
    }
    if is_in_progress_elsewhere(builder, slot_role, track) {
        let text = "another session is at work on it, or its pull request is open".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    let Some(subject) = shown else {
        // `approval` may have changed since the announcement.
        return match needs_human_approval(builder) {
            true => {
                let text = "a person has to approve it first".to_owned();
                Err((Reason::NothingToDo, text))
            }
            false => Ok(()),
        };
    };
    let view = exchange_view::current_view(builder);
    let shown = exchange::offer_digest(&subject.title, &subject.body);
    let slot = slot_role.to_slot();
    let (offers, _) = work_item_issues(builder, view.exchange.as_ref());
    let same = offers
        .keys()
        .any(|key| exchange::split_issue_key(key) == Some((slot.as_str(), shown.as_str())));
    if same {
        return Ok(());
    }
    let text = format!(
        "the work item is not what #{} shows any more",
        subject.number
    );
    Err((Reason::ItemChanged, text))
}

/// A work item's issue, and its next layer without a request.
pub(crate) struct WorkItemIssue {
    pub(crate) issue: Publication,
    pub(crate) next: Next,
}

/// Two items with one id have one slot, so an approval of one would start the other.
fn check_unique_id(stream: &Stream, item: &Filed<WorkItem>) -> Result<(), Diagnostic> {
    let of_id = |other: &&Filed<WorkItem>| other.value.id == item.value.id;
    match stream.items.iter().filter(of_id).count() {
        1 => Ok(()),
        _ => {
            let message = format!(
                "it is not shown as an issue, for another work item has the id `{}`, too",
                item.value.id
            );
            let one = Diagnostic::warning(&item.path, message);
            Err(one.help("give one of them another id, also in its events"))
        }
    }
}

/// The issues of all work items that implementers could do, by key. A request starts an item whatever its label and its
/// attempts.
///
/// Also returns the items that cannot be shown, with the reason.
pub(crate) fn work_item_issues(
    builder: &DecisionBuilder<'_>,
    exchange: Option<&Exchange>,
) -> (BTreeMap<String, WorkItemIssue>, Vec<Diagnostic>) {
    let labels = builder.snapshot.plan.roster.labels.as_deref();
    let (mut offers, mut unshown) = (BTreeMap::new(), Vec::new());
    let streams = exchange.iter().flat_map(|exchange| &exchange.streams);
    for (name, stream) in streams {
        for item in &stream.items {
            let next = Next::of(item, labels);
            if !matches!(next, Next::Implementer | Next::Shelved | Next::Suspended) {
                continue;
            }
            let slot_role = SlotRole::Implementer {
                stream: name.clone(),
                item: item.value.id.clone(),
            };
            match check_unique_id(stream, item).and_then(|()| {
                exchange::work_item_issue(slot_role.to_slot().as_str(), WORK_LABEL, stream, item)
            }) {
                Ok(issue) => {
                    offers.insert(issue.key.clone(), WorkItemIssue { issue, next });
                }
                Err(why) => unshown.push(why),
            }
        }
    }
    (offers, unshown)
}
