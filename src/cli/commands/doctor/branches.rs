//! The branches that phileas creates: whether git can hold them beside the existing ones, and whether rules allow them.

use std::collections::BTreeSet;

use phileas_domain::engine::Ledger;
use phileas_domain::plan::{Branch, Plan, Policy};

use super::finding::{Findings, Group};
use super::ledger::refusing_rules;
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, blocked_text, find_blocking_branch};
use crate::runtime::ports::LEDGER_BRANCH;
use crate::starter::{DEINIT_BRANCH, INIT_BRANCH};

/// Finds existing branches that block those that phileas creates.
pub(super) async fn check_branches(
    client: &Client,
    ledger: &Ledger,
    plan: &Plan,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Ledger;
    let mut ours = vec![("phileas", phileas_branches(plan))];
    if matches!(ledger, Ledger::Missing { head: None }) {
        ours.push((LEDGER_BRANCH, BTreeSet::from([LEDGER_BRANCH.to_owned()])));
    }
    for (root, names) in ours {
        let there = match client.branches_from(root).await {
            Ok(there) => there,
            Err(failure) => {
                findings.add_unread("ledger.blocked", "the names of the branches", &failure);
                continue;
            }
        };
        // One branch may block several.
        let mut said = BTreeSet::new();
        for name in &names {
            if let Some(blocking) = find_blocking_branch(name, &there)
                && said.insert(blocking)
            {
                findings.add_error(
                    "ledger.blocked",
                    format!(
                        "{}, so that phileas cannot make it in {}",
                        blocked_text(name, blocking),
                        place.repository
                    ),
                    client.rename_command(blocking),
                );
            }
        }
    }
    check_rules(client, plan, place, findings).await;
}

/// Checks rules that refuse the branches of proposals, the commits on them, or the branches of sessions.
async fn check_rules(
    client: &Client,
    plan: &Plan,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let mut names = vec![(
        INIT_BRANCH.to_owned(),
        "the pull requests of `init` and `upgrade`",
    )];
    let sessions = phileas_branches(plan).into_iter();
    let mut sessions = sessions.filter(|name| name.ends_with("/turn"));
    names.extend(
        sessions
            .next()
            .map(|name| (name, "the branches that sessions start from")),
    );
    for (name, what) in names {
        let rules = match client.list_rules(&name).await {
            Ok(rules) => rules,
            Err(failure) => {
                return findings.add_unread("ledger.rules", "the rules of `phileas/…`", &failure);
            }
        };
        let (refusing, choosy) = refusing_rules(&rules, &name, false);
        let page = format!(
            "{}/{}/rules: leave `phileas/**` out of these, or let phileas bypass them",
            place.github, place.repository
        );
        if !refusing.is_empty() {
            let text = format!("rules refuse {what} (`{name}`): {}", refusing.join(", "));
            findings.add_hint("ledger.rules", text, page);
        } else if !choosy.is_empty() {
            let text = format!("rules may refuse {what} (`{name}`): {}", choosy.join(", "));
            findings.add_hint("ledger.rules", text, page);
        }
    }
}

/// The branches of proposals, and one for each track and schedule whose sessions have branches of their own.
fn phileas_branches(plan: &Plan) -> BTreeSet<String> {
    let mut names = BTreeSet::from([INIT_BRANCH, DEINIT_BRANCH].map(str::to_owned));
    let own = |policy: &Policy| policy.branch == Branch::Persona;
    for (track, one) in &plan.tracks {
        if one.steps.iter().any(|step| own(&step.policy)) {
            names.insert(format!("phileas/{track}/turn"));
        }
    }
    for schedule in plan.schedules.values() {
        if own(&schedule.policy) {
            names.insert(format!("phileas/schedule-{}/turn", schedule.persona));
        }
    }
    names
}
