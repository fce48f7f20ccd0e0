//! The program as people start it: a process with arguments, an environment and an exit code.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use phileas::sandbox::world_setup::{GITHUB_TOKEN, JULES_KEY};
use serde_json::Value;

use super::{Served, held};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_phileas");
/// What a shell or a workflow may have set for another purpose, by the beginning of its name.
const FOREIGN: [&str; 10] = [
    "GH_", "GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_", "JULES_", "PHILEAS_", "NO_COLOR",
    "CLICOLOR", "GOOGLE_",
];
/// The same, by the whole name; lower-case spellings count, too.
const FOREIGN_WHOLE: [&str; 5] = ["CI", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
/// How long a process may take on a busy machine before it counts as hanging.
const LIMIT: Duration = Duration::from_secs(180);

/// A process that another thread may kill.
pub(crate) type Handle = Arc<Mutex<Option<Child>>>;

/// The program, about to be started.
pub(crate) struct Phileas {
    command: Command,
    handle: Handle,
    command_line: String,
}

/// The program, ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
    command_line: String,
}

impl Phileas {
    /// The program with these arguments, in an environment without anything that would lead it elsewhere.
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(arguments);
        Self::start_of(command, arguments)
    }

    /// The same at a terminal, which `script` (of util-linux) plays.
    pub(crate) fn on_a_terminal(arguments: &[&str]) -> Self {
        let words = [&[PROGRAM], arguments].concat();
        assert!(
            words.iter().all(|word| !word.contains(char::is_whitespace)),
            "`script` takes one line: {words:?}"
        );
        let mut command = Command::new("script");
        command.args([
            "--quiet",
            "--return",
            "--command",
            &words.join(" "),
            "/dev/null",
        ]);
        Self::start_of(command, arguments)
    }

    fn start_of(mut command: Command, arguments: &[&str]) -> Self {
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_uppercase();
            if FOREIGN.iter().any(|start| upper.starts_with(start))
                || FOREIGN_WHOLE.contains(&upper.as_str())
            {
                command.env_remove(&name);
            }
        }
        Self {
            command,
            handle: Handle::default(),
            command_line: arguments.join(" "),
        }
    }

    /// `phileas tick` against a world that is served, with JSON lines.
    pub(crate) fn tick(served: &Served) -> Self {
        Self::new(&["tick", "--repo", "acme/widget", "--json"]).within(served)
    }

    /// The credentials and addresses of a world that is served.
    pub(crate) fn within(self, served: &Served) -> Self {
        let github = format!("http://{}", served.github);
        self.env("GITHUB_TOKEN", GITHUB_TOKEN)
            .env("GITHUB_GRAPHQL_URL", &format!("{github}/graphql"))
            .env("GITHUB_API_URL", &github)
            .env("JULES_API_KEY", JULES_KEY)
            .env(
                "JULES_API_BASE",
                &format!("http://{}/v1alpha", served.jules),
            )
    }

    /// With these further arguments.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self.command_line = [&self.command_line, &arguments.join(" ")]
            .map(|words| words.trim())
            .join(" ");
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Under a limit of the system, which `prlimit` (of util-linux) sets, such as `--nofile=64`.
    pub(crate) fn limited(mut self, limit: &str) -> Self {
        let mut command = Command::new("prlimit");
        command
            .args([limit, "--"])
            .arg(self.command.get_program())
            .args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        self.command = command;
        self
    }

    /// What it logs goes into a file.
    pub(crate) fn logging_to(mut self, log: std::fs::File) -> Self {
        self.command.stderr(log);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The program for a test that speaks with it.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// Starts the program for a test that ends it itself. What it logs is seen with the test's own output.
    pub(crate) fn spawn(mut self) -> Child {
        self.command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{:?}: {error}", self.command))
    }

    /// Lets another thread hold the process.
    pub(crate) fn held_by(mut self, handle: &Handle) -> Self {
        self.handle = Arc::clone(handle);
        self
    }

    /// Runs the program to its end.
    pub(crate) fn run(mut self) -> Ended {
        let (out, err) = {
            // A thread that shares the handle waits here until there is a process in it.
            let mut handle = held(&self.handle);
            let mut child = self
                .command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
            let pipes = (reader(child.stdout.take()), reader(child.stderr.take()));
            *handle = Some(child);
            pipes
        };
        let deadline = Instant::now() + LIMIT;
        let text = |pipe: Receiver<String>| {
            pipe.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        };
        let (out, err) = (text(out), text(err));
        let mut handle = held(&self.handle);
        let child = handle.as_mut().unwrap();
        let (Ok(out), Ok(err)) = (out, err) else {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!(
                "`phileas {}` did not end within {LIMIT:?}",
                self.command_line
            );
        };
        Ended {
            // Both pipes are closed, so the process is gone or about to be.
            status: child.wait().unwrap(),
            out,
            err,
            command_line: self.command_line,
        }
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    let mut pipe = pipe.unwrap();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        // The receiver is gone when the process was given up.
        let _late = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

impl Ended {
    /// The exit code, and on a surprise everything that was printed.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Whether it was killed by SIGKILL.
    pub(crate) fn was_killed(&self) -> bool {
        use std::os::unix::process::ExitStatusExt as _;
        self.status.signal() == Some(9)
    }

    /// Standard output as JSON, a value a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"))
            })
            .collect()
    }

    /// The last line's summary.
    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        let last = self.lines().pop().unwrap_or_default();
        assert!(
            last["summary"].is_object(),
            "the last line is not a summary\n{self}"
        );
        last["summary"].clone()
    }

    /// What it did, without what waits.
    pub(crate) fn did_nothing(&self) -> bool {
        self.summary()["commits"] == 0
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            status,
            out,
            err,
            command_line: words,
        } = self;
        write!(
            f,
            "`phileas {words}`: {status}\n--- standard output\n{out}--- standard error\n{err}"
        )
    }
}
