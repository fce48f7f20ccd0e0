//! The view of the review page of one repository.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::engine::{Checks, ReviewLane, ReviewPull};

use super::sessions::pull_page;
use crate::server::admin::dashboard::format::{self, Moment};
use crate::server::admin::dashboard::summary::{MAX_ROWS, Summary};

/// The open pull requests of a repository, seen from an instant.
#[derive(Debug, Clone)]
pub struct ReviewPage {
    /// What its last good tick left.
    pub summary: Arc<Summary>,
    /// Where people meet GitHub; `None` in a sandbox.
    pub github: Option<String>,
    /// The service's time.
    pub now: Timestamp,
}

/// A lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneView {
    /// Its heading.
    pub title: &'static str,
    /// Which pull requests stand in it.
    pub hint: String,
    /// Its pull requests.
    pub rows: Vec<PullView>,
    /// Whether there are more.
    pub is_full: bool,
}

/// An open pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullView {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its page on GitHub.
    pub page: Option<String>,
    /// Whose work it is.
    pub persona: Option<String>,
    /// Its files and lines.
    pub size: Option<String>,
    /// What its checks say, and the class of that.
    pub checks: (&'static str, &'static str),
    /// When it was opened.
    pub opened: Moment,
    /// What else a reviewer should know.
    pub remarks: Vec<Vec<TextPart>>,
    /// What settles it.
    pub settles: Vec<TextPart>,
}

/// A part of a sentence of the domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// Words.
    Plain(String),
    /// A command or a label.
    Code(String),
    /// A pull request, and its page.
    Pull(u64, Option<String>),
}

impl ReviewPage {
    /// The lanes that have pull requests.
    #[must_use]
    pub fn lanes(&self) -> Vec<LaneView> {
        let lanes = self.summary.view.review.iter();
        lanes.map(|lane| self.lane_view(lane)).collect()
    }

    /// When the repository was last checked.
    #[must_use]
    pub fn checked(&self) -> Moment {
        format::format_moment(self.summary.view.at, self.now)
    }

    fn lane_view(&self, lane: &ReviewLane) -> LaneView {
        LaneView {
            title: lane.kind.title(),
            hint: lane.kind.hint(),
            rows: lane.pulls.iter().map(|pull| self.pull_view(pull)).collect(),
            is_full: lane.pulls.len() >= MAX_ROWS,
        }
    }

    fn pull_view(&self, pull: &ReviewPull) -> PullView {
        let remarks = pull.remarks.iter();
        let checks = match pull.checks {
            Checks::Passed => ("checks passed", "merged"),
            Checks::Failed => ("checks failed", "failed"),
            Checks::Pending => ("checks running", "live"),
            Checks::None => ("no checks", "other"),
        };
        PullView {
            number: pull.number.0,
            title: pull.title.clone(),
            page: self.pull_page(pull.number.0),
            persona: pull.persona.as_ref().map(ToString::to_string),
            size: pull.size_text(),
            checks,
            opened: format::format_moment(pull.opened_at, self.now),
            remarks: remarks.map(|remark| self.text_parts(remark)).collect(),
            settles: self.text_parts(&pull.settles),
        }
    }

    fn pull_page(&self, number: u64) -> Option<String> {
        pull_page(self.github.as_deref(), &self.summary.name, number)
    }

    /// The parts of a sentence: what stands in backticks is code, and `#12` is a pull request.
    fn text_parts(&self, sentence: &str) -> Vec<TextPart> {
        let mut parts = Vec::new();
        for (index, text) in sentence.split('`').enumerate() {
            match index % 2 {
                1 => parts.push(TextPart::Code(text.to_owned())),
                _ => self.add_words(text, &mut parts),
            }
        }
        parts
    }

    fn add_words(&self, text: &str, parts: &mut Vec<TextPart>) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('#') {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = after.split_at(digits);
            let Ok(number) = number.parse() else { break };
            if !before.is_empty() {
                parts.push(TextPart::Plain(before.to_owned()));
            }
            parts.push(TextPart::Pull(number, self.pull_page(number)));
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(TextPart::Plain(rest.to_owned()));
        }
    }
}
