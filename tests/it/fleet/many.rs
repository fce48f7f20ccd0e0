//! Many repositories in one process, recounted from the world's books.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use phileas::runtime::inbox::Inbox as _;
use phileas::runtime::ports::Clock as _;
use phileas::sandbox::SharedWorld;
use phileas::sandbox::world_setup::worst_faults;
use phileas_domain::model::RepositoryId;
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs};

use super::clock::settle;
use super::stage::{Ground, Served, Sessions};
use crate::support::judge::made;
use crate::support::print_line;

const fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

fn ground(owners: &[(&str, usize)]) -> Ground {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 9.0,
    };
    Ground::new("2026-01-05T00:00:00Z".parse().unwrap(), owners, &sessions)
}

/// How many sessions of ours each source has.
fn sessions(world: &SharedWorld) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for session in &world.lock_world().books().sessions {
        // The worst of worlds writes names in another case.
        let source = session.source.clone().unwrap().to_lowercase();
        *count.entry(source).or_default() += 1;
    }
    count
}

/// No turn has two sessions.
fn assert_no_doubles(world: &SharedWorld) {
    let sessions = made(&world.lock_world().books().sessions);
    let turns: BTreeSet<_> = sessions
        .iter()
        .map(|one| (one.turn.clone(), one.attempt))
        .collect();
    assert_eq!(turns.len(), sessions.len(), "a turn has two sessions");
}

async fn end(served: Served) {
    served.end.request_shutdown();
    settle().await;
    served.clock.pass(SignedDuration::from_secs(30)).await;
    assert!(served.running.is_finished(), "the service did not end");
    served.running.await.unwrap();
}

/// With every webhook lost, everything is found by looking; and looking costs each key one listing a minute.
#[tokio::test]
async fn thirty_repositories_share_two_keys_listings() {
    let ground = ground(&[("acme", 15), ("umbrella", 15)]);
    let served = ground.serve();
    served.clock.pass(minutes(60)).await;
    let counts = sessions(&ground.world);
    assert_eq!(counts.len(), 30, "each repository is at work: {counts:?}");
    assert!(
        counts.values().all(|count| *count >= 3),
        "outcomes lead on without any webhook: {counts:?}"
    );
    assert_no_doubles(&ground.world);
    let books = ground.world.lock_world().complete_books();
    let mut listings: BTreeMap<(String, i64), usize> = BTreeMap::new();
    for request in &books.requests {
        let first = !request.path.contains("pageToken=");
        let own = !request.path.contains("filter=");
        if request.face == Face::Jules
            && request.route.ends_with("/sessions")
            && first
            && own
            && request.method == "GET"
        {
            let minute = request.at.as_second().div_euclid(60);
            let key = request.identity.clone().unwrap();
            *listings.entry((key, minute)).or_default() += 1;
        }
    }
    let most = listings.values().max().copied().unwrap_or(0);
    let all: usize = listings.values().sum();
    print_line(&format!(
        "30 repositories, two keys, an hour: {all} listings in all, at most {most} a key and minute"
    ));
    // A window of a minute that begins anywhere holds one; a calendar minute may see the end of one and the beginning
    // of another. Beside them stands the deeper listing that each ledger's birth asks for.
    assert!(most <= 2, "{listings:?}");
    assert!(all <= 2 * 62, "{all} listings in an hour");
    let tokens = books
        .requests
        .iter()
        .filter(|request| request.route.ends_with("/access_tokens"))
        .count();
    print_line(&format!(
        "tokens minted for two installations in an hour: {tokens}"
    ));
    assert!(tokens <= 4, "{tokens} tokens");
    end(served).await;
}

