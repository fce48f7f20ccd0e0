//! Black-box tests.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod github_client;
