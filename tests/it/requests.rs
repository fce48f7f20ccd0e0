//! What a tick costs, counted by the models.

use phileas::sandbox::Shared;
use phileas_world::Face;

use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Phileas, Served, say};

/// Requests of one face, in words.
fn requests(shared: &Shared, face: Face) -> Vec<String> {
    let world = shared.world();
    let requests = world.books().requests.iter().filter(|one| one.face == face);
    requests
        .map(|one| {
            format!("{} {} {}", one.method, one.route, one.fields.join(" "))
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// The requests of one tick of the program's process, to GitHub and to Jules, as the models counted them. What the
/// program says of itself must agree.
#[track_caller]
fn cost(shared: &Shared) -> (Vec<String>, Vec<String>) {
    shared.world().books_mut().reset_requests();
    let served = Served::start(shared, None);
    let ended = Phileas::tick(&served).run().expect(0);
    let (github, jules) = (
        requests(shared, Face::Github),
        requests(shared, Face::Jules),
    );
    let summary = ended.summary();
    assert_eq!(summary["github_requests"], github.len(), "{ended}");
    assert_eq!(summary["jules_requests"], jules.len(), "{ended}");
    (github, jules)
}

fn repository() -> Folder {
    Folder::repository(
        "cycle = [\"curator\", \"refactor\"]\n",
        &["curator", "refactor"],
    )
}

/// Nothing is under way and nothing is due: one read of GitHub tells so, and Jules is left alone.
#[test]
fn an_idle_tick_asks_github_once_and_jules_not_at_all() {
    let repository = repository();
    let shared = quiet_world(&repository, 7, Vec::new());
    for number in 0..8 {
        tick(&shared, &format!("prepared:{number}"));
        shared.pass(MINUTE * 10);
    }
    let (github, jules) = cost(&shared);
    say(&format!(
        "requests: idle tick: {} to GitHub, {} to Jules",
        github.len(),
        jules.len()
    ));
    assert_eq!(github.len(), 1, "{github:?}");
    assert!(jules.is_empty(), "{jules:?}");
}

/// A turn ends and the next one begins: one read, the intent and its session's id, one list and one create.
#[test]
fn a_dispatching_tick_takes_three_and_two() {
    let repository = repository();
    let shared = quiet_world(&repository, 7, Vec::new());
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    let (github, jules) = cost(&shared);
    say(&format!(
        "requests: dispatching tick: {} to GitHub, {} to Jules: {github:?} {jules:?}",
        github.len(),
        jules.len()
    ));
    assert_eq!(
        shared.world().books().sessions.len(),
        2,
        "the second turn has begun"
    );
    let commits = github
        .iter()
        .filter(|one| one.ends_with("createCommitOnBranch"))
        .count();
    assert_eq!((github.len(), commits), (3, 2), "{github:?}");
    let lists = jules.iter().filter(|one| one.starts_with("GET ")).count();
    let creates = jules.iter().filter(|one| one.starts_with("POST ")).count();
    assert!(
        lists <= 1 && creates == 1 && jules.len() == lists + creates,
        "{jules:?}"
    );
}

/// A session at work is looked at by one list.
#[test]
fn a_tick_beside_a_running_session_takes_one_and_one() {
    let repository = repository();
    let shared = quiet_world(&repository, 7, Vec::new());
    tick(&shared, "prepared");
    shared.pass(MINUTE * 2);
    let (github, jules) = cost(&shared);
    say(&format!(
        "requests: tick beside a running session: {} to GitHub, {} to Jules",
        github.len(),
        jules.len()
    ));
    assert_eq!((github.len(), jules.len()), (1, 1), "{github:?} {jules:?}");
}
