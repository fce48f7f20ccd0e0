//! `phileas serve`: runs the webhook service until a signal ends it.

mod check;
mod repositories;
mod setup;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::jobs::MonitorConfiguration;
use crate::adapters::inbox::postgres::{DatabaseUrl, PostgresInbox};
use crate::adapters::inbox::served::ServedInbox;
use crate::adapters::inbox::sqlite::{DataDirectory, HeldDirectory, SqliteInbox};
use crate::adapters::pause::SystemPause;
use crate::cli::arguments::Serve;
use crate::cli::context::bind::{bind_error, bind_listener, excluded_listener};
use crate::cli::context::env_var::pausing_value;
use crate::cli::context::github_server::github_server;
use crate::cli::context::service_config::{
    ADMIN_LISTEN_SETTING, LISTEN_SETTING, admin_access, service_config, webhook_secrets,
};
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::context::{clock, service_inbox};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::jobs::EventsFile;
use crate::runtime::driver::Bounds;
use crate::server::admin::audit::Audit;
use crate::server::admin::feed::Feed;
use crate::server::admin::metrics::Metrics;
use crate::server::assemble::{Parts, assemble};
use crate::server::config::Config;
use crate::server::public::webhook::RepositoryFilter;
use crate::server::repositories::Repositories;
use crate::server::shutdown::ShutdownTrigger;
use crate::server::shutdown_pair;
use crate::server::worker::journal::Journal;

/// More threads would wait for the same disk.
const MAX_THREADS: usize = 4;
/// Threads for what blocks, at most: four decisions, two renderers and the dashboard's reads take fewer. Tokio would start up to
/// 512 of them in a burst and keep those that are used again within ten seconds.
const MAX_BLOCKING_THREADS: usize = 16;

/// A service answers many requests at once. A thread of its own stores deliveries.
pub(crate) fn service_runtime() -> Result<tokio::runtime::Runtime, CliError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(MAX_THREADS))
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| CliError::fault(error.to_string()))
}

pub(crate) async fn run(
    arguments: &Serve,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let option = arguments.database_url.as_deref();
    let database = service_inbox::inbox_database(option)?;
    let config = service_config(arguments)?;
    let inbox_name = service_inbox::inbox_name(database.as_ref(), &config.data_dir);
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
    serve(arguments, &config, database.as_ref(), &inbox_name, screen).await
}

/// Opens the public listener and that for operators.
async fn bind_listeners(config: &Config) -> Result<(TcpListener, TcpListener), CliError> {
    let public = bind_listener(LISTEN_SETTING, config.listen).await?;
    let admin = TcpListener::bind(config.admin_listen).await;
    let admin = admin.map_err(|error| {
        match excluded_listener(config.listen, config.admin_listen, &error) {
            Some(text) => CliError::usage(text),
            None => bind_error(ADMIN_LISTEN_SETTING, config.admin_listen, &error),
        }
    })?;
    Ok((public, admin))
}

