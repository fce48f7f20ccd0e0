//! Collects the broken invariants of a run, each with its place.

use serde::de::DeserializeOwned;

use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part;
use crate::pipeline::run::Run;
use crate::{Diagnostic, Severity};

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenInvariant {
    /// The invariant's name, such as `scope_extra`.
    pub check: &'static str,
    /// What is wrong, where, and how to fix it.
    pub said: Diagnostic,
}

pub(super) struct Checker<'r> {
    pub(super) run: &'r Run,
    pub(super) violations: Vec<BrokenInvariant>,
}

impl Checker<'_> {
    /// Notes what is wrong at a place of an artifact.
    pub(super) fn report(
        &mut self,
        check: &'static str,
        severity: Severity,
        (artifact, path): (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let reading = self.run.reading(artifact);
        let file = reading.map_or(artifact.file_name(), |reading| reading.file.as_str());
        let mut said = match severity {
            Severity::Error => Diagnostic::error(file, message),
            Severity::Warning => Diagnostic::warning(file, message),
        }
        .help(help);
        if let Some(node) = reading.and_then(|reading| reading.nearest_node(path)) {
            said = said.at(node.line, node.column);
        }
        self.violations.push(BrokenInvariant { check, said });
    }

    pub(super) fn report_error(
        &mut self,
        check: &'static str,
        place: (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(check, Severity::Error, place, message, help);
    }

    pub(super) fn report_warning(
        &mut self,
        check: &'static str,
        place: (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(check, Severity::Warning, place, message, help);
    }

    /// What an artifact says. Where it is not there, or not sound, that is noted.
    pub(super) fn read_artifact<T: DeserializeOwned>(
        &mut self,
        artifact: Artifact,
        exists: &'static str,
        valid: &'static str,
    ) -> Option<T> {
        let Some(reading) = self.run.reading(artifact) else {
            let message = format!("{} is missing", artifact.file_name());
            self.report_error(
                exists,
                (artifact, &[]),
                message,
                "run the stage before this check",
            );
            return None;
        };
        let wrong = reading.diagnostics.iter().filter(|one| one.is_error());
        for one in wrong.cloned() {
            // A reader of names knows these from of old.
            let check = match (artifact, one.key.as_str()) {
                (Artifact::Test | Artifact::Debug, "classification") => "classification_valid",
                _ => valid,
            };
            self.violations.push(BrokenInvariant { check, said: one });
        }
        reading.value()
    }

    /// Complex work was done by a weak agent.
    pub(super) fn tier_fits(
        &mut self,
        artifact: Artifact,
        tier: Option<crate::pipeline::values::Tier>,
    ) {
        use crate::pipeline::values::{Complexity, Tier};
        if tier == Some(Tier::Fast) && self.run.complexity() == Some(Complexity::Complex) {
            self.report_error(
                "tier_complex_no_fast",
                (artifact, &[Part::Key("tier_used")]),
                "the plan says that the work is complex, and the tier is fast",
                "let a standard or high agent do it",
            );
        }
    }

    /// Every escalation goes up.
    pub(super) fn tiers_rise(
        &mut self,
        artifact: Artifact,
        history: Option<&[crate::pipeline::values::Escalation]>,
    ) {
        for (index, one) in history.unwrap_or_default().iter().enumerate() {
            if one.from_tier >= one.to_tier {
                self.report_error(
                    "escalation_tier_progression",
                    (
                        artifact,
                        &[Part::Key("escalation_history"), Part::Index(index)],
                    ),
                    format!("it goes from {} to {}", one.from_tier, one.to_tier),
                    "tiers only rise: fast, standard, high",
                );
            }
        }
    }
}
