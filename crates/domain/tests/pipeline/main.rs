//! Tests pipeline artifacts through the public API: shapes, variants, invariants, and the next step.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checks;
mod learning;
mod next;
mod samples;
mod schemas;
mod shapes;
mod tracing;
mod variants;
