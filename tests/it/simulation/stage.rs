//! The stage: three repositories of one owner, in one of them layers beside a cycle, and a maintainer who reviews.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::SignedDuration;
use phileas::adapters::github::{self, App};
use phileas::adapters::jules::{self, JulesKey, RepositoryJules};
use phileas::runtime::driver::{Bounds, Heartbeat};
use phileas::runtime::ports::{ReadJules as _, WriteJules as _};
use phileas::runtime::{Settings, Tick, TickError, TickReport};
use phileas::sandbox::{SharedWorld, WorldSetup, world_setup};
use phileas::server::accounts::app::Identity;
use phileas::server::accounts::external_services::ExternalServices;
use phileas::server::accounts::keys::Keys;
use phileas::server::public::counters::Figures;
use phileas::server::public::webhook::{Intake, RepositoryFilter, Secrets, webhook_routes};
use phileas::server::repositories::{Repositories, Source};
use phileas::server::shutdown::ShutdownTrigger;
use phileas::server::worker::driver::Driver as _;
use phileas::server::worker::sweep::Sweep;
use phileas::server::worker::ticks::Ticks;
use phileas::server::{Fleet, shutdown_pair};
use phileas_domain::engine::RunRequest;
use phileas_domain::model::{Holder, RepositoryName, SessionId};
use phileas_domain::plan::Driver;
use phileas_world::Face;
use phileas_world::chance::{Chance, Stream};
use phileas_world::github::NewApp;
use phileas_world::github::RepoId;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::hook::Target;
use phileas_world::jules::{Ideas, Rewritten};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::case::Case;
use super::course::{Machine, Process};
use super::disturbances;
use super::model_transport::ModelTransport;
use super::replica_inbox::ReplicaInbox;
use super::sabotage::Sabotage;
use super::verdict::Reply;
use crate::fleet::stage::{APP, key};
use crate::support::memory_inbox::MemoryInbox;

/// The App's short name; what it writes is written by `phileas-test[bot]`.
const SLUG: &str = "phileas-test";
/// Who phileas is on GitHub: the App of the replicas, and the token of the workflow.
pub(super) const OURS: [&str; 2] = ["phileas-test[bot]", world_setup::RUNNER];
/// The names of the other repositories.
const OTHERS: [&str; 2] = ["gadget", "gizmo"];
/// What the App hears of.
const EVENTS: [&str; 5] = [
    "pull_request",
    "pull_request_review",
    "push",
    "issues",
    "issue_comment",
];
/// Where its webhook is, by name only.
const WEBHOOK_URL: &str = "http://phileas.invalid/webhook";
/// Sessions a day that the first repository's plan allows; the seed draws one of these. With few of them the budget is
/// what holds work up, with many the number of sessions at once.
const DAILY_SESSIONS: [usize; 3] = [5, 8, 16];
/// The same for the other repositories. Five is what a plan allows that says nothing.
const DAILY_SESSIONS_OF_OTHERS: [usize; 2] = [5, 8];
/// How long sessions work at most, in minutes. Each minute of theirs is a look at them; what goes wrong does so when
/// something begins or ends.
const LONGEST_MINUTES: f64 = 20.0;
/// How many sessions a day, and how many at once, a small account has in a long case and in a short one. The plans know
/// of a large one.
const SMALL_ACCOUNTS: [(usize, usize); 2] = [(20, 4), (6, 2)];
/// Sessions that have the same few ideas most of the time, whatever their prompts say.
const POPULAR_IDEAS: Ideas = Ideas {
    exponent: 2.0,
    heeds_prompt: 0.2,
    heeds_plan: 0.5,
    rewrites: 0.1,
    rewritten: Rewritten::Scattered,
};
/// What share of the ideas the maintainer does not want.
const REFUSED: f64 = 0.3;
/// How many more they allow where people ask for them.
pub(super) const RESERVED_SESSIONS: usize = 2;
/// Where what agents leave for one another is kept on the ledger.
pub(super) const AGENTS_PATHS: [&str; 3] = [
    ".jules/exchange/",
    ".jules/workstations/",
    ".jules/workstreams/",
];

const PLAN: &str = ".jules/schedules.toml";

/// The newcomer's persona that people ask for by a label, but that its plan waits until one of them approves it.
const FIXER: &str = ".jules/personas/fixer/prompt.md.j2";

