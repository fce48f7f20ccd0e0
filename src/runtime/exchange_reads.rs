//! Reads what decisions about turns of layers need: the exchange, the layers' files, commits of the
//! default branch, and the files that sessions wrote. A turn waits for what cannot be read, and the next
//! tick reads it again.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::engine::{
    CommitSpan, ExchangeRead, LEDGER_DOCUMENTS, Ledger, ReadRequests, SessionFiles, Snapshot,
};
use phileas_domain::exchange::{self, ChangedFile, FileContent};
use phileas_domain::model::{Oid, PullNumber, SessionId, Tree};
use phileas_domain::prompt::is_feedback_of_role;

use super::observe::sessions::leave_unread;
use super::ports::{Failure, ReadGitHub, ReadJules};

/// The paths of the exchange in both layouts, and of the roles' memories.
const EXCHANGE: [&str; 4] = [
    ".jules/exchange",
    ".jules/workstations",
    ".jules/workstreams",
    ".jules/changes",
];
/// The paths below which the ledger may store rejections for each role, as seed 000's form does.
const ROLES: [&str; 2] = [".jules/roles", ".jules/layers"];
/// The paths of files that override the layers' instructions and choose their members.
const LAYERS: [&str; 6] = [
    ".jules/layers",
    ".jules/roles",
    ".jules/workstreams",
    ".jules/JULES.md",
    ".jules/github-labels.json",
    ".jlo/roles",
];

/// Reads the requested parts of the exchange.
pub(super) async fn read_exchange(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
) {
    if needs.exchange {
        read_exchange_files(github, snapshot).await;
    }
    if needs.layers {
        read_layer_files(github, snapshot).await;
    }
    for span in &needs.commits {
        match github.read_commits(span).await {
            Ok(commits) => snapshot.commits.push(commits),
            Err(failure) => {
                tracing::warn!(%failure, "commits of the default branch could not be read; what depends on them waits");
            }
        }
    }
    for (id, pull) in &needs.session_files {
        match read_written(github, jules, snapshot, id, pull.as_ref()).await {
            Ok(read) => {
                snapshot.session_files.insert(id.clone(), read);
            }
            Err(failure) => leave_unread(snapshot, id, &failure),
        }
    }
}

async fn read_exchange_files(github: &impl ReadGitHub, snapshot: &mut Snapshot) {
    let head = match &snapshot.ledger {
        Ledger::Missing { head: Some(head) } | Ledger::Present { head, .. } => head.clone(),
        Ledger::Missing { head: None } | Ledger::Corrupt { .. } => return,
    };
    // The documents are written together with the exchange.
    let paths = [&EXCHANGE[..], &ROLES, &LEDGER_DOCUMENTS].concat();
    match github.read_folders(&head, &paths).await {
        Ok(read) => {
            let mut tree = Tree::new();
            let of_roles = |path: &str| ROLES.iter().any(|folder| is_inside(path, folder));
            let counts = |path: &str| !of_roles(path) || is_feedback_of_role(path);
            for (path, entry) in read.iter().filter(|(path, _)| counts(path)) {
                tree.insert(path, entry.clone());
            }
            snapshot.exchange = Some(ExchangeRead { head, tree });
        }
        Err(failure) => {
            tracing::warn!(%failure, "the exchange could not be read; its layers wait");
        }
    }
}

fn is_inside(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

async fn read_layer_files(github: &impl ReadGitHub, snapshot: &mut Snapshot) {
    let Some(commit) = snapshot.repository.default_head.clone() else {
        return;
    };
    match github.read_folders(&commit, &LAYERS).await {
        Ok(tree) => {
            snapshot.tree.take_in(&tree);
            snapshot.layers_read = true;
        }
        Err(failure) => {
            tracing::warn!(%failure, "the files of layers could not be read; their prompts wait");
        }
    }
}

/// Reads what a session wrote: from Jules, or else from its pull request at the commit that was
/// read.
async fn read_written(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    snapshot: &Snapshot,
    id: &SessionId,
    pull: Option<&(PullNumber, Oid)>,
) -> Result<SessionFiles, Failure> {
    let default = &snapshot.repository.default_head;
    let patch = match (jules.read_patch(id).await?, pull, default) {
        (Some(patch), _, _) => patch,
        (None, Some((_, head)), Some(default)) => {
            return read_pull_files(github, default, head).await;
        }
        (None, _, _) => return Ok(SessionFiles::default()),
    };
    let paths = exchange::base_paths(&patch.diff);
    let base = patch.base.or_else(|| default.clone());
    let texts = match base.filter(|_| !paths.is_empty()) {
        Some(base) => github.read_texts(&base, &paths).await?,
        None => BTreeMap::new(),
    };
    let (files, found) = exchange::apply_patch(&patch.diff, &texts);
    Ok(SessionFiles {
        files,
        diagnostics: found,
    })
}

/// Reads the whole files of a pull request at a commit. Files outside the exchange count by their
/// paths only.
async fn read_pull_files(
    github: &impl ReadGitHub,
    base: &Oid,
    head: &Oid,
) -> Result<SessionFiles, Failure> {
    let span = CommitSpan {
        after: Some(base.clone()),
        until: head.clone(),
    };
    let paths = github.read_commits(&span).await?.files;
    let inside = |path: &&String| path.starts_with(".jules/");
    let wanted: BTreeSet<String> = paths.iter().filter(inside).cloned().collect();
    let texts = match wanted.is_empty() {
        true => BTreeMap::new(),
        false => github.read_texts(head, &wanted).await?,
    };
    let files = paths.into_iter().map(|path| {
        let text = match wanted.contains(&path) {
            true => texts.get(&path).cloned(),
            false => Some(String::new()),
        };
        // A file that is no text counts as removed: neither can be imported.
        let content = text.map_or(FileContent::Removed, FileContent::Text);
        ChangedFile { path, content }
    });
    Ok(SessionFiles {
        files: files.collect(),
        diagnostics: Vec::new(),
    })
}

/// Applies a commit of this tick to the known exchange, so that it is not read again.
pub(super) fn apply_commit(
    snapshot: &mut Snapshot,
    parent: Option<&Oid>,
    head: &Oid,
    files: &BTreeMap<String, Option<String>>,
) {
    let below = |path: &str| EXCHANGE.iter().any(|folder| is_inside(path, folder));
    let is_read = |path: &str| below(path) || LEDGER_DOCUMENTS.contains(&path);
    if files.keys().any(|path| below(path)) {
        // Only the next read shows GitHub's id for it.
        snapshot.exchange_id = None;
    }
    let known = match (&snapshot.exchange, parent) {
        (Some(read), Some(parent)) if read.head == *parent => read.tree.clone(),
        // A branch that was just created contains what this commit wrote.
        (_, None) => Tree::new(),
        _ => return,
    };
    let files = files.iter().filter(|(path, _)| is_read(path));
    let files: BTreeMap<_, _> = files
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect();
    snapshot.exchange = Some(ExchangeRead {
        head: head.clone(),
        tree: known.with(&files),
    });
}
