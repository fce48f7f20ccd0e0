//! Where the inbox is kept: in memory for tests and the sandbox, in SQLite for a service on one machine, in PostgreSQL
//! for several.

pub mod memory;
pub mod postgres;
pub mod served;
pub mod sqlite;
