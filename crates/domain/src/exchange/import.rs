//! Imports the files that a layer's session wrote into the ledger.
//!
//! A session may have worked on an old state, and its files are only a proposal. Each is checked against the head on
//! which the commit builds. Valid files are taken, and the rest is reported. phileas itself sets links, ids and states.
//! Importing the same change set again changes nothing. API keys and invisible characters are removed from every file
//! first.

mod change_set;
mod clean;
mod decider;
mod desk;
mod innovator;
mod narrator;
mod observer;
mod planner;
mod screen;

pub use change_set::{Author, Changed, CommitRange, Content, Import, Request};

use clean::cleaned;
use desk::Desk;

/// Imports a change set.
#[must_use]
pub fn import(request: &Request<'_>) -> Import {
    let (changes, cleaned) = cleaned(request.changes);
    let request = Request {
        changes: &changes,
        ..request.clone()
    };
    let mut import = import_clean(&request);
    import.found.extend(cleaned);
    import.found.sort();
    import
}

fn import_clean(request: &Request<'_>) -> Import {
    let mut desk = match Desk::open(request) {
        Ok(desk) => desk,
        Err(found) => {
            return Import {
                found,
                ..Import::default()
            };
        }
    };
    match request.author {
        Author::Narrator => narrator::take(&mut desk),
        Author::Observer(role) => observer::take(&mut desk, role),
        Author::Decider => decider::take(&mut desk),
        Author::Planner(item) => planner::take(&mut desk, item),
        Author::Innovator(role) => innovator::take(&mut desk, role),
        Author::Implementer | Author::Integrator => {}
    }
    desk.close()
}
