//! The redelivery sweep, recounted from the model's own attempts.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::entropy::SystemEntropy;
use phileas::adapters::github::{self, Account, App, Credential, Token};
use phileas::adapters::jules::{self, JulesKey};
use phileas::adapters::pause::Pause;
use phileas::adapters::transport::BoxFuture;
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::world_setup::{GITHUB_TOKEN, RUNNER};
use phileas::sandbox::{SharedWorld, VirtualTime};
use phileas::server::accounts::app::Identity;
use phileas::server::accounts::external_services::ExternalServices;
use phileas::server::accounts::keys::Keys;
use phileas::server::config::RepositoryEntry;
use phileas::server::repositories::{Repositories, Source};
use phileas::server::shutdown::shutdown_pair;
use phileas::server::worker::driver::Driver;
use phileas::server::worker::sweep::{Hooked, MAX_ASKED, Remembered, Sweep, Swept, TRIED_FIRST};
use phileas_world::github::{DeliveryStatus, Role};
use phileas_world::{Face, Fault, FaultPlan, FaultRule};
use std::sync::Arc;
use tokio::sync::Notify;

use super::clock::StillClock;
use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::memory_inbox::MemoryInbox;

fn ground() -> Ground {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    Ground::new(
        "2026-01-05T00:00:00Z".parse().unwrap(),
        &[("acme", 1)],
        &sessions,
    )
}

fn external_services(world: &SharedWorld) -> ExternalServices {
    let time = Arc::new(VirtualTime::new(world.clone()));
    ExternalServices {
        github: github::Base::default(),
        jules: jules::Base::default(),
        to_github: Arc::new(InProcess::new(world.clone(), Face::Github)),
        to_jules: Arc::new(InProcess::new(world.clone(), Face::Jules)),
        pause: Arc::clone(&time) as _,
        stopwatch: time,
        entropy: Arc::new(SystemEntropy),
    }
}

async fn sweep(
    outside: &ExternalServices,
    hooked: Hooked<'_>,
    since: Timestamp,
    memory: &mut Remembered,
) -> Swept {
    let pause = &*outside.pause;
    phileas::server::worker::sweep::sweep_attempts(hooked, None, since, pause, memory)
        .await
        .unwrap()
}

fn pass(world: &SharedWorld, length: SignedDuration) {
    let mut world = world.lock_world();
    let until = world.now() + length;
    world.advance_to(until);
}

/// So many issues are opened, and what is due is answered by turns.
fn receive(ground: &Ground, issues: usize, answers: impl Fn(usize) -> Option<u16>) {
    {
        let mut world = ground.world.lock_world();
        let now = world.now();
        for _ in 0..issues {
            let repo = ground.repositories[0];
            world
                .github_mut()
                .open_issue(repo, "T", "B", &[], "outsider", now);
        }
    }
    pass(&ground.world, SignedDuration::from_mins(1));
    let mut world = ground.world.lock_world();
    for (n, delivery) in world.take_due_deliveries().into_iter().enumerate() {
        world.delivery_done(delivery.id, answers(n));
    }
}

/// For each event of a kind: how many attempts there were, and whether one succeeded.
fn attempts(world: &SharedWorld, event: &str) -> BTreeMap<String, (usize, bool)> {
    let world = world.lock_world();
    let mut found: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for delivery in world.github().deliveries().filter(|one| one.event == event) {
        let entry = found.entry(delivery.guid.clone()).or_default();
        entry.0 += 1;
        entry.1 |= matches!(delivery.status, DeliveryStatus::Done(Some(200..=299)));
    }
    found
}

