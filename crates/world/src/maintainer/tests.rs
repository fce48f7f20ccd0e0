use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::github::NewPull;
use crate::jules::{Account, Config, Ending, Installed, Scenario, WebSession};
use crate::seed::{Seed, files};

struct Bench {
    maintainer: Maintainer,
    github: github::Model,
    jules: jules::Model,
    books: Books,
    now: Timestamp,
    repo: RepoId,
}

impl Bench {
    fn new(review_policy: ReviewPolicy, scenarios: Vec<Scenario>) -> Bench {
        let now = "2026-01-05T09:30:00Z".parse().unwrap();
        let chance = Chance::new(3);
        let mut github = github::Model::new(chance.stream("github"));
        let repo = github.seed(
            &Seed::new("acme", "widget", files(&[("README.md", "# Widget\n")])),
            now,
        );
        let mut account = Account::new("octocat", "test-key");
        account.installed.push(Installed::new("acme", "widget"));
        let config = Config {
            accounts: vec![account],
            scenarios,
            asks: 0.0,
            ..Config::default()
        };
        Bench {
            maintainer: Maintainer::new(review_policy, chance.stream("maintainer")),
            github,
            jules: jules::Model::new(config, chance.stream("jules")),
            books: Books::default(),
            now,
            repo,
        }
    }

    fn pass_time(&mut self, hours: i64) {
        let until = self.now + SignedDuration::from_hours(hours);
        let knobs = Knobs::documented();
        loop {
            let due = [
                self.jules.next_due(),
                self.maintainer.next_due(&self.github, &self.jules),
            ];
            let Some(next) = due
                .into_iter()
                .flatten()
                .min()
                .filter(|next| *next <= until)
            else {
                break;
            };
            self.now = self.now.max(next);
            self.jules
                .advance(self.now, &mut self.github, &knobs, &mut self.books);
            self.maintainer
                .advance(self.now, &mut self.github, &mut self.jules, &mut self.books);
        }
        self.now = until;
    }

    fn open_pulls(&mut self, n: usize) -> u64 {
        let head = self.github.branch_head(self.repo, "main").unwrap();
        let change = [(format!("f{n}"), Some(Bytes::from_static(b"x\n")))];
        let commit =
            self.github
                .commit_files(self.repo, Some(head), &change, "outsider", "f", self.now);
        let branch = format!("topic-{n}");
        self.github
            .create_branch(self.repo, &branch, commit, "outsider", self.now);
        let new = NewPull {
            title: "t".into(),
            head: branch,
            base: "main".into(),
            author: "outsider".into(),
            ..NewPull::default()
        };
        self.github.open_pull(self.repo, new, self.now)
    }

    fn start_session(&mut self, require_plan_approval: bool) -> String {
        let web = WebSession {
            prompt: "tidy".into(),
            repository: Some(("acme".into(), "widget".into(), "main".into())),
            require_plan_approval,
            auto_create_pull: true,
            ..WebSession::default()
        };
        self.jules
            .start_in_web_app("octocat", web, self.now, &Knobs::documented())
            .unwrap()
    }

    fn given_verdicts(&self) -> Vec<&str> {
        self.books
            .reviews
            .iter()
            .map(|review| review.verdict.as_str())
            .collect()
    }
}

fn only_verdicts(merges: u32, asks_for_changes: u32, closes: u32, ignores: u32) -> ReviewPolicy {
    ReviewPolicy {
        merges,
        asks_for_changes,
        closes,
        ignores,
        approves_first: 1.0,
        deletes_branches: 1.0,
        ..ReviewPolicy::eager()
    }
}

#[test]
fn an_absent_maintainer_does_nothing() {
    let mut bench = Bench::new(ReviewPolicy::default(), vec![]);
    bench.open_pulls(1);
    bench.pass_time(100);
    assert!(bench.given_verdicts().is_empty());
}

#[test]
fn pull_requests_are_approved_merged_and_their_branches_deleted() {
    let mut bench = Bench::new(only_verdicts(1, 0, 0, 0), vec![]);
    let number = bench.open_pulls(1);
    bench.pass_time(1);
    assert_eq!(bench.given_verdicts(), ["approved", "merged"]);
    assert!(
        bench
            .github
            .pull(bench.repo, number)
            .unwrap()
            .merged
            .is_some()
    );
    assert_eq!(bench.github.branch_head(bench.repo, "topic-1"), None);
    let head = bench.github.branch_head(bench.repo, "main").unwrap();
    assert!(bench.github.read_file(bench.repo, head, "f1").is_some());
}

#[test]
fn pull_requests_are_closed_or_ignored() {
    for (review_policy, verdict, state) in [
        (only_verdicts(0, 0, 1, 0), "closed", State::Closed),
        (only_verdicts(0, 0, 0, 1), "ignored", State::Open),
    ] {
        let mut bench = Bench::new(review_policy, vec![]);
        let number = bench.open_pulls(1);
        bench.pass_time(2);
        assert_eq!(bench.given_verdicts(), [verdict]);
        assert_eq!(bench.github.pull(bench.repo, number).unwrap().state, state);
    }
}

