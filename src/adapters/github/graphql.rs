//! Sends GraphQL documents, and judges the envelopes of their answers.
//!
//! A status of 200 does not mean success: `errors` beside `data` decide. A field that is null because its resolver
//! failed looks like one that is null because there is nothing, and the ledger must never be taken for absent by such
//! a mistake. So every error fails the whole call, except in the fields that the caller tolerates.

use bytes::Bytes;
use http::Method;
use phileas_domain::model::PullNumber;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::Client;
use super::http::answer::Answer;
use super::http::budget::Api;
use super::http::error;
use super::http::request::Call;
use super::http::retry::{CallKind, LONGEST_WAIT, READ_ATTEMPTS};
use super::wire::{OfPull, OfRepository};
use crate::runtime::ports::{Disposition, Failure};

pub(super) const OBSERVE: &str = concat!(
    include_str!("graphql/observe.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
    "\n",
    include_str!("graphql/file_facts.graphql"),
    "\n",
    include_str!("graphql/pull_facts.graphql"),
);
pub(super) const OPEN_PULLS: &str = concat!(
    include_str!("graphql/open_pulls.graphql"),
    "\n",
    include_str!("graphql/pull_facts.graphql"),
);
pub(super) const PULL_HISTORY: &str = include_str!("graphql/pull_history.graphql");
pub(super) const FILE_FACTS: &str = include_str!("graphql/file_facts.graphql");
pub(super) const PULL_FACTS: &str = include_str!("graphql/pull_facts.graphql");
pub(super) const SUBJECT_FACTS: &str = concat!(
    include_str!("graphql/subject_facts.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
);
pub(super) const EDITS: &str = include_str!("graphql/edits.graphql");
pub(super) const OWN_COMMENTS: &str = include_str!("graphql/own_comments.graphql");
pub(super) const OWN_ISSUES: &str = include_str!("graphql/own_issues.graphql");
pub(super) const BODIES: &str = include_str!("graphql/bodies.graphql");
pub(super) const CHECKS: &str = include_str!("graphql/checks.graphql");
pub(super) const DRAFT: &str = include_str!("graphql/draft.graphql");
pub(super) const MARK_READY: &str = include_str!("graphql/mark_ready.graphql");
pub(super) const MERGE_FACTS: &str = concat!(
    include_str!("graphql/merge_facts.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
);
pub(super) const REVIEWS: &str = concat!(
    include_str!("graphql/reviews.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
);
pub(super) const REFUSAL_TEXTS: &str = concat!(
    include_str!("graphql/refusal_texts.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
);
pub(super) const PULL_ACTIVITY: &str = concat!(
    include_str!("graphql/pull_activity.graphql"),
    "\n",
    include_str!("graphql/account.graphql"),
);
pub(super) const PLAN_COMMIT: &str = include_str!("graphql/plan_commit.graphql");
pub(super) const COMMIT: &str = include_str!("graphql/commit.graphql");

/// An entry of `errors`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct GraphError {
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    /// A spent rate limit has its code here.
    #[serde(default)]
    pub(super) code: Value,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) path: Vec<Value>,
    /// Holds a `code` when the document itself is wrong.
    #[serde(default)]
    pub(super) extensions: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Envelope<T> {
    #[serde(default = "Option::default")]
    pub(super) data: Option<T>,
    #[serde(default)]
    pub(super) errors: Vec<GraphError>,
}

#[derive(Deserialize)]
struct CostEnvelope {
    #[serde(default, rename = "rateLimit")]
    rate_limit: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    cost: u64,
}

/// The answer to a query.
#[derive(Debug)]
pub(super) struct Reply<T> {
    pub(super) data: T,
    pub(super) answer: Answer,
}

impl GraphError {
    /// Whether the error's path contains this name: `["repository", "p3"]` contains `p3`.
    pub(super) fn is_below(&self, name: &str) -> bool {
        self.path.iter().any(|part| part.as_str() == Some(name))
    }

    pub(super) fn has_type(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Whether the rate limit is spent. GitHub sends either type, and beside it perhaps a code
    /// (octokit/plugin-throttling.js#848, yanyongyu/githubkit#271).
    fn is_rate_limit(&self) -> bool {
        self.has_type("RATE_LIMITED")
            || self.has_type("RATE_LIMIT")
            || self.code == "graphql_rate_limit"
    }
}

/// Whether an issue or a pull request of the query does not exist.
pub(crate) fn is_missing_number(problem: &GraphError) -> bool {
    problem.has_type("NOT_FOUND") && problem.path.len() == 2
}

/// A token may not be allowed to see checks. Nothing else may be missing.
pub(crate) fn is_hidden_check(problem: &GraphError) -> bool {
    problem.has_type("FORBIDDEN") && problem.is_below("statusCheckRollup")
}

impl Client {
    /// Sends a query. Errors that `tolerated` accepts leave nulls in the data; all others fail the call.
    pub(super) async fn run_query<T: DeserializeOwned>(
        &self,
        name: &str,
        document: &str,
        variables: &Value,
        tolerated: impl Fn(&GraphError) -> bool,
    ) -> Result<Reply<T>, Failure> {
        let what = format!("POST /graphql ({name})");
        let mut attempt = 1;
        loop {
            let answer = self
                .post_graph(&what, document, variables, CallKind::Read)
                .await?;
            let failure = match self.open_envelope(&what, &answer, &tolerated) {
                Ok(data) => return Ok(Reply { data, answer }),
                Err(failure) => failure,
            };
            let wait = match failure.disposition {
                // The same query needs as much again.
                _ if error::is_too_costly(&failure) => return Err(failure),
                Disposition::Retry { after: None } => self.backoff.wait_after(attempt),
                Disposition::Retry { after: Some(after) } if after <= LONGEST_WAIT => after,
                _ => return Err(failure),
            };
            if attempt == READ_ATTEMPTS {
                return Err(failure);
            }
            attempt += 1;
            self.pause.pause_for(wait).await;
        }
    }

    /// Sends a query of one repository. A repository that is gone is a failure.
    pub(super) async fn query_repository<R: DeserializeOwned>(
        &self,
        name: &str,
        document: &str,
        variables: &Value,
        tolerated: impl Fn(&GraphError) -> bool,
    ) -> Result<R, Failure> {
        let reply = self
            .run_query::<OfRepository<R>>(name, document, variables, tolerated)
            .await?;
        reply.data.repository.ok_or_else(|| {
            error::failure_saying(
                &format!("POST /graphql ({name})"),
                &reply.answer,
                Disposition::NotFound,
                "the repository is gone",
            )
        })
    }

    /// Sends a query of one pull request; `None`: there is none of this number. `sizes`: further variables, and those
    /// for a second query if that is too much for one answer.
    pub(super) async fn query_pull<P: DeserializeOwned>(
        &self,
        name: &str,
        document: &str,
        pull: PullNumber,
        [most, less]: [Value; 2],
    ) -> Result<Option<P>, Failure> {
        let ask = async |sizes: Value| {
            let mut variables = self.repository_variables();
            variables["number"] = pull.0.into();
            for (key, size) in sizes.as_object().into_iter().flatten() {
                variables[key] = size.clone();
            }
            let asked = self.query_repository(name, document, &variables, is_missing_number);
            asked.await.map(|found: OfPull<P>| found.pull_request)
        };
        match ask(most).await {
            Err(failure) if error::is_too_large(&failure) || error::is_too_costly(&failure) => {
                ask(less).await
            }
            read => read,
        }
    }

    /// Sends a document: a write once, a read until there is an answer.
    pub(super) async fn post_graph(
        &self,
        what: &str,
        document: &str,
        variables: &Value,
        nature: CallKind,
    ) -> Result<Answer, Failure> {
        let body = serde_json::json!({ "query": document, "variables": variables });
        let call = Call {
            what,
            face: Api::Graph,
            nature,
            body: Some(Bytes::from(body.to_string())),
            may_be_forbidden: false,
        };
        let answer = self.call(&call, |_| (Method::POST, String::new())).await?;
        super::http::request::require_success(what, answer)
    }

    fn open_envelope<T: DeserializeOwned>(
        &self,
        what: &str,
        answer: &Answer,
        tolerated: impl Fn(&GraphError) -> bool,
    ) -> Result<T, Failure> {
        // Check errors first: incomplete data may not deserialize.
        let envelope: Envelope<Value> = self.parse(what, answer)?;
        if let Some(problem) = envelope.errors.iter().find(|error| !tolerated(error)) {
            return Err(self.graph_failure(what, answer, problem));
        }
        let Some(data) = envelope.data.filter(|data| !data.is_null()) else {
            let said = "neither data nor errors";
            return Err(error::failure_saying(
                what,
                answer,
                retry_disposition(),
                said,
            ));
        };
        let cost = CostEnvelope::deserialize(&data)
            .ok()
            .and_then(|costly| costly.rate_limit)
            .map_or(1, |cost| cost.cost);
        self.budget.count_points(cost);
        T::deserialize(data).map_err(|problem| {
            let said = format!("the answer is not understood: {problem}");
            error::failure_saying(what, answer, retry_disposition(), &said)
        })
    }

    /// GitHub does not tell a repository that does not exist from a hidden one.
    pub(super) fn not_found_text(&self) -> String {
        format!(
            "the repository {} was not found, or is not visible to the GitHub credential",
            self.address.current_name()
        )
    }

    /// The failure that an entry of `errors` stands for.
    pub(super) fn graph_failure(
        &self,
        what: &str,
        answer: &Answer,
        problem: &GraphError,
    ) -> Failure {
        let now = self.pause.now();
        let limited = answer.rate_limit_wait(&problem.message, now).or_else(|| {
            // `x-ratelimit-remaining` may not be 0 then (octokit/plugin-throttling.js#636).
            problem.is_rate_limit().then(|| {
                answer
                    .retry_after()
                    .or_else(|| answer.time_to_reset(now))
                    .unwrap_or(super::http::answer::SECONDARY_LIMIT_WAIT)
            })
        });
        if let Some(after) = limited {
            if after > LONGEST_WAIT {
                self.pause_api(Api::Graph, answer, after);
            }
            let after = Some(after);
            return error::failure_saying(
                what,
                answer,
                Disposition::Retry { after },
                &problem.message,
            );
        }
        let disposition = match problem.kind.as_deref() {
            Some("NOT_FOUND") => Disposition::NotFound,
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES" | "UNAUTHENTICATED") => Disposition::Denied,
            // Time-outs and faults inside GitHub have no type, or one of these.
            None if problem.extensions["code"].is_string() => Disposition::Refused,
            None
            | Some(
                "INTERNAL"
                | "INTERNAL_ERROR"
                | "SERVICE_UNAVAILABLE"
                | "TIMEOUT"
                | error::RESOURCE_LIMIT,
            ) => retry_disposition(),
            Some("UNPROCESSABLE" | "MAX_NODE_LIMIT_EXCEEDED" | "EXCESSIVE_PAGINATION") => {
                Disposition::Refused
            }
            // Without a path it is about the whole request, so it may be GitHub's own trouble.
            Some(_) if problem.path.is_empty() => retry_disposition(),
            Some(_) => Disposition::Refused,
        };
        if problem.has_type("NOT_FOUND") && problem.path.iter().eq(["repository"]) {
            let said = self.not_found_text();
            return error::failure_saying(what, answer, disposition, &said);
        }
        let said = match &problem.kind {
            Some(kind) => format!("{kind}: {}", problem.message),
            None => problem.message.clone(),
        };
        error::failure_saying(what, answer, disposition, &said)
    }
}

fn retry_disposition() -> Disposition {
    Disposition::Retry { after: None }
}
