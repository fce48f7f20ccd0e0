//! The summary page of a run: what it did, the status of each track, and the cost.

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{Line, RepositoryView, Verdict, Yield, plain_text, session_page};
use phileas_domain::model::RepositoryName;

use super::main_line::MainLine;
use super::markdown::{MAX_TEXT_CHARS, code_span, escape_text, link_to};
use super::outputs::pull_page;
use crate::runtime::{FailedEffect, TickReport};

/// The largest page of a step in bytes (GitHub's documentation: 1 MiB), minus the note about lines that are left out.
pub const MAX_PAGE: usize = 1024 * 1024 - 1024;
/// The most rows of a table, and entries of a list.
const MAX_ROWS: usize = 200;

/// What a page is built from.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The repository.
    pub repository: &'a RepositoryName,
    /// The address of GitHub's pages: `https://github.com`.
    pub server: &'a str,
    /// The event that started the run.
    pub event: &'a str,
    /// The report of the tick.
    pub report: &'a TickReport,
    /// Its main line.
    pub main: MainLine<'a>,
    /// Whether the run could not write.
    pub dry_run: bool,
    /// Requests to GitHub and to Jules.
    pub requests: (u64, u64),
}

/// The page of a tick.
#[must_use]
pub fn tick_page(page: &Page<'_>) -> String {
    let report = page.report;
    let mut text = format!("### phileas: {}\n\n", page.headline_text());
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next check {} UTC", minute_text(at)),
    );
    text.push_str(&format!(
        "{} · {} · {} UTC · {next}\n\n",
        escape_text(&page.repository.to_string()),
        code_span(page.event),
        minute_text(report.now),
    ));
    push_plan_mistakes(&mut text, page);
    let seen = report.seen.as_deref();
    let view = seen.map(|seen| RepositoryView::new(seen, report.current_lines()));
    if let Some(view) = &view {
        push_needs(&mut text, page, view);
    }
    push_tracks(&mut text, page);
    let readable = |view: &&RepositoryView| view.entries.is_some();
    if let Some(view) = view.as_ref().filter(readable) {
        push_budget(&mut text, view);
        push_yields(&mut text, view);
    }
    push_failures(&mut text, &report.failed);
    push_issues(&mut text, page);
    text.push_str(&page.footer_text());
    truncate_lines(text, MAX_PAGE)
}

/// The page of a run that did not tick, or that failed: one sentence and its code.
#[must_use]
pub fn single_line_page(heading: &str, detail: &str, reason: &str) -> String {
    // phileas wrote the sentence or cleaned it. The help for a credential is longer than the limit for other texts.
    let detail: Vec<String> = detail
        .lines()
        .flat_map(|line| split_parts(line).into_iter().map(|part| escape_text(&part)))
        .collect();
    let text = format!(
        "### phileas: {}\n\n| | | |\n|---|---|---|\n| {} | {} | {} |\n",
        escape_text(heading),
        escape_text(heading),
        detail.join(" "),
        code_span(reason)
    );
    truncate_lines(text, MAX_PAGE)
}

/// Parts of a line that are short enough to show.
fn split_parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let last = parts.last().map_or(0, |part| part.chars().count());
        if last + word.chars().count() > MAX_TEXT_CHARS {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(word);
        }
    }
    parts
}

