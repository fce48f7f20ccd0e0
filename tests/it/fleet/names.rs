//! Repositories that `phileas.toml` names, by a plain token: renamed, unreachable, mistyped.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use phileas::adapters::entropy::SystemEntropy;
use phileas::adapters::github::{self, Token};
use phileas::adapters::jules::{self, JulesKey};
use phileas::runtime::driver::{LEASE, Ticked, Ticker as _, stop_pair};
use phileas::runtime::inbox::{Fault as TickFault, Inbox as _};
use phileas::sandbox::VirtualTime;
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::world_setup::{GITHUB_TOKEN, RUNNER};
use phileas::server::accounts::app::Identity;
use phileas::server::accounts::external_services::ExternalServices;
use phileas::server::accounts::keys::Keys;
use phileas::server::config::RepositoryEntry;
use phileas::server::repositories::{Repositories, Source};
use phileas::server::worker::ticks::Ticks;
use phileas_domain::model::RepositoryId;
use phileas_world::github::Role;
use phileas_world::{Face, Fault, FaultPlan, FaultRule};
use tokio::sync::Notify;

use super::stage::{Ground, Sessions};
use crate::support::memory_inbox::MemoryInbox;

struct Set {
    ground: Ground,
    inbox: MemoryInbox,
    repositories: Arc<Repositories>,
    /// Notified when the list is to be read again.
    changed: Arc<Notify>,
}

impl Set {
    /// A service with a plain token that `phileas.toml` names these for, without their numbers.
    fn new(names: &[&str]) -> Self {
        let sessions = Sessions {
            shortest: 4.0,
            longest: 6.0,
        };
        let start = "2026-01-05T00:00:00Z".parse().unwrap();
        let ground = Ground::new(start, &[("acme", 2)], &sessions);
        {
            let mut world = ground.world.lock_world();
            let github = world.github_mut();
            github.add_person_token(GITHUB_TOKEN, RUNNER);
            for id in &ground.repositories {
                github.set_role(*id, RUNNER, Role::Write);
            }
        }
        let time = Arc::new(VirtualTime::new(ground.world.clone()));
        let outside = ExternalServices {
            github: github::Base::default(),
            jules: jules::Base::default(),
            to_github: Arc::new(InProcess::new(ground.world.clone(), Face::Github)),
            to_jules: Arc::new(InProcess::new(ground.world.clone(), Face::Jules)),
            pause: Arc::clone(&time) as _,
            stopwatch: time,
            entropy: Arc::new(SystemEntropy),
        };
        let entries = names.iter().map(|name| RepositoryEntry {
            name: name.parse().unwrap(),
            id: None,
        });
        let token = Identity::Token(Token::new(GITHUB_TOKEN).unwrap());
        let source = Source::new(token, entries.collect(), &outside);
        let keys = Keys::new(Some(JulesKey::new("key-of-acme").unwrap()), None);
        let changed = Arc::new(Notify::new());
        let repositories = Repositories::new(source, keys, outside, Arc::clone(&changed));
        Self {
            repositories: Arc::new(repositories),
            changed,
            inbox: MemoryInbox::new(100),
            ground,
        }
    }

    fn now(&self) -> Timestamp {
        self.ground.world.world_time()
    }

    /// Lists, and answers with the names that are known then.
    async fn list(&self) -> Vec<String> {
        self.repositories
            .refresh_list(&self.inbox, self.now())
            .await
            .unwrap();
        let members = self.repositories.list_members();
        members
            .iter()
            .map(|member| member.name.to_string())
            .collect()
    }

    fn id(&self, n: usize) -> RepositoryId {
        RepositoryId(self.ground.repositories[n].0)
    }

    fn rename(&self, n: usize, name: &str) {
        let now = self.now();
        let mut world = self.ground.world.lock_world();
        let id = self.ground.repositories[n];
        world.github_mut().rename_repository(id, name, "acme", now);
    }
}

#[tokio::test]
async fn a_renamed_repository_stays_and_one_listing_that_fails_removes_none() {
    let set = Set::new(&["acme/r0"]);
    assert_eq!(set.list().await, ["acme/r0"]);
    let learnt = set.repositories.source().discovered_ids();
    assert!(learnt.contains(set.id(0)));
    set.rename(0, "renamed");
    assert_eq!(set.list().await, ["acme/renamed"]);
    let rule = FaultRule {
        face: Some(Face::Github),
        method: None,
        path: None,
        body: None,
        nth: None,
        probability: None,
        from: None,
        until: None,
        fault: Fault::Status {
            status: 503,
            retry_after: None,
            html: false,
            done: false,
        },
    };
    let plan = FaultPlan { rules: vec![rule] };
    set.ground
        .world
        .lock_world()
        .faults_mut()
        .replace_plan(plan);
    assert_eq!(
        set.list().await,
        ["acme/renamed"],
        "no listing contradicts it"
    );
    assert!(set.repositories.problem_text().is_some());
    set.ground
        .world
        .lock_world()
        .faults_mut()
        .replace_plan(FaultPlan::default());
    assert_eq!(set.list().await, ["acme/renamed"]);
    assert_eq!(set.repositories.problem_text(), None);
}

#[tokio::test]
async fn a_repository_that_takes_a_name_over_is_not_taken_for_the_one_before() {
    let set = Set::new(&["acme/r0"]);
    assert_eq!(set.list().await, ["acme/r0"]);
    set.rename(0, "renamed");
    set.rename(1, "r0");
    assert_eq!(set.list().await, Vec::<String>::new());
    let unreached = set.repositories.unreachable_entries();
    assert_eq!(unreached.len(), 1, "{unreached:?}");
    assert!(
        unreached[0].because.contains(&set.id(1).to_string()),
        "{unreached:?}"
    );
}

/// The service still knows the repository by the name that another one has now.
#[tokio::test]
async fn a_tick_does_nothing_in_a_repository_that_has_taken_the_name_over() {
    let set = Set::new(&["acme/r0"]);
    assert_eq!(set.list().await, ["acme/r0"]);
    set.rename(0, "renamed");
    set.rename(1, "r0");
    let now = set.now();
    set.inbox.wake_repository(set.id(0), now).await.unwrap();
    let (holder, due) = ("test".into(), [set.id(0)]);
    let leases = set.inbox.claim_leases(&holder, now, LEASE, &due);
    let lease = leases.await.unwrap().remove(0);
    let (_stopper, stop) = stop_pair(lease.until, move || now);
    let ticks = Ticks::new(Arc::clone(&set.repositories), "test".to_owned(), None);
    let ticked = ticks.tick_repository(&lease, stop).await;
    let Ticked::Failed(TickFault::Outage { because, .. }) = ticked else {
        panic!("{ticked:?}");
    };
    assert!(because.contains("another repository"), "{because}");
    let asked = tokio::time::timeout(Duration::from_secs(5), set.changed.notified());
    asked.await.expect("the list is read again");
    let world = set.ground.world.lock_world();
    for id in &set.ground.repositories {
        assert_eq!(world.github().branch_head(*id, "jules"), None);
    }
}

#[tokio::test]
async fn a_mistyped_name_is_told_with_its_reason() {
    let set = Set::new(&["acme/r0", "acme/mistyped"]);
    assert_eq!(set.list().await, ["acme/r0"]);
    let unreached = set.repositories.unreachable_entries();
    let names: Vec<_> = unreached.iter().map(|one| one.name.to_string()).collect();
    assert_eq!(names, ["acme/mistyped"]);
}
