//! Stores of the inbox: SQLite for a service on one machine, PostgreSQL for several.

pub mod postgres;
pub mod served;
pub mod sqlite;

/// The problem that there is no room for another delivery.
const FULL: &str = "the inbox is full, so deliveries are refused until old ones are removed; --inbox-max-bytes gives it more room";
