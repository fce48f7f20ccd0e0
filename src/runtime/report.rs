//! Reports what a tick did, and why it did nothing more.

use jiff::Timestamp;
use phileas_domain::engine::{Effect, Event, Line, Reason, Report, Session, Snapshot, Verdict};
use phileas_domain::model::Oid;

/// What a tick did, and why it did nothing more.
#[derive(Debug, Clone, Default)]
pub struct TickReport {
    /// The lines of what the tick did, in order.
    pub done: Vec<(Timestamp, Line)>,
    /// The lines of what waits, from the last decision.
    pub waiting: Vec<(Timestamp, Line)>,
    /// Diagnostics of the plan, and of the prompts whose turn came.
    pub plan_diagnostics: Vec<phileas_domain::Diagnostic>,
    /// Effects that failed, and sessions that could not be read.
    pub failed: Vec<FailedEffect>,
    /// Sessions that were created, as Jules returned them.
    pub created: Vec<Session>,
    /// Titles of the issues that were opened.
    pub opened: Vec<String>,
    /// Numbers of the issues that were closed.
    pub closed: Vec<u64>,
    /// When to tick again, if no delivery arrives before.
    pub wake_at: Option<Timestamp>,
    /// The ledger's head after the tick.
    pub head: Option<Oid>,
    /// GitHub's time at the end of the tick.
    pub now: Timestamp,
    /// How many commits were made.
    pub commits: usize,
    /// How many races were lost to other processes.
    pub lost_races: usize,
    /// Whether it ended early because of a request to stop.
    pub stopped: bool,
    /// The facts at the end, with the tick's own commits, for programs that show them. `None`:
    /// nothing was read.
    pub seen: Option<Box<Snapshot>>,
}

/// A call that failed during a tick. The tick continued without it; the next one reads the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedEffect {
    /// The short name of an effect, or `read_session`.
    pub what: &'static str,
    /// The subject: `session 77`, `pull request #5`, `issue #7`, or the key of an issue.
    pub about: String,
    /// The reason: one line, free of secrets.
    pub detail: String,
}

/// Whether no later decision of the tick repeats this line, though nothing has changed.
fn is_said_once(line: &Line) -> bool {
    match line.reason {
        // The commit of the same round records the comment as read.
        Reason::CreateRefused | Reason::NotSent | Reason::CommentsMissed => true,
        // True for the create of a turn; the next decision repeats the others.
        Reason::JulesQuota | Reason::JulesCredential => line.turn.is_some(),
        // The track has passed a skipped step by then.
        _ => matches!(line.verdict, Verdict::Refused | Verdict::Skipped),
    }
}

/// Adds the lines of a decision. Of the waiting lines only those of the newest decision stay, and
/// those that are said once.
pub(super) fn record_lines(report: &mut TickReport, at: Timestamp, said: Report) {
    report.waiting.retain(|(_, line)| is_said_once(line));
    for one in said.diagnostics {
        if !report.plan_diagnostics.contains(&one) {
            report.plan_diagnostics.push(one);
        }
    }
    for line in said.lines {
        match line.verdict {
            Verdict::Dispatched
            | Verdict::Adopted
            | Verdict::Advanced
            | Verdict::Settled
            | Verdict::Imported => {
                report.done.push((at, line));
            }
            Verdict::Waiting
            | Verdict::Skipped
            | Verdict::Refused
            | Verdict::Paused
            | Verdict::Held => {
                if !report.waiting.iter().any(|(_, known)| *known == line) {
                    report.waiting.push((at, line));
                }
            }
        }
    }
}

