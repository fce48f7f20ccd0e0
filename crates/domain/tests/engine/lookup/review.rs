//! Tests the lanes of the review: which pull request stands where, and what settles it.

use phileas_domain::engine::{
    Checks, LaneKind, Mergeable, PullFile, PullState, RepositoryView, ReviewPull,
};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;
use crate::support::subjects::new_file;

const PLAN: &str =
    "cycle = [\"a\", \"b\", \"c\"]\n[budget]\nmax_open_pulls = 9\ndaily_sessions = 9\n";

/// It is the persona's own.
const JOURNAL: &str = ".jules/personas/a/journals/1.md";

fn scenario(more: &str) -> Scenario {
    Scenario::new(&format!("{PLAN}{more}"), &["a", "b", "c"])
}

/// The next session opens a pull request with these files, and phileas records it.
fn opens(scenario: &mut Scenario, files: Vec<PullFile>) -> PullNumber {
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.title = format!("Escape quotes {number}");
    pull.head_oid = format!("{:02}", number.0).as_str().into();
    pull.checks = Checks::Passed;
    scenario.pull_files.insert(number, files);
    settle(scenario);
    number
}

fn settle(scenario: &mut Scenario) {
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(1);
    }
}

fn with_pull(more: &str, files: Vec<PullFile>) -> (Scenario, PullNumber) {
    let mut scenario = scenario(more);
    let number = opens(&mut scenario, files);
    (scenario, number)
}

fn small(name: &str) -> Vec<PullFile> {
    vec![PullFile {
        removed: 2,
        ..new_file(name, 12)
    }]
}

/// The lane of a pull request, with its line.
#[track_caller]
fn line(scenario: &Scenario, number: PullNumber) -> (LaneKind, ReviewPull) {
    let view = RepositoryView::new(&scenario.snapshot(), &scenario.lines);
    let mut found = view.review.iter().flat_map(|lane| {
        let pulls = lane.pulls.iter().filter(|pull| pull.number == number);
        pulls.map(|pull| (lane.kind, pull.clone()))
    });
    let line = found.next().expect("a line");
    assert!(found.next().is_none(), "one line");
    line
}

#[test]
fn without_an_open_pull_request_there_is_no_lane() {
    let mut scenario = scenario("");
    scenario.tick();
    let view = RepositoryView::new(&scenario.snapshot(), &scenario.lines);
    assert_eq!(view.review, []);
}

#[test]
fn a_green_and_small_one_is_merged() {
    let (scenario, number) = with_pull("", small("src/a.rs"));
    let (lane, pull) = line(&scenario, number);
    assert_eq!(lane, LaneKind::Small);
    assert_eq!(pull.title, "Escape quotes 1");
    assert_eq!(pull.persona.unwrap().as_str(), "a");
    assert_eq!(pull.settles, "review and merge it");
    assert_eq!(pull.remarks, [] as [&str; 0]);
    let view = RepositoryView::new(&scenario.snapshot(), &scenario.lines);
    let shown = &view.review[0].pulls[0];
    assert_eq!(shown.size_text().unwrap(), "1 file, +12 -2");
    assert_eq!(shown.checks_text(), "passed");
    let (scenario, number) = with_pull("[defaults]\nmerge = \"green\"\n", small("src/a.rs"));
    assert_eq!(
        line(&scenario, number).1.settles,
        "approve it and add the label `phileas:merge`"
    );
}

#[test]
fn a_twin_names_the_other_one_and_the_refusal_while_that_is_open() {
    let (mut scenario, first) = with_pull("", vec![new_file("src/render.rs", 12)]);
    let second = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    let (lane, pull) = line(&scenario, second);
    assert_eq!(lane, LaneKind::Unwanted);
    assert_eq!(pull.remarks, [format!("same as #{first}, which is open")]);
    assert_eq!(pull.settles, "`/phileas refuse duplicate`");
    assert_eq!(line(&scenario, first).0, LaneKind::Small);

    scenario.close(first);
    scenario.pulls.get_mut(&first).unwrap().closed_at = Some(scenario.now);
    assert_eq!(
        line(&scenario, second).0,
        LaneKind::Small,
        "before the record of its end"
    );
    settle(&mut scenario);
    assert_eq!(line(&scenario, second).0, LaneKind::Small);
}

