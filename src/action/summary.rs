//! The page of a run: what was done, where each track stands, and what it cost.

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{BudgetFigures, Ledger, Line, Verdict, budget_figures};
use phileas_domain::model::RepositoryName;

use super::markdown::{MAX_TEXT, code, link, plain};
use super::outputs::{pull_page, session_page};
use super::telling::Told;
use crate::runtime::{Failed, TickReport};

/// The largest page of a step in bytes (GitHub's documentation: 1 MiB), less the note that something was left out.
pub const MAX_PAGE: usize = 1024 * 1024 - 1024;
/// The most rows of a table, and entries of a list.
const MAX_ROWS: usize = 200;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The repository.
    pub repository: &'a RepositoryName,
    /// GitHub's pages: `https://github.com`.
    pub server: &'a str,
    /// The event that started the run.
    pub event: &'a str,
    /// What the tick did.
    pub report: &'a TickReport,
    /// Its most telling line.
    pub told: Told<'a>,
    /// Whether nothing could be written.
    pub dry_run: bool,
    /// Requests to GitHub and to Jules.
    pub requests: (u64, u64),
}

/// The page of a tick.
#[must_use]
pub fn of_tick(page: &Page<'_>) -> String {
    let report = page.report;
    let mut text = format!("### phileas: {}\n\n", page.headline());
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next look {} UTC", minute(at)),
    );
    text.push_str(&format!(
        "{} · {} · {} UTC · {next}\n\n",
        plain(&page.repository.to_string()),
        code(page.event),
        minute(report.now),
    ));
    mistakes(&mut text, page);
    tracks(&mut text, page);
    if let Some(seen) = &report.seen
        && !matches!(seen.ledger, Ledger::Corrupt { .. })
    {
        text.push_str(&budget(&budget_figures(seen)));
    }
    troubles(&mut text, &report.failed);
    issues(&mut text, page);
    text.push_str(&page.foot());
    within(text, MAX_PAGE)
}

/// The page of a run that did not tick, or could not: one sentence, and its code.
#[must_use]
pub fn of_one(heading: &str, detail: &str, reason: &str) -> String {
    // The sentence is ours or was cleaned; a credential's mend is longer than what others get to say.
    let detail: Vec<String> = detail
        .lines()
        .flat_map(|line| parts(line).into_iter().map(|part| plain(&part)))
        .collect();
    let text = format!(
        "### phileas: {}\n\n| | | |\n|---|---|---|\n| {} | {} | {} |\n",
        plain(heading),
        plain(heading),
        detail.join(" "),
        code(reason)
    );
    within(text, MAX_PAGE)
}

/// Parts of a line that are short enough to be shown.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let last = parts.last().map_or(0, |part| part.chars().count());
        if last + word.chars().count() > MAX_TEXT {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(word);
        }
    }
    parts
}

impl Page<'_> {
    fn headline(&self) -> String {
        let Told::Line(line) = self.told else {
            return "there is no plan; write `.jules/schedules.toml` on the default branch"
                .to_owned();
        };
        let who = line
            .persona
            .as_ref()
            .map_or_else(|| "the repository".to_owned(), |id| plain(id.as_str()));
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
            Verdict::Adopted => format!("found the session of {who}{others}"),
            Verdict::Advanced => format!("{who} is done{others}"),
            Verdict::Settled => format!("settled {who}{others}"),
            Verdict::Imported => format!("took in the work of {who}{others}"),
            Verdict::Held => format!("{who} waits for a person"),
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

    fn foot(&self) -> String {
        let (github, jules) = self.requests;
        let ledger = self.report.head.as_ref().map_or_else(String::new, |head| {
            let head = head.to_string();
            let short: String = head.chars().take(7).collect();
            let address = format!("{}/{}/commit/{head}", self.server, self.repository);
            format!(" · ledger {}", link(&short, &address))
        });
        format!(
            "\n<sub>phileas {} · {github} requests to GitHub, {jules} to Jules{ledger}</sub>\n",
            env!("CARGO_PKG_VERSION")
        )
    }

    fn row(&self, line: &Line) -> String {
        let mut who = line.track.as_ref().map_or_else(
            || "the repository".to_owned(),
            |track| plain(track.as_str()),
        );
        if let Some(seq) = line.seq {
            who.push_str(&format!(" {seq}"));
        }
        let persona = line.persona.as_ref().map(|id| plain(id.as_str()));
        let session = line
            .session_id
            .as_ref()
            .map(|id| link("session", &session_page(id)));
        let pull = line.pr_number.map(|number| {
            let address = pull_page(self.server, self.repository, number.0);
            format!("[#{number}]({address})")
        });
        let links: Vec<String> = session.into_iter().chain(pull).collect();
        format!(
            "| {} {} | {who} | {} | {} | {} {} | {} |\n",
            sign(line.verdict),
            self.word(line.verdict),
            persona.unwrap_or_default(),
            links.join(" · "),
            plain(&line.detail),
            code(line.reason.code()),
            line.until.map(minute).unwrap_or_default(),
        )
    }

    fn word(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Dispatched if self.dry_run => "would start",
            Verdict::Dispatched => "started",
            Verdict::Adopted => "found",
            Verdict::Advanced => "done",
            other => other.as_str(),
        }
    }
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Dispatched => "🚀",
        Verdict::Adopted => "🔎",
        Verdict::Advanced => "✅",
        Verdict::Settled => "🏁",
        Verdict::Imported => "📥",
        Verdict::Waiting => "⏳",
        Verdict::Skipped => "⏭️",
        Verdict::Refused => "⛔",
        Verdict::Paused => "⏸️",
        Verdict::Held => "✋",
    }
}

