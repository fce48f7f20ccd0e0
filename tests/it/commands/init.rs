//! `phileas init` and `phileas deinit`.

use super::bench::{Bench, Ran, bench, program, run, text_of};
use super::fresh::{git, repository, within};
use crate::support::Folder;

const PIN: &str = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
const WORKFLOW: &str = ".github/workflows/phileas.yml";
const PLAN: &str = ".jules/schedules.toml";
const CURATOR: &str = ".jules/personas/curator/prompt.md";
const TESTER: &str = ".jules/personas/tester/prompt.md";

fn init(folder: &Folder, more: &[&str]) -> Ran {
    within(folder, &[&["init", "--action", PIN], more].concat())
}

#[test]
fn an_empty_repository_gets_all_it_needs() {
    let folder = repository();
    init(&folder, &[]).refused(2, "--yes");
    let dry = init(&folder, &["--dry-run"]).done();
    assert!(dry.out.contains("jules-api-key: ${{ secrets"), "{dry:?}");
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");

    let ran = init(&folder, &["--yes"]).done();
    let staged = git(&folder, &["diff", "--cached", "--name-only"]);
    let staged: Vec<&str> = staged.lines().collect();
    let tester = ".jules/personas/tester/prompt.md";
    assert_eq!(staged, [WORKFLOW, CURATOR, tester, PLAN]);
    let commands: Vec<&str> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("     "))
        .filter(|line| !line.starts_with("phileas labels"))
        .collect();
    assert!(
        commands.len() < 6,
        "with this one at most six: {commands:?}"
    );
    assert!(
        commands
            .iter()
            .any(|line| line.contains("gh secret set JULES_API_KEY"))
    );
    // The quickstart shows the same.
    let page = text_of(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/quickstart.md").as_ref());
    let (_, below) = page.split_once("\n## 3. Add it").unwrap();
    let (_, block) = below.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("\n```\n").unwrap();
    let block = block.replace("OWNER/NAME", "acme/widget");
    let begin = "phileas init --action phileas/phileas@$(git -C CLONE rev-parse HEAD)";
    let said = [&[begin], &commands[..]].concat().join("\n");
    assert_eq!(block, said);
    assert!(
        ran.out
            .contains("Commit and push to main, and the first session starts:\n"),
        "{ran:?}"
    );
    // What is printed beside these is named beside them.
    let labels = "phileas labels sync";
    let others = ran.out.lines().filter(|line| line.starts_with("     "));
    assert_eq!(others.count(), commands.len() + 1, "{ran:?}");
    assert!(below.contains(labels));
    assert_eq!(commands.len(), 5);
    // The first week, and what it costs.
    assert!(ran.out.contains("14 sessions; at most 2 a day"), "{ran:?}");
    let checked = within(&folder, &["validate"]).done();
    assert!(checked.out.contains("0 errors, 0 warnings"), "{checked:?}");
    let workflow = text_of(&folder.join(WORKFLOW));
    assert!(workflow.contains(&format!("uses: {PIN}\n")), "{workflow}");

    // What is there stays as it is, and that is said.
    let before = git(&folder, &["status", "--porcelain"]);
    let plainly = init(&folder, &["--yes"]).done();
    let said = "nothing to write: everything is there already, and stays as it is";
    assert!(plainly.out.contains(said), "{plainly:?}");
    assert!(
        plainly.out.contains("Commit and push to main"),
        "it is not committed yet: {plainly:?}"
    );
    for path in [WORKFLOW, PLAN, CURATOR, TESTER] {
        let line = plainly
            .out
            .lines()
            .find(|line| line.contains(path))
            .unwrap();
        assert!(
            line.contains("leave") && line.contains("it is there already"),
            "{line}"
        );
    }
    assert!(
        !ran.out.contains(said) && !plainly.out.contains("written and staged"),
        "{ran:?}"
    );
    assert_eq!(git(&folder, &["status", "--porcelain"]), before);
    let other = PIN.replace("0123456789abcdef", "f123456789abcdef");
    let moved = within(&folder, &["init", "--action", &other, "--dry-run"]).done();
    let way = format!("`phileas upgrade --action {other}`");
    assert!(moved.out.contains(&way), "{moved:?}");
    let again = init(&folder, &["--yes", "--json"]).done().lines();
    let files: Vec<_> = again
        .iter()
        .filter(|line| line["file"].is_string())
        .collect();
    assert_eq!(files.len(), 4, "{again:?}");
    assert!(
        files.iter().all(|line| line["action"] == "leave"),
        "{again:?}"
    );
    assert!(
        again.iter().all(|line| line["written"].is_null()),
        "{again:?}"
    );
}

