//! Read-only questions about the snapshot and the state that several stages ask.

pub(super) mod dashboard_issue;
pub(super) mod exchange_view;
pub(super) mod figures;
pub(super) mod in_progress;
pub(super) mod layer_members;
pub(super) mod new_commits;
pub(super) mod pending_merges;
pub(super) mod pending_requests;
pub(super) mod pending_reviews;
pub(super) mod permissions;
pub(super) mod plan_approval;
pub(super) mod pointer;
pub(super) mod policy;
pub(super) mod protected_paths;
pub(super) mod pull_owner;
pub(super) mod request_origin;
pub(super) mod rest;
pub(super) mod reviewer_remarks;
pub(super) mod roster;
pub(super) mod sessions;
pub(super) mod slot;
pub(super) mod twins;
pub(super) mod usage;
pub(super) mod waiting_turns;
pub(super) mod work_files;
pub(super) mod work_items;
