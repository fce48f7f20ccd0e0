//! The model as a client sees it: each scenario from the first request to the last.

use bytes::Bytes;
use http::{Method, Request};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::books::Books;
use crate::chance::Chance;
use crate::github::{self, RepoId};
use crate::knobs::*;
use crate::seed::{Seed, files};

const KEY: &str = "test-key";

struct Bench {
    jules: Model,
    github: github::Model,
    knobs: Knobs,
    books: Books,
    now: Timestamp,
    repo: RepoId,
}

impl Bench {
    fn new(scenarios: Vec<Scenario>) -> Bench {
        let now = "2026-01-14T10:00:00Z".parse().unwrap();
        let chance = Chance::new(11);
        let mut github = github::Model::new(chance.stream("github"));
        let tree = files(&[
            ("README.md", "# Widget\n\nA widget.\n"),
            ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ]);
        let repo = github.seed(&Seed::new("acme", "widget", tree), now);
        let mut account = Account::new("octocat", KEY);
        account.tier = Tier::Pro;
        account.installed.push(Installed::new("acme", "widget"));
        let config = Config {
            accounts: vec![account],
            scenarios,
            asks: 0.0,
            weights: Weights::only_changes(),
            ..Config::default()
        };
        let jules = Model::new(config, chance.stream("jules"));
        Bench {
            jules,
            github,
            knobs: Knobs {
                empty_progress: 0.0,
                ..Knobs::documented()
            },
            books: Books::default(),
            now,
            repo,
        }
    }

    fn send(&mut self, method: Method, path: &str, body: &str) -> (u16, Bytes) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Goog-Api-Key", KEY)
            .body(Bytes::copy_from_slice(body.as_bytes()))
            .unwrap();
        let reply = self.jules.handle(
            &request,
            self.now,
            &mut self.github,
            &self.knobs,
            &mut self.books,
        );
        (reply.status().as_u16(), reply.into_body())
    }

    fn get(&mut self, path: &str) -> Value {
        let (status, body) = self.send(Method::GET, path, "");
        assert_eq!(status, 200, "{path}: {body:?}");
        serde_json::from_slice(&body).unwrap()
    }

    fn status(&mut self, path: &str) -> u16 {
        self.send(Method::GET, path, "").0
    }

    fn post(&mut self, path: &str, body: &Value) -> u16 {
        self.send(Method::POST, path, &body.to_string()).0
    }

    fn try_create(&mut self, title: &str, more: Value) -> (u16, Value) {
        let mut body = json!({"prompt": format!("Do {title}"), "title": title, "automationMode": "AUTO_CREATE_PR",
            "sourceContext": {"source": "sources/github/acme/widget", "githubRepoContext": {"startingBranch": "main"}}});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let (status, body) = self.send(Method::POST, "/v1alpha/sessions", &body.to_string());
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn create(&mut self, title: &str, more: Value) -> String {
        let (status, session) = self.try_create(title, more);
        assert_eq!(status, 200, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.jules
            .advance(self.now, &mut self.github, &self.knobs, &mut self.books);
    }

    fn session(&mut self, id: &str) -> Value {
        self.get(&format!("/v1alpha/sessions/{id}"))
    }

    fn state(&mut self, id: &str) -> String {
        self.session(id)["state"].as_str().unwrap().to_owned()
    }

    fn activities(&mut self, id: &str) -> Vec<Value> {
        let page = self.get(&format!("/v1alpha/sessions/{id}/activities?pageSize=100"));
        page["activities"].as_array().cloned().unwrap_or_default()
    }

    fn has(&mut self, id: &str, kind: &str) -> usize {
        self.activities(id)
            .iter()
            .filter(|activity| activity.get(kind).is_some())
            .count()
    }

    /// Passes time until the session is in this state.
    fn until(&mut self, id: &str, state: &str) {
        const MOST_MINUTES: usize = 600;
        for _ in 0..MOST_MINUTES {
            if self.state(id) == state {
                return;
            }
            self.pass(10);
        }
        panic!("{id} never was {state} but {}", self.state(id));
    }
}

fn scripted(ending: Ending) -> Bench {
    Bench::new(vec![Scenario::ending(ending).taking(10.0)])
}

#[test]
fn a_session_opens_its_pull_request() {
    let mut bench = scripted(Ending::Changes);
    let (status, created) = bench.try_create("Tidy up [phileas:k3.1]", json!({}));
    assert_eq!((status, created["state"].as_str()), (200, Some("QUEUED")));
    let id = created["id"].as_str().unwrap().to_owned();
    assert!(
        (17..=20).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit()),
        "{id}"
    );
    assert!(created.get("outputs").is_none() && created.get("automationMode").is_none());
    bench.until(&id, "COMPLETED");
    let session = bench.session(&id);
    let shown = &session["outputs"][0]["pullRequest"];
    assert_eq!(shown["url"], "https://github.com/acme/widget/pull/1");
    let pull = bench.github.pull(bench.repo, 1).unwrap();
    assert!(
        pull.head.branch.ends_with(&format!("-{id}")),
        "{}",
        pull.head.branch
    );
    assert_eq!(
        (pull.base.branch.as_str(), pull.author_login.as_str()),
        ("main", BOT)
    );
    let body = pull.body.clone().unwrap();
    assert!(body.contains(&format!(
        "PR created automatically by Jules for task [{id}](https://jules.google.com/task/{id}) started by @octocat"
    )));
    let states: Vec<_> = bench.books.sessions[0]
        .states
        .iter()
        .map(|(_, state)| state.as_str())
        .collect();
    assert_eq!(states, ["QUEUED", "PLANNING", "IN_PROGRESS", "COMPLETED"]);
    assert_eq!(bench.books.sessions[0].pull, Some(1));
    assert_eq!(bench.jules.created_with("[phileas:k3.1]"), 1);
}

