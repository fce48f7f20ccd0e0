//! phileas with the credentials of the environment, for the tools that ask it.

use phileas_domain::engine::{Ask, MergeFacts, MergeMethod, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::super::connect::{self, Connection};
use crate::mcp::{House, Trouble};
use crate::runtime::ports::hire::Answer;
use crate::runtime::ports::{LedgerRead, ReadGitHub as _, WriteGitHub as _};
use crate::runtime::{self, Tick, TickReport};

/// Each call takes the credentials anew: a server that only speaks with Jules needs none of GitHub.
pub(super) struct EnvironmentHouse;

fn trouble(stopped: super::super::exit::Stopped) -> Trouble {
    Trouble::new(stopped.message)
}

impl House for EnvironmentHouse {
    fn explain<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: Ask,
    ) -> Answer<'a, Result<(TickReport, Box<Snapshot>), Trouble>> {
        Box::pin(async move {
            let connection = Connection::from_environment(repository).map_err(trouble)?;
            let settings = connection.settings(ask).map_err(trouble)?;
            let (report, sight) = runtime::explain(
                &connection.github,
                &connection.jules,
                &connection.stopwatch,
                &settings,
            )
            .await?;
            Ok((report, Box::new(sight.snapshot)))
        })
    }

    fn run<'a>(
        &'a self,
        repository: &'a RepositoryName,
        ask: Ask,
    ) -> Answer<'a, Result<TickReport, Trouble>> {
        Box::pin(async move {
            let connection = Connection::from_environment(repository).map_err(trouble)?;
            let settings = connection.settings(ask).map_err(trouble)?;
            let tick = Tick {
                github: &connection.github,
                jules: &connection.jules,
                stopwatch: &connection.stopwatch,
            };
            Ok(tick.run(&settings).await?)
        })
    }

    fn state<'a>(
        &'a self,
        repository: &'a RepositoryName,
    ) -> Answer<'a, Result<Option<String>, Trouble>> {
        Box::pin(async move {
            let github = connect::github(repository).map_err(trouble)?;
            Ok(match github.observe().await?.ledger {
                LedgerRead::State { text, .. } => Some(text),
                LedgerRead::NoBranch | LedgerRead::NoState { .. } => None,
                LedgerRead::Unreadable { what, .. } => {
                    return Err(Trouble::new(format!(
                        "the ledger of {repository} cannot be read: {what}"
                    )));
                }
            })
        })
    }

    fn text<'a>(
        &'a self,
        repository: &'a RepositoryName,
        path: &'a str,
    ) -> Answer<'a, Result<Option<String>, Trouble>> {
        Box::pin(async move {
            let github = connect::github(repository).map_err(trouble)?;
            let Some(head) = github.observe().await?.repository.default_head else {
                return Ok(None);
            };
            let paths = [path.to_owned()].into();
            Ok(github.read_texts(&head, &paths).await?.remove(path))
        })
    }

    fn merge_facts<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
    ) -> Answer<'a, Result<Option<MergeFacts>, Trouble>> {
        Box::pin(async move {
            let github = connect::github(repository).map_err(trouble)?;
            Ok(github.read_merge_facts(pull).await?)
        })
    }

    fn merge<'a>(
        &'a self,
        repository: &'a RepositoryName,
        pull: PullNumber,
        head: &'a Oid,
        method: MergeMethod,
    ) -> Answer<'a, Result<(), Trouble>> {
        Box::pin(async move {
            let github = connect::github(repository).map_err(trouble)?;
            Ok(github.merge_pull(pull, head, method).await?)
        })
    }
}
