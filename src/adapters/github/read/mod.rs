//! What phileas reads of a repository.

pub(crate) mod checks;
pub(crate) mod comment_texts;
pub(crate) mod comments;
pub(crate) mod commits;
pub(crate) mod file_texts;
pub(crate) mod folders;
pub(crate) mod hooks;
pub(crate) mod issue_events;
pub(crate) mod labels;
pub(crate) mod list_sizes;
pub(crate) mod observe;
pub(crate) mod paths;
pub(crate) mod permissions;
pub(crate) mod plan_commit;
pub(crate) mod plan_files;
pub(crate) mod protection;
pub(crate) mod pull_files;
pub(crate) mod pull_history;
mod pulls;
pub(crate) mod reached;
mod recent_activity;
pub(crate) mod refusal_cache;
pub(crate) mod remarks;
pub(crate) mod reviews;
pub(crate) mod subjects;
pub(crate) mod versions;
pub(crate) mod workflows;
