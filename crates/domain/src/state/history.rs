//! The history: entries by number, with copy-on-write.
//!
//! A decision works on a copy of the state, which is mostly history. Copying and comparing ten thousand entries takes
//! milliseconds, so copies share their entries, and only changed entries are copied.
//!
//! A decision often asks for the few open entries. Their keys are looked up once, and again after a change.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::ops::{Index, RangeBounds};
use std::sync::{Arc, OnceLock};

use super::entry::{HistoryEntry, Outcome};
use crate::model::PullNumber;

type Entries = BTreeMap<u64, Arc<HistoryEntry>>;

/// The history entries by consecutive number. Cloning, and comparing with a clone, is cheap at any length.
#[derive(Clone, Default)]
pub struct History {
    entries: Arc<Entries>,
    /// The entries whose pull request may still be merged or closed. Copies share it; a changed copy gets its own.
    unsettled: Arc<OnceLock<Unsettled>>,
}

#[derive(Default)]
struct Unsettled {
    /// The numbers of the entries, ascending.
    open: Vec<u64>,
    /// The pull requests, and the numbers of the entries, both ascending.
    rejected: Vec<(PullNumber, u64)>,
}

impl History {
    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with a number.
    #[must_use]
    pub fn get(&self, key: &u64) -> Option<&HistoryEntry> {
        self.entries.get(key).map(Arc::as_ref)
    }

    /// The entry with a number, for changes.
    pub fn get_mut(&mut self, key: &u64) -> Option<&mut HistoryEntry> {
        // Check first, so that a miss copies nothing.
        if !self.entries.contains_key(key) {
            return None;
        }
        self.entries_mut().get_mut(key).map(Arc::make_mut)
    }

    /// Whether a number is taken.
    #[must_use]
    pub fn contains_key(&self, key: &u64) -> bool {
        self.entries.contains_key(key)
    }

    /// Inserts an entry and returns the one that it replaces.
    pub fn insert(&mut self, key: u64, entry: HistoryEntry) -> Option<HistoryEntry> {
        self.entries_mut()
            .insert(key, Arc::new(entry))
            .map(Arc::unwrap_or_clone)
    }

    /// Removes and returns all entries from a number on.
    #[must_use]
    pub fn split_off(&mut self, key: &u64) -> Self {
        self.entries_mut().split_off(key).into()
    }

    /// The oldest entry.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&u64, &HistoryEntry)> {
        self.entries.first_key_value().map(entry_ref)
    }

    /// The newest entry.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&u64, &HistoryEntry)> {
        self.entries.last_key_value().map(entry_ref)
    }

    /// The numbers, ascending.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &u64> + Clone {
        self.entries.keys()
    }

    /// The entries, oldest first.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &HistoryEntry> {
        self.entries.values().map(Arc::as_ref)
    }

    /// The entries with the outcome `pr_open`, oldest first.
    pub fn open_entries(&self) -> impl DoubleEndedIterator<Item = (&u64, &HistoryEntry)> {
        let open = self.unsettled_entries().open.iter();
        open.filter_map(|key| Some((key, self.get(key)?)))
    }

    /// The entries of a pull request that was closed without a merge, oldest first. A person may reopen it.
    pub fn rejected_entries(
        &self,
        pull: PullNumber,
    ) -> impl Iterator<Item = (&u64, &HistoryEntry)> {
        let rejected = &self.unsettled_entries().rejected;
        let first = rejected.partition_point(|(number, _)| *number < pull);
        rejected[first..]
            .iter()
            .take_while(move |(number, _)| *number == pull)
            .filter_map(|(_, key)| Some((key, self.get(key)?)))
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
        self.entries.range(range).map(entry_ref)
    }

    fn entries_mut(&mut self) -> &mut Entries {
        match Arc::get_mut(&mut self.unsettled) {
            Some(own) => drop(own.take()),
            None => self.unsettled = Arc::default(),
        }
        Arc::make_mut(&mut self.entries)
    }

    fn unsettled_entries(&self) -> &Unsettled {
        self.unsettled.get_or_init(|| {
            let mut found = Unsettled::default();
            for (key, entry) in self {
                match &entry.outcome {
                    Some(Outcome::PrOpen) => found.open.push(*key),
                    Some(outcome) if outcome.is_closed_unmerged() => {
                        found.rejected.extend(entry.pr_number.zip(Some(*key)));
                    }
                    _ => {}
                }
            }
            found.rejected.sort_unstable();
            found
        })
    }
}

impl From<Entries> for History {
    fn from(entries: Entries) -> Self {
        Self {
            entries: Arc::new(entries),
            unsettled: Arc::default(),
        }
    }
}

