//! Reads `config.json`: where the files are, how often they are polled, and how events are handled.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::event::EventKind;
use crate::{Diagnostic, json};

/// How often the monitor polls, in seconds.
pub const MONITOR_POLL_SECONDS: f64 = 45.0;
/// How often the watcher polls the events file if the system does not report changes, in seconds.
pub const WATCHER_POLL_SECONDS: f64 = 1.0;
/// How many minutes without activity make a session stuck.
pub const STUCK_MINUTES: f64 = 20.0;
/// How many failures in a row cause an error event.
pub const MAX_FAILURES: u32 = 5;
/// How often the watcher hands an event to a failing handler.
pub const MAX_ATTEMPTS: u32 = 5;
/// The time limit of a handler, in seconds.
pub const HANDLER_SECONDS: f64 = 600.0;
/// How many sessions may replace one that failed.
pub const RETRIES: u32 = 1;
/// The longest interval that can be set, in seconds: one day.
const MAX_SECONDS: f64 = 86_400.0;

/// The contents of a `config.json`. A missing key is `None`, so that flags and environment variables can take
/// precedence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The jobs file.
    pub jobs_path: Option<String>,
    /// The events file.
    pub events_path: Option<String>,
    /// The monitor's state file.
    pub monitor_state_path: Option<String>,
    /// The watcher's state file.
    pub watcher_state_path: Option<String>,
    /// How often the monitor polls.
    pub monitor_poll: Option<SignedDuration>,
    /// How often the watcher polls.
    pub watcher_poll: Option<SignedDuration>,
    /// How long a session has no activity before it counts as stuck.
    pub stuck: Option<SignedDuration>,
    /// The base URL of the Jules API.
    pub api_base: Option<String>,
    /// The command of an MCP server that the handler asks about the event's job.
    pub mcp_command: Option<Vec<String>>,
    /// The watcher's command for events of every kind: `command`, `event_command` or `zai_command`.
    pub command: Option<Vec<String>>,
    /// The watcher's commands for single kinds of events.
    pub handlers: BTreeMap<EventKind, Vec<String>>,
    /// How many failures in a row cause an error event.
    pub max_failures: Option<u32>,
    /// How often an event is handed to a failing handler.
    pub max_attempts: Option<u32>,
    /// The time limit of a handler.
    pub handler_timeout: Option<SignedDuration>,
    /// A folder with Jules API keys, as for the service.
    pub jules_keys_dir: Option<String>,
    /// What the handler may do.
    pub actions: Actions,
}

/// What the handler may do; `None` where the file does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    /// Ask Jules for the session: the question, the changes.
    pub read_session: Option<bool>,
    /// Ask GitHub for the pull request and its checks.
    pub checks: Option<bool>,
    /// Start up to this many sessions in place of one that failed; 0: never.
    pub retries: Option<u32>,
    /// Approve plans. `auto_approve_plans` is another name for it.
    pub approve_plans: Option<bool>,
    /// Archive the session once its pull request is merged or closed.
    pub archive: Option<bool>,
    /// Retire the job once its pull request is merged or closed.
    pub retire: Option<bool>,
}

/// Reads the keys of one file and reports mistakes.
struct Reader<'a> {
    file: &'a str,
    diagnostics: Vec<Diagnostic>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// All mistakes of the file. The second value of a result holds warnings about a file that is usable.
    pub fn parse(file: &str, text: &str) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut map: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            vec![
                Diagnostic::error(file, format!("the file is not a JSON object: {error}"))
                    .at(place(error.line()), place(error.column()))
                    .help("write { \"jobs_path\": \"…\", \"events_path\": \"…\" }"),
            ]
        })?;
        // serde takes the last of two equal keys without reporting them.
        json::parse(file, text)?;
        let mut reader = Reader {
            file,
            diagnostics: Vec::new(),
        };
        let mut config = Self::default();
        {
            let map = &mut map;
            let r = &mut reader;
            config.jobs_path = r.take_text(map, "jobs_path");
            config.events_path = r.take_text(map, "events_path");
            config.monitor_state_path = r.take_text(map, "monitor_state_path");
            config.watcher_state_path = r.take_text(map, "watcher_state_path");
            config.monitor_poll = r.length(map, "monitor_poll_seconds", 1.0);
            config.watcher_poll = r.length(map, "watcher_poll_seconds", 1.0);
            config.stuck = r.length(map, "stuck_minutes", 60.0);
            config.api_base = r.take_text(map, "api_base");
            config.mcp_command = r.take_command(map, "mcp_command");
            for name in ["zai_command", "event_command", "command"] {
                config.command = r.take_command(map, name).or(config.command);
            }
            config.handlers = r.take_handlers(map);
            config.max_failures = r.take_count(map, "max_failures", 1);
            config.max_attempts = r.take_count(map, "max_attempts", 1);
            config.handler_timeout = r.length(map, "handler_timeout_seconds", 1.0);
            config.jules_keys_dir = r.take_text(map, "jules_keys_dir");
            config.actions = r.take_actions(map);
        }
        for key in map.keys() {
            let unknown = Diagnostic::warning(file, "nothing reads this key").key(key.as_str());
            reader.diagnostics.push(unknown);
        }
        if reader.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(reader.diagnostics);
        }
        Ok((config, reader.diagnostics))
    }
}

