//! A run in one document, for programs.

use serde_json::{Value, json};

use super::next::next;
use super::run::Run;

/// A run's attempts, its artifacts and who comes next.
#[must_use]
pub fn run_overview(run: &Run) -> Value {
    let attempts = run.attempts().into_iter().map(|one| {
        json!({ "stage": one.stage.as_str(), "tier": one.tier.as_str(), "outcome": one.outcome.as_str() })
    });
    let artifacts = run.readings();
    let artifacts = artifacts.map(|one| json!({ "file": one.file, "sound": one.is_sound() }));
    json!({
        "issue": run.issue.as_str(),
        "attempts": attempts.collect::<Vec<_>>(),
        "artifacts": artifacts.collect::<Vec<_>>(),
        "next": next(run).json(run),
    })
}
