//! Personas that a repository already has in the files of other tools, and a plan that runs them.

use std::io::Write;
use std::path::Path;

use phileas_domain::model::Tree;
use phileas_domain::plan::{PERSONAS_FOLDER, SCHEDULES_PATH, is_persona_id};
use phileas_domain::work::History;
use serde::Serialize;
use serde_json::json;

use crate::adapters::files::{self, FileWrite};
use crate::cli::exit::CliError;
use crate::cli::exit::paths::{not_a_folder, path_error};
use crate::cli::terminal::output::Screen;
use crate::starter::schema_address;

/// Journals that Jules' gallery personas keep: `.jules/bolt.md`.
const JOURNALS: &str = ".jules/";
/// Goals of jules-fleet.
const GOALS: &str = ".fleet/goals/";
/// Files beside journals that are none.
const OTHER_FILES: [&str; 4] = ["agents", "jules", "memory", "readme"];

/// A persona that a file of the default branch shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FoundPersona {
    /// Its id.
    pub(super) id: String,
    /// The file that shows it.
    pub(super) source: String,
    /// When it should run.
    pub(super) cron: String,
    #[serde(skip)]
    prompt: String,
}

/// The personas in journals and goals that have no prompt yet, by id.
pub(super) fn found_personas(tree: &Tree, history: &History) -> Vec<FoundPersona> {
    let mut found: Vec<FoundPersona> = Vec::new();
    let named = |path: &str, folder: &str| {
        let id = path
            .strip_prefix(folder)?
            .strip_suffix(".md")?
            .to_lowercase();
        let has_prompt = tree
            .below(&format!("{PERSONAS_FOLDER}/{id}"))
            .next()
            .is_some();
        (is_persona_id(&id) && !has_prompt && !OTHER_FILES.contains(&id.as_str())).then_some(id)
    };
    for (path, entry) in tree.iter() {
        let (id, prompt) = if let Some(id) = named(path, GOALS) {
            let Some(goal) = entry.text.as_deref() else {
                continue;
            };
            let prompt = goal_prompt(&id, path, goal);
            (id, prompt)
        } else if let Some(id) = named(path, JOURNALS) {
            let prompt = journal_prompt(&id, path);
            (id, prompt)
        } else {
            continue;
        };
        if found.iter().any(|persona| persona.id == id) {
            continue;
        }
        let pace = history.personas.iter().find(|one| one.name == id);
        found.push(FoundPersona {
            cron: cron_for(found.len(), pace.map_or(0.0, |one| one.per_week)),
            id,
            source: path.to_owned(),
            prompt,
        });
    }
    found
}

/// The names that only titles show, of personas without a prompt. Nothing says what they are for.
pub(super) fn named_by_titles<'h>(
    tree: &Tree,
    history: &'h History,
    personas: &[FoundPersona],
) -> Vec<&'h str> {
    let names = history.personas.iter().map(|one| one.name.as_str());
    let has_prompt = |id: &str| {
        let folder = format!("{PERSONAS_FOLDER}/{id}");
        tree.below(&folder).next().is_some()
    };
    names
        .filter(|name| !personas.iter().any(|one| one.id == *name) && !has_prompt(name))
        .collect()
}

/// Prints the names that `--write` leaves out.
pub(super) fn print_left_out(
    names: &[&str],
    screen: &mut Screen<impl Write>,
    json: bool,
) -> Result<(), CliError> {
    for name in names {
        let line = match json {
            true => json!({ "persona": name, "action": "left out" }).to_string(),
            false => {
                format!("left out {name}: only titles show it, and nothing says what it is for")
            }
        };
        screen.print_line(&line)?;
    }
    Ok(())
}

/// As often as history shows, at most daily, each at a time of its own.
fn cron_for(index: usize, per_week: f64) -> String {
    let (hour, minute) = (3 + index / 8 % 20, 11 + index % 8 * 6);
    let days = match per_week {
        5.0.. => "*",
        3.0.. => "1,3,5",
        1.5.. => "1,4",
        _ => "1",
    };
    format!("{minute} {hour} * * {days}")
}

fn journal_prompt(id: &str, path: &str) -> String {
    let (emoji, aim) = match id {
        "bolt" => ("⚡", "make one thing measurably faster"),
        "palette" => (
            "🎨",
            "make one thing easier for the people who use the interface",
        ),
        "sentinel" => ("🛡️", "close one security hole"),
        _ => (
            "🤖",
            "make one improvement of the kind that your journal tells of",
        ),
    };
    format!(
        "---\nid: {id}\nemoji: \"{emoji}\"\ndescription: Goes on with the work of {path}\n---\n\
         Your one aim today is to {aim}.\n\n\
         How to work:\n\n\
         1. Read `{path}`, your journal: what earlier sessions learned in this repository. Do nothing again that it, or \
         this prompt, says was done or refused.\n\
         2. Choose one thing that people who work here would ask for, and that one of them can review in minutes.\n\
         3. Show the need before you change anything: a measurement, a failing test, or the lines that are wrong.\n\
         4. Make the change, and show by the same means that it works. Run the tests.\n\
         5. Add to your journal only what the next session must know, in five lines at most.\n\n\
         If you find nothing that is worth a person's time, change nothing, and say what you looked at.\n"
    )
}

fn goal_prompt(id: &str, path: &str, goal: &str) -> String {
    let body = goal.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let without_frontmatter = body
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(body.as_str(), |(_, text)| text);
    format!(
        "---\nid: {id}\nemoji: \"🎯\"\ndescription: Works towards the goal of {path}\n---\n{}\n",
        without_frontmatter.trim()
    )
}

