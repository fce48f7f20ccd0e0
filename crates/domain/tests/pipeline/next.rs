//! Tests the next step of a run: a table of situations, and two issues from start to end.

use phileas_domain::pipeline::{Artifact, Made, Rule, Run, RunFile, Settings, Step, next};
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::samples::{file, run, with};
use crate::tracing::write;

/// The next step on one line: the rule, and the agent with the number of its attempt, or another action.
fn next_step_text(run: &Run) -> String {
    let next = next(run);
    let step = match &next.step {
        Step::Run(dispatch) => format!("{} {}", dispatch.agent, dispatch.attempt),
        Step::Person => "person".to_owned(),
        Step::Wait => "wait".to_owned(),
        Step::Archive => "archive".to_owned(),
    };
    assert!(!next.why.is_empty());
    format!("{}: {step}", next.rule.code())
}

/// An issue in progress; artifacts are written as the command writes them.
struct Issue {
    files: Vec<RunFile>,
    second: i64,
}

impl Issue {
    fn new() -> Self {
        Self {
            files: Vec::new(),
            second: 1_767_600_000,
        }
    }

    fn write(&mut self, artifact: Artifact, keys: Value) -> String {
        self.second += 10;
        let at = jiff::Timestamp::from_second(self.second).unwrap();
        next_step_text(&write(
            &mut self.files,
            artifact,
            keys,
            &Made {
                at,
                started_at: None,
                agent: None,
            },
        ))
    }
}

fn failing() -> Value {
    json!({ "verdict": "FAIL", "phase_1": { "unit_tests": { "result": "FAIL" } } })
}

#[test]
fn an_issue_goes_from_plan_to_archive() {
    let mut issue = Issue::new();
    assert_eq!(next_step_text(&run(&[])), "plan.missing: jg-subplanner 1");
    for (artifact, keys, expected) in [
        (Artifact::Plan, json!({}), "plan.ready: jg-worker 1"),
        (Artifact::Worker, json!({}), "worker.completed: jg-tester 1"),
        (Artifact::Test, failing(), "tests.failed: jg-debugger 1"),
        (
            Artifact::Debug,
            json!({}),
            "diagnosis.fix_target: jg-worker 2",
        ),
        (Artifact::Worker, json!({}), "worker.completed: jg-tester 2"),
        (Artifact::Test, json!({}), "tests.passed: jg-reviewer 1"),
        (
            Artifact::Review,
            json!({ "verdict": "FAIL", "trim_instructions": "Close the file.", "blockers": [{ "file": "src/a.rs", "line": 3, "description": "It leaks.", "fix": "Close it." }] }),
            "review.failed: jg-worker 3",
        ),
        (Artifact::Worker, json!({}), "worker.completed: jg-tester 3"),
        (Artifact::Test, json!({}), "tests.passed: jg-reviewer 2"),
        (Artifact::Review, json!({}), "review.passed: jg-git 1"),
        (
            Artifact::Git,
            json!({ "ci_status": "pending" }),
            "git.ci_pending: wait",
        ),
        (
            Artifact::Git,
            json!({ "ci_status": "pass" }),
            "git.done: archive",
        ),
    ] {
        assert_eq!(issue.write(artifact, keys), expected);
    }
}

#[test]
fn an_issue_climbs_the_tiers_and_ends_with_a_person() {
    let mut issue = Issue::new();
    issue.write(Artifact::Plan, json!({}));
    let mut told = Vec::new();
    for _ in 0..6 {
        issue.write(Artifact::Worker, json!({}));
        issue.write(Artifact::Test, failing());
        told.push(issue.write(Artifact::Debug, json!({})));
    }
    assert_eq!(
        told,
        [
            "diagnosis.fix_target: jg-worker 2",
            "diagnosis.fix_target: jg-worker 3",
            "retries.next_tier: jg-worker-high 1",
            "diagnosis.fix_target: jg-worker-high 2",
            "diagnosis.fix_target: jg-worker-high 3",
            "retries.exhausted: person",
        ]
    );
    let last = next(&run(&issue.files));
    assert_eq!(
        last.why,
        "the diagnosis says how to fix the work; implement was tried 3 times in the tier high: the retries of the highest tier are used up"
    );
}

