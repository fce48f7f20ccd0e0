//! `phileas task` and `persona journal`: what personas leave for one another, as people and scripts meet it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::bench::{Ran, alone};
use crate::support::Folder;

/// A repository with what agents have made of such folders elsewhere.
fn rotten() -> Folder {
    let folder = Folder::repository(
        "cycle = [\"curator\", \"tester\"]\n",
        &["curator", "tester"],
    );
    for (path, text) in [
        // Copied where it should have been moved.
        (
            ".jules/tasks/in_progress/20260110-0900-retry.md",
            "---\nid: 20260110-0900-retry\nstatus: in_progress\ntitle: Retry\n---\nBody.\n",
        ),
        (
            ".jules/tasks/done/20260110-0900-retry.md",
            "---\nid: 20260110-0900-retry\nstatus: in_progress\ntitle: Retry\n---\nBody.\n",
        ),
        // Moved without its status.
        (
            ".jules/tasks/done/20260111-0900-index.md",
            "---\r\nid: '20260111-0900-index'\r\nstatus: todo # when?\r\ntitle: \"Index\"\r\ntags: [ docs ,tests]\r\n---\r\n\r\n# Índex  \r\n\tstatus: todo\r\n",
        ),
        // Written by a shell that was none.
        (
            ".jules/tasks/todo/20260112-0900-cache.md",
            "---\nid: \"${TIMESTAMP}-cache\"\nstatus: todo\ntitle: Cache\ncreated_at: $(date)\nassigned_persona: curater\n---\nNo line feed at the end",
        ),
        (
            ".jules/tasks/todo/${TIMESTAMP}-limits.md",
            "---\nid: ${TIMESTAMP}-limits\nstatus: todo\ntitle: Limits\n---\nBody.\n",
        ),
        (
            ".jules/tasks/todo/20260113-0900-broken.md",
            "---\nid: 20260113-0900-broken\ntitle: a: b\n---\nBody.\n",
        ),
        (
            ".jules/tasks/doing/20260114-0900-x.md",
            "---\ntitle: X\n---\n",
        ),
        (".jules/tasks/loose.md", "Nowhere.\n"),
        (
            ".jules/tasks/todo/20260115-0900-sound.md",
            "---\nid: 20260115-0900-sound\nstatus: todo\ntitle: Sound\npersona: tester\n---\nBody.\n",
        ),
        (".jules/tasks/README.md", "# Tasks\n"),
        (".jules/sprints/sprint-1/curator-plan.md", "The plan.\n"),
        (".jules/sprints/sprint-1/tester-feedback.md", " \n"),
        (
            ".jules/sprints/sprint-2/README.md",
            "# Sprint 2\n\nStatus: Planned\n",
        ),
        (".jules/sprints/current.txt", "two\n"),
        (
            ".jules/personas/curator/journals/2026-01-10-0900-Sound.md",
            "---\ntitle: Sound\ndate: 2026-01-10\nauthor: curator\ntype: journal\n---\nSeen.\n",
        ),
        (
            ".jules/personas/curator/journals/2026-01-11-0900-Faked.md",
            "---\ntitle: Faked\ndate: 2024-05-20\nauthor: curator\ntype: journal\n---\nSeen.\n",
        ),
        (
            ".jules/personas/curator/journals/2026-01-12-0900-Broken.md",
            "---\ntitle: \"Broken\ndate: 2026-01-12\n---\nSeen.\n",
        ),
        (
            ".jules/personas/curator/journals/2026-01-14-0900-Conflict.md",
            "---\ntitle: C\ndate: 2026-01-14\nauthor: curator\ntype: journal\n---\n<<<<<<< HEAD\nA\n",
        ),
        (
            ".jules/personas/tester/journals/2099-01-01-0900-Future.md",
            "No head.\n",
        ),
    ] {
        folder.write(path, text);
    }
    let unreadable = folder.join(".jules/personas/curator/journals/2026-01-13-0900-Latin.md");
    fs::write(unreadable, b"---\ntitle: \xfcber\n---\n").unwrap();
    fs::create_dir_all(folder.join(".jules/sprints/sprint-3")).unwrap();
    folder
}

