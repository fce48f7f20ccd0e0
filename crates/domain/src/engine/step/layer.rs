//! A layer of the hand-over pipeline: narrator, observers, decider, planner, implementer, innovators, integrator.
//!
//! The plan reads layers, and tracks keep their place; this version has no exchange yet, so a layer's step is left out
//! with a reason instead of being run half.

use super::Slots;
use crate::engine::Reason;

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
}
