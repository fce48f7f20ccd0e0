//! A session that starts from a branch of its own, which GitHub does not let anybody make.

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
        shared.world().faults_mut().replace(plan);
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

    shared.pass(MINUTE * 10);
    refuse(403);
    let (now, lines) = reasons("refused");
    let held = lines
        .iter()
        .find(|(reason, _)| *reason == Reason::CreateRefused);
    let until = held.unwrap_or_else(|| panic!("{lines:?}")).1;
    assert!(until.unwrap() >= now + MINUTE * 55, "{until:?} at {now}");
    assert!(lines.iter().all(|(reason, _)| *reason != Reason::NotSent));
    let world = shared.world();
    assert!(world.books().sessions.is_empty(), "Jules was not asked");
    let repo = world.github().repository_by_name("acme", "widget").unwrap();
    let mut issues = world.github().issues(repo);
    let ours = "its branch `phileas/default/curator-1.2`";
    assert!(issues.any(|issue| issue.body.as_ref().is_some_and(|body| body.contains(ours))));
}
