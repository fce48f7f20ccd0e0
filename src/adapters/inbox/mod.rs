//! Where the inbox is kept: in memory for tests and the sandbox, in SQLite for a service on one machine.

pub mod memory;
pub mod sqlite;
