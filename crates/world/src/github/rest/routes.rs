//! The table of REST routes, and the search for the route of a request.

use std::sync::OnceLock;

use http::Method;
use percent_encoding::percent_decode_str;

use super::call::Params;
use super::{
    Call, Refusal, Reply, RequiredAccess, actions, apps, contents, git, issues, manifests, pulls,
    repository,
};

/// The function that answers a route.
pub(crate) type Handler = fn(&mut Call<'_>) -> Result<Reply, Refusal>;

/// One route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path; `{name}` stands for one segment, `{+name}` for one or more.
    pub(crate) template: &'static str,
    pub(crate) need: RequiredAccess,
    pub(crate) handler: Handler,
}

macro_rules! routes {
    ($($method:ident $template:literal $need:expr => $handler:path;)+) => {
        &[$(Route { method: stringify!($method), template: $template, need: $need, handler: $handler }),+]
    };
}

use RequiredAccess::{
    Admin, App, Collaborate, Nothing, Participate, Read, SignedIn, Triage, Write,
};

/// The permissions of everything that issues and pull requests share.
const THREADS: &str = "issues|pull_requests";

static ROUTES: &[Route] = routes! {
    GET "/user" SignedIn => apps::get_user;
    GET "/users/{username}" Nothing => apps::user_by_login;
    GET "/rate_limit" Nothing => apps::rate_limit;
    GET "/meta" Nothing => apps::get_meta;
    POST "/app-manifests/{code}/conversions" Nothing => manifests::convert_manifest;
    GET "/app" App => apps::get_app;
    GET "/app/installations" App => apps::list_installations;
    GET "/app/installations/{installation_id}" App => apps::get_installation;
    POST "/app/installations/{installation_id}/access_tokens" App => apps::create_token;
    GET "/app/hook/config" App => apps::hook_config;
    GET "/app/hook/deliveries" App => apps::list_app_deliveries;
    GET "/app/hook/deliveries/{delivery_id}" App => apps::get_app_delivery;
    POST "/app/hook/deliveries/{delivery_id}/attempts" App => apps::redeliver_app_delivery;
    GET "/installation/repositories" SignedIn => apps::installation_repositories;
    GET "/user/repos" SignedIn => apps::user_repositories;

    GET "/repos/{owner}/{repo}" Read("metadata") => repository::get_repository;
    PATCH "/repos/{owner}/{repo}" Admin("administration") => repository::update_repository;
    GET "/repos/{owner}/{repo}/installation" App => apps::repository_installation;
    GET "/repos/{owner}/{repo}/activity" Read("contents") => repository::list_activity;
    GET "/repos/{owner}/{repo}/branches" Read("contents") => repository::list_branches;
    GET "/repos/{owner}/{repo}/rules/branches/{+branch}" Read("metadata") => repository::branch_rules;
    GET "/repos/{owner}/{repo}/branches/{+branch}/protection" Admin("administration") => repository::branch_protection;
    POST "/repos/{owner}/{repo}/branches/{+branch}/rename" Write("contents") => repository::rename_branch;
    GET "/repos/{owner}/{repo}/branches/{+branch}" Read("contents") => repository::get_branch;
    GET "/repos/{owner}/{repo}/collaborators" Write("metadata") => repository::list_collaborators;
    GET "/repos/{owner}/{repo}/collaborators/{username}/permission" Read("metadata") => repository::get_permission;
    GET "/repos/{owner}/{repo}/collaborators/{username}" Read("metadata") => repository::is_collaborator;
    GET "/repos/{owner}/{repo}/labels" Read(THREADS) => repository::list_labels;
    POST "/repos/{owner}/{repo}/labels" Write(THREADS) => repository::create_label;
    GET "/repos/{owner}/{repo}/labels/{name}" Read(THREADS) => repository::get_label;
    PATCH "/repos/{owner}/{repo}/labels/{name}" Write(THREADS) => repository::update_label;
    DELETE "/repos/{owner}/{repo}/labels/{name}" Write(THREADS) => repository::delete_label;
    GET "/repos/{owner}/{repo}/actions/variables" Collaborate("actions_variables") => repository::list_variables;
    POST "/repos/{owner}/{repo}/actions/variables" Write("actions_variables") => repository::create_variable;
    GET "/repos/{owner}/{repo}/actions/variables/{name}" Collaborate("actions_variables") => repository::get_variable;
    PATCH "/repos/{owner}/{repo}/actions/variables/{name}" Write("actions_variables") => repository::update_variable;
    DELETE "/repos/{owner}/{repo}/actions/variables/{name}" Write("actions_variables") => repository::delete_variable;
    GET "/repos/{owner}/{repo}/hooks" Admin("repository_hooks") => repository::list_hooks;
    POST "/repos/{owner}/{repo}/hooks" Admin("repository_hooks") => repository::create_hook;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::get_hook;
    PATCH "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::update_hook;
    DELETE "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::delete_hook;
    POST "/repos/{owner}/{repo}/hooks/{hook_id}/pings" Admin("repository_hooks") => repository::ping_hook;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries" Admin("repository_hooks") => repository::hook_deliveries;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}" Admin("repository_hooks") => repository::hook_delivery;
    POST "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts" Admin("repository_hooks") => repository::redeliver_hook_delivery;

    GET "/repos/{owner}/{repo}/git/ref/{+ref}" Read("contents") => git::get_ref;
    GET "/repos/{owner}/{repo}/git/matching-refs/{+ref}" Read("contents") => git::matching_refs;
    GET "/repos/{owner}/{repo}/git/matching-refs" Read("contents") => git::matching_refs;
    POST "/repos/{owner}/{repo}/git/refs" Write("contents") => git::create_ref;
    PATCH "/repos/{owner}/{repo}/git/refs/{+ref}" Write("contents") => git::update_ref;
    DELETE "/repos/{owner}/{repo}/git/refs/{+ref}" Write("contents") => git::delete_ref;
    POST "/repos/{owner}/{repo}/git/blobs" Write("contents") => git::create_blob;
    GET "/repos/{owner}/{repo}/git/blobs/{file_sha}" Read("contents") => git::get_blob;
    POST "/repos/{owner}/{repo}/git/trees" Write("contents") => git::create_tree;
    GET "/repos/{owner}/{repo}/git/trees/{+tree_sha}" Read("contents") => git::get_tree;
    POST "/repos/{owner}/{repo}/git/commits" Write("contents") => git::create_commit;
    GET "/repos/{owner}/{repo}/git/commits/{commit_sha}" Read("contents") => git::get_commit;
    GET "/repos/{owner}/{repo}/commits" Read("contents") => git::list_commits;
    GET "/repos/{owner}/{repo}/commits/{+ref}/check-runs" Read("checks") => actions::check_runs_of;
    GET "/repos/{owner}/{repo}/commits/{+ref}/check-suites" Read("checks") => actions::check_suites_of;
    GET "/repos/{owner}/{repo}/commits/{+ref}/status" Read("statuses") => actions::combined_status;
    GET "/repos/{owner}/{repo}/commits/{+ref}/statuses" Read("statuses") => actions::statuses_of;
    GET "/repos/{owner}/{repo}/commits/{commit_sha}/pulls" Read("pull_requests") => pulls::list_pulls_of_commit;
    GET "/repos/{owner}/{repo}/commits/{+ref}" Read("contents") => git::get_repository_commit;
    GET "/repos/{owner}/{repo}/compare/{+basehead}" Read("contents") => git::compare_commits;
    GET "/repos/{owner}/{repo}/contents" Read("contents") => contents::get_contents;
    GET "/repos/{owner}/{repo}/contents/{+path}" Read("contents") => contents::get_contents;
    PUT "/repos/{owner}/{repo}/contents/{+path}" Write("contents") => contents::put_file;
    DELETE "/repos/{owner}/{repo}/contents/{+path}" Write("contents") => contents::delete_file;
    GET "/repos/{owner}/{repo}/readme" Read("contents") => contents::get_readme;

    GET "/repos/{owner}/{repo}/pulls" Read("pull_requests") => pulls::list_pulls;
    POST "/repos/{owner}/{repo}/pulls" Write("pull_requests") => pulls::create_pull;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}" Read("pull_requests") => pulls::get_pull;
    PATCH "/repos/{owner}/{repo}/pulls/{pull_number}" Write("pull_requests") => pulls::update_pull;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/commits" Read("pull_requests") => pulls::list_pull_commits;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/files" Read("pull_requests") => pulls::list_pull_files;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/merge" Read("pull_requests") => pulls::is_merged;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/merge" Write("contents") => pulls::merge_pull;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/update-branch" Write("pull_requests") => pulls::update_branch;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/reviews" Read("pull_requests") => pulls::list_reviews;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/reviews" Participate("pull_requests") => pulls::create_review;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}" Read("pull_requests") => pulls::get_review;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals" Write("pull_requests") => pulls::dismiss_review;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/comments" Read("pull_requests") => pulls::review_comments;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/comments" Participate("pull_requests") => pulls::create_review_comment;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Read("pull_requests") => pulls::requested_reviewers;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Write("pull_requests") => pulls::request_reviewers;
    DELETE "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Write("pull_requests") => pulls::unrequest_reviewers;

    GET "/repos/{owner}/{repo}/issues" Read(THREADS) => issues::list_issues;
    POST "/repos/{owner}/{repo}/issues" Participate("issues") => issues::create_issue;
    GET "/repos/{owner}/{repo}/issues/comments" Read(THREADS) => issues::repository_comments;
    GET "/repos/{owner}/{repo}/issues/comments/{comment_id}" Read(THREADS) => issues::get_comment;
    PATCH "/repos/{owner}/{repo}/issues/comments/{comment_id}" Participate(THREADS) => issues::update_comment;
    DELETE "/repos/{owner}/{repo}/issues/comments/{comment_id}" Participate(THREADS) => issues::delete_comment;
    GET "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions" Read(THREADS) => issues::comment_reactions;
    POST "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions" Participate(THREADS) => issues::react_to_comment;
    GET "/repos/{owner}/{repo}/issues/{issue_number}" Read(THREADS) => issues::get_issue;
    PATCH "/repos/{owner}/{repo}/issues/{issue_number}" Participate(THREADS) => issues::update_issue;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/comments" Read(THREADS) => issues::list_issue_comments;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/comments" Participate(THREADS) => issues::create_comment;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/labels" Read(THREADS) => issues::list_issue_labels;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::add_labels;
    PUT "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::set_labels;
    DELETE "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::remove_labels;
    DELETE "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}" Triage(THREADS) => issues::remove_label;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/reactions" Read(THREADS) => issues::list_issue_reactions;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/reactions" Participate(THREADS) => issues::react_to_issue;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/timeline" Read(THREADS) => issues::list_timeline;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/events" Read(THREADS) => issues::list_events;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/assignees" Triage(THREADS) => issues::assign_people;

    POST "/repos/{owner}/{repo}/statuses/{sha}" Write("statuses") => actions::create_status;
    POST "/repos/{owner}/{repo}/check-runs" Write("checks") => actions::create_check_run;
    GET "/repos/{owner}/{repo}/check-runs/{check_run_id}" Read("checks") => actions::check_run;
    PATCH "/repos/{owner}/{repo}/check-runs/{check_run_id}" Write("checks") => actions::update_check_run;
    GET "/repos/{owner}/{repo}/check-suites/{check_suite_id}" Read("checks") => actions::check_suite;
    GET "/repos/{owner}/{repo}/actions/workflows" Read("actions") => actions::list_workflows;
    GET "/repos/{owner}/{repo}/actions/workflows/{workflow_id}" Read("actions") => actions::get_workflow;
    PUT "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/enable" Write("actions") => actions::enable_workflow;
    PUT "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/disable" Write("actions") => actions::disable_workflow;
    GET "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs" Read("actions") => actions::list_runs;
    GET "/repos/{owner}/{repo}/actions/runs" Read("actions") => actions::list_runs;
    GET "/repos/{owner}/{repo}/actions/runs/{run_id}" Read("actions") => actions::get_run;
    GET "/repos/{owner}/{repo}/actions/runs/{run_id}/jobs" Read("actions") => actions::list_jobs;
    GET "/repos/{owner}/{repo}/actions/jobs/{job_id}" Read("actions") => actions::get_job;
    GET "/repos/{owner}/{repo}/actions/jobs/{job_id}/logs" Read("actions") => actions::get_job_logs;
    GET "/repos/{owner}/{repo}/releases" Read("contents") => actions::list_releases;
    GET "/repos/{owner}/{repo}/releases/latest" Read("contents") => actions::latest_release;
    GET "/repos/{owner}/{repo}/releases/tags/{+tag}" Read("contents") => actions::release_by_tag;
    GET "/repos/{owner}/{repo}/releases/assets/{asset_id}" Read("contents") => actions::get_asset;
    GET "/repos/{owner}/{repo}/releases/{release_id}" Read("contents") => actions::get_release;
    GET "/repos/{owner}/{repo}/releases/{release_id}/assets" Read("contents") => actions::list_assets;
};

