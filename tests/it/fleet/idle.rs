//! What a service costs that looks after ten thousand repositories while nothing happens.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use phileas::runtime::driver::next_reconcile;
use phileas::runtime::inbox::{Inbox as _, LONGEST_REST};
use phileas_domain::model::RepositoryId;
use phileas_world::seed::{Files, Seed};
use tempfile::tempdir;

use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::{Phileas, Served, print_line};

const REPOSITORIES: usize = 10_000;
/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(20);
/// How long it may take to list them all on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// How many of them have their hourly look while it is watched.
const LOOKED_AT: usize = REPOSITORIES * WATCHED.as_secs() as usize / 3_600;

#[test]
fn ten_thousand_idle_repositories_cost_next_to_nothing() {
    let service = Service::start();
    let before = service.requests();
    let quiet = service.watch();
    print_line(&format!(
        "{REPOSITORIES} idle repositories, none due: {:.2} % of a core over {} s",
        quiet.share(),
        WATCHED.as_secs()
    ));
    assert_eq!(service.requests(), before, "no request is sent");

    // What an hour brings to all of them, spread evenly over it, falls due here while it is watched.
    service.come_due();
    let looks = service.watch();
    // The last one may still be at it.
    let begun = Instant::now();
    while service.requests() - before < LOOKED_AT {
        assert!(begun.elapsed() < PATIENCE, "not all were looked at");
        std::thread::sleep(Duration::from_millis(50));
    }
    let asked = service.requests() - before;
    let peak = peak_kib(service.id()) / 1024;
    print_line(&format!(
        "{REPOSITORIES} idle repositories with their hourly looks: {:.2} % of a core over {} s ({} looks, {:.2} ms \
         each), {peak} MiB at the most; listed in {:.1?}",
        looks.share(),
        WATCHED.as_secs(),
        LOOKED_AT,
        (looks.cpu - quiet.cpu) * 1_000.0 / LOOKED_AT as f64,
        service.listed,
    ));
    // One request for each.
    assert_eq!(asked, LOOKED_AT, "{:#?}", service.last_requests(asked));
    assert!(peak <= 150, "{peak} MiB");
}

/// A service over ten thousand repositories that has come to rest.
struct Service {
    ground: Ground,
    data: tempfile::TempDir,
    ids: Vec<RepositoryId>,
    child: std::process::Child,
    /// How long it took until all were listed.
    listed: Duration,
    _served: Served,
}

/// What was used while it was watched.
struct Used {
    /// Seconds of processor time.
    cpu: f64,
}

impl Used {
    /// Of a core, in percent.
    fn share(&self) -> f64 {
        self.cpu / WATCHED.as_secs_f64() * 100.0
    }
}

impl Service {
    /// Starts it with all repositories known and due in an hour, and waits until it rests.
    fn start() -> Self {
        let sessions = Sessions {
            shortest: 4.0,
            longest: 6.0,
        };
        let ground = Ground::new(Timestamp::now(), &[], &sessions);
        let data = tempdir().unwrap();
        let ids: Vec<RepositoryId> = {
            let mut world = ground.world.lock_world();
            let now = world.now();
            let seeded = (0..REPOSITORIES)
                .map(|n| world.seed(&Seed::new("acme", &format!("r{n}"), Files::new())))
                .map(|id| RepositoryId(id.0))
                .collect();
            world.github_mut().install_app(APP, "acme", None, now);
            seeded
        };
        {
            let directory = DataDirectory::lock_directory(data.path()).unwrap();
            let inbox = SqliteInbox::open(directory, DEFAULT_ROOM, Timestamp::now()).unwrap();
            let later = Timestamp::now() + LONGEST_REST;
            wake_all(inbox, ids.iter().map(|id| (*id, later)));
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
        let begun = Instant::now();
        let mut service = Self {
            ground,
            data,
            ids,
            child,
            listed: Duration::ZERO,
            _served: served,
        };
        // It is busy with the listing at first, then it rests.
        while service.pages() < REPOSITORIES / 100 {
            assert!(begun.elapsed() < PATIENCE, "{} pages", service.pages());
            std::thread::sleep(Duration::from_millis(50));
        }
        service.listed = begun.elapsed();
        let mut before = cpu(service.id());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = cpu(service.id());
            if now - before < 0.05 {
                return service;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not come to rest");
            before = now;
        }
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn pages(&self) -> usize {
        let world = self.ground.world.lock_world();
        let listed = world.books().requests.iter();
        listed
            .filter(|request| {
                request.route == "/installation/repositories" && request.status == Some(200)
            })
            .count()
    }

    /// Requests about repositories. The App's own, for its token and for failed deliveries a minute after the start, are
    /// not what is asked here.
    fn requests(&self) -> usize {
        let world = self.ground.world.lock_world();
        let requests = world.books().requests.iter();
        requests
            .filter(|request| !request.route.starts_with("/app/"))
            .count()
    }

    /// The last so many of them.
    fn last_requests(&self, many: usize) -> Vec<String> {
        let world = self.ground.world.lock_world();
        let requests = world.books().requests.iter().rev();
        requests
            .filter(|request| !request.route.starts_with("/app/"))
            .take(many)
            .map(|request| format!("{request:?}"))
            .collect()
    }

    /// Makes as many repositories due, one after another while it is watched, as an hour would bring in that time.
    fn come_due(&self) {
        let inbox = SqliteInbox::open_beside_service(self.data.path()).unwrap();
        let step = SignedDuration::try_from(WATCHED / (LOOKED_AT as u32 + 1)).unwrap();
        let begin = Timestamp::now();
        let due = (1..).map(|n| begin + step * n);
        // One whose own place in the hour comes while it is watched would be looked at twice.
        let soon = begin + SignedDuration::from_mins(5);
        let ids = self.ids.iter().copied();
        let alone = ids.filter(|id| next_reconcile(*id, begin) > soon);
        wake_all(inbox, alone.zip(due).take(LOOKED_AT));
    }

    fn watch(&self) -> Used {
        let before = cpu(self.id());
        std::thread::sleep(WATCHED);
        let cpu = cpu(self.id()) - before;
        Used { cpu }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn wake_all(inbox: SqliteInbox, due: impl Iterator<Item = (RepositoryId, Timestamp)>) {
    let inbox = std::sync::Arc::new(inbox);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut waking = tokio::task::JoinSet::new();
        for (id, at) in due {
            let inbox = std::sync::Arc::clone(&inbox);
            waking.spawn(async move { inbox.wake_repository(id, at).await.unwrap() });
        }
        waking.join_all().await;
    });
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