/// Plans have retries of their own, and a revised plan resets the worker's count.
#[test]
fn an_issue_with_a_bad_plan_ends_too() {
    let mut issue = Issue::new();
    let mut told = Vec::new();
    for _ in 0..6 {
        issue.write(Artifact::Plan, json!({}));
        told.push(issue.write(
            Artifact::Worker,
            json!({ "status": "blocked", "blockers": ["There is no such table."] }),
        ));
    }
    assert_eq!(
        told,
        [
            "worker.blocked: jg-subplanner 2",
            "worker.blocked: jg-subplanner 3",
            "retries.next_tier: jg-subplanner-high 1",
            "worker.blocked: jg-subplanner-high 2",
            "worker.blocked: jg-subplanner-high 3",
            "retries.exhausted: person",
        ]
    );
    let mut issue = Issue::new();
    for expected in [
        "diagnosis.fix_target: jg-worker 2",
        "diagnosis.fix_target: jg-worker 2",
    ] {
        issue.write(Artifact::Plan, json!({}));
        issue.write(Artifact::Worker, json!({}));
        issue.write(Artifact::Test, failing());
        assert_eq!(issue.write(Artifact::Debug, json!({})), expected);
    }
}

#[test]
fn a_run_that_asks_for_a_stronger_agent_has_used_no_retry() {
    let mut issue = Issue::new();
    let escalate =
        || json!({ "status": "escalate", "files_changed": [], "blockers": ["Too hard."] });
    issue.write(Artifact::State, json!({ "complexity": "trivial" }));
    assert_eq!(
        next_step_text(&run(&issue.files)),
        "plan.skipped: jg-worker-fast 1"
    );
    assert_eq!(
        issue.write(Artifact::Worker, escalate()),
        "tier.escalate: jg-worker 1"
    );
    assert_eq!(
        issue.write(Artifact::Worker, escalate()),
        "tier.escalate: jg-worker-high 1"
    );
    assert_eq!(
        issue.write(Artifact::Worker, escalate()),
        "tier.none_above: person"
    );
}

