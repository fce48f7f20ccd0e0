//! A pause of everything or of one track.

use jiff::Timestamp;

use super::extra::Extra;

/// A pause that a person set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pause {
    /// Since when.
    pub at: Option<Timestamp>,
    /// Who set it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Unknown keys.
    pub extra: Extra,
}