impl Page<'_> {
    fn headline_text(&self) -> String {
        let MainLine::Line(line) = self.main else {
            return "there is no plan; write `.jules/schedules.toml` on the default branch"
                .to_owned();
        };
        let who = line.persona.as_ref().map_or_else(
            || "the repository".to_owned(),
            |id| escape_text(id.as_str()),
        );
        let done = self
            .report
            .done
            .iter()
            .filter(|(_, other)| other.verdict == line.verdict)
            .count();
        let others = match done.saturating_sub(1) {
            0 => String::new(),
            1 => " and one more".to_owned(),
            more => format!(" and {more} more"),
        };
        let said = match line.verdict {
            Verdict::Dispatched if self.dry_run => format!("would start {who}{others}"),
            Verdict::Dispatched => format!("started {who}{others}"),
            Verdict::Adopted => format!("adopted the session of {who}{others}"),
            Verdict::Advanced => format!("the session of {who} ended{others}"),
            Verdict::Settled => format!("settled {who}{others}"),
            Verdict::Imported => format!("imported the work of {who}{others}"),
            Verdict::Held => format!("{who} needs you"),
            Verdict::Paused => "paused".to_owned(),
            Verdict::Refused => format!("refused {who}"),
            Verdict::Waiting | Verdict::Skipped => "nothing to start".to_owned(),
        };
        if self.dry_run {
            format!("{said} (dry run: nothing was written)")
        } else {
            said
        }
    }

    fn footer_text(&self) -> String {
        let (github, jules) = self.requests;
        let ledger = self.report.head.as_ref().map_or_else(String::new, |head| {
            let head = head.to_string();
            let short: String = head.chars().take(7).collect();
            let address = format!("{}/{}/commit/{head}", self.server, self.repository);
            format!(" · ledger {}", link_to(&short, &address))
        });
        format!(
            "\n<sub>phileas {} · {github} requests to GitHub, {jules} to Jules{ledger}</sub>\n",
            env!("CARGO_PKG_VERSION")
        )
    }

    fn table_row(&self, line: &Line) -> String {
        let mut who = line.track.as_ref().map_or_else(
            || "the repository".to_owned(),
            |track| escape_text(track.as_str()),
        );
        if let Some(seq) = line.seq {
            who.push_str(&format!(" {seq}"));
        }
        let persona = line.persona.as_ref().map(|id| escape_text(id.as_str()));
        let session = line
            .session_id
            .as_ref()
            .map(|id| link_to("session", &session_page(id)));
        let pull = line.pr_number.map(|number| {
            let address = pull_page(self.server, self.repository, number.0);
            format!("[#{number}]({address})")
        });
        let links: Vec<String> = session.into_iter().chain(pull).collect();
        format!(
            "| {} {} | {who} | {} | {} | {} {} | {} |\n",
            line.verdict.sign(),
            self.verdict_text(line.verdict),
            persona.unwrap_or_default(),
            links.join(" · "),
            escape_text(&line.detail),
            code_span(line.reason.code()),
            line.end_time().map(minute_text).unwrap_or_default(),
        )
    }

    fn verdict_text(&self, verdict: Verdict) -> &'static str {
        if self.dry_run {
            verdict.forecast_label()
        } else {
            verdict.label()
        }
    }
}

fn push_tracks(text: &mut String, page: &Page<'_>) {
    let lines: Vec<&Line> = page.report.all_lines().map(|(_, line)| line).collect();
    if lines.is_empty() {
        return;
    }
    text.push_str("| | track | persona | where | why | until (UTC) |\n|---|---|---|---|---|---|\n");
    for line in lines.iter().take(MAX_ROWS) {
        text.push_str(&page.table_row(line));
    }
    if lines.len() > MAX_ROWS {
        text.push_str(&format!(
            "| | and {} more | | | | |\n",
            lines.len() - MAX_ROWS
        ));
    }
}

fn push_plan_mistakes(text: &mut String, page: &Page<'_>) {
    let found = &page.report.plan_diagnostics;
    if found.is_empty() {
        return;
    }
    text.push_str("**Mistakes in the plan**\n\n");
    for one in found.iter().take(MAX_ROWS) {
        let severity = if one.is_error() { "✗" } else { "⚠️" };
        let help = if one.help.is_empty() {
            String::new()
        } else {
            format!("; {}", escape_text(&one.help))
        };
        text.push_str(&format!(
            "- {severity} {}: {}{help}\n",
            location_link(one, page),
            escape_text(&one.message)
        ));
    }
    if found.len() > MAX_ROWS {
        text.push_str(&format!("- and {} more\n", found.len() - MAX_ROWS));
    }
    text.push('\n');
}

/// The location of a mistake, with a link to the commit that the tick read.
fn location_link(one: &Diagnostic, page: &Page<'_>) -> String {
    let line = one.line.map_or_else(String::new, |line| format!(":{line}"));
    let shown = format!("{}{line}", one.file);
    let seen = page.report.seen.as_ref();
    let Some(commit) = seen.and_then(|seen| seen.repository.default_head.as_ref()) else {
        return escape_text(&shown);
    };
    let anchor = one
        .line
        .map_or_else(String::new, |line| format!("#L{line}"));
    let address = format!(
        "{}/{}/blob/{commit}/{}{anchor}",
        page.server, page.repository, one.file
    );
    link_to(&shown, &address)
}

