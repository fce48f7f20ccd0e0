//! The exchange as a decision leaves it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::draft::Draft;
use super::super::{Ledger, Snapshot};
use super::documents::LEDGER_DOCUMENTS;
use super::seat::Seat;
use super::{narrated, reviewed};
use crate::exchange::{Exchange, Filed, LABELS_PATH, Stream, WorkItem, check};
use crate::model::Tree;
use crate::prompt::sha256;

/// Where the default branch says which workstreams there are, and who takes part in each.
const STREAMS_FOLDER: &str = ".jules/workstreams";
/// How much of a digest tells one version of a file from another.
const DIGEST_CHARS: usize = 16;
/// The file that says so.
const ROSTER: &str = "scheduled.toml";

/// The exchange that a snapshot holds. `None`: it is to be read first.
pub(in crate::engine) fn at_hand(snapshot: &Snapshot) -> Option<Tree> {
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
pub(in crate::engine) fn unread(draft: &mut Draft<'_>) -> bool {
    let exchange = draft.exchange.is_none();
    let layers = !draft.snapshot.layers_read;
    draft.needs.exchange |= exchange;
    draft.needs.layers |= layers;
    exchange || layers
}

/// The same, with what one slot's prompt takes besides.
pub(in crate::engine) fn unread_for(draft: &mut Draft<'_>, seat: &Seat) -> bool {
    let commits = *seat == Seat::Narrator && narrated::unread(draft);
    let words = *seat == Seat::Integrator && reviewed::unread_of_candidates(draft);
    unread(draft) || commits || words
}

/// The exchange, read.
#[derive(Debug)]
pub(in crate::engine) struct Picture {
    /// The files of the exchange, with what people say about them on the default branch: which workstreams there are,
    /// and which labels.
    pub(super) tree: Tree,
    /// The exchange as it reads. `None`: it has not begun, or nobody can say which of two layouts counts.
    pub(super) exchange: Option<Exchange>,
    /// Whether nobody can say what the exchange holds, though there is one: that of two layouts at once.
    pub(super) is_unreadable: bool,
}

/// The exchange as this decision leaves it.
pub(super) fn picture(draft: &Draft<'_>) -> Rc<Picture> {
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
pub(super) fn as_given(tree: &Tree, given: &BTreeMap<String, String>) -> Tree {
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
pub(super) fn given(stream: &Stream, tree: &Tree) -> BTreeMap<String, String> {
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
pub(super) fn item<'e>(stream: &'e Stream, id: &str) -> Option<&'e Filed<WorkItem>> {
    stream.items.iter().find(|item| item.value.id == id)
}
