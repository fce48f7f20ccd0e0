//! Whether the ledger can be trusted.

mod contradictions;
mod older_program;
mod rolled_back_attempts;
mod trust;
