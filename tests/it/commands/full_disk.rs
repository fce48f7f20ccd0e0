//! Commands that write files where there is no room for all of them: everything is written or nothing, and no temporary
//! file is left. A limit of the size of files stands for the full disk; it refuses a write in the same way.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, Phileas};

/// Everything below a folder: what each file says, and the folders.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), None);
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, Some(bytes));
            }
        }
    }
    found
}

/// Runs a command under limits that grow until it can do its work. Until then it changes nothing and says why.
#[track_caller]
fn is_all_or_nothing(folder: &Path, words: &[&str], set: impl Fn(&mut Command)) {
    let before = tree(folder);
    let small = (0..40).map(|step| step * 100);
    let large = (12..20).map(|power| 1 << power);
    for (refused, limit) in small.chain(large).enumerate() {
        let program = Phileas::new(words).limited(&format!("--fsize={limit}"));
        let mut command = program.into_command();
        set(&mut command);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            assert!(refused > 0, "{words:?} writes nothing");
            assert_ne!(tree(folder), before, "{words:?}");
            return;
        }
        assert!(output.status.code().is_some(), "{words:?}: {output:?}");
        let after = tree(folder);
        let names = |tree: &BTreeMap<PathBuf, _>| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(&after),
            names(&before),
            "{words:?} with {limit} bytes: {said}"
        );
        assert_eq!(after, before, "{words:?} with {limit} bytes: {said}");
        assert!(
            said.contains("too large") || said.contains("room"),
            "{words:?}: {said}"
        );
    }
    panic!("{words:?} is never done");
}

#[track_caller]
fn in_place(folder: &Folder, words: &[&str]) {
    is_all_or_nothing(folder.path(), words, |_| {});
}

fn repository() -> Folder {
    Folder::repository("cycle = [\"a\", \"b\"]\n", &["a", "b"])
}

fn task(status: &str, length: usize) -> String {
    format!(
        "---\nstatus: {status}\ntitle: T\n---\n{}\n",
        "x".repeat(length)
    )
}

#[test]
fn a_task_is_moved_with_its_status_or_not_at_all() {
    let folder = repository();
    folder.write(".jules/tasks/todo/20260110-0900-x.md", &task("todo", 500));
    in_place(
        &folder,
        &["task", "move", "20260110-0900-x", "done", folder.text()],
    );
    let text = fs::read_to_string(folder.join(".jules/tasks/done/20260110-0900-x.md")).unwrap();
    assert_eq!(text, task("done", 500));
}

#[test]
fn a_task_is_written_down_or_taken_whole() {
    let folder = repository();
    folder.write(".jules/tasks/todo/20260110-0900-x.md", &task("todo", 500));
    in_place(&folder, &["task", "new", "Write more", folder.text()]);
    let claim = ["task", "claim", "20260110-0900-x", "--persona", "a"];
    in_place(&folder, &[&claim[..], &[folder.text()]].concat());
}

#[test]
fn all_that_lint_repairs_is_repaired_or_nothing() {
    let folder = repository();
    // In the order in which they are written: the last one needs most room.
    folder.write(".jules/tasks/done/20260110-0900-x.md", &task("todo", 100));
    folder.write(".jules/tasks/done/20260111-0900-y.md", &task("todo", 800));
    folder.write(
        ".jules/tasks/cancelled/20260112-0900-z.md",
        &task("cancelled", 1_500),
    );
    in_place(&folder, &["task", "check", "--fix", folder.text()]);
    let text = fs::read_to_string(folder.join(".jules/tasks/canceled/20260112-0900-z.md"));
    assert_eq!(text.unwrap(), task("canceled", 1_500));
}

#[test]
fn all_files_of_a_sprint_are_written_or_none() {
    let folder = repository();
    let personas = ["--persona", "a", "--persona", "b"];
    let words = [
        &["sprint", "new", "--number", "1", folder.text()],
        &personas[..],
    ]
    .concat();
    in_place(&folder, &words);
    assert_eq!(
        fs::read_dir(folder.join(".jules/sprints/sprint-1"))
            .unwrap()
            .count(),
        3
    );
}

