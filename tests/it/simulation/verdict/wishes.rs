//! What people ask for by labels, and what they are told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Judge, PATIENCE};

/// Who is asked for by labels.
const WISH: &str = "phileas:fixer";
/// What our status comments bear.
const STATUS: &str = "<!-- phileas:status -->";

impl Judge<'_> {
    /// Each wish by label is taken up, and told in one comment. A race may write a second one, which has to go again.
    pub(super) fn wishes(&mut self, state: &Value) {
        // The App and the workflow's token are two authors to GitHub, and one phileas to people.
        let mut comments: BTreeMap<u64, BTreeMap<&str, usize>> = BTreeMap::new();
        let mut gone = BTreeSet::new();
        for write in &self.books.github_writes {
            if write.what == "comment.deleted" {
                gone.insert((&write.repository, write.detail["id"].as_u64()));
            }
        }
        let mut labelled = Vec::new();
        let end = self.world.now();
        let names = self.names();
        for write in &self.books.github_writes {
            if !names.contains(&write.repository) {
                continue;
            }
            let detail = &write.detail;
            let body = detail["body"].as_str().unwrap_or_default();
            let stays = !gone.contains(&(&write.repository, detail["id"].as_u64()));
            if write.what == "comment.created" && body.contains(STATUS) && stays {
                let number = detail["number"].as_u64().unwrap_or_default();
                let authors = comments.entry(number).or_default();
                *authors.entry(&write.actor).or_default() += 1;
            }
            let is_wish = write.what == "label.added" && detail["label"] == WISH;
            if is_wish && end.duration_since(write.at) > PATIENCE {
                labelled.push((detail["number"].as_u64().unwrap_or_default(), write.at));
            }
        }
        for (number, authors) in comments {
            let count: usize = authors.values().sum();
            if count > 1 {
                self.find(format!("{count} status comments on #{number}: {authors:?}"));
            }
        }
        let requests = state["requests"].as_object().into_iter().flatten();
        let requests = requests.filter(|(_, request)| request["kind"] == "label");
        let taken: Vec<u64> = requests
            .map(|(_, request)| request["number"].as_u64().unwrap_or_default())
            .collect();
        if taken.len() < labelled.len() {
            self.find(format!(
                "{} wishes by label, {labelled:?}, and {} were taken up, {taken:?}",
                labelled.len(),
                taken.len(),
            ));
        }
        self.verdict.wishes += taken.len();
    }
}
