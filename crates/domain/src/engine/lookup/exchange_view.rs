//! The exchange as a decision leaves it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::slot::Seat;
use super::{new_commits, reviewer_remarks};
use crate::engine::input::snapshot::{Ledger, Snapshot};
use crate::engine::output::builder::Draft;
use crate::engine::output::exchange_view::Picture;
use crate::exchange::{Filed, LABELS_PATH, Stream, WorkItem, check};
use crate::layers::{LEDGER_PIN_PATH, README_PATH};
use crate::model::Tree;
use crate::prompt::{RULES_PATH, sha256};

/// Where the default branch says which workstreams there are, and who takes part in each.
const STREAMS_FOLDER: &str = ".jules/workstreams";

/// How much of a digest tells one version of a file from another.
const DIGEST_CHARS: usize = 16;

/// The file that says so.
const ROSTER: &str = "scheduled.toml";

/// The documents, and the file that says what was written of them. They are read with the exchange.
pub const LEDGER_DOCUMENTS: [&str; 4] = [RULES_PATH, README_PATH, LABELS_PATH, LEDGER_PIN_PATH];

/// The exchange that a snapshot holds. `None`: it is to be read first.
pub(crate) fn at_hand(snapshot: &Snapshot) -> Option<Tree> {
    let head = match &snapshot.ledger {
        // Nothing was ever handed over where there is no branch.
        Ledger::Missing { head: None } => return Some(Tree::new()),
        Ledger::Missing { head: Some(head) } | Ledger::Present { head, .. } => head,
        Ledger::Corrupt { .. } => return None,
    };
    let read = snapshot.exchange.as_ref();
    read.filter(|read| read.head == *head)
        .map(|read| read.tree.clone())
}

/// Asks for what is not there yet of the exchange and of the files of layers. Whether something is missing.
pub(crate) fn unread(draft: &mut Draft<'_>) -> bool {
    let exchange = draft.exchange.is_none();
    let layers = !draft.snapshot.layers_read;
    draft.needs.exchange |= exchange;
    draft.needs.layers |= layers;
    exchange || layers
}

/// The same, with what one slot's prompt takes besides.
pub(crate) fn unread_for(draft: &mut Draft<'_>, seat: &Seat) -> bool {
    let commits = *seat == Seat::Narrator && new_commits::unread(draft);
    let words = *seat == Seat::Integrator && reviewer_remarks::unread_of_candidates(draft);
    unread(draft) || commits || words
}

/// The exchange as this decision leaves it.
pub(crate) fn picture(draft: &Draft<'_>) -> Rc<Picture> {
    let read = || {
        let tree = tree(draft);
        let checked = check(&tree);
        Rc::new(Picture {
            is_unreadable: checked.exchange.is_none() && !checked.found.is_empty(),
            exchange: checked.exchange,
            tree,
        })
    };
    Rc::clone(draft.picture.get_or_init(read))
}

fn tree(draft: &Draft<'_>) -> Tree {
    let mut exchange = draft.exchange.clone().unwrap_or_default();
    for path in LEDGER_DOCUMENTS {
        exchange.remove(path);
    }
    let intents: BTreeMap<String, Option<String>> = draft
        .snapshot
        .tree
        .iter()
        .filter(|(path, _)| {
            let of_stream = path
                .strip_prefix(STREAMS_FOLDER)
                .and_then(|rest| rest.strip_prefix('/')?.split_once('/'))
                .is_some_and(|(_, file)| file == ROSTER);
            of_stream || *path == LABELS_PATH
        })
        .filter_map(|(path, entry)| {
            Some((path.to_owned(), Some(entry.text.as_deref()?.to_owned())))
        })
        .collect();
    exchange.with(&intents)
}

/// What is still as a session was given it, by the digests that its turn remembers.
pub(crate) fn as_given(tree: &Tree, given: &BTreeMap<String, String>) -> Tree {
    let mut same = Tree::new();
    for (path, known) in given {
        if let Some(entry) = tree.get(path)
            && entry.text.as_deref().map(digest).as_ref() == Some(known)
        {
            same.insert(path, entry.clone());
        }
    }
    same
}

/// The digests of the work items of a stream, by path, which a session that may write them is given.
pub(crate) fn given(stream: &Stream, tree: &Tree) -> BTreeMap<String, String> {
    let items = stream.items.iter();
    let items = items.filter_map(|item| Some((item.path.clone(), digest(tree.text(&item.path)?))));
    items.collect()
}

fn digest(text: &str) -> String {
    let mut whole = sha256(text);
    whole.truncate(DIGEST_CHARS);
    whole
}

/// A work item of a stream by its id.
pub(crate) fn item<'e>(stream: &'e Stream, id: &str) -> Option<&'e Filed<WorkItem>> {
    stream.items.iter().find(|item| item.value.id == id)
}

/// Whether a path is that of a document of the ledger, which layers never read.
pub(crate) fn is_document(path: &str) -> bool {
    LEDGER_DOCUMENTS.contains(&path)
}