#[tokio::test]
async fn what_an_app_did_not_get_is_asked_for_once() {
    let ground = ground();
    // The installation's own event.
    receive(&ground, 0, |_| Some(202));
    let outside = external_services(&ground.world);
    let app = outside.app_client(App::new(&APP.to_string(), &ground.pem).unwrap());
    let start = ground.world.world_time() - SignedDuration::from_hours(1);
    // Every third is lost: refused, or not answered at all.
    receive(&ground, 240, |n| match n % 6 {
        0 => Some(503),
        3 => None,
        _ => Some(202),
    });
    let first = sweep(
        &outside,
        Hooked::App(&app),
        start,
        &mut Remembered::default(),
    )
    .await;
    assert_eq!((first.requested, first.left), (80, 0), "{first:?}");
    assert!(first.read > 200, "more than one page");
    // What was asked for is on its way: nothing is asked for again, whatever comes of it.
    receive(
        &ground,
        0,
        |n| if n % 2 == 0 { Some(202) } else { Some(503) },
    );
    let second = sweep(
        &outside,
        Hooked::App(&app),
        start,
        &mut Remembered::default(),
    )
    .await;
    assert_eq!(second.requested, 0, "{second:?}");
    let counts = attempts(&ground.world, "issues");
    assert_eq!(counts.len(), 240);
    assert_eq!(counts.values().filter(|(count, _)| *count == 2).count(), 80);
    let still_lost = counts.values().filter(|(_, good)| !good).count();
    assert_eq!(still_lost, 40);
    assert!(
        counts
            .values()
            .all(|(count, good)| *count == 1 && *good || *count == 2)
    );
    // An hour later those are asked for again whose redelivery failed, too.
    pass(&ground.world, SignedDuration::from_hours(1));
    let third = sweep(
        &outside,
        Hooked::App(&app),
        start,
        &mut Remembered::default(),
    )
    .await;
    assert_eq!((third.requested, third.left), (still_lost, 0), "{third:?}");
    receive(&ground, 0, |_| Some(202));
    let counts = attempts(&ground.world, "issues");
    assert!(counts.values().all(|(_, good)| *good));
}

#[tokio::test]
async fn a_flood_of_losses_is_asked_for_piece_by_piece_and_old_ones_never() {
    let ground = ground();
    receive(&ground, 0, |_| Some(202));
    let outside = external_services(&ground.world);
    let app = outside.app_client(App::new(&APP.to_string(), &ground.pem).unwrap());
    receive(&ground, 10, |_| Some(500));
    pass(&ground.world, SignedDuration::from_hours(80));
    receive(&ground, MAX_ASKED + 50, |_| Some(500));
    let since = ground.world.world_time() - SignedDuration::from_hours(71);
    let first = sweep(
        &outside,
        Hooked::App(&app),
        since,
        &mut Remembered::default(),
    )
    .await;
    assert_eq!((first.requested, first.left), (MAX_ASKED, 50));
    receive(&ground, 0, |_| Some(202));
    let second = sweep(
        &outside,
        Hooked::App(&app),
        since,
        &mut Remembered::default(),
    )
    .await;
    assert_eq!((second.requested, second.left), (50, 0));
}

/// Answers whatever is redelivered while it waits.
struct Answering {
    time: VirtualTime,
    world: SharedWorld,
    status: u16,
}

impl Pause for Answering {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    fn pause_for(&self, length: std::time::Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.time.pause_for(length).await;
            let mut world = self.world.lock_world();
            for delivery in world.take_due_deliveries() {
                world.delivery_done(delivery.id, Some(self.status));
            }
        })
    }
}

#[tokio::test]
async fn while_what_comes_again_is_refused_the_others_are_left() {
    let ground = ground();
    receive(&ground, 0, |_| Some(202));
    let outside = external_services(&ground.world);
    let app = outside.app_client(App::new(&APP.to_string(), &ground.pem).unwrap());
    receive(&ground, 60, |_| Some(503));
    let since = ground.world.world_time() - SignedDuration::from_hours(1);
    let mut memory = Remembered::default();
    let full = Answering {
        time: VirtualTime::new(ground.world.clone()),
        world: ground.world.clone(),
        status: 503,
    };
    let hook = Hooked::App(&app);
    let first =
        phileas::server::worker::sweep::sweep_attempts(hook, None, since, &full, &mut memory).await;
    let first = first.unwrap();
    assert_eq!(
        (first.requested, first.left, first.refused),
        (TRIED_FIRST, 60 - TRIED_FIRST, true)
    );
    // There is room again an hour later.
    pass(&ground.world, SignedDuration::from_hours(1));
    let roomy = Answering {
        status: 202,
        ..full
    };
    let second =
        phileas::server::worker::sweep::sweep_attempts(hook, None, since, &roomy, &mut memory)
            .await;
    let second = second.unwrap();
    assert_eq!(
        (second.requested, second.left, second.refused),
        (60, 0, false)
    );
    receive(&ground, 0, |_| Some(202));
    let counts = attempts(&ground.world, "issues");
    assert!(counts.len() == 60 && counts.values().all(|(_, good)| *good));
}

