//! What agents wrote, in the ledger into which it was imported.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Judge, entries};

/// Where a prompt asks for an answer inside of a file that is there already; nothing in that says who wrote it.
const EXPANDS: &str = "deep_analysis_reason` is the question";

/// The sessions that say of a text that they saw it, as the model of the agent writes.
pub(super) fn witnesses(text: &str) -> BTreeSet<String> {
    let after = text.split("as session ").skip(1);
    after
        .filter_map(|rest| Some(rest.split_once(" saw it")?.0))
        .filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

impl Judge<'_> {
    /// Each entry that says that its session's work was imported is right: some commit has brought it. `brought`: the
    /// sessions that what was brought in speaks of.
    pub(super) fn imports(&mut self, state: &Value, brought: &BTreeSet<String>) {
        let expands = |id: &str| {
            let of_it = self.books.sessions.iter().find(|one| one.id == id);
            of_it.is_some_and(|one| one.prompt.contains(EXPANDS))
        };
        let imported = entries(state)
            .into_iter()
            .filter(|entry| entry["outcome"] == "imported")
            .filter_map(|entry| entry["session_id"].as_str());
        let lost: Vec<&str> = imported
            .filter(|id| !brought.contains(*id) && !expands(id))
            .collect();
        for id in lost {
            self.find(format!(
                "session {id} is `imported`, and nothing of it came"
            ));
        }
    }
}

#[test]
fn every_observer_with_a_finding_is_named() {
    let text = "title: A word, as session 123 saw it (abcdef)\nbody: x, as session 45 saw it (b)\n";
    assert_eq!(
        witnesses(text),
        BTreeSet::from(["123".to_owned(), "45".to_owned()])
    );
    assert_eq!(
        witnesses("as session <id> saw it, as session 9"),
        BTreeSet::new()
    );
}
