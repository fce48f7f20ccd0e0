//! JSON as it stands in a file: every value with its place, every number as written, no key twice.
//!
//! `serde_json` takes the last of two equal keys without a word and rounds what does not fit its number types; both
//! would lose memory. Escapes are left to it.

mod duplicate_keys;
mod exact;
mod key;
mod node;
mod parser;
mod typed;

pub use duplicate_keys::doubled_keys;
pub(crate) use exact::{Inexact, keep, number};
pub(crate) use key::{push_index, push_key};
pub(crate) use node::{Member, Node, Value};
pub(crate) use parser::parse;
pub use typed::{JsonValueError, read_json_value};

#[cfg(test)]
mod tests;
