//! Pipeline artifacts, from the outside: shapes, variants, invariants, and who comes next.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checks;
mod learning;
mod next;
mod samples;
mod schemas;
mod shapes;
mod tracing;
mod variants;
