//! Encodes the Session resource, with the lags and gaps that knobs set.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::encoding_key::EncodingKey;
use super::sample_texts;
use super::session::Session;
use super::state::State;
use super::wire::{put_flag, put_text, put_time};
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
        knobs.count_use("state-lag-seconds", shown != self.state());
        shown
    }

    /// The resource as JSON text, for a listing or for a reply about this session alone.
    pub(super) fn encode_session(&mut self, listed: bool, now: Timestamp, knobs: &Knobs) -> &str {
        let lag =
            SignedDuration::from_secs(i64::try_from(knobs.outputs_lag_seconds).unwrap_or(i64::MAX));
        let outputs = self
            .outputs
            .at
            .is_some_and(|at| at.checked_add(lag).is_ok_and(|due| due <= now));
        let late = self.outputs.at.is_some() && !outputs && !self.outputs.shown.is_empty();
        knobs.count_use("outputs-lag-seconds", late);
        let hidden = listed && knobs.listing_without_prompt;
        knobs.count_use("listing-without-prompt", hidden);
        knobs.count_use("session-name-bare", knobs.session_name_bare);
        let shown = EncodingKey {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs,
            title: knobs.title,
            prompt: !hidden,
            bare_name: knobs.session_name_bare,
            frozen_update: knobs.count_use("update-time-frozen", knobs.update_time_frozen),
            environment: self.shown_environment(knobs),
        };
        if self.encoded.as_ref().is_none_or(|(of, _)| *of != shown) {
            let kept = self.shown_title(knobs.title) == self.own_title();
            knobs.count_use("title", !kept);
            let text = self.to_wire(&shown, true).to_string();
            self.encoded = Some((shown, text));
        }
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// The last result of [`Session::encode_session`].
    pub(super) fn last_encoding(&self) -> &str {
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// The resource without its source, as one verb of the service answers.
    pub(super) fn encode_without_source(&self, now: Timestamp, knobs: &Knobs) -> String {
        let shown = EncodingKey {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs: false,
            title: knobs.title,
            prompt: true,
            bare_name: knobs.session_name_bare,
            frozen_update: knobs.update_time_frozen,
            environment: self.shown_environment(knobs),
        };
        self.to_wire(&shown, false).to_string()
    }

    /// Whether the reply claims that the session gets environment variables.
    fn shown_environment(&self, knobs: &Knobs) -> bool {
        let echoed = knobs.environment_echoed && !self.record.environment_variables;
        knobs.count_use("environment-echoed", echoed) || self.record.environment_variables
    }

    fn shown_title(&self, kept: TitleKept) -> String {
        match kept {
            TitleKept::Verbatim => self.own_title(),
            TitleKept::Truncated => self.own_title().chars().take(TRUNCATED_TITLE).collect(),
            TitleKept::Rewritten => sample_texts::title_of_prompt(&self.record.prompt),
            TitleKept::Dropped => String::new(),
        }
    }

    fn to_wire(&self, shown: &EncodingKey, with_source: bool) -> Value {
        let id = &self.record.id;
        let mut map = Map::new();
        let name = if shown.bare_name {
            id.clone()
        } else {
            format!("sessions/{id}")
        };
        put_text(&mut map, "name", &name);
        put_text(&mut map, "id", id);
        put_text(&mut map, "title", &self.shown_title(shown.title));
        if shown.prompt {
            put_text(&mut map, "prompt", &self.record.prompt);
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
            _ => shown.state.wire_name(),
        };
        put_text(&mut map, "state", state);
        put_text(
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
