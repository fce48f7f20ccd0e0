//! How sessions end.

use super::*;

#[test]
fn a_session_opens_its_pull_request() {
    let mut bench = scripted_bench(Ending::Changes);
    let (status, created) = bench.try_create("Tidy up [phileas:k3.1]", json!({}));
    assert_eq!((status, created["state"].as_str()), (200, Some("QUEUED")));
    let id = created["id"].as_str().unwrap().to_owned();
    assert!(
        (17..=20).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit()),
        "{id}"
    );
    assert!(created.get("outputs").is_none() && created.get("automationMode").is_none());
    bench.wait_for_state(&id, "COMPLETED");
    let session = bench.get_session(&id);
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
fn a_session_whose_branch_was_deleted_opens_nothing() {
    let mut bench = scripted_bench(Ending::Changes);
    let head = bench.github.branch_head(bench.repo, "main").unwrap();
    let (repo, now) = (bench.repo, bench.now);
    bench
        .github
        .create_branch(repo, "topic", head, "octocat", now);
    let on = json!({"source": "sources/github/acme/widget", "githubRepoContext": {"startingBranch": "topic"}});
    let id = bench.create_session("t", json!({ "sourceContext": on }));
    bench.wait_for_state(&id, "IN_PROGRESS");
    let now = bench.now;
    bench.github.delete_branch(repo, "topic", "octocat", now);
    bench.wait_for_state(&id, "COMPLETED");
    assert!(bench.github.pull(repo, 1).is_none());
    let pushed = bench.jules.session(&id).unwrap().record().branch.clone();
    assert!(bench.github.branch_head(repo, &pushed.unwrap()).is_some());
}

