//! `phileas work` on a ledger with records of pull requests of Jules.

use phileas_domain::model::PullNumber;
use phileas_domain::work::{HOT_PATH, segment_path};
use serde_json::{Value, json};

use super::adopt::{JULES, close_pull, merge_pull, open_pull};
use super::bench::{Bench, alone, bench_with};

/// Nothing starts in the days of a test.
const QUIET_PLAN: &str = "[schedules]\ncurator = \"0 0 1 7 *\"\n";
/// More than one commit of a rebuild has.
const MANY: u64 = 60;

fn quiet_bench() -> Bench {
    bench_of(QUIET_PLAN)
}

fn bench_of(plan: &str) -> Bench {
    let bench = bench_with(|setup| {
        let plan = (".jules/schedules.toml".to_owned(), plan.to_owned());
        setup.texts.extend([plan]);
    });
    bench.tick();
    bench
}

/// Three pull requests, two of them the same work, recorded by ticks. The first is closed.
fn recorded() -> Bench {
    let bench = quiet_bench();
    let open = |title, path, line| open_pull(&bench, JULES, title, path, line);
    open(
        "⚡ Bolt: cache parsed templates",
        "src/parse.rs",
        "let cache =",
    );
    open("🛡️ Sentinel: escape quotes", "src/html.rs", "escape");
    open(
        "⚡ Bolt: caching parsed templates",
        "src/parse.rs",
        "let cache =",
    );
    bench.tick();
    close_pull(&bench, 1);
    bench.pass(1);
    bench.tick();
    bench
}

