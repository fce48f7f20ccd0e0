//! `phileas mcp`: a server of the Model Context Protocol on standard input and output; `phileas mcp call` calls one
//! tool.

mod call;
mod phileas_api;
mod service_jules;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::ServiceExt as _;

use super::jobs::{monitor_from_environment, monitored_files};
use crate::adapters::jules;
use crate::cli::arguments::{Mcp, McpCommand, McpOptions, RunsLocation};
use crate::cli::context::{clients, clock, run_identity};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::jobs::Monitor;
use crate::mcp::http::{self, Hosts};
use crate::mcp::line_transport::{ANSWER_LIMIT, LineTransport};
use crate::mcp::{
    CheckJobs, MissingKey, MonitorFiles, PhileasApi, Policy, Server, ToolContext, ToolError,
};
use crate::runtime::ports::sessions_api::SessionsApi;
use crate::server::repositories::Repositories;
use phileas_api::RepositoryAccess;
use service_jules::ServiceJules;

pub(crate) async fn run(
    arguments: &Mcp,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let Some(McpCommand::Call {
        tool,
        arguments: given,
    }) = &arguments.command
    else {
        return serve_stdio(server_from_environment(&arguments.options)?).await;
    };
    let server = match server_from_environment(&arguments.options) {
        Ok(server) => server,
        // A tool that does not use Jules needs no key. A mistake in its arguments is reported first.
        Err(stopped) if stopped.exit == Exit::Credential => {
            let reach = Arc::new(RepositoryAccess::Environment);
            let missing = MissingKey(stopped.message);
            build_server(&arguments.options, Err(missing), reach, None)?
        }
        Err(stopped) => return Err(stopped),
    };
    call::run(server, tool, given, screen).await
}

/// The tools over HTTP, configured by the variables of `phileas mcp`. They use the service's identity and keys, as its
/// ticks do. A service without a GitHub identity uses the environment's credentials.
pub(crate) fn http_routes(
    repositories: Option<Arc<Repositories>>,
    events: PathBuf,
) -> Result<axum::Router, CliError> {
    #[derive(clap::Parser)]
    struct OfEnvironment {
        #[command(flatten)]
        options: McpOptions,
    }
    let mut given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])
        .map_err(|error| CliError::usage(error.to_string()))?;
    // The tools show the events file that the service writes.
    given.options.files.events = Some(events);
    let server = match repositories {
        Some(repositories) => {
            let jules = Arc::new(ServiceJules::new(Arc::clone(&repositories)));
            let reach = Arc::new(RepositoryAccess::Service(repositories));
            build_server(&given.options, Ok(jules), reach, None)?
        }
        None => server_from_environment(&given.options)?,
    };
    Ok(http::routes(move || server.for_another(), Hosts::Checked))
}

fn server_from_environment(arguments: &McpOptions) -> Result<Server, CliError> {
    let jules = Arc::new(clients::jules_client()?);
    let monitor = (!arguments.read_only)
        .then(|| monitor_from_environment(&arguments.files))
        .transpose()?;
    let reach = Arc::new(RepositoryAccess::Environment);
    build_server(arguments, Ok(jules), reach, monitor)
}

/// The server's own monitor, with the key of the environment.
struct EnvironmentMonitor(Monitor<jules::Client>);

#[async_trait]
impl CheckJobs for EnvironmentMonitor {
    async fn check_jobs(&self) -> Result<(), ToolError> {
        let cycle = self.0.run_cycle(clock::local_now(), false).await;
        for warning in cycle
            .map_err(|error| ToolError::new(error.to_string()))?
            .warnings
        {
            tracing::warn!("{warning}");
        }
        Ok(())
    }
}

fn build_server(
    arguments: &McpOptions,
    jules: Result<Arc<dyn SessionsApi>, MissingKey>,
    phileas: Arc<dyn PhileasApi>,
    monitor: Option<Monitor<jules::Client>>,
) -> Result<Server, CliError> {
    let places = monitored_files(&arguments.files)?;
    let checks = monitor.map(|monitor| Arc::new(EnvironmentMonitor(monitor)) as Arc<dyn CheckJobs>);
    let policy = Policy {
        read_only: arguments.read_only,
        allowed: arguments.allow.clone(),
    };
    let context = ToolContext::new(
        jules,
        phileas,
        MonitorFiles::new(&places, std::env::current_dir()?),
        policy,
        run_identity::random_bytes()?,
    )
    .with_checks(checks);
    let runs = super::pipeline::runs::open_runs(&RunsLocation {
        pipeline_dir: arguments.pipeline_dir.clone(),
        json: false,
    })?;
    Ok(Server::new(context.with_runs(runs)))
}

/// Serves until the input ends.
async fn serve_stdio(server: Server) -> Result<Exit, CliError> {
    let (input, output) = rmcp::transport::stdio();
    let waiting = server.clone();
    let lines = LineTransport::new(input, output, ANSWER_LIMIT, move || waiting.end_waits());
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // A client that leaves before its first message is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        Err(error) => {
            return Err(CliError::usage(format!(
                "the client began wrongly: {error}"
            )));
        }
    };
    running
        .waiting()
        .await
        .map_err(|error| CliError::fault(format!("the server ended wrongly: {error}")))?;
    Ok(Exit::Done)
}
