//! `phileas sandbox --world-only`: serves the two models, and nothing else.

use std::io::{Read as _, Write};
use std::net::SocketAddr;

use phileas_world::github::Role;
use phileas_world::http::ClockMode;
use phileas_world::maintainer::ReviewPolicy;
use serde_json::json;
use tokio::net::TcpListener;

use super::environment;
use super::service::{models_result, serve_models};
use crate::cli::arguments::Sandbox;
use crate::cli::context::bind::bind_listener;
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::exit::paths::export_error;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::sandbox::{SharedWorld, WorldSetup, world_setup};
use crate::server::shutdown_pair;

/// How much of standard input is read at once. Only its end matters.
const INPUT_CHUNK: usize = 4_096;

/// Serves both models until a pipe on standard input closes or a signal asks for the end.
///
/// The clock stands until a client advances it with `POST /__world/advance`, and no maintainer reviews. So a program
/// that uses the models sees only what it does itself.
pub(crate) async fn run(
    arguments: &Sandbox,
    setup: WorldSetup,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let setup = WorldSetup {
        review_policy: ReviewPolicy::absent(),
        ..setup
    };
    let (mut world, repo) = setup.build_world().map_err(CliError::usage)?;
    // Checks of other clients create hooks and variables, which needs more rights than phileas has.
    world
        .github_mut()
        .set_role(repo, world_setup::RUNNER, Role::Admin);
    let shared = SharedWorld::new(world);
    let (github, github_at) = bind_model("--github", arguments.github).await?;
    let (jules, jules_at) = bind_model("--jules", arguments.jules).await?;
    shared.lock_world().github_mut().api_url = format!("http://{github_at}");
    let places = json!({
        "github": format!("http://{github_at}"),
        "jules": format!("http://{jules_at}/v1alpha"),
        "token": world_setup::GITHUB_TOKEN,
        "jules_key": world_setup::JULES_KEY,
        "repository": world_setup::repository_name().to_string(),
    });
    let signal = shutdown_signal()?;
    if screen.terminal && !arguments.json {
        for line in shell_lines(&places) {
            screen.print_line(&line)?;
        }
    } else {
        screen.print_line(&places.to_string())?;
    }
    screen.flush()?;

    let (end, asked) = shutdown_pair();
    let mut models = serve_models(&shared, github, jules, ClockMode::Manual, &asked);
    let early = tokio::select! {
        ended = &mut models => Some(ended),
        () = wait_for_input_end() => None,
        () = signal => None,
    };
    end.request_shutdown();
    let ended = match early {
        Some(ended) => ended,
        None => models.await,
    };
    let exported = arguments.export.as_ref().map_or(Ok(()), |dir| {
        let exported = shared.lock_world().export(dir);
        exported.map_err(|error| export_error(&error))
    });
    models_result(ended)?;
    exported?;
    Ok(Exit::Done)
}

/// What to paste into another shell, and how to advance the clock there.
fn shell_lines(places: &serde_json::Value) -> Vec<String> {
    let text = |name: &str| places[name].as_str().unwrap_or_default();
    let github = text("github");
    let mut lines = vec![
        format!(
            "A model of GitHub with {}, and a model of Jules. In another shell:",
            text("repository")
        ),
        String::new(),
    ];
    let exports = environment::export_lines(github, text("jules"), text("token"));
    lines.extend(exports);
    lines.extend([
        format!(
            "# the clock stands until you move it: curl -d '{{\"by\": \"30m\"}}' {github}/__world/advance"
        ),
        String::new(),
        "Ctrl-C ends it.".to_owned(),
    ]);
    lines
}

async fn bind_model(
    option: &str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), CliError> {
    let listener = bind_listener(option, address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Waits for the end of a pipe on standard input: the program that started this with a pipe may die, and nothing else
/// would report it. A terminal, a file or no input (`</dev/null`, `&`) has no such meaning.
///
/// A thread of its own reads it, because a read that never returns would keep the runtime from ending after a signal.
async fn wait_for_input_end() {
    if !is_pipe() {
        return std::future::pending().await;
    }
    let (closed, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut chunk = [0; INPUT_CHUNK];
        let mut input = std::io::stdin().lock();
        while let Ok(1..) = input.read(&mut chunk) {}
        drop(closed);
    });
    // Dropping the sender reports the end.
    let _closed = wait.await;
}

/// Whether standard input is a pipe. Some programs use sockets for it.
#[cfg(unix)]
fn is_pipe() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let facts = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|input| std::fs::File::from(input).metadata());
    facts.is_ok_and(|facts| facts.file_type().is_fifo() || facts.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_pipe() -> bool {
    use std::io::IsTerminal as _;
    !std::io::stdin().is_terminal()
}
