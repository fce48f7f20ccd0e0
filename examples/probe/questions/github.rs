//! What GitHub can be asked without changing anything.

use http::Method;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use phileas_domain::engine::Pull;
use serde_json::{Value, json};

use super::asker::{Prober, Reply};
use super::finding::{Evidence, Finding};
use super::jules::{Listed, session_id};
use super::shape;

pub(super) async fn probe_github(
    asker: &mut Prober,
    listed: &Listed,
    pulls: &[Pull],
    findings: &mut Vec<Finding>,
) {
    let reply = asker.ask_github_rest(Method::GET, "", None).await;
    findings.push(probe_clock_skew(&reply));
    findings.push(probe_limits(asker, &reply).await);
    findings.push(probe_conditional(asker, &reply).await);
    findings.push(probe_variables(asker).await);
    probe_jules_pulls(asker, listed, pulls, findings).await;
    let ms = i64::try_from(asker.slowest_github.as_millis()).unwrap_or(i64::MAX);
    findings.push(
        Finding::new("github-latency", "How long do answers of GitHub take?")
            .with_answer(format!("at most {ms} ms in this run"))
            .with_knob("github-latency-ms", ms.max(1)),
    );
}

fn header_value<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    reply.headers.get(name)?.to_str().ok()
}

fn probe_clock_skew(reply: &Reply) -> Finding {
    let finding = Finding::new(
        "date-skew",
        "By how much does GitHub's Date differ from this machine's clock?",
    )
    .with_evidence(reply.success_evidence(header_value(reply, "date").unwrap_or("no Date header")));
    let date: Option<Timestamp> = header_value(reply, "date")
        .and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
    match date {
        Some(date) => {
            let seconds = date.duration_since(Timestamp::now()).as_secs();
            finding.with_answer(format!("{seconds} s; decisions use GitHub's"))
        }
        None => finding,
    }
}

async fn probe_limits(asker: &mut Prober, rest: &Reply) -> Finding {
    let graph = asker
        .ask_github_graphql(
            &json!({ "query": "query Probe { rateLimit { limit remaining cost } }" }),
        )
        .await;
    let said = |reply: &Reply| {
        let of = |name: &str| header_value(reply, name).unwrap_or("-").to_owned();
        format!(
            "limit {}, remaining {}, resource {}",
            of("x-ratelimit-limit"),
            of("x-ratelimit-remaining"),
            of("x-ratelimit-resource")
        )
    };
    let finding = Finding::new("rate-limits", "Which primary limits does this token have?")
        .with_evidence(rest.success_evidence(&said(rest)))
        .with_evidence(graph.success_evidence(&said(&graph)));
    let limit = |reply: &Reply| {
        header_value(reply, "x-ratelimit-limit")?
            .parse::<i64>()
            .ok()
    };
    match (limit(rest), limit(&graph)) {
        (Some(requests), points) => finding
            .with_answer(format!(
                "{requests} requests an hour by REST, {} points by GraphQL",
                points.map_or_else(|| "unknown".to_owned(), |points| points.to_string())
            ))
            .with_knob("primary-limit", requests),
        (None, _) => finding,
    }
}

async fn probe_conditional(asker: &mut Prober, first: &Reply) -> Finding {
    let finding = Finding::new("etag", "Does the repository carry an ETag, for free reads?");
    let has = header_value(first, "etag").is_some();
    let again = asker.ask_github_rest(Method::GET, "", None).await;
    let same = header_value(&again, "etag") == header_value(first, "etag");
    let words = if same {
        "the same ETag twice"
    } else {
        "another ETag each time"
    };
    finding
        .with_evidence(again.success_evidence(words))
        .with_answer(if has { "it does" } else { "it does not" })
}

async fn probe_variables(asker: &mut Prober) -> Finding {
    let reply = asker
        .ask_github_rest(Method::GET, "/actions/variables?per_page=1", None)
        .await;
    let finding = Finding::new(
        "variables",
        "Does this token see repository variables (PHILEAS_PAUSED)?",
    )
    .with_evidence(reply.success_evidence("they are listed"));
    match reply.status {
        Some(200) => finding.with_answer("it does"),
        Some(status) => finding.with_answer(format!(
            "it does not ({status}); in a workflow, `vars.PHILEAS_PAUSED` is passed by the environment"
        )),
        None => finding,
    }
}

/// What Jules' pull requests in this repository tell.
async fn probe_jules_pulls(
    asker: &mut Prober,
    listed: &Listed,
    pulls: &[Pull],
    findings: &mut Vec<Finding>,
) {
    let ids: Vec<String> = listed.ours.iter().filter_map(session_id).collect();
    let theirs: Vec<&Pull> = pulls
        .iter()
        .filter(|pull| {
            ids.iter().any(|id| {
                pull.head.as_str().contains(id.as_str()) || pull.body.contains(id.as_str())
            })
        })
        .collect();
    let seen = Evidence::new(
        "GitHub POST /graphql (Observe)",
        Some(200),
        &format!(
            "{} pull requests, {} of sessions that Jules shows",
            pulls.len(),
            theirs.len()
        ),
    );
    let drafts =
        Finding::new("draft-pulls", "Are Jules' pull requests drafts?").with_evidence(seen.clone());
    let author =
        Finding::new("pull-author", "Who opens Jules' pull requests?").with_evidence(seen.clone());
    let form = Finding::new("branch-form", "How are Jules' branches called?").with_evidence(seen);
    let Some(newest) = theirs.iter().max_by_key(|pull| pull.number) else {
        findings.extend([drafts, author, form]);
        return;
    };
    // One that is none now may have been marked as ready since, by phileas too.
    let events = format!("/issues/{}/events?per_page=100", newest.number);
    let events = asker.ask_github_rest(Method::GET, &events, None).await;
    let was_marked = events.json.as_ref().and_then(Value::as_array);
    let was_marked = was_marked.is_some_and(|events| {
        let mut words = events.iter().filter_map(|one| one["event"].as_str());
        words.any(|word| word == "ready_for_review")
    });
    let is_draft = newest.draft || was_marked;
    let answer = if is_draft { "they are" } else { "they are not" };
    findings.push(
        drafts
            .with_answer(answer)
            .with_knob("draft-pulls", is_draft),
    );
    let login = newest.author.to_string();
    let bot = login.ends_with("[bot]") || login.contains("jules");
    findings.push(
        author
            .with_answer(login)
            .with_knob("pull-author", if bot { "bot" } else { "user" }),
    );
    let branches: Vec<String> = theirs.iter().map(|pull| pull.head.to_string()).collect();
    findings.push(match shape::branch_form(&branches, &ids) {
        Some(found) => form.with_answer(found).with_knob("branch-form", found),
        None => form,
    });
}

/// A GraphQL answer's errors.
pub(super) fn graphql_errors(reply: &Reply) -> Value {
    reply
        .json
        .as_ref()
        .map(|json| json["errors"].clone())
        .unwrap_or_default()
}
