//! `phileas mcp`: a server of the Model Context Protocol on standard input and output, and its tools one at a time.

mod call;
mod house;

use std::io::Write;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use tokio::io::AsyncReadExt as _;

use super::arguments::{Mcp, McpCommand};
use super::connect;
use super::exit::{Exit, Stopped};
use super::output::Screen;
use crate::adapters::jules::hire::Account;
use crate::mcp::{Desk, Policy, Server};
use house::EnvironmentHouse;

pub(super) async fn run(arguments: &Mcp, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let server = server(arguments)?;
    match &arguments.command {
        Some(McpCommand::Call { tool, arguments }) => {
            call::run(server, tool, arguments, screen).await
        }
        None => serve(server).await,
    }
}

fn server(arguments: &Mcp) -> Result<Server, Stopped> {
    let policy = Policy {
        read_only: arguments.read_only,
        allowed: arguments.allow.clone(),
    };
    let jules = Account::new(Arc::new(connect::jules_client()?));
    let desk = Desk::new(
        Arc::new(jules),
        Arc::new(EnvironmentHouse),
        policy,
        connect::entropy()?,
    );
    Ok(Server::new(desk))
}

/// Serves until the input ends. Some clients leave out the end of the last line; what they said counts all the same.
async fn serve(server: Server) -> Result<Exit, Stopped> {
    let (input, output) = rmcp::transport::stdio();
    let input = input.chain(&b"\n"[..]);
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
