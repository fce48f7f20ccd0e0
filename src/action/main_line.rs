//! Which line of a report the outputs `decision` and `reason` describe.
//!
//! A line about what this run was asked for comes first. Then what was done comes before what waits, and what a person
//! has to see before what only time changes. Refused requests of other people come last. Of equal lines the first one
//! counts.

use phileas_domain::engine::{Line, Reason, RunRequest, Verdict};

use crate::runtime::TickReport;

/// The main line of a report.
#[derive(Debug, Clone, Copy)]
pub enum MainLine<'a> {
    /// This line.
    Line(&'a Line),
    /// The repository has no plan, so the report has no lines.
    NoPlan,
}

impl<'a> MainLine<'a> {
    /// Finds the main line of a report.
    #[must_use]
    pub fn from_report(report: &'a TickReport, ask: &RunRequest) -> Self {
        report
            .all_lines()
            .map(|(_, line)| line)
            .min_by_key(|line| (!is_requested(line, ask), line_weight(line)))
            .map_or(Self::NoPlan, Self::Line)
    }

    /// The value of the output `decision`.
    #[must_use]
    pub fn decision_code(&self) -> &'static str {
        match self {
            Self::Line(line) => line.verdict.as_str(),
            Self::NoPlan => "skipped",
        }
    }

    /// The value of the output `reason`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Line(line) => line.reason.code(),
            Self::NoPlan => "skipped.no_plan",
        }
    }
}

fn is_requested(line: &Line, ask: &RunRequest) -> bool {
    match ask {
        RunRequest::Persona(id) => line.persona.as_ref() == Some(id),
        RunRequest::Track(name) => line.track.as_ref() == Some(name),
        RunRequest::Due | RunRequest::All | RunRequest::Enter(_) => false,
    }
}

/// The rank of a line; the main line has the lowest.
fn line_weight(line: &Line) -> u8 {
    match (line.verdict, line.reason) {
        (Verdict::Dispatched, _) => 0,
        (Verdict::Adopted, _) => 1,
        (Verdict::Imported, _) => 2,
        (Verdict::Advanced, _) => 3,
        (Verdict::Settled, _) => 4,
        (Verdict::Held, _) => 5,
        (Verdict::Paused, _) => 6,
        (Verdict::Refused, _) if line.is_requested => 7,
        (Verdict::Refused, _) => 13,
        _ if line.needs_person() => 8,
        (_, Reason::ReviewBacklog | Reason::JulesUnavailable | Reason::JulesQuota) => 9,
        // Only time has to pass.
        (_, Reason::NotDue | Reason::Unchanged | Reason::Manual | Reason::PersonaUnscheduled) => 12,
        (Verdict::Waiting, _) => 10,
        (Verdict::Skipped, _) => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_line(track: &str, persona: &str, verdict: Verdict, reason: Reason) -> Line {
        Line {
            track: Some(track.into()),
            persona: Some(persona.into()),
            ..Line::about_repository(verdict, reason, "")
        }
    }

    #[test]
    fn the_main_line_is_chosen() {
        let report = |done: Vec<Line>, waiting: Vec<Line>| TickReport {
            done: done
                .into_iter()
                .map(|line| (Default::default(), line))
                .collect(),
            waiting: waiting
                .into_iter()
                .map(|line| (Default::default(), line))
                .collect(),
            ..TickReport::default()
        };
        let waits = || {
            vec![
                sample_line("a", "one", Verdict::Waiting, Reason::NotDue),
                sample_line("b", "two", Verdict::Waiting, Reason::SessionRunning),
                sample_line("c", "three", Verdict::Waiting, Reason::PersonAnswer),
                sample_line("d", "four", Verdict::Skipped, Reason::Manual),
            ]
        };
        let settled = sample_line("a", "one", Verdict::Settled, Reason::PullSettled);
        let started = sample_line("b", "two", Verdict::Dispatched, Reason::DueTrack);
        let said = |report: &TickReport, ask| {
            let main = MainLine::from_report(report, &ask);
            (main.decision_code(), main.reason())
        };
        let both = report(vec![settled, started], waits());
        assert_eq!(said(&both, RunRequest::Due), ("dispatched", "due.track"));
        let asked = RunRequest::Persona("four".into());
        assert_eq!(said(&both, asked), ("skipped", "skipped.manual"));
        let track = RunRequest::Track("c".into());
        assert_eq!(said(&both, track), ("waiting", "waiting.person_answer"));
        let mut idle = report(Vec::new(), waits());
        assert_eq!(
            said(&idle, RunRequest::Due),
            ("waiting", "waiting.person_answer")
        );
        idle.waiting.remove(2);
        assert_eq!(
            said(&idle, RunRequest::Due),
            ("waiting", "waiting.session_running")
        );
        assert_eq!(
            said(&TickReport::default(), RunRequest::Due),
            ("skipped", "skipped.no_plan")
        );
    }
}
