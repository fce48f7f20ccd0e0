//! Whether the ledger may be trusted.

pub(super) mod trust;
