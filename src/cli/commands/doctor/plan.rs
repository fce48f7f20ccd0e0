//! The plan: its mistakes, personas that cannot run, its cost, and whether it is on the right branch.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{self, Assumptions};
use phileas_domain::model::Tree;
use phileas_domain::plan::{self, PERSONAS_FOLDER, Plan, SCHEDULES_PATH};

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::Client;
use crate::adapters::renderer;
use crate::cli::commands::{simulate, validate};
use crate::cli::context::placeholder_name;
use crate::cli::exit::CliError;
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::LEDGER_BRANCH;

/// How many mistakes are shown.
const MAX_MISTAKES_SHOWN: usize = 8;
/// How many days the forecast covers.
const FORECAST_DAYS: i64 = 7;

/// Checks the plan's files. Returns the plan as far as it can be read.
pub(super) fn check_plan(
    tree: &Tree,
    now: Timestamp,
    findings: &mut Findings,
) -> Result<Plan, CliError> {
    findings.group = Group::Plan;
    let (plan, found) = validate::check_tree(tree);
    let errors = found.iter().filter(|one| one.is_error()).count();
    for one in found.iter().take(MAX_MISTAKES_SHOWN) {
        let id = if one.file.starts_with(PERSONAS_FOLDER) {
            "plan.persona"
        } else {
            "plan.mistake"
        };
        let help = match one.help.as_str() {
            "" => "phileas validate".to_owned(),
            help => help.to_owned(),
        };
        let text = {
            let bare = phileas_domain::Diagnostic {
                help: String::new(),
                ..one.clone()
            };
            bare.to_string()
        };
        if one.is_error() {
            findings.add_error(id, text, help);
        } else {
            findings.add_hint(id, text, help);
        }
    }
    if found.len() > MAX_MISTAKES_SHOWN {
        let text = format!("and {} more", found.len() - MAX_MISTAKES_SHOWN);
        findings.add_hint("plan.more", text, "phileas validate");
    }
    if errors == 0 {
        findings.add_good(
            "plan.mistake",
            format!(
                "{} and {}, without a mistake",
                pluralize(plan.tracks.len(), "track"),
                pluralize(plan.personas.len(), "persona")
            ),
        );
    }
    if errors == 0 {
        check_cost(tree, &plan, now, findings)?;
    } else {
        // A plan that cannot be read starts nothing, so its forecast would wrongly report that all is well at no cost.
        findings.add_unknown(
            "plan.budget",
            "the cost of the coming week is unknown until the mistakes are fixed",
        );
    }
    Ok(plan)
}

/// Checks the branches that the plan names for sessions to start from.
pub(super) async fn check_start_branches(
    client: &Client,
    plan: &Plan,
    tree: &Tree,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Plan;
    match validate::missing_branches(client, place.repository, plan, tree).await {
        Ok(missing) => {
            for one in missing {
                let help = one.help.clone();
                let bare = phileas_domain::Diagnostic {
                    help: String::new(),
                    ..one
                };
                findings.add_error("plan.branch", bare.to_string(), help);
            }
        }
        Err(failure) => {
            findings.add_unread("plan.branch", "the branches that the plan names", &failure);
        }
    }
}

/// Compares the cost of the coming days with the limits of the Jules key.
fn check_cost(
    tree: &Tree,
    plan: &Plan,
    now: Timestamp,
    findings: &mut Findings,
) -> Result<(), CliError> {
    let snapshot =
        simulate::snapshot_of_tree(tree.clone(), placeholder_name::placeholder_name()?, now);
    let until = now
        .checked_add(SignedDuration::from_hours(24 * FORECAST_DAYS))
        .map_err(|error| CliError::fault(error.to_string()))?;
    let renderer = renderer::shared_renderer();
    let forecast = engine::simulate(&snapshot, until, Assumptions::default(), &*renderer);
    let (budget, key) = (&plan.budget, plan.budget.key_limits());
    let left = budget.clock_limits().daily;
    let help = format!(
        "{SCHEDULES_PATH}: `[budget] tier`, or `key_daily` and `key_active`, as the key really has them; else fewer sessions"
    );
    if budget.daily_sessions > left {
        findings.add_hint(
            "plan.budget",
            format!(
                "`daily_sessions = {}` is more than the {left} a day that the Jules key leaves the plan: it allows {}, {} of them \
                 kept for people",
                budget.daily_sessions, key.daily, budget.reserve_for_people
            ),
            help,
        );
    } else if budget.max_active > key.active {
        findings.add_hint(
            "plan.budget",
            format!(
                "`max_active = {}` is more than the {} sessions at once that the Jules key allows",
                budget.max_active, key.active
            ),
            help,
        );
    } else if let Some(limits) = engine::plan_limits(&snapshot) {
        findings.add_good(
            "plan.budget",
            format!(
                "sessions in the coming week: {}",
                simulate::cost_text(&forecast, &limits)
            ),
        );
    }
    Ok(())
}

/// Reports plan and prompts that are on the ledger branch only, where phileas does not read them.
pub(super) async fn check_misplaced_files(
    client: &Client,
    tree: &Tree,
    branch: &str,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Plan;
    let (files, personas) = match (
        client.file_names(LEDGER_BRANCH, ".jules").await,
        client.file_names(LEDGER_BRANCH, PERSONAS_FOLDER).await,
    ) {
        (Ok(files), Ok(personas)) => (files, personas),
        (Err(failure), _) | (_, Err(failure)) => {
            return findings.add_unread("plan.misplaced", "the files of `jules`", &failure);
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
    if has_plan && plan::is_absent(tree) {
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
    findings.add_error(
        "plan.misplaced",
        format!("on `jules` alone, where it is not used: {}", paths.join(", ")),
        format!(
            "git fetch origin jules && git switch {branch} && git checkout origin/jules -- {} && git commit -m 'Move the plan of {}' && git push",
            quoted.join(" "),
            place.repository
        ),
    );
}
