//! The keys of `[defaults]`, which tracks, steps and schedules have as well.

use serde_json::{Value, json};

use super::fragments::{SPAN, figure, keyword_schema, unknown};
use crate::plan::policy::{
    AdvanceOn, Automation, CatchUp, Merge, Mode, PlanApproval, Policy, Priority,
};
use crate::plan::{duration, overrides};

/// Each key with its schema. Only in `[defaults]` a key that is not there has a value of its own; anywhere else it has
/// that of the level below.
pub(super) fn knobs(keys: &[&str], defaults: bool) -> impl Iterator<Item = (String, Value)> {
    keys.iter().map(move |key| {
        let mut value = knob(key);
        if !defaults && let Some(object) = value.as_object_mut() {
            object.remove("default");
        }
        ((*key).to_owned(), value)
    })
}

fn knob(key: &str) -> Value {
    let usual = Policy::default();
    match key {
        "mode" => keyword_schema::<Mode>("`observe` decides and reports, and starts nothing."),
        "timezone" => json!({
            "description": "The IANA zone of cron expressions.",
            "type": "string",
            "minLength": 1,
            "examples": ["Europe/Lisbon"],
            "default": usual.timezone,
        }),
        "advance_on" => keyword_schema::<AdvanceOn>("When a track goes on to its next step."),
        "plan_approval" => keyword_schema::<PlanApproval>(
            "Who approves Jules' plan: no person, people with write access, or the Jules page alone.",
        ),
        "automation" => keyword_schema::<Automation>("`none`: changes stay in the session."),
        "branch" => json!({
            "description": "Where sessions start: `default`, `persona` (a branch a turn), or a branch's name.",
            "type": "string",
            "minLength": 1,
            "not": { "const": "jules" },
            "default": "default",
        }),
        "max_nudges" => figure(
            "Standard answers to a session that asks.",
            overrides::NUDGES,
            usual.max_nudges,
        ),
        "stuck_minutes" => figure(
            "Minutes of silence after which it is said.",
            overrides::STUCK_MINUTES,
            usual.stuck_minutes,
        ),
        "abandon_after" => json!({
            "description": format!(
                "Silence after which the turn is given up, from {} to {}.",
                duration::show(*overrides::ABANDON_AFTER_SECS.start()),
                duration::show(*overrides::ABANDON_AFTER_SECS.end()),
            ),
            "type": "string",
            "pattern": SPAN,
            "minLength": 2,
            "default": duration::show(usual.abandon_after_secs),
        }),
        "retry" => figure(
            "Further attempts after a failure.",
            overrides::RETRIES,
            usual.retry,
        ),
        "catch_up" => keyword_schema::<CatchUp>(
            "Missed cron slots: `one` run for all of them, `none` where it would begin more than 90 minutes late, or one for \
                 each (`all`).",
        ),
        "skip_unchanged" => json!({
            "description": "Pass a persona over while the default branch has not moved since its last turn.",
            "type": "boolean",
            "default": usual.skip_unchanged,
        }),
        "rest_after" => figure(
            "Unwanted turns in a row before a persona rests; 0: never.",
            overrides::REST_AFTER,
            usual.rest_after,
        ),
        "priority" => keyword_schema::<Priority>(
            "Who goes first; `critical` also starts while checks are red.",
        ),
        "merge" => keyword_schema::<Merge>(
            "Whether the label `phileas:merge` merges: `off`, or `green` checks and an approval.",
        ),
        "sensitive" => json!({
            "description": "Lets a sensitive persona run on a public repository.",
            "type": "boolean",
            "default": usual.sensitive,
        }),
        "environment_variables" => json!({
            "description": "Sessions get the environment variables that are set for the repository at Jules.",
            "type": "boolean",
            "default": usual.environment_variables,
        }),
        _ => unknown(),
    }
}
