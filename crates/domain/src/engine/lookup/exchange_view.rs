//! Reads the exchange as a decision leaves it, and requests it where it is missing.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::slot::SlotRole;
use super::{new_commits, reviewer_remarks};
use crate::engine::input::snapshot::{Ledger, Snapshot};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::exchange_view::ExchangeView;
use crate::exchange::{Filed, LABELS_PATH, Stream, WorkItem, check_exchange};
use crate::layers::{LEDGER_PIN_PATH, README_PATH};
use crate::model::Tree;
use crate::prompt::{RULES_PATH, prompt_sha256};

/// The folder of the default branch that declares workstreams and their members.
const STREAMS_FOLDER: &str = ".jules/workstreams";

/// Length of a digest that identifies a version of a file.
const DIGEST_CHARS: usize = 16;

/// The file in it that does.
const ROSTER: &str = "scheduled.toml";

/// The ledger's documents and the file that records their versions. They are read with the exchange.
pub const LEDGER_DOCUMENTS: [&str; 4] = [RULES_PATH, README_PATH, LABELS_PATH, LEDGER_PIN_PATH];

/// The exchange in a snapshot. `None`: it must be read first.
pub(crate) fn exchange_at_head(snapshot: &Snapshot) -> Option<Tree> {
    let head = match &snapshot.ledger {
        // Without a branch there is no exchange.
        Ledger::Missing { head: None } => return Some(Tree::new()),
        Ledger::Missing { head: Some(head) } | Ledger::Present { head, .. } => head,
        Ledger::Corrupt { .. } => return None,
    };
    let read = snapshot.exchange.as_ref();
    read.filter(|read| read.head == *head)
        .map(|read| read.tree.clone())
}

/// Requests the exchange and the files of layers where they are missing. Returns whether something is missing.
pub(crate) fn request_exchange(builder: &mut DecisionBuilder<'_>) -> bool {
    let exchange = builder.exchange.is_none();
    let layers = !builder.snapshot.layers_read;
    builder.reads.exchange |= exchange;
    builder.reads.layers |= layers;
    exchange || layers
}

/// Like [`request_exchange`], with the further inputs of one slot's prompt.
pub(crate) fn request_inputs(builder: &mut DecisionBuilder<'_>, slot_role: &SlotRole) -> bool {
    let commits = *slot_role == SlotRole::Narrator && new_commits::request_commits(builder);
    let words =
        *slot_role == SlotRole::Integrator && reviewer_remarks::request_candidate_remarks(builder);
    request_exchange(builder) || commits || words
}

/// Returns the exchange after this decision.
pub(crate) fn current_view(builder: &DecisionBuilder<'_>) -> Rc<ExchangeView> {
    let read = || {
        let tree = exchange_tree(builder);
        let checked = check_exchange(&tree);
        Rc::new(ExchangeView {
            is_unreadable: checked.exchange.is_none() && !checked.diagnostics.is_empty(),
            exchange: checked.exchange,
            tree,
        })
    };
    Rc::clone(builder.exchange_view.get_or_init(read))
}

fn exchange_tree(builder: &DecisionBuilder<'_>) -> Tree {
    let mut exchange = builder.exchange.clone().unwrap_or_default();
    for path in LEDGER_DOCUMENTS {
        exchange.remove(path);
    }
    let intents: BTreeMap<String, Option<String>> = builder
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

/// The input files that have not changed since a session got them, by the digests in its turn.
pub(crate) fn unchanged_inputs(tree: &Tree, given: &BTreeMap<String, String>) -> Tree {
    let mut same = Tree::new();
    for (path, known) in given {
        if let Some(entry) = tree.get(path)
            && entry.text.as_deref().map(short_digest).as_ref() == Some(known)
        {
            same.insert(path, entry.clone());
        }
    }
    same
}

/// The digests of a stream's work items, by path, for a session that may write them.
pub(crate) fn item_digests(stream: &Stream, tree: &Tree) -> BTreeMap<String, String> {
    let items = stream.items.iter();
    let items =
        items.filter_map(|item| Some((item.path.clone(), short_digest(tree.text(&item.path)?))));
    items.collect()
}

fn short_digest(text: &str) -> String {
    let mut whole = prompt_sha256(text);
    whole.truncate(DIGEST_CHARS);
    whole
}

/// A work item of a stream by its id.
pub(crate) fn find_item<'e>(stream: &'e Stream, id: &str) -> Option<&'e Filed<WorkItem>> {
    stream.items.iter().find(|item| item.value.id == id)
}

/// Whether a path is a document of the ledger, which layers never read.
pub(crate) fn is_ledger_document(path: &str) -> bool {
    LEDGER_DOCUMENTS.contains(&path)
}
