//! Two ticks at the same time: whichever wins, no turn gets two sessions.

use std::sync::Arc;

use phileas::adapters::github::{self, Base, Credential, Token};
use phileas::adapters::jules::{self, JulesKey, RepositoryJules};
use phileas::runtime::Tick;
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::{SharedWorld, VirtualTime, world_setup};
use phileas_world::Face;
use phileas_world::chance::Chance;

use crate::support::judge::{self, one_session_a_turn};
use crate::support::ticks::{MINUTE, pass_until, quiet_world, settings, tick};
use crate::support::turnstile::{Choice, Queued, Turnstile, next_script};
use crate::support::{Folder, Phileas, Served, print_line};

/// How many orders of two births are drawn by chance; there are too many to try each.
const BIRTHS: u64 = 100;
/// How many pairs of processes race.
const PAIRS: u64 = 8;
/// How many choices a drawn script holds; further ones go to the first.
const SCRIPT: usize = 40;
/// Trying every order ends in far fewer runs; more would mean that the ticks never end.
const MOST_ORDERS: usize = 20_000;

fn repository() -> Folder {
    Folder::repository(
        "cycle = [\"curator\", \"refactor\"]\n",
        &["curator", "refactor"],
    )
}

/// A world whose first session has just ended: the next tick settles it and dispatches the second.
fn before_second_dispatch(repository: &Folder, seed: u64) -> SharedWorld {
    let shared = quiet_world(repository, seed, Vec::new());
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    shared
}

/// Two ticks over one world in this process, in the order that the script chooses; answers with the choices made
/// and with how many commits were refused because the other was faster.
fn race(shared: &SharedWorld, script: Vec<usize>) -> (Vec<Choice>, usize) {
    let turnstile = Turnstile::new(2, script);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (one, other) = runtime.block_on(async {
        tokio::join!(racer(shared, &turnstile, 0), racer(shared, &turnstile, 1))
    });
    (turnstile.taken(), one + other)
}

async fn racer(shared: &SharedWorld, turnstile: &Arc<Turnstile>, who: usize) -> usize {
    let transport = |face| {
        Arc::new(Queued {
            who,
            turnstile: Arc::clone(turnstile),
            world: InProcess::new(shared.clone(), face),
        })
    };
    let time = VirtualTime::new(shared.clone());
    let github = github::Client::new(github::Settings {
        repository: world_setup::repository_name(),
        credential: Credential::Token(Token::new(world_setup::GITHUB_TOKEN).unwrap()),
        base: Base::default(),
        transport: transport(Face::Github),
        pause: Arc::new(time.clone()),
        seed: who as u64,
    });
    let client = Arc::new(jules::Client::new(
        jules::Settings::new(JulesKey::new(world_setup::JULES_KEY).unwrap()),
        transport(Face::Jules),
        Arc::new(time.clone()),
        Arc::new(time.clone()),
    ));
    let jules = RepositoryJules::new(client, world_setup::repository_name());
    let tick = Tick {
        github: &github,
        jules: &jules,
        stopwatch: &time,
    };
    let result = tick
        .run(&settings(&format!("racer:{who}"), who as u8))
        .await;
    turnstile.leave();
    match result {
        Ok(report) => report.lost_races,
        Err(error) => panic!("racer {who}: {error}"),
    }
}

/// Lets the world come to rest, and counts.
fn judge_in_the_end(shared: &SharedWorld, context: &str) {
    for round in 0..12 {
        shared.advance_time(MINUTE * 16);
        let report = tick(shared, &format!("later:{round}"));
        if report.commits == 0 && judge::live_turns(&judge::state(shared)) == 0 {
            break;
        }
    }
    let state = judge::state(shared);
    assert_eq!(judge::live_turns(&state), 0, "{context}: {state}");
    let sessions = shared.lock_world().books().sessions.clone();
    assert_eq!(
        one_session_a_turn(&sessions, &state, context),
        2,
        "{context}"
    );
    assert_eq!(sessions.len(), 2, "{context}");
}