/// What was changed in the workflow stays, and the commit is written all the same.
#[test]
fn an_edited_workflow_gets_the_commit_that_upgrade_names() {
    let folder = repository();
    within(&folder, &["init", "--yes", "--action", PIN]).done();
    let edited = text_of(&folder.join(WORKFLOW)).replace("runs-on: ubuntu-24.04", "runs-on: mine");
    std::fs::write(folder.join(WORKFLOW), edited).unwrap();
    let next = PIN.replace("0123456789abcdef", "f123456789abcdef");
    let pinned = within(&folder, &["upgrade", "--yes", "--action", &next]).done();
    for said in ["only its `uses:` line", ": 1 file written"] {
        assert!(pinned.out.contains(said), "{pinned:?}");
    }
    let text = text_of(&folder.join(WORKFLOW));
    assert!(
        text.contains(&format!("uses: {next}\n")) && text.contains("runs-on: mine"),
        "{text}"
    );
}

/// A program that was not built from a release knows no commit. `init` says so, and a person fills it in.
#[test]
fn without_a_release_the_commit_is_left_to_fill_in() {
    let folder = repository();
    let ran = within(&folder, &["init", "--yes"]).done();
    let hint = "- fill in the commit of phileas/phileas that it runs: this phileas was not built from a release";
    let said = |out: &str| out.lines().filter(|line| line.contains(hint)).count();
    assert_eq!(said(&ran.out), 1, "{ran:?}");
    assert!(!ran.out.contains("/v"), "it names no tag: {ran:?}");
    let blank =
        "uses: phileas/phileas@COMMIT # fill in: the 40 digits of a commit of phileas/phileas";
    let written = text_of(&folder.join(WORKFLOW));
    assert!(written.contains(blank), "{written}");
    within(&folder, &["validate"]).done();
    let step = "phileas upgrade --action phileas/phileas@COMMIT\n";
    assert!(ran.out.contains(step), "{ran:?}");

    // As long as it is not filled in, each run says so.
    let again = within(&folder, &["init", "--yes", "--json"]).done().lines();
    let workflow = again.iter().find(|line| line["file"] == WORKFLOW).unwrap();
    assert_eq!(workflow["action"], "leave");
    assert!(
        workflow["hints"].to_string().contains(&hint[2..]),
        "{again:?}"
    );

    within(&folder, &["upgrade", "--yes", "--action", PIN]).done();
    let filled = text_of(&folder.join(WORKFLOW));
    assert!(filled.contains(&format!("uses: {PIN}\n")), "{filled}");
    let staged = git(&folder, &["show", &format!(":{WORKFLOW}")]);
    assert!(staged.contains(PIN), "{staged}");
    let after = within(&folder, &["init", "--yes"]).done();
    assert_eq!(said(&after.out), 0, "{after:?}");
    assert!(!after.out.contains("@COMMIT"), "{after:?}");

    let gone = within(&folder, &["deinit", "--yes"]).done();
    assert!(
        gone.out
            .contains("removed 4 files and staged the removal; commit it"),
        "{gone:?}"
    );
}

/// A plan that a maintainer wrote by hand, and its persona.
fn plan_of_a_tester(folder: &Folder, plan: &str) {
    folder.write(PLAN, plan);
    folder.write(
        TESTER,
        "---\nid: tester\nemoji: \"🧪\"\ndescription: tests\n---\nTest it.\n",
    );
}

