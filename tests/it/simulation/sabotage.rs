//! Faults of phileas itself, which it does not have: the requests that a program with such a fault would send instead.
//!
//! They are made between the adapters and the models, so that nothing of the program knows of them.

use bytes::Bytes;
use http::{Request, Response};
use phileas::sandbox::world_setup;
use phileas_world::github::object::Oid;
use phileas_world::{Face, World};
use serde_json::{Value, json};

use super::faults::PANICKED;
use super::stage::AGENTS_PATHS;
use super::verdict::{IN_BOOKS, IS_REJECTED, IS_UNKNOWN, NO_MARKER, STILL_LABELLED, TWO_SESSIONS};

/// What is wrong with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sabotage {
    /// Sessions are created without the commit that announces them; the ledger learns of them afterwards.
    IntentSkipped,
    /// The turn's marker does not stand in the session's title.
    TitleUnmarked,
    /// What an agent has written is imported onto the commit that the agent stands on, and not onto the ledger's head
    /// that was read.
    ImportOnAgentsHead,
    /// A tick panics in the middle of its work.
    TickPanics,
    /// Labels are not taken off; the program believes that they were.
    LabelLeft,
    /// Merged work is written down as rejected.
    MergedIsRejected,
    /// The Jules key stands in what people are told.
    KeyTold,
}

impl Sabotage {
    pub(super) const ALL: [Self; 7] = [
        Self::IntentSkipped,
        Self::TitleUnmarked,
        Self::ImportOnAgentsHead,
        Self::TickPanics,
        Self::LabelLeft,
        Self::MergedIsRejected,
        Self::KeyTold,
    ];

    /// What it is, for the output.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::IntentSkipped => "the intent's commit is skipped",
            Self::TitleUnmarked => "the marker is dropped from the title",
            Self::ImportOnAgentsHead => "changes are imported onto the agent's head",
            Self::TickPanics => "a tick panics",
            Self::LabelLeft => "labels are left where they are",
            Self::MergedIsRejected => "merged work is called rejected",
            Self::KeyTold => "the key is told",
        }
    }

    /// The finding that is about this fault and no other.
    pub(super) fn evidence(self, findings: &[String]) -> Option<&str> {
        let words = match self {
            Self::IntentSkipped => TWO_SESSIONS,
            Self::TitleUnmarked => NO_MARKER,
            // That the ledger was moved says nothing: the saboteur moves it. That what others wrote is its past does.
            Self::ImportOnAgentsHead => IS_UNKNOWN,
            Self::TickPanics => PANICKED,
            Self::LabelLeft => STILL_LABELLED,
            Self::MergedIsRejected => IS_REJECTED,
            Self::KeyTold => IN_BOOKS,
        };
        let about = |finding: &&String| finding.contains(words);
        findings.iter().find(about).map(String::as_str)
    }

    /// Makes the request what such a program would send; where it would send nothing, answers in the world's stead.
    pub(super) fn tamper(
        self,
        world: &mut World,
        face: Face,
        request: &mut Request<Bytes>,
    ) -> Option<Response<Bytes>> {
        match self {
            Self::IntentSkipped => skip_intent(face, request),
            Self::TitleUnmarked => {
                drop_marker(face, request);
                None
            }
            Self::ImportOnAgentsHead => {
                import_elsewhere(world, face, request);
                None
            }
            // No task may hold the world meanwhile.
            Self::TickPanics => None,
            Self::LabelLeft => leave_label(face, request),
            Self::MergedIsRejected => {
                reject_merged(face, request);
                None
            }
            Self::KeyTold => {
                leak_key(face, request);
                None
            }
        }
    }
}

/// A label is not taken off.
fn leave_label(face: Face, request: &Request<Bytes>) -> Option<Response<Bytes>> {
    let takes_off = face == Face::Github
        && request.method() == http::Method::DELETE
        && request.uri().path().contains("/labels/");
    takes_off.then(|| answered(&json!([])))
}

/// The state file says `rejected` wherever it should say `merged`.
fn reject_merged(face: Face, request: &mut Request<Bytes>) {
    let Some(mut body) = commit_of(face, request) else {
        return;
    };
    let additions = &mut body["variables"]["input"]["fileChanges"]["additions"];
    let files = additions.as_array_mut().into_iter().flatten();
    for file in files.filter(|file| file["path"] == ".jules/cycle_state.json") {
        let contents = file["contents"].as_str().unwrap_or_default().as_bytes();
        let text = data_encoding::BASE64.decode(contents).unwrap_or_default();
        let text = String::from_utf8_lossy(&text)
            .replace("\"outcome\": \"merged\"", "\"outcome\": \"rejected\"");
        file["contents"] = data_encoding::BASE64.encode(text.as_bytes()).into();
    }
    replace_body(request, &body);
}

