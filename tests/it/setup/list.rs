//! `setup list`.

use serde_json::Value;

use super::Machine;
use crate::support::{Folder, Phileas};

#[test]
fn tools_are_listed_with_what_they_need() {
    let machine = Machine::with("tools: [python]");
    machine.component(
        "lint",
        "summary = \"Our linter\"\ndependencies = [\"node\"]",
        "true",
    );
    let ended = Phileas::new(&["setup", "list", machine.repository.text()])
        .run()
        .expect(0);
    for name in [
        "gh", "just", "uv", "swift", "node", "rust", "go", "python", "lint",
    ] {
        assert!(
            ended
                .out
                .lines()
                .any(|line| line.split_whitespace().any(|word| word == name)),
            "{name}\n{ended}"
        );
    }
    let marked: Vec<&str> = ended
        .out
        .lines()
        .filter(|line| line.trim_start().starts_with("* "))
        .collect();
    assert_eq!(
        marked.len(),
        3,
        "python, uv and what the mark means\n{ended}"
    );
    let lines = Phileas::new(&["setup", "list", machine.repository.text(), "--json"])
        .run()
        .expect(0);
    let tools: Vec<Value> = lines
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lint = tools.iter().find(|tool| tool["name"] == "lint").unwrap();
    assert_eq!(
        (
            &lint["built_in"],
            &lint["installed"],
            &lint["dependencies"][0]
        ),
        (&false.into(), &false.into(), &"node".into())
    );
    let uv = tools.iter().find(|tool| tool["name"] == "uv").unwrap();
    assert_eq!(
        (&uv["built_in"], &uv["installed"]),
        (&true.into(), &true.into())
    );
}

#[test]
fn one_tool_is_shown_whole() {
    let folder = Folder::empty();
    let show = |name: &str| Phileas::new(&["setup", "list", folder.text(), "--detail", name]).run();
    let ended = show("gh").expect(0);
    for word in [
        "GH_TOKEN (secret)",
        "GH_VERSION:",
        "https://github.com/cli/cli/releases",
    ] {
        assert!(ended.out.contains(word), "{word}\n{ended}");
    }
    assert!(show("python").expect(0).out.contains("needs uv"));
    let ended = show("gihub").expect(2);
    assert!(ended.err.contains("there is no tool `gihub`"), "{ended}");
}

#[test]
fn a_broken_tool_is_a_finding_and_hides_no_other() {
    let machine = Machine::with("tools: [gh]");
    machine.component("a", "sumary = \"x\"", "");
    let ended = Phileas::new(&["setup", "list", machine.repository.text()])
        .run()
        .expect(1);
    assert!(ended.err.contains("did you mean `summary`?"), "{ended}");
    assert!(ended.out.contains("gh"), "{ended}");
}
