//! The entries by number, shared until somebody writes.
//!
//! A decision works on a copy of the state, and the history is nearly all of it: ten thousand entries are copied in
//! milliseconds and compared in more. Here a copy shares what is written already, and only what changes is copied.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::ops::{Index, RangeBounds};
use std::sync::Arc;

use super::HistoryEntry;

type Entries = BTreeMap<u64, Arc<HistoryEntry>>;

/// What ran, by consecutive number. Cloning is cheap, whatever its length; so is comparing with a clone.
#[derive(Clone, Default)]
pub struct History(Arc<Entries>);

impl History {
    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry with a number.
    #[must_use]
    pub fn get(&self, key: &u64) -> Option<&HistoryEntry> {
        self.0.get(key).map(Arc::as_ref)
    }

    /// The entry with a number, to be completed.
    pub fn get_mut(&mut self, key: &u64) -> Option<&mut HistoryEntry> {
        // Looked for first, so that a miss copies nothing.
        if !self.0.contains_key(key) {
            return None;
        }
        Arc::make_mut(&mut self.0).get_mut(key).map(Arc::make_mut)
    }

    /// Whether a number is taken.
    #[must_use]
    pub fn contains_key(&self, key: &u64) -> bool {
        self.0.contains_key(key)
    }

    /// Writes an entry; returns the one that stood there.
    pub fn insert(&mut self, key: u64, entry: HistoryEntry) -> Option<HistoryEntry> {
        Arc::make_mut(&mut self.0)
            .insert(key, Arc::new(entry))
            .map(Arc::unwrap_or_clone)
    }

    /// Takes everything from a number on out.
    #[must_use]
    pub fn split_off(&mut self, key: &u64) -> Self {
        Self(Arc::new(Arc::make_mut(&mut self.0).split_off(key)))
    }

    /// The oldest entry.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&u64, &HistoryEntry)> {
        self.0.first_key_value().map(shown)
    }

    /// The newest entry.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&u64, &HistoryEntry)> {
        self.0.last_key_value().map(shown)
    }

    /// The numbers, ascending.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &u64> + Clone {
        self.0.keys()
    }

    /// The entries, oldest first.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &HistoryEntry> {
        self.0.values().map(Arc::as_ref)
    }

    /// Numbers and entries, oldest first.
    pub fn iter(&self) -> Iter<'_> {
        self.into_iter()
    }

    /// Numbers and entries of a range, oldest first.
    pub fn range(
        &self,
        range: impl RangeBounds<u64>,
    ) -> impl DoubleEndedIterator<Item = (&u64, &HistoryEntry)> {
        self.0.range(range).map(shown)
    }
}

/// Numbers and entries, oldest first.
type Iter<'a> = std::iter::Map<
    btree_map::Iter<'a, u64, Arc<HistoryEntry>>,
    fn((&'a u64, &'a Arc<HistoryEntry>)) -> (&'a u64, &'a HistoryEntry),
>;

fn shown<'a>((key, entry): (&'a u64, &'a Arc<HistoryEntry>)) -> (&'a u64, &'a HistoryEntry) {
    (key, entry)
}

impl<'a> IntoIterator for &'a History {
    type Item = (&'a u64, &'a HistoryEntry);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(shown)
    }
}

impl IntoIterator for History {
    type Item = (u64, HistoryEntry);
    type IntoIter = std::iter::Map<
        btree_map::IntoIter<u64, Arc<HistoryEntry>>,
        fn((u64, Arc<HistoryEntry>)) -> (u64, HistoryEntry),
    >;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0)
            .into_iter()
            .map(|(key, entry)| (key, Arc::unwrap_or_clone(entry)))
    }
}

impl FromIterator<(u64, HistoryEntry)> for History {
    fn from_iter<I: IntoIterator<Item = (u64, HistoryEntry)>>(entries: I) -> Self {
        let shared = entries
            .into_iter()
            .map(|(key, entry)| (key, Arc::new(entry)));
        Self(Arc::new(shared.collect()))
    }
}

