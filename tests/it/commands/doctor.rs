//! `phileas doctor`: a repository in good health, and one for each thing that can be wrong with it.

mod credentials;
mod ledgers;
mod patient;
mod stalled;
mod unread;
mod workflows;

use std::collections::BTreeSet;
use std::path::Path;

use phileas_world::github::account::Access;
use serde_json::Value;

use self::patient::{CLASSIC, ON, Patient, WORKFLOW, findings, found_in, healthy, workflow};
use super::bench::{alone, program, run};
use super::fresh::{git, repository};
use crate::support::Folder;
use crate::support::references::sources;

#[test]
fn nothing_is_found_where_nothing_is_wrong_and_nothing_is_written() {
    let patient = healthy();
    let writes = |patient: &Patient| {
        let books = patient.bench.shared.lock_world().complete_books();
        (books.github_writes.len(), books.sessions.len())
    };
    let before = writes(&patient);
    let ran = patient.run(&["--json"]).done();
    let found = findings(&ran);
    let ill: Vec<_> = found.iter().filter(|one| one["grade"] != "ok").collect();
    assert!(ill.is_empty(), "{ill:#?}");
    let ids: Vec<_> = found
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    for id in [
        "credential.kind",
        "credential.scopes",
        "jules.key",
        "jules.source",
        "ledger.health",
        "ledger.protection",
        "plan.mistake",
        "plan.budget",
        "workflow.triggers",
        "workflow.state",
        "workflow.runs",
        "workflow.minutes",
        "deliveries.failing",
        "labels.missing",
        "status.clock",
        "status.paused",
    ] {
        assert!(ids.contains(&id), "{id} was not looked at: {ids:?}");
    }
    let text = patient.run(&[]).done().out;
    assert!(text.contains("0 errors, 0 hints, 0 not known"), "{text}");
    assert!(
        !text.contains('\u{1b}'),
        "colours without a terminal: {text}"
    );
    assert!(text.lines().count() <= 40, "more than a screen: {text}");
    assert_eq!(writes(&patient), before);
}

#[test]
fn what_is_safe_is_fixed_on_request() {
    let patient = healthy();
    patient.world(|github, repo, _| {
        assert!(github.set_workflow_state(repo, WORKFLOW, "disabled_inactivity"));
    });
    patient.push(
        "main",
        ".jules/personas/scribe/prompt.md",
        Some("---\nid: scribe\n---\nWrite.\n"),
    );
    found_in(&patient, ("labels.missing", "hint", "phileas:scribe", 1));
    let ran = patient.run(&["--fix", "--json"]).done();
    let fixed: Vec<Value> = findings(&ran)
        .into_iter()
        .filter(|one| one["fixed"] == true)
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(fixed, ["workflow.inactivity", "labels.missing"], "{ran:?}");
    let again = patient.run(&["--json"]).done();
    let left = findings(&again);
    assert!(
        left.iter()
            .all(|one| one["grade"] == "ok" && one["fixed"] == false),
        "{again:?}"
    );

    // By hand is by will.
    patient.world(|github, repo, _| {
        assert!(github.set_workflow_state(repo, WORKFLOW, "disabled_manually"));
    });
    patient.run(&["--fix"]).refused(1, "");
    let world = patient.bench.shared.lock_world();
    let repository = world.github().repository(patient.bench.repo).unwrap();
    assert_eq!(repository.workflows[0].state, "disabled_manually");
}

