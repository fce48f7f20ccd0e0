//! How often each knob has changed what a world does. A knob that is turned and never acts puts nobody to the test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The counts of one world. Copies of the same knobs count together.
#[derive(Debug, Clone, Default)]
pub struct Acted(Arc<Mutex<BTreeMap<&'static str, u64>>>);

/// What has happened is no part of how the knobs stand.
impl PartialEq for Acted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Acted {
    /// How often each knob has acted, by its name in kebab-case. Those that never did are left out.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn add(&self, name: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name).or_default() += 1;
    }
}
