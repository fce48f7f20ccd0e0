//! What can only be found out by writing: two sessions and a branch in a scratch repository.

use std::time::{Duration, Instant};

use http::Method;
use phileas_domain::engine::Repository;
use serde_json::{Value, json};

use super::asker::{Prober, Reply};
use super::finding::Finding;
use super::github::graphql_errors;
use super::jules::session_id;
use super::shape;

/// How often something is looked for that lags behind.
const MAX_POLLS: u32 = 45;
/// The time between two looks.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Before the names of the branches that are made to find out something.
const PROBE_BRANCHES: &str = "phileas-probe";
/// A commit that does not exist.
const NO_COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const PROMPT: &str = "This session only measures how the service answers. Do not change, create or delete any file, do \
                      not open a pull request, and finish at once with one short sentence.";

const COMMIT: &str = "mutation Probe($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { \
                      commit { oid } } }";

pub(super) async fn probe_writes(
    asker: &mut Prober,
    repository: &Repository,
    findings: &mut Vec<Finding>,
) {
    let nonce = format!("{:012x}", fastrand::u64(..1 << 48));
    probe_github_writes(asker, repository, &nonce, findings).await;
    probe_jules_writes(asker, repository, &nonce, findings).await;
}

async fn probe_jules_writes(
    asker: &mut Prober,
    repository: &Repository,
    nonce: &str,
    findings: &mut Vec<Finding>,
) {
    // In the form of a marker of ours, so that the question is asked about what counts; of no ledger's turn.
    let given = format!(
        "🔎 phileas probe: how a rather long title fares on its way [phileas-probe:{nonce}.1]"
    );
    let body = json!({
        "prompt": format!("{PROMPT}\n\nphileas-probe: {nonce}"),
        "title": given,
        "sourceContext": {
            "source": format!("sources/github/{}", repository.name),
            "githubRepoContext": { "startingBranch": repository.default_branch.as_str() },
        },
        "requirePlanApproval": true,
    });
    let created = asker
        .ask_jules(Method::POST, "/sessions", Some(&body))
        .await;
    let begun = Instant::now();
    let mut title = Finding::new("title", "Is a given title kept as it is?");
    let Some(id) = created
        .json
        .as_ref()
        .filter(|_| created.is_success())
        .and_then(session_id)
    else {
        findings.push(title.with_evidence(created.success_evidence("no id in the answer")));
        return;
    };
    findings.push(probe_environment(&created));
    let at_once = asker
        .ask_jules(Method::GET, &format!("/sessions/{id}"), None)
        .await;
    findings.push(probe_fresh_session(asker, &id, at_once, begun).await);
    findings.push(probe_fresh_activities(asker, &id, begun).await);
    let (listed, lag) = probe_listing_lag(asker, &id, begun).await;
    findings.push(lag);
    if let Some(listed) = listed {
        let shown = listed["title"].as_str();
        let kept = shape::title_form(&given, shown);
        title = title
            .with_evidence(created.success_evidence(&format!("given {given:?}, listed {shown:?}")))
            .with_answer(kept)
            .with_knob("title", kept);
    }
    findings.push(title);
    findings.push(probe_early_approval(asker, &id).await);
    let message = json!({ "prompt": "Nothing more is needed; please finish." });
    findings.push(
        probe_verb(
            asker,
            &id,
            "sendMessage",
            &message,
            "message-reply",
            "What answers sendMessage?",
        )
        .await,
    );
    findings.push(
        probe_verb(
            asker,
            &id,
            "archive",
            &json!({}),
            "archive-reply",
            "What answers archive?",
        )
        .await,
    );
    findings.push(probe_unarchive_and_delete(asker, &id).await);
}

/// What a session that was not told to get environment variables says of them.
fn probe_environment(created: &Reply) -> Finding {
    const FIELD: &str = "environmentVariablesEnabled";
    let json = created.json.as_ref();
    let said = json.map(|json| json["sourceContext"][FIELD].clone());
    let is_echoed = said == Some(Value::Bool(true));
    let finding = Finding::new(
        "environment",
        "Does a session say that it gets environment variables although it was not told to?",
    );
    finding
        .with_evidence(created.success_evidence(&format!("{FIELD}: {}", said.unwrap_or_default())))
        .with_answer(if is_echoed { "it does" } else { "it does not" })
        .with_knob("environment-echoed", is_echoed)
}

