//! Updates the files that bear a seal of phileas to what this version writes.

use phileas_domain::layers::{FileChangeKind, Move};

use super::plan;
use super::repository_files::RepositoryFiles;
use super::seal::{self, Seal, seal_of, sealed};
use super::workflow::{self, Pin, WORKFLOW_PATH};

/// What becomes of the workflow and of the personas that `phileas init` wrote. The plan and `.jlo/config.toml` were written
/// to be changed, so they belong to the repository. `pin`: without one, the workflow is left alone.
#[must_use]
pub fn sealed_files(found: &RepositoryFiles, pin: Option<&Pin>) -> Vec<Move> {
    let mut moves = Vec::new();
    if let (Some(text), Some(pin)) = (found.workflows.get(WORKFLOW_PATH), pin) {
        let new = sealed(&workflow::text(found, pin));
        let mut change = file_move(WORKFLOW_PATH, text, new);
        // An edited workflow keeps its text, but it must run the commit that was asked for.
        if let Some(Move { kind, .. }) = &mut change
            && matches!(kind, FileChangeKind::Changed(_))
            && let Some(pinned) = workflow::with_pin(text, pin)
        {
            *kind = FileChangeKind::Pin(pinned);
        }
        moves.extend(change);
    }
    for starter in plan::STARTERS {
        let path = plan::prompt_path(starter.id);
        if let Some(text) = found.tree.text(&path) {
            moves.extend(file_move(&path, text, sealed(starter.prompt)));
        }
    }
    moves
}

/// `None`: it bears no seal of ours.
fn file_move(path: &str, text: &str, new: String) -> Option<Move> {
    let fate = match seal_of(text) {
        Seal::None => return None,
        _ if text.replace("\r\n", "\n") == new => FileChangeKind::Same,
        Seal::Unchanged => FileChangeKind::Replace(new),
        // The seal tells which text was written: where this version would write the same, there is nothing to merge.
        Seal::Changed if seal::written_digest(text) == seal::written_digest(&new) => {
            FileChangeKind::Changed(new)
        }
        Seal::Changed => FileChangeKind::Conflict(new),
    };
    Some(Move {
        path: path.to_owned(),
        kind: fate,
    })
}
