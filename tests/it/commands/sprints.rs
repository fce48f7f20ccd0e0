//! `phileas sprint`, and what a tick reads of what personas leave for one another.

use phileas_domain::board::TASKS_FOLDER;
use serde_json::Value;

use super::bench::{Bench, alone, bench};
use crate::support::Folder;

const ON: &str = "cycle = [\"scout\", \"refactor\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 20\ndaily_sessions = 20\n[sprints]\n";

/// A persona whose prompt has no blocks, so that everything is added to it.
const SCOUT: &str = "---\nid: scout\n---\nLook round.\n";

/// The newcomer's repository with these files over its own.
fn with(files: &[(&str, &str)]) -> Bench {
    let files: Vec<(String, String)> = files
        .iter()
        .chain(&[(".jules/personas/scout/prompt.md", SCOUT)])
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    let bench = bench();
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let files: Vec<_> = files
        .into_iter()
        .map(|(path, text)| (path, Some(text.into())))
        .collect();
    let head = github.branch_head(bench.repo, "main");
    let commit = github.commit_files(bench.repo, head, &files, "maintainer", "By hand", now);
    github.move_branch(bench.repo, "main", commit, "maintainer", now);
    drop(world);
    bench
}

/// The prompts of all sessions, the oldest first.
fn prompts(bench: &Bench) -> Vec<String> {
    let books = bench.shared.lock_world().books().clone();
    let books = serde_json::to_value(&books).unwrap();
    let sessions = books["sessions"].as_array().unwrap();
    let of = |session: &Value| session["prompt"].as_str().unwrap().to_owned();
    sessions.iter().map(of).collect()
}

/// How many requests the last tick sent to GitHub and to Jules.
fn cost(ran: &super::bench::Ran) -> (u64, u64) {
    let lines = ran.lines();
    let summary = &lines.last().unwrap()["summary"];
    let of = |key: &str| summary[key].as_u64().unwrap();
    (of("github_requests"), of("jules_requests"))
}

#[test]
fn a_repository_without_the_table_has_no_sprints() {
    let bench = bench();
    bench.tick();
    let said = bench.run(&["sprint", "status"]).done().out;
    assert!(said.contains("[sprints]"), "{said}");
    let json = bench.run(&["sprint", "status", "--json"]).done().json();
    assert_eq!(
        (&json["on"], &json["sprint"]),
        (&false.into(), &Value::Null)
    );
    bench
        .run(&["sprint", "advance"])
        .refused(2, "has no sprints");
    assert_eq!(bench.state().sprint, None);
}

#[test]
fn the_sprint_goes_on_when_the_track_comes_round_and_by_hand() {
    let bench = with(&[
        (".jules/schedules.toml", ON),
        (
            ".jules/sprints/sprint-1/scout-plan.md",
            "Ours is the README.",
        ),
        (
            ".jules/sprints/sprint-2/scout-plan.md",
            "Then the help texts.",
        ),
    ]);
    let state = bench.until(|state| state.tracks["default"].seq >= 3);
    assert_eq!((state.sprint, state.tracks["default"].passes), (Some(2), 1));
    let prompts = prompts(&bench);
    assert!(prompts[0].contains("This is sprint 1.") && prompts[0].contains("Ours is the README."));
    assert!(
        prompts[2].contains("This is sprint 2.") && prompts[2].contains("Then the help texts.")
    );
    let json = bench.run(&["sprint", "status", "--json"]).done().json();
    assert_eq!(json["sprint"], 2);
    assert_eq!(json["files"][0], ".jules/sprints/sprint-2/scout-plan.md");
    let said = bench.run(&["sprint", "advance"]).done().out;
    assert_eq!(said, "this is sprint 3 now\n");
    assert_eq!(bench.state().sprint, Some(3));
}

/// Tasks, sprint files and journals are read by one further request, for the start alone.
#[test]
fn an_idle_tick_stays_at_one_request_whatever_lies_there() {
    let bench = with(&[
        (".jules/schedules.toml", ON),
        (".jules/sprints/sprint-1/scout-plan.md", "Ours."),
        (
            ".jules/personas/scout/journals/2026-01-04-0900-Day.md",
            "---\ntitle: Day\n---\nSeen.\n",
        ),
        (
            &format!("{TASKS_FOLDER}/todo/20260104-0900-x.md"),
            "---\ntitle: X\npersona: scout\n---\nFix it.\n",
        ),
        (
            &format!("{TASKS_FOLDER}/done/20260103-0900-y.md"),
            "---\ntitle: Y\n---\nLong ago.\n",
        ),
    ]);
    let first = bench.tick();
    let told = &prompts(&bench)[0];
    for part in ["Fix it.", "Seen.", "Ours."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("Long ago."), "{told}");
    // One read, one for all that is quoted, the ledger's birth or intent, and what settles it.
    let (with_files, _) = cost(&first);
    let bare = with(&[(".jules/schedules.toml", ON)]);
    let (without, _) = cost(&bare.tick());
    assert_eq!(with_files, without + 1);
    bench.tick();
    let idle = bench.tick();
    assert_eq!(cost(&idle).0, 1, "{idle:?}");
}

#[test]
fn the_files_of_a_sprint_are_begun_and_nothing_is_overwritten() {
    let folder = Folder::repository("cycle = [\"a\", \"b\"]\n[sprints]\n", &["a", "b"]);
    let dir = [folder.text()];
    let run = |words: &[&str]| alone(&[&["sprint", "new"], words, &dir].concat());
    run(&["--persona", "a", "--persona", "b"]).done();
    let readme = folder.join(".jules/sprints/sprint-1/README.md");
    std::fs::write(&readme, "Ours.\n").unwrap();
    alone(&["task", "check", "--strict", folder.text()]).done();
    assert!(
        run(&["--number", "1", "--persona", "a"])
            .done()
            .out
            .contains("there already")
    );
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "Ours.\n");
    run(&[]).done();
    assert!(folder.join(".jules/sprints/sprint-2/README.md").exists());
    run(&["--persona", "c"]).refused(2, "there is no persona `c`");
    run(&["--number", "0"]).refused(2, "0");
    // One that only has a README is empty.
    let ran = alone(&["task", "check", folder.text()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("sprint 2 is empty"), "{ran:?}");
}
