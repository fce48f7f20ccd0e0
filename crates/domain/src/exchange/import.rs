//! Imports the files that a layer's session wrote into the ledger.
//!
//! A session may have worked on an old state, and its files are only a proposal. Each is checked against the head on
//! which the commit builds. Valid files are taken, and the rest is reported. phileas itself sets links, ids and states.
//! Importing the same change set again changes nothing. API keys and invisible characters are removed from every file
//! first.

mod change_set;
mod clean;
mod decider;
mod importer;
mod innovator;
mod narrator;
mod observer;
mod planner;
mod screen;

pub use change_set::{Author, ChangedFile, CommitRange, FileContent, Import, Request};

use clean::clean_changes;
use importer::Importer;

/// Imports a change set.
#[must_use]
pub fn import_changes(request: &Request<'_>) -> Import {
    let (changes, cleaned) = clean_changes(request.changes);
    let request = Request {
        changes: &changes,
        ..request.clone()
    };
    let mut import = import_clean(&request);
    import.diagnostics.extend(cleaned);
    import.diagnostics.sort();
    import
}

fn import_clean(request: &Request<'_>) -> Import {
    let mut importer = match Importer::open_exchange(request) {
        Ok(importer) => importer,
        Err(found) => {
            return Import {
                diagnostics: found,
                ..Import::default()
            };
        }
    };
    match request.author {
        Author::Narrator => narrator::import_summary(&mut importer),
        Author::Observer(role) => observer::import_observer(&mut importer, role),
        Author::Decider => decider::import_decision(&mut importer),
        Author::Planner(item) => planner::import_plan(&mut importer, item),
        Author::Innovator(role) => innovator::import_innovator(&mut importer, role),
        Author::Implementer | Author::Integrator => {}
    }
    importer.finish()
}