#[test]
fn the_twin_of_a_merged_one_is_still_a_twin() {
    let (mut scenario, first) = with_pull("", vec![new_file("src/render.rs", 12)]);
    let second = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    scenario.merge(first);
    scenario.pulls.get_mut(&first).unwrap().closed_at = Some(scenario.now);
    settle(&mut scenario);
    let (lane, pull) = line(&scenario, second);
    assert_eq!(lane, LaneKind::Unwanted);
    assert_eq!(
        pull.remarks,
        [format!("same as #{first}, which was merged")]
    );
    assert_eq!(pull.settles, "`/phileas refuse duplicate`");
}

#[test]
fn the_twin_of_a_refused_one_is_out_of_scope_too() {
    let mut scenario = scenario("");
    scenario.writer("ada");
    let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    scenario.pull_subject(first.0, true);
    scenario.writes(first.0, "/phileas refuse out-of-scope", "ada");
    scenario.lost = vec!["close_pull"];
    scenario.tick();
    let (lane, pull) = line(&scenario, first);
    assert_eq!(
        (lane, pull.settles.as_str()),
        (LaneKind::Unwanted, "refused; phileas closes it")
    );
    scenario.lost.clear();
    scenario.minutes(20);
    settle(&mut scenario);
    assert_eq!(scenario.pulls[&first].state, PullState::Closed);
    let second = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    let pull = line(&scenario, second).1;
    assert_eq!(
        pull.remarks,
        [format!("same as #{first}, which was refused")]
    );
    assert_eq!(pull.settles, "`/phileas refuse out-of-scope`");
}

#[test]
fn what_changes_nothing_is_refused_as_wrong() {
    let (scenario, number) = with_pull("", vec![new_file(JOURNAL, 3)]);
    let (lane, pull) = line(&scenario, number);
    assert_eq!(lane, LaneKind::Unwanted);
    assert_eq!(pull.remarks, ["changes nothing"]);
    assert_eq!(pull.settles, "`/phileas refuse wrong`");
}

#[test]
fn the_closing_of_a_marked_one_is_announced_and_a_kept_one_is_reviewed() {
    let more = "[novelty]\nmode = \"close\"\n";
    let (mut scenario, first) = with_pull(more, vec![new_file("src/render.rs", 12)]);
    let second = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    let pull = line(&scenario, second).1;
    assert!(
        pull.settles
            .starts_with("`/phileas refuse duplicate`; phileas closes it after 2026-01-06 "),
        "{}",
        pull.settles
    );
    scenario.pull_subject(second.0, true);
    scenario.label(second.0, "keep", "ada");
    let (lane, pull) = line(&scenario, second);
    assert_eq!(lane, LaneKind::Small);
    let twin = format!("same as #{first}, which is open");
    assert_eq!(pull.remarks, [twin.as_str(), "kept by a person"]);
}

#[test]
fn large_protected_and_unchecked_ones_need_a_closer_look() {
    let many = (0..11).map(|file| new_file(&format!("src/{file}.rs"), 1));
    for files in [vec![new_file("src/a.rs", 201)], many.collect()] {
        let (scenario, number) = with_pull("", files);
        let (lane, pull) = line(&scenario, number);
        assert_eq!(
            (lane, &pull.remarks[..]),
            (LaneKind::Careful, &["large".to_owned()][..])
        );
        assert_eq!(
            pull.settles,
            "review and merge it, or `/phileas refuse too-large`"
        );
    }
    let (scenario, number) = with_pull("[defaults]\nmerge = \"green\"\n", small("Cargo.lock"));
    let (lane, pull) = line(&scenario, number);
    assert_eq!(lane, LaneKind::Careful);
    assert_eq!(pull.remarks, ["changes a protected path"]);
    assert_eq!(pull.settles, "review and merge it", "the label merges none");
    let (mut scenario, number) = with_pull("", small("src/a.rs"));
    scenario.pulls.get_mut(&number).unwrap().checks = Checks::None;
    assert_eq!(line(&scenario, number).0, LaneKind::Careful);
}

