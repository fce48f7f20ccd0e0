//! GraphQL.

/// Parsed documents.
#[derive(Debug, Default)]
pub(crate) struct Documents;
