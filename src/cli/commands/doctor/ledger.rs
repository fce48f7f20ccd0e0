//! The branch `jules`: whether it is there, whether it can be read, whether phileas may write it and nobody can destroy it.

use phileas_domain::engine::Ledger;
use phileas_domain::state::State;

use super::finding::{Findings, Group};
use super::place::Place;
use crate::adapters::github::{Client, Protection, Rule};
use crate::cli::terminal::plural::several;
use crate::runtime::ports::LEDGER_BRANCH;

/// How many of a state's faults are said.
const MAX_FAULTS: usize = 3;
/// Rules that refuse a plain commit.
const REFUSING: [&str; 8] = [
    "update",
    "pull_request",
    "required_status_checks",
    "required_deployments",
    "merge_queue",
    "workflows",
    "code_scanning",
    "code_quality",
];
/// Rules that refuse nothing that phileas does.
const HARMLESS: [&str; 5] = [
    "deletion",
    "non_fast_forward",
    "required_linear_history",
    "tag_name_pattern",
    "copilot_code_review",
];
/// A message as phileas writes them on the ledger's branch.
const MESSAGE: &str = "phileas: intent default#1 curator\n\nPhileas-Holder: cli:1";

/// Whether the ledger is there and healthy. The state, where it is.
pub(super) fn health<'l>(
    ledger: &'l Ledger,
    place: &Place<'_>,
    findings: &mut Findings,
) -> Option<&'l State> {
    findings.group = Group::Ledger;
    match ledger {
        Ledger::Missing { head } => {
            let text = match head {
                None => "there is no branch `jules` yet; the first tick makes it",
                Some(_) => "the branch `jules` holds no state yet; the first tick writes it",
            };
            findings.hint(
                "ledger.missing",
                text,
                format!("phileas tick --repo {}", place.repository),
            );
            None
        }
        Ledger::Corrupt { diagnostics, .. } => {
            let mut faults: Vec<String> = diagnostics
                .iter()
                .take(MAX_FAULTS)
                .map(ToString::to_string)
                .collect();
            if diagnostics.len() > MAX_FAULTS {
                faults.push(format!("and {} more", diagnostics.len() - MAX_FAULTS));
            }
            findings.error(
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
            findings.good(
                "ledger.health",
                format!(
                    "the state parses and contradicts nothing: {}, {} of history",
                    several(state.tracks.len(), "track"),
                    several(state.history.len(), "turn")
                ),
            );
            Some(state)
        }
    }
}

/// What protects the branch, and from whom.
pub(super) async fn protection(
    client: &Client,
    born: bool,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Ledger;
    match client.protection(LEDGER_BRANCH).await {
        Ok(found) => judge(&found, born, place, findings),
        Err(failure) => findings.unread("ledger.protection", "the rules of `jules`", &failure),
    }
}

/// The rules that refuse what phileas does on a branch of its own, and those of which only GitHub knows whether they do.
/// <https://docs.github.com/en/rest/repos/rules>
pub(super) fn refusals(rules: &[Rule], branch: &str, born: bool) -> (Vec<String>, Vec<String>) {
    let (mut refusing, mut choosy) = (Vec::new(), Vec::new());
    for rule in rules {
        let refuses = match rule.kind.as_str() {
            kind if HARMLESS.contains(&kind) => Some(false),
            kind if REFUSING.contains(&kind) => Some(true),
            // Later commits are signed by GitHub.
            "creation" | "required_signatures" => Some(!born),
            "branch_name_pattern" => rule.refuses(branch),
            "commit_message_pattern" => rule.refuses(MESSAGE),
            // Addresses, files, sizes, and kinds that this version does not know.
            _ => None,
        };
        match refuses {
            Some(true) => refusing.push(rule.text()),
            Some(false) => {}
            None => choosy.push(rule.text()),
        }
    }
    (refusing, choosy)
}

fn judge(found: &Protection, born: bool, place: &Place<'_>, findings: &mut Findings) {
    let has = |kind: &str| found.rules.iter().any(|rule| rule.kind == kind);
    let rules = format!(
        "{}/{}/rules?ref=refs%2Fheads%2Fjules",
        place.github, place.repository
    );
    let settings = format!("{}/{}/settings/branches", place.github, place.repository);
    let (refusing, choosy) = refusals(&found.rules, LEDGER_BRANCH, born);
    if !refusing.is_empty() {
        findings.error(
            "ledger.refused",
            format!(
                "rules refuse phileas' commits on `jules`: {} (unless phileas stands among those who may bypass them, which cannot be read)",
                refusing.join(", ")
            ),
            format!("{rules}: leave `jules` out of these, and keep `deletion` and `non_fast_forward`"),
        );
    }
    if !choosy.is_empty() {
        findings.hint(
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
        findings.error(
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
        return findings.good(
            "ledger.protection",
            "`jules` can be neither deleted nor rewritten",
        );
    }
    if found.classic && found.details.is_none() {
        return findings.unknown(
            "ledger.protection",
            "`jules` is protected in a way that only administrators may read",
        );
    }
    let open = match (kept, straight) {
        (true, _) => "rewritten",
        (_, true) => "deleted",
        _ => "deleted and rewritten",
    };
    findings.hint(
        "ledger.protection",
        format!("nothing keeps `jules` from being {open} by whoever may push"),
        format!(
            "gh api -X POST repos/{}/rulesets --input - <<< '{{\"name\":\"phileas ledger\",\"target\":\"branch\",\"enforcement\":\"active\",\"conditions\":{{\"ref_name\":{{\"include\":[\"refs/heads/jules\"],\"exclude\":[]}}}},\"rules\":[{{\"type\":\"deletion\"}},{{\"type\":\"non_fast_forward\"}}]}}'",
            place.repository
        ),
    );
}