#[test]
fn what_has_not_finished_waits() {
    let (mut scenario, number) = with_pull("", small("src/a.rs"));
    let ready = scenario.pulls[&number].clone();
    for (change, remarks, settles) in [
        ("draft", vec!["draft"], "wait for its session"),
        (
            "conflict",
            vec!["conflicts with its base"],
            "wait for its session",
        ),
        ("behind", vec!["behind its base"], "wait for its session"),
        ("running", vec![], "wait for its checks"),
        ("failed", vec![], "wait for its session"),
    ] {
        let mut pull = ready.clone();
        match change {
            "draft" => pull.draft = true,
            "conflict" => pull.mergeable = Mergeable::Conflicting,
            "behind" => pull.mergeable = Mergeable::Behind,
            "running" => pull.checks = Checks::Pending,
            _ => pull.checks = Checks::Failed,
        }
        scenario.pulls.insert(number, pull);
        let (lane, pull) = line(&scenario, number);
        assert_eq!(lane, LaneKind::Waiting, "{change}");
        assert_eq!(pull.remarks, remarks, "{change}");
        assert_eq!(pull.settles, settles, "{change}");
    }
}

#[test]
fn what_phileas_has_given_up_is_left_to_the_reviewer() {
    let (mut scenario, number) = with_pull("", small("src/a.rs"));
    scenario.pulls.get_mut(&number).unwrap().checks = Checks::Failed;
    scenario.sessions.clear();
    for _ in 0..4 {
        scenario.hours(7);
        scenario.tick();
    }
    let (lane, pull) = line(&scenario, number);
    assert_eq!(lane, LaneKind::Waiting);
    assert_eq!(
        pull.settles, "fix it, or `/phileas refuse wrong`",
        "{:?}",
        scenario.lines
    );
}

#[test]
fn new_commits_are_read_once_and_not_judged_again() {
    let (mut scenario, number) = with_pull("[novelty]\nmode = \"label\"\n", small("src/a.rs"));
    let before = scenario.files_read;
    scenario.pulls.get_mut(&number).unwrap().head_oid = "77".into();
    scenario
        .pull_files
        .insert(number, vec![new_file(JOURNAL, 3)]);
    assert_eq!(
        line(&scenario, number).1.size_text(),
        None,
        "the figures tell of the earlier commit"
    );
    settle(&mut scenario);
    assert_eq!(scenario.files_read, before + 1);
    let (lane, pull) = line(&scenario, number);
    assert_eq!((lane, pull.files), (LaneKind::Unwanted, Some(1)));
    assert!(scenario.state().work.marks.is_empty());
    let commits = scenario.headlines.len();
    settle(&mut scenario);
    assert_eq!(
        (scenario.files_read, scenario.headlines.len()),
        (before + 1, commits)
    );
}

#[test]
fn without_records_the_size_is_unknown_and_nothing_is_refused() {
    let (mut scenario, number) = with_pull("[novelty]\nmode = \"off\"\n", small("src/a.rs"));
    let (lane, pull) = line(&scenario, number);
    assert_eq!((lane, pull.size_text()), (LaneKind::Careful, None));
    assert_eq!(pull.settles, "review and merge it");
    scenario.pulls.get_mut(&number).unwrap().reviewed = true;
    assert_eq!(
        line(&scenario, number).1.settles,
        "review and merge it, or `/phileas retry` for what reviewers want changed"
    );
}

#[test]
fn the_facts_of_an_ended_one_are_dropped() {
    let (mut scenario, number) = with_pull("", small("src/a.rs"));
    assert_eq!(scenario.state().work.facts.len(), 1);
    scenario.merge(number);
    settle(&mut scenario);
    assert!(scenario.state().work.facts.is_empty());
}
