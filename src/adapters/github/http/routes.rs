//! Every REST route that phileas calls, as GitHub's API description writes it. No other file contains paths.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A GitHub App's installation on a repository.
pub const READ_INSTALLATION: &str = "GET /repos/{owner}/{repo}/installation";
/// The App that the JSON Web Token identifies.
pub const READ_APP: &str = "GET /app";
/// An App's installations.
pub const LIST_INSTALLATIONS: &str = "GET /app/installations";
/// One of them.
pub const READ_APP_INSTALLATION: &str = "GET /app/installations/{installation_id}";
/// The address of an App's webhook.
pub const READ_APP_HOOK: &str = "GET /app/hook/config";
/// Deliveries of an App's webhook, one entry for each attempt, newest first.
pub const LIST_APP_DELIVERIES: &str = "GET /app/hook/deliveries";
/// Sends one of these again.
pub const REDELIVER_TO_APP: &str = "POST /app/hook/deliveries/{delivery_id}/attempts";
/// The repositories that an installation's token reaches.
pub const LIST_REACHED: &str = "GET /installation/repositories";
/// Exchanges a manifest's code for the App that it registered.
pub const CONVERT_MANIFEST: &str = "POST /app-manifests/{code}/conversions";
/// A repository.
pub const READ_REPOSITORY: &str = "GET /repos/{owner}/{repo}";
/// The repository's pushes, newest first.
pub const LIST_ACTIVITY: &str = "GET /repos/{owner}/{repo}/activity";
/// A person's permission in it.
pub const READ_PERMISSION: &str = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
/// Its webhooks.
pub const LIST_HOOKS: &str = "GET /repos/{owner}/{repo}/hooks";
/// Deliveries of one webhook, one entry for each attempt, newest first.
pub const LIST_HOOK_DELIVERIES: &str = "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries";
/// Sends one of these again.
pub const REDELIVER: &str =
    "POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts";
/// A token of an installation.
pub const CREATE_INSTALLATION_TOKEN: &str =
    "POST /app/installations/{installation_id}/access_tokens";
/// One branch's head.
pub const READ_REF: &str = "GET /repos/{owner}/{repo}/git/ref/{ref}";
/// All references with this prefix.
pub const LIST_MATCHING_REFS: &str = "GET /repos/{owner}/{repo}/git/matching-refs/{ref}";
/// A new branch.
pub const CREATE_REF: &str = "POST /repos/{owner}/{repo}/git/refs";
/// One commit, with its parents and its message.
pub const READ_COMMIT: &str = "GET /repos/{owner}/{repo}/git/commits/{commit_sha}";
/// A branch's commits, newest first; with `path`, those that changed a file.
pub const LIST_COMMITS: &str = "GET /repos/{owner}/{repo}/commits";
/// The commits between two commits.
pub const COMPARE: &str = "GET /repos/{owner}/{repo}/compare/{basehead}";
/// A file at a commit.
pub const READ_CONTENTS: &str = "GET /repos/{owner}/{repo}/contents/{path}";
/// A commit without a branch.
pub const CREATE_COMMIT: &str = "POST /repos/{owner}/{repo}/git/commits";
/// A tree with its files' contents.
pub const CREATE_TREE: &str = "POST /repos/{owner}/{repo}/git/trees";
/// A file's content by its object id.
pub const READ_BLOB: &str = "GET /repos/{owner}/{repo}/git/blobs/{file_sha}";
/// The log of a job: a redirect to its store. A job has the number of its check run.
pub const READ_JOB_LOG: &str = "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs";
/// A pull request.
pub const READ_PULL: &str = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
/// A change of a pull request.
pub const UPDATE_PULL: &str = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}";
/// The files that it touches.
pub const LIST_PULL_FILES: &str = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files";
/// Its reviews, oldest first.
pub const LIST_REVIEWS: &str = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews";
/// Review comments on its lines, oldest first.
pub const LIST_REVIEW_COMMENTS: &str = "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments";
/// Merges it.
pub const MERGE_PULL: &str = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge";
/// Issues, pull requests among them.
pub const LIST_ISSUES: &str = "GET /repos/{owner}/{repo}/issues";
/// A new issue.
pub const CREATE_ISSUE: &str = "POST /repos/{owner}/{repo}/issues";
/// One issue.
pub const READ_ISSUE: &str = "GET /repos/{owner}/{repo}/issues/{issue_number}";
/// A change of an issue.
pub const UPDATE_ISSUE: &str = "PATCH /repos/{owner}/{repo}/issues/{issue_number}";
/// All comments on issues and pull requests.
pub const LIST_REPOSITORY_COMMENTS: &str = "GET /repos/{owner}/{repo}/issues/comments";
/// An issue's comments.
pub const LIST_COMMENTS: &str = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
/// A new comment.
pub const CREATE_COMMENT: &str = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
/// A change of a comment.
pub const UPDATE_COMMENT: &str = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
/// Deletes a comment.
pub const DELETE_COMMENT: &str = "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}";
/// A reaction to an issue.
pub const REACT: &str = "POST /repos/{owner}/{repo}/issues/{issue_number}/reactions";
/// A reaction to a comment.
pub const REACT_TO_COMMENT: &str =
    "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions";
