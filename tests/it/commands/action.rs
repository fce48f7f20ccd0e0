//! `phileas action`, as a step of a workflow runs it. With act in the place of the runner: `scripts/test action`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phileas_world::github::NewApp;
use phileas_world::github::Role;
use phileas_world::github::account::{Access, permissions};
use serde_json::{Value, json};

use super::bench::{Bench, Ran, bench, bench_with, run};
use crate::fleet::stage::key;
use crate::support::Folder;

/// What a step left.
struct Step {
    ran: Ran,
    outputs: BTreeMap<String, String>,
    summary: String,
}

/// The files that a runner gives a step.
struct Runner {
    folder: tempfile::TempDir,
}

impl Runner {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn step(&self, bench: &Bench, event: &str, payload: &str, variables: &[(&str, &str)]) -> Step {
        for name in ["output", "summary"] {
            std::fs::write(self.file(name), "before=it\n").unwrap();
        }
        std::fs::write(self.file("event.json"), payload).unwrap();
        let mut command = bench.program(&["action"]);
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", event)
            .env("GITHUB_EVENT_PATH", self.file("event.json"))
            .env("GITHUB_OUTPUT", self.file("output"))
            .env("GITHUB_STEP_SUMMARY", self.file("summary"))
            .env("GITHUB_ACTOR", "maintainer")
            .env("GITHUB_TRIGGERING_ACTOR", "maintainer");
        for (name, value) in variables {
            command.env(name, value);
        }
        let ran = run(command);
        let read = |name: &str| {
            let text = std::fs::read_to_string(self.file(name)).unwrap();
            text.strip_prefix("before=it\n").unwrap().to_owned()
        };
        Step {
            ran,
            outputs: outputs(&read("output")),
            summary: read("summary"),
        }
    }
}

/// The outputs as the runner reads them.
fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (name, word) = line.split_once("<<").unwrap();
        let value: Vec<&str> = lines.by_ref().take_while(|line| *line != word).collect();
        found.insert(name.to_owned(), value.join("\n"));
    }
    found
}

impl Step {
    /// What the runner would execute: commands outside the silence.
    fn runner_commands(&self) -> Vec<&str> {
        let mut silence: Option<String> = None;
        let mut commands = Vec::new();
        for line in self.ran.out.lines() {
            if silence.as_deref() == Some(line) {
                silence = None;
            } else if silence.is_some() {
            } else if let Some(word) = line.strip_prefix("::stop-commands::") {
                silence = Some(format!("::{word}::"));
            } else if line.starts_with("::") || line.contains("##[") {
                commands.push(line);
            }
        }
        assert_eq!(silence, None, "the runner is left deaf: {}", self.ran.out);
        commands
    }

    #[track_caller]
    fn assert_decision(&self, code: i32, decision: &str, reason: &str) {
        assert_eq!(self.ran.code, code, "{:?}", self.ran);
        assert_eq!(self.outputs["decision"], decision, "{:?}", self.outputs);
        assert_eq!(self.outputs["reason"], reason, "{:?}", self.outputs);
        assert_eq!(self.outputs.len(), 13);
    }
}

const CLOCK: &str = r#"{"schedule": "17 * * * *"}"#;

#[test]
fn a_tick_is_told_in_files_and_a_log() {
    let (bench, runner) = (bench(), Runner::new());
    let step = runner.step(&bench, "schedule", CLOCK, &[]);
    step.assert_decision(0, "dispatched", "due.track");
    assert_eq!(step.outputs["persona"], "curator");
    assert_eq!(step.outputs["state-sha"], bench.head());
    let state = bench.state();
    let session = state.history.values().next().unwrap().session_id.clone();
    assert_eq!(step.outputs["session-id"], session.unwrap().to_string());
    assert!(
        step.summary.starts_with("### phileas: started curator\n"),
        "{}",
        step.summary
    );
    assert!(step.ran.out.contains("▶ started"), "{:?}", step.ran);
    assert_eq!(step.runner_commands(), [""; 0]);
}

