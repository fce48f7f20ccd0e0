//! `phileas monitor`, `watch`, `handle-event`, `events`, `jobs`: Jules for somebody's own agent.

mod configuration;
mod events;
mod handle;
mod list;
mod monitor;
mod reach;
mod watch;

use super::exit::{Exit, Stopped};
use crate::jobs::{StoreError, Trouble};

pub(super) use events::run as events;
pub(super) use handle::run as handle_event;
pub(super) use list::run as jobs;
pub(super) use monitor::run as monitor;
pub(super) use watch::run as watch;

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        let exit = match &error.trouble {
            Trouble::Corrupt(_) | Trouble::TooLarge { .. } => Exit::Corrupt,
            Trouble::Full { .. } => Exit::Usage,
            Trouble::System(_) => Exit::Findings,
        };
        let message = match error.trouble {
            // It names its file itself.
            Trouble::Corrupt(diagnostic) => diagnostic.to_string(),
            _ => error.to_string(),
        };
        Self { exit, message }
    }
}