/// Adds what a person has to do, with the pages where it is done.
fn push_needs(text: &mut String, page: &Page<'_>, view: &RepositoryView) {
    if view.needs.is_empty() {
        return;
    }
    text.push_str("**Needs you**\n\n");
    for need in view.needs.iter().take(MAX_ROWS) {
        let issue = need
            .issue
            .map(|number| format!("{}/{}/issues/{number}", page.server, page.repository));
        let title = plain_text(&need.title);
        let item = match issue.or(need.session.as_ref().map(session_page)) {
            Some(address) => link_to(&title, &address),
            None => escape_text(&title),
        };
        text.push_str(&format!("- {item}\n"));
    }
    text.push('\n');
}

fn push_budget(text: &mut String, view: &RepositoryView) {
    let budget = &view.budget;
    text.push_str(&format!("\n**Budget**: {}\n", budget.sentence(true)));
    if budget.key_day.is_some() && budget.key_live.is_some() {
        text.push_str(&format!(
            "\n**Jules key**: {}\n",
            budget.key_sentence(false)
        ));
    }
    if let Some(pause) = budget.pause_sentence(view.at) {
        text.push_str(&format!("\n{pause}.\n"));
    }
}

/// Adds what became of the work of each persona, and of each version of a prompt that has changed.
fn push_yields(text: &mut String, view: &RepositoryView) {
    if view.yields.is_empty() {
        return;
    }
    text.push_str(
        "\n| Persona | Sessions | Merged | Merged per session | Reverted | Rejected | Repeated or no-op | Refused |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (persona, figures) in view.yields.iter().take(MAX_ROWS) {
        text.push_str(&yield_row(&escape_text(persona.as_str()), figures));
        let prompts = view.prompt_yields.iter();
        for one in prompts.filter(|one| one.persona == *persona) {
            let name = format!("prompt {}", code_span(&one.prompt));
            text.push_str(&yield_row(&name, &one.figures));
        }
    }
    text.push_str(&yield_row("all", &view.total));
}

fn yield_row(name: &str, figures: &Yield) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} |\n",
        figures.sessions,
        figures.merged,
        figures.merge_rate_text(),
        figures.reverted,
        figures.rejected,
        figures.repeated + figures.no_op + figures.superseded,
        figures.refused_text(),
    )
}

fn push_failures(text: &mut String, failed: &[FailedEffect]) {
    if failed.is_empty() {
        return;
    }
    text.push_str("\n**What did not work** (the next run sees for itself)\n\n");
    for one in failed.iter().take(MAX_ROWS) {
        text.push_str(&format!(
            "- {} for {}: {}\n",
            code_span(one.what),
            escape_text(&one.about),
            escape_text(&one.detail)
        ));
    }
}

fn push_issues(text: &mut String, page: &Page<'_>) {
    let would = if page.dry_run { "would be " } else { "" };
    let (opened, closed) = (&page.report.opened, &page.report.closed);
    if opened.is_empty() && closed.is_empty() {
        return;
    }
    text.push('\n');
    for title in opened.iter().take(MAX_ROWS) {
        text.push_str(&format!(
            "- ◇ issue {would}opened: {}\n",
            escape_text(title)
        ));
    }
    for number in closed.iter().take(MAX_ROWS) {
        let address = format!("{}/{}/issues/{number}", page.server, page.repository);
        text.push_str(&format!("- issue [#{number}]({address}) {would}closed\n"));
    }
}