/// Completes the line of a dispatch by its result.
pub(super) fn record_results(report: &mut TickReport, events: &[Event]) {
    for event in events {
        match event {
            Event::SessionCreated {
                marker, session, ..
            } => {
                let said = report
                    .done
                    .iter_mut()
                    .rev()
                    .find(|(_, line)| line.turn.as_ref() == Some(&marker.turn));
                if let Some((_, line)) = said {
                    line.session_id = Some(session.id.clone());
                }
                report.created.push(session.clone());
            }
            // The line announced the session; the next decision says what became of it.
            Event::SessionNotCreated { marker, .. } => {
                let announced = |line: &Line| {
                    line.verdict == Verdict::Dispatched && line.turn.as_ref() == Some(&marker.turn)
                };
                report.done.retain(|(_, line)| !announced(line));
            }
            // These are among the failed effects, with their subjects.
            Event::EffectFailed { .. }
            | Event::EffectRefused { .. }
            | Event::StatusWritten { .. }
            | Event::PullNotified { .. }
            | Event::PullMarkedReady { .. }
            | Event::PullMerged { .. }
            | Event::MergeRefused { .. }
            | Event::MergePostponed { .. }
            | Event::ProposalPublished { .. }
            | Event::WorkItemOpened { .. }
            | Event::WorkItemClosed { .. }
            | Event::LabelAdded { .. }
            | Event::PullClosed { .. }
            | Event::DashboardOpened { .. } => {}
        }
    }
}

/// Records the issues of executed effects. A failure does not name the issue, so after one failure
/// none of that kind is recorded.
pub(super) fn count_issues(report: &mut TickReport, effects: &[Effect], events: &[Event]) {
    let failed = |name: &str| {
        let is_it =
            |event: &Event| matches!(event, Event::EffectFailed { effect, .. } if *effect == name);
        events.iter().any(is_it)
    };
    for effect in effects.iter().filter(|effect| !failed(effect.name())) {
        match effect {
            Effect::OpenNotice { title, .. } => report.opened.push(title.clone()),
            // After a lost race GitHub may still show an issue as open that this tick has closed.
            Effect::CloseNotice { number, .. } if !report.closed.contains(number) => {
                report.closed.push(*number);
            }
            _ => {}
        }
    }
}

impl TickReport {
    /// All lines, those of what was done first.
    pub fn all_lines(&self) -> impl Iterator<Item = &(Timestamp, Line)> {
        self.done.iter().chain(&self.waiting)
    }

    /// The lines that describe the present: what waits, and of what was done the newest of each slot about which nothing
    /// waits. A line about the whole repository hides no other one.
    #[must_use]
    pub fn current_lines(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = Vec::new();
        for (_, line) in self.done.iter().rev() {
            let is_newer = line.track.is_some()
                && lines
                    .iter()
                    .any(|known| known.track == line.track && known.slot == line.slot);
            let mut waiting = self.waiting.iter().map(|(_, other)| other);
            let waits =
                waiting.any(|other| other.track == line.track && other.persona == line.persona);
            if !is_newer && !waits {
                lines.push(line);
            }
        }
        lines.extend(self.waiting.iter().map(|(_, line)| line));
        lines
    }

    /// Adds the sessions that a read of this snapshot missed. Several reads of one tick may miss
    /// the same.
    pub(super) fn warn_missed_comments(&mut self, seen: &Snapshot) {
        for (session, outage) in &seen.unread {
            let failed = FailedEffect {
                what: "read_session",
                about: format!("session {session}"),
                detail: outage.detail.clone(),
            };
            if !self.failed.contains(&failed) {
                self.failed.push(failed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(verdict: Verdict, reason: Reason) -> Line {
        Line {
            track: Some("default".into()),
            ..Line::about_repository(verdict, reason, "")
        }
    }

    #[test]
    fn what_is_said_once_outlives_the_rounds_of_a_tick() {
        let at: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        let first = [
            line(Verdict::Refused, Reason::PromptInvalid),
            line(Verdict::Skipped, Reason::SlotsMissed),
            line(Verdict::Held, Reason::CreateRefused),
            line(Verdict::Waiting, Reason::NextCommit),
            line(Verdict::Refused, Reason::Unknown),
        ];
        let second = [
            line(Verdict::Waiting, Reason::RetryPause),
            line(Verdict::Refused, Reason::Unknown),
        ];
        let mut report = TickReport::default();
        for lines in [first.to_vec(), second.to_vec()] {
            let said = Report {
                lines,
                ..Report::default()
            };
            record_lines(&mut report, at, said);
        }
        let reasons: Vec<_> = report.waiting.iter().map(|(_, line)| line.reason).collect();
        let expected = [
            Reason::PromptInvalid,
            Reason::SlotsMissed,
            Reason::CreateRefused,
            Reason::Unknown,
            Reason::RetryPause,
        ];
        assert_eq!(reasons, expected);
    }
}
