//! A question that a session asked, until the books hold its answer.

use jiff::Timestamp;

/// A question on its way into the books.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) at: Timestamp,
    pub(super) text: String,
    /// Where it stands in the books.
    pub(super) place: Option<usize>,
    pub(super) answer: Option<(Timestamp, String)>,
}
