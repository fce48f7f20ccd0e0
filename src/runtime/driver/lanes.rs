//! Counts the ticks that share an installation or a Jules key.

use std::collections::BTreeMap;

use super::ticker::Lane;

/// The number of ticks in each lane.
#[derive(Debug)]
pub(super) struct Lanes {
    most: usize,
    running: BTreeMap<Lane, usize>,
}

impl Lanes {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            running: BTreeMap::new(),
        }
    }

    /// Whether another tick may run in all of these lanes.
    pub(super) fn has_room(&self, lanes: &[Lane]) -> bool {
        lanes
            .iter()
            .all(|lane| lane_count(&self.running, *lane) < self.most)
    }

    pub(super) fn enter_lanes(&mut self, lanes: &[Lane]) {
        for lane in lanes {
            *self.running.entry(*lane).or_default() += 1;
        }
    }

    pub(super) fn leave_lanes(&mut self, lanes: &[Lane]) {
        for lane in lanes {
            if let Some(running) = self.running.get_mut(lane) {
                *running = running.saturating_sub(1);
                if *running == 0 {
                    self.running.remove(lane);
                }
            }
        }
    }
}

fn lane_count(lanes: &BTreeMap<Lane, usize>, lane: Lane) -> usize {
    lanes.get(&lane).copied().unwrap_or(0)
}
