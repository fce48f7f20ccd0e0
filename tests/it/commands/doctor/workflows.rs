//! Plans, workflows and their runs.

use super::super::bench::alone;
use super::patient::{
    ON, PLAN, Patient, WORKFLOW, found_in, healthy, not_found_in, patient, table, workflow,
};
use crate::support::Folder;

#[test]
fn plans() {
    table(&[
        (
            |p| {
                p.push(
                    "main",
                    ".jules/schedules.toml",
                    Some("cycle = [\"absent\"]\n"),
                )
            },
            "plan.mistake",
            "error",
            "absent",
            1,
        ),
        (
            |p| {
                p.push(
                    "main",
                    ".jules/personas/curator/prompt.md",
                    Some("---\nid: other\n---\nDo.\n"),
                )
            },
            "plan.persona",
            "error",
            "curator",
            1,
        ),
        (
            |p| {
                p.push(
                    "main",
                    ".jules/schedules.toml",
                    Some("cycle = [\"curator\"]\n[budget]\ndaily_sessions = 30\nkey_daily = 15\n"),
                )
            },
            "plan.budget",
            "hint",
            "daily_sessions = 30",
            0,
        ),
        (
            |p| {
                p.push(
                    "main",
                    ".jules/schedules.toml",
                    Some("cycle = [\"curator\"]\n[budget]\ndaily_sessions = 1\nmax_active = 3\nkey_daily = 15\nkey_active = 1\n"),
                )
            },
            "plan.budget",
            "hint",
            "max_active = 3",
            0,
        ),
        (
            |p| {
                p.push(
                    "main",
                    ".jules/schedules.toml",
                    Some("[defaults]\nretry = 1\n"),
                )
            },
            "plan.mistake",
            "hint",
            "nothing runs by itself",
            0,
        ),
        (
            |p| {
                let names: Vec<String> = (0..12).map(|n| format!("\"absent{n}\"")).collect();
                let plan = format!("cycle = [{}]\n", names.join(", "));
                p.push("main", ".jules/schedules.toml", Some(&plan));
            },
            "plan.more",
            "hint",
            "and 4 more",
            1,
        ),
        (
            |p| {
                p.push(
                    "jules",
                    ".jules/personas/ghost/prompt.md",
                    Some("---\nid: ghost\n---\nBoo.\n"),
                )
            },
            "plan.misplaced",
            "error",
            "ghost",
            1,
        ),
        (
            |p| {
                p.push("jules", ".jules/schedules.toml", Some(PLAN));
                p.push("main", ".jules/schedules.toml", None);
            },
            "plan.misplaced",
            "error",
            "schedules.toml",
            1,
        ),
    ]);
}

#[test]
fn workflows() {
    let of = |text: &str, expected| found_in(&patient(PLAN, text), expected);
    of("", ("workflow.present", "hint", "no workflow", 0));
    found_in(
        &patient(&format!("{PLAN}[gate]\ndriver = \"action\"\n"), ""),
        ("workflow.present", "error", "nothing will ever start", 1),
    );
    let served = format!("{PLAN}[gate]\ndriver = \"server\"\n");
    not_found_in(&patient(&served, ""), "workflow.present");
    found_in(
        &patient(&served, &workflow(ON, "")),
        ("workflow.driver", "hint", "only observe", 0),
    );
    not_found_in(&healthy(), "workflow.driver");
    of(
        &workflow(&format!("{ON}  pull_request:\n"), ""),
        ("workflow.pull-request", "error", "pull_request", 1),
    );
    of(
        &workflow(&format!("{ON}  pull_request_target:\n"), ""),
        ("workflow.pull-request", "hint", "_target", 0),
    );
    of(
        &workflow(
            "  push:\n  issues:\n  issue_comment:\n  workflow_dispatch:\n",
            "",
        ),
        ("workflow.schedule", "error", "no `schedule`", 1),
    );
    of(
        &workflow(ON, "").replace("phileas@v1", "phileas@COMMIT # fill in"),
        (
            "workflow.action",
            "error",
            ".github/workflows/phileas.yml:13:15: `uses: phileas/phileas@COMMIT`",
            1,
        ),
    );
    of(
        &workflow(&ON.replace("17 *", "99 *"), ""),
        ("workflow.schedule", "error", "99", 1),
    );
    of(
        &workflow(&ON.replace("17 *", "0 *"), ""),
        ("workflow.minute", "hint", "minute 0", 0),
    );
    of(
        &workflow(&ON.replace("  issues:\n", ""), ""),
        ("workflow.triggers", "hint", "issues", 0),
    );
    of(
        &workflow(ON, "concurrency:\n  group: p\n  cancel-in-progress: true\n"),
        ("workflow.cancels", "error", "cancel-in-progress", 1),
    );
    of(
        &workflow(&ON.replace("17 *", "*/5 *"), ""),
        ("workflow.minutes", "hint", "8640 of the 2000", 0),
    );
}

