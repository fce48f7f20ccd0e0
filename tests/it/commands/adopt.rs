//! `phileas adopt` on repositories in which Jules has worked for long.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use phileas_domain::work::JULES_BOT_ID;
use phileas_world::Face;
use phileas_world::github::NewPull;
use serde_json::Value;

use super::bench::{Bench, Ran, alone, bench, run, text_of};
use crate::support::Folder;

pub(super) const JULES: &str = "google-labs-jules[bot]";
/// How many pull requests a long history has here; `ADOPT_PULLS=10000` plays the longest that is promised.
const LONG_HISTORY: usize = 230;

/// A pull request that adds a file of these lines.
pub(super) fn open_pull(bench: &Bench, author: &str, title: &str, path: &str, line: &str) -> u64 {
    let mut world = bench.shared.lock_world();
    let until = world.now() + SignedDuration::from_mins(1);
    world.advance_to(until);
    let now = world.now();
    let github = world.github_mut();
    let main = github.branch_head(bench.repo, "main").unwrap();
    let text: String = (0..12).map(|row| format!("{line} {row}\n")).collect();
    let files = [(path.to_owned(), Some(text.into()))];
    let commit = github.commit_files(bench.repo, Some(main), &files, author, title, now);
    let pulls = github.pulls(bench.repo).count();
    let head = format!("work-{}", 15_456_375_593_739_879_000 + pulls as u64);
    github.create_branch(bench.repo, &head, commit, author, now);
    let new = NewPull {
        title: title.to_owned(),
        body: String::new(),
        head,
        base: "main".to_owned(),
        draft: false,
        author: author.to_owned(),
    };
    github.open_pull(bench.repo, new, now)
}

pub(super) fn close_pull(bench: &Bench, number: u64) {
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    github.close_pull(bench.repo, number, "maintainer", now);
}

pub(super) fn merge_pull(bench: &Bench, number: u64) {
    let mut world = bench.shared.lock_world();
    let now = world.now() + SignedDuration::from_hours(2);
    world.advance_to(now);
    let github = world.github_mut();
    github
        .merge_pull(bench.repo, number, "maintainer", now)
        .unwrap();
}

/// What a person and a program read of the repository, and the requests for it.
fn adopt(bench: &Bench, folder: &Folder, more: &[&str]) -> Ran {
    let cache = folder.join("read.jsonl");
    let cache = cache.to_str().unwrap();
    bench.run(&[&["adopt", "--cache", cache], more].concat())
}

fn requests(bench: &Bench) -> usize {
    let world = bench.shared.lock_world();
    let requests = world.books().requests.iter();
    requests.filter(|one| one.face == Face::Github).count()
}

/// Three times the same idea, once another, and one that a person opened.
fn repeated_history(bench: &Bench) {
    let open = |title, path, line| open_pull(bench, JULES, title, path, line);
    let first = open(
        "⚡ Bolt: cache parsed templates",
        "src/parse.rs",
        "let cache =",
    );
    let second = open(
        "⚡ Bolt: Cache the parsed template",
        "src/parse.rs",
        "let cache =",
    );
    open(
        "⚡ Bolt: caching of parsed templates",
        "src/parse.rs",
        "let cache =",
    );
    open("🛡️ Sentinel: escape quotes", "src/html.rs", "escape");
    open_pull(bench, "maintainer", "By hand", "src/hand.rs", "x");
    close_pull(bench, first);
    merge_pull(bench, second);
}

