//! Stores of the inbox: memory for tests and the sandbox, SQLite for a service on one machine, PostgreSQL for
//! several.

pub mod memory;
pub mod postgres;
pub mod served;
pub mod sqlite;
