//! `phileas serve`: the webhook service, until a signal ends it.

mod check;
mod fleet;
mod setup;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::adapters::inbox::postgres::PostgresInbox;
use crate::adapters::inbox::served::ServedInbox;
use crate::adapters::inbox::sqlite::{DataDirectory, HeldDirectory, SqliteInbox};
use crate::adapters::pause::SystemPause;
use crate::cli::arguments::Serve;
use crate::cli::context::bind::bind;
use crate::cli::context::env_var::variable;
use crate::cli::context::service_config::{ADMIN_LISTEN, LISTEN, admin_access, config, secrets};
use crate::cli::context::shutdown_signal::{self, signals};
use crate::cli::context::{clock, service_inbox};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::jobs::EventsFile;
use crate::runtime::driver::Pulse;
use crate::server::admin::audit::Audit;
use crate::server::admin::dashboard::{self, Board, Dashboard};
use crate::server::admin::feed::Feed;
use crate::server::admin::metrics::{self, Metrics, Sources};
use crate::server::admin::setup::GITHUB;
use crate::server::config::Config;
use crate::server::public::counters::Figures;
use crate::server::public::webhook::{Intake, Listed};
use crate::server::worker::housekeeping::Housekeeping;
use crate::server::worker::journal::Journal;
use crate::server::worker::sweep::Sweep;
use crate::server::worker::tick_observer::Onlooker;
use crate::server::{Service, ending};

/// More threads would wait for the same disk.
const MAX_THREADS: usize = 4;
/// Threads for what blocks, at most: four decisions, two renderers and the dashboard's reads take fewer. Tokio would start up to
/// 512 of them in a burst and keep those that are used again within ten seconds.
const MAX_BLOCKING_THREADS: usize = 16;

/// A service answers many at once. Storing is done by a thread of its own.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Stopped> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(MAX_THREADS))
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| Stopped::fault(error.to_string()))
}

