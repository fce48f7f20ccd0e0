//! The acts of a person in a test: on GitHub, and on a session in Jules' web app.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::github::{Role, Verdict};

/// One act of a person, for example
/// `{"act": "merge-pull", "repo": "octo/garden", "number": 3, "by": "maintainer"}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Act {
    /// The login of the person; the repository's owner when absent. The person's permissions are not checked.
    #[serde(default)]
    pub by: Option<String>,
    /// `owner/name`; the world's only repository when absent. Acts on sessions need none.
    #[serde(default)]
    pub repo: Option<String>,
    /// The act.
    #[serde(flatten)]
    pub kind: ActKind,
}

/// The kinds of acts, by the name in `act`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of GitHub's own forms")]
pub enum ActKind {
    /// Merges a pull request with a merge commit; replies `{"commit"}`.
    MergePull { number: u64 },
    /// Closes an issue, or a pull request without merging it.
    Close { number: u64 },
    /// Opens a closed issue or pull request again.
    Reopen { number: u64 },
    /// Reviews a pull request.
    ReviewPull {
        number: u64,
        verdict: Verdict,
        #[serde(default)]
        body: String,
    },
    /// Comments on an issue or pull request; replies `{"comment"}`.
    Comment { number: u64, body: String },
    /// Opens an issue; replies `{"number"}`.
    OpenIssue {
        title: String,
        #[serde(default)]
        body: String,
        #[serde(default)]
        labels: Vec<String>,
    },
    /// Puts a label on an issue or pull request.
    Label { number: u64, label: String },
    /// Takes a label off.
    Unlabel { number: u64, label: String },
    /// Commits files to a branch; replies `{"commit"}`.
    PushFiles(FilePush),
    /// Deletes a branch.
    DeleteBranch { branch: String },
    /// Changes the title or the text of an issue or pull request.
    Edit {
        number: u64,
        #[serde(default)]
        title: Option<String>,
        #[serde(default)]
        body: Option<String>,
    },
    /// Changes the text of a comment.
    EditComment { comment: u64, body: String },
    /// Makes a pull request a draft, or ready.
    SetDraft { number: u64, draft: bool },
    /// Reports a check on the head of a pull request; one without conclusion is running.
    SetCheck {
        number: u64,
        name: String,
        #[serde(default)]
        conclusion: Option<String>,
    },
    /// Makes a job of Actions fail on the head of a pull request, with this log.
    FailJob {
        number: u64,
        name: String,
        log: String,
    },
    /// Gives a person a role; `none` takes it away.
    SetRole { login: String, role: Role },
    /// Sets a variable of Actions.
    SetVariable { name: String, value: String },
    /// Publishes a release; its files are base64 by name. Replies `{"release"}`.
    PublishRelease {
        tag: String,
        #[serde(default)]
        assets: BTreeMap<String, String>,
    },
    /// Sets the rules of a branch or a pattern. A rule is a kind, or an object with `type` and
    /// `parameters`. `classic` also sets the older branch protection.
    ProtectBranch {
        branch: String,
        #[serde(default)]
        rules: Vec<serde_json::Value>,
        #[serde(default)]
        classic: Option<serde_json::Value>,
    },
    /// Runs the workflow of this file to its end, and makes the workflow if it is missing. Replies `{"run"}`.
    RunWorkflow { path: String, conclusion: String },
    /// Gives a workflow a state, such as `disabled_inactivity`.
    SetWorkflow { path: String, state: String },
    /// Locks the conversation of an issue or pull request, or unlocks it.
    Lock { number: u64, locked: bool },
    /// Switches issues on or off.
    SetIssues { on: bool },
    /// Lets only collaborators open pull requests, or all accounts again.
    SetPullPolicy { collaborators_only: bool },
    /// Makes the repository private, or public.
    SetPrivate { private: bool },
    /// Gives the repository another name.
    Rename { name: String },
    /// Installs an App on the repository; replies `{"installation"}`.
    InstallApp { app: u64 },
    /// Gives GitHub a key for an App that will be made from a manifest, because the model makes no
    /// keys. The private half is PEM and is returned as it is; the public half is PKCS#1 DER in
    /// base64. The newest key is used first.
    StockAppKey { pem: String, public_key: String },
    /// Writes a message to a session in the web app.
    ReplyToSession { session: String, message: String },
    /// Approves a session's plan in the web app.
    ApprovePlan { session: String },
    /// Archives a session in the web app.
    ArchiveSession { session: String },
    /// Deletes a session in the web app.
    DeleteSession { session: String },
}

/// A commit on a branch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePush {
    /// The branch. One that does not exist starts at the default branch's head.
    pub branch: String,
    /// Texts by path; `null` deletes.
    #[serde(default)]
    pub files: BTreeMap<String, Option<String>>,
    /// Files to delete, for forms that have no null.
    #[serde(default)]
    pub deletes: Vec<String>,
    /// The commit's message.
    #[serde(default = "FilePush::default_message")]
    pub message: String,
}

impl FilePush {
    fn default_message() -> String {
        "Change files".to_owned()
    }
}
