//! Report lines as the pages show them: what happens or waits, and why.

use jiff::Timestamp;
use phileas_domain::engine::{Line, Verdict};

use crate::server::admin::dashboard::board::{RepositoryStatus, standing_of};
use crate::server::admin::dashboard::format::{self, Moment};

/// One line of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLineView {
    /// The persona, where the line is about one.
    pub who: Option<String>,
    /// What is done: `waiting`, `dispatched`, …
    pub verdict: &'static str,
    /// The class of its colour.
    pub class: &'static str,
    /// The reason in two or three words.
    pub reason: String,
    /// The stable code of the reason.
    pub code: &'static str,
    /// One sentence. It may hold words of others.
    pub text: String,
    /// Until when, where that is known.
    pub until: Option<Moment>,
}

/// A line, seen from an instant.
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
        // Quoted for terminals; here the page's own letters do.
        text: line.detail.replace('`', ""),
        until: until.map(|until| format::format_moment(until, now)),
    }
}
