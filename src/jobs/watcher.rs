//! The watcher: passes events to a handler, one after the other.

use std::future::Future;
use std::path::PathBuf;

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::jobs::line::first_value;
use phileas_domain::jobs::{Event, WatcherMemory};
use serde_json::{Value, json};

use super::events::{EventsFile, event_of};
use super::files::{self, Lock, StoreError, sibling_path};
use super::paths::JobPaths;
use super::tail::{Tail, TailLine};

/// The ending of the name of the file for events that no handler accepted.
pub const DEAD: &str = ".dead.jsonl";
/// A dead-letter file of this many bytes is rotated before the next write. The rotation replaces
/// the previous one.
const MAX_DEAD_BYTES: u64 = 8 << 20;
/// The most characters of a bad line in the dead-letter file.
const MAX_DEAD_CHARS: usize = 4_000;
/// How many events are handled before the watcher checks for a stop.
const MAX_PASS: usize = 1_000;
/// The largest watcher memory that is read, in bytes.
const MAX_MEMORY_BYTES: usize = 64 << 10;

/// Handles events.
pub trait Handler: Send + Sync {
    /// Handles an event; an error says what went wrong. An event that needs no action is a success.
    fn handle_event(&self, event: &Event) -> impl Future<Output = Result<(), String>> + Send;
}

/// Passes events to a handler.
#[derive(Debug)]
pub struct Watcher<H> {
    events: EventsFile,
    state: PathBuf,
    handler: H,
    max_attempts: u32,
    _alone: Lock,
}

/// The result of a pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchPass {
    /// How many events were handled.
    pub handled: usize,
    /// How many lines became dead letters.
    pub dead: usize,
    /// When the event whose handler failed is tried again.
    pub retry_at: Option<Timestamp>,
    /// Whether there may be more events.
    pub more: bool,
}

impl<H: Handler> Watcher<H> {
    /// Creates the one watcher of this memory; `None` if another process is the watcher.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn new(
        places: &JobPaths,
        handler: H,
        max_attempts: u32,
    ) -> Result<Option<Self>, StoreError> {
        let Some(alone) = Lock::try_lock(&places.watcher)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            events: places.events_file(),
            state: places.watcher.clone(),
            handler,
            max_attempts,
            _alone: alone,
        }))
    }

    /// Handles all whole lines, in their order. A pass stops at an event whose handler failed until
    /// its retry is due.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn run_pass(&self, now: Timestamp) -> Result<WatchPass, StoreError> {
        let mut memory = self.write_memory()?;
        let before = memory.clone();
        if memory.last_event > Some(self.events.newest_id()?) {
            tracing::warn!(
                "{}: its events have smaller numbers than those handed on before, so it is another file; all of them are \
                 handed on",
                self.events.path().display()
            );
            memory.last_event = None;
            self.write(&memory)?;
        }
        let tail = Tail::new(self.events.path());
        let mut passed = WatchPass::default();
        for _ in 0..MAX_PASS {
            if let Some(at) = memory.retry_at.filter(|at| *at > now) {
                passed.retry_at = Some(at);
                return Ok(passed);
            }
            let Some(line) = tail.next(&mut memory)? else {
                // A rotation without a new line changes the memory, too.
                if memory != before {
                    self.write(&memory)?;
                }
                return Ok(passed);
            };
            self.deal_with((&tail, &line), &mut memory, &mut passed, now)
                .await?;
            if memory.retry_at.is_none() {
                tail.mark_passed(&mut memory, &line)?;
            }
            // The memory is written after each line, so that a successor does not begin again.
            self.write(&memory)?;
        }
        passed.more = true;
        Ok(passed)
    }

    async fn deal_with(
        &self,
        (tail, line): (&Tail, &TailLine),
        memory: &mut WatcherMemory,
        passed: &mut WatchPass,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let event = match event_of(self.events.path(), &line.line) {
            Ok(Some(event)) => event,
            Ok(None) => {
                memory.mark_done(line.end, None);
                return Ok(());
            }
            Err(mut wrong) => {
                let (path, number) = tail.locate_line(line)?;
                wrong.file = path.to_string_lossy().into_owned();
                wrong.line = u32::try_from(number).ok();
                tracing::warn!("{wrong}");
                let text = String::from_utf8_lossy(&line.line.bytes);
                let text: String = text.chars().take(MAX_DEAD_CHARS).collect();
                self.write_dead_letter(&json!({
                    "at": now.to_string(), "reason": wrong.message, "file": wrong.file, "number": number, "line": text,
                }))?;
                passed.dead += 1;
                memory.mark_done(line.end, None);
                return Ok(());
            }
        };
        let id = event.id;
        let noted = match id {
            Some(id) => {
                self.events.read_acknowledged()?.contains(id)
                    || self.events.handed_on()?.contains(id)
            }
            None => false,
        };
        if noted || memory.is_done(id) {
            memory.mark_done(line.end, id);
            return Ok(());
        }
        match self.handler.handle_event(&event).await {
            Ok(()) => {
                passed.handled += 1;
                if let Some(id) = id {
                    self.events.record_handed_on(id)?;
                }
                memory.mark_done(line.end, id);
            }
            Err(why) if memory.attempts + 1 >= self.max_attempts => {
                tracing::warn!(
                    event = id.map(|id| id.0),
                    "the event became a dead letter: {why}"
                );
                let attempts = memory.attempts + 1;
                let event = serde_json::to_value(&event).unwrap_or(Value::Null);
                self.write_dead_letter(&json!({
                    "at": now.to_string(), "reason": why, "attempts": attempts, "event": event,
                }))?;
                passed.dead += 1;
                memory.mark_done(line.end, id);
            }
            Err(why) => {
                memory.failed(now);
                tracing::warn!(
                    event = id.map(|id| id.0),
                    attempts = memory.attempts,
                    "{why}"
                );
            }
        }
        Ok(())
    }

    /// Writes an event that no handler accepted to the dead-letter file, where a person finds it.
    fn write_dead_letter(&self, letter: &Value) -> Result<(), StoreError> {
        let path = sibling_path(self.events.path(), DEAD);
        let _lock = Lock::wait_for_lock(&path)?;
        if std::fs::metadata(&path).is_ok_and(|known| known.len() >= MAX_DEAD_BYTES) {
            let older = sibling_path(&path, super::events::OLDER);
            std::fs::rename(&path, older).map_err(|error| StoreError::new(&path, error))?;
        }
        files::append_lines(&path, &format!("{letter}\n"))
    }

    fn write_memory(&self) -> Result<WatcherMemory, StoreError> {
        let parse = |file: &str, bytes: &[u8]| {
            let (value, behind) = first_value(file, bytes)?;
            let memory = serde_json::from_value(value)
                .map_err(|error| Diagnostic::error(file, error.to_string()).at(1, 1))?;
            Ok((memory, Vec::from_iter(behind)))
        };
        let (memory, found) = files::read_state(
            &self.state,
            MAX_MEMORY_BYTES,
            files::Unreadable::MoveAside,
            parse,
        )?;
        for wrong in found {
            tracing::warn!("{wrong}");
        }
        Ok(memory.unwrap_or_default())
    }

    fn write(&self, memory: &WatcherMemory) -> Result<(), StoreError> {
        let text = serde_json::to_string(memory).expect("its keys are texts");
        files::write_whole(&self.state, &text)
    }
}
