//! `phileas sandbox --world-only`: the two models, served, and nothing else.

use std::io::{Read as _, Write};
use std::net::SocketAddr;

use phileas_world::Face;
use phileas_world::github::Role;
use phileas_world::http::{ClockMode, serve};
use phileas_world::maintainer::Temper;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::arguments::Sandbox;
use super::exit::{Exit, Stopped};
use super::output::Screen;
use crate::sandbox::{Scene, Shared, scene};

/// What is read from standard input at once. Nothing that comes is looked at; only its end counts.
const INPUT_CHUNK: usize = 4_096;

/// Serves both models until standard input closes or a signal asks for the end.
///
/// Time stands until somebody moves it by `POST /__world/advance`, and nobody reviews anything, so that a program that
/// talks to the models sees only what it does itself.
pub(super) async fn run(
    arguments: &Sandbox,
    scene: Scene,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let scene = Scene {
        temper: Temper::away(),
        ..scene
    };
    let (mut world, repo) = scene.build().map_err(Stopped::usage)?;
    // Checks of other clients make hooks and variables, which takes more than phileas itself needs.
    world
        .github_mut()
        .set_role(repo, scene::RUNNER, Role::Admin);
    let shared = Shared::new(world);
    let (github, github_at) = listen("--github", arguments.github).await?;
    let (jules, jules_at) = listen("--jules", arguments.jules).await?;
    shared.world().github_mut().api_url = format!("http://{github_at}");
    let places = json!({
        "github": format!("http://{github_at}"),
        "jules": format!("http://{jules_at}/v1alpha"),
        "token": scene::GITHUB_TOKEN,
        "jules_key": scene::JULES_KEY,
        "repository": scene::repository().to_string(),
    });
    screen.line(&places.to_string())?;
    screen.flush()?;

    let (end, ending) = watch::channel(false);
    let asked_to_end = |mut ending: watch::Receiver<bool>| async move {
        // A sender that is gone has nothing more to say either.
        let _gone = ending.wait_for(|end| *end).await;
    };
    let github = serve(
        shared.inner(),
        github,
        Face::Github,
        ClockMode::Manual,
        None,
        asked_to_end(ending.clone()),
    );
    let jules = serve(
        shared.inner(),
        jules,
        Face::Jules,
        ClockMode::Manual,
        None,
        asked_to_end(ending),
    );
    let waiting = async {
        let told = told_to_end().await;
        end.send_replace(true);
        told
    };
    let (told, (), ()) = tokio::join!(waiting, github, jules);
    told?;
    if let Some(dir) = &arguments.export {
        shared
            .world()
            .export(dir)
            .map_err(|error| Stopped::usage(format!("--export {}: {error}", dir.display())))?;
    }
    Ok(Exit::Done)
}

async fn listen(option: &str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), Stopped> {
    let wrong = |error: std::io::Error| Stopped::usage(format!("{option} {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let bound = listener.local_addr().map_err(wrong)?;
    Ok((listener, bound))
}

/// Waits for the end of standard input, or for a signal.
async fn told_to_end() -> Result<(), Stopped> {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?.recv().await;
        Ok::<_, std::io::Error>(())
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending();
    tokio::select! {
        () = input_closed() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
        terminated = terminated => Ok(terminated?),
    }
}

/// Waits for the end of standard input. The thread that reads it is one of its own, because a read that never returns
/// would otherwise keep the runtime from ending after a signal.
async fn input_closed() {
    let (closed, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut chunk = [0; INPUT_CHUNK];
        let mut input = std::io::stdin().lock();
        while let Ok(1..) = input.read(&mut chunk) {}
        drop(closed);
    });
    // The sender is dropped without a word; that is the sign.
    let _closed = wait.await;
}
