//! The dashboard issue on the model of GitHub: opened by a person's word, ticked by people, and costing nothing between.

use phileas::sandbox::SharedWorld;
use phileas_world::Face;

use crate::support::judge::repo;
use crate::support::ticks::{MINUTE, quiet_world, tick};
use crate::support::{Folder, Phileas, Served, judge};

const MARKER: &str = "<!-- phileas:notice:dashboard -->";

fn run(shared: &SharedWorld) -> Vec<String> {
    shared.lock_world().books_mut().reset_requests();
    let served = Served::start(shared, None);
    Phileas::tick(&served).run().expect(0);
    let world = shared.lock_world();
    let requests = world.books().requests.iter();
    requests
        .filter(|one| one.face == Face::Github)
        .map(|one| format!("{} {}", one.method, one.route))
        .collect()
}

/// A world with an issue on which a user commented this a moment ago.
fn world_with_comment(body: &str, who: &str) -> (SharedWorld, u64) {
    let repository = Folder::repository("", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let repo = repo(&shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let issue = github.open_issue(repo, "Please", "Show it.", &[], "outsider", now);
    github.comment(repo, issue, body, who, now);
    drop(world);
    (shared, issue)
}

/// The numbers and the texts of the issues that carry the marker.
fn boards(shared: &SharedWorld) -> Vec<(u64, String)> {
    let repo = repo(shared);
    let world = shared.lock_world();
    let github = world.github();
    let texts = (1..20).filter_map(|number| {
        let body = github.issue(repo, number)?.body.clone()?;
        Some((number, body))
    });
    texts.filter(|(_, body)| body.contains(MARKER)).collect()
}

fn edit(shared: &SharedWorld, number: u64, body: &str, who: &str) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    world.github_mut().edit_body(repo, number, body, who, now);
}

/// Ticks the box whose line contains this, as GitHub's editor does.
fn ticked(body: &str, what: &str) -> String {
    let line = body
        .lines()
        .find(|line| line.starts_with("- [ ] ") && line.contains(what));
    let line = line.unwrap_or_else(|| panic!("no box `{what}` in:\n{body}"));
    body.replacen(line, &line.replacen("[ ]", "[x]", 1), 1)
        .replace('\n', "\r\n")
}

#[test]
fn it_is_opened_once_ticked_by_a_writer_and_costs_nothing_between() {
    let (shared, issue) = world_with_comment("/phileas dashboard", "maintainer");
    run(&shared);
    let opened = boards(&shared);
    let [(number, body)] = &opened[..] else {
        panic!("one dashboard: {opened:?}");
    };
    assert_ne!(*number, issue);
    assert_eq!(judge::state(&shared)["dashboard_issue"], *number);
    assert!(body.contains("Run `curator` now"), "{body}");
    for _ in 0..3 {
        shared.advance_time(MINUTE * 20);
        run(&shared);
    }
    shared.advance_time(MINUTE * 20);
    let idle = run(&shared);
    assert_eq!(idle.len(), 1, "{idle:?}");

    let (_, body) = boards(&shared).remove(0);
    edit(
        &shared,
        *number,
        &ticked(&body, "Run `curator`"),
        "maintainer",
    );
    let executed = run(&shared);
    assert_eq!(
        shared.lock_world().books().sessions.len(),
        1,
        "{executed:?}"
    );
    let (_, body) = boards(&shared).remove(0);
    assert!(!body.contains("- [x]"), "{body}");
    assert!(
        body.contains("- run `curator` by `maintainer`: at work"),
        "{body}"
    );
    shared.advance_time(MINUTE);
    run(&shared);
    assert_eq!(shared.lock_world().books().sessions.len(), 1);
    assert_eq!(boards(&shared).len(), 1, "never two");
}

#[test]
fn r23_a_tick_of_an_unauthorized_user_springs_back_and_does_nothing() {
    let (shared, _) = world_with_comment("/phileas dashboard", "maintainer");
    run(&shared);
    shared.advance_time(MINUTE * 20);
    run(&shared);
    let (number, body) = boards(&shared).remove(0);
    shared.advance_time(MINUTE * 5);
    edit(
        &shared,
        number,
        &ticked(&body, "Pause everything"),
        "outsider",
    );
    run(&shared);
    let (_, body) = boards(&shared).remove(0);
    assert!(!body.contains("- [x]"), "{body}");
    assert!(judge::state(&shared)["paused"].is_null());
    shared.advance_time(MINUTE * 30);
    run(&shared);
    shared.advance_time(MINUTE * 30);
    assert_eq!(run(&shared).len(), 1, "it is over");
}

#[test]
fn unauthorized_users_open_none() {
    let (shared, _) = world_with_comment("/phileas dashboard", "outsider");
    run(&shared);
    assert_eq!(boards(&shared), []);
}

/// The answer to opening it is lost; the issue is there. The next tick finds it.
#[test]
fn one_whose_opening_was_not_answered_is_found_and_not_opened_again() {
    let (shared, _) = world_with_comment("/phileas dashboard", "maintainer");
    let plan = serde_json::from_value(serde_json::json!({ "rules": [{
        "face": Face::Github, "method": "POST", "path": "*/issues",
        "fault": phileas_world::Fault::Status { status: 502, retry_after: None, html: false, done: true },
    }] }));
    shared.lock_world().faults_mut().replace_plan(plan.unwrap());
    tick(&shared, "first");
    assert_eq!(boards(&shared).len(), 1);
    shared.advance_time(MINUTE * 20);
    tick(&shared, "second");
    assert_eq!(boards(&shared).len(), 1, "never two");
    assert_eq!(
        judge::state(&shared)["dashboard_issue"],
        boards(&shared)[0].0
    );
}
