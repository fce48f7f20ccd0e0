//! The branch `jules`: whether it exists and can be read, whether phileas may write it, and whether it is protected.

use phileas_domain::engine::Ledger;
use phileas_domain::state::State;

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, Protection, Rule};
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::LEDGER_BRANCH;

/// How many faults of a state are shown.
const MAX_FAULTS_SHOWN: usize = 3;
/// Rules that refuse a plain commit.
const REFUSING_RULES: [&str; 8] = [
    "update",
    "pull_request",
    "required_status_checks",
    "required_deployments",
    "merge_queue",
    "workflows",
    "code_scanning",
    "code_quality",
];
/// Rules that allow everything that phileas does.
const HARMLESS_RULES: [&str; 5] = [
    "deletion",
    "non_fast_forward",
    "required_linear_history",
    "tag_name_pattern",
    "copilot_code_review",
];
/// An example of a commit message on the ledger branch.
const SAMPLE_MESSAGE: &str = "phileas: intent default#1 curator\n\nPhileas-Holder: cli:1";

/// Checks that the ledger exists and is healthy. Returns its state if it can be read.
pub(super) fn check_health<'l>(
    ledger: &'l Ledger,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) -> Option<&'l State> {
    findings.group = Group::Ledger;
    match ledger {
        Ledger::Missing { head } => {
            let text = match head {
                None => "there is no branch `jules` yet; the first tick makes it",
                Some(_) => "the branch `jules` holds no state yet; the first tick writes it",
            };
            findings.add_hint(
                "ledger.missing",
                text,
                format!("phileas tick --repo {}", place.repository),
            );
            None
        }
        Ledger::Corrupt { diagnostics, .. } => {
            let mut faults: Vec<String> = diagnostics
                .iter()
                .take(MAX_FAULTS_SHOWN)
                .map(ToString::to_string)
                .collect();
            if diagnostics.len() > MAX_FAULTS_SHOWN {
                faults.push(format!("and {} more", diagnostics.len() - MAX_FAULTS_SHOWN));
            }
            findings.add_error(
                "ledger.corrupt",
                format!(
                    "the state cannot be used, and everything stands still: {}",
                    faults.join("; ")
                ),
                format!("phileas state repair --repo {}", place.repository),
            );
            None
        }
        Ledger::Present { state, .. } => {
            findings.add_good(
                "ledger.health",
                format!(
                    "the state parses and contradicts nothing: {}, {} of history",
                    pluralize(state.tracks.len(), "track"),
                    pluralize(state.history.len(), "turn")
                ),
            );
            Some(state)
        }
    }
}

/// Checks which rules protect the branch, and which of them block phileas.
pub(super) async fn check_protection(
    client: &Client,
    born: bool,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Ledger;
    match client.read_protection(LEDGER_BRANCH).await {
        Ok(found) => report_protection(&found, born, place, findings),
        Err(failure) => findings.add_unread("ledger.protection", "the rules of `jules`", &failure),
    }
}

/// The rules that refuse commits of phileas to a branch, and the rules of which only GitHub knows whether they do.
/// <https://docs.github.com/en/rest/repos/rules>
pub(super) fn refusing_rules(
    rules: &[Rule],
    branch: &str,
    born: bool,
) -> (Vec<String>, Vec<String>) {
    let (mut refusing, mut choosy) = (Vec::new(), Vec::new());
    for rule in rules {
        let refuses = match rule.kind.as_str() {
            kind if HARMLESS_RULES.contains(&kind) => Some(false),
            kind if REFUSING_RULES.contains(&kind) => Some(true),
            // GitHub signs later commits.
            "creation" | "required_signatures" => Some(!born),
            "branch_name_pattern" => rule.refuses_text(branch),
            "commit_message_pattern" => rule.refuses_text(SAMPLE_MESSAGE),
            // Addresses, files, sizes, and kinds that this version does not know.
            _ => None,
        };
        match refuses {
            Some(true) => refusing.push(rule.describe_rule()),
            Some(false) => {}
            None => choosy.push(rule.describe_rule()),
        }
    }
    (refusing, choosy)
}

fn report_protection(
    found: &Protection,
    born: bool,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let has = |kind: &str| found.rules.iter().any(|rule| rule.kind == kind);
    let rules = format!(
        "{}/{}/rules?ref=refs%2Fheads%2Fjules",
        place.github, place.repository
    );
    let settings = format!("{}/{}/settings/branches", place.github, place.repository);
    let (refusing, choosy) = refusing_rules(&found.rules, LEDGER_BRANCH, born);
    if !refusing.is_empty() {
        findings.add_error(
            "ledger.refused",
            format!(
                "rules refuse phileas' commits on `jules`: {} (unless phileas stands among those who may bypass them, which cannot be read)",
                refusing.join(", ")
            ),
            format!("{rules}: leave `jules` out of these, and keep `deletion` and `non_fast_forward`"),
        );
    }
    if !choosy.is_empty() {
        findings.add_hint(
            "ledger.choosy",
            format!(
                "rules refuse some commits on `jules`: {}",
                choosy.join(", ")
            ),
            format!("{rules}: see that phileas' commits pass, or leave `jules` out"),
        );
    }
    if let Some(details) = &found.details
        && !details.refuses.is_empty()
    {
        findings.add_error(
            "ledger.refused",
            format!(
                "the protection of `jules` refuses phileas' commits: {}",
                details.refuses.join(", ")
            ),
            format!("{settings}: turn these off for `jules`"),
        );
    }
    let by_details = |off: fn(&crate::adapters::github::Classic) -> bool| {
        found.details.as_ref().is_some_and(off)
    };
    let kept = has("deletion") || by_details(|details| !details.deletions);
    let straight = has("non_fast_forward") || by_details(|details| !details.force_pushes);
    if kept && straight {
        return findings.add_good(
            "ledger.protection",
            "`jules` can be neither deleted nor rewritten",
        );
    }
    if found.classic && found.details.is_none() {
        return findings.add_unknown(
            "ledger.protection",
            "`jules` is protected in a way that only administrators may read",
        );
    }
    let open = match (kept, straight) {
        (true, _) => "rewrite",
        (_, true) => "delete",
        _ => "delete or rewrite",
    };
    findings.add_hint(
        "ledger.protection",
        format!("people who may push can {open} `jules`: no rule forbids it"),
        format!(
            "gh api -X POST repos/{}/rulesets --input - <<< '{{\"name\":\"phileas ledger\",\"target\":\"branch\",\"enforcement\":\"active\",\"conditions\":{{\"ref_name\":{{\"include\":[\"refs/heads/jules\"],\"exclude\":[]}}}},\"rules\":[{{\"type\":\"deletion\"}},{{\"type\":\"non_fast_forward\"}}]}}'",
            place.repository
        ),
    );
}
