//! A GitHub that is not there at the start, and a Jules key that is not there yet.

use std::fs;

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::github::{App, Token};
use phileas::runtime::inbox::Inbox as _;
use phileas::runtime::ports::Clock as _;
use phileas::sandbox::world_setup::{GITHUB_TOKEN, RUNNER};
use phileas::server::accounts::app::Identity;
use phileas::server::config::RepositoryEntry;
use phileas_domain::model::RepositoryId;
use phileas_world::github::Role;
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs};

use super::stage::{APP, Ground, Served, Sessions};

const START: &str = "2026-01-05T00:00:00Z";
/// So long that the pauses of repositories whose ticks fail have grown to an hour.
const OUTAGE: SignedDuration = SignedDuration::from_hours(3);
/// The longest pause between two readings that fail is five minutes. No repository waits longer than for the reading.
const SOON: SignedDuration = SignedDuration::from_mins(7);

/// Two repositories, at a GitHub that is out for these paths from the start on.
fn ground(path: &str) -> Ground {
    let start: Timestamp = START.parse().unwrap();
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let out = FaultRule {
        face: Some(Face::Github),
        method: None,
        path: Some(path.to_owned()),
        body: None,
        nth: None,
        probability: None,
        from: None,
        until: Some(start + OUTAGE),
        fault: Fault::DropBefore {},
    };
    let faults = FaultPlan { rules: vec![out] };
    Ground::with(
        start,
        &[("acme", 2)],
        &sessions,
        Knobs::documented(),
        faults,
    )
}

/// A restart during the outage: the repositories are known to the inbox, and due.
async fn are_due(ground: &Ground, served: &Served) {
    for id in &ground.repositories {
        let id = RepositoryId(id.0);
        served
            .inbox
            .wake_repository(id, served.clock.now())
            .await
            .unwrap();
    }
}

fn sessions(ground: &Ground) -> usize {
    ground.world.lock_world().books().sessions.len()
}

async fn are_ticked_soon_after_the_outage(ground: &Ground, served: &Served) {
    are_due(ground, served).await;
    served.clock.pass(OUTAGE).await;
    assert_eq!(sessions(ground), 0);
    served.clock.pass(SOON).await;
    assert!(sessions(ground) >= 2, "{} sessions", sessions(ground));
}

#[tokio::test]
async fn a_plain_token_is_at_work_soon_after_github_is() {
    let ground = ground("*");
    {
        let mut world = ground.world.lock_world();
        let github = world.github_mut();
        github.add_person_token(GITHUB_TOKEN, RUNNER);
        for id in &ground.repositories {
            github.set_role(*id, RUNNER, Role::Write);
        }
    }
    let named = ["acme/r0", "acme/r1"].map(|name| RepositoryEntry {
        name: name.parse().unwrap(),
        id: None,
    });
    let token = Identity::Token(Token::new(GITHUB_TOKEN).unwrap());
    let served = ground.serve_as(token, named.into());
    are_ticked_soon_after_the_outage(&ground, &served).await;
}

/// GitHub tells which installations there are, and not which repositories they reach.
#[tokio::test]
async fn an_installation_that_could_not_be_listed_is_listed_again_soon() {
    let ground = ground("/installation/repositories");
    let app = App::new(&APP.to_string(), &ground.pem).unwrap();
    let served = ground.serve_as(Identity::App(app), Vec::new());
    are_ticked_soon_after_the_outage(&ground, &served).await;
}

#[tokio::test]
async fn a_key_that_is_put_there_counts_at_the_next_tick() {
    let ground = ground("/nothing");
    let file = ground.keys.path().join("acme");
    fs::remove_file(&file).unwrap();
    let served = ground.serve();
    served.clock.pass(SignedDuration::from_mins(5)).await;
    assert_eq!(sessions(&ground), 0);
    fs::write(&file, "key-of-no-user").unwrap();
    served.clock.pass(SignedDuration::from_mins(16)).await;
    assert_eq!(sessions(&ground), 0, "Jules refuses this one");
    // Rotated: the file says another key.
    fs::write(&file, "key-of-acme").unwrap();
    served.clock.pass(SignedDuration::from_mins(16)).await;
    assert!(sessions(&ground) >= 2, "{} sessions", sessions(&ground));
}
