//! What a service costs that looks after ten thousand repositories while nothing happens.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use phileas::runtime::inbox::Inbox as _;
use phileas_domain::model::RepositoryId;
use phileas_world::seed::{Files, Seed};
use tempfile::tempdir;

use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::{Phileas, Served, say};

const REPOSITORIES: usize = 10_000;
/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(10);
/// How long it may take to list them all.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn ten_thousand_idle_repositories_cost_next_to_nothing() {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let ground = Ground::new(Timestamp::now(), &[], &sessions);
    let data = tempdir().unwrap();
    {
        let mut ids = Vec::new();
        let mut world = ground.world.world();
        let now = world.now();
        for n in 0..REPOSITORIES {
            ids.push(world.seed(&Seed::new("acme", &format!("r{n}"), Files::new())));
        }
        world.github_mut().install_app(APP, "acme", None, now);
        let directory = DataDirectory::lock(data.path()).unwrap();
        let inbox = std::sync::Arc::new(SqliteInbox::open(directory, DEFAULT_ROOM).unwrap());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        // All are known, and due tomorrow.
        runtime.block_on(async {
            let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
            let mut waking = tokio::task::JoinSet::new();
            for id in ids {
                let inbox = std::sync::Arc::clone(&inbox);
                waking
                    .spawn(async move { inbox.wake(RepositoryId(id.0), tomorrow).await.unwrap() });
            }
            waking.join_all().await;
        });
    }
    let served = Served::start(&ground.world, None);
    let mut child = Phileas::new(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.path().to_str().unwrap(),
    ])
    .within(&served)
    .without("GITHUB_TOKEN")
    .env("GITHUB_APP_ID", &APP.to_string())
    .env("GITHUB_APP_PRIVATE_KEY", &ground.pem)
    .env("PHILEAS_WEBHOOK_SECRET", SECRET)
    .spawn();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    // It is busy with the listing at first, then it rests.
    let begun = Instant::now();
    let pages = || {
        let world = ground.world.world();
        let listed = world.books().requests.iter();
        listed
            .filter(|request| {
                request.route == "/installation/repositories" && request.status == Some(200)
            })
            .count()
    };
    while pages() < REPOSITORIES / 100 {
        assert!(begun.elapsed() < PATIENCE, "{} pages", pages());
        std::thread::sleep(Duration::from_millis(50));
    }
    let listed = begun.elapsed();
    let id = child.id();
    let mut before = cpu(id);
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = cpu(id);
        if now - before < 0.05 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not come to rest");
        before = now;
    }
    let requests = ground.world.world().books().requests.len();
    let before = cpu(id);
    std::thread::sleep(WATCHED);
    let used = (cpu(id) - before) / WATCHED.as_secs_f64() * 100.0;
    let peak = peak_kib(id) / 1024;
    say(&format!(
        "{REPOSITORIES} idle repositories: {used:.2} % of a core over {} s, {peak} MiB at the most (debug build); listed in {listed:.1?}",
        WATCHED.as_secs()
    ));
    assert_eq!(
        ground.world.world().books().requests.len(),
        requests,
        "nobody is asked anything"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(used <= 1.0, "{used} % of a core");
    assert!(peak <= 150, "{peak} MiB");
}

/// Seconds of processor time that a process has used.
fn cpu(id: u32) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| -> f64 { fields[at].parse().unwrap() };
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// The most memory that a process had at any time.
fn peak_kib(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|text| text.split_whitespace().next()?.parse().ok());
    peak.unwrap()
}
