//! The labels by which people speak to phileas: only what exists can be put on.

use phileas_domain::plan::Plan;

use super::finding::{Findings, Group};
use super::place::Place;
use crate::adapters::github::{Client, Label};
use crate::cli::terminal::plural::several;
use crate::starter::{has_work, wanted};

/// The most labels that one run makes.
const MAX_MADE: usize = 100;

pub(super) async fn check(
    client: &Client,
    plan: &Plan,
    fix: bool,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Labels;
    let there = match client.labels().await {
        Ok(there) => there,
        Err(failure) => return findings.unread("labels.missing", "the labels", &failure),
    };
    let wanted = wanted(&plan.personas, has_work(plan));
    let is_there = |label: &Label| {
        let mut names = there.iter().map(|one| &one.name);
        names.any(|name| name.eq_ignore_ascii_case(&label.name))
    };
    let missing = wanted.iter().filter(|label| !is_there(label));
    let missing: Vec<&Label> = missing.take(MAX_MADE).collect();
    let names: Vec<&str> = missing.iter().map(|label| label.name.as_str()).collect();
    if missing.is_empty() {
        return findings.good(
            "labels.missing",
            format!("all {} are there", several(wanted.len(), "label")),
        );
    }
    if !fix {
        return findings.hint(
            "labels.missing",
            format!(
                "not there, so that nobody can put them on: {}",
                names.join(", ")
            ),
            format!("phileas doctor --fix --repo {}", place.repository),
        );
    }
    for label in &missing {
        if let Err(failure) = client.create_label(label).await {
            return findings.hint(
                "labels.missing",
                format!("`{}` could not be made: {}", label.name, failure.detail),
                format!(
                    "gh label create '{}' --repo {}",
                    label.name, place.repository
                ),
            );
        }
    }
    findings.fixed(
        "labels.missing",
        format!(
            "{} made: {}",
            several(missing.len(), "label"),
            names.join(", ")
        ),
    );
}