/// Removes a label from an issue.
pub const REMOVE_LABEL: &str = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}";
/// Adds labels to an issue.
pub const ADD_LABELS: &str = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels";
/// A label of the repository.
pub const READ_LABEL: &str = "GET /repos/{owner}/{repo}/labels/{name}";
/// A new label.
pub const CREATE_LABEL: &str = "POST /repos/{owner}/{repo}/labels";
/// The repository's labels.
pub const LIST_LABELS: &str = "GET /repos/{owner}/{repo}/labels";
/// Pull requests.
pub const LIST_PULLS: &str = "GET /repos/{owner}/{repo}/pulls";
/// Checks of a commit.
pub const LIST_CHECK_RUNS: &str = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs";
/// The combined status of a commit.
pub const READ_STATUS: &str = "GET /repos/{owner}/{repo}/commits/{ref}/status";
/// A branch.
pub const READ_BRANCH: &str = "GET /repos/{owner}/{repo}/branches/{branch}";
/// The classic protection of a branch.
pub const READ_PROTECTION: &str = "GET /repos/{owner}/{repo}/branches/{branch}/protection";
/// The ruleset rules that apply to a branch.
pub const LIST_BRANCH_RULES: &str = "GET /repos/{owner}/{repo}/rules/branches/{branch}";
/// Workflows of Actions.
pub const LIST_WORKFLOWS: &str = "GET /repos/{owner}/{repo}/actions/workflows";
/// Runs of one workflow.
pub const LIST_WORKFLOW_RUNS: &str =
    "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs";
/// Enables a workflow.
pub const ENABLE_WORKFLOW: &str =
    "PUT /repos/{owner}/{repo}/actions/workflows/{workflow_id}/enable";
/// A variable of Actions.
pub const READ_VARIABLE: &str = "GET /repos/{owner}/{repo}/actions/variables/{name}";
/// Events of an issue.
pub const LIST_ISSUE_EVENTS: &str = "GET /repos/{owner}/{repo}/issues/{issue_number}/events";

/// A change of a label.
pub const UPDATE_LABEL: &str = "PATCH /repos/{owner}/{repo}/labels/{name}";
/// Deletes a label from the repository and from all issues.
pub const DELETE_LABEL: &str = "DELETE /repos/{owner}/{repo}/labels/{name}";
/// A new pull request.
pub const CREATE_PULL: &str = "POST /repos/{owner}/{repo}/pulls";

