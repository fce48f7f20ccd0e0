//! Requests by labels.

use std::borrow::Cow;

use super::cursor::Listening;
use super::request::{What, Wish, say_unread};
use crate::engine::input::request_kind::{BY_LABEL, HOLD, PAUSE};
use crate::engine::input::subject::{LABEL_PREFIX, Subject};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{GRACE, SUBJECTS_READ};

/// The wishes that labels stand for.
pub(crate) fn labelled<'s>(draft: &mut Draft<'s>, cursor: &mut Listening) -> Vec<Wish<'s>> {
    let snapshot = draft.snapshot;
    let mut unread = 0;
    let mut wishes = Vec::new();
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
                    wishes.extend(of_label(draft, cursor, subject, word));
                }
            }
            // It was deleted or moved away meanwhile.
            Some(None) => {}
            None => {
                if unread < SUBJECTS_READ {
                    draft.needs.subjects.insert(*number);
                }
                unread += 1;
                cursor.waits();
                let text = format!("#{number} bears a label of ours and is read next");
                say_unread(draft, text);
            }
        }
    }
    wishes
}

/// The wish that one label stands for; `None` where GitHub may still come to tell who made it.
fn of_label<'s>(
    draft: &mut Draft<'_>,
    cursor: &mut Listening,
    subject: &'s Subject,
    word: &str,
) -> Option<Wish<'s>> {
    let label = format!("{LABEL_PREFIX}{word}");
    let put_on = subject
        .labelling(&label)
        .and_then(|event| Some((event, event.at?)));
    let Some((event, at)) = put_on else {
        // Of hundreds of events only the newest are shown, and those of a transferred issue may be gone; but of one that
        // was just touched the event may only not be shown yet.
        if draft.now().duration_since(subject.touched_at) < GRACE {
            cursor.waits();
            let text = format!(
                "#{} bears `{label}`, and by whom is not shown",
                subject.number
            );
            say_unread(draft, text);
            return None;
        }
        return Some(Wish {
            key: Cow::from(format!("{}:{label}", subject.id)),
            kind: BY_LABEL,
            subject,
            what: What::of_label(word).spelt_by(draft),
            actor: None,
            at: subject.touched_at,
            event: None,
            label: Some(label),
            comment: None,
        });
    };
    Some(Wish {
        key: Cow::from(&event.id),
        kind: BY_LABEL,
        subject,
        what: What::of_label(word).spelt_by(draft),
        actor: event.actor.as_ref(),
        at,
        event: Some(&event.id),
        label: Some(label),
        comment: None,
    })
}
