//! Reviews one pull request: ignores, closes, merges or asks for changes.

use jiff::Timestamp;

use super::{Maintainer, PlannedAct};
use crate::books::{self, Books};
use crate::chance::Stream;
use crate::github::{self, RepoId, State, Verdict};
use crate::jules::{self, WebAct};
use crate::knobs::Knobs;

/// Times that changes are asked for on one pull request before it is merged or closed.
const MOST_ROUNDS: u32 = 2;

/// What the maintainer makes of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opinion {
    Merge,
    AskForChanges,
    Close,
    Ignore,
}

impl Maintainer {
    pub(super) fn review_pull(
        &mut self,
        (repo, number, round): (RepoId, u64, u32),
        now: Timestamp,
        github: &mut github::Model,
        jules: &mut jules::Model,
        books: &mut Books,
    ) {
        let Some(pull) = github.pull(repo, number) else {
            return;
        };
        if pull.state != State::Open {
            return;
        }
        if let Some(reason) = self.reason_against(github, repo, number) {
            self.refuse((repo, number), reason, now, github, books);
            return;
        }
        let (draft, branch) = (pull.draft, pull.head.branch.clone());
        let login = self.review_policy.login.clone();
        let mut chance = self.matter_stream("review", repo, number, round);
        let opinion = self.draw_opinion(round, &mut chance);
        let mut write_down = |github: &github::Model, verdict: &str| {
            books.reviews.push(books::Review {
                at: now,
                repository: github.full_name(repo),
                number,
                by: login.clone(),
                verdict: verdict.to_owned(),
            });
        };
        match opinion {
            Opinion::Merge => {
                if draft {
                    github.set_draft(repo, number, false, &login, now);
                }
                if chance.happens(self.review_policy.approves_first) {
                    github.review_pull(
                        repo,
                        number,
                        Verdict::Approve,
                        "Looks good to me.",
                        &login,
                        now,
                    );
                    write_down(github, "approved");
                }
                if github.merge_pull(repo, number, &login, now).is_ok() {
                    write_down(github, "merged");
                    if chance.happens(self.review_policy.deletes_branches) {
                        github.delete_branch(repo, &branch, &login, now);
                    }
                } else {
                    github.comment(
                        repo,
                        number,
                        "This branch has conflicts, please have a look.",
                        &login,
                        now,
                    );
                    write_down(github, "conflict");
                }
            }
            Opinion::AskForChanges => {
                const REQUEST: &str =
                    "Please make this smaller and say in the description why it is needed.";
                github.review_pull(repo, number, Verdict::RequestChanges, REQUEST, &login, now);
                write_down(github, "changes-requested");
                let session = jules
                    .session_of_pull(repo, number, github)
                    .map(|session| session.id().to_owned());
                if let Some(id) =
                    session.filter(|_| chance.happens(self.review_policy.tells_the_session))
                {
                    jules.in_web_app(&id, WebAct::Say(REQUEST), now, &Knobs::documented());
                }
                let again = self.review_policy.next_check(now, &mut chance);
                self.due
                    .insert((again, PlannedAct::Review(repo, number, round + 1)));
            }
            Opinion::Close => {
                github.comment(
                    repo,
                    number,
                    "Thank you, but this is not what we need.",
                    &login,
                    now,
                );
                github.close_pull(repo, number, &login, now);
                write_down(github, "closed");
            }
            Opinion::Ignore => write_down(github, "ignored"),
        }
    }

    fn draw_opinion(&self, round: u32, chance: &mut Stream) -> Opinion {
        let review_policy = &self.review_policy;
        let asks = if round < MOST_ROUNDS {
            review_policy.asks_for_changes
        } else {
            0
        };
        let table = [
            (Opinion::Merge, review_policy.merges),
            (Opinion::AskForChanges, asks),
            (Opinion::Close, review_policy.closes),
            (Opinion::Ignore, review_policy.ignores),
        ];
        let mut left = chance.draw_below(table.iter().map(|(_, weight)| u64::from(*weight)).sum());
        for (opinion, weight) in table {
            match left.checked_sub(u64::from(weight)) {
                Some(rest) => left = rest,
                None => return opinion,
            }
        }
        Opinion::Ignore
    }
}
