//! phileas for the MCP tools: with the credentials of the environment, or as the service.

use std::sync::Arc;

use async_trait::async_trait;
use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};

use super::super::tick;
use super::call::cause_of;
use crate::adapters::github;
use crate::adapters::jules::RepositoryJules;
use crate::cli::context::clients::{self, Connection};
use crate::cli::exit::CliError;
use crate::mcp::{ErrorCause, PhileasApi, TickAnswer, ToolError};
use crate::runtime::ports::{LedgerRead, ReadGitHub as _, WriteGitHub as _};
use crate::runtime::{self, Tick, TickReport};
use crate::server::accounts::external_services::SharedStopwatch;
use crate::server::repositories::{Member, Repositories};

/// The credentials for a repository.
pub(super) enum RepositoryAccess {
    /// Those of the environment. Each call reads them again: a server that only uses Jules needs none for GitHub.
    Environment,
    /// Those of the service: its App or token, and the repository's own Jules key.
    Service(Arc<Repositories>),
}

/// The clients of one call.
struct CallClients {
    github: github::Client,
    jules: RepositoryJules,
    stopwatch: SharedStopwatch,
}

impl RepositoryAccess {
    fn github_client(&self, repository: &RepositoryName) -> Result<github::Client, ToolError> {
        match self {
            Self::Environment => clients::github_client(repository).map_err(mcp_error),
            Self::Service(repositories) => {
                let member = find_member(repositories, repository)?;
                Ok(repositories.client_of(&member))
            }
        }
    }

    fn call_clients(&self, repository: &RepositoryName) -> Result<CallClients, ToolError> {
        match self {
            Self::Environment => {
                let connection = Connection::from_environment(repository).map_err(mcp_error)?;
                Ok(CallClients {
                    github: connection.github,
                    jules: connection.jules,
                    stopwatch: SharedStopwatch::new(Arc::new(connection.stopwatch)),
                })
            }
            Self::Service(repositories) => {
                let member = find_member(repositories, repository)?;
                let key = repositories.key_of(&member.name);
                let key = key.map_err(|no_key| {
                    ToolError::with_cause(ErrorCause::Credential, no_key.to_string())
                })?;
                Ok(CallClients {
                    github: self.github_client(repository)?,
                    jules: RepositoryJules::new(key.client, member.name.clone()),
                    stopwatch: repositories.external_services().shared_stopwatch(),
                })
            }
        }
    }
}

fn find_member(
    repositories: &Repositories,
    repository: &RepositoryName,
) -> Result<Arc<Member>, ToolError> {
    let mut members = repositories.list_members().into_iter();
    members
        .find(|member| member.name == *repository)
        .ok_or_else(|| {
            ToolError::input(format!(
                "the service does not look after {repository}; a person can install its App there, or name it in \
                 phileas.toml"
            ))
        })
}

fn mcp_error(stopped: CliError) -> ToolError {
    let cause = cause_of(stopped.exit).unwrap_or(ErrorCause::Call);
    ToolError::with_cause(cause, stopped.message)
}

/// The answer of a tool with the cause for which `phileas tick` has an exit code.
fn tick_answer(report: TickReport, ask: &RunRequest) -> TickAnswer {
    let cause = cause_of(tick::exit_of_report(&report, ask));
    TickAnswer { report, cause }
}

#[async_trait]
impl PhileasApi for RepositoryAccess {
    async fn explain_repository(
        &self,
        repository: &RepositoryName,
        ask: RunRequest,
    ) -> Result<(TickAnswer, Box<Snapshot>), ToolError> {
        let way = self.call_clients(repository)?;
        let settings = clients::run_settings(ask).map_err(mcp_error)?;
        let (report, sight) =
            runtime::explain_repository(&way.github, &way.jules, &way.stopwatch, &settings).await?;
        Ok((tick_answer(report, &settings.ask), Box::new(sight.snapshot)))
    }

    async fn run(
        &self,
        repository: &RepositoryName,
        ask: RunRequest,
    ) -> Result<TickAnswer, ToolError> {
        let way = self.call_clients(repository)?;
        let settings = clients::run_settings(ask).map_err(mcp_error)?;
        let tick = Tick {
            github: &way.github,
            jules: &way.jules,
            stopwatch: &way.stopwatch,
        };
        let report = tick.run(&settings).await?;
        Ok(tick_answer(report, &settings.ask))
    }

    async fn read_state(&self, repository: &RepositoryName) -> Result<Option<String>, ToolError> {
        let github = self.github_client(repository)?;
        Ok(match github.observe_repository().await?.ledger {
            LedgerRead::State { text, .. } => Some(text),
            LedgerRead::NoBranch | LedgerRead::NoState { .. } => None,
            LedgerRead::Unreadable { what, .. } => {
                return Err(ToolError::with_cause(
                    ErrorCause::Corrupt,
                    format!("the ledger of {repository} cannot be read: {what}"),
                ));
            }
        })
    }

    async fn read_text(
        &self,
        repository: &RepositoryName,
        path: &str,
    ) -> Result<Option<String>, ToolError> {
        let github = self.github_client(repository)?;
        let Some(head) = github.observe_repository().await?.repository.default_head else {
            return Ok(None);
        };
        let paths = [path.to_owned()].into();
        Ok(github.read_texts(&head, &paths).await?.remove(path))
    }

    async fn merge_facts(
        &self,
        repository: &RepositoryName,
        pull: PullNumber,
    ) -> Result<Option<MergeFacts>, ToolError> {
        let github = self.github_client(repository)?;
        Ok(github.read_merge_facts(pull).await?)
    }

    async fn merge_pull(
        &self,
        repository: &RepositoryName,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> Result<(), ToolError> {
        let github = self.github_client(repository)?;
        Ok(github.merge_pull(pull, head, method).await?)
    }
}
