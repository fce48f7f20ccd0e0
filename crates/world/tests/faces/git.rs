//! Tests with the real git against the model.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use phileas_world::github::State;

use crate::bench::{Served, commit_file, git_fails, git_ok, seeded_world};

fn clone(served: &Served, credentials: &str, into: &Path) {
    let url = served.repository_url(credentials, "octo/garden.git");
    let parent = into.parent().unwrap();
    git_ok(parent, &["clone", "-q", &url, into.to_str().unwrap()]);
}

#[test]
fn a_clone_is_whole_and_a_push_arrives_in_the_model() {
    let (mut world, repo) = seeded_world();
    world.github_mut().add_hook(
        repo,
        "http://hooks.invalid/",
        None,
        &["push", "create"],
        world_start(),
    );
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    clone(&served, "x-access-token:gale-token", &work);
    git_ok(&work, &["fsck", "--full", "--strict"]);
    assert_eq!(
        std::fs::read_to_string(work.join("README.md")).unwrap(),
        "# Garden\n"
    );
    assert!(git_ok(&work, &["branch", "-r"]).contains("origin/jules"));

    commit_file(&work, "notes/today.md", "rain\n", "Write notes");
    git_ok(
        &work,
        &[
            "push",
            "-q",
            "origin",
            "HEAD:main",
            "HEAD:refs/heads/topic/x",
        ],
    );
    git_ok(&work, &["tag", "-a", "v1", "-m", "One"]);
    git_ok(&work, &["push", "-q", "origin", "v1"]);

    let head = git_ok(&work, &["rev-parse", "HEAD"]);
    let world = served.world.lock().unwrap();
    let github = world.github();
    let main = github.branch_head(repo, "main").unwrap();
    assert_eq!(main.to_string(), head.trim());
    assert_eq!(github.branch_head(repo, "topic/x"), Some(main));
    let notes = github.read_file(repo, main, "notes/today.md").unwrap();
    assert_eq!(notes, "rain\n");
    assert!(
        github
            .repository(repo)
            .unwrap()
            .refs
            .contains_key("refs/tags/v1")
    );
    let events: Vec<_> = github
        .deliveries()
        .map(|delivery| delivery.event.as_str())
        .collect();
    assert_eq!(events, ["push", "create", "push", "create", "push"]);
    let moved: Vec<_> = world
        .books()
        .github_writes
        .iter()
        .filter(|write| write.what == "ref.moved")
        .map(|write| write.actor.as_str())
        .collect();
    assert_eq!(moved, ["gale"]);
    let push = world
        .books()
        .requests
        .iter()
        .rfind(|request| request.route.ends_with("git-receive-pack") && request.method == "POST")
        .unwrap();
    assert_eq!(push.identity.as_deref(), Some("user:gale"));
}

fn world_start() -> jiff::Timestamp {
    phileas_world::WorldConfig::default().start
}

#[test]
fn a_second_writer_is_rejected_until_it_has_fetched() {
    let (world, repo) = seeded_world();
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    clone(&served, "x-access-token:gale-token", &one);
    clone(&served, "octo-token", &two);
    commit_file(&one, "a", "1\n", "One");
    commit_file(&two, "b", "2\n", "Two");
    git_ok(&one, &["push", "-q", "origin", "main"]);
    let complaint = git_fails(&two, &["push", "-q", "origin", "main"]);
    assert!(complaint.contains("fetch first"), "{complaint}");
    git_ok(&two, &["pull", "-q", "--rebase", "origin", "main"]);
    git_ok(&two, &["push", "-q", "origin", "main"]);
    let world = served.world.lock().unwrap();
    let head = world.github().branch_head(repo, "main").unwrap();
    assert_eq!(
        world.github().list_files(repo, head),
        ["README.md", "a", "b", "src/lib.rs"]
    );
}