impl Reader<'_> {
    fn report(&mut self, key: &str, what: &str, help: &str) {
        let wrong = Diagnostic::error(self.file, what).key(key).help(help);
        self.diagnostics.push(wrong);
    }

    fn take_key(map: &mut Map<String, Value>, key: &str) -> Option<Value> {
        map.shift_remove(key).filter(|value| !value.is_null())
    }

    fn take_text(&mut self, map: &mut Map<String, Value>, key: &str) -> Option<String> {
        match Self::take_key(map, key)? {
            Value::String(text) if !text.trim().is_empty() => Some(text),
            _ => {
                self.report(key, "it is not text", "write it between quotation marks");
                None
            }
        }
    }

    fn take_flag(&mut self, map: &mut Map<String, Value>, key: &str) -> Option<bool> {
        match Self::take_key(map, key)? {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.report(key, "it is neither true nor false", "write true or false");
                None
            }
        }
    }

    fn take_count(&mut self, map: &mut Map<String, Value>, key: &str, least: u32) -> Option<u32> {
        let value = Self::take_key(map, key)?;
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
        let count = count.filter(|count| (least..=1_000).contains(count));
        if count.is_none() {
            let help = format!("write a whole number from {least} to 1000");
            self.report(key, "it is not a number in range", &help);
        }
        count
    }

    fn length(
        &mut self,
        map: &mut Map<String, Value>,
        key: &str,
        unit: f64,
    ) -> Option<SignedDuration> {
        let value = Self::take_key(map, key)?;
        let length = value.as_f64().and_then(|count| length(count * unit));
        if length.is_none() {
            self.report(
                key,
                "it is not a length of time",
                "write a number above 0, of a day at most",
            );
        }
        length
    }

    fn take_command(&mut self, map: &mut Map<String, Value>, key: &str) -> Option<Vec<String>> {
        let value = Self::take_key(map, key)?;
        let command = match &value {
            // A single text is a program without arguments.
            Value::String(program) => Some(vec![program.clone()]),
            Value::Array(words) => words
                .iter()
                .map(|word| word.as_str().map(str::to_owned))
                .collect(),
            _ => None,
        };
        let command = command.filter(|words| words.first().is_some_and(|word| !word.is_empty()));
        if command.is_none() {
            self.report(
                key,
                "it is not a command",
                "write the program and its arguments as a list of texts",
            );
        }
        command
    }

    fn take_handlers(&mut self, map: &mut Map<String, Value>) -> BTreeMap<EventKind, Vec<String>> {
        let mut handlers = BTreeMap::new();
        match Self::take_key(map, "handlers") {
            None => {}
            Some(Value::Object(mut commands)) => {
                let kinds: Vec<String> = commands.keys().cloned().collect();
                for word in kinds {
                    let command = self.take_command(&mut commands, &word);
                    match word.parse::<EventKind>() {
                        Ok(kind) => handlers.extend(command.map(|command| (kind, command))),
                        Err(error) => {
                            let key = format!("handlers.{word}");
                            self.report(&key, &error.to_string(), "name one of these");
                        }
                    }
                }
            }
            Some(_) => self.report(
                "handlers",
                "it is not an object",
                "write { \"question\": [\"program\", \"argument\"] }",
            ),
        }
        handlers
    }

    fn take_actions(&mut self, map: &mut Map<String, Value>) -> Actions {
        let auto = self.take_flag(map, "auto_approve_plans");
        let mut inner = match Self::take_key(map, "actions") {
            None => Map::new(),
            Some(Value::Object(inner)) => inner,
            Some(_) => {
                self.report(
                    "actions",
                    "it is not an object",
                    "write { \"archive\": false }",
                );
                Map::new()
            }
        };
        let actions = Actions {
            read_session: self.take_flag(&mut inner, "look"),
            checks: self.take_flag(&mut inner, "checks"),
            retries: self.take_count(&mut inner, "retries", 0),
            approve_plans: self.take_flag(&mut inner, "approve_plans").or(auto),
            archive: self.take_flag(&mut inner, "archive"),
            retire: self.take_flag(&mut inner, "retire"),
        };
        for key in inner.keys() {
            let key = format!("actions.{key}");
            let unknown = Diagnostic::warning(self.file, "nothing reads this key").key(key);
            self.diagnostics.push(unknown);
        }
        actions
    }
}

