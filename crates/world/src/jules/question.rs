//! A question of a session, until the books hold its answer.

use jiff::Timestamp;

/// A question that the books may not hold yet.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) at: Timestamp,
    pub(super) text: String,
    /// Its index in the books.
    pub(super) place: Option<usize>,
    pub(super) answer: Option<(Timestamp, String)>,
}
