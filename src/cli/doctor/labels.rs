//! The labels by which people speak to phileas: only what exists can be put on.

use phileas_domain::engine::LABEL_PREFIX;
use phileas_domain::plan::Plan;

use super::super::words::several;
use super::Place;
use super::finding::{Findings, Group};
use crate::adapters::github::{Client, NOTICE_LABEL};

/// Words of labels, and what they do.
const COMMANDS: [(&str, &str); 4] = [
    ("hold", "phileas starts nothing on this"),
    (
        "pause",
        "phileas starts nothing in this repository while an open issue carries this",
    ),
    ("retry", "phileas tries this again"),
    (
        "approve-plan",
        "Approves the plan that the session waits with",
    ),
];
const COLOR: &str = "5319e7";
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
    let there = match client.label_names().await {
        Ok(there) => there,
        Err(failure) => return findings.unread("labels.missing", "the labels", &failure),
    };
    let commands = COMMANDS
        .iter()
        .map(|(word, text)| (format!("{LABEL_PREFIX}{word}"), (*text).to_owned()));
    let personas = plan.personas.keys().map(|id| {
        (
            format!("{LABEL_PREFIX}{id}"),
            format!("phileas starts {id} on this"),
        )
    });
    let own = (
        NOTICE_LABEL.to_owned(),
        "Opened by phileas: a person is wanted".to_owned(),
    );
    let wanted: Vec<(String, String)> = std::iter::once(own)
        .chain(commands)
        .chain(personas)
        .collect();
    let missing: Vec<&(String, String)> = wanted
        .iter()
        .filter(|(name, _)| !there.contains(&name.to_lowercase()))
        .take(MAX_MADE)
        .collect();
    let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
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
    for (name, text) in &missing {
        if let Err(failure) = client.make_label(name, COLOR, text).await {
            return findings.hint(
                "labels.missing",
                format!("`{name}` could not be made: {}", failure.detail),
                format!("gh label create '{name}' --repo {}", place.repository),
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
