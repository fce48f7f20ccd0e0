//! The files of work records, and the pull requests that have one.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::Diagnostic;
use crate::engine::input::pull::{Pull, PullFile, PullState};
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::pull_owner::pull_owners;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::PullNumber;
use crate::state::{HistoryEntry, State};
use crate::work::{ChangedFile, HOT_PATH, JULES_BOT_ID, WorkFile};

/// The open pull requests of Jules from this repository, with the history entry of their session, where there is one.
pub(crate) fn open_work<'b>(
    builder: &'b DecisionBuilder<'_>,
) -> BTreeMap<PullNumber, (&'b Pull, Option<&'b HistoryEntry>)> {
    let owners = pull_owners(&builder.state);
    let pulls = builder.snapshot.pulls.values();
    // Any account can open a pull request from a fork, with any name, branch and text.
    let open = pulls.filter(|pull| pull.state == PullState::Open && pull.same_repository);
    let ours = open.filter_map(|pull| {
        let rejected = builder.state.history.rejected_entries(pull.number);
        let rejected = rejected.map(|(_, entry)| entry);
        let mut entries = owners
            .get(&pull.number)
            .copied()
            .into_iter()
            .chain(rejected);
        let entry = entries.find(|entry| entry.session_id.is_some());
        let is_ours = pull.bot_id == Some(JULES_BOT_ID) || entry.is_some();
        is_ours.then_some((pull.number, (pull, entry)))
    });
    ours.collect()
}

/// The records of open and remembered work. `None`: they are being read, or cannot be read.
pub(crate) fn hot_records(builder: &mut DecisionBuilder<'_>) -> Option<Rc<WorkFile>> {
    if let Some(known) = builder.hot_records.get() {
        return known.clone();
    }
    let hot = work_file(builder, HOT_PATH).map(Rc::new);
    builder.hot_records.get_or_init(|| hot).clone()
}

/// The records in a file of the ledger; none where the file does not exist. `None`: it is being read, or cannot be
/// read. Such a file is left as it is.
pub(crate) fn work_file(builder: &mut DecisionBuilder<'_>, path: &str) -> Option<WorkFile> {
    let snapshot = builder.snapshot;
    let Ledger::Present { head, .. } = &snapshot.ledger else {
        return None;
    };
    let read = snapshot.work_files.as_ref();
    let read = read.filter(|read| read.head == *head);
    let Some(text) = read.and_then(|read| read.texts.get(path)) else {
        builder.reads.work_files.insert(path.to_owned());
        return None;
    };
    let Some(text) = text else {
        return Some(WorkFile::default());
    };
    match WorkFile::parse(text) {
        Ok(file) => Some(file),
        Err(error) => {
            let what = format!("these work records cannot be read: {error}");
            let help = "put an earlier version of the file back, or remove it";
            builder.add_diagnostics(vec![Diagnostic::warning(path, what).help(help)]);
            None
        }
    }
}

/// Files of a pull request, as its record is made from them.
pub(crate) fn changed_files(files: &[PullFile]) -> Vec<ChangedFile<'_>> {
    let files = files.iter().map(|file| ChangedFile {
        path: &file.path,
        added: file.added,
        removed: file.removed,
        patch: file.patch.as_deref(),
    });
    files.collect()
}

/// The newest history entry of a pull request.
pub(crate) fn entry_of(state: &State, number: PullNumber) -> Option<&HistoryEntry> {
    let mut newest_first = state.history.values().rev();
    newest_first.find(|entry| entry.pr_number == Some(number))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::engine::input::pull::Checks;
    use crate::engine::input::snapshot::{Repository, Snapshot, WorkFilesRead};
    use crate::model::{Oid, RepositoryId, Tree};

    fn snapshot(hot: &str) -> Snapshot {
        let repository = Repository {
            id: RepositoryId(42),
            name: "acme/widget".parse().expect("a name"),
            public: false,
            archived: false,
            default_branch: "main".into(),
            default_head: None,
            default_checks: Checks::None,
        };
        let head = Oid::from("ledger");
        Snapshot {
            ledger: Ledger::Present {
                head: head.clone(),
                state: Box::default(),
            },
            work_files: Some(WorkFilesRead {
                head,
                texts: [(HOT_PATH.to_owned(), Some(hot.to_owned()))].into(),
            }),
            ..Snapshot::unread(Timestamp::UNIX_EPOCH, repository, Tree::new())
        }
    }

    #[test]
    fn one_decision_parses_the_records_once() {
        let snapshot = snapshot(&WorkFile::default().text());
        let mut builder = DecisionBuilder::new(&snapshot, None);
        let first = hot_records(&mut builder).expect("records");
        let second = hot_records(&mut builder).expect("records");
        assert!(Rc::ptr_eq(&first, &second));
    }

    #[test]
    fn records_that_cannot_be_read_are_reported_once() {
        let snapshot = snapshot("{ torn");
        let mut builder = DecisionBuilder::new(&snapshot, None);
        assert!((0..2).all(|_| hot_records(&mut builder).is_none()));
        let (decision, reads) = builder.into_decision();
        assert_eq!(decision.report.diagnostics.len(), 1);
        assert!(reads.is_empty());
    }
}
