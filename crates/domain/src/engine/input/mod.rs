//! The types of a snapshot: everything that a decision knows of GitHub and Jules.

pub(super) mod commands;
pub(super) mod comment;
pub(super) mod commits;
pub(super) mod coverage;
pub(super) mod merge_facts;
pub(super) mod pull;
pub(super) mod pull_activity;
pub(super) mod refusal_texts;
pub(super) mod session;
pub(super) mod snapshot;
pub(super) mod subject;