fn fixer() -> String {
    let text = include_str!("../../../src/sandbox/newcomer/fixer.md.j2");
    let waits = text.replace("plan_approval: auto\n", "");
    assert_ne!(waits, text);
    waits
}

const LAYERS: &str = "version = 1

[workflow]
cron = [\"0 */6 * * *\"]

[observers]
roles = [\"errors\", \"tests\", \"docs\"]

[innovators]
roles = [\"architect\"]
cron = [\"0 3,15 * * *\"]
";

/// How much a plan allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    /// Sessions a day.
    pub(super) daily_sessions: usize,
    /// Sessions at once.
    pub(super) at_once: usize,
    /// Further attempts at a turn whose session failed.
    pub(super) retries: u32,
    /// Whether pull requests that are unwanted are closed.
    pub(super) closes_unwanted: bool,
    /// Whether plans that repeat work are turned down. Few pull requests are unwanted then, so half of the seeds do.
    pub(super) judges_plans: bool,
}

impl Allowed {
    /// The plan's table for unwanted work.
    fn novelty(self) -> &'static str {
        match (self.closes_unwanted, self.judges_plans) {
            (true, true) => "[novelty]\nmode = \"close\"\nplan = true\ncount_merged = \"30d\"\n\n",
            (true, false) => "[novelty]\nmode = \"close\"\n\n",
            (false, _) => "",
        }
    }
}

/// What the plans of a case allow: that of the first repository, and those of the others.
pub(super) fn allowed(case: &Case) -> (Allowed, Allowed) {
    let is_unwanted = case.is_turned(disturbances::UNWANTED_WORK);
    let mut draws = Chance::new(case.seed).stream("daily sessions");
    let mut allowed = |all: &[usize], at_once| Allowed {
        daily_sessions: all[draws.draw_below(all.len() as u64) as usize],
        at_once,
        retries: u32::from(case.is_turned(disturbances::RETRIES)),
        closes_unwanted: is_unwanted,
        judges_plans: is_unwanted && (case.seed / 2).is_multiple_of(2),
    };
    (
        allowed(&DAILY_SESSIONS, 4),
        allowed(&DAILY_SESSIONS_OF_OTHERS, 2),
    )
}

fn plan(allowed: Allowed) -> String {
    let Allowed {
        daily_sessions,
        at_once,
        retries,
        ..
    } = allowed;
    let novelty = allowed.novelty();
    format!(
        "cycle = [\"curator\", \"refactor\", \"tester\"]

[budget]
max_active = {at_once}
daily_sessions = {daily_sessions}
reserve_for_people = {RESERVED_SESSIONS}
max_open_pulls = 6
tier = \"ultra\"

[defaults]
retry = {retries}

{novelty}[schedules.auditor]
cron = \"30 6,16 * * *\"
plan_approval = \"writers\"
"
    )
}

/// As the sandbox's, but for the days.
fn plan_of_others(allowed: Allowed) -> String {
    let Allowed {
        daily_sessions,
        at_once,
        retries,
        ..
    } = allowed;
    let novelty = allowed.novelty();
    format!(
        "cycle = [\"curator\", \"refactor\", \"tester\"]

[budget]
max_active = {at_once}
daily_sessions = {daily_sessions}
max_open_pulls = 4
tier = \"pro\"

[defaults]
retry = {retries}

{novelty}[schedules]
auditor = \"30 4,16 * * *\"
"
    )
}

/// A key is made once: making one takes longer than hours of simulated time.
static KEY: LazyLock<(String, Vec<u8>)> = LazyLock::new(key);

/// The world of a case, and its repositories. On the first the workflow is at work, too.
pub(super) fn world(case: &Case) -> (SharedWorld, Vec<RepoId>) {
    let mut setup = WorldSetup::new(case.seed);
    setup.knobs = disturbances::knobs(case);
    let others = if case.is_short() { &[][..] } else { &OTHERS };
    setup.others = others.iter().map(|name| (*name).to_owned()).collect();
    setup.jules.longest_minutes = LONGEST_MINUTES;
    let (first_plan, of_others) = allowed(case);
    // The layers' hour comes soon.
    setup.start += SignedDuration::from_mins(5 * 60 + 40);
    setup.faults = disturbances::faults(case, setup.start);
    setup.tier = phileas_world::jules::Tier::Ultra;
    setup.begins_with_request = true;
    if case.is_turned(disturbances::UNWANTED_WORK) {
        setup.jules.ideas = Some(POPULAR_IDEAS);
        setup.review_policy.refuses = REFUSED;
    }
    setup.texts = BTreeMap::from([
        (".jlo/config.toml".to_owned(), LAYERS.to_owned()),
        (PLAN.to_owned(), plan(first_plan)),
        (FIXER.to_owned(), fixer()),
    ]);
    let start = setup.start;
    let (mut world, first) = setup.build_world().unwrap();
    if case.is_turned(disturbances::SMALL_ACCOUNT)
        && let Some(account) = world.jules_mut().account_mut("maintainer")
    {
        let (daily, at_once) = SMALL_ACCOUNTS[usize::from(case.is_short())];
        account.daily = Some(daily);
        account.concurrent = Some(at_once);
    }
    let github = world.github_mut();
    let mut repositories = vec![first];
    repositories.extend(
        others
            .iter()
            .filter_map(|name| github.repository_by_name(world_setup::OWNER, name)),
    );
    let app = NewApp {
        id: APP,
        slug: SLUG.to_owned(),
        owner: world_setup::OWNER.to_owned(),
        permissions: permissions(&[
            ("contents", Access::Write),
            ("issues", Access::Write),
            ("pull_requests", Access::Write),
            ("checks", Access::Read),
            ("statuses", Access::Read),
            ("metadata", Access::Read),
        ]),
        events: EVENTS.map(str::to_owned).to_vec(),
        hook: Some(Target {
            url: WEBHOOK_URL.to_owned(),
            secret: Some(world_setup::WEBHOOK_SECRET.to_owned()),
            content_type: "json".to_owned(),
        }),
        public_key: Some(KEY.1.clone()),
    };
    github.add_app(app, start);
    // What an App hears comes by its own hook.
    for repo in &repositories {
        github.remove_hooks(*repo);
    }
    for repo in &repositories[1..] {
        let head = github.branch_head(*repo, "main");
        let files = [
            (PLAN.to_owned(), Some(plan_of_others(of_others).into())),
            (FIXER.to_owned(), Some(fixer().into())),
        ];
        let planned = github.commit_files(*repo, head, &files, "maintainer", "Plan", start);
        github.move_branch(*repo, "main", planned, "maintainer", start);
    }
    github.install_app(APP, world_setup::OWNER, Some(&repositories), start);
    (SharedWorld::new(world), repositories)
}

/// How a process reaches the models.
fn external_services(process: &Arc<Process>, sabotage: Option<Sabotage>) -> ExternalServices {
    let door = |face| {
        Arc::new(ModelTransport {
            process: Arc::clone(process),
            face,
            sabotage,
        })
    };
    let machine = Arc::new(Machine(Arc::clone(process)));
    ExternalServices {
        github: github::Base::default(),
        jules: jules::Base::default(),
        to_github: door(Face::Github),
        to_jules: door(Face::Jules),
        pause: Arc::clone(&machine) as _,
        stopwatch: Arc::clone(&machine) as _,
        entropy: machine,
    }
}

/// The client of a process that runs one command.
fn jules_client(outside: &ExternalServices, seed: u64) -> Arc<jules::Client> {
    let key = JulesKey::new(world_setup::JULES_KEY).unwrap();
    Arc::new(jules::Client::new(
        jules::Settings {
            seed,
            ..jules::Settings::new(key)
        },
        Arc::clone(&outside.to_jules),
        Arc::clone(&outside.stopwatch),
        Arc::clone(&outside.pause),
    ))
}

/// A replica of the service at work.
pub(super) struct Replica {
    pub(super) process: Arc<Process>,
    pub(super) inbox: Arc<ReplicaInbox>,
    pub(super) webhook: axum::Router,
    pub(super) driver: JoinHandle<()>,
    pub(super) end: ShutdownTrigger,
}

impl Replica {
    /// Starts one. Everything of it is the service's own but the listeners.
    pub(super) fn start(
        process: Arc<Process>,
        inbox: &Arc<MemoryInbox>,
        sabotage: Option<Sabotage>,
    ) -> Self {
        let outside = external_services(&process, sabotage);
        let app = App::new(&APP.to_string(), &KEY.0).unwrap();
        let source = Source::new(Identity::App(app), Vec::new(), &outside);
        let keys = Keys::new(Some(JulesKey::new(world_setup::JULES_KEY).unwrap()), None);
        let changed = Arc::new(Notify::new());
        let machine = Machine(Arc::clone(&process));
        let repositories = Repositories::new(source, keys, outside, Arc::clone(&changed));
        let repositories = Arc::new(repositories);
        let name = format!("serve:{}:{}", process.who, process.life);
        let fleet = Fleet {
            ticks: Arc::new(Ticks::new(Arc::clone(&repositories), name.clone(), None)),
            repositories,
            clock: Arc::new(machine.clone()),
            holder: Holder::new(name),
            bounds: Bounds::default(),
            heartbeat: Arc::new(Heartbeat::default()),
        };
        let sweep = Sweep {
            repositories: Arc::clone(&fleet.repositories),
            clock: Arc::clone(&fleet.clock),
            public_url: None,
        };
        let inbox = Arc::new(ReplicaInbox::new(inbox, &process));
        let secrets = Secrets::from_list(&world_setup::WEBHOOK_SECRET.into()).unwrap();
        let intake = Intake::new(
            Arc::clone(&inbox),
            secrets,
            RepositoryFilter::default(),
            Arc::new(Figures::default()),
        );
        let intake = intake
            .with_clock(Arc::new(machine))
            .with_change_notifier(changed);
        let (end, asked) = shutdown_pair();
        Self {
            webhook: webhook_routes(intake),
            driver: tokio::spawn((fleet, sweep).run(Arc::clone(&inbox), asked)),
            process,
            inbox,
            end,
        }
    }
}

/// A run of the workflow: one tick of a process of its own.
pub(super) fn workflow(
    process: Arc<Process>,
    name: RepositoryName,
    seed: u64,
    sabotage: Option<Sabotage>,
    entropy: [u8; 32],
    run: u64,
) -> JoinHandle<Result<TickReport, TickError>> {
    let outside = external_services(&process, sabotage);
    tokio::spawn(async move {
        let github = github::Client::new(github::Settings {
            repository: name.clone(),
            credential: github::Credential::Token(
                github::Token::new(world_setup::GITHUB_TOKEN).unwrap(),
            ),
            base: outside.github.clone(),
            transport: Arc::clone(&outside.to_github),
            pause: Arc::clone(&outside.pause),
            seed,
        });
        let tick = Tick {
            github: &github,
            jules: &RepositoryJules::new(jules_client(&outside, seed), name),
            stopwatch: &outside.shared_stopwatch(),
        };
        let settings = Settings {
            holder: Holder::new(format!("action:{run}")),
            driver: Driver::Action,
            ask: RunRequest::Due,
            entropy,
            paused_by_variable: None,
            previous_tick: None,
            renderer: Arc::new(phileas_domain::prompt::InProcess),
        };
        tick.run(&settings).await
    })
}

/// What a person does who calls `phileas session message`: the session is looked at first, then the message is sent.
pub(super) fn send_message(
    process: &Arc<Process>,
    name: RepositoryName,
    seed: u64,
    sabotage: Option<Sabotage>,
    (session, text): (String, String),
) -> JoinHandle<Reply> {
    let outside = external_services(process, sabotage);
    tokio::spawn(async move {
        let jules = RepositoryJules::new(jules_client(&outside, seed), name);
        let id = SessionId::new(session);
        match jules.read_session(&id).await {
            Ok(Some(session)) if session.archived || !session.state.is_live() => Reply::Over,
            Ok(Some(_)) => Reply::from_result(jules.send_message(&id, &text).await),
            Ok(None) | Err(_) => Reply::Later { queued: false },
        }
    })
}

/// A span that is drawn, in seconds.
pub(super) fn drawn(chance: &mut Stream, least: u64, most: u64) -> SignedDuration {
    SignedDuration::from_secs(chance.draw_between(least, most) as i64)
}

/// The names that the first repository bears by turns.
pub(super) fn first_names() -> [&'static str; 2] {
    ["acme/widget", "acme/sprocket"]
}
