//! The activities of a session, and their form on the wire.

use data_encoding::BASE64;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::wire::{put_text, put_time};
use crate::knobs::Knobs;

/// A plan, numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its id; a revision has a new one.
    pub id: String,
    /// Ids, titles and texts of its steps.
    pub steps: Vec<(String, String, String)>,
    /// When it was made.
    pub at: Timestamp,
}

/// The cumulative changes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// The source's name; empty for a session without a repository.
    pub source: String,
    /// The commit on which the patch applies; empty for a session without a repository.
    pub base: String,
    /// The unified diff.
    pub patch: String,
    /// The suggested commit message.
    pub message: String,
}

impl ChangeSet {
    pub(super) fn to_wire(&self) -> Value {
        let mut patch = Map::new();
        put_text(&mut patch, "unidiffPatch", &self.patch);
        put_text(&mut patch, "baseCommitId", &self.base);
        put_text(&mut patch, "suggestedCommitMessage", &self.message);
        let mut set = Map::new();
        put_text(&mut set, "source", &self.source);
        set.insert("gitPatch".to_owned(), Value::Object(patch));
        Value::Object(set)
    }
}

/// An artifact of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Artifact {
    /// All changes so far.
    ChangeSet(ChangeSet),
    /// A picture.
    Media {
        /// Its bytes.
        data: Vec<u8>,
        /// Its type.
        mime: &'static str,
    },
    /// A command that ran.
    Bash {
        /// The command line.
        command: String,
        /// What it printed.
        output: String,
        /// Its exit code.
        exit_code: i32,
    },
    /// A kind that no client knows.
    Unknown(String),
}

/// What an activity is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The agent said something.
    AgentMessaged(String),
    /// The user said something.
    UserMessaged(String),
    /// A plan was made.
    PlanGenerated(Plan),
    /// The plan of this id was approved.
    PlanApproved(String),
    /// The work went on; both texts may be empty.
    ProgressUpdated {
        /// The heading.
        title: String,
        /// The text.
        description: String,
    },
    /// The end.
    SessionCompleted,
    /// The end, with its reason.
    SessionFailed(String),
    /// A kind that no client knows.
    Unknown(String),
}

/// One entry of a session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id within the session.
    pub id: String,
    /// When; several may share one instant.
    pub at: Timestamp,
    /// `user`, `agent` or `system`; empty when the service leaves it out.
    pub originator: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// Its artifacts.
    pub artifacts: Vec<Artifact>,
}

impl Activity {
    pub(super) fn to_wire(&self, session: &str, knobs: &Knobs) -> Value {
        let mut map = Map::new();
        map.insert(
            "name".to_owned(),
            json!(format!("sessions/{session}/activities/{}", self.id)),
        );
        if !knobs.count_use("activity-id-in-name-only", knobs.activity_id_in_name_only) {
            put_text(&mut map, "id", &self.id);
        }
        put_time(&mut map, "createTime", self.at);
        put_text(&mut map, "originator", self.originator);
        let (key, value) = self.kind.to_wire();
        map.insert(key, value);
        if !self.artifacts.is_empty() {
            map.insert(
                "artifacts".to_owned(),
                self.artifacts.iter().map(Artifact::to_wire).collect(),
            );
        }
        Value::Object(map)
    }

    /// The change set among the artifacts.
    pub fn change_set(&self) -> Option<&ChangeSet> {
        self.artifacts.iter().find_map(|artifact| match artifact {
            Artifact::ChangeSet(set) => Some(set),
            _ => None,
        })
    }
}

