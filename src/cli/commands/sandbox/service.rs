//! `phileas sandbox` at a terminal, and `--serve` anywhere: the service with its dashboard, at work on the models.
//!
//! Only the other ends of the connections are models: GitHub and Jules on loopback ports, with a fast clock. The days
//! before are played at once, so that there is something to see. A person at a terminal sees both.

use std::io::Write;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use phileas_domain::engine::SIGN_LEGEND;
use phileas_domain::model::{RepositoryId, RepositoryName};
use phileas_world::Face;
use phileas_world::github::Role;
use phileas_world::http::{ClockMode, serve};
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinHandle};

use super::transcript::Transcript;
use super::{environment, play};
use crate::adapters::entropy::SystemEntropy;
use crate::adapters::github::{self, Token};
use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use crate::adapters::jules::{self, JulesKey};
use crate::adapters::pause::Pause as _;
use crate::cli::arguments::Sandbox;
use crate::cli::context::bind::bind_listener;
use crate::cli::context::clients::http_transport;
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::driver::Bounds;
use crate::runtime::inbox::{Fault, MAX_LEASE};
use crate::runtime::{SERVICE, TickReport};
use crate::sandbox::delivery::deliver_webhooks;
use crate::sandbox::running_time::RunningTime;
use crate::sandbox::{SharedWorld, Timeline, WorldSetup, world_setup};
use crate::server::accounts::app::Identity;
use crate::server::accounts::external_services::ExternalServices;
use crate::server::accounts::keys::Keys;
use crate::server::admin::audit::Audit;
use crate::server::admin::dashboard::Access;
use crate::server::admin::metrics::{self, Metrics};
use crate::server::assemble::{Parts, Workers, assemble};
use crate::server::config::RepositoryEntry;
use crate::server::public::webhook::{RepositoryFilter, Secrets};
use crate::server::repositories::{Member, Repositories, Source};
use crate::server::worker::tick_observer::TickObserver;
use crate::server::{Service, Shutdown, shutdown_pair};

/// How many minutes of the sandbox pass in a second.
const MINUTES_PER_SECOND: f64 = 3.0;
/// The share of deliveries that the model sends twice.
const DOUBLED_SHARE: f64 = 0.08;
/// The most seconds by which it delays a delivery, so that the order changes.
const LATE_SECONDS: u64 = 90;
/// The names of further repositories, which begin when the service does.
const OTHER_REPOSITORIES: [&str; 2] = ["gadget", "sprocket"];

/// Serves until a signal ends it.
pub(crate) async fn run(
    arguments: &Sandbox,
    mut setup: WorldSetup,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    setup.start = start_of_days(arguments);
    let others = other_repositories(arguments);
    setup.others = others.iter().map(|&name| name.to_owned()).collect();
    let places = Listeners::bind_all(arguments).await?;
    let prints = (screen.interactive || arguments.empty) && !arguments.json;
    let mut transcript = prints.then(|| match arguments.empty {
        true => Transcript::for_person(screen.colour),
        false => Transcript::new(screen.colour),
    });
    let mut signals = std::pin::pin!(shutdown_signal()?);
    let shared = build_world(arguments, setup)?;
    if !arguments.empty {
        if prints {
            play::print_header(screen)?;
        }
        tokio::select! {
            past = play_past_days(arguments, &shared, transcript.as_mut(), screen) => past?,
            () = &mut signals => return print_result(arguments, &shared, transcript.as_mut(), screen),
        }
        disturb_deliveries(arguments, &shared);
    }
    let served = serve_world(
        arguments,
        &shared,
        places,
        signals,
        transcript.as_mut(),
        screen,
    );
    let ended = served.await?;
    let exit = print_result(arguments, &shared, transcript.as_mut(), screen);
    models_result(ended)?;
    exit
}