/// Writes the prompts and the plan. What is there stays.
pub(super) fn write_files(
    dir: &Path,
    personas: &[FoundPersona],
    screen: &mut Screen<impl Write>,
    json: bool,
) -> Result<(), CliError> {
    if personas.is_empty() {
        if !json {
            screen.print_wrapped(
                "Nothing is written: the default branch has no `.jules/NAME.md` and no `.fleet/goals/NAME.md` of a \
                 persona without a prompt. `phileas init` writes a plan with two personas.",
                0,
            )?;
        }
        return Ok(());
    }
    if dir.exists() && !dir.is_dir() {
        return Err(not_a_folder(dir));
    }
    let mut wanted: Vec<(String, String)> = personas
        .iter()
        .map(|persona| {
            let path = format!("{PERSONAS_FOLDER}/{}/prompt.md", persona.id);
            (path, persona.prompt.clone())
        })
        .collect();
    wanted.push((SCHEDULES_PATH.to_owned(), plan_text(personas)));
    let is_there = |path: &str| dir.join(path).symlink_metadata().is_ok();
    let (kept, new): (Vec<_>, Vec<_>) = wanted.iter().partition(|(path, _)| is_there(path));
    std::fs::create_dir_all(dir).map_err(|error| path_error(dir, &error))?;
    let writes: Vec<(&str, FileWrite<'_>)> = new
        .iter()
        .map(|(path, text)| (path.as_str(), FileWrite::New(text)))
        .collect();
    files::change_files(dir, &writes)?;
    for (files, action) in [(&new, "written"), (&kept, "kept")] {
        for (path, _) in files {
            if json {
                let line = json!({ "file": path, "action": action });
                screen.print_line(&line.to_string())?;
            } else {
                screen.print_line(&format!("{action:<7} {path}"))?;
            }
        }
    }
    if json {
        return Ok(());
    }
    if kept.iter().any(|(path, _)| path == SCHEDULES_PATH) {
        screen.print_line(&format!(
            "The plan was there, so these personas run only with these lines in {SCHEDULES_PATH}:"
        ))?;
        screen.print_lines(schedules_text(personas).trim_end())?;
    }
    screen.print_line(
        "Read the prompts, then: git add .jules && phileas validate && phileas simulate .",
    )?;
    Ok(())
}

/// The table that runs the personas.
fn schedules_text(personas: &[FoundPersona]) -> String {
    let lines = personas
        .iter()
        .map(|persona| format!("{} = \"{}\"\n", persona.id, persona.cron));
    format!("[schedules]\n{}", lines.collect::<String>())
}

fn plan_text(personas: &[FoundPersona]) -> String {
    format!(
        "#:schema {}\n\
         # Written by phileas adopt: each persona runs about as often as it opened pull requests, from once a week to\n\
         # once a day.\n\
         # After a change: phileas validate, and phileas simulate, which shows the coming week before anything runs.\n\n\
         [budget]\nmax_active = 1 # sessions at once\ndaily_sessions = {} # sessions in a rolling day\n\
         max_open_pulls = 3 # nothing new starts while so many pull requests wait for a first review\n\n{}",
        schema_address("schedules"),
        personas.len().clamp(2, 5),
        schedules_text(personas),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use phileas_domain::plan;

    fn history() -> History {
        History::of(&[])
    }

    #[test]
    fn journals_and_goals_are_personas() {
        let tree = Tree::from_texts([
            (".jules/bolt.md", "## 2026-01-01 - x\n"),
            (".jules/README.md", "x"),
            (".jules/exchange/changes.md", "x"),
            (".jules/personas/curator/prompt.md", "x"),
            (".jules/curator.md", "x"),
            (
                ".fleet/goals/tests.md",
                "---\nmilestone: 1\n---\n# Tests\r\n\r\nCover the parser.\n",
            ),
        ]);
        let found = found_personas(&tree, &history());
        let ids: Vec<&str> = found.iter().map(|persona| persona.id.as_str()).collect();
        assert_eq!(ids, ["tests", "bolt"]);
        assert!(
            found[0]
                .prompt
                .ends_with("---\n# Tests\n\nCover the parser.\n")
        );
    }

    #[test]
    fn what_is_written_is_a_plan_without_findings() {
        let tree = Tree::from_texts([
            (".jules/bolt.md", "x"),
            (".jules/palette.md", "x"),
            (".jules/scribe.md", "x"),
            (
                ".fleet/goals/tests.md",
                "Cover the parser: {{ not a template }}",
            ),
        ]);
        let found = found_personas(&tree, &history());
        let mut written = Tree::from_texts([(SCHEDULES_PATH, plan_text(&found))]);
        for persona in &found {
            let path = format!("{PERSONAS_FOLDER}/{}/prompt.md", persona.id);
            written.insert_text(path, &persona.prompt);
        }
        let (plan, findings) = plan::read(&written);
        assert_eq!(findings, []);
        assert_eq!(plan.schedules.len(), 4);
    }

    #[test]
    fn the_pace_of_history_is_kept() {
        for (per_week, days) in [
            (0.0, "1"),
            (1.0, "1"),
            (2.0, "1,4"),
            (3.5, "1,3,5"),
            (9.0, "*"),
        ] {
            assert_eq!(cron_for(0, per_week), format!("11 3 * * {days}"));
        }
        assert_eq!(cron_for(9, 9.0), "17 4 * * *");
    }
}
