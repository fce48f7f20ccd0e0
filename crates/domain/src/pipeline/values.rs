//! Artifacts as the rest of phileas knows them.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

/// How strong an agent is, from the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Cheap and quick.
    Fast,
    /// The usual one.
    Standard,
    /// The strongest.
    High,
}

/// How hard the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Complexity {
    /// One or two files, nothing new.
    Trivial,
    /// The usual.
    Standard,
    /// Safety, concurrency, new abstractions.
    Complex,
}

/// A stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "snake_case")]
pub enum Stage {
    /// How the work is to be done.
    Plan,
    /// The work.
    Implement,
    /// Whether it works.
    Test,
    /// Why it does not.
    Debug,
    /// Whether it is good.
    Review,
    /// Commit and pull request.
    Git,
}

impl Tier {
    /// As artifacts spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::High => "high",
        }
    }

    /// The tier that an agent's name tells by its end.
    pub(super) fn of_agent(agent: &str) -> Self {
        if agent.ends_with("-fast") {
            Self::Fast
        } else if agent.ends_with("-high") {
            Self::High
        } else {
            Self::Standard
        }
    }
}

impl Stage {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Self; 6] = [
        Self::Plan,
        Self::Implement,
        Self::Test,
        Self::Debug,
        Self::Review,
        Self::Git,
    ];

    /// As artifacts spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a judge decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It was not looked at.
    Skip,
}

/// `plan.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Plan {
    /// Every file that may be touched.
    pub affected_files: Vec<String>,
    /// What is to be done, in order.
    pub steps: Vec<PlanStep>,
    /// Criteria, and the tests that show them.
    pub acceptance_mapping: Map<String, Value>,
    /// How hard the work is.
    pub complexity: Option<Complexity>,
    /// How strong its author was.
    pub tier_used: Option<Tier>,
    /// Its author.
    pub produced_by: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PlanStep {
    /// Its number.
    pub order: u64,
    /// What is to be done.
    pub description: String,
    /// The file that it touches.
    pub file: Option<String>,
    /// Steps that come before it.
    pub depends_on: Option<Vec<u64>>,
}

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerStatus {
    /// It is done.
    Completed,
    /// It cannot be done as planned.
    Blocked,
    /// It needs a stronger agent.
    Escalate,
}

/// A step from a tier to another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Escalation {
    /// The tier that gave up.
    pub from_tier: Tier,
    /// The tier that went on.
    pub to_tier: Tier,
    /// Why.
    pub reason: String,
}

/// `worker-result.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct WorkerResult {
    /// How it ended.
    pub status: WorkerStatus,
    /// The files that were changed.
    pub files_changed: Vec<String>,
    /// What stands in the way.
    pub blockers: Vec<String>,
    /// What was done.
    pub summary: String,
    /// How strong the worker was.
    pub tier_used: Option<Tier>,
    /// The agent.
    pub produced_by: Option<String>,
    /// How the work went up the tiers.
    pub escalation_history: Option<Vec<Escalation>>,
}

/// A check of a tester.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Check {
    /// How it ended.
    pub result: Verdict,
}

/// The second phase of the tests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PhaseTwo {
    /// Its checks.
    pub checks: Option<std::collections::BTreeMap<String, Check>>,
}

/// `test-result.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TestResult {
    /// What the tester says.
    pub verdict: Verdict,
    /// Static checks and unit tests.
    pub phase_1: std::collections::BTreeMap<String, Check>,
    /// Integration tests.
    pub phase_2: Option<PhaseTwo>,
    /// What kind of failure it is: `fix_target` or `plan_defect`.
    pub classification: Option<String>,
    /// Whether the worker can fix it without a diagnosis.
    pub inline_triage: Option<bool>,
    /// How to fix it.
    pub fix_instruction: Option<String>,
    /// How strong the tester was.
    pub tier_used: Option<Tier>,
    /// The agent.
    pub produced_by: Option<String>,
    /// How the work went up the tiers.
    pub escalation_history: Option<Vec<Escalation>>,
}

impl TestResult {
    /// Names of the checks of phase 1 that failed.
    #[must_use]
    pub fn failed_first(&self) -> Vec<&str> {
        let failed = self.phase_1.iter();
        let failed = failed.filter(|(_, check)| check.result == Verdict::Fail);
        failed.map(|(name, _)| name.as_str()).collect()
    }

    /// Names of all checks that failed.
    #[must_use]
    pub fn failed(&self) -> Vec<&str> {
        let second = self
            .phase_2
            .iter()
            .filter_map(|phase| phase.checks.as_ref());
        let second = second.flatten();
        let second = second.filter(|(_, check)| check.result == Verdict::Fail);
        let second = second.map(|(name, _)| name.as_str());
        self.failed_first().into_iter().chain(second).collect()
    }
}

