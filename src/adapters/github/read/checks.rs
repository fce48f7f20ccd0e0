//! Reads why checks failed: their reports by one query, and the logs of GitHub Actions jobs one by one.
//!
//! Reading a log needs `actions: read`. Without it, the logs are left out and the message says so.
//!
//! GitHub redirects a log request to a store with a signed address that is valid for a minute. That redirect is
//! followed once, without any credential: the token is for GitHub alone.
//! <https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run>

use std::collections::BTreeMap;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Method, Request, Uri};
use jiff::Timestamp;
use phileas_domain::engine::{FailedCheck, FailedChecks};
use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{CHECKS, is_hidden_check};
use crate::adapters::github::http::budget::Api;
use crate::adapters::github::http::request::Sent;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::common::Committer;
use crate::adapters::github::wire::{Connection, OfRepository, present};
use crate::runtime::ports::Failure;

/// How many logs of one commit's failed jobs are read.
const LOGS_READ: usize = 3;
/// How many pages of checks of one commit are read; each holds 100.
const MAX_PAGES: usize = 5;
/// How much of a log's end is kept, in bytes. A message shows less.
const LOG_KEPT_BYTES: usize = 256 << 10;
/// The App whose check runs are jobs with logs.
const ACTIONS: &str = "github-actions";

/// The result of reading a log.
enum Log {
    /// The end of the log.
    End(String),
    /// This credential may not read it.
    Hidden,
    /// There is none, or GitHub did not answer.
    Unavailable,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    object: Option<Commit>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    #[serde(default)]
    committed_date: Option<Timestamp>,
    #[serde(default)]
    committer: Option<Committer>,
    #[serde(default)]
    status_check_rollup: Option<Rollup>,
}

#[derive(Deserialize)]
struct Rollup {
    contexts: Connection<Context>,
}

#[derive(Deserialize)]
#[serde(tag = "__typename")]
enum Context {
    CheckRun(Run),
    StatusContext(Status),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    details_url: Option<String>,
    name: String,
    status: String,
    conclusion: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    annotations: Option<Connection<Annotation>>,
    #[serde(default)]
    started_at: Option<Timestamp>,
    #[serde(default)]
    completed_at: Option<Timestamp>,
    check_suite: Option<Suite>,
}

#[derive(Deserialize)]
struct Annotation {
    path: String,
    message: String,
    location: Span,
}

#[derive(Deserialize)]
struct Span {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u64,
}

#[derive(Deserialize)]
struct Suite {
    /// Its node id. GraphQL's numeric id is an `Int`, which real ids have outgrown.
    #[serde(default)]
    id: Option<String>,
    app: Option<App>,
}

#[derive(Deserialize)]
struct App {
    slug: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    created_at: Option<Timestamp>,
    context: String,
    state: String,
    description: Option<String>,
}

impl Client {
    pub(crate) async fn checks_of(&self, commit: &Oid) -> Result<FailedChecks, Failure> {
        let mut variables = self.repository_variables();
        variables["commit"] = commit.as_str().into();
        let mut contexts = Vec::new();
        let mut committed_at = None;
        let mut by_jules = false;
        let hidden = std::sync::atomic::AtomicBool::new(false);
        let note = |problem: &crate::adapters::github::graphql::GraphError| {
            let tolerated = is_hidden_check(problem);
            hidden.fetch_or(tolerated, std::sync::atomic::Ordering::Relaxed);
            tolerated
        };
        for _ in 0..MAX_PAGES {
            let reply = self
                .run_query::<OfRepository<Repository>>("Checks", CHECKS, &variables, &note)
                .await?;
            let commit = reply.data.repository.and_then(|found| found.object);
            let commit = commit.unwrap_or_default();
            committed_at = committed_at.or(commit.committed_date);
            by_jules |= commit.committer.is_some_and(|by| by.is_jules());
            let page = commit.status_check_rollup.map(|rollup| rollup.contexts);
            let next = page.as_ref().and_then(Connection::next);
            contexts.extend(page.into_iter().flatten());
            match next {
                Some(after) => variables["after"] = after.into(),
                None => break,
            }
        }
        let contexts = without_superseded(contexts);
        let mut red = FailedChecks {
            hidden: hidden.into_inner(),
            committed_at,
            by_jules,
            ..FailedChecks::default()
        };
        let jobs = add_contexts(&mut red, contexts);
        // No message is sent before all checks have ended, so no log is needed.
        let wanted = if red.running > 0 { 0 } else { LOGS_READ };
        for (place, job) in jobs.into_iter().take(wanted) {
            let check = &mut red.failed[place];
            match self.job_log(job).await {
                Log::End(end) => check.log = end,
                Log::Hidden => check.log_hidden = true,
                Log::Unavailable => {}
            }
        }
        Ok(red)
    }

