//! Black-box tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod jules_client;
