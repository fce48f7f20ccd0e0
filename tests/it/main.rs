//! Black-box tests.

mod jules_client;
