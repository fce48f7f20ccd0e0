//! The records as they stand on the ledger.

use std::collections::BTreeMap;

use phileas_domain::engine::{Ledger, RepositoryView, Snapshot};
use phileas_domain::model::{Oid, RepositoryName};
use phileas_domain::plan::Plan;
use phileas_domain::state::State;
use phileas_domain::work::{HOT_PATH, Likeness, Neighbour, WorkFile, WorkRecord};
use serde_json::{Value, json};

use crate::adapters::github::Client;
use crate::cli::exit::CliError;
use crate::cli::terminal::output;
use crate::runtime::ports::{LedgerRead, ReadGitHub as _};
use crate::runtime::{EditError, ledger_of};

/// The records of a repository, and what else one read of it shows.
pub(super) struct Records {
    /// The commit of the branch `jules`.
    pub(super) head: Oid,
    /// The state.
    pub(super) state: State,
    /// The plan of the default branch.
    pub(super) plan: Plan,
    /// What all commands show of the repository.
    pub(super) view: RepositoryView,
    /// GitHub's time.
    pub(super) now: jiff::Timestamp,
    /// The files that can be read, by path.
    pub(super) files: BTreeMap<String, WorkFile>,
    /// The files that cannot be read, with the reason.
    pub(super) broken: BTreeMap<String, String>,
}

impl Records {
    /// Reads the records below these paths.
    pub(super) async fn read(github: &Client, paths: &[&str]) -> Result<Self, CliError> {
        let observation = github.observe_repository().await?;
        let now = observation.now;
        let mut snapshot = Snapshot::unread(now, observation.repository, observation.tree);
        snapshot.pulls = observation.pulls;
        let (head, state) = ledger_state(observation.ledger, &snapshot.repository.name)?;
        snapshot.ledger = Ledger::Present {
            head: head.clone(),
            state: Box::new(state.clone()),
        };
        let tree = github.read_folders(&head, paths).await?;
        let (mut files, mut broken) = (BTreeMap::new(), BTreeMap::new());
        for (path, entry) in tree.iter().filter(|(path, _)| path.ends_with(".json")) {
            let text = entry.text.as_deref();
            match text.map_or(
                Err("GitHub does not show its text".to_owned()),
                WorkFile::parse,
            ) {
                Ok(file) => {
                    files.insert(path.to_owned(), file);
                }
                Err(error) => {
                    broken.insert(path.to_owned(), error);
                }
            }
        }
        Ok(Self {
            head,
            state,
            view: RepositoryView::new(&snapshot, []),
            plan: snapshot.plan,
            now,
            files,
            broken,
        })
    }

    /// Says which files cannot be read. Returns whether all can.
    pub(super) fn report_broken(&self) -> Result<bool, CliError> {
        for (path, error) in &self.broken {
            output::print_error_lines(&format!(
                "warning: {path} on the branch jules: these work records cannot be read: {error}\nhelp: `phileas work \
                 rebuild` makes them again"
            ))?;
        }
        Ok(self.broken.is_empty())
    }

    /// The record of a pull request, and the path of its file. One that has come back to `hot.json` may have an older one in
    /// its segment.
    pub(super) fn find(&self, pull: u64) -> Option<(&str, &WorkRecord)> {
        let hot = self.files.get_key_value(HOT_PATH);
        let mut files = hot.into_iter().chain(&self.files);
        files.find_map(|(path, file)| Some((path.as_str(), file.get(pull)?)))
    }

    /// The records that are like this one. Only those that are open or remembered keep lines and files to compare.
    pub(super) fn neighbours(&self, record: &WorkRecord) -> Vec<Neighbour<'_>> {
        let hot = self.files.get(HOT_PATH);
        let others = hot.into_iter().flat_map(WorkFile::records);
        match hot.and_then(|hot| hot.get(record.pr)) {
            Some(_) => Neighbour::all_of(record, others),
            None => Vec::new(),
        }
    }
}

fn ledger_state(ledger: LedgerRead, name: &RepositoryName) -> Result<(Oid, State), CliError> {
    match ledger_of(ledger) {
        Ledger::Present { head, state } => Ok((head, *state)),
        Ledger::Missing { .. } => Err(EditError::NoLedger(name.clone()).into()),
        Ledger::Corrupt { diagnostics, .. } => {
            let first = diagnostics.first();
            let first = first.map_or_else(String::new, ToString::to_string);
            Err(EditError::Corrupt(first).into())
        }
    }
}

/// What became of a pull request.
pub(super) fn outcome_text(record: &WorkRecord) -> String {
    let outcome = record.outcome.as_ref();
    let outcome = outcome.map_or_else(|| "open".to_owned(), ToString::to_string);
    match &record.refused {
        Some(refusal) => format!("{outcome}: {}", refusal.reason.as_str()),
        None => outcome,
    }
}

/// `same as #9`, `close to #9`.
pub(super) fn neighbour_text(one: &Neighbour<'_>) -> String {
    let number = one.record.pr;
    match one.similarity.likeness() {
        Likeness::Same => format!("same as #{number}"),
        Likeness::Close | Likeness::Different => format!("close to #{number}"),
    }
}

/// A record with its neighbours, as JSON.
pub(super) fn record_json(
    record: &WorkRecord,
    neighbours: &[Neighbour<'_>],
) -> Result<Value, CliError> {
    let mut document =
        serde_json::to_value(record).map_err(|error| CliError::fault(error.to_string()))?;
    let near = neighbours.iter().map(|one| {
        let similarity = one.similarity;
        json!({
            "pr": one.record.pr,
            "likeness": similarity.likeness().as_str(),
            "title": similarity.title,
            "paths": similarity.paths,
            "hunks": similarity.hunks,
            "terms": similarity.terms,
        })
    });
    document["neighbours"] = near.collect();
    Ok(document)
}
