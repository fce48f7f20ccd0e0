//! A layer of the hand-over pipeline: narrator, observers, decider, planner, implementer, innovators, integrator.
//!
//! The plan reads layers, and tracks keep their place; this version has no exchange yet, so a layer's step is left out
//! with a reason instead of being run half.

use super::{Live, Progress, Slots};
use crate::engine::Reason;
use crate::engine::limits::POLL;

pub(in crate::engine) struct LayerStep<'a> {
    pub(super) name: &'a str,
}

impl LayerStep<'_> {
    pub(super) fn slots(&self) -> Slots {
        Slots::Skip {
            reason: Reason::LayerUnavailable,
            detail: format!(
                "layer `{}` needs the exchange, which this version does not have",
                self.name
            ),
        }
    }

    pub(super) fn outcome(&self, live: &Live<'_>) -> Progress {
        // A newer version started this turn; it alone knows how to import what comes of it.
        Progress::Wait {
            reason: Reason::LayerUnavailable,
            detail: format!(
                "the session of layer `{}` was started by a newer version",
                self.name
            ),
            until: live
                .snapshot
                .now
                .checked_add(POLL)
                .unwrap_or(jiff::Timestamp::MAX),
        }
    }
}
