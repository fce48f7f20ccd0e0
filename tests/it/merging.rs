//! A person labels a pull request to be merged, and the program does it or says why not, in a process of its own each
//! time. What was merged is looked at on the model of GitHub, and what it cost is counted there.

use phileas::sandbox::SharedWorld;
use phileas_world::github::{Pull, Verdict};
use phileas_world::{Face, Fault, FaultPlan};

use crate::support::judge::repo;
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Phileas, Served, judge};

const PLAN: &str =
    "cycle = [\"curator\"]\n[defaults]\nmerge = \"green\"\n[budget]\nmax_open_pulls = 1\n";
const PULL: u64 = 1;
const PUT: &str = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge";

/// A session is done, and its pull request is open.
fn opened() -> (Folder, SharedWorld) {
    let repository = Folder::repository(PLAN, &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    tick(&shared, "settled");
    // Its checks have had the time to begin.
    shared.advance_time(MINUTE * 3);
    (repository, shared)
}

fn pull(shared: &SharedWorld) -> Pull {
    let repo = repo(shared);
    shared
        .lock_world()
        .github()
        .pull(repo, PULL)
        .unwrap()
        .clone()
}

fn checks(shared: &SharedWorld, conclusion: Option<&str>) {
    let (repo, head) = (repo(shared), pull(shared).head.oid);
    let mut world = shared.lock_world();
    let now = world.now();
    let by = "github-actions[bot]";
    let github = world.github_mut();
    github.set_checks(repo, head, "build", conclusion, by, now);
}

fn review(shared: &SharedWorld, verdict: Verdict, who: &str) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    github.review_pull(repo, PULL, verdict, "", who, now);
}

fn label(shared: &SharedWorld) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    github.add_label(repo, PULL, "phileas:merge", "maintainer", now);
}

/// One run of the program; what it asked of GitHub, and how often it asked Jules.
fn run(shared: &SharedWorld) -> (Vec<String>, usize) {
    shared.lock_world().books_mut().reset_requests();
    let served = Served::start(shared, None);
    Phileas::tick(&served).run().expect(0);
    let world = shared.lock_world();
    let requests = &world.books().requests;
    let github = requests.iter().filter(|one| one.face == Face::Github);
    let github: Vec<_> = github
        .map(|one| format!("{} {}", one.method, one.route))
        .collect();
    let jules = requests.len() - github.len();
    (github, jules)
}

fn puts(requests: &[String]) -> usize {
    requests.iter().filter(|one| *one == PUT).count()
}

/// The one comment on it.
#[track_caller]
fn comment(shared: &SharedWorld) -> String {
    let repo = repo(shared);
    let world = shared.lock_world();
    let comments: Vec<_> = world.github().comments(repo, PULL).collect();
    assert_eq!(comments.len(), 1, "{comments:?}");
    comments[0].body.clone()
}