#[test]
fn all_files_of_a_set_up_are_written_or_none() {
    let folder = Folder::empty();
    folder.write(".jlo/setup/tools.yml", "tools: [gh, python]");
    in_place(&folder, &["setup", "gen", folder.text()]);
    for name in ["install.sh", "secrets.toml", "vars.toml", ".gitignore"] {
        assert!(folder.join(".jlo/setup").join(name).is_file(), "{name}");
    }
}

#[test]
fn an_artifact_is_written_with_its_trace_or_not_at_all() {
    let folder = Folder::empty();
    let outside = Folder::empty();
    let plan = r#"{
  "affected_files": ["src/parse.rs"],
  "steps": [{ "order": 1, "action": "modify", "file": "src/parse.rs", "description": "Take an empty line." }],
  "acceptance_mapping": { "AC-1: an empty line is no error": "tests/parse.rs::empty_line" }
}"#;
    folder.write(".pipeline/config.toml", "");
    for (plan, file) in [
        (plan.to_owned(), "one"),
        (plan.replace("Take", "Refuse"), "two"),
    ] {
        outside.write(file, &plan);
        let input = outside.join(file);
        let words = ["pipeline", "write", "plan", "--issue", "X-1"];
        is_all_or_nothing(folder.path(), &words, |command| {
            command.current_dir(folder.path());
            command.stdin(File::open(&input).unwrap());
        });
    }
}

#[test]
fn a_job_is_added_whole() {
    let folder = Folder::empty();
    let jobs = folder.join("jobs.jsonl");
    // The file and its lock are there, and what is appended to is as long as it was.
    let add = |id: &str| ["agent", "jobs", "add", id].map(str::to_owned).to_vec();
    let places = ["--jobs", jobs.to_str().unwrap()];
    let first = add("1");
    let first: Vec<&str> = first.iter().map(String::as_str).chain(places).collect();
    Phileas::new(&first).run().expect(0);
    let second = add("2");
    let second: Vec<&str> = second.iter().map(String::as_str).chain(places).collect();
    in_place(&folder, &second);
}

#[test]
fn nothing_is_written_through_a_link() {
    let folder = Folder::empty();
    let outside = Folder::empty();
    outside.write("jobs.jsonl", "");
    outside.write("state.json", "{}");
    let before = tree(outside.path());
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(outside.join(to), folder.join(from)).unwrap();
    };
    link("jobs.jsonl", "jobs.jsonl");
    link("new.jsonl", "dangling.jsonl");
    link("lock", "locked.jsonl.lock");
    for file in ["jobs.jsonl", "dangling.jsonl", "locked.jsonl"] {
        let file = folder.join(file);
        let words = [
            "agent",
            "jobs",
            "add",
            "1",
            "--jobs",
            file.to_str().unwrap(),
        ];
        let ended = Phileas::new(&words).run().expect(2);
        assert!(ended.err.contains("is a symbolic link"), "{ended}");
    }
    // The usual place is in the present folder, which may be another person's repository.
    let here = Folder::empty();
    std::os::unix::fs::symlink(outside.path(), here.join(".phileas")).unwrap();
    let mut command = Phileas::new(&["agent", "jobs", "add", "1"]).into_command();
    let output = command.current_dir(here.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(tree(outside.path()), before);
}

/// The audit log, the lock and the inbox are files of the data directory, and of no other place.
#[test]
fn a_service_writes_through_no_link() {
    for name in ["lock", "inbox.sqlite3", "audit.jsonl"] {
        let data = Folder::empty();
        let outside = Folder::empty();
        std::os::unix::fs::symlink(outside.join("there"), data.join(name)).unwrap();
        let words = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--data-dir",
        ];
        let ended = Phileas::new(&[&words[..], &[data.text()]].concat())
            .env("PHILEAS_WEBHOOK_SECRET", "0123456789abcdef0123456789abcdef")
            .run();
        assert!(!ended.status.success(), "{ended}");
        assert!(ended.err.contains("symbolic link"), "{name}: {ended}");
        assert!(tree(outside.path()).is_empty(), "{name}");
    }
}
