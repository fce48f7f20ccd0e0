//! The labels that people use to make requests. Only a label that exists can be added.

use phileas_domain::plan::Plan;

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, Label};
use crate::cli::terminal::plural::pluralize;
use crate::starter::{has_work, wanted};

/// The most labels that one run creates.
const MAX_CREATED: usize = 100;

pub(super) async fn check_labels(
    client: &Client,
    plan: &Plan,
    fix: bool,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Labels;
    let there = match client.list_labels().await {
        Ok(there) => there,
        Err(failure) => return findings.add_unread("labels.missing", "the labels", &failure),
    };
    let wanted = wanted(&plan.personas, has_work(plan));
    let is_there = |label: &Label| {
        let mut names = there.iter().map(|one| &one.name);
        names.any(|name| name.eq_ignore_ascii_case(&label.name))
    };
    let missing = wanted.iter().filter(|label| !is_there(label));
    let missing: Vec<&Label> = missing.take(MAX_CREATED).collect();
    let names: Vec<&str> = missing.iter().map(|label| label.name.as_str()).collect();
    if missing.is_empty() {
        return findings.add_good(
            "labels.missing",
            format!("all {} are there", pluralize(wanted.len(), "label")),
        );
    }
    if !fix {
        return findings.add_hint(
            "labels.missing",
            format!(
                "missing, so that people cannot add them: {}",
                names.join(", ")
            ),
            format!("phileas doctor --fix --repo {}", place.repository),
        );
    }
    for label in &missing {
        if let Err(failure) = client.create_label(label).await {
            return findings.add_hint(
                "labels.missing",
                format!("`{}` could not be made: {}", label.name, failure.detail),
                format!(
                    "gh label create '{}' --repo {}",
                    label.name, place.repository
                ),
            );
        }
    }
    findings.add_fixed(
        "labels.missing",
        format!(
            "{} made: {}",
            pluralize(missing.len(), "label"),
            names.join(", ")
        ),
    );
}
