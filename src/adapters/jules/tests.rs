//! The whole adapter against a transport that plays a script.