fn outcome(shared: &SharedWorld) -> String {
    let state = judge::state(shared);
    state["history"]["0"]["outcome"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// GitHub's verdict about such a commit is a success, and its rules let it be merged.
#[test]
fn checks_that_were_only_skipped_or_neutral_merge_nothing() {
    for conclusion in ["skipped", "neutral"] {
        let (_repository, shared) = opened();
        checks(&shared, Some(conclusion));
        review(&shared, Verdict::Approve, "maintainer");
        label(&shared);
        let mut asked = run(&shared).0;
        shared.advance_time(MINUTE * 20);
        asked.extend(run(&shared).0);
        assert_eq!(puts(&asked), 0, "{conclusion}");
        assert!(pull(&shared).merged.is_none(), "{conclusion}");
        let comment = comment(&shared);
        assert!(comment.contains("refused.checks_not_green"), "{comment}");
    }
}

#[test]
fn r18_what_is_green_and_approved_is_merged_once_and_its_turn_settled() {
    let (_repository, shared) = opened();
    checks(&shared, Some("success"));
    review(&shared, Verdict::Approve, "maintainer");
    label(&shared);
    let head = pull(&shared).head.oid;
    let (requests, jules) = run(&shared);
    assert_eq!((puts(&requests), jules), (1, 0), "{requests:?}");
    // Observe, what it is about, who asks; what decides and the files; the commit; the merge; eyes and label; the
    // commit of the answer; a look and the comment; the commit that it is told.
    assert_eq!(requests.len(), 13, "{requests:?}");
    let merged = pull(&shared);
    assert!(merged.merged.is_some(), "it is merged");
    assert_eq!(merged.head.oid, head);
    assert_eq!(merged.labels, [] as [&str; 0]);
    assert!(comment(&shared).contains("pull request #1 was merged"));
    shared.advance_time(MINUTE);
    tick(&shared, "settles");
    assert_eq!(outcome(&shared), "merged");
    shared.advance_time(MINUTE * 30);
    tick(&shared, "rests");
    shared.advance_time(MINUTE * 5);
    assert!(puts(&run(&shared).0) == 0);
}

#[test]
fn r18_without_an_approval_or_with_a_red_check_it_is_refused_once() {
    for (conclusion, verdict, who, code) in [
        (
            "success",
            Verdict::Comment,
            "maintainer",
            "refused.review_missing",
        ),
        (
            "success",
            Verdict::Approve,
            "outsider",
            "refused.review_missing",
        ),
        (
            "success",
            Verdict::RequestChanges,
            "maintainer",
            "refused.review_missing",
        ),
        (
            "failure",
            Verdict::Approve,
            "maintainer",
            "refused.checks_not_green",
        ),
    ] {
        let (_repository, shared) = opened();
        checks(&shared, Some(conclusion));
        review(&shared, verdict, who);
        label(&shared);
        for _ in 0..3 {
            assert_eq!(puts(&run(&shared).0), 0, "{code}");
            shared.advance_time(MINUTE * 8);
        }
        let pull = pull(&shared);
        assert!(pull.merged.is_none(), "{code}");
        assert_eq!(pull.labels, [] as [&str; 0], "{code}");
        let said = comment(&shared);
        assert!(said.contains(code), "{said}");
    }
}

/// A writer labels first and approves then.
#[test]
fn r18_an_approval_that_comes_after_the_label_counts() {
    let (_repository, shared) = opened();
    checks(&shared, Some("success"));
    label(&shared);
    assert_eq!(puts(&run(&shared).0), 0);
    assert!(comment(&shared).contains("waiting.merge_not_yet"));
    review(&shared, Verdict::Approve, "maintainer");
    shared.advance_time(MINUTE);
    assert_eq!(puts(&run(&shared).0), 1);
    assert!(pull(&shared).merged.is_some());
}

#[test]
fn r18_it_waits_for_the_checks_at_the_price_of_an_idle_tick() {
    let (_repository, shared) = opened();
    checks(&shared, None);
    review(&shared, Verdict::Approve, "maintainer");
    label(&shared);
    run(&shared);
    assert!(comment(&shared).contains("waiting.checks_running"));
    for _ in 0..3 {
        shared.advance_time(MINUTE * 6);
        let (requests, jules) = run(&shared);
        assert_eq!((requests.len(), jules), (1, 0), "{requests:?}");
    }
    checks(&shared, Some("success"));
    shared.advance_time(MINUTE * 6);
    assert_eq!(puts(&run(&shared).0), 1);
    assert!(pull(&shared).merged.is_some());
}

/// What was pushed after the label is not what the person saw.
#[test]
fn r18_a_commit_after_the_label_is_not_merged() {
    let (_repository, shared) = opened();
    checks(&shared, None);
    review(&shared, Verdict::Approve, "maintainer");
    label(&shared);
    run(&shared);
    let before = pull(&shared).head;
    {
        let repo = repo(&shared);
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let files = [("evil.txt".to_owned(), Some("evil\n".into()))];
        let parent = Some(before.oid);
        let oid = github.commit_files(repo, parent, &files, "outsider", "More", now);
        github.move_branch(repo, &before.branch, oid, "maintainer", now);
    }
    checks(&shared, Some("success"));
    shared.advance_time(MINUTE * 20);
    assert_eq!(puts(&run(&shared).0), 0);
    assert!(pull(&shared).merged.is_none());
    assert!(comment(&shared).contains("refused.content_changed"));
}

#[test]
fn a_lost_answer_is_looked_up_and_what_was_not_merged_is_asked_again_later() {
    for done in [true, false] {
        let (_repository, shared) = opened();
        checks(&shared, Some("success"));
        review(&shared, Verdict::Approve, "maintainer");
        label(&shared);
        let plan = serde_json::from_value(serde_json::json!({ "rules": [{
            "face": Face::Github, "path": "*/merge",
            "fault": Fault::Status { status: 502, retry_after: None, html: false, done },
        }] }));
        shared.lock_world().faults_mut().replace_plan(plan.unwrap());
        assert_eq!(puts(&run(&shared).0), 1);
        assert_eq!(pull(&shared).merged.is_some(), done);
        shared
            .lock_world()
            .faults_mut()
            .replace_plan(FaultPlan::default());
        shared.advance_time(MINUTE);
        assert_eq!(puts(&run(&shared).0), 0, "not at once");
        shared.advance_time(MINUTE * 5);
        assert_eq!(puts(&run(&shared).0), usize::from(!done));
        assert!(pull(&shared).merged.is_some());
        assert!(comment(&shared).contains("was merged"));
    }
}

/// What GitHub could not do at that moment is no refusal and no attempt.
#[test]
fn a_merge_that_meets_a_branch_that_moves_is_asked_for_again() {
    let (_repository, shared) = opened();
    checks(&shared, Some("success"));
    review(&shared, Verdict::Approve, "maintainer");
    label(&shared);
    let fault = Fault::Status {
        status: 409,
        retry_after: None,
        html: false,
        done: false,
    };
    let rule = serde_json::json!({ "face": Face::Github, "path": "*/merge", "fault": fault });
    let plan = serde_json::from_value(serde_json::json!({ "rules": [rule] }));
    shared.lock_world().faults_mut().replace_plan(plan.unwrap());
    assert_eq!(puts(&run(&shared).0), 1);
    shared
        .lock_world()
        .faults_mut()
        .replace_plan(FaultPlan::default());
    let state = judge::state(&shared);
    let mut requests = state["requests"].as_object().unwrap().values();
    let merge = requests.next().unwrap()["merge"].clone();
    assert!(
        merge["attempts"].is_null() && merge["sent_at"].is_null(),
        "{merge}"
    );
    assert_eq!(puts(&run(&shared).0), 0, "not at once");
    shared.advance_time(MINUTE * 2);
    assert_eq!(puts(&run(&shared).0), 1);
    assert!(pull(&shared).merged.is_some());
}
