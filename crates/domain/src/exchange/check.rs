//! Checks an exchange as a whole.

use super::layout::{FLAT_STREAM, Layout};
use super::model::Exchange;
use super::{bindings, drift, index, links, quality, read};
use crate::diagnostic::Diagnostic;
use crate::model::Tree;
use crate::plan::suggest::{closest, either_of};

/// An exchange, and everything that is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckResult {
    /// The exchange; `None` if none exists, or if files of both layouts exist.
    pub exchange: Option<Exchange>,
    /// The mistakes, by file, line and column.
    pub diagnostics: Vec<Diagnostic>,
}

/// The requested stream does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no workstream `{name}`; {help}")]
pub struct UnknownStream {
    /// The name that was given.
    pub name: String,
    /// How to fix it.
    pub help: String,
}

/// Reads the exchange of a tree and reports all mistakes.
///
/// Every file is read, whatever is wrong with the others. Nothing is changed.
#[must_use]
pub fn check_exchange(tree: &Tree) -> CheckResult {
    let reading = read::read_exchange(tree, None);
    let mut found = reading.diagnostics;
    if let Some(exchange) = &reading.exchange {
        found.extend(bindings::check_bindings(tree, exchange));
        found.extend(links::check_links(exchange));
        found.extend(drift::check_drift(tree, exchange.layout));
        found.extend(quality::check_quality(exchange));
        if exchange.layout == Layout::Workstreams {
            found.extend(exchange.streams.values().flat_map(index::check_index));
        }
    }
    found.sort();
    found.dedup();
    CheckResult {
        exchange: reading.exchange,
        diagnostics: found,
    }
}

impl CheckResult {
    /// Keeps only one stream: its files, and their mistakes.
    ///
    /// # Errors
    ///
    /// [`UnknownStream`]: no stream has that name.
    pub fn only_stream(mut self, name: &str) -> Result<Self, UnknownStream> {
        let streams = self.exchange.as_mut().map(|exchange| &mut exchange.streams);
        let Some(streams) = streams.filter(|streams| streams.contains_key(name)) else {
            let names: Vec<&str> = self
                .exchange
                .iter()
                .flat_map(|exchange| exchange.streams.keys())
                .map(String::as_str)
                .collect();
            let help = match (closest(name, names.iter().copied()), names.as_slice()) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, []) => "there is no exchange here".to_owned(),
                (None, [FLAT_STREAM]) => format!("the only one is `{FLAT_STREAM}`"),
                (None, _) => format!("name {}", either_of(names)),
            };
            return Err(UnknownStream {
                name: name.to_owned(),
                help,
            });
        };
        let others: Vec<String> = streams
            .keys()
            .filter(|other| *other != name)
            .cloned()
            .collect();
        streams.retain(|other, _| other == name);
        let foreign = |file: &str| {
            others
                .iter()
                .any(|other| file.starts_with(&format!(".jules/workstreams/{other}/")))
        };
        self.diagnostics.retain(|one| !foreign(&one.file));
        Ok(self)
    }
}
