//! Jules' reactions without an API call: the CI Fixer repairs failed checks of Jules' own pull requests (changelog of
//! 2026-02-19), and sessions answer comments of their user.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::beat::{Beat, BeatAction};
use super::model::Model;
use super::session::Session;
use super::state::State;
use crate::github::{self, State as PullState};
use crate::knobs::Knobs;

/// How many commits of one pull request the CI Fixer repairs.
const MAX_FIXES: usize = 3;
/// Seconds until a comment is answered.
const ANSWERS_AFTER: f64 = 60.0;
/// A comment with these words asks for nothing.
const ASKS_NOTHING: &str = "asks nothing of Jules";

impl Model {
    /// Reacts to checks and comments on the pull requests of completed sessions.
    pub(crate) fn react_to_pulls(&mut self, now: Timestamp, github: &github::Model, knobs: &Knobs) {
        if knobs.ci_fixer_seconds == 0 && !knobs.answers_comments {
            return;
        }
        for index in 0..self.sessions.len() {
            let before = self.sessions[index].due;
            let login = self.config.accounts[self.sessions[index].account]
                .login
                .clone();
            if self.sessions[index].react_to_pull(now, &login, github, knobs) {
                self.update_calendar(index, before);
            }
        }
    }
}

impl Session {
    /// Reacts to the session's pull request; true when the session has new work.
    fn react_to_pull(
        &mut self,
        now: Timestamp,
        login: &str,
        github: &github::Model,
        knobs: &Knobs,
    ) -> bool {
        let idle = self.state() == State::Completed && !self.archived && !self.deleted;
        let place = self.checkout.as_ref().zip(self.record.pull);
        let Some((checkout, number)) = place.filter(|_| idle && self.beats.is_empty()) else {
            return false;
        };
        let repo = checkout.repo;
        let Some(pull) = github.pull(repo, number) else {
            return false;
        };
        if pull.state != PullState::Open {
            return false;
        }
        let head = pull.head.oid;
        let checks = github.repository(repo).map(|found| &found.checks);
        let failed = checks.into_iter().flatten().any(|check| {
            let ended_badly = check.conclusion.as_deref() == Some("failure");
            check.commit == head && ended_badly
        });
        let own = self.record.commits.last() == Some(&head.to_string());
        let fixes = failed && own && knobs.ci_fixer_seconds > 0 && self.fixed.len() < MAX_FIXES;
        if knobs.count_use("ci-fixer-seconds", fixes && self.fixed.insert(head)) {
            self.work_again(
                knobs.ci_fixer_seconds as f64,
                "The checks failed; I fix them.",
                now,
            );
            return true;
        }
        if !knobs.answers_comments {
            return false;
        }
        let seen = self.comments_seen;
        let asked = github.comments(repo, number).any(|comment| {
            let by_user = github.login(comment.author) == login;
            comment.id > seen && by_user && !comment.body.contains(ASKS_NOTHING)
        });
        self.comments_seen = github
            .comments(repo, number)
            .map(|comment| comment.id)
            .max()
            .unwrap_or(seen);
        if knobs.count_use("answers-comments", asked) {
            self.work_again(ANSWERS_AFTER, "I saw your comment.", now);
        }
        asked
    }

    fn work_again(&mut self, seconds: f64, text: &str, now: Timestamp) {
        self.beats = VecDeque::from([
            Beat::new(seconds, BeatAction::Say(text.to_owned())),
            Beat::new(60.0, BeatAction::EditSomehow),
            Beat::new(30.0, BeatAction::Push),
            Beat::new(0.0, BeatAction::Complete { outputs: true }),
        ]);
        self.schedule_next(now);
    }
}
