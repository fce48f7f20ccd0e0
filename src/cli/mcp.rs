//! `phileas mcp`: a server of the Model Context Protocol on standard input and output, and its tools one at a time.

mod call;
mod house;
mod input;

use std::io::Write;
use std::sync::Arc;

use rmcp::ServiceExt as _;

use super::arguments::{Mcp, McpCommand, McpDesk};
use super::connect;
use super::exit::{Exit, Stopped};
use super::output::Screen;
use crate::adapters::jules::hire::Account;
use crate::jobs::Places;
use crate::mcp::http::{self, Hosts};
use crate::mcp::{Desk, Policy, Queue, Server};
use house::EnvironmentHouse;

pub(super) async fn run(arguments: &Mcp, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let server = server(&arguments.desk)?;
    match &arguments.command {
        Some(McpCommand::Call { tool, arguments }) => {
            call::run(server, tool, arguments, screen).await
        }
        None => serve(server).await,
    }
}

/// The tools over HTTP, with what the variables of `phileas mcp` say.
pub(super) fn routes() -> Result<axum::Router, Stopped> {
    #[derive(clap::Parser)]
    struct OfEnvironment {
        #[command(flatten)]
        desk: McpDesk,
    }
    let given = <OfEnvironment as clap::Parser>::try_parse_from(["phileas"])
        .map_err(|error| Stopped::usage(error.to_string()))?;
    let server = server(&given.desk)?;
    Ok(http::routes(move || server.for_another(), Hosts::Checked))
}

fn server(arguments: &McpDesk) -> Result<Server, Stopped> {
    let policy = Policy {
        read_only: arguments.read_only,
        allowed: arguments.allow.clone(),
    };
    let jules = Account::new(Arc::new(connect::jules_client()?));
    let desk = Desk::new(
        Arc::new(jules),
        Arc::new(EnvironmentHouse),
        Queue::new(&places(arguments), std::env::current_dir()?),
        policy,
        connect::entropy()?,
    );
    Ok(Server::new(desk))
}

/// The monitor's files.
fn places(arguments: &McpDesk) -> Places {
    let usual = Places::default();
    Places {
        jobs: arguments.jobs.clone().unwrap_or(usual.jobs),
        events: arguments.events.clone().unwrap_or(usual.events),
        ..Places::default()
    }
}

/// Serves until the input ends.
async fn serve(server: Server) -> Result<Exit, Stopped> {
    let (input, output) = rmcp::transport::stdio();
    let input = input::ToItsEnd::new(input, server.clone());
    let running = match server.serve((input, output)).await {
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
