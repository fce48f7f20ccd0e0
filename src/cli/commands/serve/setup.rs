//! `phileas serve --setup`: serves a page that creates the service's GitHub App.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::adapters::github;
use crate::adapters::inbox::sqlite::DataDirectory;
use crate::cli::context::bind::bind_listener;
use crate::cli::context::clock::local_now;
use crate::cli::context::env_var::env_value;
use crate::cli::context::github_server::github_server;
use crate::cli::context::local_actor::local_actor;
use crate::cli::context::service_config::ADMIN_LISTEN_SETTING;
use crate::cli::context::{clients, shutdown_signal};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::server::accounts::app::{APP_FILE, kept_app, named_by};
use crate::server::admin::audit::{Audit, AuditEntry};
use crate::server::admin::setup::{ActiveExchange, Setup, routes};
use crate::server::config::Config;
use crate::server::public::counters::Figures;
use crate::server::public::listen::{Listeners, serve_listener};
use crate::server::service::TIME_TO_END;
use crate::server::shutdown_pair;

/// Serves the page on the admin listener until the App exists, or a signal ends it.
pub(super) async fn run(
    config: &Config,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if let Some(name) = named_by(env_value) {
        return Err(CliError::usage(format!(
            "{name} says already who the service is to GitHub, and would count before the App that is made here; unset it \
             for the set-up and for the service"
        )));
    }
    // No other process may write there meanwhile.
    let directory = DataDirectory::lock_directory(&config.data_dir)?;
    if kept_app(directory.path())?.is_some() {
        return Err(CliError::usage(format!(
            "{} keeps an App already; start `phileas serve`, or remove the file to make another one",
            directory.path().join(APP_FILE).display()
        )));
    }
    let listener = bind_listener(ADMIN_LISTEN_SETTING, config.admin_listen).await?;
    let address = listener.local_addr()?;
    // A browser cannot open the address of a listener on all addresses.
    let origin = if address.ip().is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    };
    let api = env_value("GITHUB_API_URL");
    let base = github::Base::from_values(api.as_deref(), None)
        .map_err(|error| CliError::usage(error.to_string()))?;
    let (end, mut ended) = shutdown_pair();
    let (over, listening) = shutdown_pair();
    let setup = Setup {
        data_dir: directory.path().to_owned(),
        origin,
        github: github_server(),
        base,
        transport: clients::http_transport(),
        public_url: config.public_url.clone(),
        end,
    };
    let (router, address, busy) =
        routes(setup).map_err(|error| CliError::fault(error.to_string()))?;
    screen.print_line(&format!(
        "open this page once, in a browser on this machine: {address}"
    ))?;
    screen.flush()?;
    let signals = shutdown_signal::shutdown_signal()?;
    let serving = tokio::spawn(serve_listener(
        listener,
        router,
        Arc::new(Figures::default()),
        Arc::new(Listeners::default()),
        listening,
    ));
    tokio::select! {
        () = ended.wait_for_shutdown() => {}
        () = signals => {}
    }
    // The response that reports the end is still being sent.
    over.request_shutdown();
    wind_down(serving, &busy, TIME_TO_END).await;
    let Some(kept) = kept_app(directory.path())? else {
        return Err(CliError::credential(
            "no App was made; start `phileas serve --setup` again for a new page",
        ));
    };
    match Audit::open(directory.path()) {
        Ok(audit) => audit.record_entry(&AuditEntry {
            at: local_now(),
            who: &local_actor(),
            what: "setup",
            about: Some(&kept.slug),
            result: "done",
            request: "",
        }),
        Err(error) => tracing::error!("the audit log misses a line: {error}"),
    }
    screen.print_line("the App is made and kept; install it, then start `phileas serve`")?;
    Ok(Exit::Done)
}

/// Waits, within a limit, until running requests are answered and no exchange with GitHub is under way. The browser of
/// an exchange may be gone.
async fn wind_down(mut serving: JoinHandle<()>, busy: &ActiveExchange, limit: Duration) {
    let ended = tokio::time::timeout(limit, async {
        let _ended = (&mut serving).await;
        let _idle = busy.lock().await;
    });
    if ended.await.is_err() {
        serving.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_endless_request_is_not_waited_for() {
        let endless = tokio::spawn(std::future::pending());
        wind_down(
            endless,
            &ActiveExchange::default(),
            Duration::from_millis(10),
        )
        .await;
        let busy = ActiveExchange::default();
        let _held = Arc::clone(&busy).lock_owned().await;
        wind_down(tokio::spawn(async {}), &busy, Duration::from_millis(10)).await;
    }
}
