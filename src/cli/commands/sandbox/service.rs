//! `phileas sandbox` at a terminal, and `--serve` anywhere: the service itself, with its dashboard, at work on the models.
//!
//! Everything is real but the other ends of the wires: GitHub and Jules are models on loopback ports, whose clock runs
//! faster than ours. The time before is gone through at once, so that there is something to see; a person at a terminal
//! is told both.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phileas_domain::model::{Holder, RepositoryId, RepositoryName};
use phileas_world::Face;
use phileas_world::github::Role;
use phileas_world::http::{ClockMode, serve};
use secrecy::SecretString;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::headless;
use super::transcript::Teller;
use crate::adapters::entropy::SystemEntropy;
use crate::adapters::github::{self, Token};
use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use crate::adapters::jules::{self, JulesKey};
use crate::adapters::pause::Pause;
use crate::cli::arguments::Sandbox;
use crate::cli::context::bind::bind;
use crate::cli::context::clients::transport;
use crate::cli::context::shutdown_signal::signals;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::runtime::driver::{Bounds, Pulse};
use crate::runtime::inbox::Fault;
use crate::runtime::{SERVICE, TickReport};
use crate::sandbox::postman::deliver;
use crate::sandbox::running_time::RunningTime;
use crate::sandbox::{Days, Scene, Shared, scene};
use crate::server::accounts::app::Identity;
use crate::server::accounts::external_services::Outside;
use crate::server::accounts::keys::Keys;
use crate::server::admin::audit::Audit;
use crate::server::admin::dashboard::{self, Access, Board, Dashboard};
use crate::server::admin::metrics::{self, Metrics, Sources};
use crate::server::admin::setup::GITHUB;
use crate::server::config::RepositoryEntry;
use crate::server::public::counters::Figures;
use crate::server::public::webhook::{Intake, Listed, Secrets};
use crate::server::repositories::{Member, Repositories, Source};
use crate::server::worker::housekeeping::Housekeeping;
use crate::server::worker::sweep::Sweep;
use crate::server::worker::tick_observer::Onlooker;
use crate::server::worker::ticks::Ticks;
use crate::server::{Fleet, Service, ending};

/// Minutes there in a second here.
const SPEED: f64 = 3.0;
/// How many deliveries of a hundred the model makes twice.
const DOUBLED: f64 = 0.08;
/// By up to how many seconds it delivers late, so that the order changes.
const LATE_SECONDS: u64 = 90;
/// No workflow runs in the model of GitHub, so that any pin does.
const ANY_COMMIT: &str = "0123456789012345678901234567890123456789";
/// What further repositories are called; they begin when the service does.
const OTHERS: [&str; 2] = ["gadget", "sprocket"];

