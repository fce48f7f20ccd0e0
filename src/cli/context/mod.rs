//! What commands work on: credentials and clients, the target repository or folder, a service's data.

pub(super) mod bind;
pub(super) mod clients;
pub(super) mod clock;
pub(super) mod credential_help;
pub(super) mod credentials;
pub(super) mod database_url;
pub(super) mod edit_ledger;
pub(super) mod env_var;
pub(super) mod file_changes;
pub(super) mod github_server;
pub(super) mod local_actor;
pub(super) mod placeholder_name;
pub(super) mod remote;
pub(super) mod repository_root;
pub(super) mod run_identity;
pub(super) mod service_config;
pub(super) mod service_data;
pub(super) mod service_inbox;
pub(super) mod shutdown_signal;
pub(super) mod subprocess;
pub(super) mod target;
pub(super) mod worktree;