/// A duration from seconds; `None` if it is not above zero, or longer than a day.
#[must_use]
pub fn length(seconds: f64) -> Option<SignedDuration> {
    if seconds > 0.0 && seconds <= MAX_SECONDS {
        SignedDuration::try_from_secs_f64(seconds).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5 of the seed, to the letter.
    const SEED: &str = r#"{
      "jobs_path": "zai-jules-manager/zai_jobs.jsonl",
      "events_path": "zai-jules-manager/zai_events.jsonl",
      "monitor_state_path": "zai-jules-manager/.zai_monitor_state.json",
      "watcher_state_path": "zai-jules-manager/.zai_watcher_state.json",
      "monitor_poll_seconds": 45,
      "watcher_poll_seconds": 1,
      "stuck_minutes": 20,
      "api_base": "https://jules.googleapis.com/v1",
      "mcp_command": ["python", "zai-jules-manager/mcp-server/jules_mcp_server.py"],
      "zai_command": ["zai", "handle-event"]
    }"#;

    #[test]
    fn the_configuration_of_the_seed_is_read_unchanged() {
        let (config, found) = Config::parse("config.json", SEED).unwrap();
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(config.monitor_poll, Some(SignedDuration::from_secs(45)));
        assert_eq!(config.watcher_poll, Some(SignedDuration::from_secs(1)));
        assert_eq!(config.stuck, Some(SignedDuration::from_mins(20)));
        assert_eq!(config.command.unwrap(), ["zai", "handle-event"]);
        assert_eq!(
            config.jobs_path.as_deref(),
            Some("zai-jules-manager/zai_jobs.jsonl")
        );
        assert_eq!(
            config.watcher_state_path.as_deref(),
            Some("zai-jules-manager/.zai_watcher_state.json")
        );
    }

    #[test]
    fn mistakes_name_their_key() {
        let text = r#"{"stuck_minutes": -1, "handlers": {"asked": ["x"]}, "zai_command": [], "jobs_pth": "x",
                       "actions": {"archive": "no", "archived": true}}"#;
        let found = Config::parse("config.json", text).unwrap_err();
        let keys: Vec<_> = found.iter().map(|found| found.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "stuck_minutes",
                "zai_command",
                "handlers.asked",
                "archive",
                "actions.archived",
                "jobs_pth"
            ]
        );
        let twice = "{\n  \"stuck_minutes\": 1,\n  \"stuck_minutes\": 2\n}";
        let told = Config::parse("config.json", twice).unwrap_err()[0].to_string();
        assert!(
            told.starts_with("config.json:3:3:") && told.contains("line 2"),
            "{told}"
        );
        let found = Config::parse("config.json", "{\n  \"a\": \n}").unwrap_err();
        assert_eq!(found[0].line, Some(3));
    }

    #[test]
    fn newer_names_win_and_plans_are_approved_on_demand() {
        let text = r#"{"zai_command": ["a"], "event_command": "b c", "auto_approve_plans": true,
                       "handlers": {"stuck": ["s"]}, "actions": {"retries": 0}}"#;
        let (config, _) = Config::parse("config.json", text).unwrap();
        assert_eq!(config.command.unwrap(), ["b c"]);
        assert_eq!(config.handlers[&EventKind::Stuck], ["s"]);
        assert_eq!(config.actions.approve_plans, Some(true));
        assert_eq!(config.actions.retries, Some(0));
    }
}