#[tokio::test]
async fn a_repositorys_hook_is_swept_with_a_token_that_administers_it() {
    let ground = ground();
    let repo = ground.repositories[0];
    {
        let mut world = ground.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.add_person_token(GITHUB_TOKEN, RUNNER);
        github.set_role(repo, RUNNER, Role::Admin);
        let url = "https://phileas.example.com/webhook";
        github
            .add_hook(repo, url, Some(SECRET), &["issues"], now)
            .unwrap();
    }
    let outside = external_services(&ground.world);
    let token = Credential::Token(Token::new(GITHUB_TOKEN).unwrap());
    let client = outside.github_client("acme/r0".parse().unwrap(), &Account::new(token));
    let hooks = client.list_hooks().await.unwrap();
    assert_eq!(hooks.len(), 1);
    assert_eq!(hooks[0].url, "https://phileas.example.com/webhook");
    receive(&ground, 3, |_| Some(502));
    let since = ground.world.world_time() - SignedDuration::from_hours(1);
    let hooked = Hooked::Repository(&client, hooks[0].id);
    let mut memory = Remembered::default();
    let swept = sweep(&outside, hooked, since, &mut memory).await;
    assert_eq!(swept.requested, 3);
    let again = sweep(&outside, hooked, since, &mut memory).await;
    assert_eq!(
        again.requested, 0,
        "what is on its way is not asked for twice: {again:?}"
    );
}

/// Two hooks, of which the attempts of one cannot be read: the other waits its hour.
#[tokio::test]
async fn each_repository_is_swept_at_its_own_time() {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let start = "2026-01-05T00:00:00Z".parse().unwrap();
    let ground = Ground::new(start, &[("acme", 2)], &sessions);
    let url = "https://phileas.example.com";
    {
        let mut world = ground.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.add_person_token(GITHUB_TOKEN, RUNNER);
        for id in &ground.repositories {
            github.set_role(*id, RUNNER, Role::Admin);
            github
                .add_hook(
                    *id,
                    &format!("{url}/webhook"),
                    Some(SECRET),
                    &["issues"],
                    now,
                )
                .unwrap();
        }
        let rule = FaultRule {
            face: Some(Face::Github),
            method: None,
            path: Some("/repos/acme/r1/hooks/*/deliveries*".to_owned()),
            body: None,
            nth: None,
            probability: None,
            from: None,
            until: None,
            fault: Fault::Status {
                status: 500,
                retry_after: None,
                html: false,
                done: false,
            },
        };
        world
            .faults_mut()
            .replace_plan(FaultPlan { rules: vec![rule] });
    }
    let outside = external_services(&ground.world);
    let named = ["acme/r0", "acme/r1"].map(|name| RepositoryEntry {
        name: name.parse().unwrap(),
        id: None,
    });
    let token = Identity::Token(Token::new(GITHUB_TOKEN).unwrap());
    let source = Source::new(token, named.to_vec(), &outside);
    let keys = Keys::new(Some(JulesKey::new("key-of-acme").unwrap()), None);
    let repositories = Repositories::new(source, keys, outside, Arc::new(Notify::new()));
    let inbox = Arc::new(MemoryInbox::new(100));
    repositories
        .refresh_list(&*inbox, ground.world.world_time())
        .await
        .unwrap();
    let clock = StillClock::of(&ground.world);
    let sweep = Sweep {
        repositories: Arc::new(repositories),
        clock: Arc::new(clock.clone()),
        public_url: Some(url.to_owned()),
    };
    let (end, ending) = shutdown_pair();
    let driver = tokio::spawn(sweep.run(inbox, ending));
    clock.pass(SignedDuration::from_mins(59)).await;
    end.request_shutdown();
    driver.await.unwrap();
    let world = ground.world.lock_world();
    let looked = |name: &str| {
        let place = format!("/repos/acme/{name}/hooks?");
        let asked = world.books().requests.iter();
        asked.filter(|one| one.path.starts_with(&place)).count()
    };
    assert_eq!(looked("r0"), 1);
    assert_eq!(looked("r1"), 12);
}
