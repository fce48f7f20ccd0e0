//! Finds the dashboard issue, and reads its version, its checkboxes and people's edits.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::engine::input::snapshot::Dashboard;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::prompt;

const OPEN: &str = "- [ ] ";

const TICKED: [&str; 2] = ["- [x] ", "- [X] "];

const WORD: &str = "<!-- phileas:box:";

const WORD_END: &str = " -->";

/// An unticked checkbox. Its hidden word follows the visible text.
pub(crate) fn checkbox_line(text: &str, word: &str) -> String {
    format!("{OPEN}{text} {WORD}{word}{WORD_END}\n")
}

/// The hidden word of a checkbox of phileas.
fn parse_checkbox(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once(WORD)?;
    rest.strip_suffix(WORD_END)
}

/// The digest of a text without its ticks, and the words of the ticked checkboxes.
pub(crate) fn without_ticks(body: &str) -> (String, Vec<String>) {
    let mut words = Vec::new();
    let body = normalize_lines(body);
    let lines = body.lines().map(|line| {
        let box_of_ours = TICKED.iter().find_map(|tick| line.strip_prefix(tick));
        match box_of_ours.and_then(|rest| Some((rest, parse_checkbox(rest)?))) {
            Some((rest, word)) => {
                words.push(word.to_owned());
                Cow::Owned(format!("{OPEN}{rest}"))
            }
            None => Cow::Borrowed(line),
        }
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (text_digest(&text), words)
}

/// What people did to the dashboard issue since phileas wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum DashboardStatus {
    /// It is not open, or was not read.
    #[default]
    Unseen,
    /// It has the text that phileas wrote last.
    AsWritten,
    /// It has an older text, and people's changes were accepted.
    Handled,
    /// People's changes must be read first.
    Unread,
    /// Its text was edited by hand: its checkboxes are ignored, and phileas writes it again.
    Edited { version: String },
    /// People ticked checkboxes: phileas writes it again as soon as these requests are accepted.
    Touched { version: String, keys: Vec<String> },
}

/// SHA-256 of an issue's text, regardless of line endings: GitHub's editor writes other ones than programs.
#[must_use]
pub fn text_digest(body: &str) -> String {
    prompt::prompt_sha256(&normalize_lines(body))
}

fn normalize_lines(body: &str) -> String {
    body.replace("\r\n", "\n").trim_end().to_owned()
}

/// Identifies a version of an issue's text by its edit time and content.
pub(crate) fn text_version(body: &str, edited_at: Option<Timestamp>) -> String {
    let at = edited_at.map(|at| at.to_string()).unwrap_or_default();
    prompt::prompt_sha256(&format!("{at}\n{}", normalize_lines(body)))
}

/// Returns the open dashboard issue: the one that the ledger knows, else the oldest one of phileas with the marker.
pub(crate) fn find_dashboard<'s>(builder: &DecisionBuilder<'s>) -> Option<&'s Dashboard> {
    let all = &builder.snapshot.dashboards;
    let known = |one: &&Dashboard| builder.state.dashboard_issue == Some(one.number);
    let ours = |one: &&Dashboard| one.own && one.body.contains(DASHBOARD_MARKER);
    let oldest = || all.iter().filter(ours).min_by_key(|one| one.number);
    all.iter().find(known).or_else(oldest)
}
