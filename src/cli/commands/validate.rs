//! `phileas validate`: checks the plan and the personas of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use phileas_domain::Diagnostic;
use phileas_domain::engine::blocking_mistakes;
use phileas_domain::model::{BranchName, RepositoryName, Tree};
use phileas_domain::plan::{self, Branch, CONFIG_PATH, Plan, SCHEDULES_PATH, StepKind};
use phileas_domain::prompt::{self, SourceFiles};

use super::validate_layers;
use crate::adapters::github::Client;
use crate::adapters::{files, renderer};
use crate::cli::arguments::Validate;
use crate::cli::context::clients;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::{Failure, ReadGitHub as _};

/// The most start branches to look up.
const MAX_BRANCHES: usize = 50;

pub(crate) async fn run(
    arguments: &Validate,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = files::read_tree(&arguments.dir)?;
    let (plan, mut found) = check_tree(&tree);
    let is_blocked = !blocking_mistakes(&found, &tree).is_empty();
    if let Some(repository) = &arguments.repo {
        let client = clients::github_client(repository)?;
        found.extend(missing_branches(&client, repository, &plan, &tree).await?);
    }
    print_diagnostics(&found, arguments.json, screen)?;
    let errors = found.iter().filter(|one| one.is_error()).count();
    if !arguments.json {
        let mut summary = summary_line(&plan, errors, found.len() - errors);
        if is_blocked {
            summary.push_str("; nothing starts until the plan is correct");
        }
        screen.print_line(&summary)?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// The last line of a check.
fn summary_line(plan: &Plan, errors: usize, warnings: usize) -> String {
    let (errors_said, warnings_said) = (pluralize(errors, "error"), pluralize(warnings, "warning"));
    if errors > 0 && plan.tracks.is_empty() && plan.schedules.is_empty() {
        return format!(
            "not ok: the plan has no track and no schedule that can be read; {}, {errors_said}, {warnings_said}",
            pluralize(plan.personas.len(), "persona")
        );
    }
    let steps: usize = plan.tracks.values().map(|track| track.steps.len()).sum();
    format!(
        "{}: {} with {}, {}, {}; {}, {}",
        if errors == 0 { "ok" } else { "not ok" },
        pluralize(plan.tracks.len(), "track"),
        pluralize(steps, "step"),
        pluralize(plan.schedules.len(), "schedule"),
        pluralize(plan.personas.len(), "persona"),
        errors_said,
        warnings_said,
    )
}

/// Reads the plan of a tree, and finds all mistakes in it and in its prompts.
pub(crate) fn check_tree(tree: &Tree) -> (Plan, Vec<Diagnostic>) {
    let (plan, mut found) = plan::read(tree);
    let (files, renderer) = (
        SourceFiles::of_default_branch(tree),
        renderer::shared_renderer(),
    );
    for persona in plan.personas.values() {
        found.extend(prompt::validate_prompt(persona, &files, &*renderer));
    }
    found.extend(prompt::read_orders(tree));
    found.extend(validate_layers::check_layers(tree, &plan));
    let broken = found.iter().any(Diagnostic::is_error);
    if !broken && count_runnable(&plan, tree) == 0 {
        let warning = Diagnostic::warning(SCHEDULES_PATH, "nothing runs by itself");
        found.push(
            warning.help("name personas in `cycle`, in `[tracks]` or by a cron in `[schedules]`"),
        );
    }
    found.sort();
    found.dedup();
    (plan, found)
}

/// The start branches of sessions that do not exist on GitHub.
pub(crate) async fn missing_branches(
    client: &Client,
    repository: &RepositoryName,
    plan: &Plan,
    tree: &Tree,
) -> Result<Vec<Diagnostic>, Failure> {
    let mut found = Vec::new();
    for (branch, users) in start_branches(plan).into_iter().take(MAX_BRANCHES) {
        if client.has_branch(&BranchName::from(branch)).await? {
            continue;
        }
        let users: Vec<&str> = users.into_iter().collect();
        let message = format!(
            "the branch `{branch}` does not exist on {repository}, and sessions of {} should start from it",
            users.join(", ")
        );
        let (file, place) = branch_location(plan, tree, branch);
        let one = match place {
            Some((line, column)) => Diagnostic::error(file, message).at(line, column),
            None => Diagnostic::error(file, message),
        };
        found.push(one.key("branch").help(format!(
            "push the branch `{branch}`, or write `default`, `persona` or the name of a branch that exists"
        )));
    }
    Ok(found)
}

/// The start branches in the plan, with the steps, schedules and personas that use them.
fn start_branches(plan: &Plan) -> BTreeMap<&str, BTreeSet<&str>> {
    let steps = plan.tracks.values().flat_map(|track| &track.steps);
    let steps = steps.map(|step| {
        let name = match &step.kind {
            StepKind::Persona(id) => id.as_str(),
            StepKind::Layer(name) => name.as_str(),
        };
        (name, &step.policy.branch)
    });
    let schedules = plan.schedules.values();
    let schedules = schedules.map(|one| (one.persona.as_str(), &one.policy.branch));
    let personas = plan.personas.values();
    let personas = personas.filter_map(|one| Some((one.id.as_str(), one.branch.as_ref()?)));
    let mut branches: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (user, branch) in steps.chain(schedules).chain(personas) {
        if let Branch::Named(name) = branch {
            branches.entry(name).or_default().insert(user);
        }
    }
    branches
}

/// The file that names a start branch, with line and column.
fn branch_location<'p>(plan: &'p Plan, tree: &Tree, branch: &str) -> (&'p str, Option<(u32, u32)>) {
    let personas = plan.personas.values().map(|persona| persona.path.as_str());
    let files = [SCHEDULES_PATH, CONFIG_PATH].into_iter().chain(personas);
    for file in files {
        let lines = tree.text(file).unwrap_or_default().lines();
        for (number, line) in (1..).zip(lines) {
            if let Some(key) = line.find("branch")
                && let Some(at) = line[key..].find(branch)
            {
                let column = line[..key + at].chars().count() + 1;
                return (file, Some((number, u32::try_from(column).unwrap_or(1))));
            }
        }
    }
    (SCHEDULES_PATH, None)
}

/// Counts the steps and schedules that can start a session by themselves.
pub(crate) fn count_runnable(plan: &Plan, tree: &Tree) -> usize {
    let (files, renderer) = (
        SourceFiles::of_default_branch(tree),
        renderer::shared_renderer(),
    );
    let can = |id| {
        let persona = plan.personas.get(id);
        persona.is_some_and(|persona| {
            let sound = || {
                !prompt::validate_prompt(persona, &files, &*renderer)
                    .iter()
                    .any(Diagnostic::is_error)
            };
            persona.scheduled && sound()
        })
    };
    let steps = plan.tracks.values().flat_map(|track| &track.steps);
    let in_tracks = steps.filter(|step| match &step.kind {
        StepKind::Persona(id) => can(id),
        StepKind::Layer(layer) => validate_layers::can_run(&plan.roster, layer),
    });
    let scheduled = plan.schedules.values();
    let scheduled = scheduled.filter(|schedule| schedule.cron.is_some() && can(&schedule.persona));
    in_tracks.count() + scheduled.count()
}
