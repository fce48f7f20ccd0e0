//! A world with many repositories, an App that is installed on them, and the service's own parts in this process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use jiff::Timestamp;
use phileas::adapters::entropy::SystemEntropy;
use phileas::adapters::github::{self, App};
use phileas::adapters::jules;
use phileas::adapters::transport::Transport;
use phileas::jobs::EventsFile;
use phileas::runtime::driver::{Bounds, Heartbeat};
use phileas::sandbox::{SharedWorld, VirtualTime};
use phileas::server::accounts::app::Identity;
use phileas::server::accounts::external_services::ExternalServices;
use phileas::server::accounts::keys::Keys;
use phileas::server::admin::feed::Feed;
use phileas::server::config::RepositoryEntry;
use phileas::server::repositories::{Repositories, Source};
use phileas::server::shutdown::ShutdownTrigger;
use phileas::server::worker::driver::Driver as _;
use phileas::server::worker::ticks::Ticks;
use phileas::server::{Fleet, shutdown_pair};
use phileas_domain::model::Holder;
use phileas_world::github::NewApp;
use phileas_world::github::RepoId;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::hook::Target;
use phileas_world::jules::{Account, Config, Installed, Scenario, Tier, Weights};
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::seed::{Seed, files};
use phileas_world::{Face, FaultPlan, Knobs, World, WorldConfig};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::clock::StillClock;
use super::way::Way;
use crate::support::memory_inbox::MemoryInbox;

/// The App's number.
pub(crate) const APP: u64 = 77;
/// The secret of its webhook.
pub(crate) const SECRET: &str = "0123456789abcdef-test-secret-of-hooks";

/// How many personas a cycle has. Each runs once on a default branch that does not move.
pub(crate) const PERSONAS: usize = 24;

/// One after another, each when the pull request of the one before is open. As many sessions as the tier has.
fn plan() -> String {
    let cycle: Vec<String> = (0..PERSONAS).map(|n| format!("\"p{n}\"")).collect();
    format!(
        "cycle = [{}]\n[budget]\nmax_active = 1\ndaily_sessions = 300\nmax_open_pulls = 100\ntier = \"ultra\"\n",
        cycle.join(", ")
    )
}

/// A world with so many repositories of each owner. Each owner has a Jules key of its own, called `key-of-<owner>`, and
/// an installation of the App.
pub(crate) struct Ground {
    pub(crate) world: SharedWorld,
    pub(crate) repositories: Vec<RepoId>,
    /// By owner.
    pub(crate) installations: BTreeMap<String, u64>,
    /// The App's private key, PEM.
    pub(crate) pem: String,
    /// Files with the Jules keys.
    pub(crate) keys: TempDir,
}

/// How long sessions take, in minutes.
pub(crate) struct Sessions {
    pub(crate) shortest: f64,
    pub(crate) longest: f64,
}

impl Ground {
    pub(crate) fn new(start: Timestamp, owners: &[(&str, usize)], sessions: &Sessions) -> Self {
        Self::with(
            start,
            owners,
            sessions,
            Knobs::documented(),
            FaultPlan::default(),
        )
    }

    /// The same with a maintainer who merges everything within minutes, so that the personas go on for days.
    pub(crate) fn tended(start: Timestamp, owners: &[(&str, usize)], sessions: &Sessions) -> Self {
        let usual = (Knobs::documented(), FaultPlan::default());
        Self::timed(start, owners, sessions, usual, ReviewPolicy::eager())
    }

    /// The same with these answers to the open questions, and these faults.
    pub(crate) fn with(
        start: Timestamp,
        owners: &[(&str, usize)],
        sessions: &Sessions,
        knobs: Knobs,
        faults: FaultPlan,
    ) -> Self {
        Self::timed(
            start,
            owners,
            sessions,
            (knobs, faults),
            ReviewPolicy::absent(),
        )
    }

    fn timed(
        start: Timestamp,
        owners: &[(&str, usize)],
        sessions: &Sessions,
        (knobs, faults): (Knobs, FaultPlan),
        review_policy: ReviewPolicy,
    ) -> Self {
        let jules = Config {
            asks: 0.0,
            weights: Weights::only_changes(),
            shortest_minutes: sessions.shortest,
            longest_minutes: sessions.longest,
            ..Config::default()
        };
        let files = |_: &str, _| Vec::new();
        Self::of(
            start,
            owners,
            jules,
            (|_| plan(), files),
            knobs,
            faults,
            review_policy,
        )
    }

