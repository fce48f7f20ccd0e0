//! The outputs that later steps of a job can read: `steps.<id>.outputs.<name>`.

use jiff::Timestamp;
use phileas_domain::engine::{Listing, session_page};
use phileas_domain::model::{RepositoryName, SessionId};
use serde_json::{Value, json};

use super::main_line::MainLine;
use crate::runtime::TickReport;

/// The largest `json` in bytes. GitHub keeps 1 MB of a job's outputs, counted as UTF-16.
pub const MAX_JSON: usize = 256 * 1024;

/// The outputs of one run. An empty text means that there is nothing to report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// What the run did: a verdict, or `failed`.
    pub decision: String,
    /// Why: a stable code.
    pub reason: String,
    /// The session of the main line.
    pub session_id: String,
    /// The address of its page.
    pub session_url: String,
    /// Its state as Jules names it, if this run has seen it.
    pub session_state: String,
    /// The persona.
    pub persona: String,
    /// The track.
    pub track: String,
    /// The pull request's number.
    pub pr_number: String,
    /// The address of its page.
    pub pr_url: String,
    /// The ledger's head after the run.
    pub state_sha: String,
    /// When to check again if no event comes before: RFC 3339.
    pub next_due: String,
    /// The whole report, as one JSON document.
    pub json: String,
    /// Whether the run could not write.
    pub dry_run: bool,
}

impl Outputs {
    /// The outputs of a run that did not tick, or that failed.
    #[must_use]
    pub fn without_tick(decision: &str, reason: &str, detail: &str, dry_run: bool) -> Self {
        let lines = [json!({ "decision": decision, "reason": reason, "detail": detail })];
        Self {
            decision: decision.to_owned(),
            reason: reason.to_owned(),
            json: json_document(lines.to_vec(), vec![("forecast", json!(dry_run))]),
            dry_run,
            ..Self::default()
        }
    }

    /// The outputs of a tick, with its main line.
    #[must_use]
    pub fn from_tick(
        report: &TickReport,
        main: &MainLine<'_>,
        repository: &RepositoryName,
        server: &str,
        json: String,
        dry_run: bool,
    ) -> Self {
        let mut outputs = Self {
            decision: main.decision_code().to_owned(),
            reason: main.reason().to_owned(),
            state_sha: optional_text(report.head.as_ref()),
            next_due: optional_text(report.wake_at.map(to_second)),
            json,
            dry_run,
            ..Self::default()
        };
        if let MainLine::Line(line) = main {
            outputs.persona = optional_text(line.persona.as_ref());
            outputs.track = optional_text(line.track.as_ref());
            if let Some(id) = &line.session_id {
                outputs.session_id = id.to_string();
                outputs.session_url = session_page(id);
                outputs.session_state = session_state(report, id).unwrap_or_default();
            }
            if let Some(number) = line.pr_number {
                outputs.pr_number = number.to_string();
                outputs.pr_url = pull_page(server, repository, number.0);
            }
        }
        outputs
    }

    /// Names and values, in the order of `action.yml`.
    #[must_use]
    pub fn name_value_pairs(&self) -> [(&'static str, &str); 13] {
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

    /// The text to append to the file of `GITHUB_OUTPUT`. `word` ends each value, so that a value with line breaks does
    /// not become another output. It must be a word that the authors of the values cannot guess.
    #[must_use]
    pub fn output_file_text(&self, word: &str) -> String {
        let mut text = String::new();
        for (name, value) in self.name_value_pairs() {
            // Leave a value empty if it contains the word all the same.
            let value = if value.contains(word) { "" } else { value };
            text.push_str(&format!("{name}<<{word}\n{value}\n{word}\n"));
        }
        text
    }
}

/// One JSON document of at most [`MAX_JSON`] bytes with the lines and the rest. Lines that do not fit are left out from
/// the end, and `truncated` counts them.
#[must_use]
pub fn json_document(mut lines: Vec<Value>, rest: Vec<(&str, Value)>) -> String {
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
        // Search by halves, to avoid rendering a long report once for each line.
        let keep = lines.len() / 2;
        left_out += lines.len() - keep;
        lines.truncate(keep);
    }
}

/// The address of a pull request's page.
#[must_use]
pub fn pull_page(server: &str, repository: &RepositoryName, number: u64) -> String {
    format!("{server}/{repository}/pull/{number}")
}

fn optional_text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn to_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// The newest state of a session that this run has seen. The creation comes last.
fn session_state(report: &TickReport, id: &SessionId) -> Option<String> {
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

    /// Parses the file as the runner does.
    fn parse_output_file(text: &str) -> Vec<(String, String)> {
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
        let pairs = parse_output_file(&outputs.output_file_text("w0rd"));
        assert_eq!(pairs.len(), 13);
        assert_eq!(pairs[0], ("decision".to_owned(), "waiting".to_owned()));
        assert_eq!(pairs[5].1, outputs.persona);
        assert_eq!(pairs[6], ("track".to_owned(), String::new()));
        assert_eq!(pairs[12], ("dry-run".to_owned(), "false".to_owned()));
    }

    #[test]
    fn a_long_report_is_cut_and_says_so() {
        let line = json!({ "detail": "x".repeat(1_000) });
        let text = json_document(
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
        let names: Vec<&str> = outputs
            .name_value_pairs()
            .iter()
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(listed.keys().collect::<Vec<_>>(), names);
        for name in names {
            let value = listed[name]["value"].as_str().unwrap();
            assert_eq!(value, format!("${{{{ steps.phileas.outputs.{name} }}}}"));
        }
    }
}
