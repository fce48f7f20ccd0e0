//! What a tick costs, counted by the models.

use phileas::sandbox::{SharedWorld, world_setup};
use phileas_world::Face;

use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Phileas, Served, print_line};

/// Requests of one face, in words.
fn requests(shared: &SharedWorld, face: Face) -> Vec<String> {
    let world = shared.lock_world();
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
fn cost(shared: &SharedWorld) -> (Vec<String>, Vec<String>) {
    shared.lock_world().books_mut().reset_requests();
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
        shared.advance_time(MINUTE * 10);
    }
    let (github, jules) = cost(&shared);
    print_line(&format!(
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
    print_line(&format!(
        "requests: dispatching tick: {} to GitHub, {} to Jules: {github:?} {jules:?}",
        github.len(),
        jules.len()
    ));
    assert_eq!(
        shared.lock_world().books().sessions.len(),
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
    shared.advance_time(MINUTE * 2);
    let (github, jules) = cost(&shared);
    print_line(&format!(
        "requests: tick beside a running session: {} to GitHub, {} to Jules",
        github.len(),
        jules.len()
    ));
    assert_eq!((github.len(), jules.len()), (1, 1), "{github:?} {jules:?}");
}

/// Accounts without write access delay no writer's command, however many of them write, and wherever; and what they cost
/// ends.
#[test]
fn a_writer_stops_phileas_under_a_flood_of_comments() {
    for (count, threads, word) in [(57, 1, "pause"), (57, 57, "stop"), (2_500, 130, "stop")] {
        let repository = repository();
        let shared = quiet_world(&repository, 7, Vec::new());
        tick(&shared, "prepared");
        shared.advance_time(MINUTE * 3);
        {
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let mut open = |title: &str| github.open_issue(repo, title, "", &[], "outsider", now);
            let own = open("Please");
            let issues: Vec<u64> = (0..threads).map(|_| open("Hello")).collect();
            let mut says = |issue: u64, body: &str, who: &str| {
                github.comment(repo, issue, body, who, now);
            };
            for number in 0..count {
                if number == count / 2 {
                    says(own, &format!("/phileas {word}"), "maintainer");
                }
                let who = format!("outsider-{number}");
                says(issues[number % threads], "/phileas run curator", &who);
                says(own, "/phileas stop", &who);
            }
        }
        let (github, _) = cost(&shared);
        let state = crate::support::judge::state(&shared);
        assert!(!state["paused"].is_null(), "{count} {word}: {github:?}");
        assert!(github.len() <= 100, "{count}: {}", github.len());
        let by_account = |requests: &[String]| {
            let asked = requests.iter().filter(|one| one.contains("/permission"));
            asked.count()
        };
        assert!(by_account(&github) <= 50, "{github:?}");
        // They are worked off, and then cost nothing more.
        if count == 57 {
            let mut left = usize::MAX;
            for _ in 0..26 {
                shared.advance_time(MINUTE * 20);
                left = by_account(&cost(&shared).0);
            }
            assert_eq!(left, 0, "{word}: they are looked up for ever");
        }
    }
}

/// Layers that have nothing to do: what they look at is compared by its ids, and not read again.
#[test]
fn an_idle_tick_of_layers_asks_github_once_and_jules_not_at_all() {
    for (name, start) in [
        ("follows itself", ""),
        ("begins hourly", "start = \"0 * * * *\"\n"),
    ] {
        let repository = layered(start);
        let shared = quiet_world(&repository, 7, Vec::new());
        settle_down(&shared);
        let (github, jules) = cost(&shared);
        print_line(&format!(
            "requests: idle tick of a track of layers that {name}: {} to GitHub, {} to Jules",
            github.len(),
            jules.len()
        ));
        assert_eq!(github.len(), 1, "{name}: {github:?}");
        assert!(jules.is_empty(), "{name}: {jules:?}");
    }
}

/// What changes there is seen by the next tick all the same.
#[test]
fn layers_that_had_nothing_to_do_see_what_changes() {
    let event = "schema_version: 1\nid: \"pend01\"\nissue_id: \"\"\ncreated_at: 2026-01-05\nauthor_role: errors\n\
                 confidence: high\ntitle: Empty input counts as one word\n\
                 statement: The counter splits an empty text and counts the empty piece.\n\
                 evidence:\n  - path: src/lib.rs\n    loc: [12]\n    note: The result is counted as it is.\n";
    for (branch, path, text, persona) in [
        (
            "jules",
            ".jules/exchange/events/pending/empty-input.yml",
            event,
            "decider",
        ),
        (
            "main",
            "src/lib.rs",
            "//! Another one.\n",
            "observers/errors",
        ),
    ] {
        let repository = layered("");
        let shared = quiet_world(&repository, 7, Vec::new());
        settle_down(&shared);
        let before = shared.lock_world().books().sessions.len();
        push(&shared, branch, path, text);
        tick(&shared, "after");
        let world = shared.lock_world();
        let sessions = &world.books().sessions;
        assert_eq!(sessions.len(), before + 1, "{branch}: {path}");
        let last = sessions.last().unwrap().prompt.lines().last().unwrap();
        assert!(last.ends_with(&format!("persona={persona}")), "{last}");
    }
}

fn layered(start: &str) -> Folder {
    let plan = format!(
        "[tracks.layers]\nsteps = [\"layer:observers\", \"layer:decider\", \"layer:planner\"]\n{start}"
    );
    let repository = Folder::repository(&plan, &[]);
    repository.write("src/lib.rs", "//! A library.\n");
    let config = "version = 1\n[observers]\nroles = [\"errors\"]\n";
    repository.write(".jlo/config.toml", config);
    repository
}

/// One observer, one decider, and then nothing more.
fn settle_down(shared: &SharedWorld) {
    // The second start of a track that begins hourly finds nothing, and stays due.
    for number in 0..14 {
        tick(shared, &format!("prepared:{number}"));
        shared.advance_time(MINUTE * 10);
    }
    let sessions = shared.lock_world().books().sessions.len();
    assert_eq!(sessions, 2, "an observer and a decider have worked");
}

fn push(shared: &SharedWorld, branch: &str, path: &str, text: &str) {
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let repo = github
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    let parent = github.branch_head(repo, branch);
    let files = [(path.to_owned(), Some(text.to_owned().into()))];
    let commit = github.commit_files(repo, parent, &files, "maintainer", "Change", now);
    github.move_branch(repo, branch, commit, "maintainer", now);
}
