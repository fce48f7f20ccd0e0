//! Counts how often each knob has changed what a world does. A knob that never acts tests nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The counts of one world. Copies of the same knobs count together.
#[derive(Debug, Clone, Default)]
pub struct KnobUses(Arc<Mutex<BTreeMap<&'static str, u64>>>);

/// Two sets of knobs are equal when their values are, whatever their counts.
impl PartialEq for KnobUses {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl KnobUses {
    /// How often each knob has acted, by its name in kebab-case. Knobs that never acted are left out.
    #[must_use]
    pub fn use_counts(&self) -> BTreeMap<&'static str, u64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn add_use(&self, name: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name).or_default() += 1;
    }
}
