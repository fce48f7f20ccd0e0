//! Activities of a session.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::change_set::ChangeSet;
use super::lenient::{Object, defaulted, last_segment, text};

/// One activity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// `sessions/<session>/activities/<id>`.
    pub name: String,
    own_id: String,
    /// A sentence that describes it.
    pub description: String,
    /// When, RFC 3339.
    pub create_time: String,
    /// `user`, `agent`, `system`; empty means `system`.
    pub originator: String,
    /// Its artifacts.
    pub artifacts: Vec<Artifact>,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of an activity, by the name of its field.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Kind {
    /// `agentMessaged`.
    AgentMessaged(String),
    /// `userMessaged`.
    UserMessaged(String),
    /// `planGenerated`.
    PlanGenerated(Plan),
    /// `planApproved`, with the plan's id.
    PlanApproved(String),
    /// `progressUpdated`; both texts may be empty.
    ProgressUpdated {
        /// What it does.
        title: String,
        /// More of it.
        description: String,
    },
    /// `sessionCompleted`.
    SessionCompleted,
    /// `sessionFailed`, with the reason, which no other field has.
    SessionFailed(String),
    /// An unknown kind: its field's name and value as they came.
    Unknown(String, Value),
    /// No field names a kind.
    #[default]
    Missing,
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Plan {
    /// Its id; a revised plan has another.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// Its steps.
    #[serde(deserialize_with = "defaulted")]
    pub steps: Vec<PlanStep>,
}

/// A step of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanStep {
    /// Its id.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// What is done.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// More of it.
    #[serde(deserialize_with = "text")]
    pub description: String,
    /// Its place, from 0.
    #[serde(deserialize_with = "defaulted")]
    pub index: u32,
}

/// An artifact of an activity.
#[derive(Debug, Clone, PartialEq)]
pub enum Artifact {
    /// All changes since the session started: each change set contains the earlier ones.
    ChangeSet(ChangeSet),
    /// Any other artifact (`media`, `bashOutput`, or a new one), as it came.
    Unknown(Value),
}

impl Activity {
    /// Its id, taken from the name if the field is missing. Empty: it has none.
    #[must_use]
    pub fn activity_id(&self) -> &str {
        if self.own_id.is_empty() {
            last_segment(&self.name)
        } else {
            &self.own_id
        }
    }

    /// Its change set, if it has one.
    #[must_use]
    pub fn change_set(&self) -> Option<&ChangeSet> {
        self.artifacts.iter().find_map(|artifact| match artifact {
            Artifact::ChangeSet(changes) if changes.has_changes() => Some(changes),
            Artifact::ChangeSet(_) | Artifact::Unknown(_) => None,
        })
    }
}

impl<'de> Deserialize<'de> for Activity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Object::deserialize(from)?;
        let mut take = |name: &str| match fields.shift_remove(name) {
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let mut activity = Self {
            name: take("name"),
            own_id: take("id"),
            description: take("description"),
            create_time: take("createTime"),
            originator: take("originator"),
            ..Self::default()
        };
        if let Some(Value::Array(artifacts)) = fields.shift_remove("artifacts") {
            activity.artifacts = artifacts.into_iter().map(Artifact::from).collect();
        }
        activity.kind = Kind::activity_kind(fields);
        Ok(activity)
    }
}

impl Kind {
    /// Reads the kind from the fields that remain after the common ones.
    fn activity_kind(fields: Object) -> Self {
        let inner = |value: &Value, name: &str| {
            let text = value.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        for (name, value) in &fields {
            return match name.as_str() {
                "agentMessaged" => Self::AgentMessaged(inner(value, "agentMessage")),
                "userMessaged" => Self::UserMessaged(inner(value, "userMessage")),
                "planGenerated" => Self::PlanGenerated(
                    value
                        .get("plan")
                        .and_then(|plan| Plan::deserialize(plan).ok())
                        .unwrap_or_default(),
                ),
                "planApproved" => Self::PlanApproved(inner(value, "planId")),
                "progressUpdated" => Self::ProgressUpdated {
                    title: inner(value, "title"),
                    description: inner(value, "description"),
                },
                "sessionCompleted" => Self::SessionCompleted,
                "sessionFailed" => Self::SessionFailed(inner(value, "reason")),
                _ => continue,
            };
        }
        // A kind's value is an object; a new common field would more likely be a text or a number.
        let mut unknown: Vec<_> = fields.into_iter().collect();
        unknown.sort_by_key(|(_, value)| !value.is_object());
        match unknown.into_iter().next() {
            Some((name, value)) => Self::Unknown(name, value),
            None => Self::Missing,
        }
    }
}

impl From<Value> for Artifact {
    fn from(value: Value) -> Self {
        match value.get("changeSet").map(ChangeSet::deserialize) {
            Some(Ok(changes)) => Self::ChangeSet(changes),
            _ => Self::Unknown(value),
        }
    }
}
