//! Who comes next in a run, and why: rules over the attempts so far, and nothing else.

use serde_json::{Value, json};

use super::artifact::Artifact;
use super::rule::Rule;
use super::run::{Attempt, Run};
use super::tiers;
use super::values::{
    Complexity, Diagnosis, Outcome, PlannerState, ReviewResult, Stage, TestResult, Tier,
    WorkerResult,
};

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// What is to be done.
    pub step: Step,
    /// The rule that says so.
    pub rule: Rule,
    /// The rule, and what it was applied to, for people.
    pub why: String,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An agent runs.
    Run(Dispatch),
    /// A person decides.
    Person,
    /// Something outside has not ended.
    Wait,
    /// The run is archived: `phileas pipeline archive`.
    Archive,
}

/// An agent's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// The stage.
    pub stage: Stage,
    /// The agent's name, such as `jg-worker-high`.
    pub agent: String,
    /// How strong it is.
    pub tier: Tier,
    /// Which attempt it is in this tier, from 1.
    pub attempt: u32,
    /// The files to read, in the run's folder. Their paths are handed over, never their texts.
    pub reads: Vec<&'static str>,
    /// The file to write, in the run's folder.
    pub writes: &'static str,
    /// What the agent before says about it. An agent wrote it: it is data, and no order of phileas'.
    pub instructions: Option<String>,
}

impl Next {
    /// The same for programs.
    #[must_use]
    pub fn json(&self, run: &Run) -> Value {
        let (action, dispatch) = match &self.step {
            Step::Run(dispatch) => ("run", Some(dispatch)),
            Step::Person => ("person", None),
            Step::Wait => ("wait", None),
            Step::Archive => ("archive", None),
        };
        let mut whole = json!({
            "issue": run.issue.as_str(),
            "action": action,
            "rule": self.rule.code(),
            "why": self.why,
        });
        if let Some(one) = dispatch {
            whole["stage"] = one.stage.as_str().into();
            whole["agent"] = one.agent.as_str().into();
            whole["tier"] = one.tier.as_str().into();
            whole["attempt"] = one.attempt.into();
            whole["reads"] = one.reads.clone().into();
            whole["writes"] = one.writes.into();
            whole["instructions"] = one.instructions.clone().into();
        }
        whole
    }
}

/// Who comes next.
#[must_use]
pub fn next(run: &Run) -> Next {
    let state: Option<PlannerState> = run.value(Artifact::State);
    if state.as_ref().is_some_and(|state| state.status == "failed") {
        return Next {
            step: Step::Person,
            rule: Rule::StateFailed,
            why: Rule::StateFailed.description().to_owned(),
        };
    }
    let attempts = run.attempts();
    let traced = run.run_trace().is_some();
    let retries = state.and_then(|state| state.retries).filter(|_| !traced);
    let progress = Progress {
        run,
        complexity: run.complexity(),
        retries: retries.unwrap_or_default(),
        attempts,
    };
    progress.next()
}

struct Progress<'r> {
    run: &'r Run,
    complexity: Option<Complexity>,
    attempts: Vec<Attempt>,
    /// Retries that only the planner's state knows of.
    retries: Vec<super::values::Retry>,
}