    /// The same with sessions that go as they are told, and a plan for each repository by its number.
    pub(crate) fn scripted(
        start: Timestamp,
        owners: &[(&str, usize)],
        scenarios: Vec<Scenario>,
        plan: impl Fn(usize) -> String,
    ) -> Self {
        let jules = Config {
            scenarios,
            asks: 0.0,
            ..Config::default()
        };
        let (knobs, faults) = (Knobs::documented(), FaultPlan::default());
        let files = |_: &str, _| Vec::new();
        Self::of(
            start,
            owners,
            jules,
            (plan, files),
            knobs,
            faults,
            ReviewPolicy::absent(),
        )
    }

    /// The same with further files of each repository, by its owner and number.
    pub(crate) fn with_files(
        start: Timestamp,
        owners: &[(&str, usize)],
        sessions: &Sessions,
        files: impl Fn(&str, usize) -> Vec<(String, String)>,
    ) -> Self {
        let jules = Config {
            asks: 0.0,
            weights: Weights::only_changes(),
            shortest_minutes: sessions.shortest,
            longest_minutes: sessions.longest,
            ..Config::default()
        };
        let (knobs, faults) = (Knobs::documented(), FaultPlan::default());
        let plan = |_| plan();
        Self::of(
            start,
            owners,
            jules,
            (plan, files),
            knobs,
            faults,
            ReviewPolicy::absent(),
        )
    }

    fn of(
        start: Timestamp,
        owners: &[(&str, usize)],
        jules: Config,
        (plan, more): (
            impl Fn(usize) -> String,
            impl Fn(&str, usize) -> Vec<(String, String)>,
        ),
        knobs: Knobs,
        faults: FaultPlan,
        review_policy: ReviewPolicy,
    ) -> Self {
        let keys = tempfile::tempdir().unwrap();
        let accounts = owners.iter().map(|(owner, count)| {
            let key = format!("key-of-{owner}");
            std::fs::write(keys.path().join(owner), &key).unwrap();
            let mut account = Account::new(owner, &key);
            account.tier = Tier::Ultra;
            account.installed = (0..*count)
                .map(|n| Installed::new(owner, &format!("r{n}")))
                .collect();
            account
        });
        let mut world = World::new(WorldConfig {
            start,
            seed: 11,
            knobs,
            faults,
            review_policy,
            jules: Config {
                accounts: accounts.collect(),
                ..jules
            },
        });
        let mut tree = files(&[("README.md", "# Widget\n")]);
        for n in 0..PERSONAS {
            let path = format!(".jules/personas/p{n}/prompt.md");
            tree.insert(path, persona(&format!("p{n}")).into());
        }
        let mut repositories = Vec::new();
        for (owner, count) in owners {
            for n in 0..*count {
                let mut tree = tree.clone();
                tree.insert(".jules/schedules.toml".to_owned(), plan(n).into());
                for (path, text) in more(owner, n) {
                    tree.insert(path, text.into());
                }
                let mut seed = Seed::new(owner, &format!("r{n}"), tree);
                seed.labels = vec!["phileas".to_owned()];
                repositories.push(world.seed(&seed));
            }
        }
        let (pem, public) = key();
        let github = world.github_mut();
        let app = NewApp {
            id: APP,
            slug: "phileas-test".to_owned(),
            owner: "keeper".to_owned(),
            permissions: permissions(&[
                ("contents", Access::Write),
                ("issues", Access::Write),
                ("pull_requests", Access::Write),
                ("checks", Access::Read),
                ("statuses", Access::Read),
                ("metadata", Access::Read),
            ]),
            events: vec!["*".to_owned()],
            hook: Some(Target {
                url: "http://127.0.0.1:1/webhook".to_owned(),
                secret: Some(SECRET.to_owned()),
                content_type: "json".to_owned(),
            }),
            public_key: Some(public),
        };
        github.add_app(app, start);
        let installations = owners
            .iter()
            .map(|(owner, _)| {
                let own: Vec<RepoId> = repositories
                    .iter()
                    .copied()
                    .filter(|id| github.full_name(*id).starts_with(&format!("{owner}/")))
                    .collect();
                let id = github.install_app(APP, owner, Some(&own), start);
                ((*owner).to_owned(), id)
            })
            .collect();
        Self {
            world: SharedWorld::new(world),
            repositories,
            installations,
            pem,
            keys,
        }
    }

