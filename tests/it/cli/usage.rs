//! Help, versions and wrong command lines.

use super::phileas;
use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

#[test]
fn help_and_version_are_no_errors() {
    let help = phileas(&["--help"]).expect(0);
    assert_eq!(phileas(&[]).expect(0).out, help.out);
    for command in [
        "init", "deinit", "labels", "schema", "sandbox", "tick", "explain", "simulate", "validate",
        "persona", "state", "track", "setup", "prompt", "exchange",
    ] {
        assert!(
            help.out.contains(&format!("\n  {command} ")),
            "`{command}` is missing\n{help}"
        );
        let of_command = phileas(&[command, "--help"]).expect(0);
        assert!(of_command.out.contains("Usage: phileas"), "{of_command}");
    }
    let version = phileas(&["--version"]).expect(0);
    assert_eq!(
        version.out,
        format!("phileas {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(help.err.is_empty() && version.err.is_empty());
    assert!(
        phileas(&["completions", "bash"])
            .expect(0)
            .out
            .contains("phileas")
    );
    let page = phileas(&["man"]).expect(0).out;
    for word in [".TH phileas", "EXIT STATUS", "ENVIRONMENT", "JULES_API_KEY"] {
        assert!(page.contains(word), "`{word}` is missing\n{page}");
    }
    let page = phileas(&["man", "session", "cancel"]).expect(0).out;
    assert!(
        page.contains("cancel") && page.contains("EXIT STATUS"),
        "{page}"
    );
    let version = concat!("phileas ", env!("CARGO_PKG_VERSION"));
    assert!(
        page.lines()
            .any(|line| line.starts_with(".TH") && line.contains(version)),
        "{page}"
    );
    let unknown = phileas(&["man", "sandbx"]).expect(2);
    assert!(unknown.err.contains("did you mean `sandbox`?"), "{unknown}");
}

/// A value of a variable is not blamed on a flag that was never typed.
#[test]
fn a_wrong_variable_is_named() {
    for (variable, value, arguments) in [
        ("PHILEAS_DEADLINE", "bad", &["validate"][..]),
        ("GITHUB_REPOSITORY", "widget", &["status"]),
        ("PHILEAS_DRAIN", "soon", &["serve"]),
    ] {
        let ended = Phileas::new(arguments).env(variable, value).run().expect(2);
        let named = format!("invalid value '{value}' for '{variable}'");
        assert!(ended.err.contains(&named), "{ended}");
        assert!(!ended.err.contains("for '--"), "{ended}");
    }
    let typed = Phileas::new(&["validate", "--deadline", "bad"])
        .env("PHILEAS_DEADLINE", "1m")
        .run()
        .expect(2);
    assert!(typed.err.contains("'--deadline <DURATION>'"), "{typed}");
}

#[test]
fn a_command_without_a_repository_shows_its_own_usage() {
    let folder = Folder::empty();
    for arguments in [&["status"][..], &["work", "list"], &["sprint", "status"]] {
        let mut command = Phileas::new(arguments).into_command();
        let ended = command.current_dir(folder.path()).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        let err = String::from_utf8(ended.stderr).unwrap();
        let usage = format!("Usage: phileas {}", arguments.join(" "));
        assert!(err.contains(&usage), "{err}");
    }
    let other = phileas(&["simulate", "--until", "soon"]).expect(2);
    assert!(other.err.contains("`--days 14`"), "{other}");
}

/// Commands of comments, and words of other programs.
#[test]
fn a_word_that_is_a_command_elsewhere_is_answered_with_what_does_it() {
    for (word, instead) in [
        ("run", "phileas tick --persona PERSONA"),
        ("approve", "phileas session approve SESSION"),
        ("stop", "phileas pause --cancel-sessions"),
        ("merge", "the label `phileas:merge`"),
    ] {
        let ended = phileas(&[word, "curator"]).expect(2);
        assert!(ended.err.contains("tip: "), "{ended}");
        assert!(ended.err.contains(instead), "{instead}: {ended}");
        assert!(!ended.err.contains("similar"), "{ended}");
    }
}

#[test]
fn a_wrong_command_line_is_usage() {
    for arguments in [
        &["no-such-command"][..],
        &["session"],
        &["tick", "--repo", "widget"],
        &["tick", "--repo", "acme/widget/more"],
        &["tick"],
        &["tick", "--repo", "acme/widget", "--no-such-flag"],
        &[
            "tick",
            "--repo",
            "acme/widget",
            "--track",
            "a",
            "--persona",
            "b",
        ],
        &["sandbox", "--headless", "--until", "soon"],
        &["sandbox", "--speed", "0"],
        &["sandbox", "--speed", "NaN"],
        &["sandbox", "--headless", "--repo", "/no/such/folder"],
        &["sandbox", "--headless", "--faults", "/no/such/file"],
        &["validate", "/no/such/folder"],
        &["simulate", "/no/such/folder"],
        &["exchange", "check", "/no/such/folder"],
        &["exchange", "inspect", "/no/such/folder"],
        &["exchange", "template", "nothing"],
        &["exchange"],
        &["persona", "list", "/no/such/folder"],
    ] {
        let ended = phileas(arguments).expect(2);
        assert!(
            ended.out.is_empty(),
            "results go to standard output, complaints do not\n{ended}"
        );
        assert!(!ended.err.is_empty(), "{ended}");
    }
    let named = phileas(&["tick", "--repo", "widget"]).expect(2);
    assert!(
        named.err.contains("owner/name"),
        "it says how to fix it\n{named}"
    );
}

#[test]
fn an_instant_that_is_none_is_told_how_to_be_written() {
    for asked in [
        &["simulate", "--from", "yesterday"][..],
        &["pipeline", "write", "plan", "--started", "yesterday"],
    ] {
        let ended = phileas(asked).expect(2);
        assert!(ended.err.contains("2026-01-05T09:00:00Z"), "{ended}");
        assert!(!ended.err.contains("parse"), "{ended}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    for arguments in [&["completions", "bash"][..], &["man"], &["validate"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let ended = std::process::Command::new(env!("CARGO_BIN_EXE_phileas"))
            .args(arguments)
            .stdout(full.unwrap())
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(70), "{arguments:?}: {ended:?}");
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(
            said.starts_with("error: ") && !said.contains("panicked"),
            "{said}"
        );
    }
}

#[test]
fn names_that_do_not_exist_are_usage() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    for asked in [["--persona", "absent"], ["--track", "nothing"]] {
        let arguments = [&["tick", "--repo", "acme/widget", "--json"], &asked[..]].concat();
        let ended = Phileas::new(&arguments).within(&served).run().expect(2);
        assert!(
            ended
                .lines()
                .iter()
                .any(|line| line["reason"] == "refused.unknown"),
            "{ended}"
        );
    }
    for (named, says) in [
        (
            "curatr",
            "there is no persona `curatr`; did you mean `curator`?",
        ),
        (
            ".jules/personas/curatr/prompt.md",
            "there is no persona `curatr`; did you mean `curator`?",
        ),
        ("absent", "there is no persona `absent`"),
    ] {
        for command in ["tick", "explain"] {
            let arguments = [command, "--repo", "acme/widget", "--persona", named];
            let ended = Phileas::new(&arguments).within(&served).run().expect(2);
            let line = format!(" {says} [refused.unknown]\n");
            assert!(ended.out.contains(&line), "{ended}");
        }
    }
    let elsewhere = Phileas::new(&["tick", "--repo", "acme/no-such"])
        .within(&served)
        .run()
        .expect(2);
    assert!(
        elsewhere
            .err
            .contains("acme/no-such was not found, or is not visible to"),
        "{elsewhere}"
    );
}