impl<const N: usize> From<[(u64, HistoryEntry); N]> for History {
    fn from(entries: [(u64, HistoryEntry); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl From<BTreeMap<u64, HistoryEntry>> for History {
    fn from(entries: BTreeMap<u64, HistoryEntry>) -> Self {
        entries.into_iter().collect()
    }
}

impl Index<&u64> for History {
    type Output = HistoryEntry;

    fn index(&self, key: &u64) -> &HistoryEntry {
        &self.0[key]
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        // In step, since a look-up for each would cost more than the comparison.
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.len() == other.0.len()
                && self
                    .0
                    .iter()
                    .zip(&*other.0)
                    .all(|((key, entry), (its, theirs))| {
                        key == its && (Arc::ptr_eq(entry, theirs) || entry == theirs)
                    }))
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fixtures::sound;

    #[test]
    fn a_copy_shares_everything_until_it_is_written_to() {
        let history = sound().history;
        let mut copy = history.clone();
        assert!(Arc::ptr_eq(&history.0, &copy.0));
        assert!(copy.get_mut(&u64::MAX).is_none());
        assert!(Arc::ptr_eq(&history.0, &copy.0), "a miss copies nothing");

        copy.get_mut(&0).unwrap().note = Some("new".to_owned());
        assert_eq!(history[&0].note, None);
        assert_ne!(history, copy);
        assert!(Arc::ptr_eq(&history.0[&1], &copy.0[&1]));
    }

    #[test]
    fn histories_are_equal_when_they_say_the_same_under_the_same_numbers() {
        let history = sound().history;
        // Written anew, so that nothing is shared.
        let again: History = sound().history.into_iter().collect();
        assert_eq!(history, again);
        let mut longer = again.clone();
        longer.insert(3, history[&0].clone());
        assert_ne!(history, longer);
        assert_ne!(longer, history);
        let mut changed = again.clone();
        changed.get_mut(&2).unwrap().note = Some("new".to_owned());
        assert_ne!(history, changed);
        let moved: History = again
            .into_iter()
            .map(|(key, entry)| (key + 1, entry))
            .collect();
        assert_ne!(history, moved);
        assert_ne!(history, History::default());
    }

    #[test]
    fn a_history_is_taken_apart_and_put_together_by_its_numbers() {
        let whole = sound().history;
        let entries: BTreeMap<u64, HistoryEntry> = whole.clone().into_iter().collect();
        let mut history = History::default();
        assert!(history.is_empty());
        assert_eq!((history.len(), history.get(&0)), (0, None));
        assert_eq!(history.first_key_value(), None);
        assert_eq!(history.last_key_value(), None);
        for (key, entry) in &entries {
            assert!(!history.contains_key(key));
            assert_eq!(history.insert(*key, entry.clone()), None);
            assert!(history.contains_key(key) && !history.is_empty());
        }
        assert_eq!(history, History::from(entries.clone()));
        assert_eq!(
            history.iter().collect::<Vec<_>>(),
            entries.iter().collect::<Vec<_>>()
        );
        assert_eq!(history.get(&1), Some(&entries[&1]));
        assert_eq!(history.first_key_value(), Some((&0, &entries[&0])));
        assert_eq!(history.last_key_value(), Some((&2, &entries[&2])));
        // Who writes over an entry learns what stood there.
        let old = history.insert(1, entries[&0].clone());
        assert_eq!(old.as_ref(), Some(&entries[&1]));

        let mut first = whole.clone();
        let rest = first.split_off(&1);
        assert_eq!(first, [(0, entries[&0].clone())].into());
        assert_eq!(rest.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(rest.range(2..).collect::<Vec<_>>(), [(&2, &entries[&2])]);
        assert_eq!(whole.len(), 3, "the copy alone was cut");
    }

    #[test]
    fn a_history_shows_its_entries_by_number() {
        let history: History = [(7, sound().history[&0].clone())].into();
        let shown = format!("{history:?}");
        assert!(shown.starts_with("{7: HistoryEntry { "), "{shown}");
    }
}
