//! What keeps `phileas init` from beginning, and how it goes on once that is fixed.

use super::bench::{Ran, program, run, text_of};
use super::fresh::{git, repository, within, within_little_room};
use crate::support::Folder;

const PIN: &str = "phileas/phileas@0123456789abcdef0123456789abcdef01234567";
const WORKFLOW: &str = ".github/workflows/phileas.yml";
const PLAN: &str = ".jules/schedules.toml";
const CURATOR: &str = ".jules/personas/curator/prompt.md";
const TESTER: &str = ".jules/personas/tester/prompt.md";
const INIT: [&str; 4] = ["init", "--yes", "--action", PIN];

fn init(folder: &Folder, more: &[&str]) -> Ran {
    within(folder, &[&INIT[..], more].concat())
}

fn commit(folder: &Folder, message: &str) {
    git(
        folder,
        &["commit", "--quiet", "--allow-empty", "--message", message],
    );
}

fn staged(folder: &Folder) -> Vec<String> {
    let names = git(folder, &["diff", "--cached", "--name-only"]);
    names.lines().map(str::to_owned).collect()
}

/// A clone whose `origin` has the branch main, and that as its default.
fn clone() -> Folder {
    let folder = repository();
    commit(&folder, "Begin");
    let remote = "refs/remotes/origin/main";
    git(&folder, &["update-ref", remote, "HEAD"]);
    git(
        &folder,
        &["symbolic-ref", "refs/remotes/origin/HEAD", remote],
    );
    folder
}

#[test]
fn a_missing_repository_is_named() {
    let folder = Folder::empty();
    let ran = within(&folder, &["init"]).refused(2, "is not a git work tree");
    assert!(!ran.err.contains("--action"), "{ran:?}");
    git(&folder, &["init", "--quiet"]);
    let ran = within(&folder, &["init"]).refused(2, "no remote `origin`");
    assert!(!ran.err.contains("--action"), "{ran:?}");
    let address = "https://me:secret@github.com/widget.git";
    git(&folder, &["remote", "add", "origin", address]);
    let ran = within(&folder, &["init"]).refused(
        2,
        "the address of `origin` (https://github.com/widget.git) names no OWNER/NAME",
    );
    assert!(!ran.err.contains("secret"), "{ran:?}");
}

#[test]
fn a_wrong_branch_is_refused_and_another_repository_is_told() {
    let folder = repository();
    commit(&folder, "Begin");
    init(&folder, &["--default-branch", "no such"])
        .refused(2, "--default-branch: `no such` cannot be a branch's name");
    let ran = init(&folder, &["--repo", "other/repo"]).done();
    assert!(
        ran.err
            .contains("warning: --repo names other/repo, and the remote `origin` here is "),
        "{ran:?}"
    );
}

/// `git add` would refuse the printed command just so.
#[test]
fn a_folder_that_git_ignores_is_told_with_the_way_out() {
    let folder = repository();
    folder.write(".gitignore", ".jules\n");
    let ran = init(&folder, &[]).refused(1, "take .jules out of .gitignore");
    let (_, command) = ran.err.trim_end().rsplit_once("then: git ").unwrap();
    assert!(command.starts_with("add --force -- "), "{ran:?}");
    let words: Vec<&str> = command.split(' ').collect();
    git(&folder, &words);
    assert!(staged(&folder).contains(&PLAN.to_owned()));
}

/// A refusal of git is told in git's own words, which name the fix.
#[test]
fn what_git_refuses_is_told_in_its_own_words() {
    let folder = repository();
    for arguments in [&["init"][..], &["status"], &["deinit"]] {
        let mut command = program(arguments);
        command
            .current_dir(folder.path())
            .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
        let ran = run(command).refused(2, "detected dubious ownership");
        assert!(
            ran.err.contains("git config --global --add safe.directory"),
            "{ran:?}"
        );
        assert!(!ran.err.contains("is not a git work tree"), "{ran:?}");
    }
}

