//! `phileas serve --setup`: a page that makes the service its own GitHub App.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::adapters::github;
use crate::adapters::inbox::sqlite::DataDirectory;
use crate::cli::context::bind::bind;
use crate::cli::context::clock::local_now;
use crate::cli::context::env_var::variable;
use crate::cli::context::local_actor::who;
use crate::cli::context::service_config::ADMIN_LISTEN;
use crate::cli::context::{clients, shutdown_signal};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::server::accounts::app::{APP_FILE, kept_app, named_by};
use crate::server::admin::audit::{Audit, Deed};
use crate::server::admin::setup::{Busy, GITHUB, Setup, routes};
use crate::server::config::Config;
use crate::server::ending;
use crate::server::public::counters::Figures;
use crate::server::public::listen::{Listeners, listen};
use crate::server::service::TIME_TO_END;

/// Serves the page on the admin listener until the App is made, or a signal ends it.
pub(super) async fn run(config: &Config, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    if let Some(name) = named_by(variable) {
        return Err(Stopped::usage(format!(
            "{name} says already who the service is to GitHub, and would count before the App that is made here; unset it \
             for the set-up and for the service"
        )));
    }
    // Nobody else writes there meanwhile.
    let directory = DataDirectory::lock(&config.data_dir)?;
    if kept_app(directory.path())?.is_some() {
        return Err(Stopped::usage(format!(
            "{} keeps an App already; start `phileas serve`, or remove the file to make another one",
            directory.path().join(APP_FILE).display()
        )));
    }
    let listener = bind(ADMIN_LISTEN, config.admin_listen).await?;
    let address = listener.local_addr()?;
    // A listener on all addresses has none that a browser could go to.
    let origin = if address.ip().is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    };
    let api = variable("GITHUB_API_URL");
    let base = github::Base::from_values(api.as_deref(), None)
        .map_err(|error| Stopped::usage(error.to_string()))?;
    let (end, mut ended) = ending();
    let (over, listening) = ending();
    let setup = Setup {
        data_dir: directory.path().to_owned(),
        origin,
        github: variable("GITHUB_SERVER_URL").unwrap_or_else(|| GITHUB.to_owned()),
        base,
        transport: clients::transport(),
        public_url: config.public_url.clone(),
        end,
    };
    let (router, address, busy) =
        routes(setup).map_err(|error| Stopped::fault(error.to_string()))?;
    screen.line(&format!(
        "open this page once, in a browser on this machine: {address}"
    ))?;
    screen.flush()?;
    let signals = shutdown_signal::signals()?;
    let serving = tokio::spawn(listen(
        listener,
        router,
        Arc::new(Figures::default()),
        Arc::new(Listeners::default()),
        listening,
    ));
    tokio::select! {
        () = ended.come() => {}
        () = signals => {}
    }
    // The page that says so is still on its way.
    over.now();
    wind_down(serving, &busy, TIME_TO_END).await;
    let Some(kept) = kept_app(directory.path())? else {
        return Err(Stopped::credential(
            "no App was made; start `phileas serve --setup` again for a new page",
        ));
    };
    match Audit::open(directory.path()) {
        Ok(audit) => audit.record(&Deed {
            at: local_now(),
            who: &who(),
            what: "setup",
            about: Some(&kept.slug),
            result: "done",
            request: "",
        }),
        Err(error) => tracing::error!("the audit log misses a line: {error}"),
    }
    screen.line("the App is made and kept; install it, then start `phileas serve`")?;
    Ok(Exit::Done)
}

/// Waits until requests at work are answered and no exchange is under way, whose browser may have gone; but not for
/// whoever never comes to an end.
async fn wind_down(mut serving: JoinHandle<()>, busy: &Busy, limit: Duration) {
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
    async fn whoever_never_comes_to_an_end_is_not_waited_for() {
        let endless = tokio::spawn(std::future::pending());
        wind_down(endless, &Busy::default(), Duration::from_millis(10)).await;
        let busy = Busy::default();
        let _held = Arc::clone(&busy).lock_owned().await;
        wind_down(tokio::spawn(async {}), &busy, Duration::from_millis(10)).await;
    }
}