#[test]
fn the_request_of_the_step_comes_before_that_of_the_event() {
    let (bench, runner) = (bench(), Runner::new());
    let payload = r#"{"inputs": {"persona": "refactor", "dry-run": "true"}}"#;
    let request = [("INPUT_PERSONA", "personas/tester/prompt.md")];
    let step = runner.step(&bench, "workflow_dispatch", payload, &request);
    step.assert_decision(0, "dispatched", "due.request");
    assert_eq!(step.outputs["persona"], "tester");
    assert_eq!(step.outputs["dry-run"], "true");
    assert_eq!(bench.head(), "", "nothing was written");
    let track = [("INPUT_TRACK", "nowhere"), ("INPUT_DRY_RUN", "1")];
    let step = runner.step(&bench, "workflow_dispatch", payload, &track);
    step.assert_decision(2, "refused", "refused.unknown");
    assert_eq!(
        step.runner_commands()
            .iter()
            .filter(|line| line.starts_with("::error"))
            .count(),
        1
    );
}

#[test]
fn exit_codes_are_those_of_every_command() {
    let (bench, runner) = (bench(), Runner::new());
    let keyless = runner.step(&bench, "schedule", CLOCK, &[("JULES_API_KEY", "")]);
    keyless.assert_decision(3, "failed", "failed.credential");
    assert_eq!(keyless.runner_commands().len(), 1, "{:?}", keyless.ran);
    assert!(
        keyless.runner_commands()[0].starts_with("::error title=phileas::there is no Jules key")
    );
    assert_eq!(keyless.ran.err, "");
    let wrong = runner.step(
        &bench,
        "schedule",
        CLOCK,
        &[("JULES_API_KEY", "another-key")],
    );
    wrong.assert_decision(3, "paused", "paused.jules_credential");
    let garbled = runner.step(&bench, "schedule", "{", &[]);
    garbled.assert_decision(2, "failed", "failed.usage");
    let nowhere = [
        ("GITHUB_API_URL", "http://127.0.0.1:9"),
        ("GITHUB_GRAPHQL_URL", "http://127.0.0.1:9/graphql"),
    ];
    runner
        .step(&bench, "watch", "{}", &nowhere)
        .assert_decision(0, "skipped", "skipped.event");
    bench.tick();
    bench.write_ledger("<<<<<<< ours\n");
    let corrupt = runner.step(&bench, "schedule", CLOCK, &[]);
    corrupt.assert_decision(5, "paused", "paused.ledger_corrupt");
    let errors = corrupt.runner_commands();
    assert_eq!(
        errors
            .iter()
            .filter(|line| line.starts_with("::error"))
            .count(),
        1,
        "{errors:?}"
    );
}

