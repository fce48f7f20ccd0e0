//! What pauses phileas, which notices are open, and which version the repository uses.

use jiff::Timestamp;
use phileas_domain::state::{Pause, State};

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, PAUSE_LABEL, RepositoryAccess};
use crate::cli::context::env_var::{PAUSE_VARIABLE, is_pausing, pausing_value};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::sanitize::sanitize;
use crate::runtime::ports::{GitHubObservation, LEDGER_BRANCH};

/// The file on the ledger branch with the version that the repository is set up for.
const VERSION_PATH: &str = ".jules/.phileas-version";
/// How many characters of other people's texts are shown.
const SAID_CHARS: usize = 80;
/// How many open issues are listed.
const MAX_NOTICES: usize = 10;

pub(super) async fn check_status(
    client: &Client,
    seen: &GitHubObservation,
    shown: &RepositoryAccess,
    state: Option<&State>,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Status;
    let page = |number: u64| format!("{}/{}/issues/{number}", place.github, place.repository);
    let paused = check_pauses(client, seen, state, place, findings).await;
    if !paused {
        findings.add_good("status.paused", "nothing is paused");
    }
    for notice in seen.notices.iter().take(MAX_NOTICES) {
        findings.add_hint(
            "status.notice",
            format!(
                "issue #{} of phileas wants a person: {}",
                notice.number,
                sanitize(&notice.title, SAID_CHARS)
            ),
            page(notice.number),
        );
    }
    check_locked_issues(client, seen, place, findings).await;
    check_restrictions(shown, place, findings);
    match client.file_at(LEDGER_BRANCH, VERSION_PATH).await {
        Ok(Some(text)) => check_version(text.trim(), findings),
        Ok(None) => {}
        Err(failure) => findings.add_unread("status.version", VERSION_PATH, &failure),
    }
}

/// Reports locked issues of phileas, on which phileas may not comment.
async fn check_locked_issues(
    client: &Client,
    seen: &GitHubObservation,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let notices = seen.notices.iter().map(|notice| notice.number);
    let dashboards = seen.dashboards.iter().map(|dashboard| dashboard.number);
    for number in notices.chain(dashboards).take(MAX_NOTICES) {
        match client.is_locked(number).await {
            Ok(false) => {}
            Ok(true) => findings.add_hint(
                "status.locked",
                format!(
                    "issue #{number} of phileas is locked: phileas may not comment on it, and closes it without a comment"
                ),
                format!("gh issue unlock {number} --repo {}", place.repository),
            ),
            Err(failure) => {
                return findings.add_unread("status.locked", "the issues of phileas", &failure);
            }
        }
    }
}

/// Reports repository settings that restrict phileas or Jules.
fn check_restrictions(
    shown: &RepositoryAccess,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let repository = place.repository;
    if !shown.has_issues {
        findings.add_hint(
            "status.issues",
            "issues are switched off: phileas can open no notice, no dashboard, no work item and no proposal",
            format!("gh repo edit {repository} --enable-issues"),
        );
    }
    if shown.pull_policy.as_deref() == Some("collaborators_only") {
        findings.add_hint(
            "status.pulls",
            "only collaborators may open pull requests (`pull_request_creation_policy`), so that those of Jules may be refused",
            format!(
                "{}/{repository}/settings: let all users open pull requests, or make the account of the Jules key a collaborator",
                place.github
            ),
        );
    }
}

/// Reports pauses and their authors. Returns whether there is one.
async fn check_pauses(
    client: &Client,
    seen: &GitHubObservation,
    state: Option<&State>,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) -> bool {
    let repository = place.repository;
    let mut paused = false;
    if let Some(pause) = state.and_then(|state| state.paused.as_ref()) {
        paused = true;
        findings.add_hint(
            "status.paused",
            format!("the repository is paused {}", pause_text(pause)),
            format!("phileas resume --repo {repository}"),
        );
    }
    for (name, track) in state.iter().flat_map(|state| &state.tracks) {
        if let Some(pause) = &track.paused {
            paused = true;
            findings.add_hint(
                "status.paused",
                format!("the track {name} is paused {}", pause_text(pause)),
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
        findings.add_hint(
            "status.paused",
            format!("the repository is paused {by}by the label `{PAUSE_LABEL}` on issue #{number}"),
            format!("gh issue edit {number} --remove-label {PAUSE_LABEL} --repo {repository}"),
        );
    }
    // Without the right to read variables this is unknown. A tick outside Actions is not paused by them either.
    let of_repository = client.read_variable(PAUSE_VARIABLE).await.ok().flatten();
    if of_repository.is_some_and(|value| is_pausing(&value)) {
        paused = true;
        findings.add_hint(
            "status.paused",
            format!("workflows are paused by the repository's variable {PAUSE_VARIABLE}"),
            format!("gh variable delete {PAUSE_VARIABLE} --repo {repository}"),
        );
    }
    if pausing_value().is_some() {
        paused = true;
        findings.add_hint(
            "status.paused",
            format!("{PAUSE_VARIABLE} is set here: nothing starts from this shell"),
            format!("unset {PAUSE_VARIABLE}"),
        );
    }
    let now: Timestamp = seen.now;
    let spent = state.and_then(|state| state.budget.paused_until);
    if let Some(until) = spent.filter(|until| *until > now) {
        paused = true;
        findings.add_hint(
            "status.spent",
            format!(
                "Jules says that the key is spent; nothing starts before {} UTC",
                short_time(until)
            ),
            "wait, or plan fewer sessions (`[budget]`)",
        );
    }
    paused
}

/// The author, time and reason of a pause.
fn pause_text(pause: &Pause) -> String {
    let by = pause.by.as_deref().map_or_else(
        || "by an unknown person".to_owned(),
        |by| format!("by {}", sanitize(by, SAID_CHARS)),
    );
    let since = pause
        .at
        .map_or_else(String::new, |at| format!(" since {} UTC", short_time(at)));
    let why = pause.reason.as_deref().unwrap_or("no reason was given");
    format!("{by}{since}: {}", sanitize(why, SAID_CHARS))
}

fn check_version(wanted: &str, findings: &mut Findings) {
    let own = env!("CARGO_PKG_VERSION");
    let wanted = wanted.trim_start_matches('v');
    if wanted == own {
        return findings.add_good(
            "status.version",
            format!("this is phileas {own}, as the repository wants it"),
        );
    }
    findings.add_hint(
        "status.version",
        format!(
            "this is phileas {own}, and the repository is set up for {}",
            sanitize(wanted, SAID_CHARS)
        ),
        format!(
            "use the release v{} everywhere, in workflows too",
            sanitize(wanted, SAID_CHARS)
        ),
    );
}
