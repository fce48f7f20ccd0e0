//! Stores of the inbox: SQLite for a service on one machine, PostgreSQL for several.

pub mod postgres;
pub mod served;
pub mod sqlite;
