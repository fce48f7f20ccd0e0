//! What README.md and docs/ show, run as a reader would copy it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use phileas::action::event::SkipReason;
use phileas_domain::engine::Reason;

use crate::support::{Folder, Phileas};

/// A page, by its path in the repository.
fn page(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The first block of a page that begins in this way, without its fences.
#[track_caller]
fn block(path: &str, opening: &str) -> String {
    let page = page(path);
    let (_, block) = page.split_once(opening).unwrap();
    block.split_once("\n```\n").unwrap().0.to_owned() + "\n"
}

/// What a line of the show tells: its sign and the words that no day changes.
fn fixed_words(line: &str) -> String {
    let (_, rest) = line.trim().split_once(' ').unwrap_or(("", line));
    let words = rest.split_whitespace().take(3);
    let fixed = |word: &&str| {
        !word
            .chars()
            .any(|c| c.is_ascii_digit() || c == '#' || c == '(')
    };
    words.filter(fixed).collect::<Vec<_>>().join(" ")
}

/// The days differ from version to version, and the lines tell the same kinds of things.
#[test]
fn the_sandbox_shows_such_lines_as_are_shown() {
    let shown = format!("Monday{}", block("README.md", "```\nMonday"));
    let ended = Phileas::new(&["sandbox", "--until", "1d"]).run().expect(0);
    let known: std::collections::BTreeSet<String> = ended.out.lines().map(fixed_words).collect();
    let mut lines = shown.lines();
    let first = lines.next().unwrap();
    assert!(
        ended.out.lines().any(|line| line == first),
        "{first}: {ended}"
    );
    assert!(lines.clone().count() >= 8, "{shown}");
    for line in lines {
        let told = fixed_words(line);
        assert!(known.contains(&told), "{line}: {told}: {known:?}");
    }
}

/// The second shell gets what the quickstart shows, line by line, and no more.
#[test]
fn the_empty_sandbox_prints_the_commands_that_are_shown() {
    let quickstart = "docs/quickstart.md";
    assert_eq!(
        block(quickstart, "in a first shell:\n\n```sh\n"),
        "phileas sandbox --empty\n"
    );
    let shown = format!("git clone{}", block(quickstart, "```sh\ngit clone"));

    let mut child = Command::new(env!("CARGO_BIN_EXE_phileas"))
        .args(["sandbox", "--empty"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let printed: Vec<String> = lines
        .map(Result::unwrap)
        .skip_while(|line| !line.contains("in another shell"))
        .skip(1)
        .take_while(|line| !line.starts_with("For `phileas status`"))
        .filter(|line| !line.is_empty())
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, port) = printed[0].split_once("127.0.0.1:").unwrap();
    let (port, _) = port.split_once('/').unwrap();
    let printed: Vec<String> = printed
        .iter()
        .map(|line| line.replace(port, "PORT"))
        .collect();
    assert_eq!(printed, shown.lines().collect::<Vec<_>>());
    let needed = printed
        .iter()
        .filter(|line| !line.contains("# if you like"));
    assert_eq!(needed.count(), 5, "with the sandbox itself six");
}

#[test]
fn the_plan_is_whole_as_it_stands() {
    let folder = Folder::empty();
    let script = block("docs/guide/plan.md", "```sh\n");
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
    // Begun at another hour, the cycle may have spent Monday's budget before the hour comes.
    let week = ["simulate", folder.text(), "--from", "2026-01-05T00:00:00Z"];
    let forecast = Phileas::new(&week).run().expect(0);
    for persona in ["curator", "tester", "auditor"] {
        assert!(forecast.out.contains(persona), "{forecast}");
    }
}

/// Commands and what they print, both streams in one, as the pages show them.
#[test]
fn the_run_of_an_issue_is_printed_as_it_is() {
    let shown = block("docs/guide/pipeline.md", "```console\n");
    let folder = Folder::empty();
    let (draft, rest) = shown.split_once("\n}\n").unwrap();
    let (cat, draft) = draft.split_once('\n').unwrap();
    assert_eq!(cat, "$ cat draft.json");
    folder.write("draft.json", &format!("{draft}\n}}\n"));
    assert_eq!(printed(rest, &folder), rest);
}

/// A task that has gone wrong, fixed, moved and taken.
#[test]
fn a_task_is_fixed_and_taken_as_it_is_shown() {
    let shown = block("docs/guide/tasks.md", "```console\n");
    let folder = Folder::repository("cycle = [\"curator\"]\n", &["curator", "tester"]);
    let (cat, rest) = shown.split_once('\n').unwrap();
    let path = cat.strip_prefix("$ cat ").unwrap();
    let (task, rest) = rest.split_once("\n$ ").unwrap();
    folder.write(path, &format!("{task}\n"));
    let rest = format!("$ {rest}");
    assert_eq!(printed(&rest, &folder), rest);
}

#[test]
fn the_personas_to_add_are_listed_as_they_are() {
    let shown = block("docs/guide/personas.md", "```console\n");
    assert_eq!(printed(&shown, &Folder::empty()), shown);
}

/// The commands of a transcript with what they print, both streams in one.
fn printed(transcript: &str, folder: &Folder) -> String {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_phileas"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut printed = String::new();
    for command in transcript
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
    {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(folder.path())
            .env("PATH", path.as_ref().unwrap())
            .output()
            .unwrap();
        printed.push_str(&format!("$ {command}\n"));
        printed.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    printed
}

#[test]
fn the_layers_config_is_sound_as_it_stands() {
    let folder = Folder::empty();
    folder.write(
        ".jlo/config.toml",
        &block(
            "docs/guide/layers.md",
            "```toml\n# .jlo/config.toml, on the default branch\n",
        ),
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
        &block("docs/guide/sandbox.md", "```toml\n# faults.toml\n"),
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
    let section = page("docs/reference/reason-codes.md");
    let known = |code: &str| Reason::ALL.iter().any(|reason| reason.code() == code);
    for reason in SkipReason::ALL {
        let code = reason.code();
        assert!(!known(code), "{code} has two meanings");
        assert!(section.contains(&format!("| `{code}` |")), "{code}");
    }
}

/// Inputs and outputs of the action, as the reference lists them.
#[test]
fn every_input_and_output_of_the_action_is_listed() {
    let root = env!("CARGO_MANIFEST_DIR");
    let section = page("docs/reference/action.md");
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