/// Serves until a signal ends it.
pub(crate) async fn run(
    arguments: &Sandbox,
    mut scene: Scene,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let factor = (arguments.speed.unwrap_or(SPEED) * 60.0).clamp(1.0, 3_600.0);
    // The present is where the days before end, so that the dates on the page are today's.
    let now = jiff::Timestamp::now();
    // Nothing happens in an empty repository, so there is no time before.
    if !arguments.empty {
        scene.start = now.checked_sub(arguments.until).unwrap_or(now);
    } else {
        scene.start = now;
    }
    let others: &[&str] = if arguments.empty { &[] } else { &OTHERS };
    scene.others = others.iter().map(|&name| name.to_owned()).collect();
    let places = Places::bind(arguments).await?;
    let told = (screen.watched || arguments.empty) && !arguments.json;
    let mut teller = if arguments.empty {
        Teller::of_a_person(screen.colour)
    } else {
        Teller::new(screen.colour)
    };
    let (end, asked) = ending();
    let mut signals = std::pin::pin!(signals()?);
    let shared = open(arguments, scene)?;
    if !arguments.empty {
        let past = before(arguments, &shared, told.then_some(&mut teller), screen);
        tokio::select! {
            past = past => past?,
            () = &mut signals => return leave(arguments, &shared, told.then_some(&mut teller), screen),
        }
        trouble(arguments, &shared);
    }
    let time = RunningTime::new(shared.clone(), factor);
    let faces = {
        let face = |listener, face| {
            let mut ending = asked.clone();
            serve(
                shared.inner(),
                listener,
                face,
                ClockMode::Accelerated { factor },
                None,
                async move { ending.come().await },
            )
        };
        let github = face(places.github, Face::Github);
        let jules = face(places.jules, Face::Jules);
        tokio::spawn(async move { tokio::join!(github, jules) })
    };
    let metrics = Arc::new(Metrics::default());
    let outside = Outside {
        github: github::Base::from_values(Some(&format!("http://{}", places.github_at)), None)
            .map_err(|error| Stopped::fault(error.to_string()))?,
        jules: jules::Base::parse(&format!("http://{}/v1alpha", places.jules_at))
            .map_err(|error| Stopped::fault(error.to_string()))?
            .0,
        to_github: transport(),
        to_jules: transport(),
        pause: Arc::new(time.clone()),
        stopwatch: Arc::new(time.clone()),
        entropy: Arc::new(SystemEntropy),
    };
    let outside = metrics::count_requests(outside, &metrics);
    let folder = tempfile::tempdir()?;
    let directory = DataDirectory::lock(folder.path())?;
    let audit = Arc::new(Audit::open(directory.path())?);
    let inbox = Arc::new(SqliteInbox::open(directory, DEFAULT_ROOM, time.now())?);
    let changed = Arc::new(Notify::new());
    let repositories = Arc::new(repositories(
        &shared,
        others,
        outside,
        Arc::clone(&changed),
    )?);
    let board = Arc::new(Board::default());
    let figures = Arc::new(Figures::default());
    let pulse = Arc::new(Pulse::default());
    let clock = Arc::new(time.clone());
    let clock_of_intake: Arc<dyn Pause> = Arc::new(time.clone());
    let run = format!("{SERVICE}sandbox");
    let (heard, mut hearing) = unbounded_channel();
    let ticks = Ticks::new(Arc::clone(&repositories), run.clone(), None)
        .seen_by(Arc::new(Told(heard)) as Arc<dyn Onlooker>)
        .seen_by(Arc::clone(&board) as Arc<dyn Onlooker>)
        .seen_by(Arc::clone(&metrics) as Arc<dyn Onlooker>);
    let secrets = SecretString::from(scene::WEBHOOK_SECRET);
    let secrets =
        Secrets::from_list(&secrets).map_err(|error| Stopped::fault(error.to_string()))?;
    let measured = metrics::routes(Sources {
        feed: None,
        metrics,
        figures: Arc::clone(&figures),
        inbox: Arc::clone(&inbox),
        repositories: Some(Arc::clone(&repositories)),
        clock: Arc::new(time.clone()),
    });
    let dashboard = Dashboard {
        inbox: Arc::clone(&inbox),
        board,
        repositories: Some(Arc::clone(&repositories)),
        clock: Arc::new(time),
        access: Arc::new(Access::new(places.admin.local_addr()?, None, [])?),
        audit,
        figures: Arc::clone(&figures),
        pulse: Arc::clone(&pulse),
        github: GITHUB.to_owned(),
        ending: asked.clone(),
    };
    let at = At {
        github: places.github_at,
        jules: places.jules_at,
        admin: places.admin.local_addr()?,
        public: places.public.local_addr()?,
    };
    let service = Service {
        intake: Intake::new(
            Arc::clone(&inbox),
            secrets,
            Listed::default(),
            Arc::clone(&figures),
        )
        .telling(changed)
        .by(clock_of_intake),
        inbox,
        public: places.public,
        admin: places.admin,
        access: Arc::clone(&dashboard.access),
        admin_routes: dashboard::routes(dashboard, measured),
        figures,
        driver: (
            Housekeeping,
            (
                Fleet {
                    repositories: Arc::clone(&repositories),
                    ticks: Arc::new(ticks),
                    clock: Arc::clone(&clock),
                    holder: Holder::new(run),
                    bounds: Bounds::default(),
                    pulse: Arc::clone(&pulse),
                },
                Sweep {
                    repositories,
                    clock,
                    public_url: Some(scene::PUBLIC_URL.to_owned()),
                },
            ),
        ),
        pulse,
        drain: Duration::ZERO,
        hurry: asked.clone(),
    };
    tell(arguments, screen, &at, factor)?;
    let post = deliver(
        shared.clone(),
        transport(),
        format!("http://{}/webhook", at.public),
        asked.clone(),
    );
    let post = tokio::spawn(post);
    let running = service.run(asked);
    let mut running = std::pin::pin!(running);
    loop {
        tokio::select! {
            _ = &mut running => break,
            () = &mut signals => {
                end.now();
                let _in_time = running.await;
                break;
            }
            Some((name, report)) = hearing.recv() => if told {
                let books = shared.world().books().clone();
                teller.world(screen, &books)?;
                teller.tick(screen, &name, &report)?;
                screen.flush()?;
            }
        }
    }
    end.now();
    let _ended = tokio::join!(post, faces);
    leave(arguments, &shared, told.then_some(&mut teller), screen)
}

