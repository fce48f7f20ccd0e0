//! A process that can be made to run a program can be made to run an untrusted one. What works by itself, beside the
//! keys, runs none; a person at a command line has git and bash asked, and these get no key.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::references::sources;
use crate::support::ticks::{MINUTE, quiet_world};
use crate::support::{Folder, Phileas, Served};

/// Where other programs are started, and the commands that have it done, each with its reason.
const STARTED: &str = "cli/context/subprocess.rs";
/// `phileas agent watch` starts the one that its person named on the command line, and holds none of a repository's words to it.
const HANDLER: &str = "jobs/command.rs";
/// `phileas agent handle-event` asks the MCP server that its person's configuration names.
const MCP_SERVER: &str = "jobs/mcp_command.rs";
/// A template of a repository is rendered in a child process: this very program, by its own path, without environment.
const RENDERER: &str = "adapters/renderer/pool.rs";
const ASKING: [(&str, &str); 4] = [
    (
        "cli/commands/pipeline/runs.rs",
        "`pipeline check` asks git which files a person's branch has changed",
    ),
    (
        "cli/context/worktree.rs",
        "`init` and `deinit` ask git whose work tree a person stands in, and stage what they wrote",
    ),
    (
        "cli/commands/setup/git.rs",
        "`setup gen` asks git whether it would take a file with secrets in",
    ),
    (
        "cli/commands/setup/bash.rs",
        "`setup gen` has bash read, and not run, the parts of a script",
    ),
];

/// Only one small file starts processes, and only the commands that are named here use it.
#[test]
fn r14_other_programs_are_started_in_one_place_for_people_at_a_command_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ways = [
        "Command::new",
        "process::Command",
        "tokio::process",
        "posix_spawn",
        "libc::",
        "nix::unistd",
    ];
    let mut asking = Vec::new();
    for (path, text) in sources(&root.join("src")) {
        // Unit tests may.
        let program = text.split("#[cfg(test)]").next().unwrap();
        for way in ways {
            assert!(
                [STARTED, HANDLER, MCP_SERVER, RENDERER].contains(&path.as_str())
                    || !program.contains(way),
                "src/{path} has `{way}`: what runs beside the keys starts no other program; a command of people goes \
                 through src/{STARTED}"
            );
        }
        if program.contains("other_program(") && path != STARTED {
            asking.push(path);
        }
    }
    let mut known: Vec<&str> = ASKING.iter().map(|(path, _)| *path).collect();
    known.sort_unstable();
    assert_eq!(asking, known, "name it in this test, with its reason");
    for (path, text) in sources(&root.join("crates/domain/src")) {
        assert!(!text.contains("std::process"), "crates/domain/src/{path}");
    }
    let started = fs::read_to_string(root.join("src").join(STARTED)).unwrap();
    assert!(started.contains("Command::new"), "the search finds nothing");
}

/// A folder for the search path where git, shells and others tell that they were run, with their environment.
pub(crate) fn witnesses() -> Folder {
    let folder = Folder::empty();
    let real = std::env::var("PATH").unwrap();
    for name in [
        "git", "bash", "sh", "gh", "curl", "node", "python3", "env", "uname",
    ] {
        let script = format!(
            "#!/bin/sh\necho {name} >>'{0}/ran'\nexport -p >>'{0}/ran'\nPATH='{real}'\nexec {name} \"$@\"\n",
            folder.text()
        );
        folder.write(&format!("bin/{name}"), &script);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join(&format!("bin/{name}")), executable).unwrap();
    }
    folder
}

/// What was run, and in which environment.
pub(crate) fn ran(witnesses: &Folder) -> Option<String> {
    fs::read_to_string(witnesses.join("ran")).ok()
}

#[test]
fn r14_ticks_the_action_and_the_sandbox_run_no_other_program() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    // What a checkout would bring, if one were made and executed.
    repository.write(".jules/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    repository.write("Makefile", "all:\n\tfalse\n");
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let witnesses = witnesses();
    let path = witnesses.join("bin").to_str().unwrap().to_owned();
    let runner = Folder::empty();
    runner.write("event.json", "{}");
    for search in [path.as_str(), ""] {
        for _ in 0..3 {
            Phileas::tick(&served).env("PATH", search).run().expect(0);
            shared.advance_time(MINUTE * 10);
        }
        let file = |name: &str| runner.join(name).to_str().unwrap().to_owned();
        Phileas::new(&["action"])
            .within(&served)
            .env("PATH", search)
            .env("GITHUB_REPOSITORY", "acme/widget")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", "schedule")
            .env("GITHUB_EVENT_PATH", &file("event.json"))
            .env("GITHUB_OUTPUT", &file("output"))
            .env("GITHUB_STEP_SUMMARY", &file("summary"))
            .run()
            .expect(0);
        Phileas::new(&["sandbox", "--headless", "--until", "2h"])
            .env("PATH", search)
            .run()
            .expect(0);
    }
    assert!(!shared.lock_world().books().sessions.is_empty());
    assert_eq!(ran(&witnesses), None);
}

/// The twin: where a person has git asked, the witness tells so; and git gets no key (an attacker's text made a helper
/// of another product print its environment, with the key in it).
#[test]
fn r14_incident_environment_git_is_asked_by_people_and_gets_no_credential() {
    let work = Folder::empty();
    let origin = "git@github.com:acme/widget.git";
    for words in [
        &["init", "--quiet"][..],
        &["remote", "add", "origin", origin],
    ] {
        let made = Command::new("git")
            .args(["-C", work.text()])
            .args(words)
            .status();
        assert!(made.unwrap().success());
    }
    let witnesses = witnesses();
    let pin = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
    let repository = Folder::repository("", &["curator"]);
    let served = Served::start(&quiet_world(&repository, 7, Vec::new()), None);
    let mut program = Phileas::new(&["init", "--yes", "--action", pin, work.text()])
        .within(&served)
        .env("PATH", witnesses.join("bin").to_str().unwrap())
        .env("HARMLESS", "kept-as-it-is");
    for name in [
        "JULES_API_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_APP_PRIVATE_KEY",
        "PHILEAS_WEBHOOK_SECRET",
        "PHILEAS_ADMIN_TOKEN",
    ] {
        program = program.env(name, "canary-of-the-environment");
    }
    // The files are written and staged; the labels are not made, for the token is refused.
    program.run().expect(3);
    assert!(work.join(".jules/schedules.toml").is_file());
    let told = ran(&witnesses).expect("git was asked");
    assert!(told.starts_with("git\n"), "{told}");
    assert!(told.contains("kept-as-it-is"), "{told}");
    assert!(!told.contains("canary-of-the-environment"), "{told}");
}
