//! The parent's pool of children.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phileas_domain::Diagnostic;
use phileas_domain::prompt::{RenderAnswer, RenderError, RenderRequest};

use super::child::request_lines;
use super::limits::{
    ARGUMENT, MAX_CHILDREN, MEMORY_LIMIT_BYTES, PATIENCE, PROCESSOR_LIMIT_SECS, ROUND_LIMIT,
    STACK_LIMIT_BYTES, START_LIMIT, WALL_LIMIT,
};
use super::protocol::{ANSWER_LIMIT_BYTES, ChildResponse, unavailable_answer};

/// The stack of the thread that communicates with a child.
const TALK_STACK_BYTES: usize = 512 * 1024;

/// How many prompts that killed a child are remembered.
const DEATHS_KEPT: usize = 1_000;
/// How long a prompt that killed a child is not rendered again.
const DEATH_COUNTS_FOR: Duration = Duration::from_secs(60 * 60);

/// The children of one program.
#[derive(Debug)]
pub(super) struct Pool {
    program: PathBuf,
    state: Mutex<State>,
    freed: Condvar,
    started: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    /// How many rounds are running; each has at most one child.
    working: usize,
    /// Idle children.
    idle: Vec<Child>,
    /// The number of guards.
    guards: usize,
    /// Prompts that killed a child, newest last: the key of their inputs, the time, and the error.
    deaths: VecDeque<(String, Instant, RenderAnswer)>,
}

impl Pool {
    pub(super) fn new(program: PathBuf) -> Self {
        Self {
            program,
            state: Mutex::default(),
            freed: Condvar::new(),
            started: AtomicUsize::new(0),
        }
    }