#[test]
fn change_sets_are_cumulative_and_apply_to_the_base() {
    let mut bench = Bench::new(vec![
        Scenario::with_ending(Ending::Changes)
            .with_minutes(5.0)
            .with_file("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n")
            .with_file("a-{{n}}.txt", "{{session}}\n"),
    ]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
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
fn completed_sessions_may_show_nothing() {
    for (ending, last) in [
        (Ending::NoChange, "sessionCompleted"),
        (Ending::OpenQuestion, "agentMessaged"),
        (Ending::PlanOnly, "sessionCompleted"),
    ] {
        let mut bench = scripted_bench(ending);
        let id = bench.create_session("t", json!({}));
        bench.wait_for_state(&id, "COMPLETED");
        bench.pass_time(60);
        assert!(
            bench.get_session(&id).get("outputs").is_none(),
            "{ending:?}"
        );
        assert!(
            bench
                .list_activities(&id)
                .last()
                .unwrap()
                .get(last)
                .is_some(),
            "{ending:?}"
        );
        assert_eq!(bench.github.pulls(bench.repo).count(), 0);
    }
}

#[test]
fn a_session_that_needs_approval_may_end_with_nothing_but_its_plan() {
    let mut bench = scripted_bench(Ending::PlanOnly);
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    bench.wait_for_state(&id, "COMPLETED");
    assert_eq!(
        (
            bench.count_activities(&id, "planGenerated"),
            bench.count_activities(&id, "planApproved")
        ),
        (1, 0)
    );
    bench.knobs.late_approval_ignored = true;
    assert_eq!(
        bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({})),
        200
    );
    assert_eq!(bench.get_state(&id), "COMPLETED");
    bench.knobs.late_approval_ignored = false;
    bench.post_json(&format!("/v1alpha/sessions/{id}:approvePlan"), &json!({}));
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    bench.wait_for_state(&id, "COMPLETED");
    assert_eq!(bench.github.pulls(bench.repo).count(), 1);
}

#[test]
fn changes_without_a_pull_request() {
    let mut bench = scripted_bench(Ending::Changes);
    let id = bench.create_session(
        "t",
        json!({"automationMode": "AUTOMATION_MODE_UNSPECIFIED"}),
    );
    bench.wait_for_state(&id, "COMPLETED");
    let outputs = bench.get_session(&id)["outputs"].clone();
    assert!(
        outputs[0]["changeSet"]["gitPatch"]["unidiffPatch"]
            .as_str()
            .unwrap()
            .starts_with("diff --git ")
    );
    assert_eq!(bench.github.pulls(bench.repo).count(), 0);

    let mut bench = scripted_bench(Ending::HiddenChanges);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    assert!(bench.get_session(&id).get("outputs").is_none());
    let hidden = bench
        .list_activities(&id)
        .iter()
        .any(|a| a["artifacts"][0].get("changeSet").is_some());
    assert!(hidden);
}

#[test]
fn a_failure_has_its_reason_in_the_activity_only() {
    let mut bench = Bench::new(vec![Scenario {
        reason: Some("no disk".into()),
        ..Scenario::with_ending(Ending::Failure)
    }]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "FAILED");
    assert!(!bench.get_session(&id).to_string().contains("no disk"));
    assert_eq!(
        bench.list_activities(&id).last().unwrap()["sessionFailed"]["reason"],
        "no disk"
    );
    assert_eq!(
        bench.post_json(
            &format!("/v1alpha/sessions/{id}:sendMessage"),
            &json!({"prompt": "again"})
        ),
        400
    );
}

#[test]
fn stuck_sessions_stay_at_work() {
    for (ending, pulls) in [(Ending::Stuck, 0), (Ending::StuckWithPull, 1)] {
        let mut bench = scripted_bench(ending);
        let id = bench.create_session("t", json!({}));
        bench.pass_time(72 * 3600);
        assert_eq!(bench.get_state(&id), "IN_PROGRESS");
        assert_eq!(bench.github.pulls(bench.repo).count(), pulls);
    }
}

#[test]
fn a_completed_session_may_push_its_old_diff_over_the_work_of_others() {
    let scenario = Scenario {
        pushes_again_after: Some(60.0),
        ..Scenario::with_ending(Ending::Changes)
            .with_minutes(5.0)
            .with_file("a.txt", "a\n")
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
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
    bench.pass_time(3700);
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
fn knobs_draw_for_unscripted_sessions() {
    let mut bench = Bench::new(vec![]);
    bench.knobs.never_completes = 1.0;
    let id = bench.create_session("t", json!({}));
    bench.pass_time(48 * 3600);
    assert_eq!(bench.get_state(&id), "IN_PROGRESS");
    assert_eq!(bench.github.pulls(bench.repo).count(), 1);
    bench.knobs.never_completes = 0.0;
    bench.knobs.outputs_missing = 1.0;
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    assert!(bench.get_session(&id).get("outputs").is_none());
}

#[test]
fn pull_requests_may_be_drafts_by_the_person_on_other_branches() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.draft_pulls = true;
    bench.knobs.pull_author = PullAuthor::User;
    bench.knobs.branch_form = BranchForm::JulesHex;
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
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

#[test]
fn commits_have_the_author_that_the_account_sets() {
    use crate::knobs::CommitAuthor;
    for (author, login, has_trailer) in [
        (CommitAuthor::Jules, "google-labs-jules[bot]", false),
        (CommitAuthor::CoAuthored, "octocat", true),
        (CommitAuthor::User, "octocat", false),
    ] {
        let mut bench = scripted_bench(Ending::Changes);
        bench.knobs.commit_author = author;
        let id = bench.create_session("t", json!({}));
        bench.wait_for_state(&id, "COMPLETED");
        let pull = bench.github.pull(bench.repo, 1).unwrap();
        let objects = bench.github.objects(bench.repo).unwrap();
        let commit = objects.commit(pull.head.oid).unwrap();
        assert_eq!(commit.committer.name, login);
        let trailer = "Co-authored-by: google-labs-jules[bot] <";
        assert_eq!(
            commit.message.contains(trailer),
            has_trailer,
            "{}",
            commit.message
        );
    }
}

#[test]
fn a_branch_that_github_does_not_take_ends_the_session() {
    let scenario = Scenario {
        branch: Some("jules/typo".to_owned()),
        ..Scenario::with_ending(Ending::Changes)
    };
    let mut bench = Bench::new(vec![scenario]);
    let now = bench.now;
    let head = bench.github.branch_head(bench.repo, "main").unwrap();
    bench
        .github
        .create_branch(bench.repo, "jules", head, "acme", now);
    let id = bench.create_session("a", json!({}));
    bench.wait_for_state(&id, "FAILED");
    assert_eq!(bench.github.pulls(bench.repo).count(), 0);
}
