//! Two services on one inbox, of which one lacks something: what it cannot do is left to the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::runtime::inbox::Inbox as _;
use phileas::runtime::ports::Clock as _;
use phileas::server::config::RepositoryEntry;
use phileas_domain::model::RepositoryId;
use phileas_world::Face;

use super::stage::{Ground, Parts, Served, Sessions};
use super::way::Way;

const START: &str = "2026-01-05T00:00:00Z";
/// Too short for the cycle of either repository to be through.
const LONG: SignedDuration = SignedDuration::from_mins(90);

fn ground() -> Ground {
    let start: Timestamp = START.parse().unwrap();
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    Ground::new(start, &[("acme", 2)], &sessions)
}

/// All that a service needs.
fn whole(ground: &Ground, beside: &Served) -> Parts {
    Parts {
        named: Vec::new(),
        keys: ground.keys.path().to_owned(),
        to_github: Arc::new(ground.way(Face::Github, &beside.clock)),
        run: "serve:other",
    }
}

/// How many sessions a repository has.
fn sessions(ground: &Ground, name: &str) -> usize {
    let source = format!("sources/github/{name}");
    let world = ground.world.lock_world();
    let all = world.books().sessions.iter();
    all.filter(|session| session.source.as_deref() == Some(&source))
        .count()
}

/// How many both have after some hours with one service that lacks nothing.
async fn alone() -> usize {
    let ground = ground();
    let served = ground.serve();
    served.clock.pass(LONG).await;
    sessions(&ground, "acme/r0") + sessions(&ground, "acme/r1")
}

/// Why a tick of a repository failed last, if it did.
async fn last_fault(served: &Served, id: RepositoryId) -> Option<String> {
    let wake = served.inbox.read_wake(id).await.unwrap();
    wake.and_then(|wake| wake.last_fault)
}

#[tokio::test]
async fn one_without_keys_delays_no_repository() {
    let ground = ground();
    let first = ground.serve();
    let no_keys = tempfile::tempdir().unwrap();
    let parts = Parts {
        keys: no_keys.path().to_owned(),
        ..whole(&ground, &first)
    };
    let _other = ground.serve_beside(&first, parts);
    for _ in 0..LONG.as_mins() {
        first.clock.pass(SignedDuration::from_mins(1)).await;
        for id in &ground.repositories {
            assert_eq!(last_fault(&first, RepositoryId(id.0)).await, None);
        }
    }
    let made = sessions(&ground, "acme/r0") + sessions(&ground, "acme/r1");
    assert!(made + 1 >= alone().await, "{made}");
}

/// While `phileas.toml` is changed on one machine after another, the lists differ.
#[tokio::test]
async fn who_is_on_one_list_only_is_not_forgotten() {
    let ground = ground();
    let first = ground.serve();
    let parts = Parts {
        named: vec![RepositoryEntry {
            name: "acme/r0".parse().unwrap(),
            id: None,
        }],
        ..whole(&ground, &first)
    };
    let _other = ground.serve_beside(&first, parts);
    first.clock.pass(LONG).await;
    let (listed, unlisted) = (sessions(&ground, "acme/r0"), sessions(&ground, "acme/r1"));
    assert!(
        unlisted + 2 >= listed && unlisted > 5,
        "{listed} {unlisted}"
    );
}

/// The one that knows it stands still for longer than the other leaves it alone, and comes back: the wakes that the other
/// has ended are begun again with the next listing.
#[tokio::test]
async fn whose_wakes_were_ended_by_another_comes_again_within_the_hour() {
    let ground = ground();
    let first = ground.serve();
    first.clock.pass(SignedDuration::from_mins(30)).await;
    let id = RepositoryId(ground.repositories[1].0);
    first.inbox.forget_repository(id).await.unwrap();
    let before = sessions(&ground, "acme/r1");
    first.clock.pass(SignedDuration::from_mins(105)).await;
    assert!(sessions(&ground, "acme/r1") > before + 2);
}

/// A repository that no replica manages: its wakes end, once a listing that began later does not show it either.
#[tokio::test]
async fn an_unmanaged_repository_is_dismissed_once_the_list_was_read_again() {
    let ground = ground();
    let served = ground.serve();
    served.clock.pass(SignedDuration::from_mins(30)).await;
    let id = RepositoryId(4_711);
    served
        .inbox
        .wake_repository(id, served.clock.now())
        .await
        .unwrap();
    served.clock.pass(SignedDuration::from_mins(5)).await;
    let wake = served.inbox.read_wake(id).await.unwrap().unwrap();
    assert_eq!((wake.next_at(), wake.last_fault), (None, None));
}

/// A way to GitHub that is cut once a test says so.
struct Wire {
    to: Way,
    cut: Arc<AtomicBool>,
    /// How often a tick has asked in vain.
    requests: Arc<AtomicU32>,
}

impl Transport for Wire {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        if self.cut.load(Ordering::Relaxed) {
            if request.uri().path().ends_with("/graphql") {
                self.requests.fetch_add(1, Ordering::Relaxed);
            }
            let lost = TransportError::NotSent("the wire is cut".to_owned());
            return Box::pin(std::future::ready(Err(lost)));
        }
        self.to.send(request)
    }
}

#[tokio::test]
async fn one_that_is_cut_off_from_github_leaves_the_work_to_the_other() {
    let ground = ground();
    let first = ground.serve();
    let cut = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicU32::new(0));
    let parts = Parts {
        to_github: Arc::new(Wire {
            to: ground.way(Face::Github, &first.clock),
            cut: Arc::clone(&cut),
            requests: Arc::clone(&asked),
        }),
        ..whole(&ground, &first)
    };
    let _other = ground.serve_beside(&first, parts);
    first.clock.pass(SignedDuration::from_mins(5)).await;
    cut.store(true, Ordering::Relaxed);
    first.clock.pass(LONG - SignedDuration::from_mins(5)).await;
    let made = sessions(&ground, "acme/r0") + sessions(&ground, "acme/r1");
    let alone = alone().await;
    assert!(made * 10 >= alone * 9, "{made} of {alone}");
    // What it learns by is a handful of ticks, each of which asks several times.
    let asked = asked.load(Ordering::Relaxed);
    assert!((1..=40).contains(&asked), "{asked}");
}
