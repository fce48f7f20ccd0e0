//! Reads the command line of the process, runs the command it names, and turns the result into an exit code.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::CommandFactory as _;

use super::arguments::{self, Arguments, Command};
use super::commands::{
    action, bootstrap, deinit, deliveries, doctor, exchange, health, init, jobs, labels, manual,
    mcp, park, persona, pipeline, probe, prompt, replay, role, sandbox, schema, serve, session,
    setup, simulate, sprint, state, status, stop, task, tick, track, upgrade, validate,
};
use super::deadline::Deadline;
use super::exit::{Exit, Stopped};
use super::terminal::output::{self, Screen};
use super::{logs, parse};
use crate::adapters::renderer;

/// How long threads that block are waited for at the end. All that must be done is done by then.
const LEAVE: Duration = Duration::from_millis(500);

/// Reads the command line of this process and does what it says.
#[must_use]
pub fn main() -> ExitCode {
    if renderer::is_child() {
        return renderer::child_main();
    }
    renderer::use_children();
    let words = std::env::args_os().collect();
    let arguments = match parse::parse(words, Path::new(".")) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors; everything else is usage.
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            // There is nobody left to tell when the message itself cannot be written.
            let _unwritable = error.print();
            return exit.into();
        }
    };
    logs::open(&arguments.command);
    let mut screen = Screen::standard();
    let runtime = match &arguments.command {
        Command::Serve(_) => serve::runtime(),
        Command::Sandbox(arguments) if arguments.serve || arguments.empty => serve::runtime(),
        _ => runtime(),
    };
    // A command asks for several prompts, one after another; a service keeps a child for as long as a tick.
    let is_service = matches!(&arguments.command, Command::Serve(_) | Command::Mcp(_));
    let _kept = (!is_service).then(|| renderer::shared().keep());
    let result = runtime.and_then(|runtime| {
        survive_file_size_limit(&runtime)?;
        let result = runtime.block_on(run(&arguments, &mut screen));
        leave(runtime);
        result
    });
    match result {
        Ok(exit) => exit.into(),
        Err(stopped) => {
            let _unwritable = output::lines_beside(&format!("phileas: {stopped}"));
            stopped.exit.into()
        }
    }
}

/// `SIGXFSZ`: a file would grow beyond the limit of the process (`RLIMIT_FSIZE`, as `ulimit -f` and `LimitFSIZE=` set it).
/// <https://man7.org/linux/man-pages/man7/signal.7.html>
#[cfg(all(unix, not(any(target_arch = "mips", target_arch = "mips64"))))]
const SIGXFSZ: i32 = 25;
#[cfg(all(unix, any(target_arch = "mips", target_arch = "mips64")))]
const SIGXFSZ: i32 = 31;

/// The signal ends a process that does not handle it. Handled, the write fails with `EFBIG` as on a full disk, and what
/// cannot be written is reported by the code that writes it. (`SIGPIPE` is ignored by Rust's own start.)
#[cfg(unix)]
fn survive_file_size_limit(runtime: &tokio::runtime::Runtime) -> Result<(), Stopped> {
    let _context = runtime.enter();
    // The handler stays for as long as the process lives; that the signal came is of no use.
    let handled = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ))?;
    drop(handled);
    Ok(())
}

#[cfg(not(unix))]
fn survive_file_size_limit(_: &tokio::runtime::Runtime) -> Result<(), Stopped> {
    Ok(())
}

/// A tick is one conversation after another, so one thread is enough.
fn runtime() -> Result<tokio::runtime::Runtime, Stopped> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Stopped::fault(error.to_string()))
}

/// Ends a runtime. A thread of it that still blocks is not waited for any longer than that: a name server that does not
/// answer holds one up for most of a minute, and whoever asked for the end may have less patience.
fn leave(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(LEAVE);
}

async fn run(arguments: &Arguments, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let deadline = Deadline::of(arguments);
    match &arguments.command {
        // At its deadline it still reports to the runner.
        Command::Action(arguments) => action::run(arguments, deadline, screen).await,
        _ => Deadline::within(deadline, command(arguments, deadline, screen)).await,
    }
}

async fn command(
    arguments: &Arguments,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match &arguments.command {
        Command::Sandbox(arguments) => sandbox::run(arguments, screen).await,
        Command::Tick(arguments) => tick::run(arguments, deadline, screen).await,
        Command::Action(arguments) => action::run(arguments, deadline, screen).await,
        Command::Explain(arguments) => {
            let arguments = arguments::TickArguments {
                dry_run: true,
                ..arguments.clone()
            };
            tick::run(&arguments, deadline, screen).await
        }
        Command::Init(arguments) => init::run(arguments, screen).await,
        Command::Deinit(arguments) => deinit::run(arguments, screen).await,
        Command::Upgrade(arguments) => upgrade::run(arguments, screen).await,
        Command::Bootstrap(arguments) => bootstrap::run(arguments, screen),
        Command::Role { command } => role::run(command, screen),
        Command::Labels { command } => labels::run(command, screen).await,
        Command::Exchange { command } => exchange::run(command, screen),
        Command::Pipeline { command } => pipeline::run(command, screen),
        Command::Schema { name } => schema::run(*name, screen),
        Command::Simulate(arguments) => simulate::run(arguments, screen).await,
        Command::Doctor(arguments) => doctor::run(arguments, screen).await,
        Command::Validate(arguments) => validate::run(arguments, screen).await,
        Command::State { command } => state::run(command, screen).await,
        Command::Track { command } => track::run(command, screen).await,
        Command::Status(repository) => status::run(repository, screen).await,
        Command::Prompt { command } => prompt::run(command, screen),
        Command::Setup { command } => setup::run(command, screen),
        Command::Session { command } => session::run(command, deadline, screen).await,
        // Without `--all` the command line is refused before it comes here.
        Command::Stop { repository, .. } => stop::run(repository, screen).await,
        Command::Resume(repository) => stop::resume(repository, screen).await,
        Command::Task { command } => task::run(command, screen),
        Command::Sprint { command } => sprint::run(command, screen).await,
        Command::Persona { command } => persona::run(command, screen).await,
        Command::Completions { shell } => {
            // The library panics where it cannot write, which a text never refuses.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "phileas", &mut script);
            screen.document(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Done)
        }
        Command::Man { command } => manual::run(command, screen),
        Command::Mcp(arguments) => mcp::run(arguments, screen).await,
        Command::Probe(arguments) => probe::run(arguments, screen).await,
        Command::Serve(arguments) => serve::run(arguments, screen).await,
        Command::Health(arguments) => health::run(arguments, screen).await,
        Command::Deliveries(arguments) => deliveries::run(arguments, screen).await,
        Command::Replay(arguments) => replay::run(arguments, screen).await,
        Command::Park { command } => park::run(command, screen).await,
        Command::Monitor(arguments) => jobs::monitor(arguments, screen).await,
        Command::Watch(arguments) => jobs::watch(arguments, screen).await,
        Command::HandleEvent(arguments) => jobs::handle_event(arguments, screen).await,
        Command::Events(arguments) => jobs::events(arguments, screen).await,
        Command::Jobs { command } => jobs::jobs(command, screen).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_blocks_a_thread_does_not_hold_up_the_end() {
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = std::sync::mpsc::channel();
        let runtime = serve::runtime().unwrap();
        // As a look-up of a name does.
        runtime.spawn_blocking(move || {
            let _told = begun.send(());
            let _released = blocked.recv();
        });
        has_begun.recv().unwrap();
        leave(runtime);
        // The end has come before the thread was released.
        release.send(()).unwrap();
    }
}