#[test]
fn runs_of_workflows() {
    fn state(patient: &mut Patient, state: &str) {
        patient.world(|github, repo, _| assert!(github.set_workflow_state(repo, WORKFLOW, state)));
    }
    table(&[
        (
            |p| state(p, "disabled_inactivity"),
            "workflow.inactivity",
            "error",
            "60 days",
            1,
        ),
        (
            |p| state(p, "disabled_manually"),
            "workflow.state",
            "error",
            "disabled_manually",
            1,
        ),
        (
            |p| {
                let second = ".github/workflows/second.yml";
                p.push("main", second, Some(&workflow(ON, "")));
            },
            "workflow.state",
            "hint",
            "does not list .github/workflows/second.yml",
            0,
        ),
        (
            |p| {
                let second = ".github/workflows/second.yml";
                p.push("main", second, Some(&workflow(ON, "")));
                p.world(|github, repo, now| {
                    let by = "maintainer";
                    let run = github.start_run(repo, second, "schedule", "main", by, now);
                    run.unwrap();
                });
            },
            "workflow.runs",
            "hint",
            "second.yml has not run yet",
            0,
        ),
        (
            |p| p.ran("failure", 0),
            "workflow.runs",
            "hint",
            "failure",
            0,
        ),
        (
            |p| {
                p.ran("failure", 0);
                p.ran("timed_out", 0);
            },
            "workflow.runs",
            "error",
            "last 2 runs",
            1,
        ),
        (
            |p| {
                p.ran("success", 9);
                p.ran("success", 9);
            },
            "workflow.minutes",
            "hint",
            "7 min each",
            0,
        ),
    ]);
    let public = healthy();
    public.world(|github, repo, _| github.set_private(repo, false));
    let ran = public.run(&["--json"]).done();
    assert!(
        !ran.out.contains("workflow.minutes"),
        "public repositories pay nothing: {ran:?}"
    );
}

/// A plan that cannot be read starts nothing, and a forecast of it would say that all is well.
#[test]
fn what_a_broken_plan_costs_is_not_known() {
    let broken = healthy();
    let plan = "cycle = [\"absent\"]\n";
    broken.push("main", ".jules/schedules.toml", Some(plan));
    found_in(
        &broken,
        ("plan.budget", "unknown", "until the mistakes are fixed", 1),
    );
    let whole = healthy();
    let found = super::findings(&whole.run(&["--json"]).done());
    let budget = found.iter().find(|one| one["id"] == "plan.budget").unwrap();
    // `simulate` says the same of the key.
    let limit = "Jules key 100, 2 of them kept for people)";
    assert!(budget["text"].as_str().unwrap().contains(limit), "{budget}");
    let folder = Folder::repository(PLAN, &["curator"]);
    let forecast = alone(&["simulate", folder.text()]).done();
    assert!(forecast.out.contains(limit), "{forecast:?}");
}