    pub(super) fn started_children(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Keeps idle children from now on.
    pub(super) fn keep_children(&self) {
        self.lock_state().guards += 1;
    }

    /// Ends idle children when the last guard is gone.
    pub(super) fn release_children(&self) {
        let mut state = self.lock_state();
        state.guards = state.guards.saturating_sub(1);
        let idle = match state.guards {
            0 => std::mem::take(&mut state.idle),
            _ => Vec::new(),
        };
        drop(state);
        // Wait for their ends outside of the lock.
        drop(idle);
    }

    pub(super) fn render(&self, requests: &[RenderRequest]) -> Vec<RenderAnswer> {
        let Some(Permit { mut child }) = self.take_permit() else {
            let why = "two other rounds are rendered and did not end";
            return requests.iter().map(|_| unavailable_answer(why)).collect();
        };
        let ends_at = Instant::now() + ROUND_LIMIT;
        let answers = requests.iter().map(|request| {
            if Instant::now() >= ends_at {
                let seconds = ROUND_LIMIT.as_secs();
                return unavailable_answer(format!(
                    "the prompts of one round take more than {seconds} s"
                ));
            }
            self.render_one(&mut child, request)
        });
        let answers = answers.collect();
        self.return_permit(child);
        answers
    }

    /// Waits for a place, and takes an idle child if there is one. `None`: no place became free.
    fn take_permit(&self) -> Option<Permit> {
        let state = self.lock_state();
        let is_full = |state: &mut State| state.working >= MAX_CHILDREN;
        let waited = self.freed.wait_timeout_while(state, PATIENCE, is_full);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && state.working >= MAX_CHILDREN {
            return None;
        }
        state.working += 1;
        let child = state.idle.pop();
        Some(Permit { child })
    }

    fn return_permit(&self, child: Option<Child>) {
        let mut state = self.lock_state();
        state.working -= 1;
        let spare = match (state.guards, child) {
            (0, child) => child,
            (_, child) => {
                state.idle.extend(child);
                None
            }
        };
        drop(state);
        self.freed.notify_one();
        drop(spare);
    }

    /// Renders one prompt. A child that rendered others before may have less memory left than a new one, so a prompt
    /// that kills it is tried once more in a new one.
    fn render_one(&self, child: &mut Option<Child>, request: &RenderRequest) -> RenderAnswer {
        let inputs = request.key_of_inputs();
        if let Some(known) = self.known_death(&inputs) {
            return known;
        }
        loop {
            let mut at_work = match child.take() {
                Some(known) => known,
                None => match Child::start_child(&self.program) {
                    Ok(started) => {
                        self.started.fetch_add(1, Ordering::Relaxed);
                        started
                    }
                    Err(why) => {
                        tracing::warn!("a prompt was not rendered: {why}");
                        return unavailable_answer(why);
                    }
                },
            };
            let is_new = at_work.rendered == 0;
            match at_work.ask_child(request) {
                Ok(answer) => {
                    *child = Some(at_work);
                    return answer;
                }
                Err(why) => {
                    let death = at_work.end_child(why);
                    // The processor time of other prompts does not count.
                    if is_new || matches!(signal(death.status), Some(Signal::Processor)) {
                        let answer = death.into_answer(request);
                        self.note_death(inputs, &answer);
                        return answer;
                    }
                }
            }
        }
    }

    /// The error of a prompt that killed a child. It would only kill another one and delay the others again.
    fn known_death(&self, inputs: &str) -> Option<RenderAnswer> {
        let mut state = self.lock_state();
        let deaths = &mut state.deaths;
        deaths.retain(|(_, at, _)| at.elapsed() < DEATH_COUNTS_FOR);
        let known = deaths.iter().find(|(known, _, _)| known == inputs);
        known.map(|(_, _, answer)| answer.clone())
    }

    fn note_death(&self, inputs: String, answer: &RenderAnswer) {
        if !matches!(answer.error(), Some(RenderError::Invalid(_))) {
            return;
        }
        let deaths = &mut self.lock_state().deaths;
        if deaths.len() == DEATHS_KEPT {
            deaths.pop_front();
        }
        deaths.push_back((inputs, Instant::now(), answer.clone()));
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to render a round.
struct Permit {
    /// The child that renders it, if one was idle.
    child: Option<Child>,
}

/// A child process, and the thread that communicates with it, because only a thread can wait for a pipe with a time
/// limit.
#[derive(Debug)]
struct Child {
    process: std::process::Child,
    requests: Sender<Vec<u8>>,
    responses: Receiver<io::Result<ChildResponse>>,
    /// Digests of the files that it holds.
    files: VecDeque<String>,
    /// How many prompts it has rendered.
    rendered: usize,
}

/// Why a child gave no answer.
enum NoAnswer {
    /// It took too long and was killed.
    TooLong,
    /// Its answer is longer than `ANSWER_LIMIT_BYTES`.
    TooMuch,
    /// It ended, or sent an unknown message.
    Ended(String),
}

/// How a child ended.
struct Death {
    silence: NoAnswer,
    status: Option<ExitStatus>,
}

impl Child {
    fn start_child(program: &Path) -> Result<Self, String> {
        let cannot = |error: io::Error| format!("no process can be started to render it: {error}");
        let mut command = Command::new(program);
        command
            .arg(ARGUMENT)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.arg0("phileas").current_dir("/");
        }
        let mut process = command.spawn().map_err(cannot)?;
        let (told, to_tell) = channel();
        let (hears, heard) = channel();
        let pipes = process.stdin.take().zip(process.stdout.take());
        let talking = std::thread::Builder::new()
            .name("renderer".to_owned())
            .stack_size(TALK_STACK_BYTES)
            .spawn(move || {
                if let Some((input, output)) = pipes {
                    exchange_lines(input, output, &to_tell, &hears);
                }
            });
        let child = Self {
            process,
            requests: told,
            responses: heard,
            files: VecDeque::new(),
            rendered: 0,
        };
        // From here on the process ends when its value is dropped.
        talking.map_err(cannot)?;
        match child.receive_answer(START_LIMIT) {
            Ok(ChildResponse::Ready) => Ok(child),
            Ok(ChildResponse::Unlimited(why)) => {
                Err(format!("its process cannot limit itself: {why}"))
            }
            Ok(ChildResponse::Answer(_)) => Err("its process speaks before it is asked".to_owned()),
            Err(NoAnswer::TooLong) => {
                let seconds = START_LIMIT.as_secs();
                Err(format!("its process did not start within {seconds} s"))
            }
            Err(NoAnswer::TooMuch) => Err("its process speaks before it is asked".to_owned()),
            Err(NoAnswer::Ended(why)) => Err(format!("its process did not start: {why}")),
        }
    }

    fn ask_child(&mut self, request: &RenderRequest) -> Result<RenderAnswer, NoAnswer> {
        let ended = |error: String| NoAnswer::Ended(error);
        let lines =
            request_lines(request, &mut self.files).map_err(|error| ended(error.to_string()))?;
        let gone = |_| ended("its thread ended".to_owned());
        self.requests.send(lines).map_err(gone)?;
        match self.receive_answer(WALL_LIMIT)? {
            ChildResponse::Answer(answer) => {
                self.rendered += 1;
                Ok(answer)
            }
            ChildResponse::Ready | ChildResponse::Unlimited(_) => {
                Err(ended("it answered something else".to_owned()))
            }
        }
    }

    fn receive_answer(&self, within: Duration) -> Result<ChildResponse, NoAnswer> {
        match self.responses.recv_timeout(within) {
            Ok(Ok(heard)) => Ok(heard),
            Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => Err(NoAnswer::TooMuch),
            Ok(Err(error)) => Err(NoAnswer::Ended(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Err(NoAnswer::TooLong),
            Err(RecvTimeoutError::Disconnected) => Err(NoAnswer::Ended("it ended".to_owned())),
        }
    }

    fn end_child(mut self, silence: NoAnswer) -> Death {
        // A process that has closed its pipe is about to end.
        let _gone_already = self.process.kill();
        Death {
            status: self.process.wait().ok(),
            silence,
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _gone_already = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// Sends lines, and receives one answer to each request.
fn exchange_lines(
    mut input: ChildStdin,
    output: ChildStdout,
    to_tell: &Receiver<Vec<u8>>,
    hears: &Sender<io::Result<ChildResponse>>,
) {
    let mut output = BufReader::new(output);
    let mut hear = || {
        let mut line = Vec::new();
        let read = (&mut output)
            .take(ANSWER_LIMIT_BYTES)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == ANSWER_LIMIT_BYTES {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(serde_json::from_slice(&line)?)
    };
    if hears.send(hear()).is_err() {
        return;
    }
    while let Ok(lines) = to_tell.recv() {
        // A child that dies while it receives files cannot read the rest.
        let heard = input
            .write_all(&lines)
            .and_then(|()| input.flush())
            .and_then(|()| hear());
        let is_over = heard.is_err();
        if hears.send(heard).is_err() || is_over {
            return;
        }
    }
}

impl Death {
    /// The answer for the prompt that it was rendering.
    fn into_answer(self, request: &RenderRequest) -> RenderAnswer {
        const MIB: u64 = 1024 * 1024;
        let (memory, stack) = (MEMORY_LIMIT_BYTES / MIB, STACK_LIMIT_BYTES as u64 / MIB);
        let long_texts = "look for a filter, an operator or a loop that makes long texts or lists";
        let (what, help) = match (&self.silence, signal(self.status)) {
            (NoAnswer::TooMuch, _) => (
                format!(
                    "gave an answer of more than {} MiB",
                    ANSWER_LIMIT_BYTES / MIB
                ),
                long_texts,
            ),
            (NoAnswer::TooLong, _) if cfg!(unix) => {
                let seconds = WALL_LIMIT.as_secs();
                let why =
                    format!("its process did not get enough processor time within {seconds} s");
                tracing::warn!("the prompt of {} was not rendered: {why}", request.name());
                return unavailable_answer(why);
            }
            (NoAnswer::TooLong, _) => {
                let seconds = WALL_LIMIT.as_secs();
                (format!("took more than {seconds} s"), long_texts)
            }
            (_, Some(Signal::Memory)) => {
                (format!("took more than {memory} MiB of memory"), long_texts)
            }
            (_, Some(Signal::Processor)) => (
                format!("took more than {PROCESSOR_LIMIT_SECS} s of processor time"),
                long_texts,
            ),
            (_, Some(Signal::Stack)) => (
                format!("took more than {stack} MiB of stack"),
                "look for values, expressions or templates that are nested very deep",
            ),
            (NoAnswer::Ended(why), None) => {
                let how = self
                    .status
                    .map_or_else(|| why.clone(), |status| status.to_string());
                let why = format!("the process that rendered it ended: {how}");
                tracing::warn!("a prompt was not rendered: {why}");
                return unavailable_answer(why);
            }
        };
        let message = format!("rendering the prompt {what}, so it was stopped");
        tracing::info!("the prompt of {}: {message}", request.name());
        let wrong = Diagnostic::error(request.path(), message).help(help);
        RenderAnswer::Failed(RenderError::Invalid(vec![wrong]))
    }
}

/// A signal that a template caused.
enum Signal {
    Memory,
    Processor,
    Stack,
}

#[cfg(unix)]
fn signal(status: Option<ExitStatus>) -> Option<Signal> {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal as Number;
    let raw = status?.signal()?;
    // Rust aborts with SIGABRT if memory is refused.
    if raw == Number::ABORT.as_raw() {
        Some(Signal::Memory)
    } else if raw == Number::XCPU.as_raw() {
        Some(Signal::Processor)
    } else if raw == Number::SEGV.as_raw() || raw == Number::BUS.as_raw() {
        Some(Signal::Stack)
    } else {
        None
    }
}

/// Without limits, a failing process ran out of memory.
#[cfg(not(unix))]
fn signal(status: Option<ExitStatus>) -> Option<Signal> {
    status
        .filter(|status| !status.success())
        .map(|_| Signal::Memory)
}
