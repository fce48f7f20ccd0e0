//! What phileas reads of a repository.

pub(crate) mod bodies;
pub(crate) mod checks;
pub(crate) mod comments;
pub(crate) mod commits;
pub(crate) mod folders;
pub(crate) mod hooks;
pub(crate) mod issue_events;
pub(crate) mod labels;
pub(crate) mod observe;
pub(crate) mod pages;
pub(crate) mod paths;
pub(crate) mod people;
pub(crate) mod plan_commit;
pub(crate) mod plan_files;
pub(crate) mod protection;
pub(crate) mod pulls;
pub(crate) mod reached;
mod recent_activity;
pub(crate) mod refusals;
pub(crate) mod remarks;
pub(crate) mod reviews;
pub(crate) mod subjects;
pub(crate) mod texts;
pub(crate) mod versions;
pub(crate) mod workflows;