#[test]
fn change_sets_are_cumulative_and_apply_to_the_base() {
    let mut bench = Bench::new(vec![
        Scenario::ending(Ending::Changes)
            .taking(5.0)
            .writing("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n")
            .writing("a-{{n}}.txt", "{{session}}\n"),
    ]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let record = bench.jules.session(&id).unwrap();
    let set = record
        .activities()
        .iter()
        .rev()
        .find_map(Activity::change_set)
        .unwrap()
        .clone();
    assert!(set.patch.contains("-    1\n+    2\n"), "{}", set.patch);
    assert!(
        set.patch
            .contains(&format!("+++ b/a-1.txt\n@@ -0,0 +1 @@\n+{id}\n")),
        "{}",
        set.patch
    );
    assert_eq!(
        set.base,
        bench
            .github
            .branch_head(bench.repo, "main")
            .unwrap()
            .to_string()
    );
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    assert_eq!(
        bench.github.read_file(bench.repo, head, "a-1.txt").unwrap(),
        format!("{id}\n")
    );
}

#[test]
fn a_plan_waits_for_its_approval_while_the_state_lags() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.state_lag_seconds = 30;
    let id = bench.create("t", json!({"requirePlanApproval": true}));
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    bench.pass(3 * 3600);
    assert_eq!(bench.state(&id), "AWAITING_PLAN_APPROVAL");
    assert_eq!(
        bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
        200
    );
    assert_eq!(bench.has(&id, "planApproved"), 1);
    assert_eq!(bench.state(&id), "AWAITING_PLAN_APPROVAL");
    bench.pass(31);
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    bench.until(&id, "COMPLETED");
}

#[test]
fn a_message_revises_the_plan_and_an_approval_carries_forward() {
    let mut bench = Bench::new(vec![Scenario {
        questions: Some(vec!["Which?".into()]),
        ..Scenario::ending(Ending::Changes).taking(20.0)
    }]);
    let id = bench.create("t", json!({"requirePlanApproval": true}));
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    bench.post(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "smaller"}),
    );
    assert_eq!(bench.state(&id), "PLANNING");
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    let plans: Vec<Value> = bench
        .activities(&id)
        .iter()
        .filter_map(|a| a.get("planGenerated").map(|p| p["plan"]["id"].clone()))
        .collect();
    assert_eq!(plans.len(), 2);
    assert_ne!(plans[0], plans[1]);
    bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    let approved = bench
        .activities(&id)
        .iter()
        .find_map(|a| a.get("planApproved").cloned())
        .unwrap();
    assert_eq!(approved["planId"], plans[1]);
    bench.until(&id, "AWAITING_USER_FEEDBACK");
}

#[test]
fn an_approved_session_does_not_wait_for_a_second_plan() {
    let beat = |deed| Beat { after: 10.0, deed };
    let beats = vec![
        beat(Deed::Start),
        beat(Deed::Plan),
        beat(Deed::Plan),
        beat(Deed::Complete { outputs: false }),
    ];
    let mut bench = Bench::new(vec![Scenario {
        beats: Some(beats),
        ..Scenario::default()
    }]);
    let id = bench.create("t", json!({"requirePlanApproval": true}));
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    bench.until(&id, "COMPLETED");
    assert_eq!(
        (
            bench.has(&id, "planGenerated"),
            bench.has(&id, "planApproved")
        ),
        (2, 2)
    );
}

