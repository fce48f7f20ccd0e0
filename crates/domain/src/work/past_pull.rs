//! A pull request of Jules, as a listing of all of them shows it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;

/// A pull request of Jules, as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastPull {
    /// Its number.
    pub pr: u64,
    /// Its title.
    pub title: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was merged or closed.
    pub closed_at: Option<Timestamp>,
    /// Whether it was merged.
    pub merged: bool,
    /// Its title's words, its main files, and its lines where [`PastPull::lines_known`].
    pub fingerprint: Fingerprint,
    /// Whether its diff has been read.
    #[serde(default)]
    pub lines_known: bool,
}
