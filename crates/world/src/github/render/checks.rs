//! GitHub's JSON for check runs, check suites and commit statuses.

use serde_json::{Value, json};

use super::super::object::Oid;
use super::super::repository::{CheckRun, Status};
use super::super::{Model, RepoId, Repository, node_id};
use super::{WEB, format_timestamp};

/// The latest report of each check on a commit.
pub(crate) fn latest_runs(repository: &Repository, commit: Oid) -> Vec<&CheckRun> {
    let mut latest: Vec<&CheckRun> = Vec::new();
    for run in repository.checks.iter().filter(|run| run.commit == commit) {
        latest.retain(|other| other.name != run.name || other.app != run.app);
        latest.push(run);
    }
    latest
}

/// The latest report of each context on a commit.
pub(crate) fn latest_statuses(repository: &Repository, commit: Oid) -> Vec<&Status> {
    let mut latest: Vec<&Status> = Vec::new();
    for status in repository
        .statuses
        .iter()
        .filter(|status| status.commit == commit)
    {
        latest.retain(|other| other.context != status.context);
        latest.push(status);
    }
    latest
}

/// The conclusion of several runs together; none while one is under way.
pub(crate) fn joint_conclusion(runs: &[&CheckRun]) -> Option<&'static str> {
    if runs.iter().any(|run| run.conclusion.is_none()) {
        return None;
    }
    let good = |run: &&CheckRun| {
        matches!(
            run.conclusion.as_deref(),
            Some("success" | "neutral" | "skipped")
        )
    };
    Some(if runs.iter().all(good) {
        "success"
    } else {
        "failure"
    })
}

impl Model {
    /// The App that reports a check: a registered one, or a plausible stand-in such as GitHub Actions.
    fn reporting_app(&self, slug: &str) -> Value {
        if let Some(app) = self.apps.values().find(|app| app.slug == slug) {
            return self.app_json(app);
        }
        json!({
            "id": 15_368, "slug": slug, "node_id": node_id::encode_id("A", RepoId(0), 15_368),
            "owner": self.simple_user(41_898_282), "name": slug, "description": "", "external_url": WEB,
            "html_url": format!("{WEB}/apps/{slug}"), "created_at": "2018-07-30T09:30:17Z",
            "updated_at": "2019-12-10T19:04:12Z", "permissions": {"checks": "write", "metadata": "read"}, "events": [],
        })
    }

    fn pulls_at(&self, repository: &Repository, commit: Oid) -> Vec<Value> {
        let repo = repository.id;
        let short = json!({"id": repo, "url": self.repo_url(repo, ""), "name": repository.name});
        repository
            .pulls
            .values()
            .filter(|pull| pull.head.oid == commit)
            .map(|pull| {
                json!({
                    "id": pull.id, "number": pull.number, "url": self.repo_url(repo, &format!("/pulls/{}", pull.number)),
                    "head": {"ref": pull.head.branch, "sha": pull.head.oid, "repo": short},
                    "base": {"ref": pull.base.branch, "sha": pull.base.oid, "repo": short},
                })
            })
            .collect()
    }

    /// The page of a check run; of a job of Actions, that of the job.
    pub(crate) fn check_page(&self, repo: RepoId, run: &CheckRun) -> String {
        let page = match run.app.as_str() {
            "github-actions" => format!("/actions/runs/{}/job/{}", run.suite, run.id),
            _ => format!("/runs/{}", run.id),
        };
        self.web_url(repo, &page)
    }

