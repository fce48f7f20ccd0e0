//! What Jules can be asked without changing anything.

use std::time::Duration;

use http::Method;
use phileas_domain::model::RepositoryName;
use serde_json::Value;

use super::asker::{Prober, Reply};
use super::finding::{Evidence, Finding};
use super::shape;

/// A key that does not exist. It is no secret.
const NO_KEY: &str = "phileas-probe-no-such-key";
/// An id that no session has: Jules' ids do not begin with a zero.
const NO_SESSION: &str = "000000000000000000";
/// How many sessions' activities are looked at.
const SESSIONS_READ: usize = 3;

/// What the listings showed, for questions that follow.
#[derive(Default)]
pub(super) struct Listed {
    /// Sessions of this repository, as they came.
    pub(super) ours: Vec<Value>,
}

pub(super) async fn probe_jules(asker: &mut Prober, findings: &mut Vec<Finding>) -> Listed {
    let repository = asker.repository().clone();
    let plain = asker
        .ask_jules(Method::GET, "/sessions?pageSize=100", None)
        .await;
    let sessions = list_items(&plain, "sessions");
    let ours: Vec<Value> = sessions
        .iter()
        .filter(|session| session_source(session).as_ref() == Some(&repository))
        .cloned()
        .collect();
    // Of other repositories' sessions nothing but their number is said.
    let seen = plain.success_evidence(&format!(
        "{} sessions on the first page, {} of this repository",
        sessions.len(),
        ours.len()
    ));
    report_listing(&sessions, &ours, &seen, findings);
    findings.push(probe_archived(asker, &sessions).await);
    findings.push(probe_page_sizes(asker).await);
    findings.push(probe_unknown_ids(asker).await);
    findings.push(probe_bad_key(asker).await);
    findings.push(probe_sources(asker).await);
    findings.push(probe_source(asker, &repository).await);
    probe_activities(asker, &ours, findings).await;
    findings.push(latency_finding(asker.slowest_jules));
    Listed { ours }
}

fn list_items(reply: &Reply, key: &str) -> Vec<Value> {
    let list = reply.json.as_ref().and_then(|json| json[key].as_array());
    list.cloned().unwrap_or_default()
}

fn session_source(session: &Value) -> Option<RepositoryName> {
    let source = session["sourceContext"]["source"].as_str()?;
    source.strip_prefix("sources/github/")?.parse().ok()
}

fn report_listing(
    sessions: &[Value],
    ours: &[Value],
    seen: &Evidence,
    findings: &mut Vec<Finding>,
) {
    let order = Finding::new("listing-order", "In which order are sessions listed?")
        .with_evidence(seen.clone());
    findings.push(match shape::listing_order(sessions) {
        Some(found) => order.with_answer(found).with_knob("listing-order", found),
        None => order,
    });
    let prompts = Finding::new("listing-prompt", "Does the listing show prompts?")
        .with_evidence(seen.clone());
    findings.push(if sessions.is_empty() {
        prompts
    } else {
        let shown = sessions.iter().any(|one| one["prompt"].is_string());
        let answer = if shown { "it does" } else { "it does not" };
        prompts
            .with_answer(answer)
            .with_knob("listing-without-prompt", !shown)
    });
    let names = Finding::new("session-name", "Is a session's name `sessions/<id>`?")
        .with_evidence(seen.clone());
    findings.push(
        match sessions.first().and_then(|one| one["name"].as_str()) {
            Some(name) => {
                let bare = !name.contains('/');
                let answer = if bare { "it is the bare id" } else { "it is" };
                names
                    .with_answer(answer)
                    .with_knob("session-name-bare", bare)
            }
            None => names,
        },
    );
    let titles = Finding::new(
        "titles-of-ours",
        "Do sessions of ours still end in their marker, by their titles?",
    )
    .with_evidence(seen.clone());
    findings.push(match shape::own_titles(ours) {
        Some((kept, all)) if kept == all => titles
            .with_answer(format!("all {all} do"))
            .with_knob("title", "verbatim"),
        Some((kept, all)) => titles
            .with_answer(format!("{kept} of {all} do"))
            .with_knob("title", "rewritten"),
        None => titles,
    });
}

async fn probe_archived(asker: &mut Prober, plain: &[Value]) -> Finding {
    let reply = asker
        .ask_jules(
            Method::GET,
            "/sessions?pageSize=100&filter=archived+%3D+true",
            None,
        )
        .await;
    let archived = list_items(&reply, "sessions");
    let finding = Finding::new(
        "archived-filter",
        "Are archived sessions hidden, and shown by `archived = true`?",
    )
    .with_evidence(reply.success_evidence(&format!("{} archived sessions", archived.len())));
    if !reply.is_success() {
        return finding.with_answer("the filter is refused");
    }
    let listed = plain.iter().any(|one| one["archived"] == true);
    match (archived.is_empty(), listed) {
        (_, true) => finding
            .with_answer("the plain listing shows them, too")
            .with_knob("archived-listed", true),
        (false, false) => finding
            .with_answer("hidden, and shown by the filter")
            .with_knob("archived-listed", false),
        // No session is archived, so nothing is proven.
        (true, false) => finding,
    }
}

