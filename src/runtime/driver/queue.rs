//! Queues repositories that are due and not started yet.

use std::collections::{BTreeMap, VecDeque};

use phileas_domain::model::RepositoryId;

use super::lanes::Lanes;
use super::ticker::Lane;

/// Repositories that were due at the last check, longest due first. None of them is leased.
///
/// Repositories that share all their lanes form one line: if there is no room for the first, there
/// is none for the others. So an account with thousands of repositories costs one check of its
/// lanes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: BTreeMap<Vec<Lane>, VecDeque<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    /// Its position among all that are due.
    place: usize,
    repository: RepositoryId,
}

impl Queue {
    /// Builds the queue from the due repositories, in their order.
    pub(super) fn new(
        due: impl IntoIterator<Item = RepositoryId>,
        lanes: impl Fn(RepositoryId) -> Vec<Lane>,
    ) -> Self {
        let mut lines: BTreeMap<Vec<Lane>, VecDeque<Waiting>> = BTreeMap::new();
        for (place, repository) in due.into_iter().enumerate() {
            let waiting = Waiting { place, repository };
            lines
                .entry(lanes(repository))
                .or_default()
                .push_back(waiting);
        }
        Self { lines }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Removes the first repository with room in its lanes, and enters the lanes for it.
    pub(super) fn enter_next(&mut self, lanes: &mut Lanes) -> Option<(RepositoryId, Vec<Lane>)> {
        let (_, line) = self
            .lines
            .iter()
            .filter(|(line, _)| lanes.has_room(line))
            .filter_map(|(line, waiting)| Some((waiting.front()?.place, line)))
            .min()?;
        let line = line.clone();
        let waiting = self.lines.get_mut(&line)?;
        let first = waiting.pop_front()?;
        if waiting.is_empty() {
            self.lines.remove(&line);
        }
        lanes.enter_lanes(&line);
        Some((first.repository, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_overdue_goes_first_where_there_is_room() {
        let shared = |id: RepositoryId| vec![Lane::GitHub(id.0 % 2)];
        let mut queue = Queue::new([3, 1, 2, 5, 4].map(RepositoryId), shared);
        let mut lanes = Lanes::new(2);
        let mut entered = Vec::new();
        while let Some((id, _)) = queue.enter_next(&mut lanes) {
            entered.push(id.0);
        }
        assert_eq!(entered, [3, 1, 2, 4], "5 finds its lane full");
        assert!(!queue.is_empty());
        lanes.leave_lanes(&[Lane::GitHub(1)]);
        let next = queue.enter_next(&mut lanes);
        assert_eq!(next, Some((RepositoryId(5), vec![Lane::GitHub(1)])));
        assert!(queue.is_empty());
    }
}