/// All routes, for the check against GitHub's API description.
pub const ALL: &[&str] = &[
    READ_INSTALLATION,
    READ_APP,
    LIST_INSTALLATIONS,
    READ_APP_INSTALLATION,
    READ_APP_HOOK,
    LIST_APP_DELIVERIES,
    REDELIVER_TO_APP,
    LIST_REACHED,
    CONVERT_MANIFEST,
    READ_REPOSITORY,
    LIST_ACTIVITY,
    READ_PERMISSION,
    LIST_REPOSITORY_COMMENTS,
    LIST_HOOKS,
    LIST_HOOK_DELIVERIES,
    REDELIVER,
    CREATE_INSTALLATION_TOKEN,
    READ_REF,
    LIST_MATCHING_REFS,
    CREATE_REF,
    READ_COMMIT,
    LIST_COMMITS,
    COMPARE,
    READ_CONTENTS,
    CREATE_COMMIT,
    CREATE_TREE,
    READ_BLOB,
    READ_PULL,
    UPDATE_PULL,
    LIST_PULL_FILES,
    LIST_REVIEWS,
    LIST_REVIEW_COMMENTS,
    MERGE_PULL,
    LIST_ISSUES,
    CREATE_ISSUE,
    READ_ISSUE,
    UPDATE_ISSUE,
    LIST_COMMENTS,
    CREATE_COMMENT,
    UPDATE_COMMENT,
    DELETE_COMMENT,
    REACT,
    REACT_TO_COMMENT,
    REMOVE_LABEL,
    ADD_LABELS,
    READ_LABEL,
    CREATE_LABEL,
    LIST_LABELS,
    UPDATE_LABEL,
    DELETE_LABEL,
    LIST_PULLS,
    CREATE_PULL,
    LIST_CHECK_RUNS,
    READ_STATUS,
    READ_BRANCH,
    READ_PROTECTION,
    LIST_BRANCH_RULES,
    LIST_WORKFLOWS,
    LIST_WORKFLOW_RUNS,
    ENABLE_WORKFLOW,
    READ_VARIABLE,
    LIST_ISSUE_EVENTS,
];

/// All characters that a path segment must encode. A slash stays, because refs contain slashes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The same for values other than refs: a slash would end their segment.
const NAMED: &AsciiSet = &ENCODED.add(b'/');

/// A route's method, and its path with the values filled in, in order.
///
/// `root` stands for `/repos/{owner}/{repo}`.
pub(crate) fn expand_route(route: &str, root: &str, values: &[&str]) -> (http::Method, String) {
    let (method, template) = route.split_once(' ').expect("a route has a method");
    let method = method.parse().expect("a route's method is valid");
    let mut path = String::new();
    let rest = match template.strip_prefix("/repos/{owner}/{repo}") {
        Some(rest) => {
            path.push_str(root);
            rest
        }
        None => template,
    };
    let mut values = values.iter();
    for segment in rest.split('/').skip(1) {
        path.push('/');
        if segment.starts_with('{') {
            let value = values.next().expect("every place of a route gets a value");
            let set = if segment == "{name}" { NAMED } else { ENCODED };
            path.extend(utf8_percent_encode(value, set));
        } else {
            path.push_str(segment);
        }
    }
    debug_assert!(values.next().is_none(), "too many values for {route}");
    (method, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_and_slashes_of_refs_stay() {
        let (method, path) =
            expand_route(READ_REF, "/repos/acme/widget", &["heads/phileas/a b#1?"]);
        assert_eq!(method, "GET");
        assert_eq!(
            path,
            "/repos/acme/widget/git/ref/heads/phileas/a%20b%231%3F"
        );
        let (_, path) = expand_route(READ_LABEL, "/repos/acme/widget", &["phileas:a/b"]);
        assert_eq!(path, "/repos/acme/widget/labels/phileas%3Aa%2Fb");
        let (_, path) = expand_route(LIST_ISSUES, "/repositories/7", &[]);
        assert_eq!(path, "/repositories/7/issues");
    }
}
