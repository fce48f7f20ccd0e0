//! Renders the brief that wakes an agent: what happened, what is known about it, and what can be done.
//!
//! Texts of Jules and of other people are quoted with `> ` before each line, so that the agent judges them instead of
//! executing them.

use std::fmt::Write as _;

use super::event::{Event, EventKind};
use super::job::Job;
use crate::engine::{Checks, Mergeable, Pull, PullState};
use crate::patch::{ChangeKind, FileChange};

/// The longest brief, in characters.
pub const MAX_CHARS: usize = 6_000;
/// The most files that are named.
const MAX_FILES: usize = 15;
/// The longest quotation, in characters.
const MAX_QUOTED_CHARS: usize = 2_000;

/// Everything that a brief is written from.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// What happened.
    pub event: &'a Event,
    /// The job, where the jobs file has it.
    pub job: Option<&'a Job>,
    /// The changed files. Empty if they were not read, or if there are none.
    pub files: &'a [FileChange],
    /// The pull request.
    pub pull: Option<&'a Pull>,
    /// Why the event needs no action any more, if that is known.
    pub settled: Option<&'a str>,
    /// What phileas did about the event, and what it could not find out.
    pub notes: &'a [String],
}

impl Brief<'_> {
    /// The text of the brief.
    #[must_use]
    pub fn render_brief(&self) -> String {
        let mut text = self.heading_line();
        let mut line = |words: &str| {
            text.push_str("\n  ");
            text.push_str(words);
        };
        if let Some(said) = self.event.message_text() {
            for quoted in quote_lines(said) {
                line(&quoted);
            }
        }
        let payload = self.event.payload.clone().unwrap_or_default();
        for (number, step) in payload.steps.iter().enumerate() {
            line(&format!("> {}. {}", number + 1, one_line(step)));
        }
        if let Some(total) = payload.steps_total {
            line(&format!(
                "(the first {} of {total} steps)",
                payload.steps.len()
            ));
        }
        if let Some(outcome) = &payload.outcome {
            line(&format!("outcome: {}", one_line(outcome).replace('_', " ")));
        }
        if !self.files.is_empty() {
            line(&self.changes_text());
            for file in self.files.iter().take(MAX_FILES) {
                line(&format!("  {}", of_file(file)));
            }
        }
        if let Some(url) = &payload.pull {
            let state = self
                .pull
                .map_or_else(String::new, |pull| format!(", {}", of_pull(pull)));
            line(&format!("pull request: {}{state}", one_line(url)));
        }
        if let Some(url) = &payload.url {
            line(&format!("page: {}", one_line(url)));
        }
        if let Some(task) = self.job.and_then(|job| job.metadata.get("task")?.as_str()) {
            line(&format!("task: {}", one_line(task)));
        }
        if let Some(settled) = self.settled {
            line(&format!("settled: {}", one_line(settled)));
        }
        for note in self.notes {
            line(&format!("note: {}", one_line(note)));
        }
        for next in self.next_steps() {
            line(&format!("next: {next}"));
        }
        match text.char_indices().nth(MAX_CHARS) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }

    fn heading_line(&self) -> String {
        let payload = self.event.payload.as_ref();
        let mut text = one_line(&self.event.event).replace('_', " ");
        if let Some(id) = &self.event.job_id {
            let _infallible = write!(text, ": job {id}");
        }
        if let Some(repo) = payload.and_then(|payload| payload.repo.as_deref()) {
            let _infallible = write!(text, " in {}", one_line(repo));
        }
        if let Some(title) = payload.and_then(|payload| payload.title.as_deref()) {
            let _infallible = write!(text, ", \"{}\"", one_line(title));
        }
        if let Some(status) = &self.event.status {
            let _infallible = write!(text, " ({})", one_line(status));
        }
        text
    }

    fn changes_text(&self) -> String {
        let sum = |count: fn(&FileChange) -> usize| self.files.iter().map(count).sum::<usize>();
        let hidden = self.files.len().saturating_sub(MAX_FILES);
        let more = if hidden > 0 {
            format!(", {hidden} of them not shown")
        } else {
            String::new()
        };
        let files = match self.files.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        format!(
            "changes: {files}, +{} -{}{more}",
            sum(|file| file.added),
            sum(|file| file.removed)
        )
    }

    /// The calls and commands that can be used next.
    fn next_steps(&self) -> Vec<String> {
        let Some(id) = &self.event.job_id else {
            return vec!["fix the problem; the monitor retries automatically".to_owned()];
        };
        if self.settled.is_some() {
            return Vec::new();
        }
        let retired = self.job.is_some_and(|job| !job.is_live());
        match self.event.event_kind() {
            Some(EventKind::Question) => vec![format!("answer it: jules_send_message {id}")],
            Some(EventKind::PlanReview) => vec![format!(
                "approve it: jules_approve_plan {id}; or say what should be different: jules_send_message {id}"
            )],
            Some(EventKind::Completed) if retired => Vec::new(),
            Some(EventKind::Completed) if self.pull.is_some() => vec![format!(
                "review it, and merge it when it is right: jules_merge_pr {id}; or say what is missing: jules_send_message {id}"
            )],
            Some(EventKind::Completed) => vec![format!(
                "look at what there is: jules_get_artifacts {id}; when nothing is left to do: phileas agent jobs retire {id}"
            )],
            Some(EventKind::Error) if retired => Vec::new(),
            Some(EventKind::Error) => vec![format!(
                "try it again: jules_request_retry {id}; or give it up: phileas agent jobs retire {id}"
            )],
            Some(EventKind::Stuck) => vec![format!(
                "ask how far it is: jules_send_message {id}; or give it up: jules_cancel_job {id}"
            )],
            None => Vec::new(),
        }
    }
}

