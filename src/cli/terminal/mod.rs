//! What commands print with: sanitized text, tables, times, plurals, lines of a decision.

pub mod decision_line;
pub(super) mod diagnostics;
pub(super) mod duration;
pub(super) mod instant;
pub mod output;
pub(super) mod plural;
pub(super) mod sanitize;
pub(super) mod table;
