//! What the README shows, as somebody who copies it meets it.

use std::process::Command;

use phileas::action::event::SkipReason;
use phileas_domain::engine::Reason;

use crate::support::{Folder, Phileas};

/// The first block of a language below a heading, without its fences.
#[track_caller]
fn block(heading: &str, opening: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, below) = readme.split_once(heading).unwrap();
    let (_, block) = below.split_once(opening).unwrap();
    block.split_once("\n```\n").unwrap().0.to_owned() + "\n"
}

#[test]
fn the_plan_is_whole_as_it_stands() {
    let folder = Folder::empty();
    let script = block("\n## The plan\n", "```sh\n");
    let written = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(folder.path())
        .status();
    assert!(written.unwrap().success());
    let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
    assert!(
        ended
            .out
            .contains("1 track with 2 steps, 1 schedule, 3 personas; 0 errors, 0 warnings"),
        "{ended}"
    );
    let forecast = Phileas::new(&["simulate", folder.text()]).run().expect(0);
    for persona in ["curator", "tester", "auditor"] {
        assert!(forecast.out.contains(persona), "{forecast}");
    }
}

/// Commands and what they print, both streams in one, as the README shows them.
#[test]
fn the_run_of_an_issue_is_printed_as_it_is() {
    let shown = block("\n## Pipeline artifacts\n", "```console\n");
    let folder = Folder::empty();
    let (draft, rest) = shown.split_once("\n}\n").unwrap();
    let (cat, draft) = draft.split_once('\n').unwrap();
    assert_eq!(cat, "$ cat draft.json");
    folder.write("draft.json", &format!("{draft}\n}}\n"));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_phileas"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut printed = String::new();
    for command in rest.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(folder.path())
            .env("PATH", path.as_ref().unwrap())
            .output()
            .unwrap();
        printed.push_str(&format!("$ {command}\n"));
        printed.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    assert_eq!(printed, rest);
}

#[test]
fn the_layers_config_is_sound_as_it_stands() {
    let folder = Folder::empty();
    folder.write(
        ".jlo/config.toml",
        &block("\n## Layers\n", "```toml\n# .jlo/config.toml\n"),
    );
    let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
    let wanted = "2 tracks with 6 steps, 0 schedules, 0 personas; 0 errors, 0 warnings";
    assert!(ended.out.contains(wanted), "{ended}");
}

#[test]
fn the_faults_can_be_replayed() {
    let folder = Folder::empty();
    folder.write(
        "faults.toml",
        &block("# phileas\n", "```toml\n# faults.toml\n"),
    );
    let faults = folder.join("faults.toml");
    let arguments = ["sandbox", "--headless", "--until", "2h", "--faults"];
    let arguments = [&arguments[..], &[faults.to_str().unwrap()]].concat();
    let ended = Phileas::new(&arguments).run().expect(0);
    assert!(ended.out.contains("sessions"), "{ended}");
}

/// People look up why a run of the action did nothing.
#[test]
fn every_reason_of_the_action_is_explained() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, section) = readme.split_once("\n## As a GitHub Action\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let known = |code: &str| Reason::ALL.iter().any(|reason| reason.code() == code);
    for reason in SkipReason::ALL {
        let code = reason.code();
        assert!(!known(code), "{code} has two meanings");
        assert!(section.contains(&format!("| `{code}` |")), "{code}");
    }
}

/// Inputs and outputs of the action, as the README lists them.
#[test]
fn every_input_and_output_of_the_action_is_listed() {
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let (_, section) = readme.split_once("\n## As a GitHub Action\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let manifest = std::fs::read_to_string(format!("{root}/action.yml")).unwrap();
    let manifest: serde_json::Value = serde_yaml::from_str(&manifest).unwrap();
    for list in ["inputs", "outputs"] {
        let names = manifest[list].as_object().unwrap();
        assert!(names.len() > 10, "{list}");
        for name in names.keys() {
            assert!(section.contains(&format!("`{name}`")), "{list}: {name}");
        }
    }
}