/// Runs without a trace: the files, and the next step.
#[test]
fn each_rule_speaks_in_its_situation() {
    let plan = || ("plan.json", Artifact::Plan, json!({}));
    let trivial = || {
        (
            "plan.json",
            Artifact::Plan,
            json!({ "complexity": "trivial" }),
        )
    };
    let complex = || {
        (
            "plan.json",
            Artifact::Plan,
            json!({ "complexity": "complex" }),
        )
    };
    let work = |keys| ("worker-result.json", Artifact::Worker, keys);
    let test = |keys| ("test-result.json", Artifact::Test, keys);
    let debug = |keys| ("debug-diagnosis.json", Artifact::Debug, keys);
    let review = |keys| ("review-result.json", Artifact::Review, keys);
    let git = |keys| ("git-result.json", Artifact::Git, keys);
    let inline =
        || json!({ "verdict": "FAIL", "inline_triage": true, "fix_instruction": "Import it." });
    let rows = vec![
        (vec![], "plan.missing: jg-subplanner 1"),
        (vec![plan()], "plan.ready: jg-worker 1"),
        (vec![trivial()], "plan.ready: jg-worker-fast 1"),
        (vec![complex()], "plan.ready: jg-worker-high 1"),
        (
            vec![plan(), work(json!({ "status": "nonsense" }))],
            "artifact.invalid: jg-worker 2",
        ),
        (
            vec![("plan.json", Artifact::Plan, json!({ "steps": 7 }))],
            "artifact.invalid: jg-subplanner 2",
        ),
        (
            vec![plan(), work(json!({}))],
            "worker.completed: jg-tester 1",
        ),
        (
            vec![trivial(), work(json!({}))],
            "worker.completed: jg-tester-fast 1",
        ),
        (
            vec![
                plan(),
                work(json!({ "status": "blocked", "blockers": ["x"] })),
            ],
            "worker.blocked: jg-subplanner 2",
        ),
        (
            vec![plan(), work(json!({ "blockers": ["x"] }))],
            "worker.blocked: jg-subplanner 2",
        ),
        (
            vec![plan(), work(json!({})), test(inline())],
            "tests.inline_triage: jg-worker 2",
        ),
        (
            vec![plan(), work(json!({})), test(failing())],
            "tests.failed: jg-debugger 1",
        ),
        (
            vec![complex(), work(json!({})), test(failing())],
            "tests.failed: jg-debugger-high 1",
        ),
        (
            vec![trivial(), work(json!({})), test(failing())],
            "tests.trivial: jg-worker-fast 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(json!({ "phase_1": { "lint": "FAIL" } })),
            ],
            "tests.failed: jg-debugger 1",
        ),
        (
            vec![plan(), work(json!({})), test(json!({ "verdict": "SKIP" }))],
            "tests.skipped: jg-reviewer 1",
        ),
        (
            vec![plan(), work(json!({})), test(json!({}))],
            "tests.passed: jg-reviewer 1",
        ),
        (
            vec![plan(), work(json!({})), test(failing()), debug(json!({}))],
            "diagnosis.fix_target: jg-worker 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(failing()),
                debug(json!({ "classification": "plan_defect" })),
            ],
            "diagnosis.plan_defect: jg-subplanner 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(failing()),
                debug(json!({ "classification": "escalate" })),
            ],
            "diagnosis.technical_complexity: person",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(failing()),
                debug(
                    json!({ "classification": "escalate", "escalation_sub": "ambiguous_requirement" }),
                ),
            ],
            "diagnosis.ambiguous_requirement: person",
        ),
        // The diagnosis belongs to a failure, and the tests pass.
        (
            vec![plan(), work(json!({})), test(json!({})), debug(json!({}))],
            "tests.passed: jg-reviewer 1",
        ),
        // A result that does not advance the run is newer than the files of later stages, which an earlier round wrote.
        (
            vec![
                plan(),
                work(json!({ "status": "blocked", "blockers": ["x"] })),
                test(json!({})),
                review(json!({})),
            ],
            "worker.blocked: jg-subplanner 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(failing()),
                review(json!({ "verdict": "FAIL" })),
                git(json!({ "ci_status": "failure" })),
            ],
            "tests.failed: jg-debugger 1",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(failing()),
                review(json!({ "verdict": "FAIL" })),
                debug(json!({})),
            ],
            "diagnosis.fix_target: jg-worker 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(inline()),
                debug(json!({ "classification": "escalate" })),
            ],
            "tests.inline_triage: jg-worker 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(json!({})),
                review(json!({ "verdict": "FAIL" })),
                git(json!({})),
            ],
            "review.failed: jg-worker 2",
        ),
        (
            vec![
                plan(),
                work(json!({})),
                test(json!({})),
                debug(json!({ "failure_source": "CI checks of the pull request" })),
                review(json!({})),
                git(json!({ "ci_status": "failure" })),
            ],
            "diagnosis.fix_target: jg-worker 2",
        ),
        // All files of a finished run, including the diagnosis of a failure.
        (
            vec![
                plan(),
                work(json!({})),
                test(json!({})),
                debug(json!({})),
                review(json!({})),
                git(json!({ "ci_status": "pass" })),
            ],
            "git.done: archive",
        ),
        (
            vec![test(json!({})), review(json!({ "verdict": "SKIP" }))],
            "review.skipped: jg-git 1",
        ),
        (
            vec![test(json!({})), review(json!({ "blockers": ["x"] }))],
            "review.failed: jg-worker 1",
        ),
        (
            vec![test(json!({})), review(json!({ "concerns": ["x"] }))],
            "review.passed: jg-git 1",
        ),
        (
            vec![review(json!({})), git(json!({ "ci_status": "failure" }))],
            "git.ci_failed: jg-debugger 1",
        ),
        (vec![review(json!({})), git(json!({}))], "git.done: archive"),
        // Two files of the tester: the later attempt counts.
        (
            vec![
                ("test-result-fail.json", Artifact::Test, failing()),
                ("test-result-pass.json", Artifact::Test, json!({})),
            ],
            "tests.passed: jg-reviewer 1",
        ),
        (
            vec![(
                "worker-result-fast.json",
                Artifact::Worker,
                json!({ "status": "escalate", "blockers": ["x"] }),
            )],
            "tier.escalate: jg-worker 1",
        ),
        (
            vec![
                plan(),
                ("state.yaml", Artifact::State, json!({ "status": "failed" })),
            ],
            "state.failed: person",
        ),
        // Without a trace the planner's retries count.
        (
            vec![
                plan(),
                work(json!({})),
                test(inline()),
                (
                    "state.yaml",
                    Artifact::State,
                    json!({ "current_stage": "implement", "retries": 2 }),
                ),
            ],
            "retries.next_tier: jg-worker-high 1",
        ),
    ];
    let mut heard = std::collections::BTreeSet::new();
    for (row, (files, expected)) in rows.into_iter().enumerate() {
        let mut files: Vec<RunFile> = files
            .into_iter()
            .map(|(name, artifact, keys)| file(name, &with(artifact, keys)))
            .collect();
        assert_eq!(next_step_text(&run(&files)), expected, "row {row}");
        files.reverse();
        assert_eq!(
            next_step_text(&run(&files)),
            expected,
            "row {row}, reversed"
        );
        heard.insert(expected.split(':').next().unwrap());
    }
    // The issues above cover the other rules.
    heard.extend([
        "plan.skipped",
        "tier.none_above",
        "retries.exhausted",
        "git.ci_pending",
        "review.passed",
    ]);
    let silent: Vec<&str> = Rule::VARIANTS
        .iter()
        .map(|rule| rule.code())
        .filter(|code| !heard.contains(code))
        .collect();
    assert_eq!(silent, [""; 0]);
}

