//! A wish that a person put on an issue or pull request is taken up: once, under the id of the event that made it.
//!
//! Everything is level-triggered. A label that is still on is a wish that nobody has taken up, or one whose label could
//! not be taken off yet; the requests of the state tell which.

use jiff::Timestamp;

use super::admission::{Admission, admit};
use super::draft::Draft;
use super::limits::{POLL, SUBJECTS_READ};
use super::subject::{Actor, LABEL_PREFIX, Subject};
use super::{Effect, Line, Reason, Verdict, obey};
use crate::model::{PersonaId, TrackName};
use crate::plan::RESERVED_IDS;
use crate::state::RequestState;

/// The kind of a request that was made by a label.
pub(super) const BY_LABEL: &str = "label";
/// The kind of a request that was made by a comment.
pub(super) const BY_COMMENT: &str = "comment";
/// The outcome of a request that was taken up and not yet started.
pub(super) const PENDING: &str = "pending";
/// The outcome of a request that was not let through, or cannot be fulfilled.
pub(super) const REFUSED: &str = "refused";
/// The label that keeps everything from starting on what it is put on.
pub(super) const HOLD: &str = "hold";
/// The label that pauses the repository.
const PAUSE: &str = "pause";

/// A wish and where it was put.
pub(super) struct Wish<'a> {
    /// Under which it stands in the state: the event's or the comment's node id.
    pub(super) key: &'a str,
    /// By label or by comment.
    pub(super) kind: &'static str,
    pub(super) subject: &'a Subject,
    pub(super) what: What,
    pub(super) actor: Option<&'a Actor>,
    pub(super) at: Timestamp,
    /// The labelling event, whose place among the others tells what came later.
    pub(super) event: Option<&'a str>,
    /// The label to take off.
    pub(super) label: Option<String>,
    /// The comment that it stands in.
    pub(super) comment: Option<u64>,
}

/// What is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A session of a persona.
    Run(PersonaId),
    /// What came to nothing, once more.
    Retry,
    /// The plan that waits is good.
    ApprovePlan,
    /// To be merged.
    Merge,
    /// Something that is not understood here.
    Unknown(String),
}

impl What {
    /// What a label asks for, by the word behind the prefix.
    fn of_label(word: &str) -> Self {
        match word {
            "retry" => Self::Retry,
            "approve-plan" => Self::ApprovePlan,
            "merge" => Self::Merge,
            word if RESERVED_IDS.contains(&word) => Self::Unknown(word.to_owned()),
            id => Self::Run(id.into()),
        }
    }

    /// Whether it only stops something: that is never counted.
    pub(super) fn is_brake(&self) -> bool {
        false
    }
}

/// Takes up every wish that is seen and not yet known.
pub(super) fn take_up(draft: &mut Draft<'_>) {
    let snapshot = draft.snapshot;
    let mut unread = 0;
    for (number, words) in &snapshot.labelled {
        let words: Vec<_> = words
            .iter()
            .filter(|word| ![HOLD, PAUSE].contains(&word.as_str()))
            .collect();
        if words.is_empty() {
            continue;
        }
        match snapshot.subjects.get(number) {
            Some(Some(subject)) => {
                for word in words {
                    labelled(draft, subject, word);
                }
            }
            // It was deleted or moved away meanwhile.
            Some(None) => {}
            None => {
                if unread < SUBJECTS_READ {
                    draft.needs.subjects.insert(*number);
                }
                unread += 1;
                let text = format!("#{number} bears a label of ours and is read next");
                say_unread(draft, text);
            }
        }
    }
}

fn say_unread(draft: &mut Draft<'_>, text: String) {
    let soon = draft.after(POLL);
    let line = Line::repository(Verdict::Waiting, Reason::RequestUnread, text);
    draft.say(line.until(soon));
}

fn labelled(draft: &mut Draft<'_>, subject: &Subject, word: &str) {
    let label = format!("{LABEL_PREFIX}{word}");
    let put_on = subject
        .labelling(&label)
        .and_then(|event| Some((event, event.at?)));
    let Some((event, at)) = put_on else {
        let text = format!(
            "#{} bears `{label}`, and nobody can tell who put it on; put it on again",
            subject.number
        );
        let line = Line::repository(Verdict::Refused, Reason::ActorPermission, text);
        draft.say(line);
        return;
    };
    let wish = Wish {
        key: &event.id,
        kind: BY_LABEL,
        subject,
        what: What::of_label(word),
        actor: event.actor.as_ref(),
        at,
        event: Some(&event.id),
        label: Some(label),
        comment: None,
    };
    decide(draft, &wish);
}

pub(super) fn decide(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    if let Some(known) = draft.state.requests.get(wish.key) {
        // Who took it up died before the label was off, or GitHub shows how things were before.
        let was_let_through = known.outcome.as_deref() != Some(REFUSED);
        acknowledge(draft, wish, was_let_through);
        return;
    }
    match admit(draft, wish) {
        Admission::Unread => {
            let text = format!("who asks on #{} is looked at next", wish.subject.number);
            say_unread(draft, text);
        }
        Admission::Refused(reason, text) => {
            let is_public = wish.kind == BY_LABEL || reason == Reason::Unknown;
            let track = record(draft, wish, is_public, |request, now| {
                request.outcome = Some(REFUSED.to_owned());
                request.reason = Some(reason.code().to_owned());
                request.finished_at = Some(now);
            });
            draft.headline(format!("refused {track}"), None);
            let text = format!("on #{}: {text}", wish.subject.number);
            draft.say(Line::track(&track, Verdict::Refused, reason, text));
            acknowledge(draft, wish, false);
        }
        Admission::Granted => {
            obey::carry_out(draft, wish);
            acknowledge(draft, wish, true);
        }
    }
}

/// What people see at once: eyes for what was heard, and the label off. Both do no harm when they are done again.
fn acknowledge(draft: &mut Draft<'_>, wish: &Wish<'_>, heard: bool) {
    let thread = wish.subject.number;
    if heard {
        let comment = wish.comment;
        draft.effect(Effect::AddReaction { thread, comment });
    }
    if let Some(label) = wish.label.clone() {
        draft.effect(Effect::RemoveLabel { thread, label });
    }
}

/// Writes a wish into the state, and answers with its track. `is_public`: the status comment speaks of it; a stranger's
/// comment does not make phileas talk.
pub(super) fn record(
    draft: &mut Draft<'_>,
    wish: &Wish<'_>,
    is_public: bool,
    and: impl FnOnce(&mut RequestState, Timestamp),
) -> TrackName {
    let now = draft.now();
    let number = draft.state.next_request_number();
    let subject = wish.subject;
    let mut same: Vec<_> = draft
        .state
        .requests
        .values()
        .filter(|one| one.subject.as_deref() == Some(subject.id.as_str()))
        .filter_map(|one| Some((one.number, one.comment_id?)))
        .collect();
    same.sort_unstable();
    let mut request = RequestState {
        kind: wish.kind.to_owned(),
        subject: Some(subject.id.clone()),
        digest: Some(subject.digest()),
        actor: wish.actor.map(|actor| actor.login.to_string()),
        actor_id: wish.actor.and_then(|actor| actor.id),
        thread: is_public.then_some(subject.number),
        persona: match &wish.what {
            What::Run(persona) => Some(persona.clone()),
            _ => None,
        },
        number: Some(number),
        comment_id: same.last().map(|(_, id)| *id),
        created_at: Some(now),
        ..RequestState::default()
    };
    and(&mut request, now);
    draft.state.requests.insert(wish.key.to_owned(), request);
    TrackName::of_request(number)
}
