//! `phileas mcp`: a server of the Model Context Protocol on standard input and output, and its tools one at a time.

mod call;
mod house;
mod keyless;
mod keys;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::ServiceExt as _;

use super::jobs::{monitor_of_environment, monitored_places};
use crate::adapters::jules;
use crate::adapters::jules::sessions_api::Account;
use crate::cli::arguments::{Mcp, McpCommand, McpDesk, RunsPlace};
use crate::cli::context::{clients, clock, run_identity};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::jobs::Monitor;
use crate::mcp::http::{self, Hosts};
use crate::mcp::lines::{ANSWER_LIMIT, Lines};
use crate::mcp::{CheckJobs, Desk, House, Policy, Queue, Server, Trouble};
use crate::runtime::ports::hire::{Answer, HireJules};
use crate::server::repositories::Repositories;
use house::Reach;
use keyless::Keyless;
use keys::ServiceJules;

pub(crate) async fn run(arguments: &Mcp, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let Some(McpCommand::Call {
        tool,
        arguments: given,
    }) = &arguments.command
    else {
        return serve(server(&arguments.desk)?).await;
    };
    let no_key = match server(&arguments.desk) {
        Ok(server) => return call::run(server, tool, given, screen).await,
        Err(stopped) if stopped.exit == Exit::Credential => stopped,
        Err(stopped) => return Err(stopped),
    };
    // A tool that asks Jules nothing needs no key, and a mistake in its arguments is told first.
    let jules = Keyless::new(no_key.message.clone());
    let reach = Arc::new(Reach::Environment);
    let server = with(&arguments.desk, Arc::new(jules.clone()), reach, None)?;
    let ended = call::run(server, tool, given, screen).await;
    if jules.was_asked() {
        return Err(no_key);
    }
    ended
}

/// The tools over HTTP, with what the variables of `phileas mcp` say. Who the service is, and with which keys, counts for
/// them as it does for its ticks; one that is nobody to GitHub yet has what the environment says.
pub(crate) fn routes(
    repositories: Option<Arc<Repositories>>,
    events: PathBuf,
) -> Result<axum::Router, Stopped> {
    #[derive(clap::Parser)]
    struct OfEnvironment {
        #[command(flatten)]
        desk: McpDesk,
    }
    let mut given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])
        .map_err(|error| Stopped::usage(error.to_string()))?;
    // What the service writes is what its tools show.
    given.desk.places.events = Some(events);
    let server = match repositories {
        Some(repositories) => {
            let jules = Arc::new(ServiceJules::new(Arc::clone(&repositories)));
            let reach = Arc::new(Reach::Service(repositories));
            with(&given.desk, jules, reach, None)?
        }
        None => server(&given.desk)?,
    };
    Ok(http::routes(move || server.for_another(), Hosts::Checked))
}

fn server(arguments: &McpDesk) -> Result<Server, Stopped> {
    let jules = Account::new(Arc::new(clients::jules_client()?));
    let monitor = (!arguments.read_only)
        .then(|| monitor_of_environment(&arguments.places))
        .transpose()?;
    let reach = Arc::new(Reach::Environment);
    with(arguments, Arc::new(jules), reach, monitor)
}

/// The server's own monitor, with the key of the environment.
struct OwnMonitor(Monitor<jules::Client>);

impl CheckJobs for OwnMonitor {
    fn check(&self) -> Answer<'_, Result<(), Trouble>> {
        Box::pin(async {
            let cycle = self.0.cycle(clock::local_now(), false).await;
            for warning in cycle
                .map_err(|error| Trouble::new(error.to_string()))?
                .warnings
            {
                tracing::warn!("{warning}");
            }
            Ok(())
        })
    }
}

fn with(
    arguments: &McpDesk,
    jules: Arc<dyn HireJules>,
    house: Arc<dyn House>,
    monitor: Option<Monitor<jules::Client>>,
) -> Result<Server, Stopped> {
    let places = monitored_places(&arguments.places)?;
    let checks = monitor.map(|monitor| Arc::new(OwnMonitor(monitor)) as Arc<dyn CheckJobs>);
    let policy = Policy {
        read_only: arguments.read_only,
        allowed: arguments.allow.clone(),
    };
    let desk = Desk::new(
        jules,
        house,
        Queue::new(&places, std::env::current_dir()?),
        policy,
        run_identity::entropy()?,
    )
    .with_checks(checks);
    let runs = super::pipeline::place::runs(&RunsPlace {
        pipeline_dir: arguments.pipeline_dir.clone(),
        json: false,
    })?;
    Ok(Server::new(desk.with_runs(runs)))
}

/// Serves until the input ends.
async fn serve(server: Server) -> Result<Exit, Stopped> {
    let (input, output) = rmcp::transport::stdio();
    let waiting = server.clone();
    let lines = Lines::new(input, output, ANSWER_LIMIT, move || waiting.end());
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // Whoever leaves before the first word has wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        Err(error) => return Err(Stopped::usage(format!("the client began wrongly: {error}"))),
    };
    running
        .waiting()
        .await
        .map_err(|error| Stopped::fault(format!("the server ended wrongly: {error}")))?;
    Ok(Exit::Done)
}
