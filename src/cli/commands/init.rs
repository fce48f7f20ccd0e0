//! `phileas init`: everything that a repository needs to begin with.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::labels::{self, How};
use super::simulate::{self, First, Week};
use crate::adapters::github::Proposed;
use crate::cli::arguments::Init;
use crate::cli::context::target::{Change, Place, agreed};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::starter::{
    ENVIRONMENT, Fate, HOME, INIT_BRANCH, Part, Pin, WORKFLOW_PATH, parts, tree_after,
};

const TITLE: &str = "Let phileas run Jules by the clock";
const BODY: &str = "\
Written by `phileas init`: a workflow that looks every hour whether something is due, the plan (who works and when), and \
personas with their prompts where there were none.

Nothing starts before the environment `jules` holds the key as the secret `JULES_API_KEY`. `phileas deinit` takes away \
what nobody has changed.
";

pub(crate) async fn run(
    arguments: &Init,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let json = arguments.place.json;
    // Whether there is a repository at all comes before what its workflow should name.
    let place = Place::open(&arguments.place).await?;
    let pin = pin(arguments)?;
    let parts = parts(&place.found, &pin, arguments.layers);
    place.check(&parts)?;
    show(&parts, &place, arguments, screen)?;
    let tree = tree_after(&place.found, &parts);
    let files: Vec<(&str, &str)> = parts.iter().filter_map(new_file).collect();
    let staged: Vec<String> = parts.iter().filter_map(unstaged).collect();
    let is_due = !files.is_empty() || !staged.is_empty();
    let mut proposed = None;
    if !is_due && !json {
        screen.line("nothing to write: everything is there already, and stays as it is")?;
    }
    if is_due && !arguments.place.dry_run {
        let question = if !place.is_folder() {
            "Open a pull request with these files?"
        } else if files.is_empty() {
            "Stage these files?"
        } else {
            "Write these files?"
        };
        if !arguments.place.yes && !agreed(question, screen)? {
            if !json {
                screen.line("nothing was written")?;
            }
            return Ok(Exit::Done);
        }
        let change = Change {
            branch: INIT_BRANCH,
            title: TITLE,
            body: BODY,
            files: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())))
                .collect(),
            staged: staged.clone(),
        };
        proposed = place.apply(&change).await?;
        tell(&parts, proposed.as_ref(), json, screen)?;
    }
    // What was written stands, whatever becomes of the labels.
    let how = How {
        prune: false,
        dry_run: arguments.place.dry_run,
        json,
    };
    let labelled = match place.github() {
        Some(Ok(client)) => labels::sync(&client, &tree, how, screen)
            .await
            .map(|_| true),
        Some(Err(stopped)) => Err(stopped),
        None => Ok(false),
    };
    let week = simulate::week(tree, &place.found.repository, json, screen)?;
    if !arguments.place.dry_run {
        let commit = match place.can_be_pushed() {
            true => Commit {
                staged: place.waits_for_a_commit(&parts)?,
                beside: beside(&place.found.untracked, &files, &staged),
            },
            false => Commit::default(),
        };
        next(
            &place,
            &commit,
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
            stopped.message, place.found.repository
        );
        stopped
    })
}

/// What the commit takes that a person makes.
#[derive(Default)]
struct Commit {
    /// Whether something is staged for it.
    staged: bool,
    /// Where files lie that git does not know yet. Without them there would be a workflow without a plan, or a plan without
    /// its personas.
    beside: Vec<&'static str>,
}

/// The folders in which files of the repository's own lie that nobody has given to git.
fn beside(
    untracked: &BTreeSet<String>,
    written: &[(&str, &str)],
    staged: &[String],
) -> Vec<&'static str> {
    let ours = |path: &String| staged.contains(path) || written.iter().any(|(one, _)| one == path);
    let left: Vec<_> = untracked.iter().filter(|path| !ours(path)).collect();
    [WORKFLOW_PATH, ".jules", ".jlo"]
        .into_iter()
        .filter(|folder| left.iter().any(|path| Path::new(path).starts_with(folder)))
        .collect()
}

fn new_file(part: &Part) -> Option<(&str, &str)> {
    match &part.fate {
        Fate::Write(text) => Some((&part.path, text)),
        Fate::Stage | Fate::Leave(_) => None,
    }
}

/// The path of a file that an earlier run wrote and could not stage.
fn unstaged(part: &Part) -> Option<String> {
    (part.fate == Fate::Stage).then(|| part.path.clone())
}

/// The commit that the workflow names: the one that was asked for, else that of this release.
fn pin(arguments: &Init) -> Result<Pin, Stopped> {
    if let Some(pin) = &arguments.action {
        return Ok(pin.clone());
    }
    Pin::of_this_release().ok_or_else(|| {
        let version = env!("CARGO_PKG_VERSION");
        Stopped::usage(format!(
            "this phileas was not built as a release, so it does not know the commit that the workflow should name; say it: \
             --action {HOME}@<commit> (gh api repos/{HOME}/commits/v{version} --jq .sha)"
        ))
    })
}