#[test]
fn the_service_may_approve_by_itself() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.auto_approve_seconds = 600;
    let id = bench.create("t", json!({"requirePlanApproval": true}));
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    bench.pass(590);
    assert_eq!(bench.state(&id), "AWAITING_PLAN_APPROVAL");
    bench.pass(11);
    assert_eq!(bench.state(&id), "IN_PROGRESS");
}

#[test]
fn an_early_approval_counts_or_does_not() {
    for (ignored, state) in [(true, "AWAITING_PLAN_APPROVAL"), (false, "COMPLETED")] {
        let mut bench = scripted(Ending::Changes);
        bench.knobs.early_approval_ignored = ignored;
        let id = bench.create("t", json!({"requirePlanApproval": true}));
        assert_eq!(
            bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
            200
        );
        bench.pass(3600);
        assert_eq!(bench.state(&id), state);
    }
}

#[test]
fn a_question_waits_for_its_answer() {
    let mut bench = Bench::new(vec![
        Scenario::ending(Ending::Changes)
            .taking(10.0)
            .asking("Which file?"),
    ]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "AWAITING_USER_FEEDBACK");
    let question = bench.activities(&id).last().unwrap()["agentMessaged"]["agentMessage"].clone();
    assert_eq!(question, "Which file?");
    bench.pass(7200);
    assert_eq!(bench.state(&id), "AWAITING_USER_FEEDBACK");
    assert_eq!(bench.books.questions[0].text, "Which file?");
    assert_eq!(
        bench.post(
            &format!("/v1alpha/sessions/{id}:sendMessage"),
            &json!({"prompt": "lib.rs"})
        ),
        200
    );
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    assert_eq!(bench.books.questions[0].answer.as_deref(), Some("lib.rs"));
    bench.until(&id, "COMPLETED");
    let record = bench.jules.session(&id).unwrap().record();
    assert_eq!(
        (record.acts[0].what, record.acts[0].text.as_str()),
        ("message", "lib.rs")
    );
}

#[test]
fn completed_sessions_may_show_nothing() {
    for (ending, last) in [
        (Ending::NoChange, "sessionCompleted"),
        (Ending::OpenQuestion, "agentMessaged"),
        (Ending::PlanOnly, "sessionCompleted"),
    ] {
        let mut bench = scripted(ending);
        let id = bench.create("t", json!({}));
        bench.until(&id, "COMPLETED");
        bench.pass(60);
        assert!(bench.session(&id).get("outputs").is_none(), "{ending:?}");
        assert!(
            bench.activities(&id).last().unwrap().get(last).is_some(),
            "{ending:?}"
        );
        assert_eq!(bench.github.pulls(bench.repo).count(), 0);
    }
}