async fn probe_page_sizes(asker: &mut Prober) -> Finding {
    let mut finding = Finding::new("page-size", "What happens to page sizes outside 1 to 100?");
    let mut refused = Vec::new();
    for size in ["0", "101", "1000"] {
        let reply = asker
            .ask_jules(Method::GET, &format!("/sessions?pageSize={size}"), None)
            .await;
        let count = list_items(&reply, "sessions").len();
        finding = finding.with_evidence(reply.success_evidence(&format!("{count} sessions")));
        if reply.status == Some(400) {
            refused.push(size);
        } else if !reply.is_success() {
            return finding;
        }
    }
    let answer = if refused.is_empty() {
        "they are brought inside".to_owned()
    } else {
        format!("refused: {}", refused.join(", "))
    };
    let rejected = refused.contains(&"101");
    finding
        .with_answer(answer)
        .with_knob("page-size-rejected", rejected)
}

async fn probe_unknown_ids(asker: &mut Prober) -> Finding {
    let mut finding = Finding::new(
        "refusals",
        "How are unknown ids, fields, parameters and verbs refused?",
    );
    let mut said = Vec::new();
    let body = serde_json::json!({ "noSuchField": true });
    let requests = [
        ("id", Method::GET, format!("/sessions/{NO_SESSION}"), None),
        (
            "parameter",
            Method::GET,
            "/sessions?noSuchParameter=1".to_owned(),
            None,
        ),
        (
            "filter",
            Method::GET,
            "/sessions?filter=no_such_field%3D1".to_owned(),
            None,
        ),
        // To a session that does not exist, so that nothing can happen whatever is made of the field.
        (
            "field",
            Method::POST,
            format!("/sessions/{NO_SESSION}:sendMessage"),
            Some(&body),
        ),
        (
            "verb",
            Method::POST,
            format!("/sessions/{NO_SESSION}:noSuchVerb"),
            None,
        ),
    ];
    for (what, method, path, body) in requests {
        let reply = asker.ask_jules(method, &path, body).await;
        let status = reply
            .status
            .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        said.push(
            format!("{what} {status} {}", reply.error_code())
                .trim_end()
                .to_owned(),
        );
        finding = finding.with_evidence(reply.success_evidence("accepted"));
    }
    finding.with_answer(said.join(", "))
}

async fn probe_bad_key(asker: &Prober) -> Finding {
    let path = "/sessions?pageSize=1";
    let (reply, _) = asker.ask_jules_with(NO_KEY, Method::GET, path, None).await;
    let finding = Finding::new("bad-key", "How is a key that does not exist refused?")
        .with_evidence(reply.success_evidence("accepted"));
    match reply.status {
        Some(400) => finding.with_answer("400").with_knob("bad-key-is-400", true),
        Some(401) => finding
            .with_answer("401")
            .with_knob("bad-key-is-400", false),
        Some(other) => finding.with_answer(other.to_string()),
        None => finding,
    }
}

async fn probe_source(asker: &mut Prober, repository: &RepositoryName) -> Finding {
    let path = format!("/sources/github/{}/{}", repository.owner, repository.name);
    let reply = asker.ask_jules(Method::GET, &path, None).await;
    let finding = Finding::new(
        "source",
        "Is the repository a source of Jules, under the name that GitHub writes?",
    );
    let name = reply.json.as_ref().and_then(|json| json["name"].as_str());
    let (Some(name), true) = (name, reply.is_success()) else {
        return finding
            .with_evidence(reply.evidence())
            .with_answer("it is none: install the Jules GitHub App on it");
    };
    let same = name == format!("sources/github/{repository}");
    let finding = finding.with_evidence(reply.success_evidence(name));
    let answer = if same {
        "it is"
    } else {
        "it is, in another case"
    };
    finding
        .with_answer(answer)
        .with_knob("source-case-changed", !same)
}

async fn probe_sources(asker: &mut Prober) -> Finding {
    let reply = asker
        .ask_jules(Method::GET, "/sources?pageSize=100", None)
        .await;
    let list = list_items(&reply, "sources");
    let branches = |source: &Value| {
        let list = source["githubRepo"]["branches"].as_array();
        list.map_or(0, Vec::len)
    };
    let most = list.iter().map(branches).max().unwrap_or(0);
    let finding = Finding::new("sources", "How large is a page of sources?").with_evidence(
        reply.success_evidence(&format!("{} sources, {} bytes", list.len(), reply.bytes)),
    );
    if reply.is_success() {
        finding.with_answer(format!(
            "{} bytes; {} sources, at most {most} branches each",
            reply.bytes,
            list.len()
        ))
    } else {
        finding
    }
}