/// What would be written, what stays, and what a person may want to do with that.
fn show(
    parts: &[Part],
    place: &Place,
    arguments: &Init,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let found = &place.found;
    if arguments.place.json {
        for part in parts {
            let (action, hints, text) = match &part.fate {
                Fate::Write(text) => ("write", &[][..], Some(text)),
                Fate::Stage => ("stage", &[][..], None),
                Fate::Leave(hints) => ("leave", &hints[..], None),
            };
            let text = text.filter(|_| arguments.place.dry_run);
            let mut document = json!({
                "file": part.path, "action": action, "hints": hints, "dry_run": arguments.place.dry_run,
            });
            if let Some(text) = text {
                document["text"] = text.as_str().into();
            }
            screen.line(&document.to_string())?;
        }
        return Ok(());
    }
    screen.line(&format!(
        "{}, default branch {}:",
        found.repository, found.default_branch
    ))?;
    for part in parts {
        match &part.fate {
            Fate::Write(text) => {
                screen.line(&format!("  write  {:<38} {}", part.path, part.purpose))?;
                if arguments.place.dry_run {
                    let shown: Vec<String> = text
                        .lines()
                        .map(|line| format!("         {line}"))
                        .collect();
                    screen.lines(&shown.join("\n"))?;
                }
            }
            Fate::Stage => screen.line(&format!(
                "  stage  {:<38} it is there already, as it should be",
                part.path
            ))?,
            Fate::Leave(hints) => {
                screen.line(&format!("  leave  {:<38} it is there already", part.path))?;
                for hint in hints {
                    screen.line(&format!("         - {hint}"))?;
                }
            }
        }
    }
    Ok(())
}

fn tell(
    parts: &[Part],
    proposed: Option<&Proposed>,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let count = parts.iter().filter(|part| new_file(part).is_some()).count();
    let before = parts.iter().filter_map(unstaged).count();
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
        (None, false) if before == 0 => format!("{} written and staged", several(count, "file")),
        (None, false) if count == 0 => format!("{} staged", several(before, "file")),
        (None, false) => format!(
            "{} written and staged, and {before} that were there",
            several(count, "file")
        ),
    };
    screen.line(&line)?;
    Ok(())
}

/// What follows when the plan is there, by the forecast of its first week.
fn what_follows(first: First) -> String {
    match first {
        First::AtOnce => ", and the first session starts".to_owned(),
        First::From(at) => format!(
            "; the first session starts at its time, {} UTC, with the hourly look after that",
            short(at)
        ),
        First::Never => "; nothing starts by itself within a week".to_owned(),
        First::Unknown => String::new(),
    }
}

/// A word as a shell takes it; a branch may be called almost anything.
fn shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What is left to a person, with the commands.
fn next(
    place: &Place,
    commit: &Commit,
    proposed: Option<&Proposed>,
    week: Week,
    lacks_labels: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let repository = &place.found.repository;
    let branch = &place.found.default_branch;
    let environment = format!("repos/{repository}/environments/{ENVIRONMENT}");
    let mut steps: Vec<(String, Vec<String>)> = vec![
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
                    shell(&format!("name={branch}"))
                ),
                format!("gh secret set JULES_API_KEY --repo {repository} --env {ENVIRONMENT}"),
            ],
        ),
    ];
    if week.exit == Exit::Findings {
        steps.push((
            "Mend what is said to be wrong above, and look again:".to_owned(),
            vec!["phileas validate".to_owned()],
        ));
    }
    if let Some(pull) = proposed {
        steps.push((
            format!("Merge{}:", what_follows(week.first)),
            vec![format!(
                "gh pr merge {} --repo {repository} --squash",
                pull.number
            )],
        ));
    } else if commit.staged || !commit.beside.is_empty() {
        let mut commands = Vec::new();
        if !commit.beside.is_empty() {
            commands.push(format!("git add -- {}", commit.beside.join(" ")));
        }
        commands.push(format!("git commit --message '{TITLE}'"));
        commands.push(format!(
            "git push origin {}",
            shell(&format!("HEAD:{branch}"))
        ));
        steps.push((
            format!("Commit and push to {branch}{}:", what_follows(week.first)),
            commands,
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
        screen.line(&json!({ "next": steps }).to_string())?;
        return Ok(());
    }
    screen.line("")?;
    screen.line("What only you can do:")?;
    for (number, (what, commands)) in steps.iter().enumerate() {
        screen.line(&format!("{}. {what}", number + 1))?;
        for command in commands {
            screen.line(&format!("     {command}"))?;
        }
    }
    screen.line(&format!(
        "A private repository of GitHub Free has no environments; there, `gh secret set JULES_API_KEY --repo {repository}` alone will do."
    ))?;
    Ok(())
}