    /// The end of a job's log. A message goes without a log that cannot be read.
    async fn job_log(&self, job: u64) -> Log {
        let route = routes::READ_JOB_LOG;
        let left = self.budget.pause_left(Api::Rest, self.pause.now());
        if left.is_some() {
            return Log::Unavailable;
        }
        let Ok(token) = self.current_token().await else {
            return Log::Unavailable;
        };
        let (method, path) =
            routes::expand_route(route, &self.address.root_path(), &[&job.to_string()]);
        let Sent::Answer(answer) = self.send_once(Api::Rest, method, &path, None, &token).await
        else {
            return Log::Unavailable;
        };
        let body = match answer.status.as_u16() {
            200 => Some(answer.body),
            302 | 307 => match answer.location_header() {
                Some(address) => self.fetch_stored_log(address).await,
                None => None,
            },
            status => {
                tracing::info!(job, status, "the log of a failed job cannot be read");
                let said = answer.error_message();
                if let Some(after) = answer.rate_limit_wait(&said, self.pause.now()) {
                    self.pause_api(Api::Rest, &answer, after);
                    return Log::Unavailable;
                }
                // GitHub answers 404 for what a token may not see.
                if matches!(status, 401 | 403 | 404) {
                    return Log::Hidden;
                }
                None
            }
        };
        body.map_or(Log::Unavailable, |body| Log::End(end_of(&body)))
    }

    /// Fetches a log from a signed address of another host. None of our headers is sent there.
    async fn fetch_stored_log(&self, address: &str) -> Option<Bytes> {
        let uri: Uri = address.parse().ok()?;
        // A local GitHub without TLS has a store without TLS.
        let is_plain = self.base.rest_address().origin.scheme() == Some(&Scheme::HTTP);
        if uri.authority().is_none() || (uri.scheme() != Some(&Scheme::HTTPS) && !is_plain) {
            tracing::info!("the store of a log is at no address that is safe to ask");
            return None;
        }
        let request = Request::builder()
            .method(Method::GET)
            .uri(uri)
            .body(Bytes::new())
            .ok()?;
        self.budget.count_request();
        let answer = self.transport.send(request).await.ok()?;
        answer.status().is_success().then(|| answer.into_body())
    }
}

/// Adds the failed and running checks. Returns the jobs with a log: the place of the failed check, and the job's number.
fn add_contexts(red: &mut FailedChecks, contexts: Vec<Context>) -> Vec<(usize, u64)> {
    let mut jobs = Vec::new();
    for context in contexts {
        match context {
            Context::CheckRun(run) if run.status != "COMPLETED" => red.running += 1,
            Context::CheckRun(run) if run.has_failed() => {
                red.failed_at = red.failed_at.max(run.completed_at);
                jobs.extend(run.job_number().map(|job| (red.failed.len(), job)));
                red.failed.push(run.into());
            }
            Context::StatusContext(status) => match status.state.as_str() {
                "PENDING" | "EXPECTED" => red.running += 1,
                "FAILURE" | "ERROR" => {
                    red.failed_at = red.failed_at.max(status.created_at);
                    red.failed.push(status.into());
                }
                _ => {}
            },
            Context::CheckRun(_) => {}
        }
    }
    jobs
}

/// Drops runs that were repeated: GitHub still lists them, and a newer run of the same name in the same suite
/// replaces them.
fn without_superseded(contexts: Vec<Context>) -> Vec<Context> {
    let mut newest: BTreeMap<(String, String), Timestamp> = BTreeMap::new();
    for context in &contexts {
        if let Some((key, at)) = context.run_key() {
            let known = newest.entry(key).or_insert(at);
            *known = at.max(*known);
        }
    }
    let stands = |context: &Context| {
        let started = context.run_key();
        started.is_none_or(|(key, at)| newest.get(&key) <= Some(&at))
    };
    contexts.into_iter().filter(stands).collect()
}

impl Context {
    /// Its suite and name, and when it started.
    fn run_key(&self) -> Option<((String, String), Timestamp)> {
        let Self::CheckRun(run) = self else {
            return None;
        };
        let suite = run.check_suite.as_ref()?.id.clone()?;
        Some(((suite, run.name.clone()), run.started_at?))
    }
}

