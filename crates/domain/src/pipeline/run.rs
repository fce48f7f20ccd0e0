//! A run: the files of one issue, and the attempts that they and the trace tell of.

use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::artifact::Artifact;
use super::issue::IssueId;
use super::outcome::stage_outcome;
use super::read::{Reading, read_artifact};
use super::settings::Settings;
use super::values::{
    Complexity, Diagnosis, Outcome, Plan, PlannerState, Stage, Tier, Trace, TraceStage,
};

/// A file of a run's folder, as it lies on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its name.
    pub name: String,
    /// What it says: text, unless something else was written there.
    pub bytes: Vec<u8>,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its issue.
    pub issue: IssueId,
    /// What its repository asks of it.
    pub settings: Settings,
    files: Vec<Read>,
}

#[derive(Debug, Clone, PartialEq)]
struct Read {
    reading: Reading,
    sha256: String,
    /// Its place among the names of its kind.
    rank: usize,
}

/// An attempt at a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The stage.
    pub stage: Stage,
    /// How strong the agent was.
    pub tier: Tier,
    /// How it ended.
    pub outcome: Outcome,
}

impl Run {
    /// Reads the files of a run. Those that are no artifacts are left alone.
    #[must_use]
    pub fn read_run(issue: IssueId, files: &[RunFile], settings: Settings) -> Self {
        let one = |file: &RunFile| {
            let artifact = Artifact::from_path(&file.name).ok()?;
            let rank = artifact.names().iter().position(|name| *name == file.name);
            Some(Read {
                reading: read_artifact(artifact, &file.name, &file.bytes, &settings),
                sha256: hex_sha256(&file.bytes),
                rank: rank.unwrap_or_default(),
            })
        };
        let mut files: Vec<Read> = files.iter().filter_map(one).collect();
        files.sort_by_key(|file| (file.reading.artifact, file.rank));
        Self {
            issue,
            settings,
            files,
        }
    }