/// A user who may not apply a fix is told what else to do.
#[test]
fn what_cannot_be_fixed_is_reported_with_other_help() {
    let mut patient = patient::narrow(&[
        ("contents", Access::Write),
        ("pull_requests", Access::Read),
        ("issues", Access::Read),
        ("actions", Access::Read),
        ("checks", Access::Read),
        ("statuses", Access::Read),
    ]);
    patient.world(|github, repo, _| {
        assert!(github.set_workflow_state(repo, WORKFLOW, "disabled_inactivity"));
    });
    let scribe = "---\nid: scribe\n---\nWrite.\n";
    patient.push("main", ".jules/personas/scribe/prompt.md", Some(scribe));
    patient.arguments = vec!["--fix"];
    let inactivity = (
        "workflow.inactivity",
        "error",
        "this run could not fix it",
        1,
    );
    found_in(&patient, inactivity);
    found_in(&patient, ("labels.missing", "hint", "could not be made", 1));
    let ran = patient.run(&["--json"]).refused(1, "");
    let summary = ran.lines().pop().unwrap();
    assert_eq!(summary["summary"]["fixed"], 0, "{ran:?}");
}

/// Each finding that the program can make is made by a test.
#[test]
fn no_finding_is_untried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let groups = [
        "credential",
        "jules",
        "ledger",
        "plan",
        "workflow",
        "deliveries",
        "labels",
        "status",
    ];
    let is_id = |text: &str| {
        text.split_once('.').is_some_and(|(group, what)| {
            groups.contains(&group) && what.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        })
    };
    let named = |text: &str| -> BTreeSet<String> {
        let quoted = text.split('"').filter(|text| is_id(text));
        quoted.map(str::to_owned).collect()
    };
    let all = |folder: &str| -> String {
        let files = sources(&root.join(folder)).into_iter();
        files.map(|(_, text)| text).collect()
    };
    let known = named(
        &(all("src/cli/commands/doctor") + include_str!("../../../src/cli/commands/doctor.rs")),
    );
    assert!(known.len() > 30, "{known:?}");
    let tried = named(&(all("tests/it/commands/doctor") + include_str!("doctor.rs")));
    let untried: Vec<_> = known.difference(&tried).collect();
    assert!(untried.is_empty(), "{untried:?}");
    let gone: Vec<_> = tried.difference(&known).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn what_can_be_checked_without_an_answer_is_checked() {
    let folder = Folder::repository("cycle = [\"absent\"]\n", &["curator"]);
    folder.write(WORKFLOW, &workflow(&format!("{ON}  pull_request:\n"), ""));
    let mut unreachable = program(&["doctor", "--json", "--repo", "acme/widget", folder.text()]);
    unreachable
        .env("GITHUB_TOKEN", CLASSIC)
        .env("GITHUB_API_URL", "http://127.0.0.1:1")
        .env("JULES_API_KEY", "test-key")
        .env("JULES_API_BASE", "http://127.0.0.1:1/v1alpha");
    let ran = run(unreachable).refused(1, "");
    let found = findings(&ran);
    for id in [
        "credential.unavailable",
        "jules.unavailable",
        "plan.mistake",
        "workflow.pull-request",
    ] {
        assert!(found.iter().any(|one| one["id"] == id), "{id}: {ran:?}");
    }
    let nameless = alone(&["doctor", "--json", folder.text()]).refused(3, "");
    assert!(
        nameless.out.contains("no repository is named"),
        "{nameless:?}"
    );
    let clone = repository();
    let origin = "git@gitlab.com:acme/widget.git";
    git(&clone, &["remote", "set-url", "origin", origin]);
    let elsewhere = alone(&["doctor", clone.text()]).refused(3, "");
    assert!(elsewhere.out.contains("is not github.com"), "{elsewhere:?}");
    alone(&["doctor", "--repo", "nonsense"]).refused(2, "");
}

#[test]
fn a_clone_names_the_repository_to_doctor() {
    let patient = healthy();
    let clone = repository();
    let mut command = patient.bench.program(&["doctor", "--json", clone.text()]);
    command
        .env_remove("GITHUB_REPOSITORY")
        .env("GITHUB_TOKEN", CLASSIC);
    let found = findings(&run(command).done());
    assert!(
        found.iter().any(|one| one["id"] == "ledger.health"),
        "{found:?}"
    );
    assert!(
        found.iter().all(|one| one["id"] != "credential.repository"),
        "{found:?}"
    );
}
