//! What people said to sessions, what they were told of it, and what the sessions got.

use phileas::runtime::ports::{Disposition, Failure};
use phileas_world::books::Books;

use super::Verdict;

/// What a person is told who sends a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Reply {
    /// It is sent.
    Sent,
    /// It is not sent, and another try may succeed. `queued`: because the session is queued.
    Later { queued: bool },
    /// Whether it is sent is unknown.
    Unknown,
    /// It is refused, and not sent.
    Refused,
    /// The session is over, so the message was not sent.
    Over,
    /// There is no such session, although it was read right before.
    Missing(String),
}

impl Reply {
    /// What a call to Jules says.
    pub(in super::super) fn from_result(sent: Result<(), Failure>) -> Self {
        let Err(Failure {
            disposition,
            detail,
        }) = sent
        else {
            return Self::Sent;
        };
        match disposition {
            Disposition::Retry { .. } => Self::Later {
                queued: detail.contains("still queued"),
            },
            Disposition::Denied => Self::Later { queued: false },
            Disposition::Unknown | Disposition::TooLarge => Self::Unknown,
            Disposition::Refused => Self::Refused,
            Disposition::NotFound => Self::Missing(detail),
        }
    }

    /// Whether it tells the person to try again.
    pub(in super::super) fn asks_for_another(&self) -> bool {
        matches!(self, Self::Later { .. })
    }
}

/// What a person says to a session. It is sent until the person is told that it is sent, or that it cannot be.
#[derive(Debug, Clone)]
pub(in super::super) struct PersonMessage {
    pub(in super::super) session: String,
    pub(in super::super) text: String,
    /// What the person was told at each try.
    pub(in super::super) replies: Vec<Reply>,
}

impl PersonMessage {
    /// Whether the session did not take it at first because it was queued.
    pub(in super::super) fn was_queued(&self) -> bool {
        self.replies.contains(&Reply::Later { queued: true })
    }

    /// What is wrong with it, where the session got it so many times.
    fn finding(&self, received: usize) -> Option<String> {
        let missing = self.replies.iter().find_map(|reply| match reply {
            Reply::Missing(detail) => Some(detail),
            _ => None,
        });
        if let Some(detail) = missing {
            return Some(format!("was said to be missing: {detail}"));
        }
        match self.replies.last() {
            Some(Reply::Sent) if received == 0 => {
                Some("did not get a message that was sent".to_owned())
            }
            Some(Reply::Later { .. }) | None => {
                Some("got no message although a person tried again and again".to_owned())
            }
            Some(Reply::Refused | Reply::Over) if received > 0 => {
                Some("got a message that was not sent".to_owned())
            }
            _ => None,
        }
    }
}

/// Each message arrives where the person was told so, and only there. That none arrives twice holds for all messages.
pub(in super::super) fn judge_messages(
    messages: &[PersonMessage],
    books: &Books,
    verdict: &mut Verdict,
) {
    for message in messages {
        let sessions = books.sessions.iter();
        let acts = sessions
            .filter(|one| one.id == message.session)
            .flat_map(|one| &one.acts);
        let received = acts.filter(|act| act.text == message.text).count();
        if let Some(finding) = message.finding(received) {
            let text = format!("session {} {finding}", message.session);
            verdict.findings.push(text);
        }
    }
}

#[test]
fn a_message_arrives_where_its_sender_was_told_so() {
    let later = Reply::Later { queued: true };
    let missing = Reply::Missing("status 404".to_owned());
    for (replies, received, is_right) in [
        (vec![Reply::Sent], 1, true),
        (vec![Reply::Sent], 0, false),
        (vec![later.clone(), Reply::Sent], 1, true),
        (vec![later.clone(), Reply::Over], 0, true),
        (vec![later.clone(), Reply::Over], 1, false),
        (vec![later.clone()], 0, false),
        (vec![Reply::Unknown], 0, true),
        (vec![Reply::Unknown], 1, true),
        (vec![Reply::Refused], 0, true),
        (vec![Reply::Refused], 1, false),
        (vec![missing], 0, false),
        (Vec::new(), 0, false),
    ] {
        let message = PersonMessage {
            session: "77".to_owned(),
            text: "Keep it short.".to_owned(),
            replies,
        };
        assert_eq!(message.finding(received).is_none(), is_right, "{message:?}");
    }
}