    /// Everything that was read, in the order of the pipeline.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.files.iter().map(|file| &file.reading)
    }

    /// The newest file of a kind, by its name.
    #[must_use]
    pub fn reading(&self, artifact: Artifact) -> Option<&Reading> {
        self.readings()
            .filter(|one| one.artifact == artifact)
            .last()
    }

    /// What the newest file of a kind says, as one of [`values`](super::values); `None` where there is none, or it is not
    /// sound.
    #[must_use]
    pub fn value<T: DeserializeOwned>(&self, artifact: Artifact) -> Option<T> {
        self.reading(artifact)?.value()
    }

    /// How hard the work is, where the plan or the planner says so.
    #[must_use]
    pub fn complexity(&self) -> Option<Complexity> {
        let plan: Option<Plan> = self.value(Artifact::Plan);
        let state = || self.value::<PlannerState>(Artifact::State);
        plan.and_then(|plan| plan.complexity)
            .or_else(|| state().and_then(|state| state.complexity))
    }

    /// The trace, where there is a sound one.
    pub(super) fn run_trace(&self) -> Option<Trace> {
        self.value(Artifact::Trace)
    }

    /// Every attempt in its order: first those of the trace, then what was written beside it.
    ///
    /// The times of the files do not count: a clone or a copy of a run has none of its own.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        let traced = self
            .run_trace()
            .map(|trace| trace.stages)
            .unwrap_or_default();
        let mut attempts: Vec<Attempt> = Vec::new();
        for (index, entry) in traced.iter().enumerate() {
            let last = !traced[index + 1..]
                .iter()
                .any(|one| one.stage == entry.stage);
            attempts.push(self.recorded_attempt(entry, last));
        }
        let mut beside: Vec<(&Read, Stage)> = self
            .files
            .iter()
            .filter_map(|file| Some((file, file.reading.artifact.stage()?)))
            .filter(|(file, stage)| !is_traced(&traced, *stage, &file.sha256))
            .collect();
        let stages: Vec<Stage> = beside.iter().map(|(_, stage)| *stage).collect();
        let stopped = self.stopped_at(&stages);
        beside.sort_by_key(|(file, stage)| (self.stage_place(*stage, &stages, stopped), file.rank));
        for (file, stage) in beside {
            attempts.push(Attempt {
                stage,
                tier: self.tier_of(&file.reading, stage),
                outcome: stage_outcome(&file.reading),
            });
        }
        attempts
    }

    fn recorded_attempt(&self, entry: &TraceStage, last: bool) -> Attempt {
        // A trace of others says no more than pass or fail; what the last attempt wrote is still there.
        let file = || self.reading(Artifact::of(entry.stage)).map(stage_outcome);
        let said = || match (entry.stage, entry.result == "pass") {
            (Stage::Plan, _) => Outcome::Planned,
            (Stage::Implement, true) | (Stage::Git, true) => Outcome::Completed,
            (Stage::Implement, false) => Outcome::Blocked,
            (Stage::Test | Stage::Review, true) => Outcome::Pass,
            (Stage::Test | Stage::Review, false) => Outcome::Fail,
            (Stage::Debug, true) => Outcome::FixTarget,
            (Stage::Debug, false) => Outcome::TechnicalComplexity,
            (Stage::Git, false) => Outcome::CiFailed,
        };
        let known = entry.outcome;
        Attempt {
            stage: entry.stage,
            tier: entry.tier.unwrap_or_else(|| Tier::of_agent(&entry.agent)),
            outcome: known
                .or_else(|| file().filter(|_| last))
                .unwrap_or_else(said),
        }
    }

    /// The first of these stages whose newest file does not send the run on to the next stage. Files of later stages are
    /// of an earlier round: each of them is written only after the stage before it has passed.
    fn stopped_at(&self, stages: &[Stage]) -> Option<Stage> {
        let line = [Stage::Plan, Stage::Implement, Stage::Test, Stage::Review];
        line.into_iter().find(|stage| {
            stages.contains(stage)
                && !self.outcome_of(*stage).is_some_and(|outcome| {
                    matches!(
                        outcome,
                        Outcome::Planned | Outcome::Completed | Outcome::Pass | Outcome::Skip
                    )
                })
        })
    }

    /// How the newest file of a stage says that it ended.
    fn outcome_of(&self, stage: Stage) -> Option<Outcome> {
        self.reading(Artifact::of(stage)).map(stage_outcome)
    }

    /// Where a stage stands among the files of these stages, which no trace tells of: by the order of the pipeline, and by
    /// what the files say. `stopped`: see [`Self::stopped_at`].
    fn stage_place(&self, stage: Stage, stages: &[Stage], stopped: Option<Stage>) -> (bool, usize) {
        let place = match stage {
            Stage::Plan => 0,
            Stage::Implement => 1,
            Stage::Debug => 2,
            Stage::Test => 3,
            Stage::Review => 5,
            Stage::Git => 7,
        };
        if stage != Stage::Debug {
            return (stopped.is_none_or(|last| stage <= last), place);
        }
        match self.diagnosed_stage() {
            Some(Stage::Test) if stages.contains(&Stage::Test) => (stopped == Some(Stage::Test), 4),
            Some(Stage::Git) if stages.contains(&Stage::Git) => (stopped.is_none(), 8),
            // The trace tells of the failure: what lies beside it came of the diagnosis.
            Some(_) => (false, place),
            // What it explains has passed since: it led there.
            None => {
                let is_last = self.reading(Artifact::Test).is_none() && stopped.is_none();
                (is_last, place)
            }
        }
    }

    /// The stage whose failure the diagnosis explains, where that stage still says that it failed.
    fn diagnosed_stage(&self) -> Option<Stage> {
        if self.outcome_of(Stage::Test) == Some(Outcome::Fail) {
            return Some(Stage::Test);
        }
        let diagnosis: Diagnosis = self.value(Artifact::Debug)?;
        let source = diagnosis.failure_source.to_ascii_lowercase();
        let mut words = source.split(|c: char| !c.is_ascii_alphanumeric());
        let is_of_ci = words.any(|word| matches!(word, "ci" | "git" | "checks"));
        let failed = self.outcome_of(Stage::Git) == Some(Outcome::CiFailed);
        (is_of_ci && failed).then_some(Stage::Git)
    }

    fn tier_of(&self, reading: &Reading, stage: Stage) -> Tier {
        #[derive(serde::Deserialize)]
        struct Made {
            tier_used: Option<Tier>,
            produced_by: Option<String>,
        }
        let made: Option<Made> = reading.value();
        let said = made.as_ref().and_then(|made| made.tier_used);
        let named = || {
            let agent = made.as_ref()?.produced_by.as_deref()?;
            Some(Tier::of_agent(agent)).filter(|tier| *tier != Tier::Standard)
        };
        let file = || reading.file.contains("-fast.").then_some(Tier::Fast);
        said.or_else(named)
            .or_else(file)
            .unwrap_or_else(|| super::tiers::first_tier(stage, self.complexity()))
    }
}

/// Whether a trace tells of this file.
fn is_traced(traced: &[TraceStage], stage: Stage, sha256: &str) -> bool {
    let mut of_stage = traced.iter().filter(|entry| entry.stage == stage);
    match of_stage.next_back() {
        None => false,
        Some(last) => {
            last.sha256.as_deref().is_none_or(|known| known == sha256)
                || of_stage.any(|entry| entry.sha256.as_deref() == Some(sha256))
        }
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn hex_sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
