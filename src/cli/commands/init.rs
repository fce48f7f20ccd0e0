//! `phileas init`: writes everything that a repository needs to start with phileas.

use std::io::Write;

use phileas_domain::model::{RepositoryName, Tree};
use phileas_domain::plan::{self, SCHEDULES_PATH, StepKind};
use serde_json::json;

use super::labels::{self, LabelOptions};
use super::simulate::{self, FirstSession, WeekForecast};
use crate::adapters::github::Proposed;
use crate::cli::arguments::Init;
use crate::cli::context::target::{FileSetChange, Target, confirm};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::starter::{
    ENVIRONMENT, FileChange, HOME, INIT_BRANCH, Pin, StarterFile, WORKFLOW_PATH, blank_hint, parts,
    tree_after,
};

const PULL_TITLE: &str = "Let phileas run Jules on a schedule";
const PULL_BODY: &str = "\
Written by `phileas init`: a workflow that looks every hour whether something is due, the plan (who works and when), and \
personas with their prompts where there were none.

Nothing starts before the environment `jules` holds the key as the secret `JULES_API_KEY`. `phileas deinit` takes away \
the files that are unchanged.
";

pub(crate) async fn run(
    arguments: &Init,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let json = arguments.place.json;
    let place = Target::open_target(&arguments.place).await?;
    warn_of_origin(&place)?;
    let parts = parts(&place.files, &action_pin(arguments), arguments.layers);
    place.check_parts(&parts)?;
    print_plan(&parts, &place, arguments, screen)?;
    let tree = tree_after(&place.files, &parts);
    let wanted = wanted_changes(&parts);
    let is_due = !wanted.files.is_empty() || !wanted.staged.is_empty();
    let mut proposed = None;
    if !is_due && !json {
        screen.print_line("nothing to write: everything is there already, and stays as it is")?;
    }
    if is_due && !arguments.place.dry_run {
        if !arguments.place.yes && !confirm(write_question(&place, &wanted), screen)? {
            if !json {
                screen.print_line("nothing was written")?;
            }
            return Ok(Exit::Done);
        }
        proposed = place.apply_change(&wanted).await?;
        print_results(&parts, proposed.as_ref(), json, screen)?;
    }
    // The written files stay, whatever happens to the labels.
    let how = LabelOptions {
        prune: false,
        dry_run: arguments.place.dry_run,
        json,
    };
    let labelled = match place.github_client() {
        Some(Ok(client)) => labels::sync_labels(&client, &tree, how, screen)
            .await
            .map(|_| true),
        Some(Err(stopped)) => Err(stopped),
        None => Ok(false),
    };
    let note = small_budget_note(&tree).filter(|_| arguments.layers && !json);
    let week = simulate::print_week(tree, &place.files.repository, json, screen)?;
    if let Some(note) = note {
        screen.print_wrapped(&note, 0)?;
    }
    if !arguments.place.dry_run {
        print_next_steps(
            &place,
            &commit_advice(&place, &parts)?,
            proposed.as_ref(),
            week,
            // A label starts a persona.
            !matches!(labelled, Ok(true)) && !arguments.layers,
            json,
            screen,
        )?;
    }
    labelled.map(|_| week.exit).map_err(|mut stopped| {
        let files = match is_due && !arguments.place.dry_run {
            true => "the files are written; only the labels are not made",
            false => "the labels are not made",
        };
        stopped.message = format!(
            "{files}: {}; later `phileas labels sync --repo {}` makes them",
            stopped.message, place.files.repository
        );
        stopped
    })
}

/// The change that `init` makes to the repository.
fn wanted_changes(parts: &[StarterFile]) -> FileSetChange<'static> {
    FileSetChange {
        branch: INIT_BRANCH,
        title: PULL_TITLE,
        body: PULL_BODY,
        files: parts
            .iter()
            .filter_map(as_new_file)
            .map(|(path, text)| (path.to_owned(), Some(text.to_owned())))
            .collect(),
        staged: parts.iter().filter_map(as_unstaged_path).collect(),
    }
}