/// Every file of a folder, to the byte.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(at: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                found.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

#[track_caller]
fn assert_lines(ran: &Ran, wanted: &[&str]) {
    for line in wanted {
        assert!(
            ran.out.lines().any(|said| said.contains(line)),
            "{line:?} is not in\n{}",
            ran.out
        );
    }
}

#[test]
fn rot_is_listed_with_its_locations_and_fix_repairs_only_what_is_safe() {
    let folder = rotten();
    let before = bytes(folder.path());
    let ran = alone(&["task", "check", folder.text()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(bytes(folder.path()), before, "looking changes nothing");
    assert_lines(
        &ran,
        &[
            ".jules/tasks/done/20260110-0900-retry.md:1:1: error: the task `20260110-0900-retry` is in several states: `done`, `in_progress`; from the root, keep the true one: rm .jules/tasks/done/20260110-0900-retry.md, or rm .jules/tasks/in_progress/20260110-0900-retry.md",
            ".jules/tasks/done/20260111-0900-index.md:3:9: error: the status is `todo`, and the file lies in `done` (at status); the folder counts: write `status: done`, or say phileas task move 20260111-0900-index todo",
            ".jules/tasks/todo/20260112-0900-cache.md:2:5: error: the id `${TIMESTAMP}-cache` contains an unfilled placeholder (at id); write `id: 20260112-0900-cache`",
            ".jules/tasks/todo/20260112-0900-cache.md:5:13: warning: `$(date)` is not a time (at created_at)",
            ".jules/tasks/todo/20260112-0900-cache.md:6:19: warning: there is no persona `curater`, so no persona gets it (at assigned_persona); did you mean `curator`?",
            ".jules/tasks/todo/${TIMESTAMP}-limits.md: error: its name contains an unfilled placeholder",
            ".jules/tasks/todo/20260113-0900-broken.md:3:9: error: this is not YAML",
            ".jules/tasks/doing: error: no state is called `doing`",
            ".jules/tasks/loose.md: error: it lies in no state's folder",
            ".jules/sprints/sprint-1/tester-feedback.md:1:1: warning: nothing stands in it",
            ".jules/sprints/sprint-2: error: sprint 2 is empty: it has neither a plan nor feedback",
            ".jules/sprints/sprint-3: error: sprint 3 is empty",
            ".jules/sprints/current.txt: warning: this is not the number of a sprint",
            ".jules/personas/curator/journals/2026-01-11-0900-Faked.md:3:7: error: the date is 2024-05-20, and the file's name says 2026-01-11 (at date)",
            ".jules/personas/curator/journals/2026-01-12-0900-Broken.md:",
            ".jules/personas/curator/journals/2026-01-13-0900-Latin.md:2:8: error: it is not text in UTF-8",
            ".jules/personas/curator/journals/2026-01-14-0900-Conflict.md:7:1: error: there are marks of a merge conflict in it",
            ".jules/personas/tester/journals/2099-01-01-0900-Future.md: error: its name says 2099-01-01, which is to come",
            ".jules/personas/tester/journals/2099-01-01-0900-Future.md:1:1: error: it does not begin with frontmatter",
            "; --fix fixes what has only one solution, in 2 files",
        ],
    );
    for sound in ["0900-sound", "0900-Sound", "curator-plan", "README"] {
        assert!(!ran.out.contains(sound), "{sound}: {}", ran.out);
    }

    let fixed = alone(&["task", "check", "--fix", folder.text()]);
    assert_eq!(fixed.code, 1, "what only people can fix is left: {fixed:?}");
    assert_lines(
        &fixed,
        &[
            ".jules/tasks/done/20260111-0900-index.md: fixed: wrote `status: done`",
            ".jules/tasks/todo/20260112-0900-cache.md: fixed: wrote `id: 20260112-0900-cache`",
            "is in several states",
        ],
    );
    let mut wanted = before;
    let mut replace = |path: &str, old: &str, new: &str| {
        let text = String::from_utf8(wanted[path].clone()).unwrap();
        assert!(text.contains(old), "{text}");
        wanted.insert(path.to_owned(), text.replacen(old, new, 1).into_bytes());
    };
    replace(
        ".jules/tasks/done/20260111-0900-index.md",
        "status: todo # when?",
        "status: done # when?",
    );
    replace(
        ".jules/tasks/todo/20260112-0900-cache.md",
        "id: \"${TIMESTAMP}-cache\"",
        "id: \"20260112-0900-cache\"",
    );
    assert_eq!(bytes(folder.path()), wanted, "every other byte stays");
    let again = alone(&["task", "check", "--fix", folder.text()]);
    assert!(!again.out.contains("fixed:"), "{}", again.out);
    assert_eq!(bytes(folder.path()), wanted);
}

#[test]
fn findings_are_for_programs_too_and_kinds_can_be_chosen() {
    let folder = rotten();
    let lines = alone(&["task", "check", "--json", folder.text()]).lines();
    let of = |key: &str| lines.iter().find(|line| line["key"] == key).unwrap();
    assert_eq!(
        (&of("status")["line"], &of("status")["column"]),
        (&3.into(), &9.into())
    );
    let only = alone(&["task", "check", "--only", "sprints", folder.text()]);
    assert!(
        only.out.contains("sprint-2") && !only.out.contains("tasks/"),
        "{only:?}"
    );
    let journal = alone(&[
        "persona",
        "journal",
        "--persona",
        "tester",
        "--check",
        folder.text(),
    ]);
    assert_eq!(journal.code, 1, "{journal:?}");
    assert!(!journal.out.contains("curator"), "{journal:?}");
    let sound = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    alone(&["task", "check", "--strict", sound.text()]).done();
    alone(&["task", "check", "/no/such/folder"]).refused(2, "no such folder");
    // A folder of partials is no persona.
    sound.write(".jules/personas/partials/head.md", "Be brief.\n");
    for id in ["partial", "partials"] {
        let ran = alone(&["persona", "journal", "--persona", id, sound.text()]);
        ran.refused(2, &format!("there is no persona `{id}`; there are: a\n"));
    }
    // git holds no empty folder, so only a work tree has this mistake.
    fs::create_dir_all(sound.join(".jules/tasks/todo/dir.md")).unwrap();
    let ran = alone(&["task", "check", sound.text()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_lines(&ran, &[".jules/tasks/todo/dir.md: error: it is a folder"]);
}

/// What lint offers for a task in two states works, whether git knows the files or not, and whatever they are called.
#[test]
fn the_commands_that_lint_offers_work() {
    let id = "20260110-0900-it's ${odd}";
    let (todo, done) = (
        format!(".jules/tasks/todo/{id}.md"),
        format!(".jules/tasks/done/{id}.md"),
    );
    let other = ".jules/tasks/done/20260111-0900-b.md";
    let text = "---\nstatus: in_progress\ntitle: T\n---\n";
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    for path in [&*todo, &*done, other] {
        folder.write(path, text);
    }
    let lint = || alone(&["task", "check", "--json", folder.text()]).lines();
    let fixes = |path: &str| -> Vec<String> {
        let lines = lint();
        let of_it = lines.iter().filter(|line| line["file"] == path);
        of_it
            .map(|line| line["help"].as_str().unwrap().to_owned())
            .collect()
    };
    // Nothing is offered that would be refused: which of the two is true only a person knows.
    let all = [fixes(&todo), fixes(&done)].concat();
    assert!(
        all.iter().all(|help| !help.contains("task move")),
        "{all:?}"
    );
    let offered = all
        .iter()
        .find_map(|help| help.strip_prefix("from the root, keep the true one: "));
    let (first, second) = offered.unwrap().split_once(", or ").unwrap();
    assert_ne!(first, second);
    shell(&folder, first);
    assert_eq!(
        [&todo, &done].map(|path| folder.join(path).exists()),
        [true, false]
    );
    assert!(
        lint()
            .iter()
            .all(|line| !line["message"].as_str().unwrap().contains("several"))
    );
    // Of one that lies in one place the move is offered, and made.
    let all = fixes(other);
    let offered = all
        .iter()
        .find_map(|help| help.split_once("or say "))
        .unwrap()
        .1;
    shell(&folder, offered);
    assert!(
        folder
            .join(".jules/tasks/in_progress/20260111-0900-b.md")
            .exists()
    );
    assert!(!folder.join(other).exists());
}

/// A command as a person copies it.
#[track_caller]
fn shell(folder: &Folder, command: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_phileas")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(program.to_owned()).chain(std::env::split_paths(&path));
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.path())
        .env("PATH", std::env::join_paths(path).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}

/// A folder that is spelled otherwise holds the same tasks, and is brought home where nothing is in the way.
#[test]
fn other_spellings_of_a_state_are_read_and_brought_home() {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    let text = "---\nid: 20260110-0900-x\nstatus: cancelled\ntitle: X\n---\nBody.\n";
    folder.write(".jules/tasks/cancelled/20260110-0900-x.md", text);
    let list = alone(&["task", "list", "--json", folder.text()])
        .done()
        .json();
    assert_eq!(list["state"], "canceled");
    alone(&["task", "check", "--fix", "--strict", folder.text()]).done();
    let home = folder.join(".jules/tasks/canceled/20260110-0900-x.md");
    assert_eq!(
        fs::read_to_string(home).unwrap(),
        text.replace("cancelled", "canceled")
    );
}

/// A task that is not listed would be missed, and a claim of it must not call it missing.
#[test]
#[cfg(unix)]
fn a_task_that_cannot_be_read_is_named_with_the_reason() {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    let todo = |name: &str| folder.join(".jules/tasks/todo").join(name);
    folder.write(
        ".jules/tasks/todo/20260110-0900-x.md",
        "---\ntitle: X\n---\n",
    );
    fs::write(todo("large.md"), " ".repeat(2 << 20)).unwrap();
    fs::write(todo("latin.md"), b"---\ntitle: caf\xe9\n---\n").unwrap();
    std::os::unix::fs::symlink("nowhere.md", todo("linked.md")).unwrap();
    let listed = alone(&["task", "list", folder.text()]).refused(1, "large.md");
    assert!(listed.out.ends_with("1 task\n"), "{listed:?}");
    let listed_json = alone(&["task", "list", "--json", folder.text()]);
    assert_eq!(listed_json.code, 1);
    let lines = listed_json.lines();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (id, place, why) in [
        ("large", "large.md", "larger than"),
        ("latin", "latin.md:2:11", "not text in UTF-8"),
        ("linked", "linked.md", "a symbolic link"),
    ] {
        let said = format!(".jules/tasks/todo/{place}: error: it is {why}");
        assert!(listed.err.contains(&said), "{listed:?}");
        let is_told = |line: &serde_json::Value| {
            let message = line["message"].as_str().unwrap_or_default();
            message.contains(why)
        };
        assert!(lines.iter().any(is_told), "{lines:?}");
        let said = format!("the task `{id}` cannot be read: {said}");
        alone(&["task", "claim", id, "--persona", "a", folder.text()]).refused(1, &said);
        alone(&["task", "move", &id[..3], "done", folder.text()]).refused(1, "the task `l");
    }
    // A readable task of the same beginning, or of the same id, may not be the one that is meant.
    folder.write(".jules/tasks/todo/latch.md", "---\ntitle: X\n---\n");
    alone(&["task", "move", "lat", "done", folder.text()]).refused(2, "several tasks");
    folder.write(".jules/tasks/done/latin.md", "---\ntitle: X\n---\n");
    alone(&["task", "move", "latin", "todo", folder.text()]).refused(1, "the task `latin` cannot");
}

/// It may be a task of any persona, so a script must not take the list for complete.
#[test]
fn a_task_whose_frontmatter_cannot_be_read_is_listed_and_named() {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    let path = ".jules/tasks/todo/20260110-0900-x.md";
    folder.write(path, "---\nid: [\n---\nBody.\n");
    let said = format!("{path}:3:1: error: this is not YAML");
    let listed = alone(&["task", "list", folder.text()]).refused(1, &said);
    assert!(listed.out.ends_with("1 task\n"), "{listed:?}");
    let said = format!("the task `20260110-0900-x` cannot be read: {said}");
    alone(&["task", "move", "2026", "done", folder.text()]).refused(1, &said);
}

/// The tasks behind a link are not read, so a list without them must not pass for a whole one.
#[test]
#[cfg(unix)]
fn a_link_in_place_of_a_folder_of_tasks_is_named() {
    for path in [".jules/tasks", ".jules/tasks/todo"] {
        let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
        let link = folder.join(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/etc", link).unwrap();
        let said = format!(
            "{path}: error: it is a symbolic link, and links are not followed; put the folder itself here\n"
        );
        let listed = alone(&["task", "list", folder.text()]).refused(1, &said);
        assert_eq!(listed.out, "0 tasks\n");
        let checked = alone(&["task", "check", folder.text()]);
        assert_eq!(checked.code, 1, "{checked:?}");
        assert_eq!(
            checked.out,
            format!("{said}not ok: 1 error, 0 warnings\n"),
            "{checked:?}"
        );
    }
}

/// One change that fails keeps no other from being made, is told, and counts.
#[test]
fn a_change_that_fails_is_told_and_the_others_are_made() {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    let wrong = "---\nstatus: done\ntitle: T\n---\n";
    let (first, second) = (
        ".jules/tasks/cancelled/20260110-0900-x.md",
        ".jules/tasks/todo/20260111-0900-y.md",
    );
    folder.write(first, wrong);
    folder.write(second, wrong);
    // Something that is no task's file stands where the first one is to go.
    fs::create_dir_all(folder.join(".jules/tasks/canceled/20260110-0900-x.md")).unwrap();
    let ran = alone(&["task", "check", "--fix", folder.text()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_lines(
        &ran,
        &[
            ".jules/tasks/cancelled/20260110-0900-x.md: error: it was not fixed: ",
            ".jules/tasks/todo/20260111-0900-y.md: fixed: wrote `status: todo`",
        ],
    );
    let text = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    assert_eq!(text(first), wrong);
    assert_eq!(text(second), wrong.replace("done", "todo"));
    let lines = alone(&["task", "check", "--fix", "--json", folder.text()]).lines();
    let failed = lines.iter().filter(|line| {
        let said = line["message"].as_str().unwrap_or_default();
        said.contains("it was not fixed") && line["severity"] == "error"
    });
    assert_eq!(failed.count(), 1, "{lines:?}");
    fs::remove_dir(folder.join(".jules/tasks/canceled/20260110-0900-x.md")).unwrap();
    alone(&["task", "check", "--fix", folder.text()]).done();
}

#[test]
fn a_task_goes_from_hand_to_hand() {
    let folder = Folder::repository(
        "cycle = [\"curator\", \"tester\"]\n",
        &["curator", "tester"],
    );
    let dir = [folder.text()];
    let run = |words: &[&str]| alone(&[words, &dir].concat());
    let new = [
        "task",
        "new",
        "Close the file",
        "--tag",
        "tester",
        "--by",
        "curator",
        "--json",
    ];
    let made = run(&new).done().json();
    let file = made["file"].as_str().unwrap();
    let id = file
        .rsplit('/')
        .next()
        .unwrap()
        .strip_suffix(".md")
        .unwrap();
    assert!(
        file.starts_with(".jules/tasks/todo/2") && file.ends_with("-close-the-file.md"),
        "{file}"
    );
    alone(&["task", "check", "--strict", folder.text()]).done();
    // Only the personas that take tasks with that tag are told of it.
    let render = |who: &str| alone(&["persona", "render", who, folder.text()]).done().out;
    assert!(render("tester").contains(&format!("--- Task: {file} ---\nClose the file")));
    assert!(!render("curator").contains("Close the file"));
    let mine = alone(&["task", "list", "--persona", "tester", folder.text()]).done();
    assert!(
        mine.out.contains("Close the file") && mine.out.ends_with("1 task\n"),
        "{mine:?}"
    );

    run(&["task", "claim", &id[..15], "--persona", "tester"]).done();
    run(&["task", "claim", id, "--persona", "curator"]).refused(1, "is in_progress, by tester");
    assert!(!folder.join(file).exists());
    run(&["task", "claim", id, "--persona", "absent", "--reassign"]).refused(
        2,
        "there is no persona `absent`, so nothing was written; there are `curator`, `tester`",
    );
    let taken = run(&["task", "claim", id, "--persona", "curator", "--reassign"]).done();
    assert!(
        taken.out.contains("curator is at it in place of tester"),
        "{taken:?}"
    );
    run(&["task", "claim", id, "--persona", "tester", "--reassign"]).done();
    run(&["task", "move", id, "done"]).done();
    let list = alone(&["task", "list", "--json", folder.text()])
        .done()
        .json();
    assert_eq!(
        (&list["state"], &list["persona"]),
        (&"done".into(), &"tester".into())
    );
    alone(&["task", "check", "--strict", folder.text()]).done();
    assert!(!render("tester").contains("Close the file"));
    run(&["task", "move", "nothing", "todo"]).refused(2, "there is no task `nothing`");
    run(&["task", "new", " "]).refused(2, "the title is empty");
    run(&["task", "new", "X", "--persona", "absent"]).refused(2, "there is no persona `absent`");
}

/// A name that no persona can have is refused even where there are no personas.
#[test]
fn a_task_is_for_a_name_that_a_persona_can_have() {
    let folder = Folder::empty();
    let task = ".jules/tasks/todo/20260110-0900-x.md";
    folder.write(task, "---\ntitle: X\n---\n");
    for name in ["bad persona", "", "a\nb", "-x"] {
        let who = format!("--persona={name}");
        for words in [["claim", "20260110"], ["new", "Y"]] {
            alone(&["task", words[0], words[1], &who, folder.text()])
                .refused(2, "cannot be a persona's id, so nothing was written");
        }
    }
    let claim = ["task", "claim", "20260110", "--persona", "other_agent"];
    alone(&[&claim[..], &[folder.text()]].concat()).done();
}

/// Of many who reach for one task, one gets it.
#[test]
fn a_task_is_claimed_once() {
    let names: Vec<String> = (0..8).map(|who| format!("p{who}")).collect();
    let personas: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = Folder::repository("cycle = [\"p0\"]\n", &personas);
    folder.write(
        ".jules/tasks/todo/20260110-0900-x.md",
        "---\ntitle: X\n---\n",
    );
    let claim = |who: usize| {
        let who = format!("p{who}");
        let words = [
            "task",
            "claim",
            "20260110",
            "--persona",
            &who,
            folder.text(),
        ];
        alone(&words).code
    };
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..8).map(|who| scope.spawn(move || claim(who))).collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    assert_eq!(
        codes.iter().filter(|code| **code == 0).count(),
        1,
        "{codes:?}"
    );
    alone(&["task", "check", folder.text()]).done();
}

#[test]
fn a_journal_is_read_as_the_prompt_shows_it() {
    let folder = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    for day in 1..=12 {
        folder.write(
            &format!(".jules/personas/curator/journals/2026-01-{day:02}-0900-Day.md"),
            &format!("---\ntitle: Day\ndate: 2026-01-{day:02}\n---\nSeen {day}.\n"),
        );
    }
    let dir = [folder.text()];
    let run = |words: &[&str]| alone(&[words, &dir].concat());
    let shown = run(&["persona", "journal", "--persona", "curator"])
        .done()
        .out;
    assert!(
        !shown.contains("Seen 2.") && shown.contains("Seen 3.") && shown.contains("Seen 12."),
        "{shown}"
    );
    let render = alone(&["persona", "render", "curator", folder.text()])
        .done()
        .out;
    assert!(
        render.contains("Seen 12.") && !render.contains("Seen 2."),
        "{render}"
    );
    let json = run(&["persona", "journal", "--persona", "curator", "--json"])
        .done()
        .json();
    assert_eq!(json["entries"].as_array().unwrap().len(), 10);
    let all = run(&["persona", "journal"]).done().out;
    assert!(
        all.contains("curator") && all.contains("12") && all.contains("2026-01-12-0900-Day.md"),
        "{all}"
    );
    run(&["persona", "journal", "--persona", "curater"]).refused(2, "did you mean `curator`?");
}
