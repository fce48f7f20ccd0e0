//! Tests of decisions over days: what people, sessions and failures do, under a clock that the test sets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod dispatch;
mod layers;
mod ledger;
mod lookup;
mod properties;
mod publish;
mod pulls;
mod requests;
mod simulate;
mod support;
mod turns;