#[test]
fn every_order_of_two_dispatching_ticks_starts_one_session() {
    let repository = repository();
    let mut script = Some(Vec::new());
    let (mut orders, mut lost) = (0, 0);
    while let Some(choices) = script {
        orders += 1;
        assert!(orders <= MOST_ORDERS, "{choices:?}");
        let shared = before_second_dispatch(&repository, 7);
        let (taken, races) = race(&shared, choices);
        lost += usize::from(races > 0);
        judge_in_the_end(&shared, &format!("order {taken:?}"));
        script = next_script(&taken);
    }
    assert!(
        lost > 20,
        "in {lost} of {orders} orders a commit was refused: the ticks hardly met"
    );
    print_line(&format!(
        "race: every one of {orders} orders of two ticks that settle and dispatch; in {lost} a commit was refused"
    ));
}

#[test]
fn two_births_make_one_ledger_and_one_session() {
    let repository = repository();
    let mut lost = 0;
    for seed in 0..BIRTHS {
        let mut chance = Chance::new(seed).stream("order");
        let script = (0..SCRIPT).map(|_| chance.draw_below(2) as usize).collect();
        let shared = quiet_world(&repository, seed, Vec::new());
        let (taken, races) = race(&shared, script);
        lost += usize::from(races > 0);
        judge_in_the_end(&shared, &format!("seed {seed}, order {taken:?}"));
    }
    assert!(lost > 0, "the births never met");
    print_line(&format!(
        "race: {BIRTHS} drawn orders of two births; in {lost} the branch was there already"
    ));
}

/// A label is met by two ticks at once: it has one session, and what people see of it is there once.
#[test]
fn two_ticks_that_meet_a_label_start_one_session_and_write_one_comment() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let prompt = "---\nid: refactor\nplan_approval: auto\n---\nDo the work of refactor.\n";
    repository.write(".jules/personas/refactor/prompt.md", prompt);
    let mut lost = 0;
    for seed in 0..BIRTHS {
        let mut chance = Chance::new(seed).stream("order");
        let script = (0..SCRIPT).map(|_| chance.draw_below(2) as usize).collect();
        let shared = quiet_world(&repository, seed, Vec::new());
        tick(&shared, "prepared");
        let (repo, issue) = {
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github.repository_by_name(world_setup::OWNER, world_setup::NAME);
            let repo = repo.unwrap();
            let issue = github.open_issue(repo, "It is slow", "Very.", &[], "outsider", now);
            github.add_label(repo, issue, "phileas:refactor", "maintainer", now);
            (repo, issue)
        };
        let (taken, races) = race(&shared, script);
        lost += usize::from(races > 0);
        let context = format!("seed {seed}, order {taken:?}");
        judge_in_the_end(&shared, &context);
        let world = shared.lock_world();
        let comments: Vec<_> = world.github().comments(repo, issue).collect();
        assert_eq!(comments.len(), 1, "{context}: {comments:?}");
        assert!(
            comments[0].body.contains(" is open since"),
            "{context}: {comments:?}"
        );
    }
    assert!(lost > 0, "the ticks never met");
    print_line(&format!(
        "race: {BIRTHS} drawn orders of two ticks that meet a label; in {lost} a commit was refused"
    ));
}

/// The same with the program's own processes, at birth and at a dispatch.
#[test]
fn two_processes_start_one_session() {
    let repository = repository();
    for seed in 0..PAIRS {
        let shared = match seed % 2 {
            0 => quiet_world(&repository, seed, Vec::new()),
            _ => before_second_dispatch(&repository, seed),
        };
        let mut chance = Chance::new(seed).stream("order");
        let script = (0..SCRIPT).map(|_| chance.draw_below(2) as usize).collect();
        let turnstile = Turnstile::new(2, script);
        let served = Served::start(&shared, Some(Arc::clone(&turnstile) as _));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let ended = Phileas::tick(&served).run();
                    turnstile.leave();
                    ended.expect(0);
                });
            }
        });
        assert!(
            !turnstile.taken().is_empty(),
            "seed {seed}: the processes never met"
        );
        drop(served);
        judge_in_the_end(
            &shared,
            &format!("processes, seed {seed}, order {:?}", turnstile.taken()),
        );
    }
    print_line(&format!("race: {PAIRS} pairs of processes"));
}