/// Whether one activity can be read by the last part of its name.
async fn probe_single_activity(asker: &mut Prober, id: &str, known: &[Value]) -> Finding {
    let finding = Finding::new(
        "activity",
        "Is an activity found by the last part of its name?",
    );
    let Some(activity) = known.first().and_then(session_id) else {
        return finding;
    };
    let path = format!("/sessions/{id}/activities/{activity}");
    let reply = asker.ask_jules(Method::GET, &path, None).await;
    let answer = if reply.is_success() {
        "it is"
    } else {
        "it is not"
    };
    finding
        .with_evidence(reply.success_evidence("found"))
        .with_answer(answer)
}

async fn probe_activities(asker: &mut Prober, ours: &[Value], findings: &mut Vec<Finding>) {
    let mut all: Vec<Value> = Vec::new();
    let mut evidence = Vec::new();
    let mut filter = None;
    for session in ours.iter().take(SESSIONS_READ) {
        let Some(id) = session_id(session) else {
            continue;
        };
        let reply = asker
            .ask_jules(
                Method::GET,
                &format!("/sessions/{id}/activities?pageSize=100"),
                None,
            )
            .await;
        let found = list_items(&reply, "activities");
        evidence.push(reply.success_evidence(&format!("{} activities", found.len())));
        if filter.is_none() && found.len() > 1 {
            filter = Some(probe_filters(asker, &id, &found).await);
            findings.push(probe_single_activity(asker, &id, &found).await);
        }
        all.extend(found);
    }
    findings.push(
        filter.unwrap_or_else(|| {
            Finding::new("activity-filter", "Which filters do activities take?")
        }),
    );
    let refs: Vec<&Value> = all.iter().collect();
    let with = |finding: Finding| {
        evidence
            .iter()
            .cloned()
            .fold(finding, Finding::with_evidence)
    };
    let ids = with(Finding::new("activity-id", "Do activities carry their id?"));
    let bare = shape::activity_share(&refs, |one| !one["id"].is_string());
    findings.push(match bare {
        Some(share) => {
            let missing = share > 0.0;
            let answer = if missing {
                "some stand only at the end of the name"
            } else {
                "they do"
            };
            ids.with_answer(answer)
                .with_knob("activity-id-in-name-only", missing)
        }
        None => ids,
    });
    let originators = with(Finding::new(
        "originators",
        "How many activities have no originator?",
    ));
    findings.push(
        match shape::activity_share(&refs, |one| !one["originator"].is_string()) {
            Some(share) => originators
                .with_answer(format!("{:.0} %", share * 100.0))
                .with_knob("originator-missing", share),
            None => originators,
        },
    );
    let progress: Vec<&Value> = refs
        .iter()
        .copied()
        .filter(|one| one["progressUpdated"].is_object())
        .collect();
    let empty = with(Finding::new(
        "empty-progress",
        "How many progress updates say nothing?",
    ));
    let silent = |one: &Value| {
        let update = &one["progressUpdated"];
        update["title"].is_null() && update["description"].is_null()
    };
    findings.push(match shape::activity_share(&progress, silent) {
        Some(share) => empty
            .with_answer(format!("{:.0} %", share * 100.0))
            .with_knob("empty-progress", share),
        None => empty,
    });
}

async fn probe_filters(asker: &mut Prober, id: &str, known: &[Value]) -> Finding {
    let finding = Finding::new("activity-filter", "Which filters do activities take?");
    let Some(at) = known[0]["createTime"].as_str() else {
        return finding;
    };
    let encode = |name: &str, value: &str| {
        form_urlencoded::Serializer::new(String::new())
            .append_pair(name, value)
            .finish()
    };
    let mut said = Vec::new();
    let mut finding = finding;
    let filter = format!("create_time>\"{at}\"");
    let forms = [
        ("filter=create_time>…", encode("filter", &filter)),
        ("createTime=…", encode("createTime", at)),
    ];
    for (index, (what, query)) in forms.into_iter().enumerate() {
        let path = format!("/sessions/{id}/activities?pageSize=100&{query}");
        let reply = asker.ask_jules(Method::GET, &path, None).await;
        let count = list_items(&reply, "activities").len();
        finding = finding.with_evidence(reply.success_evidence(&format!(
            "{count} activities newer than the first of {}",
            known.len()
        )));
        let taken = reply.is_success();
        said.push(format!(
            "{what} {}",
            if taken { "is taken" } else { "is refused" }
        ));
        if index == 0 {
            finding = finding.with_knob("activity-filter", taken);
        }
    }
    finding.with_answer(said.join(", "))
}

pub(super) fn session_id(session: &Value) -> Option<String> {
    let id = session["id"]
        .as_str()
        .or_else(|| session["name"].as_str()?.rsplit('/').next())?;
    // It goes into a path, so it must be nothing but an id.
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let clean = !id.is_empty() && id.bytes().all(legal);
    clean.then(|| id.to_owned())
}

fn latency_finding(slowest: Duration) -> Finding {
    let ms = i64::try_from(slowest.as_millis()).unwrap_or(i64::MAX);
    Finding::new("jules-latency", "How long do answers of Jules take?")
        .with_answer(format!("at most {ms} ms in this run"))
        .with_knob("jules-latency-ms", ms.max(1))
}