/// Between the advertisement and the pack another write moves the branch: git must see its old value refused.
#[test]
fn a_push_that_races_another_write_is_refused() {
    let (world, repo) = seeded_world();
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    clone(&served, "x-access-token:gale-token", &work);
    let old = git_ok(&work, &["rev-parse", "HEAD"]);
    commit_file(&work, "a", "1\n", "One");
    let new = git_ok(&work, &["rev-parse", "HEAD"]);
    let moved = {
        let mut world = served.world.lock().unwrap();
        let now = world.now();
        let github = world.github_mut();
        let parent = github.branch_head(repo, "main");
        let files = [("other".to_owned(), Some("x\n".into()))];
        let commit = github.commit_files(repo, parent, &files, "octo", "Other", now);
        github.move_branch(repo, "main", commit, "octo", now);
        commit
    };
    let line = format!(
        "{} {} refs/heads/main\0report-status\n",
        old.trim(),
        new.trim()
    );
    let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
    body.extend_from_slice(&pack_objects(&work, new.trim()));
    let authorization = "authorization: Basic Z2FsZTpnYWxlLXRva2Vu\r\n";
    let reply = served
        .send_request(
            "POST",
            "/octo/garden.git/git-receive-pack",
            authorization,
            &body,
        )
        .unwrap();
    let report = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(report.contains("ng refs/heads/main"), "{report}");
    let world = served.world.lock().unwrap();
    assert_eq!(world.github().branch_head(repo, "main"), Some(moved));
}