fn tracks(text: &mut String, page: &Page<'_>) {
    let lines: Vec<&Line> = page.report.all().map(|(_, line)| line).collect();
    if lines.is_empty() {
        return;
    }
    text.push_str("| | track | persona | where | why | until (UTC) |\n|---|---|---|---|---|---|\n");
    for line in lines.iter().take(MAX_ROWS) {
        text.push_str(&page.row(line));
    }
    if lines.len() > MAX_ROWS {
        text.push_str(&format!(
            "| | and {} more | | | | |\n",
            lines.len() - MAX_ROWS
        ));
    }
}

fn mistakes(text: &mut String, page: &Page<'_>) {
    let found = &page.report.plan_diagnostics;
    if found.is_empty() {
        return;
    }
    text.push_str("**Mistakes in the plan**\n\n");
    for one in found.iter().take(MAX_ROWS) {
        let severity = if one.is_error() { "❌" } else { "⚠️" };
        let mend = if one.mend.is_empty() {
            String::new()
        } else {
            format!("; {}", plain(&one.mend))
        };
        text.push_str(&format!(
            "- {severity} {}: {}{mend}\n",
            place(one, page),
            plain(&one.message)
        ));
    }
    if found.len() > MAX_ROWS {
        text.push_str(&format!("- and {} more\n", found.len() - MAX_ROWS));
    }
    text.push('\n');
}

/// Where a mistake stands, with a link to the very commit that was read.
fn place(one: &Diagnostic, page: &Page<'_>) -> String {
    let line = one.line.map_or_else(String::new, |line| format!(":{line}"));
    let shown = format!("{}{line}", one.file);
    let seen = page.report.seen.as_ref();
    let Some(commit) = seen.and_then(|seen| seen.repository.default_head.as_ref()) else {
        return plain(&shown);
    };
    let anchor = one
        .line
        .map_or_else(String::new, |line| format!("#L{line}"));
    let address = format!(
        "{}/{}/blob/{commit}/{}{anchor}",
        page.server, page.repository, one.file
    );
    link(&shown, &address)
}

fn budget(figures: &BudgetFigures) -> String {
    let mut text = format!(
        "\n**Budget**: {} of {} sessions within a day · {} of {} live · {} of {} pull requests wait for a first review\n",
        figures.day,
        figures.day_limit,
        figures.live,
        figures.live_limit,
        figures.backlog,
        figures.backlog_limit,
    );
    if let (Some(day), Some(live)) = (figures.key_day, figures.key_live) {
        text.push_str(&format!(
            "\n**Jules key**: {day} of {} sessions within a day ({} kept for people) · {live} of {} live\n",
            figures.key_day_limit, figures.key_reserved, figures.key_live_limit,
        ));
    }
    if let Some(until) = figures.paused_until {
        text.push_str(&format!(
            "\nJules says that the key is spent; nothing starts before {} UTC.\n",
            minute(until)
        ));
    }
    text
}

