//! `validate`, `simulate` and `schema`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use phileas_domain::exchange::{SHAPES, Shape};
use phileas_domain::model::RepositoryName;
use phileas_domain::pipeline;

use super::repository::in_repository;

/// A file that people or agents write.
#[derive(Debug, Clone, Copy)]
pub enum SchemaName {
    /// `.jules/schedules.toml`: who works and when
    Schedules,
    /// `.jlo/config.toml`: who works in the layers, and when
    Config,
    /// `phileas.toml`: how the service is set up
    Phileas,
    /// An artifact of the exchange.
    Artifact(ArtifactName),
    /// An artifact of a pipeline's run.
    Pipeline(pipeline::Artifact),
}

/// An artifact of the exchange, by its place among all.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactName(usize);

impl ArtifactName {
    /// What it is made of.
    #[must_use]
    pub fn shape(self) -> &'static Shape {
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
        Some(PossibleValue::new(self.shape().name).help(self.shape().about))
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

/// How far a forecast looks.
const USUAL_DAYS: u16 = 7;
/// How long a session is thought to take; the same as the text of its option's default.
const USUAL_SESSION: jiff::SignedDuration = jiff::SignedDuration::from_mins(30);
/// How long a pull request is thought to wait, likewise.
const USUAL_REVIEW: jiff::SignedDuration = jiff::SignedDuration::from_hours(2);

/// A forecast.
#[derive(Debug, Clone, Args)]
pub struct Simulate {
    /// A folder with the plan; without it, `--repo` is read, and the present folder where that is not said either
    #[arg(value_parser = in_repository())]
    pub dir: Option<PathBuf>,
    /// The repository, `owner/name`
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// How many days
    #[arg(long, default_value_t = USUAL_DAYS, value_parser = clap::value_parser!(u16).range(1..=90), allow_negative_numbers = true)]
    pub days: u16,
    /// How long a session is thought to take
    #[arg(long, default_value = "30m", value_parser = crate::cli::terminal::duration::parse, value_name = "DURATION", allow_hyphen_values = true)]
    pub session: jiff::SignedDuration,
    /// How long a pull request is thought to wait for its merge
    #[arg(long, default_value = "2h", value_parser = crate::cli::terminal::duration::parse, value_name = "DURATION", allow_hyphen_values = true)]
    pub review: jiff::SignedDuration,
    /// Start of the forecast instead of now, in RFC 3339
    #[arg(long, value_parser = crate::cli::terminal::instant::parse, value_name = "INSTANT")]
    pub from: Option<jiff::Timestamp>,
    /// Compute instead what so many repositories with this plan cost: GitHub's points, Jules keys, minutes of Actions
    #[arg(long, value_name = "REPOSITORIES", value_parser = repositories, allow_negative_numbers = true)]
    pub fleet: Option<u64>,
    /// How many of them share an installation of the App, and so its points
    #[arg(long, value_name = "REPOSITORIES", default_value_t = PER_INSTALLATION, requires = "fleet", value_parser = repositories, allow_negative_numbers = true)]
    pub per_installation: u64,
    /// Also draw it into this file, as SVG
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub svg: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// The most repositories that are reckoned with.
const MOST_REPOSITORIES: u64 = 10_000_000;

/// A number of repositories.
fn repositories(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_REPOSITORIES) => Ok(number),
        _ => Err(format!(
            "it is a whole number from 1 to {MOST_REPOSITORIES}"
        )),
    }
}

/// How many repositories share an installation, unless it is said otherwise.
const PER_INSTALLATION: u64 = 10;

impl Simulate {
    /// The first week of a plan, with the assumptions that are usual.
    pub(crate) fn week(json: bool) -> Self {
        Self {
            dir: None,
            repo: None,
            days: USUAL_DAYS,
            session: USUAL_SESSION,
            review: USUAL_REVIEW,
            from: None,
            fleet: None,
            per_installation: PER_INSTALLATION,
            svg: None,
            json,
        }
    }
}

/// A check of a folder.
#[derive(Debug, Clone, Args)]
pub struct Validate {
    /// The repository's folder
    #[arg(default_value = ".", value_parser = in_repository())]
    pub dir: PathBuf,
    /// Look up the branches that the plan names in this repository on GitHub, too
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<RepositoryName>,
    /// Print one JSON object a finding
    #[arg(long)]
    pub json: bool,
}
