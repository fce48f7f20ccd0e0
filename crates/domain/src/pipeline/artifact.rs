//! The nine kinds of files of a run.

use serde_json::Value;

use super::shapes;
use super::values::Stage;
use crate::exchange::schema;
use crate::exchange::shape::Kind;
use crate::plan::suggest::closest;

/// What a file of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Artifact {
    /// `plan.json`: how the work is to be done.
    Plan,
    /// `worker-result.json`: what was implemented.
    Worker,
    /// `test-result.json`: what the tests said.
    Test,
    /// `debug-diagnosis.json`: why it failed.
    Debug,
    /// `review-result.json`: what the reviewer found.
    Review,
    /// `git-result.json`: what was committed and proposed.
    Git,
    /// `state.yaml`: what the planner keeps of the run.
    State,
    /// `pipeline-trace.json`: what the run has gone through.
    Trace,
    /// `lessons.yaml`, beside the runs: what went wrong before.
    Lessons,
}

/// A name that no artifact has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown artifact: {}; {help}", .name.escape_debug())]
pub struct UnknownArtifact {
    /// What was asked for.
    pub name: String,
    /// How to fix it.
    pub help: String,
}

/// Other names that agents give to an attempt's file, in the order in which the attempts come.
const OTHER_NAMES: [(&str, Artifact); 3] = [
    ("worker-result-fast.json", Artifact::Worker),
    ("test-result-fail.json", Artifact::Test),
    ("test-result-pass.json", Artifact::Test),
];

impl Artifact {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Self; 9] = [
        Self::Plan,
        Self::Worker,
        Self::Test,
        Self::Debug,
        Self::Review,
        Self::Git,
        Self::State,
        Self::Trace,
        Self::Lessons,
    ];

    /// Its file's name.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Plan => "plan.json",
            Self::Worker => "worker-result.json",
            Self::Test => "test-result.json",
            Self::Debug => "debug-diagnosis.json",
            Self::Review => "review-result.json",
            Self::Git => "git-result.json",
            Self::State => "state.yaml",
            Self::Trace => "pipeline-trace.json",
            Self::Lessons => "lessons.yaml",
        }
    }

    /// The name of its JSON Schema.
    #[must_use]
    pub fn schema_name(self) -> &'static str {
        match self {
            Self::Plan => "pipeline-plan",
            Self::Worker => "pipeline-worker-result",
            Self::Test => "pipeline-test-result",
            Self::Debug => "pipeline-debug-diagnosis",
            Self::Review => "pipeline-review-result",
            Self::Git => "pipeline-git-result",
            Self::State => "pipeline-state",
            Self::Trace => "pipeline-trace",
            Self::Lessons => "pipeline-lessons",
        }
    }

    /// What it is for.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Plan => "`plan.json`: how the work is to be done.",
            Self::Worker => "`worker-result.json`: what was implemented.",
            Self::Test => "`test-result.json`: what the tests said.",
            Self::Debug => "`debug-diagnosis.json`: why it failed.",
            Self::Review => "`review-result.json`: what the reviewer found.",
            Self::Git => "`git-result.json`: what was committed and proposed.",
            Self::State => "`state.yaml`: what the planner keeps of a run.",
            Self::Trace => "`pipeline-trace.json`: what a run has gone through.",
            Self::Lessons => "`.pipeline/lessons.yaml`: what went wrong before, in any run.",
        }
    }

    /// Every name that a file of this kind may have in a run's folder, in the order of the attempts; its own comes last.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let others = OTHER_NAMES.iter().filter(|(_, kind)| *kind == self);
        let others = others.map(|(name, _)| *name);
        others.chain([self.file_name()]).collect()
    }

    /// The kind of the file at a path: its name alone decides.
    ///
    /// # Errors
    ///
    /// [`UnknownArtifact`], when no artifact has that name.
    pub fn from_path(path: &str) -> Result<Self, UnknownArtifact> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = |kind: &Self| kind.names().contains(&name);
        Self::ALL.into_iter().find(named).ok_or_else(|| {
            let all = || Self::ALL.into_iter().flat_map(Self::names);
            let help = match closest(name, all()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the names are {}", all().collect::<Vec<_>>().join(", ")),
            };
            UnknownArtifact {
                name: name.to_owned(),
                help,
            }
        })
    }

    /// The artifact of a stage.
    #[must_use]
    pub fn of(stage: Stage) -> Self {
        match stage {
            Stage::Plan => Self::Plan,
            Stage::Implement => Self::Worker,
            Stage::Test => Self::Test,
            Stage::Debug => Self::Debug,
            Stage::Review => Self::Review,
            Stage::Git => Self::Git,
        }
    }

    /// The stage that writes it, where it is one's result.
    #[must_use]
    pub fn stage(self) -> Option<Stage> {
        Stage::ALL
            .into_iter()
            .find(|stage| Self::of(*stage) == self)
    }

    /// Whether it may speak of what its agent thinks of its own work.
    pub(super) fn assesses_itself(self) -> bool {
        !matches!(self, Self::State | Self::Trace | Self::Lessons)
    }

    /// Whether it is written in YAML.
    pub(super) fn is_yaml(self) -> bool {
        matches!(self, Self::State | Self::Lessons)
    }

    pub(super) fn artifact_shape(self) -> &'static Kind {
        match self {
            Self::Plan => &shapes::PLAN,
            Self::Worker => &shapes::WORKER,
            Self::Test => &shapes::TEST,
            Self::Debug => &shapes::DEBUG,
            Self::Review => &shapes::REVIEW,
            Self::Git => &shapes::GIT,
            Self::State => &shapes::STATE,
            Self::Trace => &shapes::TRACE,
            Self::Lessons => &shapes::LESSONS,
        }
    }

    /// The JSON Schema (draft 7) of its normal form. What is read besides, and what hangs on other files, is not in it.
    #[must_use]
    pub fn schema(self) -> Value {
        let mut whole = serde_json::Map::new();
        whole.insert("$schema".to_owned(), schema::DRAFT.into());
        let title = format!("phileas: {}", self.schema_name());
        whole.insert("title".to_owned(), title.into());
        whole.insert("description".to_owned(), self.about().into());
        if let Value::Object(map) = schema::kind_schema(self.artifact_shape(), &[], "") {
            whole.extend(map);
        }
        whole.into()
    }
}
