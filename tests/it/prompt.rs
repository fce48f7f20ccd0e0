//! `phileas prompt render`, and the lint of `validate` for orders to read.

use serde_json::Value;

use crate::support::child::Ended;
use crate::support::{Folder, Phileas};

const CONTRACTS: &str = ".jules/layers/observers/contracts.yml";

fn repository() -> Folder {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    folder.write(
        ".jules/layers/observers/observers_prompt.j2",
        "{{ section(\"Role\", include_required(\".jlo/roles/observers/\" ~ role ~ \"/role.yml\")) }}\n\
         {{ section(\"Contracts\", include_required(\".jules/layers/observers/contracts.yml\")) }}\n\
         {{ section(\"Memory\", include_required(\".jules/workstations/\" ~ role ~ \"/perspective.yml\")) }}\n\
         {{ section(\"Changes\", include_optional(\".jules/exchange/changes.yml\")) }}\n",
    );
    folder.write(CONTRACTS, "layer: observers\n");
    folder.write(
        ".jules/layers/observers/schemas/perspective.yml",
        "observer: <role>\n",
    );
    folder.write(
        ".jlo/roles/observers/qa/role.yml",
        "role: qa\nlayer: observers\nprofile: {focus: a, analysis_points: [b]}\n",
    );
    folder
}

fn render(folder: &Folder, more: &[&str]) -> Ended {
    let arguments = [&["prompt", "render", "observers", folder.text()], more].concat();
    Phileas::new(&arguments).run()
}

/// Every path of a folder, so that one sees that nothing was written.
fn paths(folder: &Folder) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_prompt_is_the_result_and_its_files_are_told_beside_it() {
    let folder = repository();
    let before = paths(&folder);
    let ended = render(&folder, &["--role", "qa"]).expect(0);
    assert!(
        ended.out.starts_with("---\n# Rules for all layers\n"),
        "{ended}"
    );
    assert!(ended.out.contains("---\n# Role\nrole: qa\n"), "{ended}");
    assert!(ended.out.contains("observer: qa"), "{ended}");
    for line in [
        "included  phileas' own .jules/JULES.md",
        "included  .jlo/roles/observers/qa/role.yml",
        "included  .jules/layers/observers/schemas/perspective.yml in the place of .jules/workstations/qa/perspective.yml",
        "seeded    .jules/workstations/qa/perspective.yml",
        "skipped   .jules/exchange/changes.yml (there is no such file)",
    ] {
        assert!(
            ended.err.lines().any(|said| said == line),
            "{line}\n{ended}"
        );
    }
    assert_eq!(paths(&folder), before, "a preview writes nothing");
}

#[test]
fn programs_get_the_whole_as_one_document() {
    let folder = repository();
    let ledger = Folder::empty();
    ledger.write(".jules/exchange/changes.yml", "schema_version: 1\n");
    let ended = render(
        &folder,
        &["--set", "role=qa", "--ledger", ledger.text(), "--json"],
    )
    .expect(0);
    let said: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(
        said["prompt"]
            .as_str()
            .unwrap()
            .contains("schema_version: 1"),
        "{ended}"
    );
    assert_eq!(
        said["seeds"][0]["to"],
        ".jules/workstations/qa/perspective.yml"
    );
    let seed = said["seeds"][0]["text"].as_str().unwrap();
    assert!(
        seed.contains("observer: \"qa\"") && seed.contains("goals:\n"),
        "{ended}"
    );
    assert_eq!(said["included"][0]["from"], "phileas");
    assert_eq!(said["included"][3]["from"], "schema");
    assert_eq!(
        said["included"][3]["schema"],
        ".jules/layers/observers/schemas/perspective.yml"
    );
    assert_eq!(said["skipped"].as_array().unwrap().len(), 0);
    assert_eq!(said["included"].as_array().unwrap().len(), 5);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = repository();
    let ended = render(&folder, &[]).expect(1);
    let begins = ".jules/layers/observers/observers_prompt.j2:1:";
    assert!(
        ended.out.starts_with(begins) && ended.out.contains("role"),
        "{ended}"
    );
    for (arguments, word) in [
        (&["--role", "../../x"][..], "has no role `../../x`"),
        (
            &["--role", "qa", "--task", "nosuch"],
            "there is no task `nosuch`",
        ),
    ] {
        let ended = render(&folder, arguments).expect(2);
        assert!(ended.out.is_empty() && ended.err.contains(word), "{ended}");
    }
    render(&folder, &["--set", "role"]).expect(2);
    let nonsense = ["prompt", "render", "obsrevers", folder.text()];
    let ended = Phileas::new(&nonsense).run().expect(2);
    assert!(
        ended.out.is_empty() && ended.err.contains("did you mean `observers`?"),
        "{ended}"
    );
    std::fs::remove_file(folder.join(CONTRACTS)).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.join(CONTRACTS)).unwrap();
    let ended = render(&folder, &["--role", "qa"]).expect(1);
    assert!(ended.out.contains("symbolic link"), "{ended}");
}

/// The built-in template is not to blame, and no user can fix it.
#[test]
fn a_layer_of_roles_wants_to_know_which() {
    let folder = Folder::repository("cycle = [\"a\"]\n", &["a"]);
    for (layer, role) in [("observers", "docs"), ("innovators", "architect")] {
        let words = ["prompt", "render", layer, folder.text()];
        let ended = Phileas::new(&words).run().expect(2);
        let said = format!("a prompt of the {layer} is one role's: say --role NAME, one of ");
        assert!(ended.out.is_empty() && ended.err.contains(&said), "{ended}");
        assert!(ended.err.contains(role), "{ended}");
        let words = [&words[..], &["--role", role]].concat();
        Phileas::new(&words).run().expect(0);
    }
}

#[test]
fn validate_says_which_line_tells_the_agent_to_read() {
    let folder = repository();
    let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
    assert!(ended.out.contains("0 warnings"), "{ended}");
    folder.write(
        CONTRACTS,
        "layer: observers\nconstraints:\n- Read .jules/exchange/changes.yml first.\n",
    );
    let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
    let begins = format!("{CONTRACTS}:3:3: warning: this tells the agent to read");
    assert!(
        ended.out.lines().any(|line| line.starts_with(&begins)),
        "{ended}"
    );
}
