//! The view of a report line: what happens or waits, and why.

use jiff::Timestamp;
use phileas_domain::engine::{Line, Verdict};

use crate::server::admin::dashboard::board::{RepositoryStatus, standing_of};
use crate::server::admin::dashboard::format::{self, Moment};

/// One line of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLineView {
    /// The persona, if the line has one.
    pub who: Option<String>,
    /// The verdict: `waiting`, `dispatched`, …
    pub verdict: &'static str,
    /// The class of its colour.
    pub class: &'static str,
    /// The reason in two or three words.
    pub reason: String,
    /// The stable code of the reason.
    pub code: &'static str,
    /// One sentence, which may contain external text.
    pub text: String,
    /// The end of the wait, if it is known.
    pub until: Option<Moment>,
}

/// Builds the view of a line at an instant.
#[must_use]
pub fn line_view(line: &Line, now: Timestamp) -> ReportLineView {
    let class = match (standing_of(line.verdict, line.reason), line.verdict) {
        (RepositoryStatus::Attention, _) => "attention",
        (RepositoryStatus::Working, _) => "working",
        (_, Verdict::Advanced | Verdict::Settled | Verdict::Imported) => "done",
        _ => "waiting",
    };
    let until = line.until.filter(|until| *until > now);
    ReportLineView {
        who: line.persona.as_ref().map(ToString::to_string),
        verdict: line.verdict.as_str(),
        class,
        reason: format::reason_heading(line.reason),
        code: line.reason.code(),
        // Terminals need the quotation marks; the page's own font does not.
        text: line.detail.replace('`', ""),
        until: until.map(|until| format::format_moment(until, now)),
    }
}