/// Numbers and entries, oldest first.
type Iter<'a> = std::iter::Map<
    btree_map::Iter<'a, u64, Arc<HistoryEntry>>,
    fn((&'a u64, &'a Arc<HistoryEntry>)) -> (&'a u64, &'a HistoryEntry),
>;

fn entry_ref<'a>((key, entry): (&'a u64, &'a Arc<HistoryEntry>)) -> (&'a u64, &'a HistoryEntry) {
    (key, entry)
}

impl<'a> IntoIterator for &'a History {
    type Item = (&'a u64, &'a HistoryEntry);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(entry_ref)
    }
}

impl IntoIterator for History {
    type Item = (u64, HistoryEntry);
    type IntoIter = std::iter::Map<
        btree_map::IntoIter<u64, Arc<HistoryEntry>>,
        fn((u64, Arc<HistoryEntry>)) -> (u64, HistoryEntry),
    >;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.entries)
            .into_iter()
            .map(|(key, entry)| (key, Arc::unwrap_or_clone(entry)))
    }
}

impl FromIterator<(u64, HistoryEntry)> for History {
    fn from_iter<I: IntoIterator<Item = (u64, HistoryEntry)>>(entries: I) -> Self {
        let shared = entries
            .into_iter()
            .map(|(key, entry)| (key, Arc::new(entry)));
        shared.collect::<Entries>().into()
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
        &self.entries[key]
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        // In step, because a lookup for each entry would cost more than the comparison.
        Arc::ptr_eq(&self.entries, &other.entries)
            || (self.entries.len() == other.entries.len()
                && self
                    .entries
                    .iter()
                    .zip(&*other.entries)
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
    use crate::state::fixtures::sound_state;

    #[test]
    fn a_copy_shares_everything_until_it_is_written_to() {
        let history = sound_state().history;
        let mut copy = history.clone();
        assert!(Arc::ptr_eq(&history.entries, &copy.entries));
        assert!(copy.get_mut(&u64::MAX).is_none());
        assert!(
            Arc::ptr_eq(&history.entries, &copy.entries),
            "a miss copies nothing"
        );

        copy.get_mut(&0).unwrap().note = Some("new".to_owned());
        assert_eq!(history[&0].note, None);
        assert_ne!(history, copy);
        assert!(Arc::ptr_eq(&history.entries[&1], &copy.entries[&1]));
    }

    #[test]
    fn histories_are_equal_when_they_say_the_same_under_the_same_numbers() {
        let history = sound_state().history;
        // A new copy, so that nothing is shared.
        let again: History = sound_state().history.into_iter().collect();
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
        let whole = sound_state().history;
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
        let history: History = [(7, sound_state().history[&0].clone())].into();
        let shown = format!("{history:?}");
        assert!(shown.starts_with("{7: HistoryEntry { "), "{shown}");
    }

    #[test]
    fn what_is_not_over_is_known_after_each_writing() {
        fn numbers<'a>(shown: impl Iterator<Item = (&'a u64, &'a HistoryEntry)>) -> Vec<u64> {
            shown.map(|(key, _)| *key).collect()
        }
        let entry = |outcome: Option<Outcome>| HistoryEntry {
            outcome,
            pr_number: Some(PullNumber(7)),
            ..sound_state().history[&0].clone()
        };
        let rejected = |history: &History| numbers(history.rejected_entries(PullNumber(7)));
        let mut history: History = [
            (1, entry(Some(Outcome::PrOpen))),
            (2, entry(Some(Outcome::Merged))),
            (3, entry(Some(Outcome::Rejected))),
            (4, entry(None)),
            (5, entry(Some(Outcome::PrOpen))),
        ]
        .into();
        let before = history.clone();
        assert_eq!(numbers(history.open_entries()), [1, 5]);
        assert_eq!(rejected(&history), [3]);
        for other in [6, 8] {
            assert_eq!(history.rejected_entries(PullNumber(other)).next(), None);
        }
        let known = |history: &History| history.unsettled.get().is_some();
        assert!(
            known(&before),
            "what one copy has looked up, the other knows"
        );

        history.get_mut(&1).unwrap().outcome = Some(Outcome::Rejected);
        assert_eq!(numbers(history.open_entries()), [5]);
        assert_eq!(rejected(&history), [1, 3]);
        history.insert(2, entry(Some(Outcome::PrOpen)));
        assert_eq!(numbers(history.open_entries()), [2, 5]);
        let rest = history.split_off(&3);
        assert_eq!(numbers(history.open_entries()), [2]);
        assert_eq!(numbers(rest.open_entries().rev()), [5]);
        assert_eq!(rejected(&rest), [3]);
        // The copy says what it said.
        assert_eq!(numbers(before.open_entries()), [1, 5]);
        assert_eq!(rejected(&before), [3]);
    }
}
