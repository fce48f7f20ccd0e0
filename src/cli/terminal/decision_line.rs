//! One line of a decision: JSON for programs, text for people.

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use phileas_domain::engine::{Line, Verdict};
use phileas_domain::model::RepositoryName;
use serde_json::{Value, json};

use crate::runtime::{FailedEffect, TickReport};

/// Whether lines report what was done, or what a tick would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tense {
    /// It was done.
    Done,
    /// A tick would do it now.
    Forecast,
}

/// One line as JSON.
#[must_use]
pub fn line_json(at: Timestamp, repository: &RepositoryName, line: &Line, tense: Tense) -> Value {
    json!({
        "at": at.to_string(),
        "repo": repository.to_string(),
        "track": line.track.as_ref().map(ToString::to_string),
        "seq": line.seq,
        "slot": line.slot.as_ref().map(ToString::to_string),
        "persona": line.persona.as_ref().map(ToString::to_string),
        "decision": line.verdict.as_str(),
        "reason": line.reason.code(),
        "turn": line.turn.as_ref().map(ToString::to_string),
        "session_id": line.session_id.as_ref().map(ToString::to_string),
        "pr_number": line.pr_number.map(|number| number.0),
        "detail": line.detail,
        "until": line.until.map(|until| until.to_string()),
        "forecast": tense == Tense::Forecast,
    })
}

/// A failure of a tick as JSON.
#[must_use]
pub fn failed_json(repository: &RepositoryName, failed: &FailedEffect) -> Value {
    json!({ "failed": {
        "repo": repository.to_string(),
        "effect": failed.what,
        "about": failed.about,
        "detail": failed.detail,
    } })
}

/// The cost of a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests to GitHub, REST and GraphQL.
    pub github_requests: u64,
    /// Points of GitHub's GraphQL budget.
    pub github_points: u64,
    /// Requests to Jules.
    pub jules_requests: u64,
}

/// The last line of a tick, as JSON.
#[must_use]
pub fn summary_json(report: &TickReport, cost: Cost, tense: Tense) -> Value {
    let mut summary = serde_json::Map::new();
    for verdict in [
        Verdict::Dispatched,
        Verdict::Adopted,
        Verdict::Advanced,
        Verdict::Waiting,
        Verdict::Skipped,
        Verdict::Refused,
        Verdict::Paused,
        Verdict::Held,
        Verdict::Settled,
        Verdict::Imported,
    ] {
        let count = report
            .all_lines()
            .filter(|(_, line)| line.verdict == verdict)
            .count();
        summary.insert(verdict.as_str().to_owned(), json!(count));
    }
    summary.insert("commits".to_owned(), json!(report.commits));
    summary.insert("failed_effects".to_owned(), json!(report.failed.len()));
    summary.insert("issues_opened".to_owned(), json!(report.opened.len()));
    summary.insert("issues_closed".to_owned(), json!(report.closed.len()));
    summary.insert("github_requests".to_owned(), json!(cost.github_requests));
    summary.insert("github_points".to_owned(), json!(cost.github_points));
    summary.insert("jules_requests".to_owned(), json!(cost.jules_requests));
    summary.insert(
        "next_due".to_owned(),
        json!(report.wake_at.map(|at| at.to_string())),
    );
    summary.insert("forecast".to_owned(), json!(tense == Tense::Forecast));
    json!({ "summary": summary })
}

/// One line as text, without a final newline.
#[must_use]
pub fn line_text(line: &Line, colour: bool, tense: Tense) -> String {
    let style = if colour {
        verdict_style(line.verdict)
    } else {
        Style::new()
    };
    let mut who = line
        .track
        .as_ref()
        .map_or_else(|| "repository".to_owned(), ToString::to_string);
    if let Some(seq) = line.seq {
        who.push_str(&format!("#{seq}"));
    }
    let persona = line
        .persona
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let verdict = format!(
        "{} {:<13}",
        line.verdict.sign(),
        verdict_text(line.verdict, tense)
    );
    let dim = if colour {
        Style::new().dimmed()
    } else {
        Style::new()
    };
    let until = line
        .end_time()
        .map(|until| format!(", until {}", short_time(until)))
        .unwrap_or_default();
    format!(
        "{style}{verdict}{style:#} {who:<22} {persona:<14} {} {dim}[{}{until}]{dim:#}",
        line.detail,
        line.reason.code()
    )
}

/// The word for a verdict: what was done, or would be.
#[must_use]
pub fn verdict_text(verdict: Verdict, tense: Tense) -> &'static str {
    match tense {
        Tense::Forecast => verdict.forecast_label(),
        Tense::Done => verdict.label(),
    }
}

/// A time to the minute, in UTC.
#[must_use]
pub fn short_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The style of a verdict's sign and word.
#[must_use]
pub fn verdict_style(verdict: Verdict) -> Style {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match verdict {
        Verdict::Dispatched => colour(AnsiColor::Green).bold(),
        Verdict::Adopted => colour(AnsiColor::Cyan),
        Verdict::Advanced => colour(AnsiColor::Green),
        Verdict::Settled | Verdict::Imported => colour(AnsiColor::Blue),
        Verdict::Waiting => Style::new().dimmed(),
        Verdict::Skipped => colour(AnsiColor::Yellow),
        Verdict::Refused => colour(AnsiColor::Red),
        Verdict::Paused => colour(AnsiColor::Yellow).bold(),
        Verdict::Held => colour(AnsiColor::Red).bold(),
    }
}