fn pack_objects(folder: &Path, revision: &str) -> Vec<u8> {
    let mut child = std::process::Command::new("git")
        .args(["pack-objects", "--revs", "--stdout", "-q"])
        .current_dir(folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{revision}").unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn permissions_are_those_of_the_token() {
    let (mut world, _) = seeded_world();
    let mut secret = phileas_world::seed::Seed::new(
        "octo",
        "secret",
        phileas_world::seed::files(&[("a", "1\n")]),
    );
    secret.private = true;
    world.seed(&secret);
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();

    let anonymous = here.join("anonymous");
    clone(&served, "", &anonymous);
    commit_file(&anonymous, "a", "1\n", "One");
    let complaint = git_fails(&anonymous, &["push", "origin", "main"]);
    assert!(complaint.contains("could not read Username"), "{complaint}");

    let reader = served.repository_url("x-access-token:eve-token", "octo/garden.git");
    let complaint = git_fails(&anonymous, &["push", &reader, "main"]);
    assert!(
        complaint.contains("Permission to octo/garden.git denied to eve."),
        "{complaint}"
    );
    assert!(complaint.contains("403"), "{complaint}");

    let unauthorized = served.repository_url("x-access-token:wrong", "octo/secret.git");
    let complaint = git_fails(here, &["ls-remote", &unauthorized]);
    assert!(complaint.contains("Authentication failed"), "{complaint}");

    let hidden = served.repository_url("", "octo/secret");
    assert!(git_fails(here, &["ls-remote", &hidden]).contains("could not read Username"));
    let hidden = served.repository_url("eve-token", "octo/secret");
    assert!(git_fails(here, &["ls-remote", &hidden]).contains("not found"));
    let open = served.repository_url("octo-token:x-oauth-basic", "octo/secret");
    assert!(git_ok(here, &["ls-remote", &open]).contains("refs/heads/main"));

    let reply = served
        .send_request(
            "GET",
            "/octo/secret/info/refs?service=git-upload-pack",
            "",
            b"",
        )
        .unwrap();
    assert_eq!(reply.status, 401);
    assert_eq!(
        reply.header("www-authenticate"),
        Some("Basic realm=\"GitHub\"")
    );
}

#[test]
fn branches_are_forced_and_deleted_and_pull_requests_follow() {
    let (world, repo) = seeded_world();
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    clone(&served, "x-access-token:gale-token", &work);
    git_ok(&work, &["checkout", "-qb", "topic"]);
    commit_file(&work, "a", "1\n", "One");
    git_ok(&work, &["push", "-q", "origin", "topic"]);
    let number = {
        let mut world = served.world.lock().unwrap();
        let now = world.now();
        let new = phileas_world::github::NewPull {
            title: "Topic".to_owned(),
            head: "topic".to_owned(),
            base: "main".to_owned(),
            author: "gale".to_owned(),
            ..Default::default()
        };
        world.github_mut().open_pull(repo, new, now)
    };
    git_ok(&work, &["commit", "-q", "--amend", "-m", "Again"]);
    let complaint = git_fails(&work, &["push", "-q", "origin", "topic"]);
    assert!(complaint.contains("rejected"), "{complaint}");
    git_ok(&work, &["push", "-q", "--force", "origin", "topic"]);
    let head = git_ok(&work, &["rev-parse", "HEAD"]);
    let advertised = git_ok(
        &work,
        &["ls-remote", "origin", &format!("refs/pull/{number}/head")],
    );
    assert!(advertised.starts_with(head.trim()), "{advertised}");
    let complaint = git_fails(&work, &["push", "origin", "HEAD:refs/pull/9/head"]);
    assert!(complaint.contains("hidden ref"), "{complaint}");

    git_ok(&work, &["push", "-q", "origin", ":topic"]);
    let complaint = git_fails(&work, &["push", "origin", ":main"]);
    assert!(
        complaint.contains("refusing to delete the current branch"),
        "{complaint}"
    );
    let world = served.world.lock().unwrap();
    assert_eq!(world.github().branch_head(repo, "topic"), None);
    let pull = world.github().pull(repo, number).unwrap();
    assert_eq!(
        (pull.state, pull.head.oid.to_string().as_str()),
        (State::Closed, head.trim())
    );
}

#[test]
fn the_first_push_makes_an_empty_repository_and_its_default_branch() {
    let (mut world, _) = seeded_world();
    let empty = world.seed(&phileas_world::seed::Seed::new(
        "octo",
        "bare",
        Default::default(),
    ));
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    let url = served.repository_url("x-access-token:octo-token", "octo/bare");
    git_ok(
        folder.path(),
        &["clone", "-q", &url, work.to_str().unwrap()],
    );
    git_ok(&work, &["checkout", "-qb", "trunk"]);
    commit_file(&work, "a", "1\n", "One");
    git_ok(&work, &["push", "-q", "origin", "trunk"]);
    let again = folder.path().join("again");
    git_ok(
        folder.path(),
        &["clone", "-q", &url, again.to_str().unwrap()],
    );
    assert_eq!(std::fs::read_to_string(again.join("a")).unwrap(), "1\n");
    let world = served.world.lock().unwrap();
    assert_eq!(
        world.github().repository(empty).unwrap().default_branch,
        "trunk"
    );
}

#[test]
fn a_renamed_repository_is_found_and_older_protocols_are_spoken() {
    let (mut world, repo) = seeded_world();
    let now = world.now();
    world
        .github_mut()
        .rename_repository(repo, "meadow", "octo", now);
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let url = served.repository_url("", "octo/garden.git");
    for version in ["0", "1", "2"] {
        let setting = format!("protocol.version={version}");
        let refs = git_ok(folder.path(), &["-c", &setting, "ls-remote", &url]);
        assert!(refs.contains("refs/heads/main"), "{version}: {refs}");
        git_ok(
            folder.path(),
            &["-c", &setting, "clone", "-q", "--depth=1", &url, version],
        );
    }
    let reply = served
        .send_request("GET", "/octo/meadow.git/info/refs", "", b"")
        .unwrap();
    assert_eq!(reply.status, 403, "the dumb protocol");
}

#[test]
fn a_packed_request_body_is_understood() {
    let (world, _) = seeded_world();
    let served = Served::serve_world(world);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"0014command=ls-refs\n0000").unwrap();
    let headers = "content-encoding: gzip\r\ngit-protocol: version=2\r\n\
        content-type: application/x-git-upload-pack-request\r\n";
    let reply = served
        .send_request(
            "POST",
            "/octo/garden/git-upload-pack",
            headers,
            &packed.finish().unwrap(),
        )
        .unwrap();
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("content-type"),
        Some("application/x-git-upload-pack-result")
    );
    assert!(String::from_utf8_lossy(&reply.body).contains("refs/heads/jules"));
}

