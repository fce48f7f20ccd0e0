//! The rules by which a run goes on.

/// Why a run goes on as it does. Codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Rule {
    /// There is no plan.
    PlanMissing,
    /// Trivial work needs no plan.
    PlanSkipped,
    /// There is a plan.
    PlanReady,
    /// The work is done.
    WorkerCompleted,
    /// The worker cannot go on with this plan.
    WorkerBlocked,
    /// The worker asks for a stronger one.
    TierEscalate,
    /// The worker asks for a stronger one, and there is none.
    TierNoneAbove,
    /// The tests pass.
    TestsPassed,
    /// The tests were skipped.
    TestsSkipped,
    /// The tests fail.
    TestsFailed,
    /// The tests fail, and the tester says how to fix it.
    TestsInlineTriage,
    /// The tests of trivial work fail, and trivial work has no debugger.
    TestsTrivial,
    /// The work must be fixed.
    DiagnosisFixTarget,
    /// The plan must be revised.
    DiagnosisPlanDefect,
    /// It is too hard for an agent.
    DiagnosisTechnicalComplexity,
    /// What is wanted is not clear.
    DiagnosisAmbiguousRequirement,
    /// The reviewer is content.
    ReviewPassed,
    /// The review was skipped.
    ReviewSkipped,
    /// The reviewer is not content.
    ReviewFailed,
    /// All is done.
    GitDone,
    /// The pull request's checks have not ended.
    GitCiPending,
    /// The pull request's checks failed.
    GitCiFailed,
    /// What a stage wrote cannot be used.
    ArtifactInvalid,
    /// A tier's retries are used up, and there is a higher one.
    RetriesNextTier,
    /// The retries of the highest tier are used up.
    RetriesExhausted,
    /// The planner has given the run up.
    StateFailed,
}

impl Rule {
    /// Its stable name.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::PlanMissing => "plan.missing",
            Self::PlanSkipped => "plan.skipped",
            Self::PlanReady => "plan.ready",
            Self::WorkerCompleted => "worker.completed",
            Self::WorkerBlocked => "worker.blocked",
            Self::TierEscalate => "tier.escalate",
            Self::TierNoneAbove => "tier.none_above",
            Self::TestsPassed => "tests.passed",
            Self::TestsSkipped => "tests.skipped",
            Self::TestsFailed => "tests.failed",
            Self::TestsInlineTriage => "tests.inline_triage",
            Self::TestsTrivial => "tests.trivial",
            Self::DiagnosisFixTarget => "diagnosis.fix_target",
            Self::DiagnosisPlanDefect => "diagnosis.plan_defect",
            Self::DiagnosisTechnicalComplexity => "diagnosis.technical_complexity",
            Self::DiagnosisAmbiguousRequirement => "diagnosis.ambiguous_requirement",
            Self::ReviewPassed => "review.passed",
            Self::ReviewSkipped => "review.skipped",
            Self::ReviewFailed => "review.failed",
            Self::GitDone => "git.done",
            Self::GitCiPending => "git.ci_pending",
            Self::GitCiFailed => "git.ci_failed",
            Self::ArtifactInvalid => "artifact.invalid",
            Self::RetriesNextTier => "retries.next_tier",
            Self::RetriesExhausted => "retries.exhausted",
            Self::StateFailed => "state.failed",
        }
    }

    /// What it says, for people.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::PlanMissing => "there is no plan yet",
            Self::PlanSkipped => "trivial work needs no plan",
            Self::PlanReady => "there is a plan to work by",
            Self::WorkerCompleted => "the work is done and not tested",
            Self::WorkerBlocked => "the worker is blocked, so the plan is adjusted",
            Self::TierEscalate => "the worker asks for a stronger one, which is not a retry",
            Self::TierNoneAbove => "the strongest worker asks for a stronger one",
            Self::TestsPassed => "the tests pass",
            Self::TestsSkipped => "the tests were skipped",
            Self::TestsFailed => "the tests fail for an unknown reason",
            Self::TestsInlineTriage => "the tests fail, and the tester says how to fix it",
            Self::TestsTrivial => "the tests fail, and trivial work is fixed without a diagnosis",
            Self::DiagnosisFixTarget => "the diagnosis says how to fix the work",
            Self::DiagnosisPlanDefect => "the plan is at fault; it is revised, not rewritten",
            Self::DiagnosisTechnicalComplexity => {
                "the diagnosis says that it is too hard for an agent"
            }
            Self::DiagnosisAmbiguousRequirement => "the diagnosis says that the goal is unclear",
            Self::ReviewPassed => "the reviewer is content",
            Self::ReviewSkipped => "the review was skipped",
            Self::ReviewFailed => "the reviewer asks for changes",
            Self::GitDone => "the pull request is open; the run can be archived",
            Self::GitCiPending => "the pull request's checks have not ended",
            Self::GitCiFailed => "the pull request's checks failed",
            Self::ArtifactInvalid => "what the stage wrote cannot be used",
            Self::RetriesNextTier => {
                "the retries of this tier are used up, so the next one takes over"
            }
            Self::RetriesExhausted => "the retries of the highest tier are used up",
            Self::StateFailed => "the planner has given the run up",
        }
    }
}