#[test]
fn a_session_that_needs_approval_may_end_with_nothing_but_its_plan() {
    let mut bench = scripted(Ending::PlanOnly);
    let id = bench.create("t", json!({"requirePlanApproval": true}));
    bench.until(&id, "AWAITING_PLAN_APPROVAL");
    bench.until(&id, "COMPLETED");
    assert_eq!(
        (
            bench.has(&id, "planGenerated"),
            bench.has(&id, "planApproved")
        ),
        (1, 0)
    );
    bench.knobs.late_approval_ignored = true;
    assert_eq!(
        bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
        200
    );
    assert_eq!(bench.state(&id), "COMPLETED");
    bench.knobs.late_approval_ignored = false;
    bench.post(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    bench.until(&id, "COMPLETED");
    assert_eq!(bench.github.pulls(bench.repo).count(), 1);
}

#[test]
fn changes_without_a_pull_request() {
    let mut bench = scripted(Ending::Changes);
    let id = bench.create(
        "t",
        json!({"automationMode": "AUTOMATION_MODE_UNSPECIFIED"}),
    );
    bench.until(&id, "COMPLETED");
    let outputs = bench.session(&id)["outputs"].clone();
    assert!(
        outputs[0]["changeSet"]["gitPatch"]["unidiffPatch"]
            .as_str()
            .unwrap()
            .starts_with("diff --git ")
    );
    assert_eq!(bench.github.pulls(bench.repo).count(), 0);

    let mut bench = scripted(Ending::HiddenChanges);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    assert!(bench.session(&id).get("outputs").is_none());
    let hidden = bench
        .activities(&id)
        .iter()
        .any(|a| a["artifacts"][0].get("changeSet").is_some());
    assert!(hidden);
}

#[test]
fn a_failure_has_its_reason_in_the_activity_only() {
    let mut bench = Bench::new(vec![Scenario {
        reason: Some("no disk".into()),
        ..Scenario::ending(Ending::Failure)
    }]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "FAILED");
    assert!(!bench.session(&id).to_string().contains("no disk"));
    assert_eq!(
        bench.activities(&id).last().unwrap()["sessionFailed"]["reason"],
        "no disk"
    );
    assert_eq!(
        bench.post(
            &format!("/v1alpha/sessions/{id}:sendMessage"),
            &json!({"prompt": "again"})
        ),
        400
    );
}

#[test]
fn stuck_sessions_stay_at_work() {
    for (ending, pulls) in [(Ending::Stuck, 0), (Ending::StuckWithPull, 1)] {
        let mut bench = scripted(ending);
        let id = bench.create("t", json!({}));
        bench.pass(72 * 3600);
        assert_eq!(bench.state(&id), "IN_PROGRESS");
        assert_eq!(bench.github.pulls(bench.repo).count(), pulls);
    }
}

#[test]
fn archiving_pauses_and_hides() {
    let mut bench = scripted(Ending::Changes);
    let id = bench.create("t", json!({}));
    bench.until(&id, "IN_PROGRESS");
    assert_eq!(
        bench.post(&format!("/v1alpha/sessions/{id}:archive"), &json!({})),
        200
    );
    bench.pass(7200);
    assert_eq!(bench.state(&id), "PAUSED");
    assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
    let archived = bench.get("/v1alpha/sessions?filter=archived+%3D+true");
    assert_eq!(archived["sessions"][0]["archived"], true);
    bench.post(&format!("/v1alpha/sessions/{id}:unarchive"), &json!({}));
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    bench.until(&id, "COMPLETED");
    assert!(
        bench.get("/v1alpha/sessions")["sessions"][0]
            .get("archived")
            .is_none()
    );
}

#[test]
fn only_the_web_app_may_resume_where_the_knob_says_so() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.resumed_by = ResumedBy::WebApp;
    let id = bench.create("t", json!({}));
    bench.until(&id, "IN_PROGRESS");
    bench.post(&format!("/v1alpha/sessions/{id}:archive"), &json!({}));
    bench.post(&format!("/v1alpha/sessions/{id}:unarchive"), &json!({}));
    bench.post(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "go on"}),
    );
    assert_eq!(bench.state(&id), "PAUSED");
    let (now, knobs) = (bench.now, bench.knobs.clone());
    assert!(bench.jules.in_web_app(&id, WebAct::Resume, now, &knobs));
    bench.until(&id, "COMPLETED");
}

#[test]
fn a_message_reopens_a_completed_session_which_pushes_again() {
    let follow_up = FileTexts::from([("b.txt".to_owned(), Some("b\n".to_owned()))]);
    let scenario = Scenario {
        follow_ups: vec![follow_up],
        ..Scenario::ending(Ending::Changes)
            .taking(5.0)
            .writing("a.txt", "a\n")
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let first = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    bench.post(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "also b"}),
    );
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    bench.until(&id, "COMPLETED");
    let pull = bench.github.pull(bench.repo, 1).unwrap();
    assert_ne!(pull.head.oid, first);
    assert_eq!(
        bench
            .github
            .read_file(bench.repo, pull.head.oid, "b.txt")
            .unwrap(),
        "b\n"
    );
    assert_eq!(bench.github.pulls(bench.repo).count(), 1);
    assert_eq!(bench.has(&id, "sessionCompleted"), 2);
}

