//! The branches that phileas makes: whether git can hold them beside those that are there.

use std::collections::BTreeSet;

use phileas_domain::engine::Ledger;
use phileas_domain::plan::{Branch, Plan, Policy};

use super::Place;
use super::finding::{Findings, Group};
use crate::adapters::github::{Client, blocked, blocking_among};
use crate::runtime::ports::LEDGER_BRANCH;
use crate::starter::{DEINIT_BRANCH, INIT_BRANCH};

/// Looks for branches in the way of those that phileas makes.
pub(super) async fn check(
    client: &Client,
    ledger: &Ledger,
    plan: &Plan,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Ledger;
    let mut ours = vec![("phileas", of_phileas(plan))];
    if matches!(ledger, Ledger::Missing { head: None }) {
        ours.push((LEDGER_BRANCH, BTreeSet::from([LEDGER_BRANCH.to_owned()])));
    }
    for (root, names) in ours {
        let there = match client.branches_from(root).await {
            Ok(there) => there,
            Err(failure) => {
                findings.unread("ledger.blocked", "the names of the branches", &failure);
                continue;
            }
        };
        // One branch may be in the way of several.
        let mut said = BTreeSet::new();
        for name in &names {
            if let Some(blocking) = blocking_among(name, &there)
                && said.insert(blocking)
            {
                findings.error(
                    "ledger.blocked",
                    format!(
                        "{}, so that phileas cannot make it in {}",
                        blocked(name, blocking),
                        place.repository
                    ),
                    client.rename_command(blocking),
                );
            }
        }
    }
}

/// The branches of proposals, and one for each track and schedule whose sessions get branches of their own.
fn of_phileas(plan: &Plan) -> BTreeSet<String> {
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
