//! Reads workflows of a repository and their runs, which run phileas when it is used as an Action.

use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;

use super::reached::PAGE;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// The most runs of a workflow that are read.
pub const MAX_RUNS: usize = 20;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Workflow {
    /// Its number.
    pub id: u64,
    /// The path of its file.
    pub path: String,
    /// `active`, `disabled_manually`, `disabled_inactivity` (after 60 days without activity in a public repository),
    /// `disabled_fork`, `deleted`.
    /// <https://docs.github.com/en/rest/actions/workflows>
    pub state: String,
}

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WorkflowRun {
    /// What started it.
    #[serde(default)]
    pub event: String,
    /// `require_success`, `failure`, …; `None` while it runs.
    pub conclusion: Option<String>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When it started.
    pub run_started_at: Option<Timestamp>,
    /// When it last changed: when it ended, once it has.
    pub updated_at: Timestamp,
    /// Its page.
    #[serde(default)]
    pub html_url: String,
}

#[derive(Deserialize)]
struct Workflows {
    #[serde(default)]
    workflows: Vec<Workflow>,
}

#[derive(Deserialize)]
struct Runs {
    #[serde(default)]
    workflow_runs: Vec<WorkflowRun>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Variable {
    value: String,
}

impl Client {
    /// The repository's workflows, at most 100 of them.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub async fn list_workflows(&self) -> Result<Vec<Workflow>, Failure> {
        let route = routes::LIST_WORKFLOWS;
        let query = format!("?per_page={PAGE}");
        let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
        let found: Workflows = self.parse(route, &answer)?;
        Ok(found.workflows)
    }

    /// A workflow's newest runs, newest first.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub async fn workflow_runs(&self, id: u64) -> Result<Vec<WorkflowRun>, Failure> {
        let route = routes::LIST_WORKFLOW_RUNS;
        let query = format!("?per_page={MAX_RUNS}");
        let id = id.to_string();
        let answer = require_success(route, self.read_route(route, &[&id], &query).await?)?;
        let found: Runs = self.parse(route, &answer)?;
        Ok(found.workflow_runs)
    }

    /// Enables a workflow. Doing so twice does no harm.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or refuses this credential: it needs `actions: write`.
    pub async fn enable_workflow(&self, id: u64) -> Result<(), Failure> {
        let route = routes::ENABLE_WORKFLOW;
        let id = id.to_string();
        let answer = self
            .call_rest(route, &[&id], "", CallKind::Write, None)
            .await?;
        require_success(route, answer).map(drop)
    }

    /// The names of the files directly in a folder of a branch; empty if there is no such folder. GitHub lists the
    /// first 1,000.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub async fn file_names(&self, branch: &str, folder: &str) -> Result<Vec<String>, Failure> {
        let route = routes::READ_CONTENTS;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("ref", branch)
            .finish();
        let answer = self
            .read_route(route, &[folder], &format!("?{query}"))
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let answer = require_success(route, answer)?;
        if !answer.body.starts_with(b"[") {
            return Ok(Vec::new());
        }
        let named: Vec<Named> = self.parse(route, &answer)?;
        let files = named.into_iter().filter(|one| one.kind != "symlink");
        Ok(files.map(|one| one.name).collect())
    }

    /// An Actions variable; `None`: there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn read_variable(&self, name: &str) -> Result<Option<String>, Failure> {
        let route = routes::READ_VARIABLE;
        let answer = self.read_route(route, &[name], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let answer = require_success(route, answer)?;
        self.parse(route, &answer)
            .map(|variable: Variable| Some(variable.value))
    }
}
