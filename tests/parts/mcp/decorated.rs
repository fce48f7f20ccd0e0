//! The server of phileas over HTTP for the conformance suites: as it is at `/mcp`, and at `/decorated/mcp` with the tools,
//! resources and prompts that the suites call by name. What those prove is the way there and back, which is the same.
//!
//! Prints its address on the first line and serves until its input ends.
#![expect(clippy::print_stdout, reason = "its address is its output")]

mod fixtures;

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use phileas::adapters::jules;
use phileas::adapters::pause::SystemPause;
use phileas::adapters::stopwatch::SystemStopwatch;
use phileas::adapters::transport::{HttpTransport, Limits, Proxies};
use phileas::jobs::JobPaths;
use phileas::mcp::http::{self, Hosts};
use phileas::mcp::{MonitorFiles, Policy, Server, ToolContext};

use fixtures::{Decorated, NoHouse};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: decorated FOLDER")?);
    let places = JobPaths {
        jobs: folder.join("jobs.jsonl"),
        events: folder.join("events.jsonl"),
        ..JobPaths::default()
    };
    let base = std::env::var("WORLD_JULES")?;
    let client = jules::Client::new(
        jules::Settings {
            base: jules::Base::parse(&base)?.0,
            ..jules::Settings::new(jules::JulesKey::new(&std::env::var("WORLD_JULES_KEY")?)?)
        },
        Arc::new(HttpTransport::new(Limits::default(), Proxies::from_env())),
        Arc::new(SystemStopwatch::default()),
        Arc::new(SystemPause),
    );
    let context = ToolContext::new(
        Ok(Arc::new(client)),
        Arc::new(NoHouse),
        MonitorFiles::new(&places, folder),
        Policy::default(),
        [7; 32],
    );
    let server = Server::new(context);
    let plain = server.clone();
    let decorated = Decorated::new(server);
    let routes =
        http::routes(move || plain.for_another(), Hosts::Loopback).merge(Router::new().nest(
            "/decorated",
            http::routes(move || decorated.for_another(), Hosts::Loopback),
        ));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let ended = tokio::task::spawn_blocking(|| {
        // The process that started it keeps the other end open as long as it is needed.
        let _ended = std::io::stdin().read_to_end(&mut Vec::new());
    });
    tokio::select! {
        served = axum::serve(listener, routes) => served?,
        _ = ended => {}
    }
    Ok(())
}
