//! What phileas writes to a repository.

pub(crate) mod branch;
pub(crate) mod close_pull;
pub(crate) mod dashboard;
pub(crate) mod mark;
pub(crate) mod mark_ready;
pub(crate) mod merge;
pub(crate) mod notice;
pub mod objects;
pub(crate) mod opened_issues;
pub(crate) mod proposal;
pub(crate) mod publish;
pub(crate) mod status;
