//! Branches that sessions start from: GitHub does not let phileas make them, or they are gone.

use phileas_domain::engine::Reason;
use phileas_world::{Face, Fault, FaultPlan};
use serde_json::json;

use crate::support::Folder;
use crate::support::ticks::{MINUTE, quiet_world, tick};

/// GitHub's refusal is no outage of Jules: a person is called, and the next attempt comes in an hour, not in minutes.
#[test]
fn a_branch_that_is_refused_holds_the_turn_and_calls_a_person() {
    let plan = "cycle = [\"curator\"]\n[defaults]\nbranch = \"persona\"\n";
    let repository = Folder::repository(plan, &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let refuse = |status: u16| {
        let rules = json!({"rules": [{
            "face": Face::Github,
            "method": "POST",
            "path": "*/git/refs",
            "body": "refs/heads/phileas/",
            "fault": Fault::Status { status, retry_after: None, html: false, done: false },
        }]});
        let plan: FaultPlan = serde_json::from_value(rules).unwrap();
        shared.lock_world().faults_mut().replace_plan(plan);
    };
    let reasons = |holder: &str| {
        let report = tick(&shared, holder);
        let lines = report.waiting.iter().map(|(_, line)| line);
        let held: Vec<_> = lines.map(|line| (line.reason, line.until)).collect();
        (report.now, held)
    };

    // Something that may pass is soon tried again.
    refuse(503);
    let (now, lines) = reasons("outage");
    assert!(
        lines
            .iter()
            .any(|(reason, until)| *reason == Reason::NotSent
                && until.unwrap() <= now + MINUTE * 5),
        "{lines:?}"
    );

    shared.advance_time(MINUTE * 10);
    refuse(403);
    let (now, lines) = reasons("refused");
    let held = lines
        .iter()
        .find(|(reason, _)| *reason == Reason::CreateRefused);
    let until = held.unwrap_or_else(|| panic!("{lines:?}")).1;
    assert!(until.unwrap() >= now + MINUTE * 55, "{until:?} at {now}");
    assert!(lines.iter().all(|(reason, _)| *reason != Reason::NotSent));
    let world = shared.lock_world();
    assert!(world.books().sessions.is_empty(), "Jules was not asked");
    let repo = world.github().repository_by_name("acme", "widget").unwrap();
    let mut issues = world.github().issues(repo);
    let ours = "its branch `phileas/default/curator-1.2`";
    assert!(issues.any(|issue| issue.body.as_ref().is_some_and(|body| body.contains(ours))));
}

/// A branch that is gone is one persona's: its turn ends, the next step runs, and people read the branch's name.
#[test]
fn a_start_branch_that_is_gone_stops_a_turn_and_not_its_track() {
    let plan = "cycle = [{ persona = \"curator\", branch = \"release/9\" }, \"refactor\"]\n";
    let repository = Folder::repository(plan, &["curator", "refactor"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let report = tick(&shared, "first");
    let sessions: Vec<String> = {
        let world = shared.lock_world();
        let all = world.books().sessions.iter();
        all.filter_map(|session| session.title.clone()).collect()
    };
    assert_eq!(sessions.len(), 1, "{report:?}");
    assert!(sessions[0].contains("refactor"), "{sessions:?}");
    let said: Vec<_> = report.waiting.iter().map(|(_, line)| line).collect();
    let refused = said
        .iter()
        .find(|line| line.reason == Reason::PersonaRefused);
    let refused = refused.unwrap_or_else(|| panic!("{said:?}"));
    assert!(refused.detail.contains("`release/9`"), "{refused:?}");
    let is_ours = |world: &phileas_world::World| {
        let repo = world.github().repository_by_name("acme", "widget").unwrap();
        let mut issues = world.github().issues(repo);
        let ours = "the branch `release/9` that it starts from does not exist";
        issues.any(|issue| issue.body.as_ref().is_some_and(|body| body.contains(ours)))
    };
    assert!(is_ours(&shared.lock_world()));
}

/// What refuses each session of a cycle fills no list of issues.
#[test]
fn where_no_session_of_a_cycle_can_start_one_issue_lists_the_personas() {
    let ids: Vec<String> = (0..24).map(|n| format!("persona-{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let plan = format!(
        "cycle = {ids:?}\n[defaults]\nbranch = \"release/9\"\n[budget]\ndaily_sessions = 100\n"
    );
    let shared = quiet_world(&Folder::repository(&plan, &ids), 7, Vec::new());
    for turn in 0..8 {
        tick(&shared, &format!("turn:{turn}"));
        shared.advance_time(MINUTE);
    }
    let world = shared.lock_world();
    let repo = world.github().repository_by_name("acme", "widget").unwrap();
    let issues: Vec<_> = world.github().issues(repo).collect();
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0].title, "phileas: Jules refuses several sessions");
    let body = issues[0].body.as_deref().unwrap();
    let named = |id: &&&str| body.contains(&format!("- `{id}` in track `default`: "));
    assert!(ids.iter().filter(named).count() >= 5, "{body}");
    assert!(world.books().sessions.is_empty());
}

/// A branch `phileas/default` keeps git from holding those of the track: the branch and what to do are named.
#[test]
fn a_branch_in_the_way_of_a_session_is_named() {
    let plan = "cycle = [{ persona = \"curator\", branch = \"persona\" }, \"refactor\"]\n";
    let repository = Folder::repository(plan, &["curator", "refactor"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    {
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let repo = github.repository_by_name("acme", "widget").unwrap();
        let head = github.branch_head(repo, "main").unwrap();
        github.create_branch(repo, "phileas/default", head, "maintainer", now);
    }
    let report = tick(&shared, "first");
    let said: Vec<_> = report.waiting.iter().map(|(_, line)| line).collect();
    let named = |line: &&&phileas_domain::engine::Line| {
        line.detail.contains("beside the branch `phileas/default`")
            && line.detail.contains("/rename -f new_name=")
    };
    assert!(said.iter().any(|line| named(&line)), "{said:?}");
    assert_eq!(shared.lock_world().books().sessions.len(), 1);
}

#[test]
fn sessions_get_environment_variables_where_the_plan_says_so() {
    for (plan, wanted) in [
        ("cycle = [\"curator\"]\n", false),
        (
            "cycle = [\"curator\"]\n[defaults]\nenvironment_variables = true\n",
            true,
        ),
    ] {
        let repository = Folder::repository(plan, &["curator"]);
        let shared = quiet_world(&repository, 7, Vec::new());
        tick(&shared, "first");
        let world = shared.lock_world();
        let records: Vec<bool> = world
            .jules()
            .records()
            .map(|record| record.environment_variables)
            .collect();
        assert_eq!(records, [wanted]);
    }
}