    /// `check-run`.
    pub(crate) fn check_run_json(&self, repository: &Repository, run: &CheckRun) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/check-runs/{}", run.id));
        let html = self.check_page(repo, run);
        json!({
            "id": run.id, "node_id": node_id::encode_id("CR", repo, run.id), "external_id": "", "head_sha": run.commit,
            "name": run.name, "url": url, "html_url": html, "details_url": html,
            "status": if run.conclusion.is_some() { "completed" } else { "in_progress" }, "conclusion": run.conclusion,
            "started_at": format_timestamp(run.started_at), "completed_at": run.completed_at.map(format_timestamp),
            "output": {"title": run.output.title, "summary": run.output.summary, "text": null,
                "annotations_count": run.output.annotations.len(),
                "annotations_url": format!("{url}/annotations")},
            "check_suite": {"id": run.suite}, "app": self.reporting_app(&run.app),
            "pull_requests": self.pulls_at(repository, run.commit),
        })
    }

    /// `check-suite`, by one of its runs.
    pub(crate) fn check_suite_json(&self, repository: &Repository, run: &CheckRun) -> Value {
        let repo = repository.id;
        let runs: Vec<&CheckRun> = latest_runs(repository, run.commit)
            .into_iter()
            .filter(|other| other.suite == run.suite)
            .collect();
        let conclusion = joint_conclusion(&runs);
        let url = self.repo_url(repo, &format!("/check-suites/{}", run.suite));
        let branch = repository
            .branches()
            .find(|(_, head)| *head == run.commit)
            .map(|(name, _)| name);
        let ended = runs
            .iter()
            .filter_map(|other| other.completed_at)
            .max()
            .unwrap_or(run.started_at);
        json!({
            "id": run.suite, "node_id": node_id::encode_id("CS", repo, run.suite), "head_branch": branch,
            "head_sha": run.commit, "status": if conclusion.is_some() { "completed" } else { "in_progress" },
            "conclusion": conclusion, "url": url, "before": null, "after": run.commit,
            "pull_requests": self.pulls_at(repository, run.commit), "app": self.reporting_app(&run.app),
            "created_at": format_timestamp(run.started_at), "updated_at": format_timestamp(ended), "rerequestable": true,
            "runs_rerequestable": true, "latest_check_runs_count": runs.len(),
            "check_runs_url": format!("{url}/check-runs"), "head_commit": self.simple_commit(repo, run.commit),
            "repository": self.repository_json(repository),
        })
    }

    fn run_in(&self, repo: RepoId, id: u64) -> Option<(&Repository, &CheckRun)> {
        let repository = self.repository(repo)?;
        let run = repository.checks.iter().find(|run| run.id == id)?;
        Some((repository, run))
    }

    /// The check run of a webhook payload.
    pub(crate) fn check_run(&self, repo: RepoId, id: u64) -> Value {
        self.run_in(repo, id)
            .map_or(Value::Null, |(repository, run)| {
                let mut out = self.check_run_json(repository, run);
                let mut suite = self.check_suite_json(repository, run);
                if let Value::Object(suite) = &mut suite {
                    suite.remove("repository");
                    suite.remove("head_commit");
                    for name in [
                        "rerequestable",
                        "runs_rerequestable",
                        "latest_check_runs_count",
                        "check_runs_url",
                    ] {
                        suite.remove(name);
                    }
                }
                out["check_suite"] = suite;
                out
            })
    }

    /// The check suite of a webhook payload, by one of its runs.
    pub(crate) fn check_suite_payload(&self, repo: RepoId, run: u64) -> Value {
        self.run_in(repo, run)
            .map_or(Value::Null, |(repository, run)| {
                let mut out = self.check_suite_json(repository, run);
                if let Value::Object(out) = &mut out {
                    out.remove("repository");
                }
                out
            })
    }

    /// `status`, which satisfies `simple-commit-status` too.
    pub(crate) fn status_json(&self, repo: RepoId, status: &Status) -> Value {
        json!({
            "url": self.repo_url(repo, &format!("/statuses/{}", status.commit)),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", status.creator), "id": status.id,
            "node_id": node_id::encode_id("SC", repo, status.id), "state": status.state, "description": status.description,
            "target_url": status.target_url, "context": status.context, "created_at": format_timestamp(status.at),
            "updated_at": format_timestamp(status.at), "creator": self.simple_user(status.creator),
        })
    }
}
