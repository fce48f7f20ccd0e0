//! The settings of one run of phileas.

use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::engine::RunRequest;
use phileas_domain::model::Holder;
use phileas_domain::plan::Driver;

use super::ports::Renderer;

/// The identity of a run, and what it was requested to do.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name of the process in leases and intents; unique for each run.
    pub holder: Holder,
    /// How phileas runs: as an action, a service or a command.
    pub driver: Driver,
    /// What a person requested of this run.
    pub ask: RunRequest,
    /// Randomness for this run.
    pub entropy: [u8; 32],
    /// The repository variable `PHILEAS_PAUSED`.
    pub paused_by_variable: Option<String>,
    /// When this process last finished a tick of the repository, if it knows.
    pub previous_tick: Option<Timestamp>,
    /// The renderer of prompts.
    pub renderer: Arc<dyn Renderer>,
}