#[test]
fn a_history_is_shown_on_one_screen() {
    let (bench, folder) = (bench(), Folder::empty());
    repeated_history(&bench);
    let shown = adopt(&bench, &folder, &[]).done().out;
    for part in [
        "acme/widget: Jules opened 4 of its 5 pull requests, on 2026-01-05",
        "1 more by people, from branches that Jules has named, is left out",
        "The same idea again: 1 idea in 3 pull requests",
        "#1 #2 #3",
        "src/parse.rs",
        "half of them within 2 h 03 min of opening",
        "Compared: all by titles and files; 3 also by the lines of their diffs.",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let rows = shown.lines().count();
    assert!(rows <= 30, "{rows} rows\n{shown}");
    let all = adopt(&bench, &folder, &["--json"]).done().json();
    let history = &all["history"];
    assert_eq!(history["repeats"][0]["pulls"], serde_json::json!([1, 2, 3]));
    assert_eq!(history["repeats"][0]["by_lines"], true);
    let counts = ["opened", "merged", "refused", "open"].map(|key| history[key].clone());
    assert_eq!(counts, [4, 1, 1, 2].map(Value::from));
    assert_eq!(history["personas"][0]["name"], "bolt");
    let ours = bench.shared.lock_world().github_mut().account(JULES);
    assert_eq!(ours, JULES_BOT_ID);
}

#[test]
fn a_repository_without_jules_says_so() {
    let (bench, folder) = (bench(), Folder::empty());
    open_pull(&bench, "maintainer", "By hand", "src/hand.rs", "x");
    let shown = adopt(&bench, &folder, &[]).done().out;
    assert!(
        shown.contains("Jules opened none of its 1 pull request"),
        "{shown}"
    );
}

#[test]
fn a_run_that_was_ended_goes_on_where_it_was() {
    let (bench, folder) = (bench(), Folder::empty());
    let count = std::env::var("ADOPT_PULLS").map_or(LONG_HISTORY, |count| count.parse().unwrap());
    for number in 0..count {
        let title = format!("Bolt: task {} of part {}", number % 97, number % 89);
        let path = format!("src/part{}.rs", number % 89);
        open_pull(&bench, JULES, &title, &path, &format!("line {number}"));
    }
    let begun = std::time::Instant::now();
    let whole = adopt(&bench, &folder, &["--json"]).done().json();
    let took = begun.elapsed();
    let made = requests(&bench);
    assert_eq!(whole["history"]["opened"], count);
    let pages = count.div_ceil(100);
    // As a kill leaves it: a page is written, and a part of the next one.
    let cache = folder.join("read.jsonl");
    let text = text_of(&cache);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert!(
        lines.len() > pages,
        "a line for the beginning and one a page"
    );
    let torn = lines[..2].concat() + &lines[2][..100];
    std::fs::write(&cache, torn).unwrap();
    // GitHub limits the requests of a minute.
    bench.pass(10);
    let again = adopt(&bench, &folder, &["--json"]).done().json();
    assert_eq!(again["history"], whole["history"]);
    let made_again = requests(&bench) - made;
    assert_eq!(made_again, made - 1, "one page was kept");
    println!("adopt: {count} pull requests, {pages} pages, {made} requests, {took:?}");
    bench.pass(10);
    println!("{}", adopt(&bench, &folder, &[]).done().out);
}

/// The report says less, and what is missing.
#[test]
fn a_limit_of_github_ends_the_reading_and_not_the_report() {
    let (bench, folder) = (bench(), Folder::empty());
    repeated_history(&bench);
    let rule = serde_json::json!({ "rules": [{
        "path": "*/files", "fault": { "kind": "secondary-limit", "retry-after": 600 },
    }] });
    let plan = serde_json::from_value(rule).unwrap();
    bench.shared.lock_world().faults_mut().replace_plan(plan);
    let shown = adopt(&bench, &folder, &[]).done();
    assert!(shown.err.contains("no more diffs are read"), "{shown:?}");
    let left = "0 also by the lines of their diffs. Diffs left: 3;";
    assert!(shown.out.contains(left), "{shown:?}");
}

#[test]
fn a_file_of_another_kind_is_refused_and_stays() {
    let (bench, folder) = (bench(), Folder::empty());
    let notes = "my notes\n";
    for (text, place) in [
        (notes, "read.jsonl:1:"),
        (
            "{\"line\":\"listing\",\"version\":1,\"server\":\"https://api.github.com\",\"repository\":\"a/b\",\"at\":\"2026-01-01T00:00:00Z\"}\n",
            "read.jsonl: ",
        ),
    ] {
        folder.write("read.jsonl", text);
        adopt(&bench, &folder, &[]).refused(2, place);
        assert_eq!(text_of(&folder.join("read.jsonl")), text);
    }
}

#[test]
fn each_server_has_a_cache_of_its_own() {
    let caches = Folder::empty();
    for bench in [bench(), bench()] {
        let mut program = bench.program(&["adopt"]);
        program.env("XDG_CACHE_HOME", caches.path());
        run(program).done();
    }
    let servers = std::fs::read_dir(caches.join("phileas/adopt")).unwrap();
    assert_eq!(servers.count(), 2);
}

#[test]
fn a_folder_is_no_cache() {
    let (bench, folder) = (bench(), Folder::empty());
    let refused = bench.run(&["adopt", "--cache", folder.text()]);
    refused.refused(2, "it is a folder, so name a file");
}

#[test]
fn a_plan_is_written_from_journals_and_goals() {
    let (bench, folder) = (bench(), Folder::empty());
    {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let files: BTreeMap<&str, &str> = BTreeMap::from([
            (".jules/bolt.md", "## 2026-01-01 - Strings\n"),
            (
                ".fleet/goals/tests.md",
                "---\nmilestone: 1\n---\n# Cover the parser\n",
            ),
        ]);
        let files: Vec<_> = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), Some(text.to_owned().into())))
            .collect();
        let head = github.branch_head(bench.repo, "main");
        let commit = github.commit_files(bench.repo, head, &files, "maintainer", "Personas", now);
        github.move_branch(bench.repo, "main", commit, "maintainer", now);
    }
    for what in ["escape quotes", "check sizes"] {
        let title = format!("🛡️ Sentinel: {what}");
        open_pull(&bench, JULES, &title, "src/html.rs", what);
    }
    let target = folder.join("new");
    let target = target.to_str().unwrap();
    let written = adopt(&bench, &folder, &["--write", target]).done().out;
    assert!(
        written.contains("written .jules/personas/bolt/prompt.md"),
        "{written}"
    );
    assert!(
        written.contains("left out sentinel: only titles show it"),
        "{written}"
    );
    alone(&["validate", target]).done();
    let plan = text_of(&folder.join("new/.jules/schedules.toml"));
    assert!(
        plan.contains("bolt = \"") && plan.contains("tests = \""),
        "{plan}"
    );
    folder.write("new/.jules/personas/bolt/prompt.md", "mine");
    let again = adopt(&bench, &folder, &["--write", target]).done().out;
    assert!(
        again.contains("kept    .jules/personas/bolt/prompt.md"),
        "{again}"
    );
    assert_eq!(
        text_of(&folder.join("new/.jules/personas/bolt/prompt.md")),
        "mine"
    );
    assert!(again.contains("[schedules]\ntests = \""), "{again}");
    folder.write("plain", "x");
    let plain = folder.join("plain");
    let refused = adopt(&bench, &folder, &["--write", plain.to_str().unwrap()]);
    assert!(!refused.out.contains("written"), "{refused:?}");
    refused.refused(2, "is not a folder");
}
