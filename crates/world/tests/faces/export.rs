//! Tests of exports to disk.

use std::fs;
use std::path::Path;

use phileas_world::export::export_world;
use phileas_world::github::NewPull;
use phileas_world::seed::{Seed, files};

use crate::bench::{git_ok, seeded_world};

/// A world with three branches, one merged and one squashed away pull request, and a second repository.
fn busy_world() -> (phileas_world::World, phileas_world::github::RepoId) {
    let (mut world, repo) = seeded_world();
    let now = world.now();
    world.seed(&Seed::new(
        "ada",
        "engine",
        files(&[("main.c", "int main;\n")]),
    ));
    let github = world.github_mut();
    for (branch, path) in [("fix/one", "one.txt"), ("feature/two/deep", "dir/two.txt")] {
        let parent = github.branch_head(repo, "main");
        let change = [(path.to_owned(), Some(format!("{branch}\n").into()))];
        let commit =
            github.commit_files(repo, parent, &change, "gale", &format!("Add {path}"), now);
        github.create_branch(repo, branch, commit, "gale", now);
        let new = NewPull {
            title: format!("Add {path}"),
            head: branch.to_owned(),
            base: "main".to_owned(),
            author: "gale".to_owned(),
            ..NewPull::default()
        };
        github.open_pull(repo, new, now);
    }
    github.merge_pull(repo, 1, "octo", now).unwrap();
    github.delete_branch(repo, "fix/one", "octo", now);
    (world, repo)
}

#[test]
fn git_finds_nothing_wrong_and_shows_the_commits() {
    let (world, repo) = busy_world();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("deep").join("export");
    export_world(&world, repo, &dir).unwrap();
    let git = dir.join("git");
    let checked = git_ok(&git, &["fsck", "--full", "--strict"]);
    assert_eq!(checked, "");
    let log = git_ok(&git, &["log", "--format=%s", "main"]);
    for subject in ["Initial commit", "Add one.txt"] {
        assert!(
            log.lines().any(|line| line == subject),
            "{subject} in {log}"
        );
    }
    assert_eq!(log.lines().count(), 3, "{log}");
    assert_eq!(git_ok(&git, &["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    let refs = git_ok(&git, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(
        refs.lines().collect::<Vec<_>>(),
        [
            "refs/heads/feature/two/deep",
            "refs/heads/jules",
            "refs/heads/main",
            "refs/pull/1/head",
            "refs/pull/2/head"
        ]
    );
    let read = |path: &str| fs::read_to_string(dir.join(path)).unwrap();
    assert_eq!(read("branches/main/one.txt"), "fix/one\n");
    assert_eq!(
        read("branches/feature/two/deep/dir/two.txt"),
        "feature/two/deep\n"
    );
    assert_eq!(read("branches/jules/.jules/state.json"), "{}\n");
    assert!(!dir.join("branches/fix").exists());
    git_ok(
        &dir.join("repos/ada/engine/git"),
        &["fsck", "--full", "--strict"],
    );
    assert_eq!(read("repos/ada/engine/branches/main/main.c"), "int main;\n");
    let books: serde_json::Value = serde_json::from_str(&read("world.json")).unwrap();
    assert!(
        books["github_writes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|write| write["what"] == "pull.merged")
    );
    assert!(read("world.json").ends_with("}\n"));
}

#[test]
fn the_same_world_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["a", "b"].map(|name| {
        let (world, repo) = busy_world();
        let dir = folder.path().join(name);
        // With two repositories the one at the top must be named.
        export_world(&world, repo, &dir).unwrap();
        let refs = git_ok(&dir.join("git"), &["for-each-ref"]);
        (fs::read_to_string(dir.join("world.json")).unwrap(), refs)
    });
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn an_earlier_export_is_replaced_and_nothing_else() {
    let (mut world, repo) = busy_world();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("export");
    export_world(&world, repo, &dir).unwrap();
    let now = world.now();
    world
        .github_mut()
        .delete_branch(repo, "feature/two/deep", "octo", now);
    export_world(&world, repo, &dir).unwrap();
    assert!(!dir.join("branches/feature").exists());
    let beside: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(beside, ["export"], "nothing temporary stays");

    fs::write(dir.join("diary.txt"), "mine\n").unwrap();
    assert_refused(&world, repo, &dir, "diary.txt");
    let books = folder.path().join("other");
    fs::create_dir_all(&books).unwrap();
    fs::write(books.join("world.json"), "{}\n").unwrap();
    assert_refused(&world, repo, &books, "not an earlier export");
    assert_refused(&world, repo, &books.join("world.json"), "not a folder");
    assert_eq!(fs::read_to_string(dir.join("diary.txt")).unwrap(), "mine\n");
}

fn assert_refused(
    world: &phileas_world::World,
    repo: phileas_world::github::RepoId,
    dir: &Path,
    why: &str,
) {
    let error = export_world(world, repo, dir).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn a_name_that_leads_out_of_the_export_stops_it() {
    let (mut world, repo) = seeded_world();
    let now = world.now();
    let github = world.github_mut();
    let parent = github.branch_head(repo, "main");
    let change = [("../../evil".to_owned(), Some("x".into()))];
    let commit = github.commit_files(repo, parent, &change, "eve", "Evil", now);
    github.move_branch(repo, "main", commit, "eve", now);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("export");
    let error = export_world(&world, repo, &dir).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(
        error.to_string().contains("branch main, file ../../evil"),
        "{error}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_world_with_one_repository_needs_no_name_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("export");
    let nothing = phileas_world::World::new(phileas_world::WorldConfig::default());
    let error = nothing.export(&dir).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    seeded_world().0.export(&dir).unwrap();
    assert!(dir.join("branches/main/README.md").is_file());
}
