//! GitHub's JSON for accounts, repositories, labels, Apps and releases. Fields follow the
//! `required` lists of its OpenAPI description and of the webhook schemas.

pub(crate) mod checks;
mod git;
mod payload;
mod thread;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::account::{App, Installation};
use super::repository::{Reaction, Release, Workflow, WorkflowRun};
use super::{Model, RepoId, Repository, node_id};

/// An instant as GitHub writes it: whole seconds, UTC.
pub(crate) fn format_timestamp(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The address of the website.
pub(crate) const WEB: &str = "https://github.com";

/// The suffixes of a repository's links, with the templates that GitHub appends.
const REPOSITORY_LINKS: &[(&str, &str)] = &[
    ("forks_url", "/forks"),
    ("keys_url", "/keys{/key_id}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("teams_url", "/teams"),
    ("hooks_url", "/hooks"),
    ("issue_events_url", "/issues/events{/number}"),
    ("events_url", "/events"),
    ("assignees_url", "/assignees{/user}"),
    ("branches_url", "/branches{/branch}"),
    ("tags_url", "/tags"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("trees_url", "/git/trees{/sha}"),
    ("statuses_url", "/statuses/{sha}"),
    ("languages_url", "/languages"),
    ("stargazers_url", "/stargazers"),
    ("contributors_url", "/contributors"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("commits_url", "/commits{/sha}"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("comments_url", "/comments{/number}"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("contents_url", "/contents/{+path}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("merges_url", "/merges"),
    ("archive_url", "/{archive_format}{/ref}"),
    ("downloads_url", "/downloads"),
    ("issues_url", "/issues{/number}"),
    ("pulls_url", "/pulls{/number}"),
    ("milestones_url", "/milestones{/number}"),
    (
        "notifications_url",
        "/notifications{?since,all,participating}",
    ),
    ("labels_url", "/labels{/name}"),
    ("releases_url", "/releases{/id}"),
    ("deployments_url", "/deployments"),
];

/// The fields of a repository's short form besides its links.
const MINIMAL: [&str; 9] = [
    "id",
    "node_id",
    "name",
    "full_name",
    "private",
    "owner",
    "description",
    "fork",
    "url",
];

impl Model {
    /// The API address of something below a repository.
    pub(crate) fn repo_url(&self, repo: RepoId, rest: &str) -> String {
        format!("{}/repos/{}{rest}", self.api_url, self.full_name(repo))
    }

    /// The web address of something below a repository.
    pub(crate) fn web_url(&self, repo: RepoId, rest: &str) -> String {
        format!("{WEB}/{}{rest}", self.full_name(repo))
    }

    /// The node id of an account.
    pub(crate) fn account_node(&self, id: u64) -> String {
        let bot = self
            .accounts
            .get(&id)
            .is_some_and(|account| account.kind == super::AccountKind::Bot);
        node_id::encode_id(if bot { "BOT" } else { "U" }, RepoId(0), id)
    }

    /// `simple-user`.
    pub(crate) fn simple_user(&self, id: u64) -> Value {
        let login = self.login(id);
        let kind = self
            .accounts
            .get(&id)
            .map_or("User", |account| account.kind.kind_name());
        // Logins of bots hold brackets, which GitHub percent-encodes in addresses.
        let slug = login.replace('[', "%5B").replace(']', "%5D");
        let api = format!("{}/users/{slug}", self.api_url);
        let web = match login.strip_suffix("[bot]") {
            Some(app) => format!("{WEB}/apps/{app}"),
            None => format!("{WEB}/{login}"),
        };
        json!({
            "login": login, "id": id, "node_id": self.account_node(id),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{id}?v=4"), "gravatar_id": "",
            "url": api, "html_url": web,
            "followers_url": format!("{api}/followers"), "following_url": format!("{api}/following{{/other_user}}"),
            "gists_url": format!("{api}/gists{{/gist_id}}"), "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
            "subscriptions_url": format!("{api}/subscriptions"), "organizations_url": format!("{api}/orgs"),
            "repos_url": format!("{api}/repos"), "events_url": format!("{api}/events{{/privacy}}"),
            "received_events_url": format!("{api}/received_events"), "type": kind,
            "site_admin": false,
        })
    }

    /// `repository`, which satisfies `minimal-repository` too.
    pub(crate) fn repository_json(&self, repository: &Repository) -> Value {
        let full_name = format!("{}/{}", self.login(repository.owner), repository.name);
        let url = format!("{}/repos/{full_name}", self.api_url);
        let web = format!("{WEB}/{full_name}");
        let open = repository
            .issues
            .values()
            .filter(|issue| issue.state == super::State::Open)
            .count()
            + repository
                .pulls
                .values()
                .filter(|pull| pull.state == super::State::Open)
                .count();
        let policy = if repository.pulls_by_collaborators {
            "collaborators_only"
        } else {
            "all"
        };
        let mut out = json!({
            "id": repository.id, "node_id": node_id::encode_id("R", repository.id, 0), "name": repository.name,
            "full_name": full_name, "private": repository.private, "owner": self.simple_user(repository.owner),
            "html_url": web, "description": repository.description, "fork": false, "url": url,
            "created_at": format_timestamp(repository.created_at), "updated_at": format_timestamp(repository.updated_at),
            "pushed_at": format_timestamp(repository.pushed_at), "git_url": format!("git://github.com/{full_name}.git"),
            "ssh_url": format!("git@github.com:{full_name}.git"), "clone_url": format!("{web}.git"), "svn_url": web,
            "homepage": null, "size": 1, "stargazers_count": 0, "watchers_count": 0, "language": null,
            "has_issues": repository.has_issues, "pull_request_creation_policy": policy,
            "has_projects": true, "has_downloads": true, "has_wiki": true, "has_pages": false,
            "has_discussions": false, "forks_count": 0, "mirror_url": null, "archived": repository.archived,
            "disabled": false, "open_issues_count": open, "license": null, "allow_forking": true, "is_template": false,
            "web_commit_signoff_required": false, "topics": [],
            "visibility": if repository.private { "private" } else { "public" }, "forks": 0, "open_issues": open,
            "watchers": 0, "default_branch": repository.default_branch,
            "custom_properties": {}, "allow_squash_merge": true, "allow_merge_commit": true, "allow_rebase_merge": true,
            "allow_auto_merge": false, "delete_branch_on_merge": false, "allow_update_branch": false,
        });
        for (name, rest) in REPOSITORY_LINKS {
            out[*name] = format!("{url}{rest}").into();
        }
        out
    }

    /// `minimal-repository`: what names a repository, and its links.
    pub(crate) fn minimal_repository(&self, repository: &Repository) -> Value {
        let mut out = self.repository_json(repository);
        if let Value::Object(out) = &mut out {
            let web = ["git_url", "clone_url", "svn_url", "ssh_url", "mirror_url"];
            out.retain(|name, _| {
                MINIMAL.contains(&name.as_str())
                    || name.ends_with("_url") && !web.contains(&name.as_str())
            });
        }
        out
    }

    /// The repository of a webhook payload.
    pub(crate) fn webhook_repository(&self, repo: RepoId) -> Value {
        self.repository(repo)
            .map_or(Value::Null, |repository| self.repository_json(repository))
    }

    /// `label`.
    pub(crate) fn label_json(&self, repository: &Repository, name: &str) -> Value {
        let Some(label) = repository.labels.get(&name.to_lowercase()) else {
            return Value::Null;
        };
        json!({
            "id": label.id, "node_id": node_id::encode_id("LA", repository.id, label.id),
            "url": self.repo_url(repository.id, &format!("/labels/{}", path_segment(&label.name))), "name": label.name,
            "color": label.color, "default": false, "description": label.description,
        })
    }

    /// `label`, from the current state.
    pub(crate) fn current_label_json(&self, repo: RepoId, name: &str) -> Value {
        self.repository(repo)
            .map_or(Value::Null, |repository| self.label_json(repository, name))
    }

    /// `reaction-rollup`.
    pub(crate) fn reactions_json(&self, url: &str, reactions: &[Reaction]) -> Value {
        let mut out = json!({"url": format!("{url}/reactions"), "total_count": reactions.len()});
        for kind in [
            "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes",
        ] {
            out[kind] = reactions
                .iter()
                .filter(|reaction| reaction.content == kind)
                .count()
                .into();
        }
        out
    }

    /// `reaction`.
    pub(crate) fn reaction_json(&self, repo: RepoId, reaction: &Reaction) -> Value {
        json!({
            "id": reaction.id, "node_id": node_id::encode_id("REA", repo, reaction.id),
            "user": self.simple_user(reaction.account), "content": reaction.content, "created_at": format_timestamp(reaction.at),
        })
    }

    /// `author_association`.
    pub(crate) fn author_association(&self, repository: &Repository, account: u64) -> &'static str {
        use super::Role;
        if repository.owner == account {
            return "OWNER";
        }
        match repository.collaborators.get(&account) {
            Some(Role::None) | None => {
                let merged = |pull: &std::sync::Arc<super::Pull>| {
                    pull.author == account && pull.merged.is_some()
                };
                if repository.pulls.values().any(merged) {
                    "CONTRIBUTOR"
                } else {
                    "NONE"
                }
            }
            Some(_) => "COLLABORATOR",
        }
    }

    /// `integration`.
    pub(crate) fn app_json(&self, app: &App) -> Value {
        json!({
            "id": app.id, "slug": app.slug, "node_id": node_id::encode_id("A", RepoId(0), app.id),
            "owner": self.simple_user(app.owner), "name": app.slug, "description": null,
            "external_url": format!("https://{}.example", app.slug), "html_url": format!("{WEB}/apps/{}", app.slug),
            "created_at": format_timestamp(app.created_at), "updated_at": format_timestamp(app.created_at), "permissions": app.permissions,
            "events": app.events, "installations_count": self.installations.values().filter(|i| i.app == app.id).count(),
        })
    }

    /// `installation`.
    pub(crate) fn installation_json(&self, installation: &Installation) -> Value {
        let app = self.apps.get(&installation.app);
        let url = format!("{}/app/installations/{}", self.api_url, installation.id);
        json!({
            "id": installation.id, "account": self.simple_user(installation.account),
            "repository_selection": if installation.repositories.is_some() { "selected" } else { "all" },
            "access_tokens_url": format!("{url}/access_tokens"),
            "repositories_url": format!("{}/installation/repositories", self.api_url),
            "html_url": format!("{WEB}/settings/installations/{}", installation.id), "app_id": installation.app,
            "app_slug": app.map_or("", |app| &app.slug), "target_id": installation.account,
            "target_type": self.accounts.get(&installation.account).map_or("User", |account| account.kind.kind_name()),
            "permissions": app.map(|app| &app.permissions), "events": app.map(|app| &app.events),
            "created_at": format_timestamp(installation.created_at), "updated_at": format_timestamp(installation.created_at),
            "single_file_name": null, "has_multiple_single_files": false, "single_file_paths": [],
            "suspended_by": installation.suspended_at.map(|_| self.simple_user(installation.account)), "suspended_at": installation.suspended_at.map(format_timestamp),
        })
    }

    /// `workflow`.
    pub(crate) fn workflow_json(&self, repo: RepoId, workflow: &Workflow) -> Value {
        json!({
            "id": workflow.id, "node_id": node_id::encode_id("W", repo, workflow.id), "name": workflow.name,
            "path": workflow.path, "state": workflow.state, "created_at": format_timestamp(workflow.created_at),
            "updated_at": format_timestamp(workflow.created_at),
            "url": self.repo_url(repo, &format!("/actions/workflows/{}", workflow.id)),
            "html_url": self.web_url(repo, &format!("/blob/HEAD/{}", workflow.path)),
            "badge_url": self.web_url(repo, &format!("/workflows/{}/badge.svg", path_segment(&workflow.name))),
        })
    }

    /// `workflow-run`.
    pub(crate) fn run_json(&self, repository: &Repository, run: &WorkflowRun) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/actions/runs/{}", run.id));
        let workflow = repository
            .workflows
            .iter()
            .find(|workflow| workflow.id == run.workflow);
        let number = repository
            .runs
            .iter()
            .filter(|other| other.workflow == run.workflow && other.id <= run.id)
            .count();
        let full = self.minimal_repository(repository);
        json!({
            "id": run.id, "name": workflow.map(|workflow| &workflow.name), "node_id": node_id::encode_id("WFR", repo, run.id),
            "check_suite_id": run.id + 1, "check_suite_node_id": node_id::encode_id("CS", repo, run.id + 1),
            "head_branch": run.branch, "head_sha": run.commit, "path": workflow.map_or("", |workflow| &workflow.path),
            "run_number": number, "run_attempt": 1, "event": run.event, "display_title": run.event,
            "status": run.status, "conclusion": run.conclusion, "workflow_id": run.workflow, "url": url,
            "html_url": self.web_url(repo, &format!("/actions/runs/{}", run.id)), "pull_requests": [],
            "created_at": format_timestamp(run.created_at), "updated_at": format_timestamp(run.updated_at),
            "run_started_at": format_timestamp(run.created_at), "actor": self.simple_user(run.actor),
            "triggering_actor": self.simple_user(run.actor), "jobs_url": format!("{url}/jobs"),
            "logs_url": format!("{url}/logs"), "check_suite_url": self.repo_url(repo, &format!("/check-suites/{}", run.id + 1)),
            "artifacts_url": format!("{url}/artifacts"), "cancel_url": format!("{url}/cancel"),
            "rerun_url": format!("{url}/rerun"), "previous_attempt_url": null,
            "workflow_url": self.repo_url(repo, &format!("/actions/workflows/{}", run.workflow)),
            "head_commit": self.simple_commit(repo, run.commit), "repository": full, "head_repository": full,
        })
    }

    /// `job`: every run has one.
    pub(crate) fn job_json(&self, repository: &Repository, run: &WorkflowRun) -> Value {
        let repo = repository.id;
        let id = run.id + 2;
        json!({
            "id": id, "run_id": run.id, "workflow_name": null, "head_branch": run.branch,
            "run_url": self.repo_url(repo, &format!("/actions/runs/{}", run.id)), "run_attempt": 1,
            "node_id": node_id::encode_id("CR", repo, id), "head_sha": run.commit,
            "url": self.repo_url(repo, &format!("/actions/jobs/{id}")),
            "html_url": self.web_url(repo, &format!("/actions/runs/{}/job/{id}", run.id)), "status": run.status,
            "conclusion": run.conclusion, "created_at": format_timestamp(run.created_at), "started_at": format_timestamp(run.created_at),
            "completed_at": run.conclusion.as_ref().map(|_| format_timestamp(run.updated_at)), "name": "build", "steps": [],
            "check_run_url": self.repo_url(repo, &format!("/check-runs/{id}")), "labels": ["ubuntu-latest"],
            "runner_id": 1, "runner_name": "GitHub Actions 1", "runner_group_id": 0, "runner_group_name": "GitHub Actions",
        })
    }

    /// `release`.
    pub(crate) fn release_json(&self, repository: &Repository, release: &Release) -> Value {
        let repo = repository.id;
        let url = self.repo_url(repo, &format!("/releases/{}", release.id));
        let assets: Vec<Value> = release
            .assets
            .iter()
            .map(|asset| self.asset_json(repo, release, asset))
            .collect();
        json!({
            "url": url, "html_url": self.web_url(repo, &format!("/releases/tag/{}", release.tag)),
            "assets_url": format!("{url}/assets"),
            "upload_url": format!("https://uploads.github.com/repos/{}/releases/{}/assets{{?name,label}}", self.full_name(repo), release.id),
            "tarball_url": self.repo_url(repo, &format!("/tarball/{}", release.tag)),
            "zipball_url": self.repo_url(repo, &format!("/zipball/{}", release.tag)), "id": release.id,
            "node_id": node_id::encode_id("RE", repo, release.id), "tag_name": release.tag,
            "target_commitish": repository.default_branch, "name": release.name, "body": release.body,
            "draft": release.draft, "prerelease": release.prerelease, "created_at": format_timestamp(release.created_at),
            "published_at": (!release.draft).then(|| format_timestamp(release.created_at)),
            "author": self.simple_user(release.author), "assets": assets,
        })
    }

    /// `release-asset`.
    pub(crate) fn asset_json(
        &self,
        repo: RepoId,
        release: &Release,
        asset: &(u64, String, bytes::Bytes),
    ) -> Value {
        use sha2::Digest as _;
        let (id, name, content) = asset;
        let digest: String = sha2::Sha256::digest(content)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        json!({
            "url": self.repo_url(repo, &format!("/releases/assets/{id}")), "id": id,
            "node_id": node_id::encode_id("RA", repo, *id), "name": name, "label": null, "state": "uploaded",
            "content_type": "application/octet-stream", "size": content.len(), "digest": format!("sha256:{digest}"),
            "download_count": 0, "created_at": format_timestamp(release.created_at), "updated_at": format_timestamp(release.created_at),
            "uploader": self.simple_user(release.author),
            "browser_download_url": self.web_url(repo, &format!("/releases/download/{}/{name}", release.tag)),
        })
    }
}

/// One segment of a path, percent-encoded.
pub(crate) fn path_segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
