//! `phileas mcp`: a server of the Model Context Protocol on standard input and output; `phileas mcp call` calls one
//! tool.

mod call;
mod phileas_api;
mod service_jules;

use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::ServiceExt as _;

use super::jobs::MonitorConfiguration;
use crate::cli::arguments::{Mcp, McpCommand, McpOptions, RunsLocation};
use crate::cli::context::{clients, clock, run_identity};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
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
            let monitor = MonitorConfiguration::read(&arguments.options.files)?;
            build_server(&arguments.options, Err(missing), reach, monitor)?
        }
        Err(stopped) => return Err(stopped),
    };
    call::run(server, tool, given, screen).await
}

/// The tools over HTTP, configured by the variables of `phileas mcp`. They use the service's identity and keys, as its
/// ticks do. A service without a GitHub identity uses the environment's credentials.
pub(crate) fn http_routes(
    repositories: Option<Arc<Repositories>>,
    monitor: MonitorConfiguration,
) -> Result<axum::Router, CliError> {
    #[derive(clap::Parser)]
    struct OfEnvironment {
        #[command(flatten)]
        options: McpOptions,
    }
    let given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])
        .map_err(|error| CliError::usage(error.to_string()))?;
    let (jules, reach): (Arc<dyn SessionsApi>, _) = match repositories {
        Some(repositories) => (
            Arc::new(ServiceJules::new(Arc::clone(&repositories))),
            RepositoryAccess::Service(repositories),
        ),
        None => (
            Arc::new(clients::jules_client()?),
            RepositoryAccess::Environment,
        ),
    };
    let server = build_server(&given.options, Ok(jules), Arc::new(reach), monitor)?;
    Ok(http::routes(move || server.for_another(), Hosts::Checked))
}

fn server_from_environment(arguments: &McpOptions) -> Result<Server, CliError> {
    let jules = Arc::new(clients::jules_client()?);
    let monitor = MonitorConfiguration::read(&arguments.files)?;
    if !arguments.read_only {
        // Mistakes in its settings are reported at the start.
        monitor.monitor()?;
    }
    let reach = Arc::new(RepositoryAccess::Environment);
    build_server(arguments, Ok(jules), reach, monitor)
}

/// Checks jobs with the keys that there are at the time.
struct OwnMonitor(MonitorConfiguration);

#[async_trait]
impl CheckJobs for OwnMonitor {
    async fn check_jobs(&self) -> Result<(), ToolError> {
        let failed = |why: String| ToolError::new(why);
        let monitor = self.0.monitor().map_err(|error| failed(error.message))?;
        let cycle = monitor.run_cycle(clock::local_now(), false).await;
        for warning in cycle.map_err(|error| failed(error.to_string()))?.warnings {
            tracing::warn!("{warning}");
        }
        Ok(())
    }
}

fn build_server(
    arguments: &McpOptions,
    jules: Result<Arc<dyn SessionsApi>, MissingKey>,
    phileas: Arc<dyn PhileasApi>,
    monitor: MonitorConfiguration,
) -> Result<Server, CliError> {
    let files = MonitorFiles::new(&monitor.paths, std::env::current_dir()?);
    let can_check = jules.is_ok() && !arguments.read_only;
    let checks = can_check.then(|| Arc::new(OwnMonitor(monitor)) as Arc<dyn CheckJobs>);
    let policy = Policy {
        read_only: arguments.read_only,
        allowed: arguments.allow.clone(),
    };
    let context = ToolContext::new(jules, phileas, files, policy, run_identity::random_bytes()?)
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