/// A comment ends with the key.
fn leak_key(face: Face, request: &mut Request<Bytes>) {
    let comments = request.uri().path().ends_with("/comments");
    if face != Face::Github || request.method() != http::Method::POST || !comments {
        return;
    }
    if let Ok(mut body) = serde_json::from_slice::<Value>(request.body())
        && let Some(text) = body["body"].as_str()
    {
        body["body"] = format!("{text}\n\n{}", world_setup::JULES_KEY).into();
        replace_body(request, &body);
    }
}

/// Panics where a turn that is over would be written down. No hook tells of it: it is meant.
pub(super) fn panic_at(face: Face, request: &Request<Bytes>) {
    let body = commit_of(face, request);
    let headline = body
        .as_ref()
        .and_then(|body| body["variables"]["input"]["message"]["headline"].as_str());
    if headline.is_some_and(|headline| headline.contains("settled ")) {
        std::panic::resume_unwind(Box::new("sabotage"));
    }
}

/// The input of a commit on the ledger.
fn commit_of(face: Face, request: &Request<Bytes>) -> Option<Value> {
    if face != Face::Github || !request.uri().path().ends_with("/graphql") {
        return None;
    }
    let body: Value = serde_json::from_slice(request.body()).ok()?;
    let is_commit = body["query"].as_str()?.contains("createCommitOnBranch");
    let on_ledger = body["variables"]["input"]["branch"]["branchName"]
        .as_str()
        .is_some_and(|name| name.ends_with("jules"));
    (is_commit && on_ledger).then_some(body)
}

/// A commit that announces a session and does nothing else is not made; its sender believes that it was.
fn skip_intent(face: Face, request: &Request<Bytes>) -> Option<Response<Bytes>> {
    let body = commit_of(face, request)?;
    let input = &body["variables"]["input"];
    let headline = input["message"]["headline"].as_str()?;
    if !headline.contains("intent ") {
        return None;
    }
    let parent = &input["expectedHeadOid"];
    let answer = json!({"data": {"createCommitOnBranch": {"commit": {"oid": parent}}}});
    Some(answered(&answer))
}

/// The title ends before the marker.
fn drop_marker(face: Face, request: &mut Request<Bytes>) {
    if face != Face::Jules || request.method() != http::Method::POST {
        return;
    }
    let Ok(mut body) = serde_json::from_slice::<Value>(request.body()) else {
        return;
    };
    let Some(title) = body["title"].as_str() else {
        return;
    };
    if let Some((words, _)) = title.rsplit_once(" [phileas:") {
        body["title"] = words.into();
        replace_body(request, &body);
    }
}

/// The ledger is put where the agent stands, and the import goes on top of that.
fn import_elsewhere(world: &mut World, face: Face, request: &mut Request<Bytes>) {
    let Some(mut body) = commit_of(face, request) else {
        return;
    };
    let input = &body["variables"]["input"];
    let additions = input["fileChanges"]["additions"].as_array();
    let brings = |one: &Value| {
        let path = one["path"].as_str().unwrap_or_default();
        AGENTS_PATHS.iter().any(|below| path.starts_with(below))
    };
    if !additions.is_some_and(|all| all.iter().any(brings)) {
        return;
    }
    let name = input["branch"]["repositoryNameWithOwner"].as_str();
    let Some((owner, name)) = name.and_then(|name| name.split_once('/')) else {
        return;
    };
    let now = world.now();
    let branches: Vec<String> = world
        .books()
        .sessions
        .iter()
        .rev()
        .filter_map(|session| session.branch.clone())
        .collect();
    let github = world.github_mut();
    let Some(repo) = github.repository_by_name(owner, name) else {
        return;
    };
    // A session that was to open no pull request stands on the default branch.
    let standing: Option<Oid> = branches
        .iter()
        .find_map(|branch| github.branch_head(repo, branch))
        .or_else(|| github.branch_head(repo, "main"));
    if let Some(head) = standing {
        github.move_branch(repo, "jules", head, "agent", now);
        body["variables"]["input"]["expectedHeadOid"] = head.to_string().into();
        replace_body(request, &body);
    }
}

/// An answer that the world did not give.
fn answered(answer: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(answer.to_string()));
    let json = http::HeaderValue::from_static("application/json; charset=utf-8");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, json);
    response
}

fn replace_body(request: &mut Request<Bytes>, body: &Value) {
    *request.body_mut() = Bytes::from(body.to_string());
    let length = request.body().len();
    request
        .headers_mut()
        .insert(http::header::CONTENT_LENGTH, length.into());
}