/// The commit that is printed takes nothing that a person has staged, and the push of another branch is told.
#[test]
fn the_printed_commands_take_nothing_else_along_unseen() {
    let folder = clone();
    let ran = init(&folder, &[]).done();
    let plain = "git commit --message 'Let phileas run Jules on a schedule'\n";
    assert!(ran.out.contains(plain), "{ran:?}");
    assert!(!ran.out.contains("is checked out"), "{ran:?}");

    let folder = clone();
    folder.write("own.txt", "mine\n");
    git(&folder, &["add", "own.txt"]);
    let ran = init(&folder, &[]).done();
    let limited = "on a schedule' -- .github/workflows/phileas.yml .jules\n";
    assert!(ran.out.contains(limited), "{ran:?}");
    assert!(ran.out.contains("You have staged other files"), "{ran:?}");
    let paths = [WORKFLOW, ".jules"];
    let arguments = [&["commit", "--quiet", "--message", "Let", "--"][..], &paths].concat();
    git(&folder, &arguments);
    assert_eq!(staged(&folder), ["own.txt"]);

    // Nothing is known of main here, so the push might take all of this branch there.
    let folder = repository();
    git(&folder, &["symbolic-ref", "HEAD", "refs/heads/work"]);
    commit(&folder, "Begin");
    let ran = init(&folder, &["--default-branch", "main"]).done();
    for words in [
        "`work` is checked out, not main",
        "every commit here that main lacks",
    ] {
        assert!(ran.out.contains(words), "{ran:?}");
    }
}

/// The push that is printed would put a feature's own commits on the default branch.
#[test]
fn commits_of_another_branch_are_not_put_on_the_default_branch() {
    let folder = clone();
    git(&folder, &["switch", "--quiet", "--create", "feature"]);
    // As long as it is where main is, the push takes nothing else there.
    let dry = init(&folder, &["--dry-run"]).done();
    assert!(dry.out.contains("default branch main"), "{dry:?}");
    commit(&folder, "A feature");
    for more in [&[][..], &["--json"], &["--layers"], &["--dry-run"]] {
        let ran = init(&folder, more).refused(2, "`git switch main` first");
        for word in [
            "`feature`",
            "1 commit that main does not have",
            "--pull-request",
        ] {
            assert!(ran.err.contains(word), "{ran:?}");
        }
        assert!(!ran.out.contains("HEAD:main"), "{ran:?}");
        assert_eq!(git(&folder, &["status", "--porcelain"]), "");
    }
    git(&folder, &["switch", "--quiet", "--detach"]);
    init(&folder, &[]).refused(2, "no branch is checked out");
    // What prints no push has nothing against another branch.
    within(&folder, &["deinit", "--yes"]).done();
    within(&folder, &["upgrade", "--yes"]).done();

    // Commits of main itself are meant for it, whether they are pushed or not.
    git(&folder, &["switch", "--quiet", "main"]);
    commit(&folder, "Not pushed yet");
    let ran = init(&folder, &[]).done();
    assert!(ran.out.contains("git push origin 'HEAD:main'"), "{ran:?}");
    assert_eq!(staged(&folder).len(), 4);
}