/// Starts the service, and runs it until a signal ends it.
async fn serve(
    arguments: &Serve,
    config: &Config,
    database: Option<&DatabaseUrl>,
    inbox_name: &str,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let secrets = webhook_secrets(config)?;
    let access = Arc::new(admin_access(config, arguments.mcp)?);
    let directory = DataDirectory::lock_directory(&config.data_dir)?;
    let audit = Arc::new(Audit::open(directory.path())?);
    let inbox = open_inbox(database, directory, config.inbox_max_bytes).await?;
    let inbox = Arc::new(inbox);
    let (public, admin) = bind_listeners(config).await?;
    let places = json!({
        "listen": public.local_addr()?.to_string(),
        "admin_listen": admin.local_addr()?.to_string(),
        "inbox": inbox_name,
    });
    let changed = Arc::new(Notify::new());
    let metrics = Arc::new(Metrics::default());
    let monitor = MonitorConfiguration::of_service(
        arguments.events.clone(),
        &config.data_dir,
        config.jules_keys_dir.clone(),
    )?;
    let feed = open_feed(arguments, config, &monitor.paths.events)?;
    let repositories =
        repositories::connect_repositories(config, Arc::clone(&changed), &metrics)?.map(Arc::new);
    let (end, asked) = shutdown_pair();
    let hurry = shutdown_pair();
    let signals = shutdown_signal()?;
    let more_admin_routes = match arguments.mcp {
        true => super::mcp::http_routes(repositories.clone(), monitor)?,
        false => axum::Router::new(),
    };
    let lost = inbox.lost();
    let service = assemble(Parts {
        accepted: accepted_repositories(config, repositories.as_deref()),
        inbox,
        repositories,
        changed,
        run: repositories::process_name()?,
        paused: pausing_value(),
        observers: vec![Arc::new(Journal::new(Arc::clone(&audit))) as _],
        feed,
        metrics,
        audit,
        clock: Arc::new(SystemPause),
        bounds: Bounds::default(),
        secrets,
        public_url: config.public_url.clone(),
        public,
        admin,
        access,
        more_admin_routes,
        github: Some(github_server()),
        drain: config.drain,
        hurry: hurry.1,
        ending: asked.clone(),
    });
    report_start(&places, config, inbox_name, screen)?;
    let running = service.run(asked);
    let drained = run_until_end(running, signals, lost, config.drain, end, hurry.0).await?;
    if drained {
        tracing::info!("the service has ended");
    } else {
        // Deliveries answered with 202 are stored; GitHub redelivers those that were cut off, or the next sweep finds
        // them.
        tracing::warn!("some work did not end in time and was cut off");
    }
    Ok(Exit::Done)
}

/// The repositories whose deliveries are accepted.
fn accepted_repositories(config: &Config, repositories: Option<&Repositories>) -> RepositoryFilter {
    let listed = RepositoryFilter::from_entries(&config.repositories);
    match repositories {
        Some(known) => listed.with_discovered_ids(known.source().discovered_ids().clone()),
        None => listed,
    }
}

/// Logs and prints that the service is listening, and where.
fn report_start(
    places: &Value,
    config: &Config,
    inbox_name: &str,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        listen = %places["listen"].as_str().unwrap_or_default(),
        admin_listen = %places["admin_listen"].as_str().unwrap_or_default(),
        data_dir = %config.data_dir.display(),
        inbox = inbox_name,
        "the service listens"
    );
    screen.print_line(&places.to_string())?;
    screen.flush()?;
    Ok(())
}

/// Opens the inbox.
async fn open_inbox(
    database: Option<&DatabaseUrl>,
    directory: DataDirectory,
    max_bytes: u64,
) -> Result<ServedInbox, CliError> {
    Ok(match database {
        // The directory still belongs to this service alone: its audit log and its App's credentials are in it.
        Some(url) => ServedInbox::Database(
            PostgresInbox::open(url, max_bytes).await?,
            Some(HeldDirectory::new(directory)?),
        ),
        None => ServedInbox::File(SqliteInbox::open(directory, max_bytes, clock::local_now())?),
    })
}

/// Runs the service until its work ends: at the first signal it drains, at the second one it ends. Returns whether
/// everything ended in time.
async fn run_until_end(
    running: impl Future<Output = bool>,
    signals: impl Future<Output = ()>,
    lost: impl Future<Output = ()>,
    drain: Duration,
    end: ShutdownTrigger,
    hurry: ShutdownTrigger,
) -> Result<bool, CliError> {
    let mut running = std::pin::pin!(running);
    tokio::select! {
        drained = &mut running => Ok(drained),
        () = signals => {
            tracing::info!(
                ?drain,
                "asked to end; running ticks finish the change that they are making, and deliveries are accepted until \
                 then and until the drain is over; ask again to end the drain"
            );
            end.request_shutdown();
            let again = shutdown_signal()?;
            tokio::select! {
                drained = &mut running => Ok(drained),
                () = again => {
                    hurry.request_shutdown();
                    Ok(running.await)
                }
            }
        }
        () = lost => {
            // No further delivery could be stored.
            hurry.request_shutdown();
            end.request_shutdown();
            running.await;
            Err(CliError::fault(
                "the task that writes the inbox has ended, so no delivery can be stored; start the service again",
            ))
        }
    }
}

/// Opens the feed that writes events of turns for agents, if the options ask for it.
fn open_feed(
    arguments: &Serve,
    config: &Config,
    events: &Path,
) -> Result<Option<Arc<Feed>>, CliError> {
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