/// What it came to, and everything of it where that was asked for.
fn leave(
    arguments: &Sandbox,
    shared: &Shared,
    teller: Option<&mut Teller>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if let Some(teller) = teller {
        teller.end(screen, shared)?;
    }
    headless::export(arguments, shared, screen)?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// Passes on what ticks did, to whoever tells it.
#[derive(Debug)]
struct Told(UnboundedSender<(RepositoryName, TickReport)>);

impl Onlooker for Told {
    fn ticked(&self, member: &Member, report: &TickReport, _took: Duration) {
        // The show may have ended before the last tick.
        let _over = self.0.send((member.name.clone(), report.clone()));
    }

    fn failed(&self, _member: &Member, _fault: &Fault, _took: Duration) {}
}

fn open(arguments: &Sandbox, mut scene: Scene) -> Result<Shared, Stopped> {
    if is_fair(arguments) && !arguments.empty {
        scene.knobs.webhook_lost = headless::LOST;
    }
    let (mut world, repo) = scene.build().map_err(Stopped::usage)?;
    // The sweep lists the hooks of a repository, which takes more than the rest needs.
    world
        .github_mut()
        .set_role(repo, scene::RUNNER, Role::Admin);
    Ok(Shared::new(world))
}

/// Nobody asked for troubles of their own.
fn is_fair(arguments: &Sandbox) -> bool {
    !arguments.chaos && arguments.faults.is_none()
}

/// Goes through the time before the service at once.
async fn before(
    arguments: &Sandbox,
    shared: &Shared,
    teller: Option<&mut Teller>,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let span = arguments.until;
    let mut days = Days::new(shared.clone(), scene::repository(), span, arguments.seed);
    if let Some(teller) = teller {
        return headless::days(&mut days, shared, teller, screen).await;
    }
    while days.next().await.is_some() {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Deliveries of the running service come twice and late as well.
fn trouble(arguments: &Sandbox, shared: &Shared) {
    if is_fair(arguments) {
        let mut world = shared.world();
        let knobs = world.knobs_mut();
        knobs.webhook_doubled = DOUBLED;
        knobs.webhook_late_seconds = LATE_SECONDS;
    }
}

fn repositories(
    shared: &Shared,
    others: &[&str],
    outside: Outside,
    changed: Arc<Notify>,
) -> Result<Repositories, Stopped> {
    let fault = |error: &dyn std::fmt::Display| Stopped::fault(error.to_string());
    let token = Token::new(scene::GITHUB_TOKEN).map_err(|error| fault(&error))?;
    let key = JulesKey::new(scene::JULES_KEY).map_err(|error| fault(&error))?;
    let names = std::iter::once(scene::NAME).chain(others.iter().copied());
    let entries: Result<Vec<_>, _> = names
        .map(|name| {
            let world = shared.world();
            let id = world.github().repository_by_name(scene::OWNER, name);
            let id = id.map(|id| RepositoryId(id.0));
            let name = format!("{}/{name}", scene::OWNER).parse();
            name.map(|name| RepositoryEntry { name, id })
        })
        .collect();
    let entries = entries.map_err(|error| fault(&error))?;
    let source = Source::new(Identity::Token(token), entries, &outside);
    Ok(Repositories::new(
        source,
        Keys::new(Some(key), None),
        outside,
        changed,
    ))
}

/// The listeners of the models and of the service.
struct Places {
    github: TcpListener,
    github_at: SocketAddr,
    jules: TcpListener,
    jules_at: SocketAddr,
    public: TcpListener,
    admin: TcpListener,
}

impl Places {
    async fn bind(arguments: &Sandbox) -> Result<Self, Stopped> {
        let github = bind("--github", arguments.github).await?;
        let jules = bind("--jules", arguments.jules).await?;
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Ok(Self {
            github_at: github.local_addr()?,
            jules_at: jules.local_addr()?,
            github,
            jules,
            public: bind("--serve", anywhere).await?,
            admin: bind("--admin-listen", arguments.admin_listen).await?,
        })
    }
}

/// Where everything listens.
struct At {
    github: SocketAddr,
    jules: SocketAddr,
    admin: SocketAddr,
    public: SocketAddr,
}

fn tell(
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
    at: &At,
    factor: f64,
) -> Result<(), Stopped> {
    let repository = scene::repository();
    if arguments.json {
        let places = json!({
            "dashboard": format!("http://{}/", at.admin),
            "webhook": format!("http://{}/webhook", at.public),
            "github": format!("http://{}", at.github),
            "jules": format!("http://{}/v1alpha", at.jules),
            "token": scene::MAINTAINER_TOKEN,
            "jules_key": scene::JULES_KEY,
            "repository": repository.to_string(),
        });
        screen.line(&places.to_string())?;
        screen.flush()?;
        return Ok(());
    }
    let minutes = factor / 60.0;
    if arguments.empty {
        screen.lines(&format!(
            "The dashboard is at http://{}/\n\
             {repository} is empty; models of GitHub and Jules run behind it, and the service looks after it. One second \
             here is {minutes:.1} minutes there.\n",
            at.admin
        ))?;
        for line in first_session(at.github, &repository) {
            screen.line(&line)?;
        }
        screen.line("What happens follows here. Ctrl-C ends it.")?;
    } else {
        screen.lines(&format!(
            "The dashboard is at http://{}/\n\
             Models of GitHub and Jules run behind it; one second here is {minutes:.1} minutes there. Some webhooks are \
             lost, doubled or late. Ctrl-C ends it.",
            at.admin
        ))?;
    }
    screen.flush()?;
    Ok(())
}

/// The commands from an empty repository to the pull request of a session that a label started, to be pasted into
/// another shell. What they need stands in them, so that none of them has to be prepared.
fn first_session(github: SocketAddr, repository: &RepositoryName) -> [String; 9] {
    let token = scene::MAINTAINER_TOKEN;
    let name = &repository.name;
    let issues = format!("http://{github}/repos/{repository}/issues");
    let authorization = format!("-H 'authorization: bearer {token}'");
    [
        "From here to a first session, in another shell:".to_owned(),
        String::new(),
        format!("git clone http://maintainer:{token}@{github}/{repository}.git && cd {name}"),
        format!(
            "phileas init --yes --action phileas/phileas@{ANY_COMMIT}   # any commit does here"
        ),
        "git commit -qm 'Let phileas run Jules by the clock' && git push -q origin HEAD:main"
            .to_owned(),
        format!(
            "n=$(curl -sS {authorization} -d '{{\"title\": \"Say how to install it\", \"labels\": [\"phileas:tester\"]}}' {issues} \
             | grep -o '\"number\": *[0-9]*' | head -n 1 | tr -dc 0-9); echo \"issue #$n\""
        ),
        format!(
            "curl -sS -o /dev/null {authorization} -d '{{\"body\": \"/phileas approve\"}}' {issues}/$n/comments   # once its plan waits"
        ),
        format!(
            "curl -sS {authorization} {issues}/$n/comments   # if you like: what phileas says there"
        ),
        String::new(),
    ]
}
