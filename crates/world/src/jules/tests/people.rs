//! What people and clients do to sessions.

use super::*;

#[test]
fn a_plan_waits_for_its_approval_while_the_state_lags() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.state_lag_seconds = 30;
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    bench.pass_time(3 * 3600);
    assert_eq!(bench.get_state(&id), "AWAITING_PLAN_APPROVAL");
    assert_eq!(
        bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
        200
    );
    assert_eq!(bench.count_activities(&id, "planApproved"), 1);
    assert_eq!(bench.get_state(&id), "AWAITING_PLAN_APPROVAL");
    bench.pass_time(31);
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    bench.wait_for_state(&id, "COMPLETED");
}

#[test]
fn a_message_revises_the_plan_and_an_approval_carries_forward() {
    let mut bench = Bench::new(vec![Scenario {
        questions: Some(vec!["Which?".into()]),
        ..Scenario::with_ending(Ending::Changes).with_minutes(20.0)
    }]);
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    bench.post_json(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "smaller"}),
    );
    assert_eq!(bench.get_state(&id), "PLANNING");
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    let plans: Vec<Value> = bench
        .list_activities(&id)
        .iter()
        .filter_map(|a| a.get("planGenerated").map(|p| p["plan"]["id"].clone()))
        .collect();
    assert_eq!(plans.len(), 2);
    assert_ne!(plans[0], plans[1]);
    bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    let approved = bench
        .list_activities(&id)
        .iter()
        .find_map(|a| a.get("planApproved").cloned())
        .unwrap();
    assert_eq!(approved["planId"], plans[1]);
    bench.wait_for_state(&id, "AWAITING_USER_FEEDBACK");
}

#[test]
fn an_approved_session_does_not_wait_for_a_second_plan() {
    let beat = |action| Beat {
        after: 10.0,
        action,
    };
    let beats = vec![
        beat(BeatAction::Start),
        beat(BeatAction::Plan),
        beat(BeatAction::Plan),
        beat(BeatAction::Complete { outputs: false }),
    ];
    let mut bench = Bench::new(vec![Scenario {
        beats: Some(beats),
        ..Scenario::default()
    }]);
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    assert_eq!(
        (
            bench.count_activities(&id, "planGenerated"),
            bench.count_activities(&id, "planApproved")
        ),
        (2, 2)
    );
}

#[test]
fn the_service_may_approve_by_itself() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.auto_approve_seconds = 600;
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    bench.pass_time(590);
    assert_eq!(bench.get_state(&id), "AWAITING_PLAN_APPROVAL");
    bench.pass_time(11);
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
}

#[test]
fn an_early_approval_counts_or_does_not() {
    for (ignored, state) in [(true, "AWAITING_PLAN_APPROVAL"), (false, "COMPLETED")] {
        let mut bench = scripted_bench(Ending::Changes);
        bench.knobs.early_approval_ignored = ignored;
        let id = bench.create_session("t", json!({"requirePlanApproval": true}));
        assert_eq!(
            bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
            200
        );
        bench.pass_time(3600);
        assert_eq!(bench.get_state(&id), state);
    }
}

#[test]
fn a_question_waits_for_its_answer() {
    let mut bench = Bench::new(vec![
        Scenario::with_ending(Ending::Changes)
            .with_minutes(10.0)
            .with_question("Which file?"),
    ]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "AWAITING_USER_FEEDBACK");
    let question =
        bench.list_activities(&id).last().unwrap()["agentMessaged"]["agentMessage"].clone();
    assert_eq!(question, "Which file?");
    bench.pass_time(7200);
    assert_eq!(bench.get_state(&id), "AWAITING_USER_FEEDBACK");
    assert_eq!(bench.books.questions[0].text, "Which file?");
    assert_eq!(
        bench.post_json(
            &format!("/v1alpha/sessions/{id}:sendMessage"),
            &json!({"prompt": "lib.rs"})
        ),
        200
    );
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    assert_eq!(bench.books.questions[0].answer.as_deref(), Some("lib.rs"));
    bench.wait_for_state(&id, "COMPLETED");
    let record = bench.jules.session(&id).unwrap().record();
    assert_eq!(
        (record.acts[0].what, record.acts[0].text.as_str()),
        ("message", "lib.rs")
    );
    let act = &bench.books.sessions[0].acts[0];
    assert_eq!((act.what.as_str(), act.in_web_app), ("message", false));
}

#[test]
fn archiving_pauses_and_hides() {
    let mut bench = scripted_bench(Ending::Changes);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "IN_PROGRESS");
    assert_eq!(
        bench.post_json(&format!("/v1alpha/sessions/{id}:archive"), &json!({})),
        200
    );
    bench.pass_time(7200);
    assert_eq!(bench.get_state(&id), "PAUSED");
    assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
    let archived = bench.get("/v1alpha/sessions?filter=archived+%3D+true");
    assert_eq!(archived["sessions"][0]["archived"], true);
    bench.post_json(&format!("/v1alpha/sessions/{id}:unarchive"), &json!({}));
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    bench.wait_for_state(&id, "COMPLETED");
    assert!(
        bench.get("/v1alpha/sessions")["sessions"][0]
            .get("archived")
            .is_none()
    );
}