/// The plan was written by hand and is not added to git yet.
#[test]
fn what_git_does_not_know_is_part_of_the_commit() {
    let folder = repository();
    plan_of_a_tester(&folder, "cycle = [\"tester\"]\n");
    let ran = init(&folder, &["--yes"]).done();
    assert!(ran.out.contains("git add -- .jules\n"), "{ran:?}");
    git(&folder, &["add", "--", ".jules"]);
    git(&folder, &["commit", "--quiet", "--message", "Begin"]);
    let tracked = git(&folder, &["ls-files"]);
    for path in [WORKFLOW, PLAN, TESTER] {
        assert!(tracked.contains(path), "{tracked}");
    }
    let again = init(&folder, &["--yes"]).done();
    assert!(!again.out.contains("Commit and push"), "{again:?}");
    // Lines that `adopt` printed for a plan that was there.
    folder.write(PLAN, "cycle = [\"tester\"]\n# changed\n");
    let changed = init(&folder, &["--yes"]).done();
    let step = "Commit and push to main, also what is not committed yet in .jules";
    assert!(changed.out.contains(step), "{changed:?}");
    assert!(changed.out.contains("git add -- .jules\n"), "{changed:?}");
}

/// The files are written, and the exit code says that the plan has mistakes.
#[test]
fn a_plan_with_mistakes_is_a_finding() {
    let folder = repository();
    plan_of_a_tester(&folder, "cycle = [\"tester\", \"absent\"]\n");
    let ran = init(&folder, &["--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(folder.join(WORKFLOW).is_file(), "{ran:?}");
    assert!(ran.out.contains("absent"), "{ran:?}");
    assert!(ran.out.contains("phileas validate\n"), "{ran:?}");
    folder.write(PLAN, "cycle = [\"tester\"]\n");
    let ran = init(&folder, &["--yes"]).done();
    assert!(!ran.out.contains("phileas validate"), "{ran:?}");
}

#[test]
fn labels_that_cannot_be_made_do_not_hide_that_the_files_are_written() {
    let folder = repository();
    let mut unreachable = program(&["init", "--action", PIN, "--yes"]);
    unreachable
        .current_dir(folder.path())
        .env("GITHUB_TOKEN", "ghp_of_no_use")
        .env("GITHUB_API_URL", "http://127.0.0.1:1");
    let said = "the files are written; only the labels are not made";
    run(unreachable).refused(4, said);
    assert!(folder.join(WORKFLOW).exists());
}

#[test]
fn r13_nothing_is_written_outside_of_a_repository_or_through_a_link() {
    let folder = Folder::empty();
    init(&folder, &["--yes"]).refused(2, "go into a clone of your repository");
    let folder = repository();
    git(&folder, &["remote", "remove", "origin"]);
    init(&folder, &["--yes"]).refused(2, "--repo");

    let folder = repository();
    let elsewhere = Folder::empty();
    std::os::unix::fs::symlink(elsewhere.path(), folder.join(".github")).unwrap();
    init(&folder, &["--yes"]).refused(2, "symbolic link");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    std::fs::remove_file(folder.join(".github")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.join(".jules")).unwrap();
    init(&folder, &["--yes"]).refused(2, "symbolic link");
    assert!(!folder.join(".github").exists(), "all of it or nothing");
}

#[test]
fn a_file_in_the_place_of_a_folder_is_left_alone() {
    for place in [".github", ".github/workflows", ".jules/personas"] {
        let folder = repository();
        let path = folder.join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine").unwrap();
        init(&folder, &["--yes"]).refused(2, &format!("{place} is not a folder; move"));
        assert_eq!(text_of(&path), "mine");
        assert!(!folder.join(WORKFLOW).exists(), "all of it or nothing");
    }
}

#[test]
fn only_what_is_unchanged_is_removed() {
    let folder = repository();
    init(&folder, &["--yes"]).done();
    git(&folder, &["commit", "--quiet", "--message", "Begin"]);
    // A newer pin is no change, a word in a prompt is.
    let workflow = text_of(&folder.join(WORKFLOW)).replace("@0123", "@4567");
    folder.write(WORKFLOW, &workflow);
    let prompt = text_of(&folder.join(CURATOR)) + "And mind the spelling.\n";
    folder.write(CURATOR, &prompt);
    let dry = within(&folder, &["deinit", "--dry-run"]).done();
    assert!(
        dry.out.contains("remove  .github/workflows/phileas.yml"),
        "{dry:?}"
    );
    assert!(folder.join(WORKFLOW).exists());
    within(&folder, &["deinit"]).refused(2, "--yes");
    // The labels need a credential, and without it no file is removed either.
    within(&folder, &["deinit", "--yes", "--labels"]).refused(3, "GITHUB_TOKEN");
    assert!(folder.join(WORKFLOW).exists() && folder.join(PLAN).exists());

    let lines = within(&folder, &["deinit", "--yes", "--json"])
        .done()
        .lines();
    let left: Vec<_> = lines
        .iter()
        .filter(|line| line["action"] == "leave")
        .collect();
    assert_eq!(left.len(), 1, "{lines:?}");
    assert_eq!(left[0]["file"], CURATOR);
    assert!(left[0]["why"].as_str().unwrap().contains("changed"));
    assert!(!folder.join(".github").exists(), "empty folders go, too");
    assert!(!folder.join(PLAN).exists());
    assert!(folder.join(CURATOR).exists());
    let again = within(&folder, &["deinit", "--yes"]).done();
    for words in [
        "no file is as phileas init wrote it",
        "1 file stays; delete",
    ] {
        assert!(again.out.contains(words), "{again:?}");
    }
    assert!(
        !again.out.contains("workflow"),
        "it is gone already: {again:?}"
    );
    let staged = git(&folder, &["diff", "--cached", "--name-status"]);
    assert_eq!(
        staged
            .lines()
            .filter(|line| line.starts_with("D\t"))
            .count(),
        3,
        "{staged}"
    );
}

/// Commits files to the default branch, as a merge of them would.
fn commit(bench: &Bench, files: &[(String, Option<String>)]) {
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.clone(), text.clone().map(Into::into)))
        .collect();
    let head = github.branch_head(bench.repo, "main");
    let commit = github.commit_files(bench.repo, head, &files, "maintainer", "Begin", now);
    github.move_branch(bench.repo, "main", commit, "maintainer", now);
}