/// Runs the models and the service until a signal or the first of them ends. Returns how the models ended.
async fn serve_world(
    arguments: &Sandbox,
    shared: &SharedWorld,
    places: Listeners,
    mut signals: Pin<&mut impl Future<Output = ()>>,
    mut transcript: Option<&mut Transcript>,
    screen: &mut Screen<impl Write>,
) -> Result<Result<((), ()), JoinError>, CliError> {
    let factor = (arguments.speed.unwrap_or(MINUTES_PER_SECOND) * 60.0).clamp(1.0, 3_600.0);
    let time = RunningTime::new(shared.clone(), factor);
    let at = Addresses {
        github: places.github_at,
        jules: places.jules_at,
        admin: places.admin.local_addr()?,
        public: places.public.local_addr()?,
    };
    let (end, asked) = shutdown_pair();
    let mode = ClockMode::Accelerated { factor };
    let mut models = serve_models(shared, places.github, places.jules, mode, &asked);
    let (heard, mut hearing) = unbounded_channel();
    let (service, _folder) = build_service(
        shared,
        other_repositories(arguments),
        &at,
        (places.public, places.admin),
        &time,
        ReportSender(heard),
        &asked,
    )?;
    print_addresses(arguments, screen, &at, factor)?;
    let post = tokio::spawn(deliver_webhooks(
        shared.clone(),
        http_transport(),
        format!("http://{}/webhook", at.public),
        asked.clone(),
    ));
    let mut running = std::pin::pin!(service.run(asked));
    let mut models_ended = None;
    let is_service_over = loop {
        tokio::select! {
            ended = &mut models => {
                models_ended = Some(ended);
                break false;
            }
            _ = &mut running => break true,
            () = &mut signals => break false,
            Some((name, report)) = hearing.recv() => if let Some(transcript) = &mut transcript {
                let books = shared.lock_world().books().clone();
                transcript.write_world(screen, &books)?;
                transcript.write_tick(screen, &name, &report)?;
                screen.flush()?;
            }
        }
    };
    end.request_shutdown();
    if !is_service_over {
        let _in_time = running.await;
    }
    let _ended = post.await;
    Ok(match models_ended {
        Some(ended) => ended,
        None => models.await,
    })
}

/// The first moment of the sandbox, so that the days before end now and the dates on the page are today's.
fn start_of_days(arguments: &Sandbox) -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    // Parts of a second would stand in many texts.
    let now = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    // Nothing happens in an empty repository, so there are no days before.
    match arguments.empty {
        true => now,
        false => now.checked_sub(arguments.until).unwrap_or(now),
    }
}

/// Other repositories would use up the key of a plan that is tried.
fn other_repositories(arguments: &Sandbox) -> &'static [&'static str] {
    match arguments.empty || arguments.folder().is_some() {
        true => &[],
        false => &OTHER_REPOSITORIES,
    }
}

/// Builds the service. Its files are in the folder that is returned as well.
fn build_service(
    shared: &SharedWorld,
    others: &[&str],
    at: &Addresses,
    (public, admin): (TcpListener, TcpListener),
    time: &RunningTime,
    reports: ReportSender,
    asked: &Shutdown,
) -> Result<(Service<SqliteInbox, Workers<RunningTime>>, TempDir), CliError> {
    let folder = tempfile::tempdir()?;
    let metrics = Arc::new(Metrics::default());
    let outside = metrics::count_requests(external_services(at, time)?, &metrics);
    let directory = DataDirectory::lock_directory(folder.path())?;
    let audit = Arc::new(Audit::open(directory.path())?);
    let inbox = Arc::new(SqliteInbox::open(directory, DEFAULT_ROOM, time.now())?);
    let changed = Arc::new(Notify::new());
    let repositories = Arc::new(build_repositories(
        shared,
        others,
        outside,
        Arc::clone(&changed),
    )?);
    let secrets = SecretString::from(world_setup::WEBHOOK_SECRET);
    let secrets =
        Secrets::from_list(&secrets).map_err(|error| CliError::fault(error.to_string()))?;
    let service = assemble(Parts {
        inbox,
        repositories: Some(repositories),
        changed,
        run: format!("{SERVICE}sandbox"),
        paused: None,
        observers: vec![Arc::new(reports) as _],
        feed: None,
        metrics,
        audit,
        clock: Arc::new(time.clone()),
        // No other service takes over, and in the usual one's time a busy machine would lose leases.
        bounds: Bounds {
            lease: MAX_LEASE,
            ..Bounds::default()
        },
        secrets,
        accepted: RepositoryFilter::default(),
        public_url: Some(world_setup::PUBLIC_URL.to_owned()),
        public,
        admin,
        access: Arc::new(Access::new(at.admin, None, [])?),
        more_admin_routes: axum::Router::new(),
        github: None,
        drain: Duration::ZERO,
        hurry: asked.clone(),
        ending: asked.clone(),
    });
    Ok((service, folder))
}

/// Serves both models until the shutdown is requested.
pub(super) fn serve_models(
    shared: &SharedWorld,
    github: TcpListener,
    jules: TcpListener,
    mode: ClockMode,
    asked: &Shutdown,
) -> JoinHandle<((), ())> {
    let face = |listener, face| {
        let mut ending = asked.clone();
        serve(
            shared.shared_world(),
            listener,
            face,
            mode,
            None,
            async move { ending.wait_for_shutdown().await },
        )
    };
    let github = face(github, Face::Github);
    let jules = face(jules, Face::Jules);
    tokio::spawn(async move { tokio::join!(github, jules) })
}

