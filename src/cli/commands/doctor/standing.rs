//! What holds phileas up on purpose, what it has asked people, and which version others run.

use jiff::Timestamp;
use phileas_domain::state::{Pause, State};

use super::finding::{Findings, Group};
use super::place::Place;
use crate::adapters::github::{Client, PAUSE_LABEL, Shown};
use crate::cli::context::env_var::{is_set, variable};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::sanitize::plain;
use crate::runtime::ports::{LEDGER_BRANCH, Observation};

/// The variable that pauses a repository.
const VARIABLE: &str = "PHILEAS_PAUSED";
/// Where the version that a repository is set up for stands, on the ledger's branch.
const VERSION_PATH: &str = ".jules/.phileas-version";
/// How much of what others wrote is said, in characters.
const SAID_CHARS: usize = 80;
/// How many open issues are named.
const MAX_NOTICES: usize = 10;

pub(super) async fn check(
    client: &Client,
    seen: &Observation,
    shown: &Shown,
    state: Option<&State>,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Standing;
    let page = |number: u64| format!("{}/{}/issues/{number}", place.github, place.repository);
    let paused = pauses(client, seen, state, place, findings).await;
    if !paused {
        findings.good("standing.paused", "nothing is paused");
    }
    for notice in seen.notices.iter().take(MAX_NOTICES) {
        findings.hint(
            "standing.notice",
            format!(
                "issue #{} of phileas wants a person: {}",
                notice.number,
                plain(&notice.title, SAID_CHARS)
            ),
            page(notice.number),
        );
    }
    locked(client, seen, place, findings).await;
    restricted(shown, place, findings);
    match client.file_at(LEDGER_BRANCH, VERSION_PATH).await {
        Ok(Some(text)) => version(text.trim(), findings),
        Ok(None) => {}
        Err(failure) => findings.unread("standing.version", VERSION_PATH, &failure),
    }
}

/// Issues of phileas that are locked, so that phileas may not comment on them.
async fn locked(client: &Client, seen: &Observation, place: &Place<'_>, findings: &mut Findings) {
    let notices = seen.notices.iter().map(|notice| notice.number);
    let dashboards = seen.dashboards.iter().map(|dashboard| dashboard.number);
    for number in notices.chain(dashboards).take(MAX_NOTICES) {
        match client.is_locked(number).await {
            Ok(false) => {}
            Ok(true) => findings.hint(
                "standing.locked",
                format!(
                    "issue #{number} of phileas is locked: phileas may not comment on it, and closes it without a comment"
                ),
                format!("gh issue unlock {number} --repo {}", place.repository),
            ),
            Err(failure) => {
                return findings.unread("standing.locked", "the issues of phileas", &failure);
            }
        }
    }
}

/// What the repository's settings keep phileas and Jules from.
fn restricted(shown: &Shown, place: &Place<'_>, findings: &mut Findings) {
    let repository = place.repository;
    if !shown.has_issues {
        findings.hint(
            "standing.issues",
            "issues are switched off: phileas can open no notice, no dashboard, no work item and no proposal",
            format!("gh repo edit {repository} --enable-issues"),
        );
    }
    if shown.pull_policy.as_deref() == Some("collaborators_only") {
        findings.hint(
            "standing.pulls",
            "only collaborators may open pull requests (`pull_request_creation_policy`), so that those of Jules may be refused",
            format!(
                "{}/{repository}/settings: let all users open pull requests, or make the account of the Jules key a collaborator",
                place.github
            ),
        );
    }
}

/// Whether anything is paused, and by whom.
async fn pauses(
    client: &Client,
    seen: &Observation,
    state: Option<&State>,
    place: &Place<'_>,
    findings: &mut Findings,
) -> bool {
    let repository = place.repository;
    let mut paused = false;
    if let Some(pause) = state.and_then(|state| state.paused.as_ref()) {
        paused = true;
        findings.hint(
            "standing.paused",
            format!("the repository is paused {}", told(pause)),
            format!("phileas resume --repo {repository}"),
        );
    }
    for (name, track) in state.iter().flat_map(|state| &state.tracks) {
        if let Some(pause) = &track.paused {
            paused = true;
            findings.hint(
                "standing.paused",
                format!("the track {name} is paused {}", told(pause)),
                format!("phileas track resume {name} --repo {repository}"),
            );
        }
    }
    if let Some(number) = seen.paused_by_label {
        paused = true;
        let by = match client.labelled_by(number, PAUSE_LABEL).await {
            Ok(Some(login)) => format!("by {login}, "),
            Ok(None) | Err(_) => String::new(),
        };
        findings.hint(
            "standing.paused",
            format!("the repository is paused {by}by the label `{PAUSE_LABEL}` on issue #{number}"),
            format!("gh issue edit {number} --remove-label {PAUSE_LABEL} --repo {repository}"),
        );
    }
    // Without the right to read variables nobody knows, and a tick outside Actions is not paused by them either.
    let of_repository = client.variable(VARIABLE).await.ok().flatten();
    if of_repository.is_some_and(|value| is_set(&value)) {
        paused = true;
        findings.hint(
            "standing.paused",
            format!("workflows are paused by the repository's variable {VARIABLE}"),
            format!("gh variable delete {VARIABLE} --repo {repository}"),
        );
    }
    if variable(VARIABLE).is_some_and(|value| is_set(&value)) {
        paused = true;
        findings.hint(
            "standing.paused",
            format!("{VARIABLE} is set here: nothing starts from this shell"),
            format!("unset {VARIABLE}"),
        );
    }
    let now: Timestamp = seen.now;
    let spent = state.and_then(|state| state.budget.paused_until);
    if let Some(until) = spent.filter(|until| *until > now) {
        paused = true;
        findings.hint(
            "standing.spent",
            format!(
                "Jules says that the key is spent; nothing starts before {} UTC",
                short(until)
            ),
            "wait, or plan fewer sessions (`[budget]`)",
        );
    }
    paused
}

/// By whom, since when and why.
fn told(pause: &Pause) -> String {
    let by = pause.by.as_deref().map_or_else(
        || "by somebody".to_owned(),
        |by| format!("by {}", plain(by, SAID_CHARS)),
    );
    let since = pause
        .at
        .map_or_else(String::new, |at| format!(" since {} UTC", short(at)));
    let why = pause.reason.as_deref().unwrap_or("no reason was given");
    format!("{by}{since}: {}", plain(why, SAID_CHARS))
}

fn version(wanted: &str, findings: &mut Findings) {
    let own = env!("CARGO_PKG_VERSION");
    let wanted = wanted.trim_start_matches('v');
    if wanted == own {
        return findings.good(
            "standing.version",
            format!("this is phileas {own}, as the repository wants it"),
        );
    }
    findings.hint(
        "standing.version",
        format!(
            "this is phileas {own}, and the repository is set up for {}",
            plain(wanted, SAID_CHARS)
        ),
        format!(
            "use the release v{} everywhere, in workflows too",
            plain(wanted, SAID_CHARS)
        ),
    );
}
