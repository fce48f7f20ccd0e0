//! The maintainer: a person who reviews, answers, pushes and tidies up, on GitHub and in Jules' web app.
//!
//! Every pull request, question and plan has a random stream of its own, so that one more of them does not change what
//! becomes of another.

mod refusals;
mod review;
mod review_policy;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use jiff::Timestamp;

pub use review_policy::ReviewPolicy;

use crate::books::Books;
use crate::chance::{Chance, Stream};
use crate::github::{self, RepoId, State};
use crate::jules::{self, WebAct};
use crate::knobs::Knobs;
use review_policy::plus_minutes;

/// Minutes of a day.
const DAY: f64 = 1440.0;

/// An act that the maintainer plans.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PlannedAct {
    /// Review a pull request, for the n-th time.
    Review(RepoId, u64, u32),
    /// Answer the questions of a session.
    Answer(String),
    /// Approve the plan of a session.
    ApprovePlan(String),
    /// Push a commit of the maintainer's own.
    Push(RepoId, u64),
    /// Edit or close an issue.
    Tidy(RepoId, u64),
}

/// A maintainer with a review policy.
#[derive(Debug)]
pub struct Maintainer {
    review_policy: ReviewPolicy,
    chance: Chance,
    due: BTreeSet<(Timestamp, PlannedAct)>,
    /// For each repository the number below which every pull request is known.
    known: BTreeMap<RepoId, u64>,
    /// Waiting sessions that are known, with the instant since which they wait.
    waiting: BTreeSet<(String, Timestamp)>,
    seen: Option<u64>,
}

impl Maintainer {
    /// A maintainer with this review policy.
    #[must_use]
    pub fn new(review_policy: ReviewPolicy, mut chance: Stream) -> Self {
        Self {
            review_policy,
            chance: Chance::new(chance.random_bits()),
            due: BTreeSet::new(),
            known: BTreeMap::new(),
            waiting: BTreeSet::new(),
            seen: None,
        }
    }

    /// When the maintainer acts next. [`Timestamp::MIN`] means that there is something new to notice.
    #[must_use]
    pub fn next_due(&self, github: &github::Model, jules: &jules::Model) -> Option<Timestamp> {
        if !self.review_policy.present {
            return None;
        }
        let new = self.seen != Some(jules.change_count())
            || github
                .repositories()
                .any(|repo| self.known.get(&repo.id) != Some(&repo.next_number));
        if new {
            Some(Timestamp::MIN)
        } else {
            self.due.first().map(|(due, _)| *due)
        }
    }

    /// Notices what is new, and does what is due.
    pub fn advance(
        &mut self,
        now: Timestamp,
        github: &mut github::Model,
        jules: &mut jules::Model,
        books: &mut Books,
    ) {
        if !self.review_policy.present {
            return;
        }
        self.notice_changes(now, github, jules);
        while let Some((due, act)) = self.due.first().cloned() {
            if due > now {
                break;
            }
            self.due.pop_first();
            self.run(act, due.max(now), github, jules, books);
        }
    }

    fn notice_changes(&mut self, now: Timestamp, github: &github::Model, jules: &jules::Model) {
        for repository in github.repositories() {
            let repo = repository.id;
            if !self.known.contains_key(&repo) {
                self.plan_push(repo, 0, now);
                self.plan_tidy(repo, 0, now);
            }
            let known = self.known.insert(repo, repository.next_number).unwrap_or(0);
            for (number, pull) in repository.pulls.range(known..) {
                // Jules opens some pull requests under its user's account; they are reviewed like the others.
                let own = pull.author_login == self.review_policy.login
                    && jules.session_of_pull(repo, *number, github).is_none();
                if pull.state == State::Open && !own {
                    let at = self
                        .review_policy
                        .next_check(now, &mut self.matter_stream("pull", repo, *number, 0));
                    self.due.insert((at, PlannedAct::Review(repo, *number, 0)));
                }
            }
        }
        if self.seen != Some(jules.change_count()) {
            self.seen = Some(jules.change_count());
            self.notice_sessions(now, jules);
        }
    }

    fn notice_sessions(&mut self, now: Timestamp, jules: &jules::Model) {
        let waiting: BTreeSet<(String, Timestamp)> = jules
            .waiting_sessions()
            .map(|(session, since)| (session.id().to_owned(), since))
            .collect();
        for (id, since) in waiting.difference(&self.waiting) {
            let mut chance = self.chance.stream(&format!("waiting/{id}/{since}"));
            let at = self.review_policy.next_check(now, &mut chance);
            let asks = jules
                .session(id)
                .is_some_and(|s| s.state() == jules::State::AwaitingUserFeedback);
            let (share, act) = if asks {
                (self.review_policy.answers, PlannedAct::Answer(id.clone()))
            } else {
                (
                    self.review_policy.approves_plans,
                    PlannedAct::ApprovePlan(id.clone()),
                )
            };
            if chance.happens(share) {
                self.due.insert((at, act));
            }
        }
        self.waiting = waiting;
    }

