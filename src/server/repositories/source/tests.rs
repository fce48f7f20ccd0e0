//! Tests listings of thousands of repositories that cannot be read.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::adapters::entropy::SystemEntropy;
use crate::adapters::github::{self, Token};
use crate::adapters::jules;
use crate::adapters::log_capture::LogCapture;
use crate::adapters::pause::Pause;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::adapters::transport::{Transport, TransportError};

const MANY: usize = 5_000;

/// A clock that waiting advances.
struct Clock(Mutex<Timestamp>);

impl Pause for Clock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        *self.0.lock().unwrap() += SignedDuration::try_from(length).unwrap();
        Box::pin(async {})
    }
}

/// A GitHub that replies with one status to everything.
struct Upstream {
    status: u16,
    clock: Arc<Clock>,
    requests: Mutex<Vec<(Timestamp, String)>>,
}

impl Transport for Upstream {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let path = request.uri().path().to_owned();
        self.requests.lock().unwrap().push((self.clock.now(), path));
        let answer = Response::builder().status(self.status);
        let answer = answer.body(Bytes::from_static(b"{\"message\": \"no\"}"));
        Box::pin(async { Ok(answer.unwrap()) })
    }
}

/// Lists this many times, and returns the number of requests of each listing and the log.
async fn list_repeatedly(
    status: u16,
    times: usize,
) -> (Vec<Vec<(Timestamp, String)>>, Vec<String>) {
    let clock = Arc::new(Clock(Mutex::new(Timestamp::UNIX_EPOCH)));
    let upstream = Arc::new(Upstream {
        status,
        clock: Arc::clone(&clock),
        requests: Mutex::default(),
    });
    let outside = ExternalServices {
        github: github::Base::from_values(None, None).unwrap(),
        jules: jules::Base::default(),
        to_github: Arc::clone(&upstream) as _,
        to_jules: Arc::clone(&upstream) as _,
        pause: clock,
        stopwatch: Arc::new(SystemStopwatch::default()),
        entropy: Arc::new(SystemEntropy),
    };
    let named = (0..MANY).map(|n| RepositoryEntry {
        name: format!("acme/r{n}").parse().unwrap(),
        id: None,
    });
    let identity = Identity::Token(Token::new("ghs_token-of-a-test").unwrap());
    let source = Source::new(identity, named.collect(), &outside);
    let log = LogCapture::begin();
    let mut all = Vec::new();
    for _ in 0..times {
        let reading = source.begin_listing(&outside).await.unwrap();
        let listing = reading.into_listing();
        assert_eq!(listing.unasked.len() + listing.unreached.len(), MANY);
        all.push(std::mem::take(&mut *upstream.requests.lock().unwrap()));
    }
    let log = log.end();
    let logged = log
        .lines()
        .filter(|line| line.contains("WARN ") || line.contains("ERROR "));
    (all, logged.map(str::to_owned).collect())
}

/// GitHub allows 900 a minute, and ticks send requests, too.
#[tokio::test]
async fn thousands_that_are_not_there_are_asked_about_in_turn_and_told_in_a_line() {
    let (asked, logged) = list_repeatedly(404, 2).await;
    for asked in &asked {
        assert_eq!(asked.len(), MANY);
        let minute = SignedDuration::from_secs(60);
        let most = asked.iter().enumerate().map(|(n, (from, _))| {
            asked[n..].partition_point(|(at, _)| at.duration_since(*from) < minute)
        });
        assert!(most.max().unwrap() <= 800);
    }
    assert_eq!(logged.len(), 1, "{logged:?}");
    assert!(
        logged[0].contains("acme/r0 and 4999 more repositories, which phileas.toml names"),
        "{logged:?}"
    );
}

/// If each reply is a failure, the reason is not a repository.
#[tokio::test]
async fn a_github_that_fails_is_not_asked_about_thousands() {
    for (status, attempts) in [(503, 4), (403, 1)] {
        let (asked, logged) = list_repeatedly(status, 3).await;
        let mut first = BTreeSet::new();
        for asked in &asked {
            assert_eq!(asked.len(), MAX_FAILED_IN_A_ROW * attempts, "{status}");
            first.insert(asked[0].1.clone());
        }
        assert_eq!(first.len(), 3, "each listing begins with others: {first:?}");
        assert_eq!(logged.len(), 3, "{logged:?}");
        for line in &logged {
            assert!(
                line.contains("and 4999 more repositories cannot be read"),
                "{line}"
            );
        }
    }
}

#[test]
fn others_are_counted() {
    assert_eq!(and_more(1, "repository"), "");
    assert_eq!(and_more(2, "repository"), " and 1 more repository");
    assert_eq!(and_more(3, "repository"), " and 2 more repositories");
    assert_eq!(and_more(3, "installation"), " and 2 more installations");
}
