//! `validate`, `simulate` and `schema`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use phileas_domain::exchange::{SHAPES, Shape};
use phileas_domain::model::RepositoryName;
use phileas_domain::pipeline;

use super::repository::repository_folder;
use super::values::{one_of, parse_whole};

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
    Artifact(&'static Shape),
    /// An artifact of a pipeline's run.
    Pipeline(pipeline::Artifact),
}

/// Each artifact of the exchange.
pub(super) fn artifact_shape() -> impl TypedValueParser<Value = &'static Shape> {
    one_of(SHAPES.map(|shape| (PossibleValue::new(shape.name).help(shape.about), shape)))
}

/// Each file that has a schema.
pub(super) fn schema_name() -> impl TypedValueParser<Value = SchemaName> {
    let named = |name, about, file| (PossibleValue::new(name).help(about), file);
    let artifacts = SHAPES.map(|shape| named(shape.name, shape.about, SchemaName::Artifact(shape)));
    let of_runs = pipeline::Artifact::ALL.map(|artifact| {
        let file = SchemaName::Pipeline(artifact);
        named(artifact.schema_name(), artifact.about(), file)
    });
    let others = [
        named(
            "schedules",
            "`.jules/schedules.toml`: who works and when",
            SchemaName::Schedules,
        ),
        named(
            "config",
            "`.jlo/config.toml`: who works in the layers, and when",
            SchemaName::Config,
        ),
        named(
            "phileas",
            "`phileas.toml`: how the service is set up",
            SchemaName::Phileas,
        ),
    ];
    one_of(others.into_iter().chain(artifacts).chain(of_runs))
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
