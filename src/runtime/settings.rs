//! The settings of one run of phileas.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::engine::RunRequest;
use phileas_domain::model::Holder;
use phileas_domain::plan::Driver;

use super::ports::Renderer;

/// What a run of phileas is, and was asked to do.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who holds what this run decides; unique for each run.
    pub holder: Holder,
    /// Which way of running this is.
    pub driver: Driver,
    /// What a person asked this run to do.
    pub ask: RunRequest,
    /// Randomness for this run.
    pub entropy: [u8; 32],
    /// The repository variable `PHILEAS_PAUSED`.
    pub paused_by_variable: Option<String>,
    /// When this process last finished a tick of the repository, where it knows.
    pub previous_tick: Option<Timestamp>,
    /// Who renders prompts.
    pub renderer: Arc<dyn Renderer>,
}