#[test]
fn a_completed_session_may_push_its_old_diff_over_the_work_of_others() {
    let scenario = Scenario {
        pushes_again_after: Some(60.0),
        ..Scenario::ending(Ending::Changes)
            .taking(5.0)
            .writing("a.txt", "a\n")
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let pull = bench.github.pull(bench.repo, 1).unwrap().clone();
    let work = [("src/lib.rs".to_owned(), Some(Bytes::from_static(b"mine\n")))];
    let commit = bench.github.commit_files(
        bench.repo,
        Some(pull.head.oid),
        &work,
        "octocat",
        "mine",
        bench.now,
    );
    bench
        .github
        .move_branch(bench.repo, &pull.head.branch, commit, "octocat", bench.now);
    bench.pass(3700);
    let head = bench
        .github
        .branch_head(bench.repo, &pull.head.branch)
        .unwrap();
    assert_ne!(head, commit);
    assert!(
        bench
            .github
            .read_file(bench.repo, head, "src/lib.rs")
            .unwrap()
            .starts_with(b"pub fn")
    );
    assert_eq!(
        bench.github.read_file(bench.repo, head, "a.txt").unwrap(),
        "a\n"
    );
}

#[test]
fn an_archived_session_does_not_push_again() {
    let scenario = Scenario {
        pushes_again_after: Some(60.0),
        ..Scenario::ending(Ending::Changes).taking(5.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    bench.post(&format!("/v1alpha/sessions/{id}:archive"), &json!({}));
    bench.pass(7200);
    assert_eq!(bench.state(&id), "COMPLETED");
    assert_eq!(bench.github.pull(bench.repo, 1).unwrap().head.oid, head);
}

#[test]
fn limits_are_those_of_the_tier() {
    let mut bench = scripted(Ending::Changes);
    bench.jules.account_mut("octocat").unwrap().tier = Tier::Free;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(bench.create(&format!("t{n}"), json!({})));
    }
    let (status, body) = bench.try_create("t", json!({}));
    assert_eq!(
        (status, body["error"]["status"].as_str()),
        (429, Some("RESOURCE_EXHAUSTED"))
    );
    assert_eq!(
        body["error"]["message"],
        "Resource has been exhausted (e.g. check quota)."
    );
    for _ in 0..12 {
        bench.pass(3600);
        bench.create("t", json!({}));
    }
    bench.pass(3600);
    assert_eq!(bench.try_create("t", json!({})).0, 429);
    bench.pass(11 * 3600);
    assert_eq!(bench.try_create("t", json!({})).0, 200);
    assert_eq!(bench.jules.records().count(), 16);
}

#[test]
fn above_the_concurrent_limit_a_session_may_be_held_instead() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.over_concurrency_queued = true;
    bench.jules.account_mut("octocat").unwrap().concurrent = Some(1);
    let first = bench.create("a", json!({}));
    let second = bench.create("b", json!({}));
    bench.until(&first, "COMPLETED");
    assert_eq!(bench.state(&second), "QUEUED");
    bench.until(&second, "COMPLETED");
}

#[test]
fn a_burst_fails_reads_too() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.create_burst = 5;
    let statuses: Vec<u16> = (0..7)
        .map(|n| bench.try_create(&format!("t{n}"), json!({})).0)
        .collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    assert_eq!(bench.status("/v1alpha/sources/github/acme/widget"), 429);
    bench.pass(2);
    assert_eq!(bench.status("/v1alpha/sources/github/acme/widget"), 200);
}