#[tokio::test]
async fn a_repository_that_is_taken_away_is_not_ticked_any_more() {
    let ground = ground(&[("acme", 3)]);
    let served = ground.serve();
    served.clock.pass(minutes(10)).await;
    assert_eq!(served.repositories.list_members().len(), 3);
    let lost = ground.repositories[1];
    let name = {
        let mut world = ground.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.remove_from_installation(ground.installations["acme"], lost, now);
        github.full_name(lost)
    };
    // As the event of it does.
    served.changed.notify_one();
    served.clock.pass(SignedDuration::from_secs(30)).await;
    assert_eq!(served.repositories.list_members().len(), 2);
    let before = sessions(&ground.world);
    ground.world.lock_world().books_mut().reset_requests();
    // Traffic of it, which a hook may still send, starts nothing.
    served
        .inbox
        .wake_repository(RepositoryId(lost.0), served.clock.now())
        .await
        .unwrap();
    served.clock.pass(minutes(120)).await;
    let source = format!("sources/github/{name}");
    let after = sessions(&ground.world);
    assert_eq!(
        after.get(&source),
        before.get(&source),
        "nothing is started there"
    );
    assert!(
        after.values().sum::<usize>() > before.values().sum(),
        "the others go on"
    );
    // And it comes back.
    {
        let mut world = ground.world.lock_world();
        let now = world.now();
        world
            .github_mut()
            .add_to_installation(ground.installations["acme"], lost, now);
    }
    served.changed.notify_one();
    served.clock.pass(minutes(60)).await;
    assert!(sessions(&ground.world).get(&source) > before.get(&source));
    end(served).await;
}

/// The worst answers to every open question, and faults beside them: lost requests, lost answers, server errors, limits.
#[tokio::test]
async fn in_the_worst_of_worlds_repositories_go_on_and_nothing_is_doubled() {
    let lengths = Sessions {
        shortest: 4.0,
        longest: 9.0,
    };
    let ground = Ground::with(
        "2026-01-05T00:00:00Z".parse().unwrap(),
        &[("acme", 4), ("umbrella", 4)],
        &lengths,
        Knobs::worst(),
        worst_faults(),
    );
    let served = ground.serve();
    served.clock.pass(SignedDuration::from_hours(8)).await;
    let counts = sessions(&ground.world);
    print_line(&format!("the worst of worlds, eight hours: {counts:?}"));
    assert_eq!(counts.len(), 8, "each repository is at work: {counts:?}");
    assert!(
        counts.values().all(|count| *count >= 2),
        "and goes on: {counts:?}"
    );
    assert_no_doubles(&ground.world);
    let suspended = served.inbox.suspended_repositories().await.unwrap();
    assert!(
        suspended.is_empty(),
        "faults of others suspend no repository: {suspended:?}"
    );
    end(served).await;
}

/// A spent limit stops its own installation's repositories and wakes them when it is renewed.
#[tokio::test]
async fn a_spent_limit_pauses_only_its_own() {
    let ground = ground(&[("acme", 4), ("umbrella", 4)]);
    let served = ground.serve();
    served.clock.pass(minutes(2)).await;
    let (from, until) = {
        let now = ground.world.world_time();
        (now, now + minutes(40))
    };
    ground
        .world
        .lock_world()
        .faults_mut()
        .replace_plan(FaultPlan {
            rules: vec![FaultRule {
                face: Some(Face::Github),
                method: None,
                path: None,
                body: Some("umbrella".to_owned()),
                nth: None,
                probability: None,
                from: Some(from),
                until: Some(until),
                fault: Fault::SecondaryLimit {
                    retry_after: Some(2_400),
                },
            }],
        });
    ground.world.lock_world().books_mut().reset_requests();
    served.clock.pass(minutes(39)).await;
    let refused = {
        let world = ground.world.lock_world();
        let refused = world
            .books()
            .requests
            .iter()
            .filter(|one| one.fault.is_some());
        refused.count()
    };
    let then = sessions(&ground.world);
    let of = |owner: &str, counts: &BTreeMap<String, usize>| -> usize {
        let own = counts.iter().filter(|(source, _)| source.contains(owner));
        own.map(|(_, count)| *count).sum()
    };
    assert!(of("acme", &then) >= 12, "the others went on: {then:?}");
    assert!(of("umbrella", &then) <= 4, "{then:?}");
    print_line(&format!(
        "a limit of 40 minutes over four repositories was met {refused} times"
    ));
    assert!((1..=4).contains(&refused), "it was met {refused} times");
    served.clock.pass(minutes(20)).await;
    let after = sessions(&ground.world);
    assert!(
        of("umbrella", &after) >= 8,
        "they go on by themselves: {after:?}"
    );
    assert_no_doubles(&ground.world);
    end(served).await;
}