/// Whether both models served until the end.
pub(super) fn models_result(ended: Result<((), ()), JoinError>) -> Result<(), CliError> {
    ended.map(drop).map_err(|error| {
        CliError::fault(format!(
            "a model of GitHub or Jules stopped: {error}; report this as a bug of phileas"
        ))
    })
}

/// The models as the service reaches them.
fn external_services(at: &Addresses, time: &RunningTime) -> Result<ExternalServices, CliError> {
    let fault = |error: &dyn std::fmt::Display| CliError::fault(error.to_string());
    let github = github::Base::from_values(Some(&format!("http://{}", at.github)), None);
    let jules = jules::Base::parse(&format!("http://{}/v1alpha", at.jules));
    Ok(ExternalServices {
        github: github.map_err(|error| fault(&error))?,
        jules: jules.map_err(|error| fault(&error))?.0,
        to_github: http_transport(),
        to_jules: http_transport(),
        pause: Arc::new(time.clone()),
        stopwatch: Arc::new(time.clone()),
        entropy: Arc::new(SystemEntropy),
    })
}

/// Prints the result, and exports everything if an option asks for it.
fn print_result(
    arguments: &Sandbox,
    shared: &SharedWorld,
    transcript: Option<&mut Transcript>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if let Some(transcript) = transcript {
        transcript.write_result(screen, shared)?;
    }
    play::export_files(arguments, shared, screen)?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// Passes reports of ticks to the transcript.
#[derive(Debug)]
struct ReportSender(UnboundedSender<(RepositoryName, TickReport)>);

impl TickObserver for ReportSender {
    fn tick_finished(&self, member: &Member, report: &TickReport, _took: Duration) {
        // The transcript may end before the last tick.
        let _over = self.0.send((member.name.clone(), report.clone()));
    }

    fn tick_failed(&self, _member: &Member, _fault: &Fault, _took: Duration) {}
}

fn build_world(arguments: &Sandbox, mut setup: WorldSetup) -> Result<SharedWorld, CliError> {
    if has_no_fault_settings(arguments) && !arguments.empty {
        setup.knobs.webhook_lost = play::LOST_SHARE;
    }
    let (mut world, repo) = setup.build_world().map_err(CliError::usage)?;
    // The sweep lists the hooks of a repository, which needs more rights than the rest.
    world
        .github_mut()
        .set_role(repo, world_setup::RUNNER, Role::Admin);
    Ok(SharedWorld::new(world))
}

/// Whether the user has set no faults.
fn has_no_fault_settings(arguments: &Sandbox) -> bool {
    !arguments.chaos && arguments.faults.is_none()
}

/// Plays the days before the service at once.
async fn play_past_days(
    arguments: &Sandbox,
    shared: &SharedWorld,
    transcript: Option<&mut Transcript>,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let span = arguments.until;
    let mut days = Timeline::new(
        shared.clone(),
        world_setup::repository_name(),
        span,
        arguments.seed,
    );
    if let Some(transcript) = transcript {
        return play::play_days(&mut days, shared, transcript, screen).await;
    }
    while days.next().await.is_some() {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Makes the model delay and repeat deliveries of the running service.
fn disturb_deliveries(arguments: &Sandbox, shared: &SharedWorld) {
    if has_no_fault_settings(arguments) {
        let mut world = shared.lock_world();
        let knobs = world.knobs_mut();
        knobs.webhook_doubled = DOUBLED_SHARE;
        knobs.webhook_late_seconds = LATE_SECONDS;
    }
}

fn build_repositories(
    shared: &SharedWorld,
    others: &[&str],
    outside: ExternalServices,
    changed: Arc<Notify>,
) -> Result<Repositories, CliError> {
    let fault = |error: &dyn std::fmt::Display| CliError::fault(error.to_string());
    let token = Token::new(world_setup::GITHUB_TOKEN).map_err(|error| fault(&error))?;
    let key = JulesKey::new(world_setup::JULES_KEY).map_err(|error| fault(&error))?;
    let names = std::iter::once(world_setup::NAME).chain(others.iter().copied());
    let entries: Result<Vec<_>, _> = names
        .map(|name| {
            let world = shared.lock_world();
            let id = world.github().repository_by_name(world_setup::OWNER, name);
            let id = id.map(|id| RepositoryId(id.0));
            let name = format!("{}/{name}", world_setup::OWNER).parse();
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
struct Listeners {
    github: TcpListener,
    github_at: SocketAddr,
    jules: TcpListener,
    jules_at: SocketAddr,
    public: TcpListener,
    admin: TcpListener,
}

impl Listeners {
    async fn bind_all(arguments: &Sandbox) -> Result<Self, CliError> {
        let github = bind_listener("--github", arguments.github).await?;
        let jules = bind_listener("--jules", arguments.jules).await?;
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Ok(Self {
            github_at: github.local_addr()?,
            jules_at: jules.local_addr()?,
            github,
            jules,
            public: bind_listener("--serve", anywhere).await?,
            admin: bind_listener("--admin-listen", arguments.admin_listen).await?,
        })
    }
}

/// The addresses of the listeners.
struct Addresses {
    github: SocketAddr,
    jules: SocketAddr,
    admin: SocketAddr,
    public: SocketAddr,
}

fn print_addresses(
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
    at: &Addresses,
    factor: f64,
) -> Result<(), CliError> {
    let repository = world_setup::repository_name();
    if arguments.json {
        let places = json!({
            "dashboard": format!("http://{}/", at.admin),
            "webhook": format!("http://{}/webhook", at.public),
            "github": format!("http://{}", at.github),
            "jules": format!("http://{}/v1alpha", at.jules),
            "token": world_setup::MAINTAINER_TOKEN,
            "jules_key": world_setup::JULES_KEY,
            "repository": repository.to_string(),
        });
        screen.print_line(&places.to_string())?;
        screen.flush()?;
        return Ok(());
    }
    let minutes = factor / 60.0;
    if arguments.empty {
        screen.print_lines(&format!(
            "The dashboard is at http://{}/\n\
             {repository} is empty; models of GitHub and Jules run behind it, and the service looks after it. One second \
             here is {minutes:.1} minutes there.\n",
            at.admin
        ))?;
        for line in first_session_commands(at.github, &repository) {
            screen.print_line(&line)?;
        }
        print_exports(at, screen)?;
        screen.print_lines(&format!(
            "What happens follows here. Ctrl-C ends it.\n{SIGN_LEGEND}\n"
        ))?;
    } else {
        screen.print_lines(&format!(
            "The dashboard is at http://{}/\n\
             Models of GitHub and Jules run behind it; one second here is {minutes:.1} minutes there. Some webhooks are \
             lost, doubled or late.",
            at.admin
        ))?;
        screen.print_line("")?;
        print_exports(at, screen)?;
        screen.print_line("Ctrl-C ends it.")?;
    }
    screen.flush()?;
    Ok(())
}

/// Prints what lets a person look at the repository from another shell.
fn print_exports(at: &Addresses, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    screen.print_line(
        "For `phileas status`, `phileas explain` and `phileas doctor` in another shell:",
    )?;
    screen.print_line("")?;
    let github = format!("http://{}", at.github);
    let jules = format!("http://{}/v1alpha", at.jules);
    for line in environment::export_lines(&github, &jules, world_setup::MAINTAINER_TOKEN) {
        screen.print_line(&line)?;
    }
    screen.print_line("")?;
    Ok(())
}

/// The commands that lead from an empty repository to the pull request of a session that a label started, to paste into
/// another shell. They contain all values, so the user prepares nothing.
fn first_session_commands(github: SocketAddr, repository: &RepositoryName) -> [String; 9] {
    let token = world_setup::MAINTAINER_TOKEN;
    let name = &repository.name;
    let issues = format!("http://{github}/repos/{repository}/issues");
    let authorization = format!("-H 'authorization: bearer {token}'");
    [
        "From here to a first session, in another shell:".to_owned(),
        String::new(),
        format!("git clone http://maintainer:{token}@{github}/{repository}.git && cd {name}"),
        "phileas init --yes   # no commit to fill in here: no workflow runs in the sandbox"
            .to_owned(),
        "git commit -qm 'Let phileas run Jules on a schedule' && git push -q origin HEAD:main"
            .to_owned(),
        format!(
            "n=$(curl -sS {authorization} -d '{{\"title\": \"Say how to install it\", \"labels\": [\"phileas:tester\"]}}' {issues} \
             | grep -o '\"number\": *[0-9]*' | head -n 1 | tr -dc 0-9); echo \"issue #$n\""
        ),
        format!(
            "curl -sS -o /dev/null {authorization} -d '{{\"body\": \"/phileas approve\"}}' {issues}/$n/comments   # once its plan waits"
        ),
        format!(
            r#"printf '%b\n' "$(curl -sS {authorization} {issues}/$n/comments | grep -oE '"body": *"(\\.|[^"\])*"' | sed 's/^"body": *"//; s/"$//')"   # if you like: what phileas says there"#
        ),
        String::new(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_model_that_stops_early_is_a_fault() {
        let models: JoinHandle<((), ())> = tokio::spawn(async { panic!("a bug") });
        let stopped = models_result(models.await).unwrap_err();
        assert_eq!(stopped.exit, Exit::Fault);
        assert!(stopped.message.contains("a bug"), "{stopped}");
        assert!(models_result(Ok(((), ()))).is_ok());
    }
}