#[test]
fn a_pull_request_begins_and_another_ends() {
    let bench = bench();
    // The newcomer's repository without its plan: its personas get one.
    commit(&bench, &[(PLAN.to_owned(), None)]);
    let arguments = ["init", "--action", PIN, "--pull-request", "--yes", "--json"];
    let act = |name: &str, make: bool| {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let head = github.branch_head(bench.repo, "main").unwrap();
        if make {
            github.create_branch(bench.repo, name, head, "maintainer", now);
        } else {
            github.delete_branch(bench.repo, name, "maintainer", now);
        }
    };
    act("phileas", true);
    let blocked = "`phileas/init` beside the branch `phileas`";
    bench.run(&arguments).refused(2, blocked);
    act("phileas", false);
    let lines = bench.run(&arguments).done().lines();
    let opened = lines
        .iter()
        .find(|line| line["pull_request"].is_u64())
        .unwrap();
    assert_eq!(opened["new"], true);
    let number = opened["pull_request"].as_u64().unwrap();
    let labelled = lines.iter().any(|line| line["label"] == "phileas:curator");
    assert!(labelled, "{lines:?}");
    let read = |branch: &str, path: &str| {
        let world = bench.shared.lock_world();
        let head = world.github().branch_head(bench.repo, branch)?;
        let bytes = world.github().read_file(bench.repo, head, path)?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    };
    let (workflow, plan) = (
        read("phileas/init", WORKFLOW).unwrap(),
        read("phileas/init", PLAN).unwrap(),
    );
    assert!(
        plan.contains("\"curator\"") && plan.contains("\"refactor\""),
        "{plan}"
    );
    assert_eq!(read("main", WORKFLOW), None);
    {
        let world = bench.shared.lock_world();
        let pull = world.github().pull(bench.repo, number).unwrap();
        assert_eq!(pull.head.branch, "phileas/init");
        assert_eq!(pull.base.branch, "main");
    }
    // Once more is not twice.
    let lines = bench.run(&arguments).done().lines();
    let opened = lines
        .iter()
        .find(|line| line["pull_request"].is_u64())
        .unwrap();
    assert_eq!(opened["pull_request"], number);
    assert_eq!(opened["new"], false);
    assert_eq!(
        bench.shared.lock_world().github().pulls(bench.repo).count(),
        1
    );

    commit(
        &bench,
        &[
            (WORKFLOW.to_owned(), Some(workflow)),
            (PLAN.to_owned(), Some(plan)),
        ],
    );
    let arguments = ["deinit", "--pull-request", "--yes", "--json", "--labels"];
    let lines = bench.run(&arguments).done().lines();
    let removed = lines
        .iter()
        .filter(|line| line["action"] == "remove")
        .count();
    assert_eq!(removed, 2, "{lines:?}");
    assert_eq!(read("phileas/deinit", WORKFLOW), None);
    assert_eq!(read("phileas/deinit", PLAN), None);
    assert!(read("main", WORKFLOW).is_some());
    let world = bench.shared.lock_world();
    let repository = world.github().repository(bench.repo).unwrap();
    assert!(!repository.labels.contains_key("phileas:curator"));
    drop(world);
    // A branch that holds something else is not overwritten.
    bench
        .run(&[
            "init",
            "--action",
            PIN,
            "--pull-request",
            "--yes",
            "--repo",
            "acme/nowhere",
        ])
        .refused(2, "acme/nowhere was not found");
}