#[test]
fn only_the_web_app_may_resume_where_the_knob_says_so() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.resumed_by = ResumedBy::WebApp;
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "IN_PROGRESS");
    bench.post_json(&format!("/v1alpha/sessions/{id}:archive"), &json!({}));
    bench.post_json(&format!("/v1alpha/sessions/{id}:unarchive"), &json!({}));
    bench.post_json(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "go on"}),
    );
    assert_eq!(bench.get_state(&id), "PAUSED");
    let (now, knobs) = (bench.now, bench.knobs.clone());
    assert!(bench.jules.in_web_app(&id, WebAct::Resume, now, &knobs));
    bench.wait_for_state(&id, "COMPLETED");
}

#[test]
fn a_message_reopens_a_completed_session_which_pushes_again() {
    let follow_up = FileTexts::from([("b.txt".to_owned(), Some("b\n".to_owned()))]);
    let scenario = Scenario {
        follow_ups: vec![follow_up],
        ..Scenario::with_ending(Ending::Changes)
            .with_minutes(5.0)
            .with_file("a.txt", "a\n")
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let first = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    bench.post_json(
        &format!("/v1alpha/sessions/{id}:sendMessage"),
        &json!({"prompt": "also b"}),
    );
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    bench.wait_for_state(&id, "COMPLETED");
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
    assert_eq!(bench.count_activities(&id, "sessionCompleted"), 2);
}

#[test]
fn an_archived_session_does_not_push_again() {
    let scenario = Scenario {
        pushes_again_after: Some(60.0),
        ..Scenario::with_ending(Ending::Changes).with_minutes(5.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    bench.post_json(&format!("/v1alpha/sessions/{id}:archive"), &json!({}));
    bench.pass_time(7200);
    assert_eq!(bench.get_state(&id), "COMPLETED");
    assert_eq!(bench.github.pull(bench.repo, 1).unwrap().head.oid, head);
}

#[test]
fn sessions_of_others_and_without_a_repository() {
    let mut bench = scripted_bench(Ending::Changes);
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
        .add_account(Account::new("other-person", "other-key"));
    bench.jules.start_in_web_app(
        "other-person",
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
    bench.wait_for_state(&id, "COMPLETED");
    assert_eq!(
        bench.get_session(&id)["outputs"][0]["changeSet"]["gitPatch"].get("baseCommitId"),
        None
    );
    assert!(bench.books.sessions[0].foreign);
}

#[test]
fn deleting_removes_and_may_leave_the_work_running() {
    for (knob, pulls) in [(DeleteRunning::Stops, 0), (DeleteRunning::WorksOn, 1)] {
        let mut bench = scripted_bench(Ending::Changes);
        bench.knobs.delete_running = knob;
        let id = bench.create_session("t", json!({}));
        bench.wait_for_state(&id, "IN_PROGRESS");
        assert_eq!(
            bench
                .send_request(Method::DELETE, &format!("/v1alpha/sessions/{id}"), "")
                .0,
            200
        );
        assert_eq!(
            bench
                .send_request(Method::DELETE, &format!("/v1alpha/sessions/{id}"), "")
                .0,
            404
        );
        assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
        bench.pass_time(7200);
        assert_eq!(bench.github.pulls(bench.repo).count(), pulls, "{knob:?}");
        assert!(bench.books.sessions[0].deleted);
    }
}

#[test]
fn a_queued_session_may_answer_404_to_a_message() {
    let mut bench = Bench::new(vec![]);
    bench.knobs.queued_message_404 = true;
    let id = bench.create_session("a", json!({}));
    let path = format!("/v1alpha/sessions/{id}:sendMessage");
    let message = json!({"prompt": "Hello"});
    assert_eq!(bench.post_json(&path, &message), 404);
    bench.wait_for_state(&id, "IN_PROGRESS");
    assert_eq!(bench.post_json(&path, &message), 200);
}

#[test]
fn a_message_to_a_completed_session_may_never_be_read() {
    let mut bench = Bench::new(vec![Scenario::with_ending(Ending::Changes)]);
    bench.knobs.done_message_unread = 1.0;
    let id = bench.create_session("a", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let before = bench.list_activities(&id).len();
    let path = format!("/v1alpha/sessions/{id}:sendMessage");
    assert_eq!(bench.post_json(&path, &json!({"prompt": "Go on"})), 200);
    bench.pass_time(7200);
    assert_eq!(bench.list_activities(&id).len(), before);
}

#[test]
fn failed_checks_and_comments_of_its_user_bring_a_session_back() {
    let body = json!({"automationMode": "AUTO_CREATE_PR"});
    for (fixes, comment, commits) in [
        (true, "", 2),
        (false, "Please rename it.", 2),
        (false, "This asks nothing of Jules.", 1),
        (false, "", 1),
    ] {
        let mut bench = Bench::new(vec![Scenario::with_ending(Ending::Changes)]);
        bench.knobs.ci_fixer_seconds = if fixes { 600 } else { 0 };
        bench.knobs.answers_comments = true;
        let id = bench.create_session("a", body.clone());
        bench.wait_for_state(&id, "COMPLETED");
        let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
        if comment.is_empty() {
            let now = bench.now;
            bench
                .github
                .set_checks(bench.repo, head, "ci", Some("failure"), "acme", now);
        } else {
            let now = bench.now;
            bench.github.comment(bench.repo, 1, comment, "octocat", now);
        }
        let now = bench.now;
        bench.jules.react_to_pulls(now, &bench.github, &bench.knobs);
        bench.pass_time(7200);
        let record = bench.jules.session(&id).unwrap().record();
        assert_eq!(record.commits.len(), commits, "{fixes} {comment}");
    }
}
