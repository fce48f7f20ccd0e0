//! Requests by labels.

use std::borrow::Cow;

use super::cursor::CommentCursor;
use super::request::{Command, Request, report_unread};
use crate::engine::input::commands::MARKS;
use crate::engine::input::subject::{LABEL_PREFIX, Subject};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{GRACE, SUBJECTS_READ};
use crate::state::RequestKind;

/// Returns the requests of labels.
pub(crate) fn label_requests<'s>(
    builder: &mut DecisionBuilder<'s>,
    cursor: &mut CommentCursor,
) -> Vec<Request<'s>> {
    let snapshot = builder.snapshot;
    let mut unread = 0;
    let mut requests = Vec::new();
    for (number, words) in &snapshot.labelled {
        let words: Vec<_> = words
            .iter()
            .filter(|word| !MARKS.contains(&word.as_str()))
            .collect();
        if words.is_empty() {
            continue;
        }
        match snapshot.subjects.get(number) {
            Some(Some(subject)) => {
                for word in words {
                    requests.extend(label_request(builder, cursor, subject, word));
                }
            }
            // It was deleted or transferred meanwhile.
            Some(None) => {}
            None => {
                if unread < SUBJECTS_READ {
                    builder.reads.subjects.insert(*number);
                }
                unread += 1;
                cursor.hold_everything();
                let text = format!("#{number} has a label of phileas and is read next");
                report_unread(builder, text);
            }
        }
    }
    requests
}

/// Returns the request of one label; `None` where GitHub may still come to show who added it.
fn label_request<'s>(
    builder: &mut DecisionBuilder<'_>,
    cursor: &mut CommentCursor,
    subject: &'s Subject,
    word: &str,
) -> Option<Request<'s>> {
    let label = format!("{LABEL_PREFIX}{word}");
    let put_on = subject
        .label_event(&label)
        .and_then(|event| Some((event, event.at?)));
    let Some((event, at)) = put_on else {
        // Only the newest of many events are shown, and events of a transferred issue may be gone. The event of a
        // recent label may only not be shown yet.
        if builder.now().duration_since(subject.touched_at) < GRACE {
            cursor.hold_everything();
            let text = format!(
                "#{} has the label `{label}`, and GitHub does not show yet who added it",
                subject.number
            );
            report_unread(builder, text);
            return None;
        }
        return Some(Request {
            key: Cow::from(format!("{}:{label}", subject.id)),
            kind: RequestKind::Label,
            subject,
            command: Command::from_label(word).with_plan_spelling(builder, RequestKind::Label),
            actor: None,
            at: subject.touched_at,
            event: None,
            label: Some(label),
            comment: None,
        });
    };
    Some(Request {
        key: Cow::from(&event.id),
        kind: RequestKind::Label,
        subject,
        command: Command::from_label(word).with_plan_spelling(builder, RequestKind::Label),
        actor: event.actor.as_ref(),
        at,
        event: Some(&event.id),
        label: Some(label),
        comment: None,
    })
}