/// git refuses a branch inside another one by itself, and finds nothing wrong in what the model exports.
#[test]
fn a_branch_inside_another_is_refused_and_the_export_can_be_cloned() {
    let (world, repo) = seeded_world();
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    clone(&served, "x-access-token:gale-token", &work);
    let complaint = git_fails(&work, &["push", "-q", "origin", "HEAD:refs/heads/jules/x"]);
    assert!(complaint.contains("remote rejected"), "{complaint}");
    git_ok(&work, &["push", "-q", "origin", "HEAD:refs/heads/a/b"]);
    git_fails(&work, &["push", "-q", "origin", "HEAD:refs/heads/a"]);
    {
        let mut world = served.world.lock().unwrap();
        let now = world.now();
        let github = world.github_mut();
        let head = github.branch_head(repo, "main").unwrap();
        for name in ["jules/y", "a", "a/b/c"] {
            github.create_branch(repo, name, head, "octo", now);
            github.move_branch(repo, name, head, "octo", now);
            assert_eq!(github.branch_head(repo, name), None);
        }
    }
    let world = served.world.lock().unwrap();
    let dir = folder.path().join("export");
    phileas_world::export::export_world(&world, repo, &dir).unwrap();
    let copy = folder.path().join("copy");
    let from = dir.join("git");
    git_ok(
        folder.path(),
        &[
            "clone",
            "-q",
            from.to_str().unwrap(),
            copy.to_str().unwrap(),
        ],
    );
    git_ok(&copy, &["fsck", "--full", "--strict"]);
    let branches = git_ok(
        &copy,
        &["for-each-ref", "--format=%(refname)", "refs/remotes"],
    );
    assert!(branches.contains("refs/remotes/origin/a/b\n"), "{branches}");
}

/// What rules forbid is declined in the words of GitHub, and what else is in the same push arrives.
#[test]
fn a_push_that_rules_forbid_is_declined() {
    let (mut world, repo) = seeded_world();
    let rule = serde_json::json!({"type": "commit_message_pattern",
        "parameters": {"operator": "starts_with", "pattern": "feat"}});
    let github = world.github_mut();
    github.set_ruleset(repo, "topic/**", vec![rule]);
    github.set_rules(repo, "kept", &["deletion"]);
    let head = github.branch_head(repo, "main").unwrap();
    github.create_branch(repo, "kept", head, "octo", world_start());
    let served = Served::serve_world(world);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    clone(&served, "x-access-token:gale-token", &work);
    commit_file(&work, "a", "1\n", "Write");
    let push = [
        "push",
        "origin",
        "HEAD:refs/heads/topic/x",
        "HEAD:refs/heads/free",
    ];
    let complaint = git_fails(&work, &push);
    assert!(
        complaint.contains("push declined due to repository rule violations"),
        "{complaint}"
    );
    assert!(complaint.contains("GH013"), "{complaint}");
    git_fails(&work, &["push", "origin", ":kept"]);
    {
        let world = served.world.lock().unwrap();
        assert_eq!(world.github().branch_head(repo, "topic/x"), None);
        assert!(world.github().branch_head(repo, "free").is_some());
        assert_eq!(world.github().branch_head(repo, "kept"), Some(head));
    }
    commit_file(&work, "b", "2\n", "feat: Write");
    // The commit before is on a branch already.
    git_ok(&work, &["push", "-q", "origin", "HEAD:refs/heads/topic/x"]);
    let world = served.world.lock().unwrap();
    let dir = folder.path().join("export");
    phileas_world::export::export_world(&world, repo, &dir).unwrap();
    let (from, copy) = (dir.join("git"), folder.path().join("copy"));
    git_ok(
        folder.path(),
        &[
            "clone",
            "-q",
            from.to_str().unwrap(),
            copy.to_str().unwrap(),
        ],
    );
    git_ok(&copy, &["fsck", "--full", "--strict"]);
}