pub(crate) async fn run(
    arguments: &Serve,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let option = arguments.database_url.as_deref();
    let database = service_inbox::database(option)?;
    let config = config(arguments)?;
    let inbox_name = service_inbox::name(database.as_ref(), &config.data_dir);
    if arguments.check {
        return check::run(
            &config,
            arguments.mcp,
            database.as_ref(),
            &inbox_name,
            arguments.json,
            screen,
        )
        .await;
    }
    if arguments.setup {
        return setup::run(&config, screen).await;
    }
    let secrets = secrets(&config)?;
    let access = Arc::new(admin_access(&config, arguments.mcp)?);
    let directory = DataDirectory::lock(&config.data_dir)?;
    let audit = Arc::new(Audit::open(directory.path())?);
    let inbox = match &database {
        // The directory is this service's alone all the same: its audit log and its App's credentials are in it.
        Some(url) => ServedInbox::Database(
            PostgresInbox::open(url, config.inbox_max_bytes).await?,
            Some(HeldDirectory::new(directory)?),
        ),
        None => ServedInbox::File(SqliteInbox::open(
            directory,
            config.inbox_max_bytes,
            clock::local_now(),
        )?),
    };
    let inbox = Arc::new(inbox);
    let public = bind(LISTEN, config.listen).await?;
    let admin = bind(ADMIN_LISTEN, config.admin_listen).await?;
    let places = json!({
        "listen": public.local_addr()?.to_string(),
        "admin_listen": admin.local_addr()?.to_string(),
        "inbox": inbox_name,
    });
    let figures = Arc::new(Figures::default());
    let changed = Arc::new(Notify::new());
    let pulse = Arc::new(Pulse::default());
    let board = Arc::new(Board::default());
    let metrics = Arc::new(Metrics::default());
    let journal = Arc::new(Journal::new(Arc::clone(&audit)));
    let onlookers: Vec<Arc<dyn Onlooker>> =
        vec![Arc::clone(&board) as _, Arc::clone(&metrics) as _, journal];
    let events = super::jobs::events_of_service(arguments.events.clone(), &config.data_dir)?;
    let feed = feed(arguments, &config, &events)?;
    let fleet = fleet::of(
        &config,
        Arc::clone(&changed),
        Arc::clone(&pulse),
        &metrics,
        onlookers,
        feed.clone(),
    )?;
    let sweep = fleet.as_ref().map(|fleet| Sweep {
        repositories: Arc::clone(&fleet.repositories),
        clock: Arc::clone(&fleet.clock),
        public_url: config.public_url.clone(),
    });
    let listed = match &fleet {
        Some(fleet) => Listed::from_entries(&config.repositories)
            .learning(fleet.repositories.source().learnt().clone()),
        None => Listed::from_entries(&config.repositories),
    };
    let (end, asked) = ending();
    let hurry = ending();
    let signals = signals()?;
    let measured = metrics::routes(Sources {
        metrics,
        figures: Arc::clone(&figures),
        inbox: Arc::clone(&inbox),
        repositories: fleet.as_ref().map(|fleet| Arc::clone(&fleet.repositories)),
        feed,
        clock: Arc::new(SystemPause),
    });
    let tools = if arguments.mcp {
        super::mcp::routes(
            fleet.as_ref().map(|fleet| Arc::clone(&fleet.repositories)),
            events,
        )?
    } else {
        axum::Router::new()
    };
    let dashboard = Dashboard {
        inbox: Arc::clone(&inbox),
        board,
        repositories: fleet.as_ref().map(|fleet| Arc::clone(&fleet.repositories)),
        clock: Arc::new(SystemPause),
        access,
        audit,
        figures: Arc::clone(&figures),
        pulse: Arc::clone(&pulse),
        github: variable("GITHUB_SERVER_URL").unwrap_or_else(|| GITHUB.to_owned()),
        ending: asked.clone(),
    };
    let lost = inbox.lost();
    let service = Service {
        intake: Intake::new(Arc::clone(&inbox), secrets, listed, Arc::clone(&figures))
            .telling(changed),
        inbox,
        public,
        admin,
        access: Arc::clone(&dashboard.access),
        admin_routes: dashboard::routes(dashboard, measured.merge(tools)),
        figures,
        driver: (Housekeeping, (fleet, sweep)),
        pulse,
        drain: config.drain,
        hurry: hurry.1,
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        listen = %places["listen"].as_str().unwrap_or_default(),
        admin_listen = %places["admin_listen"].as_str().unwrap_or_default(),
        data_dir = %config.data_dir.display(),
        inbox = inbox_name,
        "the service listens"
    );
    screen.line(&places.to_string())?;
    screen.flush()?;
    let running = service.run(asked);
    let mut running = std::pin::pin!(running);
    let drained = tokio::select! {
        drained = &mut running => drained,
        () = signals => {
            tracing::info!(
                drain = ?config.drain,
                "asked to end; running ticks stop between two effects, and deliveries are taken until then and until the \
                 drain is over; ask again to end it"
            );
            end.now();
            let again = shutdown_signal::signals()?;
            tokio::select! {
                drained = &mut running => drained,
                () = again => {
                    hurry.0.now();
                    running.await
                }
            }
        }
        () = lost => {
            // Nothing that would come could be stored.
            hurry.0.now();
            end.now();
            running.await;
            return Err(Stopped::fault(
                "what writes the inbox has ended, so that nothing could be stored any more; start again",
            ));
        }
    };
    if drained {
        tracing::info!("the service has ended");
        Ok(Exit::Done)
    } else {
        // What was answered 202 is stored; what was cut off is sent again, or found by the next look.
        tracing::warn!("some work did not end in time and was cut off");
        Ok(Exit::Done)
    }
}

/// What tells agents of turns, where that is wanted.
fn feed(arguments: &Serve, config: &Config, events: &Path) -> Result<Option<Arc<Feed>>, Stopped> {
    if arguments.no_events {
        return Ok(None);
    }
    let events = EventsFile::new(events);
    if let Err(error) = events.make_folder() {
        tracing::warn!(
            "events of turns are not written: {error}; name a place for them with --events, or say --no-events"
        );
        return Ok(None);
    }
    tracing::info!(events = %events.path().display(), "events of turns are written for agents");
    let feed = Feed::open(&config.data_dir, events, clock::local_now())?;
    Ok(Some(Arc::new(feed)))
}
