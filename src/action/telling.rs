//! Which of a report's lines the outputs `decision` and `reason` are of.
//!
//! The rule: a line about what this run was asked for comes before all others; then what was done comes before what
//! waits, and what a person has to see before what time settles by itself. What was refused to other people comes last.
//! Of equals the first one counts.

use phileas_domain::engine::{Line, Reason, RunRequest, Verdict};

use crate::runtime::TickReport;

/// What a report comes down to.
#[derive(Debug, Clone, Copy)]
pub enum Told<'a> {
    /// This line.
    Line(&'a Line),
    /// The repository has no plan, so there is nothing to say a line about.
    NoPlan,
}

impl<'a> Told<'a> {
    /// The most telling line of a report.
    #[must_use]
    pub fn of(report: &'a TickReport, ask: &RunRequest) -> Self {
        report
            .all()
            .map(|(_, line)| line)
            .min_by_key(|line| (!is_asked_for(line, ask), weight(line)))
            .map_or(Self::NoPlan, Self::Line)
    }

    /// The word of the output `decision`.
    #[must_use]
    pub fn decision(&self) -> &'static str {
        match self {
            Self::Line(line) => line.verdict.as_str(),
            Self::NoPlan => "skipped",
        }
    }

    /// The code of the output `reason`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Line(line) => line.reason.code(),
            Self::NoPlan => "skipped.no_plan",
        }
    }
}

fn is_asked_for(line: &Line, ask: &RunRequest) -> bool {
    match ask {
        RunRequest::Persona(id) => line.persona.as_ref() == Some(id),
        RunRequest::Track(name) => line.track.as_ref() == Some(name),
        RunRequest::Due | RunRequest::All | RunRequest::Enter(_) => false,
    }
}

/// The less, the more telling.
fn weight(line: &Line) -> u8 {
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
        // A person is waited for, or has to mend something.
        (
            _,
            Reason::PersonAnswer
            | Reason::PlanApproval
            | Reason::SessionStuck
            | Reason::PersonaInvalid
            | Reason::PromptInvalid,
        ) => 8,
        (_, Reason::ReviewBacklog | Reason::JulesUnavailable | Reason::JulesQuota) => 9,
        // Nothing but time is waited for.
        (_, Reason::NotDue | Reason::Unchanged | Reason::Manual | Reason::PersonaUnscheduled) => 12,
        (Verdict::Waiting, _) => 10,
        (Verdict::Skipped, _) => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(track: &str, persona: &str, verdict: Verdict, reason: Reason) -> Line {
        Line {
            track: Some(track.into()),
            seq: None,
            slot: None,
            persona: Some(persona.into()),
            verdict,
            reason,
            turn: None,
            session_id: None,
            pr_number: None,
            detail: String::new(),
            until: None,
            is_requested: false,
        }
    }

    #[test]
    fn the_line_that_tells_most_is_chosen() {
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
                line("a", "one", Verdict::Waiting, Reason::NotDue),
                line("b", "two", Verdict::Waiting, Reason::SessionRunning),
                line("c", "three", Verdict::Waiting, Reason::PersonAnswer),
                line("d", "four", Verdict::Skipped, Reason::Manual),
            ]
        };
        let settled = line("a", "one", Verdict::Settled, Reason::PullSettled);
        let started = line("b", "two", Verdict::Dispatched, Reason::DueTrack);
        let said = |report: &TickReport, ask| {
            let told = Told::of(report, &ask);
            (told.decision(), told.reason())
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
