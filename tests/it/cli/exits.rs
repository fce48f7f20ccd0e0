//! Exit codes of a tick.

use std::net::TcpListener;
use std::process::Command;

use phileas::sandbox::world_setup::{GITHUB_TOKEN, JULES_KEY};

use super::phileas;
use crate::support::child::PROGRAM;
use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

/// A port without a listener.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn credentials_and_outages_have_exit_codes_of_their_own() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let closed = format!("http://127.0.0.1:{}", closed_port());
    for (change, code, word) in [
        (Change::Without("GITHUB_TOKEN"), 3, "GITHUB_TOKEN"),
        (Change::Without("JULES_API_KEY"), 3, "JULES_API_KEY"),
        (
            Change::With("GITHUB_TOKEN", "no-such-token"),
            3,
            "the credential came from GITHUB_TOKEN",
        ),
        (
            Change::With("JULES_API_KEY", "no-such-key"),
            3,
            "Jules refuses the key",
        ),
        (
            Change::With("JULES_API_KEY", "no-such-key"),
            3,
            "the Jules key came from JULES_API_KEY",
        ),
        (
            Change::With("GITHUB_APP_ID", "123456"),
            3,
            "GITHUB_APP_PRIVATE_KEY is not",
        ),
        (
            Change::With("GITHUB_APP_PRIVATE_KEY", "x"),
            3,
            "GITHUB_APP_ID is not",
        ),
        (
            Change::With("GITHUB_API_URL", "http://example.com"),
            2,
            "GITHUB_API_URL",
        ),
        (
            Change::With("JULES_API_BASE", "http://example.com/v1alpha"),
            2,
            "JULES_API_BASE",
        ),
        (Change::With("GITHUB_GRAPHQL_URL", &closed), 4, "GitHub"),
        (
            Change::With("JULES_API_BASE", &format!("{closed}/v1alpha")),
            4,
            "Jules does not answer",
        ),
    ] {
        let run = Phileas::tick(&served);
        let ended = match change {
            Change::Without(name) => run.without(name).run(),
            Change::With(name, value) => run.env(name, value).run(),
        };
        let ended = ended.expect(code);
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains(word), "`{word}` is missing\n{ended}");
        for secret in [GITHUB_TOKEN, JULES_KEY, "no-such-token", "no-such-key"] {
            assert!(!said.contains(secret), "a secret is printed\n{ended}");
        }
    }
    assert!(
        shared.lock_world().books().sessions.is_empty(),
        "nothing was started"
    );
    let no_app = Phileas::tick(&served)
        .env("GITHUB_APP_ID", "x")
        .env("GITHUB_APP_PRIVATE_KEY", "x")
        .run()
        .expect(3);
    assert!(no_app.err.contains("client id"), "{no_app}");
    let base = Phileas::tick(&served)
        .env("JULES_API_BASE", "nowhere")
        .run()
        .expect(2);
    assert_eq!(base.err.matches("JULES_API_BASE").count(), 1, "{base}");
    Phileas::tick(&served).run().expect(0);
    assert_eq!(
        shared.lock_world().books().sessions.len(),
        1,
        "and with everything in order it is"
    );
}

enum Change<'a> {
    Without(&'a str),
    With(&'a str, &'a str),
}

/// One rule for all commands that check the plan. What is right is done all the same.
#[test]
fn a_plan_with_mistakes_is_a_finding_of_each_command() {
    let plan = "cycle = [\"curator\"]\n[schedules]\nabsent = \"0 9 * * *\"\n";
    let repository = Folder::repository(plan, &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    for command in ["validate", "simulate"] {
        let checked = phileas(&[command, repository.text()]).expect(1);
        let said = format!("{}{}", checked.out, checked.err);
        assert!(said.contains("schedules.absent"), "{command}: {checked}");
    }
    for command in ["explain", "status", "tick"] {
        let asked = Phileas::new(&[command, "--repo", "acme/widget"]);
        let asked = asked.within(&served).run().expect(1);
        assert!(asked.out.contains("schedules.absent"), "{command}: {asked}");
    }
    assert_eq!(shared.lock_world().books().sessions.len(), 1);
}

/// A prompt that cannot be rendered shows only when its turn has come. It stops one persona, so it is a finding and no
/// mistake of the configuration.
#[test]
fn a_prompt_with_mistakes_ends_a_tick_with_one() {
    let repository = Folder::repository("cycle = [\"broken\", \"curator\"]\n", &["curator"]);
    repository.write(
        ".jules/personas/broken/prompt.md.j2",
        "---\nid: broken\nemoji: \"🔧\"\n---\nDo {{ undefined_value }}.\n",
    );
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let tick = Phileas::tick(&served).run().expect(1);
    assert!(tick.out.contains("undefined_value"), "{tick}");
    assert!(tick.out.contains("skipped.prompt_invalid"), "{tick}");
    let world = shared.lock_world();
    let sessions = &world.books().sessions;
    assert_eq!(sessions.len(), 1, "{tick}");
    assert!(sessions[0].prompt.contains("persona=curator"), "{tick}");
}

/// A persona whose frontmatter cannot be read is a finding, too: the other personas and the plan are right.
#[test]
fn a_persona_with_mistakes_ends_a_tick_with_one() {
    let repository = Folder::repository("cycle = [\"broken\", \"curator\"]\n", &["curator"]);
    let prompt = "---\nid: broken\nplan_approval: perhaps\n---\nWork.\n";
    repository.write(".jules/personas/broken/prompt.md", prompt);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let tick = Phileas::tick(&served).run().expect(1);
    assert!(tick.out.contains("plan_approval"), "{tick}");
    assert_eq!(shared.lock_world().books().sessions.len(), 1, "{tick}");
}

#[test]
fn a_reader_that_ends_early_changes_no_exit_code() {
    let repository = Folder::empty();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(PROGRAM)
        // It prints to both streams.
        .args(["prompt", "render", "decider"])
        .current_dir(repository.path())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
}
