//! A world with many repositories, an App that is installed on them, and the service's own parts in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use jiff::Timestamp;
use phileas::adapters::github::{self, App};
use phileas::adapters::inbox::memory::MemoryInbox;
use phileas::adapters::jules;
use phileas::runtime::driver::{Bounds, Pulse};
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::{Shared, VirtualTime};
use phileas::server::app::Identity;
use phileas::server::driver::Driver as _;
use phileas::server::ending::End;
use phileas::server::keys::Keys;
use phileas::server::outside::Outside;
use phileas::server::repositories::{Repositories, Source};
use phileas::server::ticks::Ticks;
use phileas::server::{Fleet, ending};
use phileas_domain::model::Holder;
use phileas_world::github::RepoId;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::hook::Target;
use phileas_world::jules::{Account, Config, Installed, Tier, Weights};
use phileas_world::maintainer::Temper;
use phileas_world::seed::{NewApp, Seed, files};
use phileas_world::{Face, FaultPlan, Knobs, World, WorldConfig};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::clock::StillClock;

/// The App's number.
pub(super) const APP: u64 = 77;
/// The secret of its webhook.
pub(super) const SECRET: &str = "0123456789abcdef-test-secret-of-hooks";

/// How many personas a cycle has. Each runs once on a default branch that does not move.
pub(super) const PERSONAS: usize = 24;

/// One after another, each when the pull request of the one before is open.
fn plan() -> String {
    let cycle: Vec<String> = (0..PERSONAS).map(|n| format!("\"p{n}\"")).collect();
    format!(
        "cycle = [{}]\n[budget]\nmax_active = 1\ndaily_sessions = 100\nmax_open_pulls = 100\ntier = \"ultra\"\n",
        cycle.join(", ")
    )
}

/// A world with so many repositories of each owner. Each owner has a Jules key of its own, called `key-of-<owner>`, and
/// an installation of the App.
pub(super) struct Ground {
    pub(super) world: Shared,
    pub(super) repositories: Vec<RepoId>,
    /// By owner.
    pub(super) installations: BTreeMap<String, u64>,
    /// The App's private key, PEM.
    pub(super) pem: String,
    /// Files with the Jules keys.
    pub(super) keys: TempDir,
}

/// How long sessions take, in minutes.
pub(super) struct Sessions {
    pub(super) shortest: f64,
    pub(super) longest: f64,
}

impl Ground {
    pub(super) fn new(start: Timestamp, owners: &[(&str, usize)], sessions: &Sessions) -> Self {
        Self::with(
            start,
            owners,
            sessions,
            Knobs::documented(),
            FaultPlan::default(),
        )
    }

    /// The same with these answers to the open questions, and these faults.
    pub(super) fn with(
        start: Timestamp,
        owners: &[(&str, usize)],
        sessions: &Sessions,
        knobs: Knobs,
        faults: FaultPlan,
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
            temper: Temper::away(),
            jules: Config {
                accounts: accounts.collect(),
                asks: 0.0,
                weights: Weights::only_changes(),
                shortest_minutes: sessions.shortest,
                longest_minutes: sessions.longest,
                ..Config::default()
            },
        });
        let mut tree = files(&[
            ("README.md", "# Widget\n"),
            (".jules/schedules.toml", &plan()),
        ]);
        for n in 0..PERSONAS {
            let path = format!(".jules/personas/p{n}/prompt.md");
            tree.insert(path, persona(&format!("p{n}")).into());
        }
        let mut repositories = Vec::new();
        for (owner, count) in owners {
            for n in 0..*count {
                let mut seed = Seed::new(owner, &format!("r{n}"), tree.clone());
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
            world: Shared::new(world),
            repositories,
            installations,
            pem,
            keys,
        }
    }

    /// Starts the service's parts on the world's own clock. Deliveries are nobody's business: all webhooks are lost.
    pub(super) fn serve(&self) -> Served {
        let time = Arc::new(VirtualTime::new(self.world.clone()));
        let outside = Outside {
            github: github::Base::default(),
            jules: jules::Base::default(),
            to_github: Arc::new(InProcess::new(self.world.clone(), Face::Github)),
            to_jules: Arc::new(InProcess::new(self.world.clone(), Face::Jules)),
            pause: Arc::clone(&time) as _,
            stopwatch: time,
        };
        let app = App::new(&APP.to_string(), &self.pem).unwrap();
        let source = Source::new(Identity::App(app), Vec::new(), &outside);
        let keys = Keys::new(None, Some(self.keys.path().to_owned()));
        let changed = Arc::new(Notify::new());
        let repositories = Arc::new(Repositories::new(
            source,
            keys,
            outside,
            Arc::clone(&changed),
        ));
        let clock = StillClock::of(&self.world);
        let inbox = Arc::new(MemoryInbox::new(10_000));
        let fleet = Fleet {
            ticks: Arc::new(Ticks::new(
                Arc::clone(&repositories),
                "serve:test".to_owned(),
                None,
            )),
            repositories: Arc::clone(&repositories),
            clock: Arc::new(clock.clone()),
            holder: Holder::new("serve:test"),
            bounds: Bounds::default(),
            pulse: Arc::new(Pulse::default()),
        };
        let (end, asked) = ending();
        let running = tokio::spawn(fleet.run(Arc::clone(&inbox), asked));
        Served {
            clock,
            inbox,
            repositories,
            changed,
            end,
            running,
        }
    }
}

/// The service's parts at work.
pub(super) struct Served {
    pub(super) clock: StillClock,
    pub(super) inbox: Arc<MemoryInbox>,
    pub(super) repositories: Arc<Repositories>,
    pub(super) changed: Arc<Notify>,
    pub(super) end: End,
    pub(super) running: JoinHandle<()>,
}

fn persona(id: &str) -> String {
    format!("---\nid: {id}\nemoji: \"⚙\"\ndescription: The {id}\n---\nDo the work of {id}.\n")
}

/// A new private key, PEM, and the public half of it.
pub(crate) fn key() -> (String, Vec<u8>) {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = pair.as_der().unwrap();
    let body = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
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
