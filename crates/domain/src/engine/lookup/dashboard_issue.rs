//! The dashboard issue as it is now: which issue it is, its version, its checkboxes, what people changed.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::engine::input::snapshot::Dashboard;
use crate::engine::output::builder::Draft;
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::prompt;

const OPEN: &str = "- [ ] ";

const TICKED: [&str; 2] = ["- [x] ", "- [X] "];

const WORD: &str = "<!-- phileas:box:";

const WORD_END: &str = " -->";

/// A box that nobody has ticked. The word stands behind what people read.
pub(crate) fn line(text: &str, word: &str) -> String {
    format!("{OPEN}{text} {WORD}{word}{WORD_END}\n")
}

/// The word of a box of ours.
fn word_in(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once(WORD)?;
    rest.strip_suffix(WORD_END)
}

/// The digest of a text without its ticks, and the words of the boxes that are ticked.
pub(crate) fn unticked(body: &str) -> (String, Vec<String>) {
    let mut words = Vec::new();
    let body = plain(body);
    let lines = body.lines().map(|line| {
        let box_of_ours = TICKED.iter().find_map(|tick| line.strip_prefix(tick));
        match box_of_ours.and_then(|rest| Some((rest, word_in(rest)?))) {
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

/// What people did to the dashboard issue since it was last written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is not open, or nobody has looked.
    #[default]
    Unseen,
    /// It says what it was made to say.
    AsWritten,
    /// It does not say so yet, and what people did to it was heard.
    Heard,
    /// What they did has still to be read.
    Unread,
    /// Its text is none of ours: nothing in it is obeyed, and it is written anew.
    Edited { version: String },
    /// They did something: it is to be written anew as soon as these requests are taken up.
    Touched { version: String, keys: Vec<String> },
}

/// SHA-256 of an issue's text, however its lines end: GitHub's own editor writes them in another way than programs.
#[must_use]
pub fn text_digest(body: &str) -> String {
    prompt::sha256(&plain(body))
}

fn plain(body: &str) -> String {
    body.replace("\r\n", "\n").trim_end().to_owned()
}

/// One version of an issue's text. The same text at another time is another one.
pub(crate) fn version(body: &str, edited_at: Option<Timestamp>) -> String {
    let at = edited_at.map(|at| at.to_string()).unwrap_or_default();
    prompt::sha256(&format!("{at}\n{}", plain(body)))
}

/// The dashboard issue, where it is open: the one that the ledger knows, or else the oldest of ours with the marker.
pub(crate) fn seen<'s>(draft: &Draft<'s>) -> Option<&'s Dashboard> {
    let all = &draft.snapshot.dashboards;
    let known = |one: &&Dashboard| draft.state.dashboard_issue == Some(one.number);
    let ours = |one: &&Dashboard| one.own && one.body.contains(DASHBOARD_MARKER);
    let oldest = || all.iter().filter(ours).min_by_key(|one| one.number);
    all.iter().find(known).or_else(oldest)
}