/// A text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quote_lines(text: &str) -> Vec<String> {
    let cut = text.char_indices().nth(MAX_QUOTED_CHARS);
    let (shown, dots) = match cut {
        Some((cut, _)) => (&text[..cut], " …"),
        None => (text, ""),
    };
    let mut lines: Vec<String> = shown
        .trim_end()
        .lines()
        .map(|line| format!("> {}", line.trim_end()))
        .collect();
    if let Some(last) = lines.last_mut() {
        last.push_str(dots);
    }
    lines
}

fn of_file(file: &FileChange) -> String {
    let fate = match file.change {
        ChangeKind::Changed => "",
        ChangeKind::Created => " (new)",
        ChangeKind::Deleted => " (deleted)",
    };
    let path = one_line(&file.path);
    if file.binary {
        format!("{path} binary{fate}")
    } else {
        format!("{path} +{} -{}{fate}", file.added, file.removed)
    }
}

fn of_pull(pull: &Pull) -> String {
    let state = match pull.state {
        PullState::Open if pull.draft => "open as a draft",
        PullState::Open => "open",
        PullState::Closed => return "closed without being merged".to_owned(),
        PullState::Merged => return "merged".to_owned(),
    };
    let checks = match pull.checks {
        Checks::None => "no checks",
        Checks::Pending => "checks are running",
        Checks::Passed => "checks are green",
        Checks::Failed => "checks are red",
    };
    let fits = match pull.mergeable {
        Mergeable::Unknown | Mergeable::Yes => "",
        Mergeable::Behind => ", its base has moved on",
        Mergeable::Conflicting => ", it conflicts with its base",
    };
    format!("{state}, {checks}{fits}, head {}", pull.head_oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(line: &str, files: &[FileChange], notes: &[String]) -> String {
        let event = Event::parse(line).unwrap();
        let brief = Brief {
            event: &event,
            job: None,
            files,
            pull: None,
            settled: None,
            notes,
        };
        brief.render_brief()
    }

    #[test]
    fn a_question_reads_as_one() {
        let line = r#"{"event":"question","job_id":"77","status":"AWAITING_USER_FEEDBACK","message":"Tabs\nor spaces?",
            "payload":{"repo":"acme/widget","title":"Tidy"}}"#;
        let text = brief(&line.replace('\n', " "), &[], &[]);
        assert_eq!(
            text,
            "question: job 77 in acme/widget, \"Tidy\" (AWAITING_USER_FEEDBACK)\n  > Tabs\n  > or spaces?\n  next: answer \
             it: jules_send_message 77"
        );
    }

    #[test]
    fn no_agent_is_sent_an_action_that_is_done() {
        let line = r#"{"event":"question","job_id":"77","message":"Tabs?"}"#;
        let event = Event::parse(line).unwrap();
        let brief = Brief {
            event: &event,
            job: None,
            files: &[],
            pull: None,
            settled: Some("it was answered"),
            notes: &[],
        };
        assert_eq!(
            brief.render_brief(),
            "question: job 77\n  > Tabs?\n  settled: it was answered"
        );
    }

    #[test]
    fn a_brief_is_short_however_much_there_is() {
        let files = vec![
            FileChange {
                path: "src/a.rs".to_owned(),
                added: 2,
                ..FileChange::default()
            };
            400
        ];
        let message = "x\n".repeat(50_000);
        let line = serde_json::json!({"event": "completed", "job_id": "77", "message": message});
        let notes = vec!["n".repeat(50_000)];
        let text = brief(&line.to_string(), &files, &notes);
        assert!(text.chars().count() <= MAX_CHARS + 1);
        let text = brief("{\"event\":\"completed\",\"job_id\":\"77\"}", &files, &[]);
        assert!(
            text.contains("changes: 400 files, +800 -0, 385 of them not shown"),
            "{text}"
        );
    }

    #[test]
    fn lines_of_the_first_writer_have_briefs() {
        for line in [
            r#"{"event":"question","job_id":"7","message":{"content":"Which?"}}"#,
            r#"{"event":"stuck","job_id":"7","last_activity":null}"#,
            r#"{"event":"error","job_id":null,"message":"Monitor error: x"}"#,
            r#"{"event":"somethingelse","job_id":"7"}"#,
        ] {
            assert!(!brief(line, &[], &[]).is_empty());
        }
    }
}
