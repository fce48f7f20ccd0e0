//! Workflow runs and releases.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;

use super::ActError;
use crate::github::repository::{Release, Workflow, WorkflowRun};
use crate::github::{Model, Oid, RepoId};

impl Model {
    /// Starts a run of the workflow in this file (`.github/workflows/ci.yml`) and gives its number. An unknown
    /// workflow is made.
    ///
    /// # Errors
    /// When repository or branch does not exist.
    pub fn start_run(
        &mut self,
        repo: RepoId,
        path: &str,
        event: &str,
        branch: &str,
        actor: &str,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let actor = self.account(actor);
        let (id, new_workflow) = (self.next_id(), self.next_id());
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let commit = repository.branch(branch).ok_or(ActError::NotFound)?;
        let known = repository
            .workflows
            .iter()
            .find(|workflow| workflow.path == path)
            .map(|workflow| workflow.id);
        let workflow = known.unwrap_or(new_workflow);
        if known.is_none() {
            repository.workflows.push(Workflow {
                id: workflow,
                name: path.rsplit('/').next().unwrap_or(path).to_owned(),
                path: path.to_owned(),
                state: "active".to_owned(),
                created_at: now,
            });
        }
        repository.runs.push(WorkflowRun {
            id,
            workflow,
            event: event.to_owned(),
            branch: branch.to_owned(),
            commit,
            status: "in_progress".to_owned(),
            conclusion: None,
            actor,
            created_at: now,
            updated_at: now,
            log: String::new(),
        });
        self.emit_run(repo, id, "requested", actor, now);
        Ok(id)
    }

    /// Ends a run with a conclusion (`success`, `failure`, `cancelled`, …) and the text of its log.
    ///
    /// # Errors
    /// When the run does not exist.
    pub fn finish_run(
        &mut self,
        repo: RepoId,
        id: u64,
        conclusion: &str,
        log: &str,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let run = repository
            .runs
            .iter_mut()
            .find(|run| run.id == id)
            .ok_or(ActError::NotFound)?;
        run.status = "completed".to_owned();
        run.conclusion = Some(conclusion.to_owned());
        run.updated_at = now;
        run.log = log.to_owned();
        let actor = run.actor;
        self.note_write(
            repo,
            actor,
            "run.completed",
            json!({"id": id, "conclusion": conclusion}),
            now,
        );
        self.emit_run(repo, id, "completed", actor, now);
        Ok(())
    }

    fn emit_run(&mut self, repo: RepoId, id: u64, action: &str, actor: u64, now: Timestamp) {
        self.emit_event(repo, "workflow_run", Some(action), actor, now, |model| {
            model.run_payload(repo, id)
        });
    }

    /// Publishes a release with its files; the tag is made at the default branch's head when it does not exist.
    ///
    /// # Errors
    /// When the repository does not exist or is empty.
    pub fn publish_release(
        &mut self,
        repo: RepoId,
        tag: &str,
        assets: &[(&str, Bytes)],
        actor: &str,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let actor = self.account(actor);
        let name = format!("refs/tags/{tag}");
        let repository = self.repository(repo).ok_or(ActError::NotFound)?;
        if !repository.refs.contains_key(&name) {
            let head: Oid = repository
                .branch(&repository.default_branch)
                .ok_or(ActError::ReferenceMissing)?;
            self.create_ref(repo, &name, head, actor, now)?;
        }
        let id = self.next_id();
        let assets = assets
            .iter()
            .map(|(name, content)| (self.next_id(), (*name).to_owned(), content.clone()))
            .collect();
        let release = Release {
            id,
            tag: tag.to_owned(),
            name: tag.to_owned(),
            body: String::new(),
            draft: false,
            prerelease: false,
            author: actor,
            created_at: now,
            assets,
        };
        self.repository_mut(repo)
            .ok_or(ActError::NotFound)?
            .releases
            .push(release);
        self.note_write(repo, actor, "release.published", json!({"tag": tag}), now);
        Ok(id)
    }
}
