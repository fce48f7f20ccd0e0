//! The review on the dashboard issue. It shows when a pull request was opened instead of its age, so that it changes only
//! with its facts.

use std::fmt::Write as _;

use crate::engine::output::limits::{DASHBOARD_REVIEWS, DASHBOARD_TITLE};
use crate::engine::text::markdown::{inert_line, sanitize_word};
use crate::engine::view::review::{ReviewLane, ReviewPull};

/// Writes the lanes, each as a table.
pub(crate) fn write_review(lanes: &[ReviewLane], out: &mut String) {
    if lanes.is_empty() {
        return;
    }
    out.push_str("\n### Review\n");
    for lane in lanes {
        let _ = write!(
            out,
            "\n**{}**: {}\n\n| Pull request | Changes | Checks | Opened | Settle it |\n|---|---|---|---|---|\n",
            lane.kind.title(),
            lane.kind.hint()
        );
        for pull in lane.pulls.iter().take(DASHBOARD_REVIEWS) {
            out.push_str(&table_row(pull));
        }
        let more = lane.pulls.len().saturating_sub(DASHBOARD_REVIEWS);
        if more > 0 {
            let _ = writeln!(out, "\nAnd {more} more, opened later.");
        }
    }
}

fn table_row(pull: &ReviewPull) -> String {
    let title = inert_line(&pull.title, DASHBOARD_TITLE).replace('|', "¦");
    let persona = pull.persona.as_ref();
    let persona = persona.map(|id| format!(" of `{}`", sanitize_word(id.as_str())));
    let mut remarks = pull.remarks.join("; ");
    if !remarks.is_empty() {
        remarks.insert_str(0, "<br>");
    }
    format!(
        "| #{}{} `{title}`{remarks} | {} | {} | {} | {} |\n",
        pull.number,
        persona.unwrap_or_default(),
        pull.size_text().unwrap_or_default(),
        pull.checks_text(),
        pull.opened_at.strftime("%Y-%m-%d"),
        pull.settles,
    )
}
