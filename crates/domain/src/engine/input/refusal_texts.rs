//! What people wrote on a closed pull request.

use std::collections::BTreeMap;

/// Texts on a pull request, without hidden ones. They are untrusted: any account can comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalTexts {
    /// The newest comments, by their numbers.
    pub comments: BTreeMap<u64, String>,
    /// The reviews of people with write access that request changes, newest first; none where they were not requested.
    pub reviews: Vec<String>,
}