    fn run(
        &mut self,
        act: PlannedAct,
        now: Timestamp,
        github: &mut github::Model,
        jules: &mut jules::Model,
        books: &mut Books,
    ) {
        let knobs = Knobs::documented();
        match act {
            PlannedAct::Review(repo, number, round) => {
                self.review_pull((repo, number, round), now, github, jules, books)
            }
            PlannedAct::Answer(id) => {
                let asks = jules
                    .session(&id)
                    .is_some_and(|s| s.state() == jules::State::AwaitingUserFeedback);
                if asks {
                    jules.in_web_app(
                        &id,
                        WebAct::Say("Yes, and keep the change small."),
                        now,
                        &knobs,
                    );
                }
            }
            PlannedAct::ApprovePlan(id) => {
                let waits = jules
                    .session(&id)
                    .is_some_and(|s| s.state() == jules::State::AwaitingPlanApproval);
                if waits {
                    jules.in_web_app(&id, WebAct::ApprovePlan, now, &knobs);
                }
            }
            PlannedAct::Push(repo, nth) => {
                self.push(repo, nth, now, github);
                self.plan_push(repo, nth + 1, now);
            }
            PlannedAct::Tidy(repo, nth) => {
                self.tidy_issues(repo, nth, now, github);
                self.plan_tidy(repo, nth + 1, now);
            }
        }
    }

    fn plan_push(&mut self, repo: RepoId, nth: u64, now: Timestamp) {
        if let Some(at) = self.some_time(
            self.review_policy.pushes_a_day,
            now,
            &mut self.matter_stream("push", repo, nth, 0),
        ) {
            self.due.insert((at, PlannedAct::Push(repo, nth)));
        }
    }

    fn plan_tidy(&mut self, repo: RepoId, nth: u64, now: Timestamp) {
        if let Some(at) = self.some_time(
            self.review_policy.tidies_a_day,
            now,
            &mut self.matter_stream("tidy", repo, nth, 0),
        ) {
            self.due.insert((at, PlannedAct::Tidy(repo, nth)));
        }
    }

    /// An instant about one n-th of a day later.
    fn some_time(
        &self,
        times_a_day: f64,
        now: Timestamp,
        chance: &mut Stream,
    ) -> Option<Timestamp> {
        if times_a_day <= 0.0 {
            return None;
        }
        let share = 0.5 + chance.draw_below(1001) as f64 / 1000.0;
        // A float becomes the nearest whole number that fits, so a tiny rate means the end of time.
        let minutes = (DAY / times_a_day * share) as u64;
        Some(
            self.review_policy
                .at_work(plus_minutes(now, minutes.max(1)), chance),
        )
    }

    fn push(&self, repo: RepoId, nth: u64, now: Timestamp, github: &mut github::Model) {
        let Some(branch) = github
            .repository(repo)
            .map(|repository| repository.default_branch.clone())
        else {
            return;
        };
        let Some(head) = github.branch_head(repo, &branch) else {
            return;
        };
        let path = format!("notes/{}.md", now.strftime("%Y-%m-%d"));
        let before = github.read_file(repo, head, &path).unwrap_or_default();
        let text = format!(
            "{}- Looked after the project (number {}).\n",
            String::from_utf8_lossy(&before),
            nth + 1
        );
        let login = self.review_policy.login.clone();
        let commit = github.commit_files(
            repo,
            Some(head),
            &[(path, Some(Bytes::from(text)))],
            &login,
            "Add a note",
            now,
        );
        github.move_branch(repo, &branch, commit, &login, now);
    }

    fn tidy_issues(&self, repo: RepoId, nth: u64, now: Timestamp, github: &mut github::Model) {
        let mut chance = self.matter_stream("tidied", repo, nth, 0);
        let open: Vec<u64> = github
            .issues(repo)
            .filter(|issue| issue.state == State::Open)
            .map(|issue| issue.number)
            .collect();
        let Some(number) = chance.pick(&open).copied() else {
            return;
        };
        let login = self.review_policy.login.clone();
        if chance.happens(0.5) {
            github.close_issue(repo, number, &login, now);
        } else {
            let body = github
                .issue(repo, number)
                .and_then(|issue| issue.body.clone())
                .unwrap_or_default();
            github.edit_body(
                repo,
                number,
                &format!("{body}\n\n(Edited for clarity.)"),
                &login,
                now,
            );
        }
    }

    fn matter_stream(&self, what: &str, repo: RepoId, number: u64, round: u32) -> Stream {
        self.chance
            .stream(&format!("{what}/{repo}/{number}/{round}"))
    }
}

#[cfg(test)]
mod tests;