#[test]
fn a_create_may_take_effect_and_be_refused() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.create_refused_after_effect = 1.0;
    let (status, body) = bench.try_create("t [phileas:x.1]", json!({}));
    assert_eq!(
        (status, body["error"]["status"].as_str()),
        (503, Some("UNAVAILABLE"))
    );
    assert_eq!(bench.jules.created_with("[phileas:x.1]"), 1);
    assert!(bench.books.sessions[0].reply_lost);
    assert_eq!(
        bench.get("/v1alpha/sessions")["sessions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn kinds_that_nobody_knows() {
    let scenario = Scenario {
        unknown_state: Some("REVIEWING".into()),
        unknown_activity: Some("codeReviewed".into()),
        unknown_artifact: Some("trace".into()),
        unknown_output: Some("report".into()),
        ..Scenario::ending(Ending::Changes).taking(10.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create("t", json!({}));
    bench.until(&id, "REVIEWING");
    bench.until(&id, "COMPLETED");
    assert_eq!(bench.has(&id, "codeReviewed"), 1);
    assert!(
        bench.session(&id)["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .any(|output| output.get("report").is_some())
    );
    assert!(
        bench
            .activities(&id)
            .iter()
            .any(|a| a["artifacts"][0].get("trace").is_some())
    );
}

#[test]
fn new_sessions_may_be_hidden_for_a_while() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.fresh_activities_404_seconds = 60;
    bench.knobs.fresh_session_404_seconds = 20;
    bench.knobs.listing_lag_seconds = 90;
    let id = bench.create("t", json!({}));
    let activities = format!("/v1alpha/sessions/{id}/activities");
    assert_eq!(bench.status(&format!("/v1alpha/sessions/{id}")), 404);
    bench.pass(30);
    assert_eq!(
        (
            bench.status(&format!("/v1alpha/sessions/{id}")),
            bench.status(&activities)
        ),
        (200, 404)
    );
    assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
    bench.pass(70);
    assert_eq!(bench.status(&activities), 200);
    assert_eq!(
        bench.get("/v1alpha/sessions")["sessions"][0]["id"],
        id.as_str()
    );
}

#[test]
fn empty_updates_and_missing_originators() {
    let scenario = Scenario {
        progress: Some(vec![String::new(), "Testing".into()]),
        no_originator: true,
        ..Scenario::ending(Ending::NoChange).taking(9.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    bench.knobs.activity_id_in_name_only = true;
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let activities = bench.activities(&id);
    assert!(activities.iter().any(|a| a["progressUpdated"] == json!({})));
    assert!(
        activities
            .iter()
            .all(|a| a.get("originator").is_none() && a.get("id").is_none())
    );
    let name = activities[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(bench.get(&format!("/v1alpha/{name}")), activities[0]);
}

#[test]
fn sources_come_from_the_installed_repositories() {
    let mut bench = scripted(Ending::Changes);
    bench
        .github
        .seed(&Seed::new("acme", "other", files(&[("a", "a")])), bench.now);
    bench.jules.install(
        "octocat",
        Installed {
            more_branches: 500,
            ..Installed::new("ACME", "Other")
        },
    );
    bench
        .jules
        .install("octocat", Installed::new("acme", "gone"));
    let all = bench.get("/v1alpha/sources?pageSize=1");
    assert_eq!(all["sources"][0]["name"], "sources/github/acme/widget");
    assert_eq!(
        all["sources"][0]["githubRepo"]["defaultBranch"]["displayName"],
        "main"
    );
    assert!(all["sources"][0]["githubRepo"].get("isPrivate").is_none());
    let token = all["nextPageToken"].as_str().unwrap();
    let rest = bench.get(&format!("/v1alpha/sources?pageToken={token}"));
    assert_eq!(rest["sources"].as_array().unwrap().len(), 1);
    assert_eq!(
        rest["sources"][0]["githubRepo"]["branches"]
            .as_array()
            .unwrap()
            .len(),
        501
    );
    let one = bench.get("/v1alpha/sources?filter=name%3Dsources/github/acme/widget+OR+name%3Dsources/github/acme/none");
    assert_eq!(one["sources"].as_array().unwrap().len(), 1);
    assert_eq!(
        bench.get("/v1alpha/sources/github/acme/other")["id"],
        "github/ACME/Other"
    );
    assert_eq!(bench.status("/v1alpha/sources/github/acme/none"), 404);
    bench.knobs.source_case_changed = true;
    assert_eq!(
        bench.get("/v1alpha/sources")["sources"][0]["name"],
        "sources/github/Acme/Widget"
    );
}

#[test]
fn sessions_of_others_and_without_a_repository() {
    let mut bench = scripted(Ending::Changes);
    let (now, knobs) = (bench.now, bench.knobs.clone());
    let web = WebSession {
        prompt: "look around".into(),
        ..WebSession::default()
    };
    let id = bench
        .jules
        .start_in_web_app("octocat", web, now, &knobs)
        .unwrap();
    bench
        .jules
        .add_account(Account::new("somebody", "other-key"));
    bench.jules.start_in_web_app(
        "somebody",
        WebSession {
            prompt: "p".into(),
            ..WebSession::default()
        },
        now,
        &knobs,
    );
    let listed = bench.get("/v1alpha/sessions");
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert!(listed["sessions"][0].get("sourceContext").is_none());
    bench.until(&id, "COMPLETED");
    assert_eq!(
        bench.session(&id)["outputs"][0]["changeSet"]["gitPatch"].get("baseCommitId"),
        None
    );
    assert!(bench.books.sessions[0].foreign);
}

#[test]
fn listings_page_from_new_to_old_while_new_ones_come() {
    let mut bench = scripted(Ending::Changes);
    let mut ids: Vec<String> = (0..5)
        .map(|n| bench.create(&format!("t{n}"), json!({})))
        .collect();
    ids.reverse();
    let first = bench.get("/v1alpha/sessions?pageSize=2");
    bench.create("late", json!({}));
    let token = first["nextPageToken"].as_str().unwrap();
    let second = bench.get(&format!("/v1alpha/sessions?pageSize=100&pageToken={token}"));
    let seen: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["sessions"].as_array().unwrap())
        .map(|session| session["id"].as_str().unwrap())
        .collect();
    assert_eq!(seen, ids);
    assert!(second.get("nextPageToken").is_none());
    bench.knobs.listing_order = ListingOrder::Unordered;
    let mut all: Vec<String> = Vec::new();
    let mut token = String::new();
    loop {
        let page = bench.get(&format!("/v1alpha/sessions?pageSize=4&pageToken={token}"));
        all.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["id"].as_str().unwrap().to_owned()),
        );
        match page["nextPageToken"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn knobs_hide_titles_and_prompts() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.title = TitleKept::Dropped;
    bench.knobs.listing_without_prompt = true;
    bench.knobs.session_name_bare = true;
    let id = bench.create("marker", json!({}));
    let listed = bench.get("/v1alpha/sessions")["sessions"][0].clone();
    assert!(listed.get("title").is_none() && listed.get("prompt").is_none());
    assert_eq!(listed["name"], id.as_str());
    assert_eq!(bench.session(&id)["prompt"], "Do marker");
    assert_eq!(bench.books.sessions[0].title.as_deref(), Some("marker"));
    bench.knobs.title = TitleKept::Truncated;
    let id = bench.create(&"x".repeat(70), json!({}));
    assert_eq!(bench.session(&id)["title"], "x".repeat(60));
}

#[test]
fn activities_are_read_incrementally_or_page_by_page() {
    let mut bench = scripted(Ending::Changes);
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let all = bench.activities(&id);
    let times: Vec<&str> = all
        .iter()
        .map(|a| a["createTime"].as_str().unwrap())
        .collect();
    let instants: Vec<Timestamp> = times.iter().map(|t| t.parse().unwrap()).collect();
    assert!(instants.is_sorted());
    assert!(
        instants.windows(2).any(|pair| pair[0] == pair[1]),
        "equal timestamps occur: {times:?}"
    );
    let filter = format!("create_time%3E%22{}%22", times[1]);
    let newer = bench.get(&format!(
        "/v1alpha/sessions/{id}/activities?filter={filter}"
    ));
    let expected = instants.iter().filter(|at| **at > instants[1]).count();
    assert_eq!(newer["activities"].as_array().unwrap().len(), expected);
    let page = bench.get(&format!("/v1alpha/sessions/{id}/activities?pageSize=2"));
    let token = page["nextPageToken"].as_str().unwrap();
    let rest = bench.get(&format!(
        "/v1alpha/sessions/{id}/activities?pageToken={token}"
    ));
    assert_eq!(rest["activities"].as_array().unwrap().len(), all.len() - 2);
    let (status, body) = bench.send(
        Method::GET,
        &format!("/v1alpha/sessions/{id}/activities?createTime=x"),
        "",
    );
    assert_eq!(status, 400);
    assert!(String::from_utf8_lossy(&body).contains(r#"Unknown name \"createTime\": Cannot bind query parameter. Field 'createTime' could not be found in request message."#));
    bench.knobs.activity_filter = false;
    assert_eq!(
        bench.status(&format!(
            "/v1alpha/sessions/{id}/activities?filter={filter}"
        )),
        400
    );
}

#[test]
fn knobs_draw_for_unscripted_sessions() {
    let mut bench = Bench::new(vec![]);
    bench.knobs.never_completes = 1.0;
    let id = bench.create("t", json!({}));
    bench.pass(48 * 3600);
    assert_eq!(bench.state(&id), "IN_PROGRESS");
    assert_eq!(bench.github.pulls(bench.repo).count(), 1);
    bench.knobs.never_completes = 0.0;
    bench.knobs.outputs_missing = 1.0;
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    assert!(bench.session(&id).get("outputs").is_none());
}

#[test]
fn outputs_may_come_after_the_state() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.outputs_lag_seconds = 120;
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    assert!(bench.session(&id).get("outputs").is_none());
    bench.pass(121);
    assert!(bench.session(&id).get("outputs").is_some());
}

#[test]
fn verbs_answer_in_three_forms() {
    let mut bench = scripted(Ending::Changes);
    let id = bench.create("t", json!({}));
    for (form, length) in [(VerbReply::EmptyBody, 0), (VerbReply::EmptyObject, 2)] {
        bench.knobs.approve_reply = form;
        let (status, body) = bench.send(
            Method::POST,
            &format!("/v1alpha/sessions/{id}:approvePlan"),
            "",
        );
        assert_eq!((status, body.len()), (200, length));
    }
    bench.knobs.approve_reply = VerbReply::Session;
    let (_, body) = bench.send(
        Method::POST,
        &format!("/v1alpha/sessions/{id}:approvePlan"),
        "{}",
    );
    let session: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(session["id"], id.as_str());
    assert!(session.get("sourceContext").is_none());
}

#[test]
fn deleting_removes_and_may_leave_the_work_running() {
    for (knob, pulls) in [(DeleteRunning::Stops, 0), (DeleteRunning::WorksOn, 1)] {
        let mut bench = scripted(Ending::Changes);
        bench.knobs.delete_running = knob;
        let id = bench.create("t", json!({}));
        bench.until(&id, "IN_PROGRESS");
        assert_eq!(
            bench
                .send(Method::DELETE, &format!("/v1alpha/sessions/{id}"), "")
                .0,
            200
        );
        assert_eq!(
            bench
                .send(Method::DELETE, &format!("/v1alpha/sessions/{id}"), "")
                .0,
            404
        );
        assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
        bench.pass(7200);
        assert_eq!(bench.github.pulls(bench.repo).count(), pulls, "{knob:?}");
        assert!(bench.books.sessions[0].deleted);
    }
}

#[test]
fn keys_are_checked() {
    let mut bench = scripted(Ending::Changes);
    let mut ask = |key: Option<&str>, knobs: &Knobs| {
        let mut request = Request::builder().uri("/v1alpha/sessions");
        if let Some(key) = key {
            request = request.header("x-goog-api-key", key);
        }
        let request = request.body(Bytes::new()).unwrap();
        bench
            .jules
            .handle(
                &request,
                bench.now,
                &mut bench.github,
                knobs,
                &mut bench.books,
            )
            .status()
            .as_u16()
    };
    let knobs = Knobs::documented();
    assert_eq!(
        (
            ask(None, &knobs),
            ask(Some("wrong"), &knobs),
            ask(Some(KEY), &knobs)
        ),
        (401, 401, 200)
    );
    assert_eq!(
        ask(
            Some("wrong"),
            &Knobs {
                bad_key_is_400: true,
                ..knobs.clone()
            }
        ),
        400
    );
    bench
        .jules
        .account_mut("octocat")
        .unwrap()
        .disabled_keys
        .push(KEY.to_owned());
    assert_eq!(bench.status("/v1alpha/sessions"), 403);
}

#[test]
fn creates_are_checked_against_the_repository() {
    let mut bench = scripted(Ending::Changes);
    let context = |source: &str, branch: &str| json!({"sourceContext": {"source": source, "githubRepoContext": {"startingBranch": branch}}});
    assert_eq!(
        bench
            .try_create("t", context("sources/github/acme/none", "main"))
            .0,
        404
    );
    assert_eq!(
        bench
            .try_create("t", context("sources/github/acme/widget", "none"))
            .0,
        400
    );
    assert_eq!(
        bench
            .try_create("t", context("sources/github/ACME/Widget", "main"))
            .0,
        200
    );
    bench.knobs.prompt_limit = 5;
    assert_eq!(bench.try_create("long", json!({})).0, 400);
}

#[test]
fn pull_requests_may_be_drafts_by_the_person_on_other_branches() {
    let mut bench = scripted(Ending::Changes);
    bench.knobs.draft_pulls = true;
    bench.knobs.pull_author = PullAuthor::User;
    bench.knobs.branch_form = BranchForm::JulesHex;
    let id = bench.create("t", json!({}));
    bench.until(&id, "COMPLETED");
    let pull = bench.github.pull(bench.repo, 1).unwrap();
    assert!(pull.draft);
    assert_eq!(pull.author_login, "octocat");
    let hex = pull
        .head
        .branch
        .strip_prefix(&format!("jules-{id}-"))
        .unwrap();
    assert!(hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
}

#[derive(Debug)]
struct Scribe;

impl Worker for Scribe {
    fn work(&mut self, task: &Task<'_>, _: &github::Model) -> Option<FileTexts> {
        task.prompt
            .contains("scribe")
            .then(|| FileTexts::from([("x.yml".to_owned(), Some("id: 1\n".to_owned()))]))
    }
}

#[test]
fn a_worker_may_do_the_work() {
    let mut bench = scripted(Ending::Changes);
    bench.jules.employ(Box::new(Scribe));
    let id = bench.create("scribe", json!({}));
    bench.until(&id, "COMPLETED");
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    assert_eq!(
        bench.github.read_file(bench.repo, head, "x.yml").unwrap(),
        "id: 1\n"
    );
}

#[test]
fn one_session_more_does_not_change_the_others() {
    let play = |more: bool| {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        let first = bench.create("a", json!({}));
        if more {
            bench.create("b", json!({}));
        }
        bench.pass(7200);
        bench.activities(&first)
    };
    assert_eq!(play(false), play(true));
}

#[test]
fn worlds_of_one_seed_are_the_same() {
    let play = || {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        bench.knobs = Knobs {
            create_burst: 0,
            fresh_session_404_seconds: 0,
            ..Knobs::worst()
        };
        for n in 0..10 {
            bench.try_create(&format!("t{n}"), json!({}));
            bench.pass(600);
        }
        bench.pass(86_400);
        serde_json::to_string(&bench.books).unwrap()
    };
    assert_eq!(play(), play());
}
