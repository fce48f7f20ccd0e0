//! YAML with the place of every value.
//!
//! Read is what artifacts need: one document of maps, lists and scalars of YAML 1.2's core schema. Anchors, aliases,
//! tags, further documents and doubled keys are mistakes: an alias can make a small file huge, and each of the others
//! means different things to different readers.

mod depth;
mod node;
mod read;
mod scalar;

#[cfg(test)]
mod tests;

pub use depth::{NESTING_LIMIT, too_deep};
pub(crate) use node::{Node, Value};
pub(crate) use read::{parse, parse_from};
pub(crate) use scalar::quoted;
