//! Invariants of a run: what must hold between its artifacts, each by its name.

mod debug;
mod git;
mod implement;
mod plan;
mod review;
mod test;
mod trace;

use serde::de::DeserializeOwned;

use super::artifact::Artifact;
use super::read::Part;
use super::run::Run;
use super::values::Stage;
use crate::{Diagnostic, Severity};

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStage {
    /// What a stage wrote.
    Of(Stage),
    /// The trace of the whole.
    Trace,
}

impl CheckStage {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Self; 7] = [
        Self::Of(Stage::Plan),
        Self::Of(Stage::Implement),
        Self::Of(Stage::Test),
        Self::Of(Stage::Debug),
        Self::Of(Stage::Review),
        Self::Of(Stage::Git),
        Self::Trace,
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Of(stage) => stage.as_str(),
            Self::Trace => "trace",
        }
    }
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The invariant's name, such as `scope_extra`.
    pub check: &'static str,
    /// What is wrong, where, and how to mend it.
    pub said: Diagnostic,
}

/// Every invariant of a stage that does not hold.
///
/// `changed`: paths that differ from where the branch began, committed or not; only `implement` asks for them.
#[must_use]
pub fn check(run: &Run, stage: CheckStage, changed: Option<&[String]>) -> Vec<Broken> {
    let mut checker = Checker {
        run,
        found: Vec::new(),
    };
    match stage {
        CheckStage::Of(Stage::Plan) => plan::check(&mut checker),
        CheckStage::Of(Stage::Implement) => implement::check(&mut checker, changed),
        CheckStage::Of(Stage::Test) => test::check(&mut checker),
        CheckStage::Of(Stage::Debug) => debug::check(&mut checker),
        CheckStage::Of(Stage::Review) => review::check(&mut checker),
        CheckStage::Of(Stage::Git) => git::check(&mut checker),
        CheckStage::Trace => trace::check(&mut checker),
    }
    checker.found
}

struct Checker<'r> {
    run: &'r Run,
    found: Vec<Broken>,
}

impl Checker<'_> {
    /// Notes what is wrong at a place of an artifact.
    fn say(
        &mut self,
        check: &'static str,
        severity: Severity,
        (artifact, path): (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        mend: impl Into<String>,
    ) {
        let reading = self.run.reading(artifact);
        let file = reading.map_or(artifact.file_name(), |reading| reading.file.as_str());
        let mut said = match severity {
            Severity::Error => Diagnostic::error(file, message),
            Severity::Warning => Diagnostic::warning(file, message),
        }
        .mend(mend);
        if let Some(node) = reading.and_then(|reading| reading.nearest(path)) {
            said = said.at(node.line, node.column);
        }
        self.found.push(Broken { check, said });
    }

    fn error(
        &mut self,
        check: &'static str,
        place: (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.say(check, Severity::Error, place, message, mend);
    }

    fn warning(
        &mut self,
        check: &'static str,
        place: (Artifact, &[Part<'_>]),
        message: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.say(check, Severity::Warning, place, message, mend);
    }

    /// What an artifact says. Where it is not there, or not sound, that is noted.
    fn artifact<T: DeserializeOwned>(
        &mut self,
        artifact: Artifact,
        exists: &'static str,
        valid: &'static str,
    ) -> Option<T> {
        let Some(reading) = self.run.reading(artifact) else {
            let message = format!("{} is missing", artifact.file_name());
            self.error(
                exists,
                (artifact, &[]),
                message,
                "run the stage before this check",
            );
            return None;
        };
        let wrong = reading.found.iter().filter(|one| one.is_error());
        for one in wrong.cloned() {
            // A reader of names knows these from of old.
            let check = match (artifact, one.key.as_str()) {
                (Artifact::Test | Artifact::Debug, "classification") => "classification_valid",
                _ => valid,
            };
            self.found.push(Broken { check, said: one });
        }
        reading.value()
    }

    /// Complex work was done by a weak agent.
    fn tier_fits(&mut self, artifact: Artifact, tier: Option<super::values::Tier>) {
        use super::values::{Complexity, Tier};
        if tier == Some(Tier::Fast) && self.run.complexity() == Some(Complexity::Complex) {
            self.error(
                "tier_complex_no_fast",
                (artifact, &[Part::Key("tier_used")]),
                "the plan says that the work is complex, and the tier is fast",
                "let a standard or high agent do it",
            );
        }
    }

    /// Every escalation goes up.
    fn tiers_rise(&mut self, artifact: Artifact, history: Option<&[super::values::Escalation]>) {
        for (index, one) in history.unwrap_or_default().iter().enumerate() {
            if one.from_tier >= one.to_tier {
                self.error(
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
