//! Black-box tests.

mod github_client;