/// The session comes back from the archive and is deleted, as far as that can be.
async fn probe_unarchive_and_delete(asker: &mut Prober, id: &str) -> Finding {
    let finding = Finding::new(
        "delete",
        "What does a DELETE do to a session that is not done?",
    );
    let path = format!("/sessions/{id}");
    let back = asker
        .ask_jules(Method::POST, &format!("{path}:unarchive"), Some(&json!({})))
        .await;
    let before = asker.ask_jules(Method::GET, &path, None).await;
    let state = before
        .json
        .as_ref()
        .and_then(|json| json["state"].as_str())
        .unwrap_or("unknown")
        .to_owned();
    let gone = asker.ask_jules(Method::DELETE, &path, None).await;
    let after = asker.ask_jules(Method::GET, &path, None).await;
    let finding = finding
        .with_evidence(back.success_evidence("brought back"))
        .with_evidence(before.success_evidence(&format!("in state {state}")))
        .with_evidence(gone.success_evidence("deleted"))
        .with_evidence(after.success_evidence("still there"));
    let answer = match (gone.status, after.status) {
        (Some(400), _) => {
            // Left as it was found: archived, so that no turn waits for it.
            let _reply = asker
                .ask_jules(Method::POST, &format!("{path}:archive"), Some(&json!({})))
                .await;
            return finding
                .with_answer(format!("in state {state} it is refused"))
                .with_knob("delete-running", "refused");
        }
        (_, Some(404)) => "it is gone; whether its work goes on cannot be seen",
        (Some(404 | 405), _) => "there is no such method",
        _ => "it is still there",
    };
    finding.with_answer(format!("in state {state}: {answer}"))
}

