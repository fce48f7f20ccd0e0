//! Encodes the Session resource, with the lags and gaps that knobs set.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::session::Session;
use super::shown::Shown;
use super::state::State;
use super::wire::{put, put_flag, put_time};
use super::words;
use crate::knobs::{Knobs, TitleKept};

/// The length of a title that a knob truncates.
const TRUNCATED_TITLE: usize = 60;

impl Session {
    /// The state as a reply shows it at this instant.
    pub(super) fn shown_state(&self, now: Timestamp, knobs: &Knobs) -> State {
        let lag =
            SignedDuration::from_secs(i64::try_from(knobs.state_lag_seconds).unwrap_or(i64::MAX));
        let seen = now.checked_sub(lag).unwrap_or(Timestamp::MIN);
        let states = &self.record.states;
        let shown = states
            .iter()
            .rev()
            .find(|(at, _)| *at <= seen)
            .or(states.first());
        let shown = shown.map_or(State::Queued, |(_, state)| *state);
        knobs.acts("state-lag-seconds", shown != self.state());
        shown
    }

    /// The resource as JSON text, for a listing or for a reply about this session alone.
    pub(super) fn encode(&mut self, listed: bool, now: Timestamp, knobs: &Knobs) -> &str {
        let lag =
            SignedDuration::from_secs(i64::try_from(knobs.outputs_lag_seconds).unwrap_or(i64::MAX));
        let outputs = self
            .outputs
            .at
            .is_some_and(|at| at.checked_add(lag).is_ok_and(|due| due <= now));
        let late = self.outputs.at.is_some() && !outputs && !self.outputs.shown.is_empty();
        knobs.acts("outputs-lag-seconds", late);
        let hidden = listed && knobs.listing_without_prompt;
        knobs.acts("listing-without-prompt", hidden);
        knobs.acts("session-name-bare", knobs.session_name_bare);
        let shown = Shown {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs,
            title: knobs.title,
            prompt: !hidden,
            bare_name: knobs.session_name_bare,
            frozen_update: knobs.acts("update-time-frozen", knobs.update_time_frozen),
            environment: self.shown_environment(knobs),
        };
        if self.encoded.as_ref().is_none_or(|(of, _)| *of != shown) {
            let kept = self.shown_title(knobs.title) == self.own_title();
            knobs.acts("title", !kept);
            let text = self.wire(&shown, true).to_string();
            self.encoded = Some((shown, text));
        }
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// The last result of [`Session::encode_session`].
    pub(super) fn encoded(&self) -> &str {
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// The resource without its source, as one verb of the service answers.
    pub(super) fn encode_without_source(&self, now: Timestamp, knobs: &Knobs) -> String {
        let shown = Shown {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs: false,
            title: knobs.title,
            prompt: true,
            bare_name: knobs.session_name_bare,
            frozen_update: knobs.update_time_frozen,
            environment: self.shown_environment(knobs),
        };
        self.wire(&shown, false).to_string()
    }

    /// Whether the reply claims that the session gets environment variables.
    fn shown_environment(&self, knobs: &Knobs) -> bool {
        let echoed = knobs.environment_echoed && !self.record.environment_variables;
        knobs.acts("environment-echoed", echoed) || self.record.environment_variables
    }

    fn shown_title(&self, kept: TitleKept) -> String {
        match kept {
            TitleKept::Verbatim => self.own_title(),
            TitleKept::Truncated => self.own_title().chars().take(TRUNCATED_TITLE).collect(),
            TitleKept::Rewritten => words::title(&self.record.prompt),
            TitleKept::Dropped => String::new(),
        }
    }

    fn wire(&self, shown: &Shown, with_source: bool) -> Value {
        let id = &self.record.id;
        let mut map = Map::new();
        let name = if shown.bare_name {
            id.clone()
        } else {
            format!("sessions/{id}")
        };
        put(&mut map, "name", &name);
        put(&mut map, "id", id);
        put(&mut map, "title", &self.shown_title(shown.title));
        if shown.prompt {
            put(&mut map, "prompt", &self.record.prompt);
        }
        if with_source && !self.source.is_empty() {
            let mut context = json!({
                "source": self.source,
                "githubRepoContext": { "startingBranch": self.record.starting_branch },
            });
            if shown.environment {
                context["environmentVariablesEnabled"] = true.into();
            }
            map.insert("sourceContext".to_owned(), context);
        }
        put_time(&mut map, "createTime", self.created);
        let entered = self.record.states.last().map(|(at, _)| *at);
        let updated = entered.filter(|_| shown.frozen_update);
        put_time(&mut map, "updateTime", updated.unwrap_or(self.updated));
        let state = match &self.unknown_state {
            Some(unknown) if shown.state == State::InProgress => unknown.as_str(),
            _ => shown.state.name(),
        };
        put(&mut map, "state", state);
        put(
            &mut map,
            "url",
            &format!("https://jules.google.com/session/{id}"),
        );
        if shown.outputs && !self.outputs.shown.is_empty() {
            map.insert(
                "outputs".to_owned(),
                Value::Array(self.outputs.shown.clone()),
            );
        }
        put_flag(&mut map, "archived", self.archived);
        Value::Object(map)
    }
}
