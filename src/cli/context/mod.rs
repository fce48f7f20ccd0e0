//! What commands work on: credentials and clients, the repository or folder that is meant, a service's data.

pub(super) mod bind;
pub(super) mod clients;
pub(super) mod file_changes;
pub(super) mod remote;
pub(super) mod service_data;
pub(super) mod subprocess;
pub(super) mod target;
pub(super) mod worktree;
