//! Refuses pull requests for reasons, as phileas' commands name them.

use jiff::Timestamp;

use super::Maintainer;
use crate::books::{self, Books};
use crate::github::{self, RepoId, State};

/// Why a title is not wanted.
const REASONS: [&str; 4] = ["out-of-scope", "no-evidence", "wrong", "too-large"];
/// The reason against a copy.
const DUPLICATE: &str = "duplicate";
/// A pull request with this label needs no look at its diff.
const MARK: &str = "phileas:duplicate";

impl Maintainer {
    /// Why the maintainer does not want a pull request, if there is a reason. A title has the same one each time.
    pub(super) fn reason_against(
        &self,
        github: &github::Model,
        repo: RepoId,
        number: u64,
    ) -> Option<&'static str> {
        let share = self.review_policy.refuses;
        let title = &github.pull(repo, number)?.title;
        if share <= 0.0 {
            return None;
        }
        let mut chance = self.chance.stream(&format!("title/{title}"));
        if chance.happens(share) {
            return chance.pick(&REASONS).copied();
        }
        let mut earlier = github.pulls(repo).filter(|pull| pull.number < number);
        let is_copy = earlier.any(|pull| {
            let is_wanted = pull.state == State::Open || pull.merged.is_some();
            is_wanted && pull.title == *title
        });
        is_copy.then_some(DUPLICATE)
    }

    /// Closes a pull request, and says why.
    pub(super) fn refuse(
        &self,
        (repo, number): (RepoId, u64),
        reason: &str,
        now: Timestamp,
        github: &mut github::Model,
        books: &mut Books,
    ) {
        let login = &self.review_policy.login;
        let labels = github.pull(repo, number).map(|pull| &pull.labels);
        let is_marked = labels.is_some_and(|labels| labels.iter().any(|label| label == MARK));
        github.close_pull(repo, number, login, now);
        // A label says all there is to say of a copy.
        if !is_marked {
            let command = format!("/phileas refuse {reason}");
            github.comment(repo, number, &command, login, now);
        }
        let verdict = if is_marked {
            "closed-marked"
        } else {
            "refused"
        };
        books.reviews.push(books::Review {
            at: now,
            repository: github.full_name(repo),
            number,
            by: login.clone(),
            verdict: verdict.to_owned(),
        });
    }
}
