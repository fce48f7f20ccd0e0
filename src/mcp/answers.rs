//! Remembers what people answered when the server asked them to confirm an action.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many refused actions and how many used answers are remembered; the oldest is forgotten.
const MAX_REMEMBERED: usize = 1_000;

/// The actions that people refused, and the answers that were used.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) declined: Remembered,
    pub(super) used: Remembered,
}

#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<VecDeque<[u8; 32]>>);

impl Remembered {
    pub(super) fn is_remembered(&self, key: &[u8; 32]) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(key)
    }

    /// Remembers a digest. Returns whether it was new.
    pub(super) fn remember_digest(&self, key: [u8; 32]) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&key) {
            return false;
        }
        if known.len() >= MAX_REMEMBERED {
            known.pop_front();
        }
        known.push_back(key);
        true
    }
}
