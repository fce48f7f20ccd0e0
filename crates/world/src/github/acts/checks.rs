//! Checks and statuses.

use jiff::Timestamp;
use serde_json::json;

use super::{ActError, MergeMethod};
use crate::github::object::Oid;
use crate::github::repository::{CheckOutput, CheckRun, State, Status};
use crate::github::{Model, RepoId};

impl Model {
    /// Reports a check on a commit: pending without a conclusion, completed with one (`success`, `failure`, …).
    pub fn set_checks(
        &mut self,
        repo: RepoId,
        commit: Oid,
        name: &str,
        conclusion: Option<&str>,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let (id, suite) = (self.next_id(), self.next_id());
        let app = self.login(actor).trim_end_matches("[bot]").to_owned();
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        let open = repository.checks.iter_mut().rev().find(|run| {
            run.commit == commit && run.name == name && run.app == app && run.conclusion.is_none()
        });
        let run = match open {
            Some(run) => {
                run.conclusion = conclusion.map(str::to_owned);
                run.completed_at = conclusion.map(|_| now);
                run.id
            }
            None => {
                let suite = repository
                    .checks
                    .iter()
                    .find(|run| run.commit == commit && run.app == app)
                    .map_or(suite, |run| run.suite);
                repository.checks.push(CheckRun {
                    id,
                    suite,
                    app,
                    name: name.to_owned(),
                    commit,
                    conclusion: conclusion.map(str::to_owned),
                    started_at: now,
                    completed_at: conclusion.map(|_| now),
                    output: CheckOutput::default(),
                });
                id
            }
        };
        let word = if conclusion.is_some() {
            "completed"
        } else {
            "created"
        };
        let detail = json!({"commit": commit, "name": name, "conclusion": conclusion});
        self.note_write(repo, actor, &format!("check.{word}"), detail, now);
        self.emit_event(
            repo,
            "check_run",
            Some(word),
            actor,
            now,
            |model| json!({"check_run": model.check_run(repo, run)}),
        );
        let all_done = self.repository(repo).is_some_and(|repository| {
            repository
                .checks
                .iter()
                .filter(|run| run.commit == commit)
                .all(|run| run.conclusion.is_some())
        });
        if conclusion.is_some() && all_done {
            self.emit_event(
                repo,
                "check_suite",
                Some("completed"),
                actor,
                now,
                |model| json!({"check_suite": model.check_suite_payload(repo, run)}),
            );
            self.try_auto_merge(repo, commit, now);
        }
    }

    /// Makes a job of GitHub Actions fail on a commit, with this output.
    pub fn fail_job(
        &mut self,
        repo: RepoId,
        commit: Oid,
        name: &str,
        output: CheckOutput,
        now: Timestamp,
    ) {
        let by = "github-actions[bot]";
        self.set_checks(repo, commit, name, None, by, now);
        if let Some(repository) = self.repository_mut(repo) {
            let run = repository.checks.iter_mut().rev();
            if let Some(run) = run
                .into_iter()
                .find(|run| run.commit == commit && run.name == name)
            {
                run.output = output;
            }
        }
        self.set_checks(repo, commit, name, Some("failure"), by, now);
    }

    /// Reports a status on a commit.
    #[expect(clippy::too_many_arguments, reason = "the fields of a status")]
    pub(crate) fn set_status(
        &mut self,
        repo: RepoId,
        commit: Oid,
        state: &str,
        context: &str,
        description: Option<&str>,
        target_url: Option<&str>,
        actor: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let id = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.statuses.push(Status {
            id,
            commit,
            state: state.to_owned(),
            context: context.to_owned(),
            description: description.map(str::to_owned),
            target_url: target_url.map(str::to_owned),
            creator: actor,
            at: now,
        });
        self.note_write(
            repo,
            actor,
            "status.set",
            json!({"commit": commit, "state": state, "context": context}),
            now,
        );
        Ok(id)
    }

    /// Merges the pull requests that wait for their checks and whose checks have passed.
    pub(super) fn try_auto_merge(&mut self, repo: RepoId, commit: Oid, now: Timestamp) {
        let green = self.repository(repo).is_some_and(|repository| {
            let green = |run: &CheckRun| {
                matches!(
                    run.conclusion.as_deref(),
                    Some("success" | "neutral" | "skipped")
                )
            };
            repository
                .checks
                .iter()
                .filter(|run| run.commit == commit)
                .all(green)
        });
        if !green {
            return;
        }
        let waiting: Vec<(u64, String)> = self
            .pulls(repo)
            .filter(|pull| pull.state == State::Open && pull.head.oid == commit)
            .filter_map(|pull| Some((pull.number, pull.auto_merge.clone()?)))
            .collect();
        for (number, method) in waiting {
            let method = match method.as_str() {
                "SQUASH" => MergeMethod::Squash,
                "REBASE" => MergeMethod::Rebase,
                _ => MergeMethod::Merge,
            };
            let actor = self.account("web-flow");
            let _ = self.merge_pull_by(repo, number, None, method, None, actor, now);
        }
    }
}
