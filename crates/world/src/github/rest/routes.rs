//! The table of REST routes, and the search for the route of a request.

use std::sync::OnceLock;

use http::Method;
use percent_encoding::percent_decode_str;

use super::call::Params;
use super::{
    Call, Need, Refusal, Reply, actions, apps, contents, git, issues, manifests, pulls, repository,
};

/// The function that answers a route.
pub(crate) type Handler = fn(&mut Call<'_>) -> Result<Reply, Refusal>;

/// One route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path; `{name}` stands for one segment, `{+name}` for one or more.
    pub(crate) template: &'static str,
    pub(crate) need: Need,
    pub(crate) handler: Handler,
}

macro_rules! routes {
    ($($method:ident $template:literal $need:expr => $handler:path;)+) => {
        &[$(Route { method: stringify!($method), template: $template, need: $need, handler: $handler }),+]
    };
}

use Need::{Admin, App, Inside, Nothing, Read, Someone, Talk, Triage, Write};

/// The permissions of everything that issues and pull requests share.
const THREADS: &str = "issues|pull_requests";

static ROUTES: &[Route] = routes! {
    GET "/user" Someone => apps::user;
    GET "/users/{username}" Nothing => apps::user_by_login;
    GET "/rate_limit" Nothing => apps::rate_limit;
    GET "/meta" Nothing => apps::meta;
    POST "/app-manifests/{code}/conversions" Nothing => manifests::convert;
    GET "/app" App => apps::app;
    GET "/app/installations" App => apps::installations;
    GET "/app/installations/{installation_id}" App => apps::installation;
    POST "/app/installations/{installation_id}/access_tokens" App => apps::create_token;
    GET "/app/hook/config" App => apps::hook_config;
    GET "/app/hook/deliveries" App => apps::deliveries;
    GET "/app/hook/deliveries/{delivery_id}" App => apps::delivery;
    POST "/app/hook/deliveries/{delivery_id}/attempts" App => apps::redeliver;
    GET "/installation/repositories" Someone => apps::installation_repositories;
    GET "/user/repos" Someone => apps::user_repositories;

    GET "/repos/{owner}/{repo}" Read("metadata") => repository::get;
    PATCH "/repos/{owner}/{repo}" Admin("administration") => repository::update;
    GET "/repos/{owner}/{repo}/installation" App => apps::repository_installation;
    GET "/repos/{owner}/{repo}/activity" Read("contents") => repository::activity;
    GET "/repos/{owner}/{repo}/branches" Read("contents") => repository::branches;
    GET "/repos/{owner}/{repo}/rules/branches/{+branch}" Read("metadata") => repository::branch_rules;
    GET "/repos/{owner}/{repo}/branches/{+branch}/protection" Admin("administration") => repository::branch_protection;
    POST "/repos/{owner}/{repo}/branches/{+branch}/rename" Write("contents") => repository::rename_branch;
    GET "/repos/{owner}/{repo}/branches/{+branch}" Read("contents") => repository::branch;
    GET "/repos/{owner}/{repo}/collaborators" Write("metadata") => repository::collaborators;
    GET "/repos/{owner}/{repo}/collaborators/{username}/permission" Read("metadata") => repository::permission;
    GET "/repos/{owner}/{repo}/collaborators/{username}" Read("metadata") => repository::is_collaborator;
    GET "/repos/{owner}/{repo}/labels" Read(THREADS) => repository::labels;
    POST "/repos/{owner}/{repo}/labels" Write(THREADS) => repository::create_label;
    GET "/repos/{owner}/{repo}/labels/{name}" Read(THREADS) => repository::label;
    PATCH "/repos/{owner}/{repo}/labels/{name}" Write(THREADS) => repository::update_label;
    DELETE "/repos/{owner}/{repo}/labels/{name}" Write(THREADS) => repository::delete_label;
    GET "/repos/{owner}/{repo}/actions/variables" Inside("actions_variables") => repository::variables;
    POST "/repos/{owner}/{repo}/actions/variables" Write("actions_variables") => repository::create_variable;
    GET "/repos/{owner}/{repo}/actions/variables/{name}" Inside("actions_variables") => repository::variable;
    PATCH "/repos/{owner}/{repo}/actions/variables/{name}" Write("actions_variables") => repository::update_variable;
    DELETE "/repos/{owner}/{repo}/actions/variables/{name}" Write("actions_variables") => repository::delete_variable;
    GET "/repos/{owner}/{repo}/hooks" Admin("repository_hooks") => repository::hooks;
    POST "/repos/{owner}/{repo}/hooks" Admin("repository_hooks") => repository::create_hook;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::hook;
    PATCH "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::update_hook;
    DELETE "/repos/{owner}/{repo}/hooks/{hook_id}" Admin("repository_hooks") => repository::delete_hook;
    POST "/repos/{owner}/{repo}/hooks/{hook_id}/pings" Admin("repository_hooks") => repository::ping_hook;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries" Admin("repository_hooks") => repository::hook_deliveries;
    GET "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}" Admin("repository_hooks") => repository::hook_delivery;
    POST "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts" Admin("repository_hooks") => repository::redeliver;

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
    GET "/repos/{owner}/{repo}/commits" Read("contents") => git::commits;
    GET "/repos/{owner}/{repo}/commits/{+ref}/check-runs" Read("checks") => actions::check_runs_of;
    GET "/repos/{owner}/{repo}/commits/{+ref}/check-suites" Read("checks") => actions::check_suites_of;
    GET "/repos/{owner}/{repo}/commits/{+ref}/status" Read("statuses") => actions::combined_status;
    GET "/repos/{owner}/{repo}/commits/{+ref}/statuses" Read("statuses") => actions::statuses_of;
    GET "/repos/{owner}/{repo}/commits/{commit_sha}/pulls" Read("pull_requests") => pulls::of_commit;
    GET "/repos/{owner}/{repo}/commits/{+ref}" Read("contents") => git::commit;
    GET "/repos/{owner}/{repo}/compare/{+basehead}" Read("contents") => git::compare;
    GET "/repos/{owner}/{repo}/contents" Read("contents") => contents::get;
    GET "/repos/{owner}/{repo}/contents/{+path}" Read("contents") => contents::get;
    PUT "/repos/{owner}/{repo}/contents/{+path}" Write("contents") => contents::put;
    DELETE "/repos/{owner}/{repo}/contents/{+path}" Write("contents") => contents::delete;
    GET "/repos/{owner}/{repo}/readme" Read("contents") => contents::readme;

    GET "/repos/{owner}/{repo}/pulls" Read("pull_requests") => pulls::list;
    POST "/repos/{owner}/{repo}/pulls" Write("pull_requests") => pulls::create;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}" Read("pull_requests") => pulls::get;
    PATCH "/repos/{owner}/{repo}/pulls/{pull_number}" Write("pull_requests") => pulls::update;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/commits" Read("pull_requests") => pulls::commits;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/files" Read("pull_requests") => pulls::files;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/merge" Read("pull_requests") => pulls::is_merged;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/merge" Write("contents") => pulls::merge;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/update-branch" Write("pull_requests") => pulls::update_branch;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/reviews" Read("pull_requests") => pulls::reviews;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/reviews" Talk("pull_requests") => pulls::create_review;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}" Read("pull_requests") => pulls::review;
    PUT "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals" Write("pull_requests") => pulls::dismiss_review;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/comments" Read("pull_requests") => pulls::review_comments;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/comments" Talk("pull_requests") => pulls::create_review_comment;
    GET "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Read("pull_requests") => pulls::requested_reviewers;
    POST "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Write("pull_requests") => pulls::request_reviewers;
    DELETE "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" Write("pull_requests") => pulls::unrequest_reviewers;

    GET "/repos/{owner}/{repo}/issues" Read(THREADS) => issues::list;
    POST "/repos/{owner}/{repo}/issues" Talk("issues") => issues::create;
    GET "/repos/{owner}/{repo}/issues/comments" Read(THREADS) => issues::repository_comments;
    GET "/repos/{owner}/{repo}/issues/comments/{comment_id}" Read(THREADS) => issues::comment;
    PATCH "/repos/{owner}/{repo}/issues/comments/{comment_id}" Talk(THREADS) => issues::update_comment;
    DELETE "/repos/{owner}/{repo}/issues/comments/{comment_id}" Talk(THREADS) => issues::delete_comment;
    GET "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions" Read(THREADS) => issues::comment_reactions;
    POST "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions" Talk(THREADS) => issues::react_to_comment;
    GET "/repos/{owner}/{repo}/issues/{issue_number}" Read(THREADS) => issues::get;
    PATCH "/repos/{owner}/{repo}/issues/{issue_number}" Talk(THREADS) => issues::update;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/comments" Read(THREADS) => issues::comments;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/comments" Talk(THREADS) => issues::create_comment;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/labels" Read(THREADS) => issues::labels;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::add_labels;
    PUT "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::set_labels;
    DELETE "/repos/{owner}/{repo}/issues/{issue_number}/labels" Triage(THREADS) => issues::remove_labels;
    DELETE "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}" Triage(THREADS) => issues::remove_label;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/reactions" Read(THREADS) => issues::reactions;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/reactions" Talk(THREADS) => issues::react;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/timeline" Read(THREADS) => issues::timeline;
    GET "/repos/{owner}/{repo}/issues/{issue_number}/events" Read(THREADS) => issues::events;
    POST "/repos/{owner}/{repo}/issues/{issue_number}/assignees" Triage(THREADS) => issues::assign;

    POST "/repos/{owner}/{repo}/statuses/{sha}" Write("statuses") => actions::create_status;
    POST "/repos/{owner}/{repo}/check-runs" Write("checks") => actions::create_check_run;
    GET "/repos/{owner}/{repo}/check-runs/{check_run_id}" Read("checks") => actions::check_run;
    PATCH "/repos/{owner}/{repo}/check-runs/{check_run_id}" Write("checks") => actions::update_check_run;
    GET "/repos/{owner}/{repo}/check-suites/{check_suite_id}" Read("checks") => actions::check_suite;
    GET "/repos/{owner}/{repo}/actions/workflows" Read("actions") => actions::workflows;
    GET "/repos/{owner}/{repo}/actions/workflows/{workflow_id}" Read("actions") => actions::workflow;
    PUT "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/enable" Write("actions") => actions::enable;
    PUT "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/disable" Write("actions") => actions::disable;
    GET "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs" Read("actions") => actions::runs;
    GET "/repos/{owner}/{repo}/actions/runs" Read("actions") => actions::runs;
    GET "/repos/{owner}/{repo}/actions/runs/{run_id}" Read("actions") => actions::run;
    GET "/repos/{owner}/{repo}/actions/runs/{run_id}/jobs" Read("actions") => actions::jobs;
    GET "/repos/{owner}/{repo}/actions/jobs/{job_id}" Read("actions") => actions::job;
    GET "/repos/{owner}/{repo}/actions/jobs/{job_id}/logs" Read("actions") => actions::logs;
    GET "/repos/{owner}/{repo}/releases" Read("contents") => actions::releases;
    GET "/repos/{owner}/{repo}/releases/latest" Read("contents") => actions::latest_release;
    GET "/repos/{owner}/{repo}/releases/tags/{+tag}" Read("contents") => actions::release_by_tag;
    GET "/repos/{owner}/{repo}/releases/assets/{asset_id}" Read("contents") => actions::asset;
    GET "/repos/{owner}/{repo}/releases/{release_id}" Read("contents") => actions::release;
    GET "/repos/{owner}/{repo}/releases/{release_id}/assets" Read("contents") => actions::assets;
};

