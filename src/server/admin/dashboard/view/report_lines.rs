//! What happens or waits, and why, as the pages show it: a sentence, and what is particular to the case.

use jiff::Timestamp;
use phileas_domain::engine::{Line, TrackView, TurnView, Verdict, plain_text, session_page};
use phileas_domain::model::RepositoryName;

use super::sessions::pull_page;
use crate::server::admin::dashboard::board::{RepositoryStatus, line_status};
use crate::server::admin::dashboard::format::{self, Moment};

/// One line of a decision, or a live turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLineView {
    /// The persona, if the line has one.
    pub who: Option<String>,
    /// The class of its colour.
    pub class: &'static str,
    /// One sentence.
    pub sentence: String,
    /// What is particular to this case. It may hold words of others.
    pub detail: String,
    /// The stable code of the reason.
    pub code: &'static str,
    /// Until when, where that is known.
    pub until: Option<Moment>,
    /// The session's page.
    pub jules: Option<String>,
    /// The pull request: the number, and the page.
    pub pull: Option<(u64, Option<String>)>,
}

/// Builds the view of a line at an instant.
#[must_use]
pub fn line_view(line: &Line, now: Timestamp) -> ReportLineView {
    let until = line.end_time().filter(|until| *until > now);
    ReportLineView {
        who: line.persona.as_ref().map(ToString::to_string),
        class: line_class(line),
        sentence: plain_text(&line.reason.clause()),
        detail: plain_text(&line.detail),
        code: line.reason.code(),
        until: until.map(|until| format::format_moment(until, now)),
        jules: None,
        pull: None,
    }
}

/// The live turns of a track, and the lines about it that they do not describe.
#[must_use]
pub fn track_lines(
    track: &TrackView,
    repository: &RepositoryName,
    github: Option<&str>,
    now: Timestamp,
) -> Vec<ReportLineView> {
    let turns = track.turns.iter();
    let turns = turns.map(|turn| turn_view(turn, repository, github, now));
    let is_described = |line: &&Line| track.turns.iter().any(|turn| turn.is_described_by(line));
    let others = track.lines.iter().filter(|line| !is_described(line));
    turns
        .chain(others.map(|line| line_view(line, now)))
        .collect()
}

fn turn_view(
    turn: &TurnView,
    repository: &RepositoryName,
    github: Option<&str>,
    now: Timestamp,
) -> ReportLineView {
    let line = turn.line.as_ref().map(|line| line_view(line, now));
    let line = line.as_ref();
    ReportLineView {
        who: Some(turn.persona.to_string()),
        class: line.map_or("working", |line| line.class),
        sentence: plain_text(&turn.headline()),
        detail: line.map_or_else(String::new, |line| line.detail.clone()),
        code: line.map_or("", |line| line.code),
        until: line.and_then(|line| line.until.clone()),
        jules: github.and(turn.session.as_ref().map(session_page)),
        pull: turn
            .pull
            .map(|number| (number.0, pull_page(github, repository, number.0))),
    }
}

fn line_class(line: &Line) -> &'static str {
    match (line_status(line), line.verdict) {
        (RepositoryStatus::Attention, _) => "attention",
        (RepositoryStatus::Working, _) => "working",
        (_, Verdict::Advanced | Verdict::Settled | Verdict::Imported) => "done",
        _ => "waiting",
    }
}