/// The end of a log, from the start of a line.
fn end_of(body: &Bytes) -> String {
    let from = body.len().saturating_sub(LOG_KEPT_BYTES);
    let text = String::from_utf8_lossy(&body[from..]);
    match text.split_once('\n') {
        Some((_, whole)) if from > 0 => whole.to_owned(),
        _ => text.into_owned(),
    }
}

impl Run {
    fn has_failed(&self) -> bool {
        matches!(
            self.conclusion.as_deref(),
            Some("FAILURE" | "TIMED_OUT" | "STARTUP_FAILURE")
        )
    }

    /// The job's number, if the run is a GitHub Actions job: its page is `…/actions/runs/1/job/2`. The numeric id in
    /// GraphQL is an `Int`, which jobs have outgrown.
    fn job_number(&self) -> Option<u64> {
        let app = self.check_suite.as_ref()?.app.as_ref()?;
        let page = self.details_url.as_ref().filter(|_| app.slug == ACTIONS)?;
        let (_, job) = page.split_once("/job/")?;
        let digits = job.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }
}

impl From<Run> for FailedCheck {
    fn from(run: Run) -> Self {
        let said = [run.title, run.summary].into_iter().flatten();
        let annotations = run.annotations.into_iter().flatten();
        Self {
            name: run.name,
            conclusion: run.conclusion.unwrap_or_default(),
            summary: said.collect::<Vec<_>>().join("\n"),
            annotations: annotations
                .map(|one| format!("{}:{}: {}", one.path, one.location.start.line, one.message))
                .collect(),
            ..Self::default()
        }
    }
}

