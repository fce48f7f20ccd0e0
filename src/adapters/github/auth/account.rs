//! The token and the rate limits that all clients of one credential share.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::token::{App, Token};
use super::token_source::TokenSource;
use crate::adapters::github::http::answer::LIMIT_WINDOW;
use crate::adapters::github::http::budget::{Api, Budget, Quota};
use crate::adapters::github::read::list_sizes::BusyRepositories;
use crate::adapters::github::read::refusal_cache::RefusalCache;
use crate::adapters::github::write::opened_issues::OpenedIssues;

/// New work stops when less than one part in so many of a primary limit is left. Running work needs that rest to
/// finish.
const RESERVE: u64 = 50;
const SECOND: Duration = Duration::from_secs(1);

/// The credential that phileas shows to GitHub.
#[derive(Debug, Clone)]
pub enum Credential {
    /// A person's token, fine-grained or classic.
    Token(Token),
    /// The `GITHUB_TOKEN` of a workflow run.
    WorkflowToken(Token),
    /// A GitHub App; tokens of its installation on the repository are minted as needed.
    App(App),
    /// The account that several clients share.
    Shared(Account),
}

/// One credential's token and limits. Clones share them.
///
/// An App's installation has one token for all its repositories. Clients that need it while it is minted wait for it.
/// It is renewed five minutes before it expires.
#[derive(Debug, Clone)]
pub struct Account {
    pub(crate) tokens: Arc<TokenSource>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) opened_issues: Arc<OpenedIssues>,
    pub(crate) busy_repositories: Arc<BusyRepositories>,
    pub(crate) refusal_cache: Arc<RefusalCache>,
}

impl Account {
    /// The account of a credential. [`Credential::Shared`] returns the shared account itself.
    #[must_use]
    pub fn new(credential: Credential) -> Self {
        match credential {
            Credential::Shared(account) => account,
            Credential::Token(token) | Credential::WorkflowToken(token) => {
                Self::with_tokens(TokenSource::Fixed(token))
            }
            Credential::App(app) => Self::with_tokens(TokenSource::from_app(app, None)),
        }
    }

    /// The account of an App's installation, by its id.
    #[must_use]
    pub fn for_installation(app: App, id: u64) -> Self {
        Self::with_tokens(TokenSource::from_app(app, Some(id)))
    }

    fn with_tokens(tokens: TokenSource) -> Self {
        Self {
            tokens: Arc::new(tokens),
            budget: Arc::new(Budget::default()),
            opened_issues: Arc::default(),
            busy_repositories: Arc::default(),
            refusal_cache: Arc::default(),
        }
    }

    /// How long new work must wait: GitHub asked for a pause, or little is left of a primary limit and running work
    /// needs it. `None`: new work may start.
    #[must_use]
    pub fn required_wait(&self, now: Timestamp) -> Option<Duration> {
        [Api::Rest, Api::Graph]
            .into_iter()
            .filter_map(|face| {
                let closed = self.budget.pause_left(face, now);
                let low = self
                    .budget
                    .quota(face)
                    .and_then(|quota| time_to_reset(quota, now));
                closed.max(low)
            })
            .max()
    }

    /// The primary limit of one API, as GitHub last reported it.
    #[must_use]
    pub fn quota(&self, face: Api) -> Option<Quota> {
        self.budget.quota(face)
    }
}

/// The time until a nearly spent limit resets.
fn time_to_reset(quota: Quota, now: Timestamp) -> Option<Duration> {
    if quota.remaining > quota.limit / RESERVE {
        return None;
    }
    // GitHub may still count the second of the reset itself to the old window.
    let second = SignedDuration::try_from(SECOND).ok()?;
    let reset = quota.reset.checked_add(second).ok()?;
    let left = Duration::try_from(reset.duration_since(now)).ok()?;
    // What is further away comes from a wrong clock, most likely this machine's.
    (!left.is_zero() && left <= LIMIT_WINDOW + SECOND).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_limit_is_left_to_what_is_under_way() {
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        let quota = |remaining, ahead| Quota {
            limit: 5_000,
            remaining,
            reset: now + SignedDuration::from_secs(ahead),
        };
        assert_eq!(time_to_reset(quota(101, 600), now), None);
        assert_eq!(
            time_to_reset(quota(100, 600), now),
            Some(Duration::from_secs(601))
        );
        assert_eq!(time_to_reset(quota(0, -1), now), None);
        assert_eq!(
            time_to_reset(quota(0, 3_600), now),
            Some(Duration::from_secs(3_601))
        );
        assert_eq!(
            time_to_reset(quota(0, 86_400), now),
            None,
            "by a clock that is wrong"
        );
    }
}
