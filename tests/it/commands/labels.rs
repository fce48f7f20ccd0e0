//! `phileas labels sync`.

use super::bench::{Bench, bench};

/// Name, colour and description of each label, from the model's own books.
fn labels(bench: &Bench) -> Vec<(String, String, String)> {
    let world = bench.shared.lock_world();
    let repository = world.github().repository(bench.repo).unwrap();
    let labels = repository.labels.values();
    labels
        .map(|label| {
            let description = label.description.clone().unwrap_or_default();
            (label.name.clone(), label.color.clone(), description)
        })
        .collect()
}

fn make(bench: &Bench, name: &str) {
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    github.create_label(bench.repo, name, "ededed", Some("of a user"), now);
}

#[test]
fn labels_are_created_fixed_and_left_alone() {
    let bench = bench();
    make(&bench, "phileas:HOLD");
    make(&bench, "phileas:ghost");
    make(&bench, "Phileas-like");
    let before = labels(&bench);

    let dry = bench
        .run(&["labels", "sync", "--dry-run", "--prune"])
        .done();
    assert!(
        dry.out.contains("would create the label phileas:curator"),
        "{dry:?}"
    );
    assert!(
        dry.out.contains("would delete the label phileas:ghost"),
        "{dry:?}"
    );
    assert_eq!(labels(&bench), before, "a dry run writes nothing");

    let lines = bench.run(&["labels", "sync", "--json"]).done().lines();
    assert_eq!(lines.last().unwrap()["summary"]["deleted"], 0, "{lines:?}");
    let now = labels(&bench);
    let find = |name: &str| now.iter().find(|(label, ..)| label == name);
    for word in [
        "curator",
        "tester",
        "refactor",
        "hold",
        "retry",
        "approve-plan",
        "merge",
        "pause",
    ] {
        let label = find(&format!("phileas:{word}")).unwrap_or_else(|| panic!("{word}: {now:?}"));
        assert_ne!(label.1, "ededed", "{word}");
        assert!(!label.2.is_empty(), "{word}");
    }
    assert!(find("phileas:ghost").is_some());
    assert_eq!(find("Phileas-like").unwrap().1, "ededed");

    let again = bench.run(&["labels", "sync", "--json"]).done().lines();
    let summary = &again.last().unwrap()["summary"];
    assert_eq!(
        [&summary["created"], &summary["updated"]],
        [0, 0],
        "{summary}"
    );

    bench.run(&["labels", "sync", "--prune"]).done();
    let left: Vec<String> = labels(&bench).into_iter().map(|(name, ..)| name).collect();
    assert!(!left.contains(&"phileas:ghost".to_owned()), "{left:?}");
    assert!(left.contains(&"Phileas-like".to_owned()), "{left:?}");
    assert_eq!(left.len(), now.len() - 1);
}

#[test]
fn a_persona_that_cannot_be_read_keeps_its_label() {
    let bench = bench();
    bench.run(&["labels", "sync"]).done();
    {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let path = ".jules/personas/tester/prompt.md.j2".to_owned();
        let head = github.branch_head(bench.repo, "main");
        assert!(github.read_file(bench.repo, head.unwrap(), &path).is_some());
        let files = [(path, Some("broken".to_owned().into()))];
        let commit = github.commit_files(bench.repo, head, &files, "maintainer", "Break it", now);
        github.move_branch(bench.repo, "main", commit, "maintainer", now);
    }
    bench
        .run(&["labels", "sync", "--prune"])
        .refused(1, "frontmatter");
    let names = labels(&bench);
    assert!(
        names.iter().any(|(name, ..)| name == "phileas:tester"),
        "{names:?}"
    );
}