/// What a reviewer found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReviewFinding {
    /// What was found.
    pub description: String,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// How to fix it.
    pub fix: Option<String>,
}

/// `review-result.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReviewResult {
    /// What the reviewer says.
    pub verdict: Verdict,
    /// What is wrong.
    pub blockers: Vec<ReviewFinding>,
    /// What is weak.
    pub concerns: Vec<ReviewFinding>,
    /// What is a matter of style.
    pub nits: Vec<ReviewFinding>,
    /// What the worker is to change.
    pub trim_instructions: Option<String>,
    /// How strong the reviewer was.
    pub tier_used: Option<Tier>,
    /// The agent.
    pub produced_by: Option<String>,
}

/// What a diagnosis leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// The work is to be fixed.
    FixTarget,
    /// The plan is to be fixed.
    PlanDefect,
    /// No agent can go on.
    Escalate,
}

/// Why no agent can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscalationKind {
    /// It is too hard.
    TechnicalComplexity,
    /// What is wanted is not clear.
    AmbiguousRequirement,
}

/// `debug-diagnosis.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Diagnosis {
    /// What failed.
    pub failure_source: String,
    /// Why it failed.
    pub root_cause: String,
    /// What it leads to.
    pub classification: Classification,
    /// Why no agent can go on.
    pub escalation_sub: Option<EscalationKind>,
    /// What the worker is to change.
    pub fix_instructions: Option<String>,
    /// What is to change in the plan.
    pub plan_fix_instructions: Option<String>,
    /// How strong the debugger was.
    pub tier_used: Option<Tier>,
    /// The agent.
    pub produced_by: Option<String>,
}

/// `git-result.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GitResult {
    /// The branch of the work.
    pub branch: String,
    /// Its newest commit.
    pub commit_sha: String,
    /// The message of that commit.
    pub commit_message: String,
    /// The number of the pull request.
    pub pr_number: Option<u64>,
    /// The address of the pull request.
    pub pr_url: Option<String>,
    /// What the checks said.
    pub ci_status: Option<String>,
    /// How strong the agent was.
    pub tier_used: Option<Tier>,
    /// The agent.
    pub produced_by: Option<String>,
}

/// What `state.yaml` says that decides something.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PlannerState {
    /// `in_progress`, `completed`, `failed` or `paused`.
    pub status: String,
    /// How hard the work is.
    pub complexity: Option<Complexity>,
    /// What was tried again.
    pub retries: Option<Vec<Retry>>,
}

/// A stage that was tried again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Retry {
    /// The stage.
    pub stage: String,
    /// How strong the agent was.
    pub tier: Option<Tier>,
}

/// `pipeline-trace.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Trace {
    /// The issue's id.
    pub issue_id: String,
    /// The stages as they ran.
    pub stages: Vec<TraceStage>,
    /// The sum of their durations, in milliseconds.
    pub total_duration_ms: u64,
}

/// A stage that ran.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TraceStage {
    /// The stage.
    pub stage: Stage,
    /// The agent.
    pub agent: String,
    /// When it began.
    pub started_at: jiff::Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// `pass` or `fail`.
    pub result: String,
    /// How exactly it ended.
    pub outcome: Option<Outcome>,
    /// How strong the agent was.
    pub tier: Option<Tier>,
    /// The SHA-256 of what it wrote.
    pub sha256: Option<String>,
}

/// How an attempt at a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// A plan is there.
    Planned,
    /// The work is done; or a pull request is open.
    Completed,
    /// The work cannot be done as planned.
    Blocked,
    /// A stronger agent is needed.
    Escalate,
    /// The judge is content.
    Pass,
    /// The judge is not.
    Fail,
    /// The judge has not looked.
    Skip,
    /// The tests fail, and the tester says how to fix it.
    InlineFix,
    /// The work is to be fixed.
    FixTarget,
    /// The plan is to be fixed.
    PlanDefect,
    /// It is too hard for any agent.
    TechnicalComplexity,
    /// What is wanted is not clear.
    AmbiguousRequirement,
    /// The pull request's checks have not ended.
    CiPending,
    /// The pull request's checks failed.
    CiFailed,
    /// What was written cannot be used. No trace says so.
    #[serde(skip)]
    Unusable,
}

impl Outcome {
    /// As a trace spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether a trace calls it a pass.
    pub(super) fn is_pass(self) -> bool {
        !matches!(
            self,
            Self::Blocked
                | Self::Escalate
                | Self::Fail
                | Self::InlineFix
                | Self::TechnicalComplexity
                | Self::AmbiguousRequirement
                | Self::CiFailed
                | Self::Unusable
        )
    }
}