/// The worker has written a result since the diagnosis in the trace.
#[test]
fn what_the_trace_does_not_tell_of_is_newer_than_what_it_tells_of() {
    let mut issue = Issue::new();
    issue.write(Artifact::Plan, json!({}));
    issue.write(Artifact::Worker, json!({}));
    issue.write(Artifact::Test, failing());
    let by_itself = |issue: &mut Issue, name: &str, document: Value| {
        issue.files.retain(|file| file.name != name);
        issue.files.push(file(name, &document));
        next_step_text(&run(&issue.files))
    };
    let debug = with(Artifact::Debug, json!({}));
    let expected = "diagnosis.fix_target: jg-worker 2";
    assert_eq!(
        by_itself(&mut issue, "debug-diagnosis.json", debug),
        expected
    );
    let worker = with(Artifact::Worker, json!({ "summary": "Once more." }));
    let expected = "worker.completed: jg-tester 2";
    assert_eq!(
        by_itself(&mut issue, "worker-result.json", worker),
        expected
    );
}

#[test]
fn an_order_names_files_and_what_was_said_before() {
    let files = [
        file("plan.json", &with(Artifact::Plan, json!({}))),
        file("test-result.json", &with(Artifact::Test, failing())),
        file("debug-diagnosis.json", &with(Artifact::Debug, json!({}))),
    ];
    let run = run(&files);
    let next = next(&run);
    assert_eq!(
        next.json(&run),
        json!({
            "issue": "ISSUE-1", "action": "run", "rule": "diagnosis.fix_target", "why": "the diagnosis says how to fix the work",
            "stage": "implement", "agent": "jg-worker", "tier": "standard", "attempt": 1,
            "reads": ["plan.json", "debug-diagnosis.json"], "writes": "worker-result.json", "instructions": "Fix the typo.",
        })
    );
}

#[test]
fn a_repository_may_allow_fewer_retries() {
    let none = Settings {
        retries: 0,
        ..Settings::default()
    };
    let files = [
        file("plan.json", &with(Artifact::Plan, json!({}))),
        file("worker-result.json", &with(Artifact::Worker, json!({}))),
        file(
            "test-result.json",
            &with(
                Artifact::Test,
                json!({ "verdict": "FAIL", "inline_triage": true }),
            ),
        ),
    ];
    let run = Run::read_run("ISSUE-1".parse().unwrap(), &files, none);
    assert_eq!(next_step_text(&run), "retries.next_tier: jg-worker-high 1");
}
