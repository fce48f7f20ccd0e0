//! Invariants of a run: what must hold between its artifacts, each by its name.

mod checker;
mod debug;
mod git;
mod implement;
mod plan;
mod review;
mod test;
mod trace;

pub use checker::Broken;

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
