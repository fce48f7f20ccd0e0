//! A cache of parsed and validated documents, by their texts.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql_parser::types::{ExecutableDocument, OperationDefinition};
use async_graphql_parser::{Positioned, parse_query};
use serde_json::{Value, json};

use super::validate;

/// The most documents in the cache. A client has few, so a full cache means that it builds a new text each time.
const MAX_DOCUMENTS: usize = 512;

/// Parsed documents by their texts.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    known: HashMap<String, Arc<Document>>,
}

/// A document, and which of its operations are valid; the schema never changes.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) parsed: ExecutableDocument,
    valid_operations: Mutex<BTreeSet<Option<String>>>,
}

impl Document {
    /// The validation errors of one operation.
    pub(super) fn validation_errors(
        &self,
        operation: &Positioned<OperationDefinition>,
        name: Option<&str>,
    ) -> Vec<Value> {
        let name = name.map(str::to_owned);
        let mut sound = self
            .valid_operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if sound.contains(&name) {
            return Vec::new();
        }
        let mistakes = validate::validate_operation(&self.parsed, operation, name.as_deref());
        if mistakes.is_empty() {
            sound.insert(name);
        }
        mistakes
    }
}

impl Documents {
    pub(super) fn parse(&mut self, text: &str) -> Result<Arc<Document>, Value> {
        if let Some(known) = self.known.get(text) {
            return Ok(Arc::clone(known));
        }
        let parsed = parse_query(text).map_err(|error| {
            let locations: Vec<Value> = error
                .positions()
                .map(|pos| json!({"line": pos.line, "column": pos.column}))
                .collect();
            json!({"message": format!("Parse error: {error}"), "locations": locations})
        })?;
        if self.known.len() >= MAX_DOCUMENTS {
            self.known.clear();
        }
        let document = Arc::new(Document {
            parsed,
            valid_operations: Mutex::default(),
        });
        self.known.insert(text.to_owned(), Arc::clone(&document));
        Ok(document)
    }
}
