//! Starts a program for each event. The program finds the event in the variable `JULES_EVENT` and
//! on standard input.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use phileas_domain::jobs::{Event, EventKind};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command as Process;

use super::watcher::Handler;

/// The variable that carries the event.
pub const VARIABLE: &str = "JULES_EVENT";
/// The key of an event in the variable that has more on standard input.
pub const SHORTENED: &str = "shortened";
/// Linux refuses a variable of 128 KiB or more. A longer event comes without its payload in the
/// variable, and whole on standard input.
const MAX_VARIABLE_BYTES: usize = 120 << 10;

/// The most bytes of an event's kind in the variable, where the event is too long for it.
const MAX_WORD_BYTES: usize = 200;

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A program that phileas starts without a shell.
    Program(Vec<String>),
    /// A line for `sh -c`, if the user requested a shell.
    Shell(String),
}

/// The programs that handle events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// Handles the kinds without a program of their own. `None`: such an event is ignored.
    pub default: Option<Command>,
    /// Programs for single kinds.
    pub by_kind: BTreeMap<EventKind, Command>,
    /// How long a program may take.
    pub timeout: Duration,
}

impl Command {
    /// Reads a command as a user types it: words with the quotation marks of a shell, but no other
    /// syntax of a shell.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let words = shlex::split(text)?;
        (!words.is_empty()).then_some(Self::Program(words))
    }

    fn build_process(&self) -> Option<Process> {
        match self {
            Self::Program(words) => {
                let (program, arguments) = words.split_first()?;
                let mut process = Process::new(program);
                process.args(arguments);
                Some(process)
            }
            Self::Shell(line) => {
                let mut process = Process::new("sh");
                process.args(["-c", line]);
                Some(process)
            }
        }
    }

    fn program_name(&self) -> &str {
        match self {
            Self::Program(words) => words.first().map_or("", String::as_str),
            Self::Shell(_) => "sh",
        }
    }
}

impl Handler for Commands {
    async fn handle_event(&self, event: &Event) -> Result<(), String> {
        let own = event.event_kind().and_then(|kind| self.by_kind.get(&kind));
        let Some(command) = own.or(self.default.as_ref()) else {
            return Ok(());
        };
        let Some(mut process) = command.build_process() else {
            return Ok(());
        };
        let line = event.render();
        let whole = line.trim_end();
        let mut carried = whole.to_owned();
        if carried.len() > MAX_VARIABLE_BYTES {
            let mut short = event.clone();
            short.payload = None;
            short.message = None;
            short.rest.clear();
            short.rest.insert(SHORTENED.to_owned(), true.into());
            carried = short.render().trim_end().to_owned();
            if carried.len() > MAX_VARIABLE_BYTES {
                // Another program may have written any text into any field.
                short
                    .event
                    .truncate(short.event.floor_char_boundary(MAX_WORD_BYTES));
                short.status = None;
                short.dedup_key = None;
                carried = short.render().trim_end().to_owned();
            }
        }
        let name = command.program_name();
        let mut child = process
            .env(VARIABLE, carried)
            .stdin(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        let stdin = child.stdin.take();
        let work = async {
            if let Some(mut stdin) = stdin {
                // A program that reads the variable may leave its input unread.
                let _unread = stdin.write_all(line.as_bytes()).await;
            }
            child.wait().await
        };
        match tokio::time::timeout(self.timeout, work).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("`{name}` ended with {status}")),
            Ok(Err(error)) => Err(format!("`{name}`: {error}")),
            Err(_late) => Err(format!(
                "`{name}` was killed, because it ran longer than {} seconds",
                self.timeout.as_secs()
            )),
        }
    }
}
