//! Collects pull requests, labels and comments from the recently updated issues and pull requests.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_domain::engine::{Comment, CommentCoverage, LABEL_PREFIX, Pull, concerns_closing};
use phileas_domain::model::{Login, PullNumber};

use crate::adapters::github::wire::Connection;
use crate::adapters::github::wire::observation::{Labelled, RecentPull};
use crate::adapters::github::wire::pull::PullFacts;
use crate::adapters::github::wire::subject::CommentThread;

/// What an observation shows of open pull requests and recently updated issues.
pub(super) struct RecentActivity {
    pub(super) pulls: BTreeMap<PullNumber, Pull>,
    /// The `phileas:` labels by issue or pull request, without their prefix.
    pub(super) labelled: BTreeMap<u64, BTreeSet<String>>,
    pub(super) comments: Vec<Comment>,
    pub(super) comment_coverage: CommentCoverage,
}

impl RecentActivity {
    /// Collects from the recently updated issues and pull requests, and from `open`, all open pull requests.
    /// `refused`: the accounts that may not write.
    pub(super) fn collect(
        active: Connection<Labelled>,
        recent: Connection<RecentPull>,
        open: impl Iterator<Item = PullFacts>,
        refused: BTreeSet<Login>,
    ) -> Self {
        let issues = active.nodes.iter().flatten();
        let pulls = recent.nodes.iter().flatten();
        let mut activity = Self {
            pulls: BTreeMap::new(),
            labelled: BTreeMap::new(),
            comments: Vec::new(),
            comment_coverage: CommentCoverage {
                cut: BTreeMap::new(),
                issues_after: oldest_if_cut(&active, issues.map(|issue| issue.updated_at)),
                pulls_after: oldest_if_cut(&recent, pulls.map(|pull| pull.updated_at)),
                further: None,
                refused,
            },
        };
        for issue in active {
            let names = issue.labels.into_iter().flatten().map(|label| label.name);
            note_labels(&mut activity.labelled, issue.number, names);
            activity.add_comments(issue.number, issue.comments);
        }
        let mut updated = Vec::new();
        for pull in recent {
            let number = pull.facts.number();
            match pull.facts.is_open() {
                true => activity.add_comments(number, pull.comments),
                false => activity.add_closing_comments(number, pull.comments),
            }
            updated.push(pull.facts);
        }
        for facts in open.chain(updated) {
            activity.add_pull(facts);
        }
        activity
    }

    fn add_comments(&mut self, number: u64, said: CommentThread) {
        self.comment_coverage
            .cut
            .extend(said.truncated_at().map(|at| (number, at)));
        self.comments.extend(said.into_commands(number));
    }

    /// Adds the comments that count on a closed pull request.
    fn add_closing_comments(&mut self, number: u64, said: CommentThread) {
        let commands = said.into_commands(number);
        self.comments
            .extend(commands.filter(|comment| concerns_closing(&comment.body)));
    }

    fn add_pull(&mut self, facts: PullFacts) {
        if let Some((number, names)) = facts.labels_while_open() {
            note_labels(&mut self.labelled, number, names);
        }
        let pull = Pull::from(facts);
        self.pulls.insert(pull.number, pull);
    }
}

/// When the oldest entry of a truncated list was touched.
fn oldest_if_cut<T>(
    list: &Connection<T>,
    touched: impl Iterator<Item = Timestamp>,
) -> Option<Timestamp> {
    list.next()?;
    touched.min()
}

/// Notes the `phileas:` labels, without their prefix. GitHub ignores the case of labels.
fn note_labels(
    labelled: &mut BTreeMap<u64, BTreeSet<String>>,
    number: u64,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) {
    for name in names {
        let name = name.as_ref().to_lowercase();
        if let Some(word) = name.strip_prefix(LABEL_PREFIX) {
            labelled.entry(number).or_default().insert(word.to_owned());
        }
    }
}

/// The lowest number with this `phileas:` label. Pull requests are included, because GitHub's list of issues by label
/// has none.
pub(super) fn with_label(labelled: &BTreeMap<u64, BTreeSet<String>>, word: &str) -> Option<u64> {
    let mut bearers = labelled.iter().filter(|(_, words)| words.contains(word));
    bearers.next().map(|(number, _)| *number)
}
