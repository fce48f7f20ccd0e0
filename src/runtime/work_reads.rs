//! Reads what the records of work are made from: the files of pull requests, and the records on the ledger; and what
//! people wrote about refused work. What cannot be read is read again by the next tick.

use std::collections::BTreeMap;

use phileas_domain::engine::{Ledger, ReadRequests, Snapshot, WorkFilesRead};
use phileas_domain::model::Oid;
use phileas_domain::work::WORK_FOLDER;

use super::ports::ReadGitHub;

/// Reads the requested files.
pub(super) async fn read_work(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
) {
    for pull in &needs.pull_files {
        match github.read_pull_files(*pull).await {
            Ok(files) => {
                snapshot.pull_files.insert(*pull, files);
            }
            Err(failure) => {
                tracing::warn!(pull = pull.0, %failure, "the files of a pull request could not be read; its work is \
                    recorded later");
                snapshot.unread_pull_files.insert(*pull);
            }
        }
    }
    for pull in &needs.pull_activity {
        match github.read_pull_activity(*pull).await {
            Ok(read) => {
                snapshot.pull_activity.insert(*pull, read);
            }
            Err(failure) => {
                tracing::warn!(pull = pull.0, %failure, "what happened on a pull request could not be read; it is \
                    labelled later");
            }
        }
    }
    let with_reviews = snapshot.plan.novelty.quote_reviews;
    for pull in &needs.refusal_texts {
        match github.read_refusal_texts(*pull, with_reviews).await {
            Ok(read) => {
                snapshot.refusal_texts.insert(*pull, read);
            }
            Err(failure) => {
                tracing::warn!(pull = pull.0, %failure, "what people wrote on a refused pull request could not be read; \
                    the prompt goes without it");
                snapshot.refusal_texts.insert(*pull, None);
            }
        }
    }
    if !needs.work_files.is_empty() {
        read_records(github, snapshot, needs).await;
    }
}

async fn read_records(github: &impl ReadGitHub, snapshot: &mut Snapshot, needs: &ReadRequests) {
    let Ledger::Present { head, .. } = &snapshot.ledger else {
        return;
    };
    let head = head.clone();
    let paths: Vec<&str> = needs.work_files.iter().map(String::as_str).collect();
    let tree = match github.read_folders(&head, &paths).await {
        Ok(tree) => tree,
        Err(failure) => {
            tracing::warn!(%failure, "the records of work could not be read; prompts go without them");
            return;
        }
    };
    let known = snapshot.work_files.take();
    let mut texts = known
        .filter(|known| known.head == head)
        .map_or_else(BTreeMap::new, |known| known.texts);
    for path in &needs.work_files {
        let exists = tree.get(path).is_some();
        let text = tree.text(path).map(str::to_owned);
        texts.insert(path.clone(), exists.then(|| text.unwrap_or_default()));
    }
    snapshot.work_files = Some(WorkFilesRead { head, texts });
}

/// Applies a commit of this tick to the known records, so that they are not read again.
pub(super) fn apply_commit(
    snapshot: &mut Snapshot,
    parent: Option<&Oid>,
    head: &Oid,
    files: &BTreeMap<String, Option<String>>,
) {
    let Some(mut known) = snapshot.work_files.take() else {
        return;
    };
    if Some(&known.head) != parent {
        return;
    }
    let is_record = |path: &str| {
        let rest = path.strip_prefix(WORK_FOLDER);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let written = files.iter().filter(|(path, _)| is_record(path));
    let written = written.map(|(path, text)| (path.clone(), text.clone()));
    known.texts.extend(written);
    known.head = head.clone();
    snapshot.work_files = Some(known);
}