#[test]
fn nothing_that_others_wrote_is_executed() {
    let plan = "cycle = [\"curator\"]\n\"##[error]x\\n::error::y%\" = 1\n";
    let folder = Folder::repository(plan, &["curator"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    let step = Runner::new().step(&bench, "schedule", CLOCK, &[("PHILEAS_LOG", "debug")]);
    assert!(step.ran.out.contains("::error::y"), "{:?}", step.ran);
    let place = "::error file=.jules/schedules.toml,line=2,";
    let warning = place.replace("error", "warning");
    for line in step.runner_commands() {
        assert!(
            line.starts_with(place)
                || line.starts_with(&warning)
                || line.starts_with("::notice title=")
                || line.starts_with("::error title="),
            "{line}"
        );
        assert!(!line.contains('\n'));
    }
    assert!(
        step.runner_commands()
            .iter()
            .any(|line| line.contains("\\n::error::y%25")),
        "{:?}",
        step.runner_commands()
    );
    assert_eq!(
        step.ran.err, "",
        "logs stand where the runner is told to ignore them"
    );
}

#[test]
fn secrets_that_the_runner_does_not_know_are_hidden_first() {
    let (bench, runner) = (bench(), Runner::new());
    let file = runner.file("key");
    std::fs::write(&file, "sandbox-jules-key\n").unwrap();
    let path = file.to_str().unwrap();
    let (pem, _) = key();
    let now = bench.shared.lock_world().now();
    {
        let mut world = bench.shared.lock_world();
        let github = world.github_mut();
        let app = NewApp {
            id: 77,
            slug: "phileas".to_owned(),
            owner: "acme".to_owned(),
            permissions: permissions(&[
                ("contents", Access::Write),
                ("issues", Access::Write),
                ("pull_requests", Access::Write),
                ("metadata", Access::Read),
            ]),
            ..NewApp::default()
        };
        github.add_app(app, now);
        github.install_app(77, "acme", Some(&[bench.repo]), now);
    }
    let variables = [
        ("JULES_API_KEY", ""),
        ("JULES_API_KEY_FILE", path),
        ("GITHUB_TOKEN", ""),
        ("GITHUB_APP_ID", "77"),
        ("GITHUB_APP_PRIVATE_KEY", &pem),
    ];
    let step = runner.step(&bench, "schedule", CLOCK, &variables);
    step.assert_decision(0, "dispatched", "due.track");
    let lines: Vec<&str> = step.ran.out.lines().collect();
    assert_eq!(lines[0], "::add-mask::sandbox-jules-key");
    let token = lines[1].strip_prefix("::add-mask::ghs_").unwrap();
    for text in [
        &lines[2..].concat(),
        &step.summary,
        &format!("{:?}", step.outputs),
    ] {
        assert!(!text.contains(token) && !text.contains("sandbox-jules-key"));
    }
}

#[test]
fn a_request_needs_writers_and_what_is_due_needs_none() {
    let (bench, runner) = (bench(), Runner::new());
    let github = |role| {
        bench
            .shared
            .lock_world()
            .github_mut()
            .set_role(bench.repo, "reader", role)
    };
    github(Role::Triage);
    for (actor, again, heeded) in [
        ("maintainer", "maintainer", true),
        ("reader", "maintainer", false),
        ("maintainer", "reader", false),
        ("absent", "absent", false),
        ("maintainer[bot]", "maintainer", false),
    ] {
        let people = [
            ("INPUT_PERSONA", "tester"),
            ("INPUT_DRY_RUN", "true"),
            ("GITHUB_ACTOR", actor),
            ("GITHUB_TRIGGERING_ACTOR", again),
        ];
        let step = runner.step(&bench, "issues", "{}", &people);
        if heeded {
            step.assert_decision(0, "dispatched", "due.request");
        } else {
            step.assert_decision(0, "refused", "refused.actor_permission");
            assert!(step.summary.contains("may not write"), "{}", step.summary);
        }
        let clock = runner.step(&bench, "schedule", CLOCK, &people);
        clock.assert_decision(0, "dispatched", "due.request");
        let due = runner.step(&bench, "issues", "{}", &people[1..2]);
        due.assert_decision(0, "dispatched", "due.track");
    }
    // What counts is what they may do now.
    github(Role::Write);
    let people = [("INPUT_PERSONA", "tester"), ("GITHUB_ACTOR", "reader")];
    runner
        .step(&bench, "issues", "{}", &people)
        .assert_decision(0, "dispatched", "due.request");
}

#[test]
fn a_run_is_asked_for_one_thing() {
    let (bench, runner) = (bench(), Runner::new());
    for inputs in [
        [("INPUT_PERSONA", "tester"), ("INPUT_TRACK", "default")],
        [
            ("INPUT_TRACK", "default"),
            ("INPUT_ENTRY_POINT", "narrator"),
        ],
        [
            ("INPUT_PERSONA", "tester"),
            ("INPUT_ENTRY_POINT", "nowhere"),
        ],
    ] {
        let step = runner.step(&bench, "schedule", "{}", &inputs);
        assert_eq!(step.ran.code, 2, "{:?}", step.ran);
        let said = step.runner_commands().join("\n");
        assert!(said.contains("give one of them"), "{:?}", step.ran);
    }
    let payload = r#"{"inputs": {"persona": "tester", "track": "default"}}"#;
    let step = runner.step(&bench, "workflow_dispatch", payload, &[]);
    assert_eq!(step.ran.code, 2, "{:?}", step.ran);
    assert_eq!(bench.head(), "", "nothing was written");
}

/// A run that names no account is not a run of a schedule.
#[test]
fn what_no_account_asked_for_is_not_started() {
    let (bench, runner) = (bench(), Runner::new());
    for input in [
        ("INPUT_PERSONA", "tester"),
        ("INPUT_TRACK", "default"),
        ("INPUT_ENTRY_POINT", "narrator"),
    ] {
        let nameless = [
            input,
            ("GITHUB_ACTOR", ""),
            ("GITHUB_TRIGGERING_ACTOR", " "),
        ];
        let step = runner.step(&bench, "repository_dispatch", "{}", &nameless);
        step.assert_decision(0, "refused", "refused.actor_permission");
        assert!(
            step.summary.contains("names no account"),
            "{}",
            step.summary
        );
    }
    let payload = r#"{"inputs": {"persona": "tester"}}"#;
    let nameless = [("GITHUB_ACTOR", ""), ("GITHUB_TRIGGERING_ACTOR", "")];
    let step = runner.step(&bench, "workflow_dispatch", payload, &nameless);
    step.assert_decision(0, "refused", "refused.actor_permission");
    assert!(
        bench
            .shared
            .lock_world()
            .complete_books()
            .sessions
            .is_empty()
    );
    // What is due needs no account.
    let due = runner.step(&bench, "repository_dispatch", "{}", &nameless);
    due.assert_decision(0, "dispatched", "due.track");
}

/// An input with a fixed set of words takes no other one, and nothing is asked for before that is known.
#[test]
fn a_word_that_an_input_does_not_know_runs_nothing() {
    let (bench, runner) = (bench(), Runner::new());
    let before = bench.shared.lock_world().books().requests.len();
    for (name, word) in [
        ("INPUT_DRY_RUN", "ture"),
        ("INPUT_DRY_RUN", "2"),
        ("INPUT_ENTRY_POINT", "Narator"),
    ] {
        let step = runner.step(&bench, "schedule", CLOCK, &[(name, word)]);
        step.assert_decision(2, "failed", "failed.usage");
        assert!(step.runner_commands()[0].contains(word), "{:?}", step.ran);
    }
    for word in ["\"True!\"", "\"nein\"", "3", "[]"] {
        let payload = format!(r#"{{"inputs": {{"dry-run": {word}}}}}"#);
        let step = runner.step(&bench, "workflow_dispatch", &payload, &[]);
        step.assert_decision(2, "failed", "failed.usage");
    }
    assert_eq!(bench.shared.lock_world().books().requests.len(), before);
    for (word, dry) in [("TRUE", "true"), ("on", "true"), ("False", "false")] {
        let payload = format!(r#"{{"inputs": {{"dry-run": "{word}"}}}}"#);
        let step = runner.step(&bench, "workflow_dispatch", &payload, &[]);
        assert_eq!(step.outputs["dry-run"], dry, "{word}");
    }
}

/// The step that finds the binary: an unknown word is refused on each of its ways, before anything is run or fetched.
#[test]
fn the_step_before_refuses_words_that_it_does_not_know() {
    use std::os::unix::fs::PermissionsExt as _;
    let runner = Runner::new();
    let root = env!("CARGO_MANIFEST_DIR");
    let programs = runner.file("programs");
    std::fs::create_dir(&programs).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for name in ["phileas", "gh", "cargo", "curl"] {
        let mark = runner.file("ran").display().to_string();
        let text = format!("#!/bin/sh\necho {name} >>'{mark}'\necho \"phileas {version}\"\n");
        let file = programs.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let named = programs.join("phileas").display().to_string();
    let find = |variables: &[(&str, &str)]| {
        let _ = std::fs::remove_file(runner.file("ran"));
        std::fs::write(runner.file("output"), "").unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let ended = std::process::Command::new(format!("{root}/scripts/find-binary"))
            .env_clear()
            .env("PATH", path)
            .env("ACTION_PATH", root)
            .env("GITHUB_OUTPUT", runner.file("output"))
            .env("RUNNER_TEMP", runner.folder.path())
            .env("SERVER_URL", "http://127.0.0.1:9")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let ran = std::fs::read_to_string(runner.file("ran")).unwrap_or_default();
        let said = String::from_utf8(ended.stdout).unwrap();
        (ended.status.code(), said, ran)
    };
    let ways = [
        ("INPUT_BINARY", named.as_str()),
        ("INPUT_BUILD_FROM_SOURCE", "true"),
        ("INPUT_VERSION", version),
        ("INPUT_VERSION", "9.9.9"),
    ];
    for way in ways {
        for (name, word) in [
            ("INPUT_ATTESTATION", "Always"),
            ("INPUT_ATTESTATION", "ALWAYS"),
            ("INPUT_ATTESTATION", "always "),
            ("INPUT_ATTESTATION", "true"),
            ("INPUT_ATTESTATION", "none"),
            ("INPUT_DRY_RUN", "ture"),
        ] {
            let (code, said, ran) = find(&[way, (name, word)]);
            assert_eq!(
                (code, ran.as_str()),
                (Some(2), ""),
                "{way:?} {word}: {said}"
            );
            assert!(
                said.contains(word) && said.starts_with("::error "),
                "{said}"
            );
        }
    }
    let (code, said, ran) = find(&[("INPUT_BINARY", &named), ("INPUT_BUILD_FROM_SOURCE", "ja")]);
    assert_eq!((code, ran.as_str()), (Some(2), ""), "{said}");
    // The words that it knows.
    for word in ["auto", "never", ""] {
        let (code, said, _) = find(&[("INPUT_BINARY", &named), ("INPUT_ATTESTATION", word)]);
        assert_eq!(code, Some(0), "{said}");
    }
    let (code, said, ran) = find(&[("INPUT_BINARY", &named), ("INPUT_ATTESTATION", "always")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(ran.starts_with("gh\n"), "{ran}");
}

/// A comment of an account without write access fails no run, and stands beside no line of its log.
#[test]
fn what_others_may_not_ask_for_is_no_matter_of_this_run() {
    let (bench, runner) = (bench(), Runner::new());
    let says = |body: &str| {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let issue = github.open_issue(bench.repo, "It is slow", "Please.", &[], "outsider", now);
        github.comment(bench.repo, issue, body, "outsider", now);
    };
    bench.tick();
    says("/phileas stop");
    let idle = runner.step(&bench, "issue_comment", COMMENT, &[]);
    assert_eq!(
        (idle.ran.code, idle.runner_commands()),
        (0, vec![]),
        "{:?}",
        idle.ran
    );
    assert_ne!(idle.outputs["decision"], "refused", "{:?}", idle.outputs);
    assert!(
        !idle.summary.starts_with("### phileas: refused"),
        "{}",
        idle.summary
    );
    for request in [("INPUT_PERSONA", "tester"), ("INPUT_TRACK", "default")] {
        let step = runner.step(&bench, "workflow_dispatch", "{}", &[request]);
        assert_eq!(step.ran.code, 0, "{:?}", step.ran);
        assert_eq!(step.runner_commands(), [""; 0], "{:?}", step.ran);
    }
}

const COMMENT: &str = r#"{"action": "created", "comment": {"body": "/phileas stop", "user": {"login": "outsider", "type": "User"}}}"#;

#[test]
fn outside_a_workflow_it_says_what_to_use() {
    let bench = bench();
    bench.run(&["action"]).refused(2, "phileas tick");
}

#[test]
fn the_json_is_one_document_with_every_line() {
    let (bench, runner) = (bench(), Runner::new());
    let step = runner.step(&bench, "schedule", CLOCK, &[]);
    let all: Value = serde_json::from_str(&step.outputs["json"]).unwrap();
    assert_eq!(all["lines"][0]["decision"], "dispatched");
    assert_eq!(all["summary"]["dispatched"], 1);
    assert_eq!((&all["truncated"], &all["failed"]), (&json!(0), &json!([])));
    let skip = runner.step(&bench, "watch", "{}", &[]);
    let all: Value = serde_json::from_str(&skip.outputs["json"]).unwrap();
    assert_eq!(all["lines"][0]["reason"], "skipped.event");
}