async fn probe_fresh_session(
    asker: &mut Prober,
    id: &str,
    first: Reply,
    begun: Instant,
) -> Finding {
    let mut finding = Finding::new(
        "fresh-session",
        "How long after its creation is a session unknown to a GET?",
    )
    .with_evidence(first.success_evidence("known"));
    let mut reply = first;
    for _ in 0..MAX_POLLS {
        if reply.status != Some(404) {
            let seconds = elapsed_seconds(begun, finding.evidence.len());
            return finding
                .with_answer(format!("{seconds} s"))
                .with_knob("fresh-session-404-seconds", seconds);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        reply = asker
            .ask_jules(Method::GET, &format!("/sessions/{id}"), None)
            .await;
    }
    finding = finding.with_evidence(reply.success_evidence("known"));
    let limit = longest_wait();
    finding
        .with_answer(format!("longer than {limit} s"))
        .with_knob("fresh-session-404-seconds", limit)
}

async fn probe_fresh_activities(asker: &mut Prober, id: &str, begun: Instant) -> Finding {
    let finding = Finding::new(
        "fresh-activities",
        "How long after its creation do a session's activities answer 404?",
    );
    let path = format!("/sessions/{id}/activities");
    let mut looks = 0;
    loop {
        let reply = asker.ask_jules(Method::GET, &path, None).await;
        looks += 1;
        if reply.status != Some(404) {
            let seconds = elapsed_seconds(begun, looks);
            return finding
                .with_evidence(reply.success_evidence("shown"))
                .with_answer(format!("{seconds} s"))
                .with_knob("fresh-activities-404-seconds", seconds);
        }
        if looks >= MAX_POLLS as usize {
            let limit = longest_wait();
            return finding
                .with_evidence(reply.evidence())
                .with_answer(format!("longer than {limit} s"))
                .with_knob("fresh-activities-404-seconds", limit);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn probe_listing_lag(
    asker: &mut Prober,
    id: &str,
    begun: Instant,
) -> (Option<Value>, Finding) {
    let finding = Finding::new(
        "listing-lag",
        "How long after its creation is a session missing in the listing?",
    );
    let mut looks = 0;
    loop {
        let reply = asker
            .ask_jules(Method::GET, "/sessions?pageSize=100", None)
            .await;
        looks += 1;
        let list = reply
            .json
            .as_ref()
            .and_then(|json| json["sessions"].as_array());
        let found = list
            .into_iter()
            .flatten()
            .find(|session| session_id(session).as_deref() == Some(id));
        if let Some(found) = found {
            let seconds = elapsed_seconds(begun, looks);
            let finding = finding
                .with_evidence(reply.success_evidence("it is listed"))
                .with_answer(format!("{seconds} s"))
                .with_knob("listing-lag-seconds", seconds);
            return (Some(found.clone()), finding);
        }
        if looks >= MAX_POLLS as usize {
            let limit = longest_wait();
            let finding = finding
                .with_evidence(reply.success_evidence("it is not listed"))
                .with_answer(format!("longer than {limit} s"))
                .with_knob("listing-lag-seconds", limit);
            return (None, finding);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// What shows itself at the first look does not lag, however long the requests before it took.
fn elapsed_seconds(begun: Instant, looks: usize) -> i64 {
    if looks <= 1 {
        0
    } else {
        i64::try_from(begun.elapsed().as_secs()).unwrap_or(i64::MAX)
    }
}

fn longest_wait() -> i64 {
    let longest = POLL_INTERVAL.saturating_mul(MAX_POLLS);
    i64::try_from(longest.as_secs()).unwrap_or(i64::MAX)
}

async fn probe_early_approval(asker: &mut Prober, id: &str) -> Finding {
    let path = format!("/sessions/{id}:approvePlan");
    let reply = asker.ask_jules(Method::POST, &path, Some(&json!({}))).await;
    let finding = Finding::new(
        "approve-reply",
        "What answers approvePlan, before there is a plan?",
    );
    if !reply.is_success() {
        return finding
            .with_evidence(reply.evidence())
            .with_answer("it is refused");
    }
    let form = shape::verb_reply(reply.bytes, reply.json.as_ref());
    finding
        .with_evidence(reply.success_evidence(form))
        .with_answer(form)
        .with_knob("approve-reply", form)
}

async fn probe_verb(
    asker: &mut Prober,
    id: &str,
    verb: &str,
    body: &Value,
    knob: &'static str,
    question: &'static str,
) -> Finding {
    let path = format!("/sessions/{id}:{verb}");
    let reply = asker.ask_jules(Method::POST, &path, Some(body)).await;
    let finding = Finding::new(knob, question);
    if !reply.is_success() {
        return finding.with_evidence(reply.evidence());
    }
    let form = shape::verb_reply(reply.bytes, reply.json.as_ref());
    finding
        .with_evidence(reply.success_evidence(form))
        .with_answer(form)
        .with_knob(knob, form)
}

async fn probe_github_writes(
    asker: &mut Prober,
    repository: &Repository,
    nonce: &str,
    findings: &mut Vec<Finding>,
) {
    let branch = format!("{PROBE_BRANCHES}/{nonce}");
    let stale = Finding::new("stale-head", "How is a commit on a stale head refused?");
    let Some(head) = &repository.default_head else {
        findings.push(stale);
        return;
    };
    let request = json!({ "ref": format!("refs/heads/{branch}"), "sha": head.as_str() });
    let made = asker
        .ask_github_rest(Method::POST, "/git/refs", Some(&request))
        .await;
    if !made.is_success() {
        findings.push(stale.with_evidence(made.evidence()));
        return;
    }
    let variables = json!({ "input": {
        "branch": { "repositoryNameWithOwner": repository.name.to_string(), "branchName": branch },
        "expectedHeadOid": NO_COMMIT,
        "message": { "headline": "This must be refused" },
        "fileChanges": { "additions": [{ "path": "phileas-probe.txt", "contents": "" }], "deletions": [] },
    }});
    let reply = asker
        .ask_github_graphql(&json!({ "query": COMMIT, "variables": variables }))
        .await;
    let errors = graphql_errors(&reply);
    let stale = stale.with_evidence(reply.success_evidence(&errors.to_string()));
    findings.push(match shape::stale_head_form(&errors) {
        Some((text, typed)) => stale
            .with_answer(format!(
                "{text}, {} the type STALE_DATA",
                if typed { "with" } else { "without" }
            ))
            .with_knob("stale-text", text)
            .with_knob("stale-type-missing", if typed { 0.0 } else { 1.0 }),
        None => stale,
    });
    findings.push(probe_patch(asker, &branch, head.as_str()).await);
}

/// A PATCH that changes nothing, and one that cannot be carried out.
async fn probe_patch(asker: &mut Prober, branch: &str, head: &str) -> Finding {
    let path = format!("/git/refs/heads/{branch}");
    let same = asker
        .ask_github_rest(
            Method::PATCH,
            &path,
            Some(&json!({ "sha": head, "force": false })),
        )
        .await;
    let missing = asker
        .ask_github_rest(
            Method::PATCH,
            &path,
            Some(&json!({ "sha": NO_COMMIT, "force": false })),
        )
        .await;
    let status = |reply: &Reply| {
        reply
            .status
            .map_or_else(|| "no answer".to_owned(), |status| status.to_string())
    };
    let answer = format!(
        "{} to the same commit, {} to one that does not exist; the branch `{branch}` is left behind, delete it by hand",
        status(&same),
        status(&missing)
    );
    Finding::new("patch-ref", "What answers a PATCH of a reference?")
        .with_evidence(same.success_evidence("the reference"))
        .with_evidence(missing.evidence())
        .with_answer(answer)
}