#[test]
fn changes_are_asked_for_a_limited_number_of_times_and_the_session_makes_them() {
    let review_policy = ReviewPolicy {
        tells_the_session: 1.0,
        ..only_verdicts(0, 1, 0, 0)
    };
    let mut bench = Bench::new(
        review_policy,
        vec![Scenario::with_ending(Ending::Changes).with_minutes(5.0)],
    );
    let id = bench.start_session(false);
    bench.pass_time(48);
    assert_eq!(
        bench.given_verdicts(),
        ["changes-requested", "changes-requested", "ignored"]
    );
    assert!(bench.jules.session(&id).unwrap().record().commits.len() >= 2);
}

#[test]
fn questions_are_answered_and_plans_approved() {
    let mut bench = Bench::new(
        only_verdicts(1, 0, 0, 0),
        vec![
            Scenario::with_ending(Ending::Changes)
                .with_minutes(5.0)
                .with_question("Shall I?"),
        ],
    );
    let id = bench.start_session(true);
    bench.pass_time(24);
    assert_eq!(
        bench.jules.session(&id).unwrap().state(),
        jules::State::Completed
    );
    assert!(bench.books.questions[0].answer.is_some());
    assert_eq!(bench.given_verdicts(), ["approved", "merged"]);
}

#[test]
fn own_commits_go_to_the_default_branch() {
    let review_policy = ReviewPolicy {
        pushes_a_day: 4.0,
        ..ReviewPolicy::eager()
    };
    let mut bench = Bench::new(review_policy, vec![]);
    let before = bench.github.branch_head(bench.repo, "main").unwrap();
    bench.pass_time(24);
    let head = bench.github.branch_head(bench.repo, "main").unwrap();
    assert_ne!(head, before);
    assert_eq!(
        bench
            .github
            .read_file(bench.repo, head, "README.md")
            .unwrap(),
        "# Widget\n"
    );
}

#[test]
fn issues_are_edited_or_closed() {
    let review_policy = ReviewPolicy {
        tidies_a_day: 4.0,
        ..ReviewPolicy::eager()
    };
    let mut bench = Bench::new(review_policy, vec![]);
    let number = bench
        .github
        .open_issue(bench.repo, "t", "text", &[], "outsider", bench.now);
    bench.pass_time(48);
    let issue = bench.github.issue(bench.repo, number).unwrap();
    assert!(issue.state == State::Closed || issue.body.as_deref() != Some("text"));
}

#[test]
fn decisions_about_one_pull_request_do_not_depend_on_others() {
    let play = |more: bool| {
        let review_policy = ReviewPolicy {
            pushes_a_day: 0.0,
            tidies_a_day: 0.0,
            ..ReviewPolicy::usual()
        };
        let mut bench = Bench::new(review_policy, vec![]);
        bench.open_pulls(1);
        if more {
            bench.open_pulls(2);
        }
        bench.pass_time(100);
        bench
            .books
            .reviews
            .into_iter()
            .filter(|review| review.number == 1)
            .collect::<Vec<_>>()
    };
    assert_eq!(play(false), play(true));
    assert!(!play(true).is_empty());
}

#[test]
fn unwanted_titles_are_refused_for_one_reason() {
    let mut bench = Bench::new(
        ReviewPolicy {
            refuses: 1.0,
            ..only_verdicts(1, 0, 0, 0)
        },
        vec![],
    );
    for n in 0..2 {
        bench.open_pulls(n);
    }
    bench.pass_time(48);
    assert_eq!(bench.given_verdicts(), ["refused", "refused"]);
    let comments = |number| {
        let pull = bench.github.pull(bench.repo, number).unwrap();
        assert_eq!(pull.state, State::Closed);
        let comments = bench.github.comments(bench.repo, number);
        comments.map(|one| one.body.clone()).collect::<Vec<_>>()
    };
    assert!(comments(1)[0].starts_with("/phileas refuse "));
    assert_eq!(comments(1), comments(2));
}

#[test]
fn a_copy_of_what_is_wanted_is_closed_and_a_label_saves_the_look() {
    // No title of this seed is unwanted.
    let policy = ReviewPolicy {
        refuses: 1e-9,
        approves_first: 0.0,
        ..only_verdicts(1, 0, 0, 0)
    };
    let mut bench = Bench::new(policy, vec![]);
    bench.open_pulls(0);
    bench.pass_time(48);
    bench.open_pulls(1);
    let marked = bench.open_pulls(2);
    let now = bench.now;
    bench
        .github
        .add_label(bench.repo, marked, "phileas:duplicate", "maintainer", now);
    bench.pass_time(48);
    let mut verdicts = bench.given_verdicts();
    verdicts.sort_unstable();
    assert_eq!(verdicts, ["closed-marked", "merged", "refused"]);
}