    /// Starts the service's parts on the world's own clock. All webhooks are lost.
    pub(crate) fn serve(&self) -> Served {
        let app = App::new(&APP.to_string(), &self.pem).unwrap();
        self.serve_as(Identity::App(app), Vec::new())
    }

    /// The same with an identity, for these repositories alone where any are named.
    pub(crate) fn serve_as(&self, identity: Identity, named: Vec<RepositoryEntry>) -> Served {
        let clock = StillClock::of(&self.world);
        let parts = Parts {
            named,
            keys: self.keys.path().to_owned(),
            to_github: Arc::new(self.way(Face::Github, &clock)),
            run: "serve:test",
        };
        let inbox = Arc::new(MemoryInbox::new(10_000));
        self.start(identity, parts, (inbox, clock))
    }

    /// Another service on the inbox of the first, with parts of its own.
    pub(crate) fn serve_beside(&self, first: &Served, parts: Parts) -> Served {
        let app = App::new(&APP.to_string(), &self.pem).unwrap();
        let shared = (Arc::clone(&first.inbox), first.clock.clone());
        self.start(Identity::App(app), parts, shared)
    }

    /// The way of a service to a face of the world.
    pub(super) fn way(&self, face: Face, clock: &StillClock) -> Way {
        Way {
            world: self.world.clone(),
            face,
            clock: clock.clone(),
        }
    }

    fn start(
        &self,
        identity: Identity,
        parts: Parts,
        (inbox, clock): (Arc<MemoryInbox>, StillClock),
    ) -> Served {
        let Parts {
            named,
            keys,
            to_github,
            run,
        } = parts;
        let time = Arc::new(VirtualTime::new(self.world.clone()));
        let outside = ExternalServices {
            github: github::Base::default(),
            jules: jules::Base::default(),
            to_github,
            to_jules: Arc::new(self.way(Face::Jules, &clock)),
            pause: Arc::new(clock.clone()),
            stopwatch: time,
            entropy: Arc::new(SystemEntropy),
        };
        let source = Source::new(identity, named, &outside);
        let keys = Keys::new(None, Some(keys));
        let changed = Arc::new(Notify::new());
        let repositories = Arc::new(Repositories::new(
            source,
            keys,
            outside,
            Arc::clone(&changed),
        ));
        let data = tempfile::tempdir().unwrap();
        let events = EventsFile::new(data.path().join("events.jsonl"));
        let feed = Feed::open(data.path(), events, self.world.world_time()).unwrap();
        let ticks = Ticks::new(Arc::clone(&repositories), run.to_owned(), None);
        let fleet = Fleet {
            ticks: Arc::new(ticks.with_feed(Some(Arc::new(feed)))),
            repositories: Arc::clone(&repositories),
            clock: Arc::new(clock.clone()),
            holder: Holder::new(run),
            bounds: Bounds::default(),
            heartbeat: Arc::new(Heartbeat::default()),
        };
        let (end, asked) = shutdown_pair();
        let running = tokio::spawn(fleet.run(Arc::clone(&inbox), asked));
        Served {
            clock,
            inbox,
            repositories,
            changed,
            end,
            running,
            _data: data,
        }
    }
}

/// What one service has and another may lack.
pub(crate) struct Parts {
    /// The repositories that its `phileas.toml` names; all where it names none.
    pub(crate) named: Vec<RepositoryEntry>,
    /// Its folder of Jules keys.
    pub(crate) keys: PathBuf,
    /// Its way to GitHub.
    pub(crate) to_github: Arc<dyn Transport>,
    /// What its holders are called.
    pub(crate) run: &'static str,
}

/// The service's parts at work.
pub(crate) struct Served {
    pub(crate) clock: StillClock,
    pub(crate) inbox: Arc<MemoryInbox>,
    pub(crate) repositories: Arc<Repositories>,
    pub(crate) changed: Arc<Notify>,
    pub(crate) end: ShutdownTrigger,
    pub(crate) running: JoinHandle<()>,
    _data: TempDir,
}

fn persona(id: &str) -> String {
    format!("---\nid: {id}\nemoji: \"⚙\"\ndescription: The {id}\n---\nDo the work of {id}.\n")
}

/// A new private key, PEM, and the public half of it.
pub(crate) fn key() -> (String, Vec<u8>) {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = pair.as_der().unwrap();
    let body = data_encoding::BASE64.encode(der.as_ref());
    let lines: Vec<&str> = body
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let label = "PRIVATE KEY";
    let pem = format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    );
    (pem, pair.public_key().as_ref().to_vec())
}
