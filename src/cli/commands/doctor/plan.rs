//! The plan: its mistakes, personas that cannot run, what it costs, and whether it lies where it counts.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{self, Assumptions};
use phileas_domain::model::Tree;
use phileas_domain::plan::{PERSONAS_FOLDER, Plan, SCHEDULES_PATH};

use super::finding::{Findings, Group};
use super::place::Place;
use crate::adapters::github::Client;
use crate::adapters::renderer;
use crate::cli::commands::{simulate, validate};
use crate::cli::context::placeholder_name;
use crate::cli::exit::Stopped;
use crate::cli::terminal::plural::several;
use crate::runtime::ports::LEDGER_BRANCH;

/// How many mistakes are said.
const MAX_SAID: usize = 8;
/// How far the forecast looks.
const DAYS: i64 = 7;

/// Checks what the files say. The plan, as far as it can be read.
pub(super) fn check(tree: &Tree, now: Timestamp, findings: &mut Findings) -> Result<Plan, Stopped> {
    findings.group = Group::Plan;
    let (plan, found) = validate::check(tree);
    let errors = found.iter().filter(|one| one.is_error()).count();
    for one in found.iter().take(MAX_SAID) {
        let id = if one.file.starts_with(PERSONAS_FOLDER) {
            "plan.persona"
        } else {
            "plan.mistake"
        };
        let mend = match one.mend.as_str() {
            "" => "phileas validate".to_owned(),
            mend => mend.to_owned(),
        };
        let text = {
            let bare = phileas_domain::Diagnostic {
                mend: String::new(),
                ..one.clone()
            };
            bare.to_string()
        };
        if one.is_error() {
            findings.error(id, text, mend);
        } else {
            findings.hint(id, text, mend);
        }
    }
    if found.len() > MAX_SAID {
        let text = format!("and {} more", found.len() - MAX_SAID);
        findings.hint("plan.more", text, "phileas validate");
    }
    if errors == 0 {
        findings.good(
            "plan.mistake",
            format!(
                "{} and {}, without a mistake",
                several(plan.tracks.len(), "track"),
                several(plan.personas.len(), "persona")
            ),
        );
    }
    if errors == 0 {
        cost(tree, &plan, now, findings)?;
    } else {
        // What cannot be read starts nothing, so that its forecast would say that all is well and costs nothing.
        findings.unknown(
            "plan.budget",
            "what the coming week costs cannot be told before the mistakes are mended",
        );
    }
    Ok(plan)
}

/// The branches that the plan names for sessions to start from.
pub(super) async fn start_branches(
    client: &Client,
    plan: &Plan,
    tree: &Tree,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Plan;
    match validate::missing_branches(client, place.repository, plan, tree).await {
        Ok(missing) => {
            for one in missing {
                let mend = one.mend.clone();
                let bare = phileas_domain::Diagnostic {
                    mend: String::new(),
                    ..one
                };
                findings.error("plan.branch", bare.to_string(), mend);
            }
        }
        Err(failure) => {
            findings.unread("plan.branch", "the branches that the plan names", &failure);
        }
    }
}

/// What the coming days would cost, against what the key's tier gives.
fn cost(tree: &Tree, plan: &Plan, now: Timestamp, findings: &mut Findings) -> Result<(), Stopped> {
    let snapshot = simulate::of_tree(tree.clone(), placeholder_name::unnamed()?, now);
    let until = now
        .checked_add(SignedDuration::from_hours(24 * DAYS))
        .map_err(|error| Stopped::fault(error.to_string()))?;
    let renderer = renderer::shared();
    let forecast = engine::simulate(&snapshot, until, Assumptions::default(), &*renderer);
    let (budget, key) = (&plan.budget, plan.budget.key_limits());
    let left = budget.clock_limits().daily;
    let mend = format!(
        "{SCHEDULES_PATH}: `[budget] tier`, or `key_daily` and `key_active`, as the key really has them; else fewer sessions"
    );
    if budget.daily_sessions > left {
        findings.hint(
            "plan.budget",
            format!(
                "`daily_sessions = {}` is more than the key gives a day: {} ({} less {} kept for people)",
                budget.daily_sessions, left, key.daily, budget.reserve_for_people
            ),
            mend,
        );
    } else if budget.max_active > key.active {
        findings.hint(
            "plan.budget",
            format!(
                "`max_active = {}` is more than the key lives with at once: {}",
                budget.max_active, key.active
            ),
            mend,
        );
    } else {
        findings.good(
            "plan.budget",
            format!(
                "at most {} a day and {} at once in the coming week, of {left} and {} that the key's tier gives",
                several(forecast.most_in_a_day, "session"),
                forecast.most_at_once,
                key.active
            ),
        );
    }
    Ok(())
}

/// Plan and prompts that lie on the ledger's branch alone, where nobody reads them.
pub(super) async fn misplaced(
    client: &Client,
    tree: &Tree,
    branch: &str,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Plan;
    let (files, personas) = match (
        client.file_names(LEDGER_BRANCH, ".jules").await,
        client.file_names(LEDGER_BRANCH, PERSONAS_FOLDER).await,
    ) {
        (Ok(files), Ok(personas)) => (files, personas),
        (Err(failure), _) | (_, Err(failure)) => {
            return findings.unread("plan.misplaced", "the files of `jules`", &failure);
        }
    };
    let here: BTreeSet<&str> = tree
        .iter()
        .filter_map(|(path, _)| {
            let below = path.strip_prefix(PERSONAS_FOLDER)?.strip_prefix('/')?;
            Some(below.split_once('/')?.0)
        })
        .collect();
    let mut paths: Vec<String> = Vec::new();
    let has_plan = files.iter().any(|name| name == "schedules.toml");
    if has_plan && tree.get(SCHEDULES_PATH).is_none() {
        paths.push(SCHEDULES_PATH.to_owned());
    }
    let lost = personas.iter().filter(|name| !here.contains(name.as_str()));
    paths.extend(lost.map(|name| format!("{PERSONAS_FOLDER}/{name}")));
    if paths.is_empty() {
        return;
    }
    let quoted: Vec<String> = paths
        .iter()
        .map(|path| format!("'{}'", path.replace('\'', "")))
        .collect();
    findings.error(
        "plan.misplaced",
        format!("on `jules` alone, where it is not used: {}", paths.join(", ")),
        format!(
            "git fetch origin jules && git switch {branch} && git checkout origin/jules -- {} && git commit -m 'Move the plan of {}' && git push",
            quoted.join(" "),
            place.repository
        ),
    );
}