/// What an earlier version wrote comes as a pull request, and what people changed is not in it.
#[test]
fn an_upgrade_can_be_a_pull_request() {
    let bench = bench();
    commit(&bench, &[(PLAN.to_owned(), None)]);
    bench
        .run(&["init", "--action", PIN, "--pull-request", "--yes", "--json"])
        .done();
    let read = |branch: &str, path: &str| {
        let world = bench.shared.lock_world();
        let head = world.github().branch_head(bench.repo, branch)?;
        let bytes = world.github().read_file(bench.repo, head, path)?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    };
    let workflow = read("phileas/init", WORKFLOW).unwrap();
    commit(&bench, &[(WORKFLOW.to_owned(), Some(workflow.clone()))]);
    let newer = PIN.replace('0', "1");
    let newer = if newer == PIN {
        PIN.replace('a', "b")
    } else {
        newer
    };
    let arguments = [
        "upgrade",
        "--action",
        &newer,
        "--pull-request",
        "--yes",
        "--json",
    ];
    let dry = bench
        .run(&[&arguments[..], &["--dry-run"]].concat())
        .done()
        .lines();
    assert!(
        dry.iter().all(|line| line["pull_request"].is_null()),
        "{dry:?}"
    );
    let lines = bench.run(&arguments).done().lines();
    let opened = lines.iter().find(|line| line["pull_request"].is_u64());
    assert_eq!(opened.unwrap()["new"], true, "{lines:?}");
    let branch = format!("phileas/upgrade-{}", env!("CARGO_PKG_VERSION"));
    assert!(read(&branch, WORKFLOW).unwrap().contains(&newer));
    assert_eq!(read("main", WORKFLOW), Some(workflow), "people merge it");
    // It is open already, and stays as it is.
    let again = bench.run(&arguments).done().lines();
    let opened = again.iter().find(|line| line["pull_request"].is_u64());
    assert_eq!(opened.unwrap()["new"], false, "{again:?}");
}
