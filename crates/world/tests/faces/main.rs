//! Tests of a world from outside: over TCP, with the real git, and as an export on disk.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod apps;
mod bench;
mod control;
mod export;
mod gate;
mod git;
mod releases;
mod wire;
