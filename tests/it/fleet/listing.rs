//! One listing for all repositories of a key, counted in the model's books.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use phileas::adapters::jules::listing_cache::{KEPT_FOR, MAX_EARLY};
use phileas::adapters::jules::{self, JulesKey, RepositoryJules, Settings};
use phileas::runtime::ports::{ReadJules as _, WriteJules as _};
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::{SharedWorld, VirtualTime};
use phileas_domain::engine::{Checks, ListingNeed, Repository, Sessions};
use phileas_domain::model::{RepositoryId, SessionId};
use phileas_world::Face;

use super::stage::{Ground, Sessions as Lengths};

/// A repository as GitHub shows it.
fn repository(n: usize) -> Repository {
    Repository {
        id: RepositoryId(n as u64),
        name: format!("acme/r{n}").parse().unwrap(),
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: None,
        default_checks: Checks::None,
    }
}

struct Set {
    world: SharedWorld,
    client: Arc<jules::Client>,
}

impl Set {
    fn new() -> Self {
        let lengths = Lengths {
            shortest: 4.0,
            longest: 6.0,
        };
        let start = "2026-01-05T00:00:00Z".parse().unwrap();
        let world = Ground::new(start, &[("acme", 3)], &lengths).world;
        let time = Arc::new(VirtualTime::new(world.clone()));
        let key = JulesKey::new("key-of-acme").unwrap();
        let settings = Settings {
            shared: true,
            ..Settings::new(key)
        };
        let transport = Arc::new(InProcess::new(world.clone(), Face::Jules));
        let client = jules::Client::new(settings, transport, Arc::clone(&time) as _, time);
        Self {
            world,
            client: Arc::new(client),
        }
    }

    fn view(&self, n: usize) -> RepositoryJules {
        RepositoryJules::new(
            Arc::clone(&self.client),
            format!("acme/r{n}").parse().unwrap(),
        )
    }

    /// A session of a repository that phileas did not start.
    async fn session(&self, n: usize) -> SessionId {
        let body = format!(
            r#"{{"prompt":"Do it.","title":"It","sourceContext":{{"source":"sources/github/acme/r{n}","githubRepoContext":{{"startingBranch":"main"}}}}}}"#
        );
        let request = http::Request::post("/v1alpha/sessions")
            .header("x-goog-api-key", "key-of-acme")
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap();
        let reply = self
            .world
            .lock_world()
            .jules_request(request)
            .reply()
            .unwrap();
        let made: serde_json::Value = serde_json::from_slice(reply.body()).unwrap();
        SessionId::new(made["id"].as_str().unwrap_or_else(|| panic!("{made}")))
    }

    async fn list(&self, n: usize, view: &RepositoryJules, need: ListingNeed) -> Sessions {
        let now = self.world.world_time();
        view.list_sessions(&repository(n), &need, now)
            .await
            .unwrap()
    }

    fn recent(&self) -> ListingNeed {
        ListingNeed::Since(self.world.world_time() - SignedDuration::from_hours(1))
    }

    /// How often the account's sessions were listed, from the first page on.
    fn listings(&self) -> usize {
        let world = self.world.lock_world();
        let listed = world.books().requests.iter().filter(|request| {
            request.face == Face::Jules
                && request.method == "GET"
                && request.route.ends_with("/sessions")
                && !request.path.contains("filter=")
                && !request.path.contains("pageToken=")
        });
        listed.count()
    }
}

#[tokio::test]
async fn a_minute_costs_one_listing_however_many_ask() {
    let set = Set::new();
    set.session(0).await;
    for n in [0, 1, 2, 0] {
        let seen = set.list(n, &set.view(n), set.recent()).await;
        assert_eq!(
            seen.sessions.len(),
            usize::from(n == 0),
            "each sees its own"
        );
        assert_eq!(seen.key.active, 1, "and what the key is used for");
    }
    assert_eq!(set.listings(), 1);
    set.world.advance_time(KEPT_FOR);
    set.list(1, &set.view(1), set.recent()).await;
    assert_eq!(set.listings(), 2);
}

#[tokio::test]
async fn a_deeper_need_is_read_and_then_serves_the_shallow_ones() {
    let set = Set::new();
    set.list(0, &set.view(0), set.recent()).await;
    let deep = set.list(1, &set.view(1), ListingNeed::Everything).await;
    assert!(deep.archived && deep.since.is_none());
    assert_eq!(set.listings(), 2);
    set.list(2, &set.view(2), ListingNeed::Everything).await;
    set.list(0, &set.view(0), set.recent()).await;
    assert_eq!(set.listings(), 2);
}

#[tokio::test]
async fn no_repository_sees_its_own_past_and_others_wait() {
    let set = Set::new();
    let id = set.session(0).await;
    let (own, other) = (set.view(0), set.view(1));
    set.list(0, &own, set.recent()).await;
    own.archive_session(&id).await.unwrap();
    set.list(1, &other, set.recent()).await;
    assert_eq!(set.listings(), 1, "no other repository needs a new one");
    let seen = set.list(0, &own, set.recent()).await;
    assert_eq!(set.listings(), 2);
    assert!(
        seen.sessions.iter().all(|session| session.archived),
        "{seen:?}"
    );
}

#[tokio::test]
async fn what_was_heard_brings_a_listing_forward_but_not_without_end() {
    let set = Set::new();
    set.list(0, &set.view(0), set.recent()).await;
    for n in 0..MAX_EARLY + 5 {
        set.world.advance_time(Duration::from_secs(1));
        let view = set.view(n % 3).heard_since(Duration::ZERO);
        set.list(n % 3, &view, set.recent()).await;
        // What this listing shows a second time wakes no repository.
        set.list(n % 3, &view, set.recent()).await;
    }
    assert_eq!(set.listings(), 1 + MAX_EARLY);
}

#[tokio::test]
async fn a_request_that_comes_while_it_is_read_waits_for_it() {
    let set = Set::new();
    let views: Vec<RepositoryJules> = (0..3).map(|n| set.view(n)).collect();
    let repositories: Vec<_> = (0..3).map(repository).collect();
    let (need, now) = (set.recent(), set.world.world_time());
    let (one, two, three) = tokio::join!(
        views[0].list_sessions(&repositories[0], &need, now),
        views[1].list_sessions(&repositories[1], &need, now),
        views[2].list_sessions(&repositories[2], &need, now)
    );
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(set.listings(), 1);
}
