//! Invariants of a run: what must hold between its artifacts, each by its name.

mod checker;
mod debug;
mod git;
mod implement;
mod plan;
mod review;
mod test;
mod trace;

pub use checker::BrokenInvariant;

use super::run::Run;
use super::values::Stage;
use checker::Checker;

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

/// Every invariant of a stage that does not hold.
///
/// `changed`: paths that differ from where the branch began, committed or not; only `implement` asks for them.
#[must_use]
pub fn check_stage(
    run: &Run,
    stage: CheckStage,
    changed: Option<&[String]>,
) -> Vec<BrokenInvariant> {
    let mut checker = Checker {
        run,
        violations: Vec::new(),
    };
    match stage {
        CheckStage::Of(Stage::Plan) => plan::check_plan(&mut checker),
        CheckStage::Of(Stage::Implement) => implement::check_implement(&mut checker, changed),
        CheckStage::Of(Stage::Test) => test::check_test(&mut checker),
        CheckStage::Of(Stage::Debug) => debug::check_debug(&mut checker),
        CheckStage::Of(Stage::Review) => review::check_review(&mut checker),
        CheckStage::Of(Stage::Git) => git::check_git(&mut checker),
        CheckStage::Trace => trace::check_trace(&mut checker),
    }
    checker.violations
}