fn write_question(place: &Target, wanted: &FileSetChange<'_>) -> &'static str {
    match (place.is_worktree(), wanted.files.is_empty()) {
        (false, _) => "Open a pull request with these files?",
        (true, true) => "Stage these files?",
        (true, false) => "Write these files?",
    }
}

/// What is left to commit and push where the files are in a clone.
fn commit_advice(place: &Target, parts: &[StarterFile]) -> Result<CommitAdvice, CliError> {
    let mut commit = match place.can_be_pushed() {
        true => CommitAdvice {
            staged: place.waits_for_a_commit(parts)?,
            left_out: place.unstaged_folders()?,
            only: place.commit_paths(parts)?,
            other_branch: place.other_branch()?,
            ..CommitAdvice::default()
        },
        false => CommitAdvice::default(),
    };
    commit.lacks_commit = lacks_commit(place, parts);
    Ok(commit)
}

/// Says how to raise the budget where a pass of the layers takes more sessions than start in a day.
fn small_budget_note(tree: &Tree) -> Option<String> {
    let (plan, _) = plan::read(tree);
    let observers = plan.roster.observers.iter();
    let observers = observers.filter(|member| member.enabled).count();
    let steps = plan.tracks.values().flat_map(|track| &track.steps);
    let sessions = steps.filter_map(|step| match &step.kind {
        StepKind::Layer(name) if name == "observers" => {
            Some((observers, format!("{observers} observers")))
        }
        StepKind::Layer(name) if matches!(name.as_str(), "narrator" | "decider") => {
            Some((1, name.clone()))
        }
        // The others need a session for each piece of work, or have a pass of their own.
        StepKind::Layer(_) | StepKind::Persona(_) => None,
    });
    let (counts, layers): (Vec<usize>, Vec<String>) = sessions.unzip();
    let needed: usize = counts.iter().sum();
    let daily = usize::try_from(plan.budget.daily_sessions).unwrap_or(usize::MAX);
    (daily < needed).then(|| {
        format!(
            "A pass of the layers takes {needed} sessions ({}), and one or two more for each piece of work. The budget lets \
             {daily} start in a day, so a pass takes several days. To change that, set `daily_sessions = {}` in `[budget]` \
             in {SCHEDULES_PATH}.",
            layers.join(", "),
            needed * 2
        )
    })
}

/// Warns where the files would be for another repository than the one that is cloned here.
fn warn_of_origin(place: &Target) -> Result<(), CliError> {
    let named = &place.files.repository;
    // An `origin` that names no repository is no contradiction.
    if let Ok(Some(origin)) = place.origin_repository()
        && origin != *named
    {
        output::print_error(&format!(
            "warning: --repo names {named}, and the remote `origin` here is {origin}; the files are written for {named}"
        ))?;
    }
    Ok(())
}

/// What the person's commit must include.
#[derive(Default)]
struct CommitAdvice {
    /// Whether files are staged for it.
    staged: bool,
    /// Folders with files, or changes of files, that are not staged. Without them the repository would have a workflow
    /// without a plan, or a plan without its personas.
    left_out: Vec<&'static str>,
    /// The paths of the commit, where a person has staged other files too.
    only: Vec<&'static str>,
    /// The branch that is checked out in place of the default one. `Some(None)`: no branch is.
    other_branch: Option<Option<String>>,
    /// Whether a person has to fill in the action's commit in the workflow.
    lacks_commit: bool,
}

impl CommitAdvice {
    /// What the commands would otherwise do unseen.
    fn warnings(&self, branch: &str) -> String {
        let mut text = String::new();
        if !self.only.is_empty() {
            text.push_str(". You have staged other files; this commit leaves them out");
        }
        if let Some(checked_out) = &self.other_branch {
            let place = match checked_out {
                Some(name) => format!("`{name}` is checked out, not {branch}"),
                None => "no branch is checked out".to_owned(),
            };
            text.push_str(&format!(
                ". {place}: the push takes every commit here that {branch} lacks; for this commit alone, `git switch {branch}` first"
            ));
        }
        text
    }
}

fn as_new_file(part: &StarterFile) -> Option<(&str, &str)> {
    match &part.change {
        FileChange::Write(text) => Some((&part.path, text)),
        FileChange::Stage | FileChange::Leave(_) => None,
    }
}

/// The path of a file that an earlier run wrote and could not stage.
fn as_unstaged_path(part: &StarterFile) -> Option<String> {
    (part.change == FileChange::Stage).then(|| part.path.clone())
}

/// The action for the workflow: the one of `--action`, else that of this release, else one whose commit a person fills
/// in.
fn action_pin(arguments: &Init) -> Pin {
    let known = arguments.action.clone().or_else(Pin::of_this_release);
    known.unwrap_or_else(Pin::to_fill_in)
}

/// Whether the workflow, written now or earlier, still lacks the commit of the action.
fn lacks_commit(place: &Target, parts: &[StarterFile]) -> bool {
    let earlier = place.files.workflows.get(WORKFLOW_PATH);
    parts.iter().any(|part| part_blank(part).is_some())
        || earlier.is_some_and(|text| blank_hint(text).is_some())
}

/// What a person has to complete in a new file.
fn part_blank(part: &StarterFile) -> Option<String> {
    match &part.change {
        FileChange::Write(text) => blank_hint(text),
        FileChange::Stage | FileChange::Leave(_) => None,
    }
}

/// Prints what would be written, what stays, and what the person may do about it.
fn print_plan(
    parts: &[StarterFile],
    place: &Target,
    arguments: &Init,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let found = &place.files;
    if arguments.place.json {
        for part in parts {
            let blank = part_blank(part);
            let (action, hints, text) = match &part.change {
                FileChange::Write(text) => ("write", blank.as_slice(), Some(text)),
                FileChange::Stage => ("stage", &[][..], None),
                FileChange::Leave(hints) => ("leave", &hints[..], None),
            };
            let text = text.filter(|_| arguments.place.dry_run);
            let mut document = json!({
                "file": part.path, "action": action, "hints": hints, "dry_run": arguments.place.dry_run,
            });
            if let Some(text) = text {
                document["text"] = text.as_str().into();
            }
            screen.print_line(&document.to_string())?;
        }
        return Ok(());
    }
    screen.print_line(&format!(
        "{}, default branch {}:",
        found.repository, found.default_branch
    ))?;
    for part in parts {
        match &part.change {
            FileChange::Write(text) => {
                screen.print_line(&format!("  write  {:<38} {}", part.path, part.purpose))?;
                if let Some(blank) = part_blank(part) {
                    screen.print_line(&format!("         - {blank}"))?;
                }
                if arguments.place.dry_run {
                    let shown: Vec<String> = text
                        .lines()
                        .map(|line| format!("         {line}"))
                        .collect();
                    screen.print_lines(&shown.join("\n"))?;
                }
            }
            FileChange::Stage => screen.print_line(&format!(
                "  stage  {:<38} it is there already, as it should be",
                part.path
            ))?,
            FileChange::Leave(hints) => {
                screen.print_line(&format!("  leave  {:<38} it is there already", part.path))?;
                for hint in hints {
                    screen.print_line(&format!("         - {hint}"))?;
                }
            }
        }
    }
    Ok(())
}

fn print_results(
    parts: &[StarterFile],
    proposed: Option<&Proposed>,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let count = parts
        .iter()
        .filter(|part| as_new_file(part).is_some())
        .count();
    let before = parts.iter().filter_map(as_unstaged_path).count();
    let line = match (proposed, json) {
        (Some(pull), true) => {
            json!({ "pull_request": pull.number, "url": pull.url, "new": !pull.before }).to_string()
        }
        (None, true) => json!({ "written": count, "staged": true }).to_string(),
        (Some(pull), false) if pull.before => {
            format!(
                "pull request #{} is open already, and stays as it is: {}",
                pull.number, pull.url
            )
        }
        (Some(pull), false) => format!("pull request #{}: {}", pull.number, pull.url),
        (None, false) if before == 0 => format!("{} written and staged", pluralize(count, "file")),
        (None, false) if count == 0 => format!("{} staged", pluralize(before, "file")),
        (None, false) => format!(
            "{} written and staged, and {before} that were there",
            pluralize(count, "file")
        ),
    };
    screen.print_line(&line)?;
    Ok(())
}

/// The next step, based on the forecast of the plan's first week.
fn next_step_text(first: FirstSession) -> String {
    match first {
        FirstSession::AtOnce => ", and the first session starts".to_owned(),
        FirstSession::From(at) => format!(
            "; the first session starts at its time, {} UTC, with the hourly look after that",
            short_time(at)
        ),
        FirstSession::Never => "; nothing starts by itself within a week".to_owned(),
        FirstSession::Unknown => String::new(),
    }
}

/// Quotes a word for a shell. A branch may have almost any name.
fn shell_quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What a person does, and by which commands.
type NextStep = (String, Vec<String>);

/// Prints what the person does next, with the commands.
fn print_next_steps(
    place: &Target,
    commit: &CommitAdvice,
    proposed: Option<&Proposed>,
    week: WeekForecast,
    lacks_labels: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let repository = &place.files.repository;
    let branch = &place.files.default_branch;
    let mut steps = key_steps(repository, branch);
    if week.exit == Exit::Findings {
        steps.push((
            "Fix the mistakes above, and check again:".to_owned(),
            vec!["phileas validate".to_owned()],
        ));
    }
    if commit.lacks_commit {
        steps.push(pin_step(proposed));
    }
    if let Some(pull) = proposed {
        steps.push((
            format!("Merge{}:", next_step_text(week.first)),
            vec![format!(
                "gh pr merge {} --repo {repository} --squash",
                pull.number
            )],
        ));
    } else if commit.staged || !commit.left_out.is_empty() {
        let with = match commit.left_out.as_slice() {
            [] => String::new(),
            folders => format!(
                ", also what is not committed yet in {}",
                folders.join(" and ")
            ),
        };
        steps.push((
            format!(
                "Commit and push to {branch}{with}{}{}:",
                next_step_text(week.first),
                commit.warnings(branch)
            ),
            commit_commands(commit, branch),
        ));
    }
    if lacks_labels {
        steps.push((
            "For starts by label, with a GITHUB_TOKEN that may write issues, once the personas are pushed:".to_owned(),
            vec![format!("phileas labels sync --repo {repository}")],
        ));
    }
    if json {
        let steps: Vec<_> = steps
            .iter()
            .map(|(what, commands)| json!({ "what": what, "commands": commands }))
            .collect();
        screen.print_line(&json!({ "next": steps }).to_string())?;
        return Ok(());
    }
    screen.print_line("")?;
    screen.print_line("What only you can do:")?;
    for (number, (what, commands)) in steps.iter().enumerate() {
        screen.print_line(&format!("{}. {what}", number + 1))?;
        for command in commands {
            screen.print_line(&format!("     {command}"))?;
        }
    }
    screen.print_line(&format!(
        "A private repository of GitHub Free has no environments; there, `gh secret set JULES_API_KEY --repo {repository}` alone will do."
    ))?;
    Ok(())
}

/// How Jules gets the repository, and the workflow the key.
fn key_steps(repository: &RepositoryName, branch: &str) -> Vec<NextStep> {
    let environment = format!("repos/{repository}/environments/{ENVIRONMENT}");
    vec![
        (
            format!(
                "Connect {repository} at https://jules.google.com, and make a key at https://jules.google.com/settings#api"
            ),
            Vec::new(),
        ),
        (
            format!("Keep the key where only {branch} gets at it:"),
            vec![
                format!(
                    "gh api --silent -X PUT {environment} -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true'"
                ),
                format!(
                    "gh api --silent {environment}/deployment-branch-policies -f {}",
                    shell_quote(&format!("name={branch}"))
                ),
                format!("gh secret set JULES_API_KEY --repo {repository} --env {ENVIRONMENT}"),
            ],
        ),
    ]
}

/// How the workflow gets the commit of the action that it runs.
fn pin_step(proposed: Option<&Proposed>) -> NextStep {
    let (place, commands) = match proposed {
        Some(_) => (
            format!(", in the `uses:` line of {WORKFLOW_PATH} in the pull request"),
            Vec::new(),
        ),
        None => (
            ", its 40 digits in place of COMMIT:".to_owned(),
            vec![format!("phileas upgrade --action {HOME}@COMMIT")],
        ),
    };
    let what = format!("Fill in the commit of {HOME} that the workflow runs{place}");
    (what, commands)
}

fn commit_commands(commit: &CommitAdvice, branch: &str) -> Vec<String> {
    let mut commands = Vec::new();
    if !commit.left_out.is_empty() {
        commands.push(format!("git add -- {}", commit.left_out.join(" ")));
    }
    let only = match commit.only.as_slice() {
        [] => String::new(),
        paths => format!(" -- {}", paths.join(" ")),
    };
    commands.push(format!("git commit --message '{PULL_TITLE}'{only}"));
    commands.push(format!(
        "git push origin {}",
        shell_quote(&format!("HEAD:{branch}"))
    ));
    commands
}
