//! Reads the command line of the process, runs the command it names, and turns the result into an exit code.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::CommandFactory as _;

use super::arguments::{self, AgentCommand, Arguments, Command, ServiceCommand};
use super::commands::{
    action, adopt, bootstrap, deinit, deliveries, doctor, exchange, health, init, jobs, labels,
    manual, mcp, pause, persona, pipeline, prompt, replay, role, sandbox, schema, serve, session,
    setup, simulate, sprint, state, status, suspended, task, tick, track, upgrade, validate, work,
};
use super::deadline::{Deadline, RESUMED};
use super::exit::{CliError, Exit};
use super::terminal::output::{self, Screen};
use super::{logs, parse};
use crate::adapters::renderer;

/// How long to wait for blocked threads at the end. By then all required work is done.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(500);

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    if renderer::is_child() {
        return renderer::child_main();
    }
    // The hook of the standard library has printed where the panic was.
    std::panic::catch_unwind(run_process).unwrap_or_else(|_| Exit::Fault.into())
}

fn run_process() -> ExitCode {
    renderer::use_children();
    let words = std::env::args_os().collect();
    let arguments = match parse::parse_arguments(words, Path::new(".")) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors; everything else is a usage error.
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            // If the message itself cannot be written, there is no other way to report it.
            let _unwritable = error.print();
            return exit.into();
        }
    };
    logs::start_logging(&arguments.command);
    let mut screen = Screen::stdout();
    let runtime = match &arguments.command {
        Command::Serve(_) => serve::service_runtime(),
        Command::Sandbox(arguments) if arguments.serve || arguments.empty => {
            serve::service_runtime()
        }
        _ => command_runtime(),
    };
    // A command renders several prompts in a row. A service keeps a renderer for the length of a tick.
    let is_service = matches!(&arguments.command, Command::Serve(_) | Command::Mcp(_));
    let _kept = (!is_service).then(|| renderer::shared_renderer().keep_ready());
    let result = runtime.and_then(|runtime| {
        survive_file_size_limit(&runtime)?;
        let result = runtime.block_on(run(&arguments, &mut screen));
        shut_down(runtime);
        result
    });
    match result {
        Ok(exit) => exit.into(),
        Err(stopped) => {
            let _unwritable = output::print_error_lines(&format!("error: {stopped}"));
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

/// By default the signal ends the process. With a handler the write fails with `EFBIG`, as on a full disk, and the code
/// that writes reports it. (Rust's own start-up ignores `SIGPIPE`.)
#[cfg(unix)]
fn survive_file_size_limit(runtime: &tokio::runtime::Runtime) -> Result<(), CliError> {
    let _context = runtime.enter();
    // The handler stays as long as the process; the signal itself is of no use.
    let handled = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ))?;
    drop(handled);
    Ok(())
}

#[cfg(not(unix))]
fn survive_file_size_limit(_: &tokio::runtime::Runtime) -> Result<(), CliError> {
    Ok(())
}

/// A tick makes one request after another, so one thread is enough.
fn command_runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::fault(error.to_string()))
}

/// Ends a runtime without waiting long for blocked threads: a name server without an answer blocks one for almost a
/// minute.
fn shut_down(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
}

async fn run(arguments: &Arguments, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
    let deadline = Deadline::for_command(arguments);
    match &arguments.command {
        // It must report to the runner even after its deadline.
        Command::Action(arguments) => action::run(arguments, deadline, screen).await,
        command => {
            let note = match command {
                Command::Tick(_) => RESUMED,
                _ => "",
            };
            Deadline::run_within(deadline, note, run_command(arguments, deadline, screen)).await
        }
    }
}

async fn run_command(
    arguments: &Arguments,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
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
        Command::Adopt(arguments) => adopt::run(arguments, screen).await,
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
        Command::Work { command } => work::run(command, deadline, screen).await,
        Command::Track { command } => track::run(command, screen).await,
        Command::Status(repository) => status::run(repository, screen).await,
        Command::Prompt { command } => prompt::run(command, screen),
        Command::Setup { command } => setup::run(command, screen),
        Command::Session { command } => session::run(command, deadline, screen).await,
        Command::Pause(arguments) => pause::run(arguments, deadline, screen).await,
        Command::Resume(repository) => pause::resume_repository(repository, screen).await,
        Command::Task { command } => task::run(command, screen),
        Command::Sprint { command } => sprint::run(command, screen).await,
        Command::Persona { command } => persona::run(command, screen).await,
        Command::Completions { shell } => {
            // The library panics if a write fails, and a write to memory never does.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "phileas", &mut script);
            screen.print_document(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Done)
        }
        Command::Man { command } => manual::run(command, screen),
        Command::Mcp(arguments) => mcp::run(arguments, screen).await,
        Command::Serve(arguments) => serve::run(arguments, screen).await,
        Command::Service { command } => run_service_command(command, screen).await,
        Command::Agent { command } => run_agent_command(command, screen).await,
        Command::Monitor(arguments) => jobs::monitor(arguments, screen).await,
        Command::Watch(arguments) => jobs::watch(arguments, screen).await,
        Command::HandleEvent(arguments) => jobs::handle_event(arguments, screen).await,
    }
}

async fn run_service_command(
    command: &ServiceCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        ServiceCommand::Health(arguments) => health::run(arguments, screen).await,
        ServiceCommand::Deliveries(arguments) => deliveries::run(arguments, screen).await,
        ServiceCommand::Replay(arguments) => replay::run(arguments, screen).await,
        ServiceCommand::Suspended { command } => suspended::run(command, screen).await,
    }
}

async fn run_agent_command(
    command: &AgentCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        AgentCommand::Monitor(arguments) => jobs::monitor(arguments, screen).await,
        AgentCommand::Watch(arguments) => jobs::watch(arguments, screen).await,
        AgentCommand::HandleEvent(arguments) => jobs::handle_event(arguments, screen).await,
        AgentCommand::Events(arguments) => jobs::events(arguments, screen).await,
        AgentCommand::Jobs { command } => jobs::jobs(command, screen).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_thread_does_not_delay_the_end() {
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = std::sync::mpsc::channel();
        let runtime = serve::service_runtime().unwrap();
        // Like a lookup of a host name.
        runtime.spawn_blocking(move || {
            let _told = begun.send(());
            let _released = blocked.recv();
        });
        has_begun.recv().unwrap();
        shut_down(runtime);
        // The runtime ended before the thread was released.
        release.send(()).unwrap();
    }
}
