//! The shape of each artifact as a table. The validator and the JSON Schemas are built from these tables.

mod attempt;
mod debug;
mod git;
mod kinds;
mod lessons;
mod plan;
mod review;
mod state;
mod test;
mod trace;
mod worker;

pub(super) use debug::DEBUG;
pub(super) use git::GIT;
pub(super) use lessons::LESSONS;
pub(super) use plan::PLAN;
pub(super) use review::REVIEW;
pub(super) use state::STATE;
pub(super) use test::TEST;
pub(super) use trace::TRACE;
pub(super) use worker::WORKER;
