//! `phileas doctor`: a repository in good health, and one for each thing that can be wrong with it.

use jiff::Timestamp;
use phileas_world::github::Role;
use phileas_world::github::account::{Access, permissions};
use phileas_world::seed::NewApp;
use serde_json::{Value, json};

use super::bench::{Bench, Ran, alone, bench_with, program, run};
use crate::fleet::stage::key;
use crate::support::Folder;

const CLASSIC: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const FINE: &str = "github_pat_11AAAAAAA0aaaaaaaaaaaaaa_bbbbbbbbbbbbbbbbb";
const JOB: &str = "ghs_0123456789abcdefghijABCDEFGHIJ012345";
const WORKFLOW: &str = ".github/workflows/phileas.yml";
const PLAN: &str = "cycle = [\"curator\"]\n[budget]\ntier = \"pro\"\n";
const ON: &str = "  schedule:\n    - cron: \"17 * * * *\"\n  push:\n  issues:\n  issue_comment:\n  workflow_dispatch:\n";
const STEPS: &str =
    "jobs:\n  tick:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: phileas/phileas@v1\n";

/// A repository, and what is told to the program about it.
struct Patient {
    bench: Bench,
    variables: Vec<(&'static str, String)>,
    arguments: Vec<&'static str>,
    // What the repository was made of goes away with the test.
    _folder: Folder,
}

fn workflow(on: &str, more: &str) -> String {
    format!("name: phileas\non:\n{on}{more}{STEPS}")
}

/// Nothing is wrong with it.
fn healthy() -> Patient {
    patient(PLAN, &workflow(ON, ""))
}

fn patient(plan: &str, workflow: &str) -> Patient {
    let folder = Folder::repository(plan, &["curator"]);
    if !workflow.is_empty() {
        folder.write(WORKFLOW, workflow);
    }
    let bench = bench_with(|scene| {
        scene.repo = Some(folder.path().to_owned());
        scene.start = Timestamp::now();
    });
    bench.run(&["tick", "--json"]);
    let patient = Patient {
        bench,
        variables: vec![("GITHUB_TOKEN", CLASSIC.to_owned())],
        arguments: Vec::new(),
        _folder: folder,
    };
    patient.world(|github, repo, now| {
        github.add_classic_token(CLASSIC, "maintainer", &["repo"]);
        github.set_rules(repo, "jules", &["deletion", "non_fast_forward"]);
        for label in ["hold", "pause", "retry", "approve-plan", "curator"] {
            github.create_label(repo, &format!("phileas:{label}"), "5319e7", None, now);
        }
    });
    if !workflow.is_empty() {
        patient.ran("success", 0);
    }
    patient.delivered(200);
    patient
}

impl Patient {
    fn world(
        &self,
        act: impl FnOnce(&mut phileas_world::github::Model, phileas_world::github::RepoId, Timestamp),
    ) {
        let mut world = self.bench.shared.world();
        let now = world.now();
        act(world.github_mut(), self.bench.repo, now);
    }

    /// A run of the workflow that took so many minutes.
    fn ran(&self, end: &str, minutes: i64) {
        self.world(|github, repo, now| {
            let id = github
                .start_run(repo, WORKFLOW, "schedule", "main", "maintainer", now)
                .unwrap();
            let then = now + jiff::SignedDuration::from_mins(minutes);
            github.finish_run(repo, id, end, "", then).unwrap();
        });
    }

    /// Something happens that GitHub tells, and the receiver answers so.
    fn delivered(&self, answer: u16) {
        self.world(|github, repo, now| {
            let number = github.open_issue(repo, "Told", "", &[], "maintainer", now);
            github.close_issue(repo, number, "maintainer", now);
        });
        let mut world = self.bench.shared.world();
        let now = world.now();
        // The fastest delivery takes a moment.
        world.advance_to(now + jiff::SignedDuration::from_secs(5));
        for due in world.take_due_deliveries() {
            world.delivery_done(due.id, Some(answer));
        }
    }