fn file(bench: &Bench, path: &str) -> Option<String> {
    let world = bench.shared.lock_world();
    let head = world.github().branch_head(bench.repo, "jules").unwrap();
    let bytes = world.github().read_file(bench.repo, head, path)?;
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

/// A person writes or removes a file of the ledger.
fn write(bench: &Bench, path: &str, text: Option<&str>) {
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let files = [(path.to_owned(), text.map(|text| text.to_owned().into()))];
    let head = github.branch_head(bench.repo, "jules");
    let commit = github.commit_files(bench.repo, head, &files, "maintainer", "By hand", now);
    github.move_branch(bench.repo, "jules", commit, "maintainer", now);
}

#[test]
fn records_are_listed_with_the_one_that_is_most_like_each() {
    let bench = recorded();
    let shown = bench.run(&["work", "list"]).done().out;
    let headings = shown.lines().next().unwrap();
    assert!(
        headings.ends_with("title, as stems of its words"),
        "{shown}"
    );
    let row = |number: &str| {
        let mut rows = shown.lines().map(str::trim_start);
        rows.find(|row| row.starts_with(number)).unwrap().to_owned()
    };
    assert!(
        row("#3").contains("open") && row("#3").contains("same as #1"),
        "{shown}"
    );
    assert!(
        row("#1").contains("rejected") && row("#1").contains("same as #3"),
        "{shown}"
    );
    assert!(
        row("#2").contains("escap quot") && !row("#2").contains("as #"),
        "{shown}"
    );

    let whole = bench.run(&["work", "list", "--json"]).done().json();
    let lines = bench.run(&["work", "list", "--jsonl"]).done().lines();
    assert_eq!(whole["records"], Value::from(lines.clone()));
    let figures = &whole["figures"];
    assert_eq!(
        (&figures["all"]["sessions"], &figures["prompts"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(lines[0]["neighbours"][0]["pr"], 1);
    assert_eq!(lines[0]["neighbours"][0]["likeness"], "same");
    let refused = bench.run(&["work", "list", "--json", "--jsonl"]);
    refused.refused(2, "cannot be used with");
}

#[test]
fn a_record_is_shown_with_its_file() {
    let bench = recorded();
    let shown = bench.run(&["work", "show", "3"]).done().out;
    for part in [
        "#3, open",
        "bolt cach pars templat",
        "src/parse.rs",
        ".jules/work/hot.json on the branch jules",
        "same as #1 (rejected): title",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let document = bench.run(&["work", "show", "3", "--json"]).done().json();
    assert_eq!(document["file"], HOT_PATH);
    bench
        .run(&["work", "show", "99"])
        .refused(2, "#99 has no record");
}

#[test]
fn a_record_is_shown_in_these_words() {
    let bench = recorded();
    run_comment(&bench, "/phileas refuse out-of-scope never");
    let comment = {
        let world = bench.shared.lock_world();
        let mut comments = world.github().comments(bench.repo, 2);
        let comment = comments.find(|one| one.body.starts_with("/phileas refuse"));
        comment.unwrap().id
    };
    let shown = |pull: &str| bench.run(&["work", "show", pull]).done().out;
    let refused = format!(
        "pull     #2, rejected: out-of-scope\n\
         opened   2026-01-05 00:02 UTC, closed 2026-01-05 00:05 UTC\n\
         refused  out-of-scope, remembered for ever, comment {comment}\n\
         title    escap quot sentinel (its words without their endings, to compare titles)\n\
         files    src/html.rs\n\
         lines    +12 -0, compared in groups of three lines (10)\n\
         record   .jules/work/hot.json on the branch jules\n"
    );
    assert_eq!(shown("2"), refused);
    let open = "pull     #3, open\n\
        opened   2026-01-05 00:03 UTC, open since then\n\
        title    bolt cach pars templat (its words without their endings, to compare titles)\n\
        files    src/parse.rs\n\
        lines    +12 -0, compared in groups of three lines (10)\n\
        record   .jules/work/hot.json on the branch jules\n\
        like     same as #1 (rejected): title 1.00, files 1.00, words of lines 1.00\n";
    assert_eq!(shown("3"), open);
}

/// A tick that records a reopened pull request reads no segment, so the older record stays there until the newer one takes
/// its place.
#[test]
fn a_record_that_has_come_back_counts_and_the_older_one_in_its_segment_does_not() {
    let bench = recorded();
    let hot = file(&bench, HOT_PATH).unwrap();
    let older = hot.replace(
        "{\"pr\":3,",
        "{\"pr\":3,\"outcome\":\"merged\",\"closed_at\":\"2026-01-01T00:00:00Z\",",
    );
    assert_ne!(older, hot);
    write(&bench, &segment_path(3), Some(&older));
    let listed = bench.run(&["work", "list", "--jsonl"]).done().lines();
    let rows: Vec<_> = listed
        .iter()
        .map(|row| (&row["pr"], &row["outcome"]))
        .collect();
    let (open, rejected) = (Value::Null, Value::from("rejected"));
    let numbers = [3, 2, 1].map(Value::from);
    let outcomes = [&open, &open, &rejected];
    assert_eq!(rows, Vec::from_iter(numbers.iter().zip(outcomes)));
    let shown = bench.run(&["work", "show", "3", "--json"]).done().json();
    assert_eq!(
        (&shown["file"], &shown["outcome"]),
        (&HOT_PATH.into(), &open)
    );
}

#[test]
fn a_rebuild_makes_the_same_records_again() {
    let bench = recorded();
    let before = file(&bench, HOT_PATH).unwrap();
    let again = bench.run(&["work", "rebuild"]).done().out;
    assert!(again.contains("each with a current record"), "{again}");
    for text in [None, Some("{ torn")] {
        write(&bench, HOT_PATH, text);
        if text.is_some() {
            bench.run(&["work", "list"]).refused(1, "cannot be read");
        }
        let rebuilt = bench.run(&["work", "rebuild"]).done().out;
        assert!(
            rebuilt.contains("3 without a current record: about 1 min"),
            "{rebuilt}"
        );
        assert!(rebuilt.contains("3 records written"), "{rebuilt}");
        assert_eq!(file(&bench, HOT_PATH).unwrap(), before);
    }
    let open: Vec<PullNumber> = bench.state().work.open.into_iter().collect();
    assert_eq!(open, [PullNumber(2), PullNumber(3)]);
    assert_eq!(bench.state().work.remembered, 3);
}

/// GitHub's limit ends a run; what was written stays.
#[test]
fn a_rebuild_that_was_ended_goes_on_where_it_was() {
    let bench = quiet_bench();
    for number in 1..=MANY {
        let title = format!("Task {number}");
        open_pull(
            &bench,
            JULES,
            &title,
            &format!("src/part{number}.rs"),
            "line",
        );
    }
    let rule = json!({ "rules": [{
        "path": "*/pulls/55/files", "fault": { "kind": "secondary-limit", "retry-after": 600 },
    }] });
    let plan = serde_json::from_value(rule).unwrap();
    bench.shared.lock_world().faults_mut().replace_plan(plan);
    let ended = bench.run(&["work", "rebuild", "--json"]);
    assert_eq!(ended.json()["written"], 50);
    ended.refused(4, "10 records are left");
    bench
        .shared
        .lock_world()
        .faults_mut()
        .replace_plan(Default::default());
    bench.pass(60);
    let rest = bench.run(&["work", "rebuild", "--json"]).done().json();
    assert_eq!(
        rest,
        json!({ "pulls": MANY, "written": 10, "left": 0, "ended": null })
    );
    let listed = bench.run(&["work", "list", "--jsonl"]).done().lines();
    assert_eq!(listed.len() as u64, MANY);
}

/// A maintainer writes a comment on the second pull request, and phileas executes it.
fn run_comment(bench: &Bench, text: &str) {
    {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.comment(bench.repo, 2, text, "maintainer", now);
    }
    bench.pass(1);
    for _ in 0..3 {
        bench.tick();
        bench.pass(1);
    }
}

/// No session of the ledger opened it.
#[test]
fn a_refusal_is_forgotten_by_the_command_as_by_the_comment() {
    let bench = recorded();
    for is_comment in [true, false] {
        run_comment(&bench, "/phileas refuse out-of-scope");
        let record = bench.run(&["work", "show", "2", "--json"]).done().json();
        assert_eq!(record["refused"]["reason"], "out-of-scope", "{record}");
        if is_comment {
            run_comment(&bench, "/phileas forget");
        } else {
            let forgotten = bench.run(&["work", "forget", "2"]).done().out;
            assert!(forgotten.contains("#2 forgotten"), "{forgotten}");
            bench.tick();
        }
        let record = bench.run(&["work", "show", "2", "--json"]).done().json();
        assert_eq!(record["forgotten"], true, "{record}");
        assert!(record["refused"].is_null(), "{record}");
    }
    for number in ["2", "3"] {
        let again = bench.run(&["work", "forget", number]).done().out;
        let said = format!("nothing to forget: no prompt names #{number} as refused");
        assert!(again.starts_with(&said), "{again}");
    }
    let again = bench.run(&["work", "forget", "2", "--json"]).done().json();
    assert_eq!(again, json!({ "pr": 2, "forgotten": false }));
    let unknown = bench.run(&["work", "forget", "99"]);
    unknown.refused(2, "#99 has no record");
}

/// A maintainer closed it without saying more.
#[test]
fn a_pull_request_that_was_closed_and_not_refused_is_forgotten_once() {
    let bench = recorded();
    for said in [
        "#1 forgotten: it has no refusal, and no prompt names it as closed",
        "nothing to forget: no prompt names #1",
    ] {
        let ran = bench.run(&["work", "forget", "1"]).done().out;
        assert!(ran.starts_with(said), "{ran}");
        bench.tick();
    }
    let record = bench.run(&["work", "show", "1", "--json"]).done().json();
    assert_eq!(record["forgotten"], true, "{record}");
}

#[test]
fn merged_work_is_forgotten_where_it_counts() {
    let counts = format!("{QUIET_PLAN}[novelty]\nmode = \"label\"\ncount_merged = \"30d\"\n");
    for (plan, said) in [
        (
            counts.as_str(),
            "#1 forgotten: the same work may be done again",
        ),
        (QUIET_PLAN, "nothing to forget: no prompt names #1"),
    ] {
        let bench = bench_of(plan);
        open_pull(
            &bench,
            JULES,
            "Cache templates",
            "src/parse.rs",
            "let cache =",
        );
        bench.tick();
        merge_pull(&bench, 1);
        bench.tick();
        let ran = bench.run(&["work", "forget", "1"]).done().out;
        assert!(ran.starts_with(said), "{ran}");
        bench.tick();
        let record = bench.run(&["work", "show", "1", "--json"]).done().json();
        assert_eq!(record["outcome"], "merged", "{record}");
        assert_eq!(
            record["forgotten"] == true,
            said.starts_with("#1"),
            "{record}"
        );
    }
}

#[test]
fn what_is_no_number_of_a_pull_request_is_refused() {
    for text in ["0", "-1", "twelve", "1.5", "99999999999999999999"] {
        let refused = alone(&["work", "show", "--repo", "acme/widget", "--", text]);
        refused.refused(
            2,
            "is not the number of a pull request; write one such as 12",
        );
    }
}