/// The twin: a checkout without a branch, as workflows make it, and a branch that comes to be by the push.
#[test]
fn what_has_no_commits_of_its_own_begins_on_any_branch() {
    let folder = clone();
    git(&folder, &["switch", "--quiet", "--detach"]);
    init(&folder, &[]).done();
    assert_eq!(staged(&folder).len(), 4);
    for work in ["no commit", "no origin/main"] {
        let folder = repository();
        git(&folder, &["symbolic-ref", "HEAD", "refs/heads/master"]);
        if work == "no origin/main" {
            commit(&folder, "Begin");
        }
        let ran = init(&folder, &["--default-branch", "main"]).done();
        assert!(
            ran.out.contains("git push origin 'HEAD:main'"),
            "{work}: {ran:?}"
        );
    }
    // Where everything is there already, nothing is pushed.
    let folder = clone();
    init(&folder, &[]).done();
    commit(&folder, "Let phileas run");
    git(&folder, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(&folder, &["switch", "--quiet", "--create", "feature"]);
    commit(&folder, "A feature");
    let ran = init(&folder, &[]).done();
    assert!(ran.out.contains("nothing to write"), "{ran:?}");
}

#[test]
fn a_folder_in_the_place_of_a_file_is_found_before_anything_is_written() {
    for (place, more) in [
        (PLAN, &[][..]),
        (CURATOR, &[]),
        (TESTER, &["--dry-run"]),
        (WORKFLOW, &["--json"]),
        (".jlo/config.toml", &["--layers"]),
    ] {
        let folder = repository();
        std::fs::create_dir_all(folder.join(place)).unwrap();
        let ran = init(&folder, more).refused(2, &format!("{place} is a folder, and a file"));
        assert!(ran.err.contains("move it out of the way"), "{ran:?}");
        assert_eq!(ran.out, "", "{place}");
        let written = git(&folder, &["status", "--porcelain"]);
        assert_eq!(written, "", "{place}: all of it or nothing");
        assert!(place == WORKFLOW || !folder.join(".github").exists());
    }
}

/// A write that fails takes back what was written before it, its own half of a file among that.
#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let folder = repository();
    // Their plan is larger than any other file of a beginning, and it comes last.
    for number in 0..400 {
        let id = format!("keeper-of-the-department-number-{number:03}");
        let prompt = format!("---\nid: {id}\nemoji: \"⚙\"\ndescription: Keeps\n---\nKeep it.\n");
        folder.write(&format!(".jules/personas/{id}/prompt.md"), &prompt);
    }
    git(&folder, &["add", "--all"]);
    commit(&folder, "Personas");
    let ran = within_little_room(&folder, &INIT).refused(70, &format!("{PLAN}: "));
    for word in [
        "make room for it, and run this again",
        "nothing was changed",
    ] {
        assert!(ran.err.contains(word), "{ran:?}");
    }
    assert!(!folder.join(PLAN).exists() && !folder.join(".github").exists());
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");
    // The twin: with room for it, all of it is written.
    init(&folder, &[]).done();
    assert_eq!(staged(&folder), [WORKFLOW, PLAN]);
    assert!(text_of(&folder.join(PLAN)).len() > 8192);
}

/// What an earlier run wrote and could not stage is staged by the next one, so that the commit holds all of it.
#[test]
fn what_an_earlier_run_left_unstaged_is_staged() {
    let folder = repository();
    folder.write(".git/index.lock", "");
    init(&folder, &[]).refused(1, "could not stage them");
    std::fs::remove_file(folder.join(".git/index.lock")).unwrap();
    let dry = init(&folder, &["--dry-run"]).done();
    assert!(dry.out.contains(&format!("stage  {WORKFLOW}")), "{dry:?}");
    assert_eq!(staged(&folder).len(), 0);
    let ran = init(&folder, &[]).done();
    assert!(ran.out.contains("4 files staged\n"), "{ran:?}");
    assert!(ran.out.contains("git commit --message"), "{ran:?}");
    assert_eq!(staged(&folder), [WORKFLOW, CURATOR, TESTER, PLAN]);

    // Only the plan is missing, and a prompt was changed since: that one is not ours any more.
    git(&folder, &["rm", "--cached", "--quiet", "-r", "."]);
    std::fs::remove_file(folder.join(PLAN)).unwrap();
    let lines = init(&folder, &["--json"]).done().lines();
    let action = |path: &str| {
        let line = lines.iter().find(|line| line["file"] == path);
        line.map(|line| line["action"].clone())
    };
    assert_eq!(action(PLAN).unwrap(), "write");
    for path in [WORKFLOW, CURATOR, TESTER] {
        assert_eq!(action(path).unwrap(), "stage", "{lines:?}");
    }
    assert_eq!(staged(&folder), [WORKFLOW, CURATOR, TESTER, PLAN]);
    git(&folder, &["rm", "--cached", "--quiet", "-r", "."]);
    let own = text_of(&folder.join(WORKFLOW)) + "# mine\n";
    folder.write(WORKFLOW, &own);
    init(&folder, &[]).done();
    assert_eq!(staged(&folder), [CURATOR, TESTER, PLAN]);
    assert_eq!(text_of(&folder.join(WORKFLOW)), own);
}