    fn tell(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    fn push(&self, branch: &str, path: &str, text: Option<&str>) {
        self.world(|github, repo, now| {
            let head = github.branch_head(repo, branch);
            let files = [(path.to_owned(), text.map(|text| text.to_owned().into()))];
            let commit = github.commit_files(repo, head, &files, "maintainer", "By hand", now);
            github.move_branch(repo, branch, commit, "maintainer", now);
        });
    }

    fn run(&self, more: &[&str]) -> Ran {
        let arguments = [&["doctor"], &self.arguments[..], more].concat();
        let mut command = self.bench.program(&arguments);
        for (name, value) in &self.variables {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        run(command)
    }
}

/// The findings of a run, without the summary.
fn findings(ran: &Ran) -> Vec<Value> {
    let mut lines = ran.lines();
    let summary = lines.pop().unwrap();
    assert!(summary["summary"].is_object(), "{ran:?}");
    lines
}

/// What makes it ill, and what is found then: a finding's id, its grade, a word of it, the exit code.
type Row = (
    fn(&mut Patient),
    &'static str,
    &'static str,
    &'static str,
    i32,
);

#[track_caller]
fn found_in(patient: &Patient, (id, grade, word, code): (&str, &str, &str, i32)) {
    let ran = patient.run(&["--json"]);
    assert_eq!(ran.code, code, "{id}: {ran:?}");
    let found = findings(&ran);
    let one = found
        .iter()
        .find(|one| one["id"] == id && one["grade"] == grade);
    let one = one.unwrap_or_else(|| panic!("{id} {grade}: {ran:?}"));
    assert!(one["text"].as_str().unwrap().contains(word), "{id}: {one}");
    assert!(
        grade == "unknown" || one["mend"].as_str().is_some_and(|mend| mend.len() > 5),
        "{id} has no mend: {one}"
    );
    let said = format!("{}{}", ran.out, ran.err);
    for secret in [CLASSIC, FINE, JOB, "sandbox-jules-key", "BEGIN PRIVATE"] {
        assert!(!said.contains(secret), "{id} shows a secret");
    }
}

fn table(rows: &[Row]) {
    for (fall_ill, id, grade, word, code) in rows {
        let mut patient = healthy();
        fall_ill(&mut patient);
        found_in(&patient, (id, grade, word, *code));
    }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong_and_nothing_is_written() {
    let patient = healthy();
    let writes = |patient: &Patient| {
        let books = patient.bench.shared.world().complete_books();
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
        "standing.clock",
        "standing.paused",
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
fn credentials() {
    table(&[
        (
            |p| p.tell("GITHUB_TOKEN", ""),
            "credential.missing",
            "credential",
            "no GitHub credential",
            3,
        ),
        (
            |p| p.tell("GITHUB_TOKEN", "ghp_wrong"),
            "credential.refused",
            "credential",
            "refuses",
            3,
        ),
        (
            |p| p.tell("GITHUB_REPOSITORY", "acme/other"),
            "credential.unseen",
            "credential",
            "acme/other",
            3,
        ),
        (
            |p| p.world(|github, _, _| github.add_classic_token(CLASSIC, "maintainer", &["gist"])),
            "credential.unseen",
            "credential",
            "does not see",
            3,
        ),
        (
            |p| {
                p.world(|github, repo, _| {
                    github.set_private(repo, false);
                    github.add_classic_token(CLASSIC, "maintainer", &["gist"]);
                })
            },
            "credential.scopes",
            "credential",
            "`public_repo`",
            3,
        ),
        (
            |p| {
                p.world(|github, _, _| {
                    github.add_classic_token(CLASSIC, "maintainer", &["repo", "delete_repo"])
                })
            },
            "credential.scopes",
            "hint",
            "delete_repo",
            0,
        ),
        (
            |p| p.world(|github, repo, _| github.set_role(repo, "maintainer", Role::Read)),
            "credential.push",
            "credential",
            "may not push",
            3,
        ),
    ]);
}

#[test]
fn tokens_whose_rights_only_a_try_tells() {
    let all = [
        ("contents", Access::Write),
        ("pull_requests", Access::Write),
    ];
    let fine = |more: &[(&str, Access)]| {
        let mut patient = healthy();
        let rights = permissions(&[&all[..], more].concat());
        patient.world(|github, _, _| github.add_fine_grained_token(FINE, "maintainer", rights));
        patient.tell("GITHUB_TOKEN", FINE);
        patient
    };
    let (issues, checks) = (("issues", Access::Write), ("checks", Access::Read));
    let statuses = ("statuses", Access::Read);
    found_in(
        &fine(&[checks, statuses]),
        ("credential.refused", "credential", "FORBIDDEN", 3),
    );
    let mut narrow = healthy();
    let rights = permissions(&[issues, checks, statuses]);
    narrow.world(|github, _, _| github.add_fine_grained_token(FINE, "maintainer", rights));
    narrow.tell("GITHUB_TOKEN", FINE);
    found_in(
        &narrow,
        ("credential.rights", "credential", "`contents`", 3),
    );
    found_in(
        &fine(&[issues, statuses]),
        ("credential.rights", "hint", "`checks`", 0),
    );
    let whole = fine(&[issues, checks, statuses]);
    found_in(
        &whole,
        ("credential.writes", "unknown", "without writing", 0),
    );
    found_in(&whole, ("deliveries.hook", "unknown", "webhooks", 0));
    found_in(&whole, ("workflow.state", "unknown", "actions", 0));

    let mut job = healthy();
    let rights = permissions(&[&all[..], &[issues, checks, statuses]].concat());
    job.world(|github, repo, _| github.add_actions_token(JOB, repo, rights));
    job.tell("GITHUB_TOKEN", JOB);
    job.tell("GITHUB_ACTIONS", "true");
    let ran = job.run(&["--json"]).done();
    let kind = &findings(&ran)[0];
    assert!(
        kind["text"].as_str().unwrap().contains("the job's own"),
        "{kind}"
    );
}

#[test]
fn apps() {
    let (pem, public) = key();
    let app = |rights: &[(&str, Access)], installed: bool| {
        let mut patient = healthy();
        patient.world(|github, repo, now| {
            let app = NewApp {
                id: 77,
                slug: "phileas-app".to_owned(),
                owner: "acme".to_owned(),
                permissions: permissions(rights),
                events: vec!["push".to_owned()],
                public_key: Some(public.clone()),
                ..NewApp::default()
            };
            github.add_app(app, now);
            if installed {
                github.install_app(77, "acme", Some(&[repo]), now);
            }
        });
        patient.tell("GITHUB_TOKEN", "");
        patient.tell("GITHUB_APP_ID", "77");
        patient.tell("GITHUB_APP_PRIVATE_KEY", pem.clone());
        patient
    };
    let all = [
        ("contents", Access::Write),
        ("issues", Access::Write),
        ("pull_requests", Access::Write),
        ("checks", Access::Read),
        ("statuses", Access::Read),
        ("metadata", Access::Read),
    ];
    let sound = app(&all, true);
    found_in(
        &app(&all[..2], true),
        ("credential.app", "credential", "pull_requests: write", 3),
    );
    found_in(
        &app(&all, false),
        ("credential.app", "credential", "not installed on acme", 3),
    );
    let ran = sound.run(&["--json"]).done();
    let events = findings(&ran);
    let events = events
        .iter()
        .find(|one| one["text"].as_str().unwrap().contains("check_suite"));
    assert_eq!(events.unwrap()["grade"], "hint", "{ran:?}");
}

#[test]
fn jules() {
    table(&[
        (
            |p| p.tell("JULES_API_KEY", ""),
            "jules.key",
            "credential",
            "",
            3,
        ),
        (
            |p| p.tell("JULES_API_KEY", "wrong"),
            "jules.key",
            "credential",
            "refuses",
            3,
        ),
        (
            |p| p.tell("JULES_API_BASE", "http://127.0.0.1:1/v1alpha"),
            "jules.unavailable",
            "unavailable",
            "cannot be asked",
            4,
        ),
        (
            |p| {
                let mut world = p.bench.shared.world();
                let now = world.now();
                world
                    .github_mut()
                    .rename_repository(p.bench.repo, "gadget", "maintainer", now);
                drop(world);
                p.tell("GITHUB_REPOSITORY", "acme/gadget");
            },
            "jules.source",
            "credential",
            "acme/gadget",
            3,
        ),
    ]);
}

#[test]
fn ledgers() {
    fn rules(patient: &mut Patient, kinds: &[&str]) {
        patient.world(|github, repo, _| github.set_rules(repo, "jules", kinds));
    }
    fn classic(patient: &mut Patient, set: &Value) {
        patient.world(|github, repo, _| github.protect_branch(repo, "jules", set));
    }
    table(&[
        (
            |p| p.bench.delete_ledger(),
            "ledger.missing",
            "hint",
            "first tick",
            0,
        ),
        (
            |p| p.bench.write_ledger("{ broken"),
            "ledger.corrupt",
            "error",
            "cycle_state.json",
            1,
        ),
        (
            |p| p.bench.write_ledger("{\"version\": 99}"),
            "ledger.corrupt",
            "error",
            "99",
            1,
        ),
        (
            |p| rules(p, &[]),
            "ledger.protection",
            "hint",
            "deleted and rewritten",
            0,
        ),
        (
            |p| rules(p, &["deletion"]),
            "ledger.protection",
            "hint",
            "rewritten",
            0,
        ),
        (
            |p| rules(p, &["deletion", "non_fast_forward", "pull_request"]),
            "ledger.refused",
            "error",
            "pull_request",
            1,
        ),
        (
            |p| {
                rules(
                    p,
                    &["deletion", "non_fast_forward", "commit_message_pattern"],
                )
            },
            "ledger.choosy",
            "hint",
            "commit_message_pattern",
            0,
        ),
        (
            |p| classic(p, &json!({"lock_branch": {"enabled": true}})),
            "ledger.refused",
            "error",
            "Lock branch",
            1,
        ),
        (
            |p| {
                rules(p, &[]);
                classic(p, &json!({"allow_deletions": {"enabled": true}}));
            },
            "ledger.protection",
            "hint",
            "deleted",
            0,
        ),
        (
            |p| {
                rules(p, &[]);
                classic(p, &json!({}));
                p.world(|github, repo, _| github.set_role(repo, "maintainer", Role::Write));
            },
            "ledger.protection",
            "unknown",
            "administrators",
            0,
        ),
    ]);
    let mut sound = healthy();
    rules(&mut sound, &[]);
    classic(&mut sound, &json!({}));
    let ran = sound.run(&["--json"]).done();
    let found = findings(&ran);
    assert!(
        found
            .iter()
            .any(|one| one["id"] == "ledger.protection" && one["grade"] == "ok"),
        "{ran:?}"
    );
}

#[test]
fn plans() {
    table(&[
        (
            |p| {
                p.push(
                    "main",
                    ".jules/schedules.toml",
                    Some("cycle = [\"nobody\"]\n"),
                )
            },
            "plan.mistake",
            "error",
            "nobody",
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

#[test]
fn deliveries() {
    table(&[
        (
            |p| p.delivered(500),
            "deliveries.failing",
            "error",
            "the answer was 500",
            1,
        ),
        (
            |p| {
                p.delivered(502);
                p.delivered(202);
            },
            "deliveries.failing",
            "hint",
            "did not arrive",
            0,
        ),
    ]);
}

#[test]
fn what_stands_still_and_what_waits() {
    fn stopped(patient: &mut Patient) {
        patient.bench.run(&["stop", "--all"]).done();
    }
    table(&[
        (stopped, "standing.paused", "hint", "paused by", 0),
        (
            |p| {
                p.bench
                    .run(&["track", "pause", "default", "--reason", "release week"])
                    .done();
            },
            "standing.paused",
            "hint",
            "release week",
            0,
        ),
        (
            |p| {
                p.world(|github, repo, now| {
                    let number = github.open_issue(repo, "Stop", "", &[], "maintainer", now);
                    github.add_label(repo, number, "phileas:pause", "maintainer", now);
                })
            },
            "standing.paused",
            "hint",
            "by maintainer, by the label",
            0,
        ),
        (
            |p| p.world(|github, repo, now| github.set_variable(repo, "PHILEAS_PAUSED", "1", now)),
            "standing.paused",
            "hint",
            "variable PHILEAS_PAUSED",
            0,
        ),
        (
            |p| p.tell("PHILEAS_PAUSED", "yes"),
            "standing.paused",
            "hint",
            "is set here",
            0,
        ),
        (
            |p| {
                p.bench.write_ledger("{ broken");
                p.bench.run(&["tick"]);
            },
            "standing.notice",
            "hint",
            "wants a person",
            1,
        ),
        (
            |p| p.push("jules", ".jules/.phileas-version", Some("0.0.1\n")),
            "standing.version",
            "hint",
            "0.0.1",
            0,
        ),
        (
            |p| p.bench.shared.world().knobs_mut().date_skew_seconds = 600,
            "standing.clock",
            "hint",
            "behind GitHub's",
            0,
        ),
        (
            |p| p.bench.shared.world().knobs_mut().date_skew_seconds = -600,
            "standing.clock",
            "hint",
            "ahead of GitHub's",
            0,
        ),
    ]);
    let same = healthy();
    same.push(
        "jules",
        ".jules/.phileas-version",
        Some(concat!("v", env!("CARGO_PKG_VERSION"), "\n")),
    );
    let ran = same.run(&["--json"]).done();
    let found = findings(&ran);
    assert!(
        found
            .iter()
            .any(|one| one["id"] == "standing.version" && one["grade"] == "ok"),
        "{ran:?}"
    );
}

#[test]
fn what_is_safe_is_mended_when_asked_for() {
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
    let world = patient.bench.shared.world();
    let repository = world.github().repository(patient.bench.repo).unwrap();
    assert_eq!(repository.workflows[0].state, "disabled_manually");
}

#[test]
fn what_can_be_checked_without_an_answer_is_checked() {
    let folder = Folder::repository("cycle = [\"nobody\"]\n", &["curator"]);
    folder.write(WORKFLOW, &workflow(&format!("{ON}  pull_request:\n"), ""));
    let mut unreachable = program(&[
        "doctor",
        "--json",
        "--repo",
        "acme/widget",
        "--dir",
        folder.text(),
    ]);
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
    let nameless = alone(&["doctor", "--json", "--dir", folder.text()]).refused(3, "");
    assert!(
        nameless.out.contains("no repository is named"),
        "{nameless:?}"
    );
    alone(&["doctor", "--repo", "nonsense"]).refused(2, "");
}
