//! `validate`, `simulate` and `schema`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use phileas_domain::exchange::{SHAPES, Shape};
use phileas_domain::model::RepositoryName;
use phileas_domain::pipeline;

use super::repository::repository_folder;
use super::values::parse_whole;

/// A file that people or agents write.
#[derive(Debug, Clone, Copy)]
pub enum SchemaName {
    /// `.jules/schedules.toml`: the personas and when they run
    Schedules,
    /// `.jlo/config.toml`: the layers' roles and when they run
    Config,
    /// `phileas.toml`: the settings of the service
    Phileas,
    /// An artifact of the exchange.
    Artifact(ArtifactName),
    /// An artifact of a pipeline's run.
    Pipeline(pipeline::Artifact),
}

/// An artifact of the exchange, by its index among all artifacts.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactName(usize);

impl ArtifactName {
    /// The shape that its schema describes.
    #[must_use]
    pub fn artifact_shape(self) -> &'static Shape {
        SHAPES[self.0]
    }
}

/// Every artifact.
static ARTIFACTS: LazyLock<Vec<ArtifactName>> =
    LazyLock::new(|| (0..SHAPES.len()).map(ArtifactName).collect());
/// Every file that has a schema.
static SCHEMAS: LazyLock<Vec<SchemaName>> = LazyLock::new(|| {
    let artifacts = ARTIFACTS.iter().copied().map(SchemaName::Artifact);
    [
        SchemaName::Schedules,
        SchemaName::Config,
        SchemaName::Phileas,
    ]
    .into_iter()
    .chain(artifacts)
    .chain(pipeline::Artifact::ALL.map(SchemaName::Pipeline))
    .collect()
});

impl ValueEnum for ArtifactName {
    fn value_variants<'a>() -> &'a [Self] {
        &ARTIFACTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.artifact_shape().name).help(self.artifact_shape().about))
    }
}

impl ValueEnum for SchemaName {
    fn value_variants<'a>() -> &'a [Self] {
        &SCHEMAS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Schedules => {
                PossibleValue::new("schedules").help("`.jules/schedules.toml`: who works and when")
            }
            Self::Config => PossibleValue::new("config")
                .help("`.jlo/config.toml`: who works in the layers, and when"),
            Self::Phileas => {
                PossibleValue::new("phileas").help("`phileas.toml`: how the service is set up")
            }
            Self::Artifact(artifact) => return artifact.to_possible_value(),
            Self::Pipeline(artifact) => {
                PossibleValue::new(artifact.schema_name()).help(artifact.about())
            }
        })
    }
}

/// How many days a forecast covers.
const DEFAULT_DAYS: u16 = 7;
/// The assumed length of a session. The same as the text of the option's default.
const DEFAULT_SESSION: jiff::SignedDuration = jiff::SignedDuration::from_mins(30);
/// The assumed time until a pull request is merged. The same as the text of the option's default.
const DEFAULT_REVIEW: jiff::SignedDuration = jiff::SignedDuration::from_hours(2);

/// The most days that a forecast covers.
const MAX_DAYS: u64 = 90;

fn parse_days(text: &str) -> Result<u16, String> {
    parse_whole(text, 1..=MAX_DAYS, "a whole number of days", 14)
}

/// Arguments of `simulate`.
#[derive(Debug, Clone, Args)]
pub struct Simulate {
    /// A folder with the plan; without it, `--repo` is read, or the current folder
    #[arg(value_parser = repository_folder())]
    pub dir: Option<PathBuf>,
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// How many days, 90 at most
    #[arg(long, default_value_t = DEFAULT_DAYS, value_parser = parse_days, allow_negative_numbers = true)]
    pub days: u16,
    /// The assumed length of a session
    #[arg(long, default_value = "30m", value_parser = crate::cli::terminal::duration::parse_duration, value_name = "DURATION", allow_hyphen_values = true)]
    pub session: jiff::SignedDuration,
    /// The assumed time until a pull request is merged
    #[arg(long, default_value = "2h", value_parser = crate::cli::terminal::duration::parse_duration, value_name = "DURATION", allow_hyphen_values = true)]
    pub review: jiff::SignedDuration,
    /// Start of the forecast, in RFC 3339 [default: now]
    #[arg(long, value_parser = crate::cli::terminal::instant::parse_instant, value_name = "INSTANT")]
    pub from: Option<jiff::Timestamp>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}

impl Simulate {
    /// The arguments of a forecast of one week with the default assumptions.
    pub(crate) fn first_week(json: bool) -> Self {
        Self {
            dir: None,
            repo: None,
            days: DEFAULT_DAYS,
            session: DEFAULT_SESSION,
            review: DEFAULT_REVIEW,
            from: None,
            json,
        }
    }
}

/// Arguments of `validate`.
#[derive(Debug, Clone, Args)]
pub struct Validate {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = repository_folder())]
    pub dir: PathBuf,
    /// Also check on GitHub that the branches in the plan exist in this repository
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    pub json: bool,
}