/// The parts of a template, split once.
fn templates() -> &'static [Vec<&'static str>] {
    static SPLIT: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
    SPLIT.get_or_init(|| {
        ROUTES
            .iter()
            .map(|route| route.template.trim_matches('/').split('/').collect())
            .collect()
    })
}

/// The route of a method and path, with its parameters decoded. Raw slashes and `%2F` mean the same.
pub(crate) fn find(method: &Method, path: &str) -> Option<(&'static Route, Params)> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let method = if *method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    ROUTES
        .iter()
        .zip(templates())
        .filter(|(route, _)| route.method == method)
        .find_map(|(route, template)| {
            let mut params = Params::new();
            matches(template, &parts, &mut params).then_some((route, params))
        })
}

fn matches(template: &[&'static str], parts: &[&str], params: &mut Params) -> bool {
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let Some((first, rest)) = template.split_first() else {
        return parts.is_empty();
    };
    let Some(name) = first
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'))
    else {
        return parts.first() == Some(first) && matches(rest, &parts[1..], params);
    };
    let Some(name) = name.strip_prefix('+') else {
        let Some((value, others)) = parts.split_first() else {
            return false;
        };
        params.push((name, decode(value)));
        return !value.is_empty() && matches(rest, others, params);
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
    matches(rest, others, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params_of(path: &str) -> Option<(&'static str, Params)> {
        find(&Method::GET, path).map(|(route, params)| (route.template, params))
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