fn troubles(text: &mut String, failed: &[Failed]) {
    if failed.is_empty() {
        return;
    }
    text.push_str("\n**What did not work** (the next run sees for itself)\n\n");
    for one in failed.iter().take(MAX_ROWS) {
        text.push_str(&format!(
            "- {} for {}: {}\n",
            code(one.what),
            plain(&one.about),
            plain(&one.detail)
        ));
    }
}

fn issues(text: &mut String, page: &Page<'_>) {
    let would = if page.dry_run { "would be " } else { "" };
    let (opened, closed) = (&page.report.opened, &page.report.closed);
    if opened.is_empty() && closed.is_empty() {
        return;
    }
    text.push('\n');
    for title in opened.iter().take(MAX_ROWS) {
        text.push_str(&format!("- 📌 issue {would}opened: {}\n", plain(title)));
    }
    for number in closed.iter().take(MAX_ROWS) {
        let address = format!("{}/{}/issues/{number}", page.server, page.repository);
        text.push_str(&format!("- issue [#{number}]({address}) {would}closed\n"));
    }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Whole lines of at most so many bytes; where some are left out, the last one says so.
fn within(text: String, limit: usize) -> String {
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

    fn line(verdict: Verdict, reason: Reason, detail: &str) -> Line {
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

    fn shown(report: &TickReport, dry_run: bool) -> String {
        let repository = "acme/widget".parse().unwrap();
        of_tick(&Page {
            repository: &repository,
            server: "https://github.com",
            event: "schedule",
            report,
            told: Told::of(report, &RunRequest::Due),
            dry_run,
            requests: (3, 2),
        })
    }

    #[test]
    fn a_page_says_what_was_done_and_what_waits() {
        let now: Timestamp = "2026-01-05T09:00:00Z".parse().unwrap();
        let mut report = TickReport {
            now,
            done: vec![(now, line(Verdict::Dispatched, Reason::DueTrack, "its turn"))],
            waiting: vec![(now, line(Verdict::Waiting, Reason::NotDue, "not yet"))],
            ..TickReport::default()
        };
        report.plan_diagnostics.push(
            Diagnostic::error(".jules/schedules.toml", "unknown persona `curater`")
                .at(3, 5)
                .mend("did you mean `curator`?"),
        );
        report.opened.push("A title | with [markup](x)".to_owned());
        report.failed.push(Failed {
            what: "close_notice",
            about: "issue #7".to_owned(),
            detail: "502".to_owned(),
        });
        let page = shown(&report, false).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(page);
        assert!(
            shown(&report, true).contains("would start curator (dry run: nothing was written)")
        );
    }

    #[test]
    fn what_an_agent_wrote_stays_in_its_cell() {
        let now = Timestamp::UNIX_EPOCH;
        let evil = "asks:\n| a | <b>x</b> |\n\n# Heading ![i](http://x/y.png)";
        let report = TickReport {
            waiting: vec![(now, line(Verdict::Waiting, Reason::PersonAnswer, evil))],
            ..TickReport::default()
        };
        let page = shown(&report, false);
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
            waiting: vec![(now, line(Verdict::Waiting, Reason::NotDue, &long)); 2_000],
            failed: vec![
                Failed {
                    what: "x",
                    about: long.clone(),
                    detail: long.clone()
                };
                2_000
            ],
            opened: vec![long.clone(); 2_000],
            plan_diagnostics: (0..2_000)
                .map(|n| Diagnostic::error(format!("{long}{n}"), long.clone()).mend(long.clone()))
                .collect(),
            ..TickReport::default()
        };
        let page = shown(&report, false);
        assert!(page.len() <= 1024 * 1024, "{}", page.len());
        assert!(page.len() > 500_000);
        assert!(within("ä\n".repeat(10), 8).starts_with("ä\nä\n\n\nThe rest"));
    }

    #[test]
    fn a_run_without_a_tick_has_one_row() {
        let page = of_one("skipped", "nothing depends on `watch`", "skipped.event");
        assert_eq!(page.lines().filter(|line| line.starts_with('|')).count(), 3);
        assert!(page.contains("<code>skipped.event</code>"), "{page}");
        let long = "word ".repeat(200);
        assert_eq!(of_one("failed", &long, "x").matches("word").count(), 200);
    }
}