fn minute_text(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Whole lines of at most this many bytes. If some are left out, the last line says so.
fn truncate_lines(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let cut = text[..text.floor_char_boundary(limit)]
        .rfind('\n')
        .map_or(0, |end| end + 1);
    format!(
        "{}\n\nThe rest is left out: GitHub shows 1 MiB of a step. The output `json` has more.\n",
        &text[..cut]
    )
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::{Reason, RunRequest};
    use phileas_domain::model::{PullNumber, SessionId};

    use super::*;

    fn sample_line(verdict: Verdict, reason: Reason, detail: &str) -> Line {
        Line {
            track: Some("default".into()),
            seq: Some(88),
            slot: None,
            persona: Some("curator".into()),
            verdict,
            reason,
            turn: None,
            session_id: Some(SessionId::from("123")),
            pr_number: Some(PullNumber(7)),
            detail: detail.to_owned(),
            until: Some("2026-01-05T09:30:00Z".parse().unwrap()),
            is_requested: false,
        }
    }

    fn sample_page(report: &TickReport, dry_run: bool) -> String {
        let repository = "acme/widget".parse().unwrap();
        tick_page(&Page {
            repository: &repository,
            server: "https://github.com",
            event: "schedule",
            report,
            main: MainLine::from_report(report, &RunRequest::Due),
            dry_run,
            requests: (3, 2),
        })
    }

    #[test]
    fn a_page_says_what_was_done_and_what_waits() {
        let now: Timestamp = "2026-01-05T09:00:00Z".parse().unwrap();
        let mut report = TickReport {
            now,
            done: vec![(
                now,
                sample_line(Verdict::Dispatched, Reason::DueTrack, "its turn"),
            )],
            waiting: vec![(
                now,
                sample_line(Verdict::Waiting, Reason::NotDue, "not yet"),
            )],
            ..TickReport::default()
        };
        report.plan_diagnostics.push(
            Diagnostic::error(".jules/schedules.toml", "unknown persona `curater`")
                .at(3, 5)
                .help("did you mean `curator`?"),
        );
        report.opened.push("A title | with [markup](x)".to_owned());
        report.failed.push(FailedEffect {
            what: "close_notice",
            about: "issue #7".to_owned(),
            detail: "502".to_owned(),
        });
        let page = sample_page(&report, false).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(page);
        assert!(
            sample_page(&report, true)
                .contains("would start curator (dry run: nothing was written)")
        );
    }

    #[test]
    fn text_of_an_agent_stays_in_its_cell() {
        let now = Timestamp::UNIX_EPOCH;
        let evil = "asks:\n| a | <b>x</b> |\n\n# Heading ![i](http://x/y.png)";
        let report = TickReport {
            waiting: vec![(
                now,
                sample_line(Verdict::Waiting, Reason::PersonAnswer, evil),
            )],
            ..TickReport::default()
        };
        let page = sample_page(&report, false);
        let row = page.lines().find(|line| line.contains("asks")).unwrap();
        assert_eq!(row.matches('|').count(), 7, "{row}");
        assert!(
            !page.contains("<b>") && !page.contains("![") && !page.contains("\n# "),
            "{page}"
        );
    }

    #[test]
    fn a_page_is_never_larger_than_github_takes() {
        let now = Timestamp::UNIX_EPOCH;
        let long = "|".repeat(400);
        let report = TickReport {
            waiting: vec![(now, sample_line(Verdict::Waiting, Reason::NotDue, &long)); 2_000],
            failed: vec![
                FailedEffect {
                    what: "x",
                    about: long.clone(),
                    detail: long.clone()
                };
                2_000
            ],
            opened: vec![long.clone(); 2_000],
            plan_diagnostics: (0..2_000)
                .map(|n| Diagnostic::error(format!("{long}{n}"), long.clone()).help(long.clone()))
                .collect(),
            ..TickReport::default()
        };
        let page = sample_page(&report, false);
        assert!(page.len() <= 1024 * 1024, "{}", page.len());
        assert!(page.len() > 500_000);
        assert!(truncate_lines("ä\n".repeat(10), 8).starts_with("ä\nä\n\n\nThe rest"));
    }

    #[test]
    fn a_run_without_a_tick_has_one_row() {
        let page = single_line_page("skipped", "nothing depends on `watch`", "skipped.event");
        assert_eq!(page.lines().filter(|line| line.starts_with('|')).count(), 3);
        assert!(page.contains("<code>skipped.event</code>"), "{page}");
        let long = "word ".repeat(200);
        assert_eq!(
            single_line_page("failed", &long, "x")
                .matches("word")
                .count(),
            200
        );
    }
}
