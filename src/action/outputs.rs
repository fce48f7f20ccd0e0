//! What later steps of a job may read of this one: `steps.<id>.outputs.<name>`.

use jiff::Timestamp;
use phileas_domain::engine::Listing;
use phileas_domain::model::{RepositoryName, SessionId};
use serde_json::{Value, json};

use super::telling::Told;
use crate::runtime::TickReport;

/// The largest `json` in bytes. GitHub keeps 1 MB of a job's outputs, counted as UTF-16.
pub const MAX_JSON: usize = 256 * 1024;
/// Where a session is shown.
const SESSION_PAGE: &str = "https://jules.google.com/session";

/// The outputs of one run. Empty texts: there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// What was done: a verdict's word, or `failed`.
    pub decision: String,
    /// Why: a stable code.
    pub reason: String,
    /// The session of the most telling line.
    pub session_id: String,
    /// Its page.
    pub session_url: String,
    /// Where it stands, in Jules' word, as far as this run has seen it.
    pub session_state: String,
    /// The persona.
    pub persona: String,
    /// The track.
    pub track: String,
    /// The pull request's number.
    pub pr_number: String,
    /// Its page.
    pub pr_url: String,
    /// The ledger's head after the run.
    pub state_sha: String,
    /// When to look again, if nothing is heard before: RFC 3339.
    pub next_due: String,
    /// Everything, as one JSON document.
    pub json: String,
    /// Whether nothing could be written.
    pub dry_run: bool,
}

impl Outputs {
    /// Of a run that did not tick, or could not.
    #[must_use]
    pub fn without_tick(decision: &str, reason: &str, detail: &str, dry_run: bool) -> Self {
        let lines = [json!({ "decision": decision, "reason": reason, "detail": detail })];
        Self {
            decision: decision.to_owned(),
            reason: reason.to_owned(),
            json: document(lines.to_vec(), vec![("forecast", json!(dry_run))]),
            dry_run,
            ..Self::default()
        }
    }

    /// Of a tick, with its most telling line.
    #[must_use]
    pub fn of_tick(
        report: &TickReport,
        told: &Told<'_>,
        repository: &RepositoryName,
        server: &str,
        json: String,
        dry_run: bool,
    ) -> Self {
        let mut outputs = Self {
            decision: told.decision().to_owned(),
            reason: told.reason().to_owned(),
            state_sha: text(report.head.as_ref()),
            next_due: text(report.wake_at.map(second)),
            json,
            dry_run,
            ..Self::default()
        };
        if let Told::Line(line) = told {
            outputs.persona = text(line.persona.as_ref());
            outputs.track = text(line.track.as_ref());
            if let Some(id) = &line.session_id {
                outputs.session_id = id.to_string();
                outputs.session_url = session_page(id);
                outputs.session_state = state_of(report, id).unwrap_or_default();
            }
            if let Some(number) = line.pr_number {
                outputs.pr_number = number.to_string();
                outputs.pr_url = pull_page(server, repository, number.0);
            }
        }
        outputs
    }

