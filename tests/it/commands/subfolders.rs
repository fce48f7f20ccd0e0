//! Commands in a folder below the root of a repository.

use super::bench::{Ran, program, run};
use super::fresh::{git, repository};
use crate::support::Folder;

const PROMPT: &str =
    "---\nid: curator\nemoji: \"⚙\"\ndescription: The curator\n---\nDo the work.\n";

/// A repository with a plan, and a folder deep in it.
fn with_plan() -> Folder {
    let folder = repository();
    folder.write(".jules/schedules.toml", "cycle = [\"curator\"]\n");
    folder.write(".jules/personas/curator/prompt.md", PROMPT);
    folder.write("src/deep/lib.rs", "// Nothing yet.\n");
    folder
}

/// The program where a person stands.
fn at(folder: &Folder, place: &str, arguments: &[&str]) -> Ran {
    let mut command = program(arguments);
    command.current_dir(folder.join(place));
    run(command)
}

#[test]
fn a_folder_of_a_repository_is_never_taken_for_the_whole() {
    let folder = with_plan();
    for place in [".", "src/deep", ".jules/personas"] {
        let checked = at(&folder, place, &["validate"]).done();
        assert!(
            checked.out.contains("ok: 1 track with 1 step"),
            "{place}: {checked:?}"
        );
        let list = at(&folder, place, &["persona", "list"]).done();
        assert!(list.out.contains("The curator"), "{place}: {list:?}");
        let week = at(&folder, place, &["simulate", "--json"]).done();
        assert!(week.out.contains("\"curator\""), "{place}: {week:?}");
    }
    let named = ["validate", "src/deep"];
    let checked = at(&folder, ".", &named).done();
    assert!(checked.out.contains("ok: 1 track"), "{checked:?}");

    // What is written stands where it is read.
    let here = "src/deep";
    at(&folder, here, &["task", "new", "Index the examples"]).done();
    at(&folder, here, &["sprint", "new"]).done();
    at(&folder, here, &["persona", "add", "tester"]).done();
    for place in [".", here] {
        let tasks = at(&folder, place, &["task", "list"]).done();
        assert!(tasks.out.contains("1 task\n"), "{place}: {tasks:?}");
    }
    for path in [".jules/sprints/sprint-1", ".jules/personas/tester"] {
        assert!(folder.join(path).is_dir(), "{path}");
    }
    assert!(!folder.join("src/deep/.jules").exists());
    let new = git(&folder, &["status", "--porcelain", "src"]);
    assert_eq!(new, "?? src/\n");
}

/// A folder that has a plan of its own, and is named, is meant; who stands in it means the repository.
#[test]
fn a_plan_below_the_root_is_read_where_it_is_named() {
    let folder = with_plan();
    folder.write(
        "examples/one/.jules/schedules.toml",
        "cycle = [\"absent\"]\n",
    );
    let named = at(&folder, "src", &["validate", "../examples/one"]);
    assert_eq!(named.code, 1, "{named:?}");
    assert!(named.out.contains("no persona `absent`"), "{named:?}");
    at(&folder, "examples/one", &["validate"]).done();

    // Outside of a repository a folder is its own root.
    let bare = Folder::empty();
    bare.write("sub/.jules/schedules.toml", "cycle = [\"absent\"]\n");
    let beside = at(&bare, "sub", &["validate"]);
    assert!(beside.out.contains("no persona `absent`"), "{beside:?}");
}

/// A checkout of the ledger may lie in another repository.
#[test]
fn a_ledger_in_a_repository_is_read_where_it_is() {
    let folder = with_plan();
    folder.write("copies/ledger/.jules/exchange/events/pending/.gitkeep", "");
    let ledger = "copies/ledger";
    for command in ["check", "inspect", "migrate"] {
        for (place, named) in [
            (ledger, &[][..]),
            (ledger, &["."]),
            (ledger, &["./"]),
            ("copies", &["ledger"]),
            (".", &[ledger]),
        ] {
            at(&folder, place, &[&["exchange", command], named].concat()).done();
        }
    }
}