impl From<Status> for FailedCheck {
    fn from(status: Status) -> Self {
        Self {
            name: status.context,
            conclusion: status.state,
            summary: status.description.unwrap_or_default(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::http::answer::SECONDARY_LIMIT_WAIT;
    use crate::adapters::github::scripted::{json, reply, set};
    use crate::adapters::pause::Pause as _;

    fn run(id: u64, conclusion: Option<&str>, app: &str) -> Value {
        let page = format!("https://github.com/acme/widget/actions/runs/30123456789/job/{id}?pr=7");
        value!({ "__typename": "CheckRun", "detailsUrl": page, "name": "build", "conclusion": conclusion,
            "status": if conclusion.is_some() { "COMPLETED" } else { "IN_PROGRESS" }, "title": "It broke", "summary": null,
            "annotations": { "nodes": [{ "path": "src/a.rs", "message": "mismatched types",
                "location": { "start": { "line": 7 } } }] },
            "checkSuite": { "app": { "slug": app } } })
    }

    fn answer(contexts: &[Value]) -> Value {
        value!({ "data": { "repository": { "object": { "statusCheckRollup": {
            "contexts": { "nodes": contexts } } } } } })
    }

    #[tokio::test]
    async fn r21_a_log_is_fetched_elsewhere_without_any_credential() {
        let store = "https://store.example/log?sig=abc";
        let set = set([
            json(
                200,
                &answer(&[run(50_123_456_789, Some("FAILURE"), ACTIONS)]),
            ),
            reply(302, &[("location", store)], &Value::Null),
            json(200, &value!("the end")),
        ]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert_eq!(red.failed.len(), 1);
        assert_eq!(red.failed[0].log, "\"the end\"");
        assert_eq!(red.failed[0].annotations, ["src/a.rs:7: mismatched types"]);
        let seen = set.script.seen();
        assert!(
            seen[1]
                .line
                .ends_with("/repos/acme/widget/actions/jobs/50123456789/logs")
        );
        assert_ne!(seen[1].authorization, "");
        assert_eq!(seen[2].line, format!("GET {store}"));
        assert_eq!(seen[2].headers.len(), 0, "{:?}", seen[2].headers);
    }

    #[tokio::test]
    async fn r21_a_log_is_not_fetched_without_tls() {
        let set = set([
            json(
                200,
                &answer(&[run(50_123_456_789, Some("FAILURE"), ACTIONS)]),
            ),
            reply(
                302,
                &[("location", "http://store.example/log")],
                &Value::Null,
            ),
        ]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert_eq!(red.failed[0].log, "");
        assert_eq!(set.script.lines().len(), 2);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_left_out() {
        let contexts = [
            run(50_123_456_789, Some("FAILURE"), ACTIONS),
            run(6, Some("FAILURE"), "other-app"),
            run(7, Some("SUCCESS"), ACTIONS),
            value!({ "__typename": "StatusContext", "context": "ci", "state": "ERROR", "description": null }),
        ];
        let set = set([
            json(200, &answer(&contexts)),
            json(
                403,
                &value!({ "message": "Resource not accessible by integration" }),
            ),
        ]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert_eq!(set.script.lines().len(), 2);
        assert_eq!((red.running, red.failed.len(), red.hidden), (0, 3, false));
        assert!(red.failed.iter().all(|check| check.log.is_empty()));
        let hidden: Vec<_> = red.failed.iter().map(|check| check.log_hidden).collect();
        assert_eq!(hidden, [true, false, false]);
        assert_eq!(red.failed[2].name, "ci");
    }

    /// A limit says nothing about what the token may read, and ends the reading of logs for all.
    #[tokio::test]
    async fn a_limit_hides_no_log_and_is_respected() {
        let contexts = [
            run(50_123_456_789, Some("FAILURE"), ACTIONS),
            run(50_123_456_790, Some("FAILURE"), ACTIONS),
        ];
        let limited = value!({ "message": "You have exceeded a secondary rate limit." });
        let set = set([json(200, &answer(&contexts)), json(403, &limited)]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert!(set.script.is_used_up());
        assert_eq!(red.failed.len(), 2);
        let has_none = |check: &FailedCheck| check.log.is_empty() && !check.log_hidden;
        assert!(red.failed.iter().all(has_none));
        let left = set.client.budget.pause_left(Api::Rest, set.clock.now());
        assert_eq!(left, Some(SECONDARY_LIMIT_WAIT));
    }

    #[tokio::test]
    async fn checks_beyond_the_first_page_are_read_and_superseded_ones_are_not_told() {
        let at = |mut run: Value, name: &str, suite: &str, started: &str| {
            run["name"] = name.into();
            run["checkSuite"]["id"] = suite.into();
            run["startedAt"] = format!("2026-01-05T{started}:00Z").into();
            run
        };
        let red = || run(5, Some("FAILURE"), "other-app");
        let green = || run(6, Some("SUCCESS"), "other-app");
        let mut first = answer(&[
            at(red(), "lint", "CS_1", "01:00"),
            at(red(), "build", "CS_1", "01:00"),
        ]);
        let contexts = "/data/repository/object/statusCheckRollup/contexts";
        first.pointer_mut(contexts).unwrap()["pageInfo"] =
            value!({ "hasNextPage": true, "endCursor": "c1" });
        let second = answer(&[
            at(green(), "build", "CS_1", "02:00"),
            at(red(), "build", "CS_2", "01:30"),
        ]);
        let set = set([json(200, &first), json(200, &second)]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        let names: Vec<_> = red.failed.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(
            names,
            ["lint", "build"],
            "the one of the other suite stands"
        );
        assert_eq!(set.script.seen()[1].body["variables"]["after"], "c1");
    }

    #[tokio::test]
    async fn no_log_is_read_before_all_have_ended() {
        let contexts = [
            run(50_123_456_789, Some("FAILURE"), ACTIONS),
            run(8, None, ACTIONS),
            value!({ "__typename": "StatusContext", "context": "cd", "state": "PENDING", "description": null }),
        ];
        let set = set([json(200, &answer(&contexts))]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert_eq!((red.running, red.failed.len()), (2, 1));
        assert_eq!(set.script.lines().len(), 1);
    }

    #[tokio::test]
    async fn checks_that_are_hidden_are_told_apart_from_none() {
        let hidden = value!({ "data": { "repository": { "object": { "statusCheckRollup": null } } },
            "errors": [{ "type": "FORBIDDEN", "message": "no",
                "path": ["repository", "object", "statusCheckRollup"] }] });
        let set = set([json(200, &hidden)]);
        let red = set.client.checks_of(&"1f".into()).await.unwrap();
        assert!(red.hidden && red.failed.is_empty());
    }

    #[test]
    fn only_the_end_of_a_long_log_is_kept() {
        let long = Bytes::from("line of a log\n".repeat(100_000));
        let end = end_of(&long);
        assert!(end.len() <= LOG_KEPT_BYTES && end.starts_with("line of"));
        assert_eq!(end_of(&Bytes::from("short\nlog")), "short\nlog");
    }
}