/// The parts of a template, split once.
fn split_templates() -> &'static [Vec<&'static str>] {
    static SPLIT: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
    SPLIT.get_or_init(|| {
        ROUTES
            .iter()
            .map(|route| route.template.trim_matches('/').split('/').collect())
            .collect()
    })
}

/// The route of a method and path, with its parameters decoded. Raw slashes and `%2F` mean the same.
pub(crate) fn find_route(method: &Method, path: &str) -> Option<(&'static Route, Params)> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let method = if *method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    ROUTES
        .iter()
        .zip(split_templates())
        .filter(|(route, _)| route.method == method)
        .find_map(|(route, template)| {
            let mut params = Params::new();
            matches_template(template, &parts, &mut params).then_some((route, params))
        })
}

fn matches_template(template: &[&'static str], parts: &[&str], params: &mut Params) -> bool {
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let Some((first, rest)) = template.split_first() else {
        return parts.is_empty();
    };
    let Some(name) = first
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'))
    else {
        return parts.first() == Some(first) && matches_template(rest, &parts[1..], params);
    };
    let Some(name) = name.strip_prefix('+') else {
        let Some((value, others)) = parts.split_first() else {
            return false;
        };
        params.push((name, decode(value)));
        return !value.is_empty() && matches_template(rest, others, params);
    };
    let length = parts.len().saturating_sub(rest.len());
    if length == 0 {
        return false;
    }
    let (value, others) = parts.split_at(length);
    params.push((
        name,
        value
            .iter()
            .map(|part| decode(part))
            .collect::<Vec<_>>()
            .join("/"),
    ));
    matches_template(rest, others, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params_of(path: &str) -> Option<(&'static str, Params)> {
        find_route(&Method::GET, path).map(|(route, params)| (route.template, params))
    }

    #[test]
    fn raw_and_encoded_slashes_mean_the_same() {
        let raw = params_of("/repos/o/r/git/ref/heads/jules").unwrap();
        let encoded = params_of("/repos/o/r/git/ref/heads%2Fjules").unwrap();
        assert_eq!(raw, encoded);
        assert_eq!(raw.1[2], ("ref", "heads/jules".to_owned()));
        assert_eq!(
            params_of("/repos/o/r/contents/a%2Fb.txt").unwrap().1,
            params_of("/repos/o/r/contents/a/b.txt").unwrap().1
        );
    }

    #[test]
    fn a_wide_parameter_stops_before_what_follows_it() {
        let (template, params) = params_of("/repos/o/r/commits/heads/main/check-runs").unwrap();
        assert!(template.ends_with("{+ref}/check-runs"));
        assert_eq!(params[2].1, "heads/main");
        assert!(
            params_of("/repos/o/r/commits/main")
                .unwrap()
                .0
                .ends_with("/commits/{+ref}")
        );
        assert!(params_of("/repos/o/r/unheard-of").is_none());
    }
}