impl Kind {
    fn to_wire(&self) -> (String, Value) {
        let mut map = Map::new();
        let key = match self {
            Kind::AgentMessaged(text) => {
                put_text(&mut map, "agentMessage", text);
                "agentMessaged"
            }
            Kind::UserMessaged(text) => {
                put_text(&mut map, "userMessage", text);
                "userMessaged"
            }
            Kind::PlanGenerated(plan) => {
                map.insert("plan".to_owned(), plan.to_wire());
                "planGenerated"
            }
            Kind::PlanApproved(id) => {
                put_text(&mut map, "planId", id);
                "planApproved"
            }
            Kind::ProgressUpdated { title, description } => {
                put_text(&mut map, "title", title);
                put_text(&mut map, "description", description);
                "progressUpdated"
            }
            Kind::SessionCompleted => "sessionCompleted",
            Kind::SessionFailed(reason) => {
                put_text(&mut map, "reason", reason);
                "sessionFailed"
            }
            Kind::Unknown(key) => key,
        };
        (key.to_owned(), Value::Object(map))
    }
}

impl Plan {
    fn to_wire(&self) -> Value {
        let steps = self
            .steps
            .iter()
            .enumerate()
            .map(|(index, (id, title, description))| {
                let mut step = Map::new();
                put_text(&mut step, "id", id);
                put_text(&mut step, "title", title);
                put_text(&mut step, "description", description);
                if index > 0 {
                    step.insert("index".to_owned(), json!(index));
                }
                Value::Object(step)
            });
        let mut map = Map::new();
        put_text(&mut map, "id", &self.id);
        map.insert("steps".to_owned(), steps.collect());
        put_time(&mut map, "createTime", self.at);
        Value::Object(map)
    }
}

impl Artifact {
    fn to_wire(&self) -> Value {
        match self {
            Artifact::ChangeSet(set) => json!({ "changeSet": set.to_wire() }),
            Artifact::Media { data, mime } => {
                json!({ "media": { "data": BASE64.encode(data), "mimeType": mime } })
            }
            Artifact::Bash {
                command,
                output,
                exit_code,
            } => {
                let mut map = Map::new();
                put_text(&mut map, "command", command);
                put_text(&mut map, "output", output);
                if *exit_code != 0 {
                    map.insert("exitCode".to_owned(), json!(exit_code));
                }
                json!({ "bashOutput": map })
            }
            Artifact::Unknown(key) => {
                let mut map = Map::new();
                map.insert(key.clone(), json!({}));
                Value::Object(map)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire_of(kind: Kind, artifacts: Vec<Artifact>) -> Value {
        let at = "2026-01-14T10:21:05.5Z".parse().unwrap();
        Activity {
            id: "a7".into(),
            at,
            originator: "agent",
            kind,
            artifacts,
        }
        .to_wire("1548", &Knobs::documented())
    }

    #[test]
    fn defaults_are_left_out() {
        let plan = Plan {
            id: "p".into(),
            steps: vec![
                ("1".into(), "A".into(), String::new()),
                ("2".into(), "B".into(), "b".into()),
            ],
            at: Timestamp::UNIX_EPOCH,
        };
        let value = wire_of(Kind::PlanGenerated(plan), vec![]);
        let steps = &value["planGenerated"]["plan"]["steps"];
        assert_eq!(steps[0], json!({"id": "1", "title": "A"}));
        assert_eq!(steps[1]["index"], 1);
        assert!(value.get("artifacts").is_none());
        let bash = Artifact::Bash {
            command: "ls".into(),
            output: String::new(),
            exit_code: 0,
        };
        let empty = Kind::ProgressUpdated {
            title: String::new(),
            description: String::new(),
        };
        assert_eq!(
            wire_of(empty, vec![bash]),
            json!({"name": "sessions/1548/activities/a7", "id": "a7", "createTime": "2026-01-14T10:21:05.500Z",
                "originator": "agent", "progressUpdated": {}, "artifacts": [{"bashOutput": {"command": "ls"}}]})
        );
    }

    #[test]
    fn the_id_may_stand_in_the_name_alone() {
        let activity = Activity {
            id: "a7".into(),
            at: Timestamp::UNIX_EPOCH,
            originator: "",
            kind: Kind::SessionCompleted,
            artifacts: vec![],
        };
        let value = activity.to_wire(
            "1",
            &Knobs {
                activity_id_in_name_only: true,
                ..Knobs::documented()
            },
        );
        assert!(value.get("id").is_none() && value.get("originator").is_none());
        assert_eq!(value["sessionCompleted"], json!({}));
    }
}
