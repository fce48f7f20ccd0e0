//! Models what a process reads: the head, and a listing that may lack young sessions.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Checks, KeyUsage, Listing, ListingNeed, Mergeable, Pull, PullState, Repository, Sessions,
    Snapshot, read_requests,
};
use phileas_domain::model::{Oid, PullNumber, RepositoryId, SessionId, Tree};
use phileas_domain::plan::{self, Driver};

use crate::world::{Actor, Made, Observation, World};

/// How often a process reads before it decides: the runtime's own limit.
const MAX_READS: usize = 5;

/// The constant part of a snapshot.
pub(crate) fn blank(schedules: &str, now: Timestamp) -> Snapshot {
    let mut files = vec![(plan::SCHEDULES_PATH.to_owned(), schedules.to_owned())];
    for id in ["a", "b"] {
        let text = format!("---\nid: {id}\nemoji: \"🔧\"\n---\nDo the work of {id}.\n");
        files.push((format!(".jules/personas/{id}/prompt.md"), text));
    }
    let tree = Tree::from_texts(files);
    let repository = Repository {
        id: RepositoryId(42),
        name: "acme/widget".parse().unwrap(),
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: None,
        default_checks: Checks::None,
    };
    let snapshot = Snapshot {
        holder: "absent".into(),
        driver: Driver::Server,
        ..Snapshot::unread(now, repository, tree)
    };
    assert_eq!(snapshot.plan_diagnostics, []);
    snapshot
}

/// The snapshot for a decision: what the process read, and the current time.
pub(crate) fn snapshot(
    blank: &Snapshot,
    world: &World,
    actor: &Actor,
    observation: &Observation,
) -> Snapshot {
    let mut snapshot = blank.clone();
    snapshot.now = world.now;
    snapshot.holder = actor.holder.clone();
    snapshot.repository.default_head = Some(Oid::new(format!("{:040x}", world.pushes + 1)));
    snapshot.ledger = observation.version.ledger.clone();
    snapshot.sessions = (*observation.listing).clone();
    snapshot.notices.clone_from(&world.notices);
    if let Listing::Taken(listing) = &*observation.listing {
        for session in &listing.sessions {
            snapshot.activities.insert(session.id.clone(), Vec::new());
        }
    }
    for (number, created_at) in observation.pulls.iter() {
        snapshot.pulls.insert(*number, pull(*number, *created_at));
    }
    snapshot
}

fn pull(number: PullNumber, created_at: Timestamp) -> Pull {
    Pull {
        number,
        state: PullState::Open,
        draft: false,
        title: "work".to_owned(),
        body: String::new(),
        author: "google-labs-jules[bot]".into(),
        bot_id: None,
        head: format!("work-{number}").into(),
        head_oid: "00".into(),
        same_repository: true,
        base: "main".into(),
        created_at,
        closed_at: None,
        reviewed: true,
        checks: Checks::None,
        mergeable: Mergeable::Yes,
    }
}

/// Reads the head and, if the engine requests it, Jules' listing, `ago` before now. The bits of `hidden` are the
/// sessions that the listing lacks.
pub(crate) fn observe(
    blank: &Snapshot,
    now: &World,
    actor: &Actor,
    hidden: u32,
    ago: SignedDuration,
) -> Observation {
    let mut world = now.clone();
    world.now = now.now.checked_sub(ago).unwrap();
    world.sessions.retain(|made| made.arrived_at <= world.now);
    let world = &world;
    let pulls = world.sessions.iter().flat_map(|made| {
        let session = &made.session;
        session
            .pulls
            .iter()
            .map(|number| (*number, session.created_at))
    });
    let mut observation = Observation {
        pulls: pulls.collect(),
        version: Arc::clone(&world.head),
        listing: Arc::new(Listing::NotTaken),
        taken_at: world.now,
    };
    for _ in 0..MAX_READS {
        let needs = read_requests(&snapshot(blank, world, actor, &observation));
        assert!(needs.pulls.is_empty() && needs.texts.is_empty() && needs.activities.is_empty());
        if let Some(need) = needs.listing {
            observation.listing = Arc::new(Listing::Taken(list(world, need, hidden)));
        } else if !ask_for(world, &needs.sessions, &mut observation) {
            return observation;
        }
    }
    panic!("what a process needs does not converge");
}

/// Requests sessions by id; they are never deleted here. Returns whether there were any to request.
fn ask_for(world: &World, ids: &BTreeSet<SessionId>, observation: &mut Observation) -> bool {
    let Listing::Taken(listing) = &*observation.listing else {
        return false;
    };
    let made = world.sessions.iter().map(|made| &made.session);
    let found: Vec<_> = made.filter(|one| ids.contains(&one.id)).cloned().collect();
    if found.is_empty() {
        return false;
    }
    let mut listing = listing.clone();
    listing.sessions.retain(|one| !ids.contains(&one.id));
    listing.sessions.extend(found);
    listing
        .sessions
        .sort_by_key(|one| (one.created_at, one.id.clone()));
    observation.listing = Arc::new(Listing::Taken(listing));
    true
}

fn list(world: &World, need: ListingNeed, hidden: u32) -> Sessions {
    let (since, archived) = match need {
        ListingNeed::Since(since) => (Some(since), false),
        ListingNeed::CompleteSince(since) => (Some(since), true),
        ListingNeed::Everything => (None, true),
    };
    let shown = |index: usize, made: &Made| {
        hidden & (1 << index) == 0
            && since.is_none_or(|since| made.session.created_at >= since)
            && (archived || !made.session.archived)
    };
    let sessions: Vec<_> = world
        .sessions
        .iter()
        .enumerate()
        .filter(|(index, made)| shown(*index, made))
        .map(|(_, made)| made.session.clone())
        .collect();
    let count = |wanted: &dyn Fn(&Made) -> bool| {
        u32::try_from(world.sessions.iter().filter(|made| wanted(made)).count()).unwrap()
    };
    Sessions {
        taken_at: world.now,
        since,
        archived,
        sessions,
        key: KeyUsage {
            active: count(&Made::is_live),
            created_last_day: count(&|made| {
                world.age(made.session.created_at) < SignedDuration::from_hours(24)
            }),
        },
    }
}