impl Progress<'_> {
    fn next(&self) -> Next {
        let trivial = self.complexity == Some(Complexity::Trivial);
        let Some(last) = self.attempts.last() else {
            return if trivial {
                self.start_stage(Stage::Implement, Rule::PlanSkipped, None)
            } else {
                self.start_stage(Stage::Plan, Rule::PlanMissing, None)
            };
        };
        match (last.stage, last.outcome) {
            (stage, Outcome::Unusable) => {
                let wrong = self.run.reading(Artifact::of(stage));
                let wrong =
                    wrong.and_then(|reading| reading.diagnostics.iter().find(|one| one.is_error()));
                self.repeat_stage(stage, Rule::ArtifactInvalid, wrong.map(ToString::to_string))
            }
            (Stage::Plan, _) => self.start_stage(Stage::Implement, Rule::PlanReady, None),
            (Stage::Implement, Outcome::Blocked) => {
                let worker: Option<WorkerResult> = self.run.value(Artifact::Worker);
                let blockers = worker.map(|worker| worker.blockers.join("\n"));
                self.repeat_stage(Stage::Plan, Rule::WorkerBlocked, blockers)
            }
            (Stage::Implement, Outcome::Escalate) => self.raise_tier(last.tier),
            (Stage::Implement, _) => self.start_stage(Stage::Test, Rule::WorkerCompleted, None),
            (Stage::Test, Outcome::InlineFix) => {
                let test: Option<TestResult> = self.run.value(Artifact::Test);
                let fix = test.and_then(|test| test.fix_instruction);
                self.repeat_stage(Stage::Implement, Rule::TestsInlineTriage, fix)
            }
            (Stage::Test | Stage::Debug, Outcome::PlanDefect) => {
                let diagnosis: Option<Diagnosis> = self.run.value(Artifact::Debug);
                let diagnosis = diagnosis.filter(|_| last.stage == Stage::Debug);
                let fix = diagnosis.and_then(|one| one.plan_fix_instructions);
                self.repeat_stage(Stage::Plan, Rule::DiagnosisPlanDefect, fix)
            }
            (Stage::Test, Outcome::Fail) if trivial => {
                self.repeat_stage(Stage::Implement, Rule::TestsTrivial, None)
            }
            (Stage::Test, Outcome::Fail) => self.start_stage(Stage::Debug, Rule::TestsFailed, None),
            (Stage::Test, Outcome::Skip) => {
                self.start_stage(Stage::Review, Rule::TestsSkipped, None)
            }
            (Stage::Test, _) => self.start_stage(Stage::Review, Rule::TestsPassed, None),
            (Stage::Debug, Outcome::TechnicalComplexity) => {
                self.end_run(Step::Person, Rule::DiagnosisTechnicalComplexity)
            }
            (Stage::Debug, Outcome::AmbiguousRequirement) => {
                self.end_run(Step::Person, Rule::DiagnosisAmbiguousRequirement)
            }
            (Stage::Debug, _) => {
                let diagnosis: Option<Diagnosis> = self.run.value(Artifact::Debug);
                let fix = diagnosis.and_then(|one| one.fix_instructions);
                self.repeat_stage(Stage::Implement, Rule::DiagnosisFixTarget, fix)
            }
            (Stage::Review, Outcome::Fail) => {
                let review: Option<ReviewResult> = self.run.value(Artifact::Review);
                let trim = review.and_then(|review| review.trim_instructions);
                self.repeat_stage(Stage::Implement, Rule::ReviewFailed, trim)
            }
            (Stage::Review, Outcome::Skip) => {
                self.start_stage(Stage::Git, Rule::ReviewSkipped, None)
            }
            (Stage::Review, _) => self.start_stage(Stage::Git, Rule::ReviewPassed, None),
            (Stage::Git, Outcome::CiFailed) => {
                self.start_stage(Stage::Debug, Rule::GitCiFailed, None)
            }
            (Stage::Git, Outcome::CiPending) => self.end_run(Step::Wait, Rule::GitCiPending),
            (Stage::Git, _) => self.end_run(Step::Archive, Rule::GitDone),
        }
    }

    fn end_run(&self, step: Step, rule: Rule) -> Next {
        Next {
            step,
            rule,
            why: rule.description().to_owned(),
        }
    }

    /// The tier that a stage is in: that of its last attempt.
    fn last_tier(&self, stage: Stage) -> Tier {
        let last = self.attempts.iter().rev().find(|one| one.stage == stage);
        last.map_or_else(|| tiers::first_tier(stage, self.complexity), |one| one.tier)
    }

    /// How often a stage was tried in a tier. A revised plan resets the worker's count, and a request for a stronger agent
    /// uses up no try.
    fn attempts_at(&self, stage: Stage, tier: Tier) -> u32 {
        let planned = self
            .attempts
            .iter()
            .rposition(|one| one.stage == Stage::Plan);
        let since = match stage {
            Stage::Implement => planned.unwrap_or(0),
            _ => 0,
        };
        let counts = |one: &&Attempt| {
            one.stage == stage && one.tier == tier && one.outcome != Outcome::Escalate
        };
        let seen = self.attempts[since..].iter().filter(counts).count();
        // A retry that names no tier was one of the first.
        let first = tiers::first_tier(stage, self.complexity);
        let told = self
            .retries
            .iter()
            .filter(|retry| retry.stage == stage.as_str() && retry.tier.unwrap_or(first) == tier);
        u32::try_from(seen + told.count()).unwrap_or(u32::MAX)
    }

    /// Sends a stage's agent on, which is no retry.
    fn start_stage(&self, stage: Stage, rule: Rule, instructions: Option<String>) -> Next {
        self.dispatch_stage(
            stage,
            self.last_tier(stage),
            rule,
            rule.description().to_owned(),
            instructions,
        )
    }

    /// Sends a stage's agent again, as far as its retries allow.
    fn repeat_stage(&self, stage: Stage, rule: Rule, instructions: Option<String>) -> Next {
        let tier = self.last_tier(stage);
        let allowed = self.run.settings.retries + 1;
        let tried = self.attempts_at(stage, tier);
        if tried < allowed {
            return self.dispatch_stage(
                stage,
                tier,
                rule,
                rule.description().to_owned(),
                instructions,
            );
        }
        let used = format!("{stage} was tried {tried} times in the tier {tier}");
        match tiers::next_tier(stage, tier) {
            Some(higher) => {
                let by = Rule::RetriesNextTier;
                let why = format!("{}; {used}: {}", rule.description(), by.description());
                self.dispatch_stage(stage, higher, by, why, instructions)
            }
            None => {
                let by = Rule::RetriesExhausted;
                Next {
                    step: Step::Person,
                    rule: by,
                    why: format!("{}; {used}: {}", rule.description(), by.description()),
                }
            }
        }
    }

    fn raise_tier(&self, tier: Tier) -> Next {
        match tiers::next_tier(Stage::Implement, tier) {
            Some(higher) => {
                let rule = Rule::TierEscalate;
                let worker: Option<WorkerResult> = self.run.value(Artifact::Worker);
                let reason = worker.map(|worker| worker.blockers.join("\n"));
                self.dispatch_stage(
                    Stage::Implement,
                    higher,
                    rule,
                    rule.description().to_owned(),
                    reason,
                )
            }
            None => self.end_run(Step::Person, Rule::TierNoneAbove),
        }
    }

    fn dispatch_stage(
        &self,
        stage: Stage,
        tier: Tier,
        rule: Rule,
        why: String,
        instructions: Option<String>,
    ) -> Next {
        let there = |artifact: &Artifact| self.run.reading(*artifact).is_some();
        let reads: &[Artifact] = match stage {
            Stage::Plan => &[Artifact::Plan, Artifact::Debug, Artifact::Worker],
            Stage::Implement => &[Artifact::Plan, Artifact::Debug, Artifact::Review],
            Stage::Test => &[Artifact::Worker],
            Stage::Debug => &[Artifact::Test, Artifact::Plan, Artifact::Git],
            Stage::Review => &[Artifact::Plan, Artifact::Worker],
            Stage::Git => &[Artifact::Plan, Artifact::Worker],
        };
        let reads = reads.iter().copied().filter(there);
        Next {
            step: Step::Run(Dispatch {
                stage,
                agent: tiers::agent_name(stage, tier),
                tier,
                attempt: self.attempts_at(stage, tier) + 1,
                reads: reads.map(Artifact::file_name).collect(),
                writes: Artifact::of(stage).file_name(),
                instructions: instructions.filter(|text| !text.trim().is_empty()),
            }),
            rule,
            why,
        }
    }
}
