//! Runs git with a time limit and without the machine's configuration.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use http::{HeaderValue, StatusCode};

use super::refusal::GitRefusal;
use super::request::Service;

/// The longest that git may take for one request.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// The longest part of git's error output in a reply, in characters.
const MAX_COMPLAINT: usize = 2_000;

/// One request to one of git's services.
pub(super) struct Call<'a> {
    pub(super) service: Service,
    pub(super) dir: &'a Path,
    /// The client's `Git-Protocol` header.
    pub(super) protocol: Option<&'a HeaderValue>,
}

impl Call<'_> {
    /// The references, as the service advertises them.
    pub(super) fn advertise_refs(&self) -> Result<Vec<u8>, GitRefusal> {
        self.run_with_options(&["--stateless-rpc", "--advertise-refs"], &[])
    }

    /// The service's answer to a body.
    pub(super) fn run_service(&self, body: &[u8]) -> Result<Vec<u8>, GitRefusal> {
        self.run_with_options(&["--stateless-rpc"], body)
    }

    fn run_with_options(&self, options: &[&str], input: &[u8]) -> Result<Vec<u8>, GitRefusal> {
        let mut command = git_command(self.dir);
        command
            .arg(self.service.git_subcommand())
            .args(options)
            .arg(".");
        // Only a plain version request may enter the environment.
        if let Some(protocol) = self.protocol.and_then(|value| value.to_str().ok())
            && protocol
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "=:.-".contains(c))
        {
            command.env("GIT_PROTOCOL", protocol);
        }
        run_command(command, input)
    }
}

/// The git command without configuration, and with no variables but these.
pub(super) fn git_command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).env_clear();
    for kept in ["PATH", "SYSTEMROOT", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    command
        .env("HOME", dir)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", null)
        // Git must not use a repository in a folder above.
        .env(
            "GIT_CEILING_DIRECTORIES",
            dir.parent().map_or(OsStr::new("/"), Path::as_os_str),
        );
    command
}

/// Runs a command to its end and gives its output.
pub(super) fn run_command(mut command: Command, input: &[u8]) -> Result<Vec<u8>, GitRefusal> {
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(GitRefusal::new(
                StatusCode::NOT_IMPLEMENTED,
                "the model of GitHub serves git with the program git, which is not in PATH; install it",
            ));
        }
        Err(error) => return Err(GitRefusal::internal_error("start git", error)),
    };
    let (output, complaint) = communicate_with(&mut child, input);
    let Some(output) = output else {
        // The child may have ended by itself; then there is nothing to kill.
        let _ = child.kill();
        let _ = child.wait();
        let limit = format!("it took more than {} seconds", TIME_LIMIT.as_secs());
        return Err(GitRefusal::internal_error("run git to its end", limit));
    };
    let status = child
        .wait()
        .map_err(|error| GitRefusal::internal_error("wait for git", error))?;
    // After a protocol error git writes the reason for the client, and then fails.
    if status.success() || !output.is_empty() {
        Ok(output)
    } else {
        let complaint: String = String::from_utf8_lossy(&complaint)
            .chars()
            .take(MAX_COMPLAINT)
            .collect();
        Err(GitRefusal::internal_error("run git", complaint.trim_end()))
    }
}

/// Writes the input of a child and collects its output; none when it does not end in time.
fn communicate_with(child: &mut Child, input: &[u8]) -> (Option<Vec<u8>>, Vec<u8>) {
    let output = collect_output(child.stdout.take());
    let complaint = collect_output(child.stderr.take());
    let stdin = child.stdin.take();
    let input = input.to_vec();
    // Git may end without reading everything; its output then says more than the broken pipe.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    match output.recv_timeout(TIME_LIMIT) {
        Ok(output) => (
            Some(output),
            complaint.recv_timeout(TIME_LIMIT).unwrap_or_default(),
        ),
        Err(_) => (None, Vec::new()),
    }
}

fn collect_output(source: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut source) = source {
            // Keep the output before an error.
            let _ = source.read_to_end(&mut all);
        }
        // The receiver is gone after the time limit.
        let _ = sender.send(all);
    });
    receiver
}