    /// Names and values, as `action.yml` lists them.
    #[must_use]
    pub fn pairs(&self) -> [(&'static str, &str); 13] {
        [
            ("decision", &self.decision),
            ("reason", &self.reason),
            ("session-id", &self.session_id),
            ("session-url", &self.session_url),
            ("session-state", &self.session_state),
            ("persona", &self.persona),
            ("track", &self.track),
            ("pr-number", &self.pr_number),
            ("pr-url", &self.pr_url),
            ("state-sha", &self.state_sha),
            ("next-due", &self.next_due),
            ("json", &self.json),
            ("dry-run", if self.dry_run { "true" } else { "false" }),
        ]
    }

    /// What is appended to the file of `GITHUB_OUTPUT`. `word` must be one that nobody who wrote a value could guess: it
    /// ends each value, so that a value with line breaks is no further output.
    #[must_use]
    pub fn file(&self, word: &str) -> String {
        let mut text = String::new();
        for (name, value) in self.pairs() {
            // A value that has the word in it all the same is left empty rather than believed.
            let value = if value.contains(word) { "" } else { value };
            text.push_str(&format!("{name}<<{word}\n{value}\n{word}\n"));
        }
        text
    }
}

/// One JSON document of at most [`MAX_JSON`] bytes: the lines, and what stands beside them. Lines that do not fit are
/// left out from the end, and `truncated` says how many.
#[must_use]
pub fn document(mut lines: Vec<Value>, rest: Vec<(&str, Value)>) -> String {
    let mut left_out = 0;
    loop {
        let mut document = serde_json::Map::new();
        document.insert("lines".to_owned(), json!(lines));
        for (name, value) in &rest {
            document.insert((*name).to_owned(), value.clone());
        }
        document.insert("truncated".to_owned(), json!(left_out));
        let text = Value::Object(document).to_string();
        if text.len() <= MAX_JSON || lines.is_empty() {
            return text;
        }
        // By halves, so that a long report is not written down once a line.
        let keep = lines.len() / 2;
        left_out += lines.len() - keep;
        lines.truncate(keep);
    }
}

/// Where a session is shown.
#[must_use]
pub fn session_page(id: &SessionId) -> String {
    format!("{SESSION_PAGE}/{id}")
}

/// Where a pull request is shown.
#[must_use]
pub fn pull_page(server: &str, repository: &RepositoryName, number: u64) -> String {
    format!("{server}/{repository}/pull/{number}")
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// What this run has seen of a session: its creation last.
fn state_of(report: &TickReport, id: &SessionId) -> Option<String> {
    let created = report.created.iter().rev().find(|one| one.id == *id);
    let listed = || match &report.seen.as_ref()?.sessions {
        Listing::Taken(sessions) => sessions.get(id),
        Listing::NotTaken | Listing::Failed(_) => None,
    };
    let session = created.or_else(listed)?;
    Some(session.state.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file as the runner reads it.
    fn read(text: &str) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let (name, word) = line.split_once("<<").unwrap();
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != word).collect();
            pairs.push((name.to_owned(), value.join("\n")));
        }
        pairs
    }

    #[test]
    fn a_value_with_line_breaks_is_no_further_output() {
        let outputs = Outputs {
            decision: "waiting".to_owned(),
            persona: "x\nEOF\nstate-sha=evil\ndecision<<EOF\ndispatched\nEOF".to_owned(),
            track: "has w0rd in it".to_owned(),
            ..Outputs::default()
        };
        let pairs = read(&outputs.file("w0rd"));
        assert_eq!(pairs.len(), 13);
        assert_eq!(pairs[0], ("decision".to_owned(), "waiting".to_owned()));
        assert_eq!(pairs[5].1, outputs.persona);
        assert_eq!(pairs[6], ("track".to_owned(), String::new()));
        assert_eq!(pairs[12], ("dry-run".to_owned(), "false".to_owned()));
    }

    #[test]
    fn a_long_report_is_cut_and_says_so() {
        let line = json!({ "detail": "x".repeat(1_000) });
        let text = document(
            vec![line; 600],
            vec![("summary", json!({ "waiting": 600 }))],
        );
        assert!(text.len() <= MAX_JSON, "{}", text.len());
        let read: Value = serde_json::from_str(&text).unwrap();
        let kept = read["lines"].as_array().unwrap().len();
        assert_eq!(read["truncated"], 600 - kept);
        assert!(kept > 100, "{kept}");
        assert_eq!(read["summary"]["waiting"], 600);
    }

    #[test]
    fn action_yml_hands_on_each_of_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml");
        let manifest: Value =
            serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let listed = manifest["outputs"].as_object().unwrap();
        let outputs = Outputs::default();
        let names: Vec<&str> = outputs.pairs().iter().map(|(name, _)| *name).collect();
        assert_eq!(listed.keys().collect::<Vec<_>>(), names);
        for name in names {
            let value = listed[name]["value"].as_str().unwrap();
            assert_eq!(value, format!("${{{{ steps.phileas.outputs.{name} }}}}"));
        }
    }
}
