//! Artifacts as the rest of phileas knows them, whatever the layout.

use crate::yaml::{Node, Value};

/// An artifact and where it lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed<T> {
    /// The path, from the repository's root.
    pub path: String,
    /// Whether nothing is wrong with the file by itself. What is wrong reads as empty.
    pub sound: bool,
    /// What it says.
    pub value: T,
    pub(super) node: Node,
}

impl<T> Filed<T> {
    /// The file's name without its extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        stem(&self.path)
    }

    /// The place of a key's value, or of the whole.
    pub(super) fn at(&self, key: &str) -> (u32, u32) {
        let node = self.node.get(key).unwrap_or(&self.node);
        (node.line, node.column)
    }
}

/// The name of a path's file, without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Where an event stands: the name of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventState {
    /// Nobody has decided on it.
    Pending,
    /// A work item has taken it up.
    Decided,
    /// The decider turned it down, and said why.
    Rejected,
}

impl EventState {
    /// All of them, in the order in which an event goes through them.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Decided, Self::Rejected];

    /// The name of its folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Decided => "decided",
            Self::Rejected => "rejected",
        }
    }

    /// The state that a folder means.
    #[must_use]
    pub fn of(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.folder() == folder)
    }
}

/// What an observer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where it stands.
    pub state: EventState,
    /// Its id.
    pub id: String,
    /// The work item that took it up; empty while there is none.
    pub issue_id: String,
    /// The day on which it was found.
    pub created_at: String,
    /// The observer's role.
    pub author_role: String,
    /// `low`, `medium` or `high`.
    pub confidence: String,
    /// What was found, in a few words.
    pub title: String,
    /// What is the case.
    pub statement: String,
    /// Where it can be seen.
    pub evidence: Vec<Evidence>,
}

/// Where something can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The file.
    pub path: String,
    /// Lines, ranges or symbols in it.
    pub loc: Vec<String>,
    /// What is to be seen there.
    pub note: String,
}

/// How it is shown that work is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// By criteria: the flat layout.
    Criteria(Vec<String>),
    /// By commands: the workstreams layout.
    Commands(Vec<String>),
}

/// What is to be done: a requirement or an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// Its id.
    pub id: String,
    /// The events it is made of.
    pub source_events: Vec<String>,
    /// What is to be done, in a few words.
    pub title: String,
    /// Its kind.
    pub label: String,
    /// `low`, `medium` or `high`.
    pub priority: String,
    /// The whole in one line.
    pub summary: String,
    /// What it is for; the workstreams layout has none.
    pub goal: Option<String>,
    /// What is wrong today.
    pub problem: String,
    /// What it costs to leave it so.
    pub impact: String,
    /// What is the case afterwards.
    pub desired_outcome: String,
    /// When it is accepted.
    pub acceptance_criteria: Vec<String>,
    /// How it is shown that it is done.
    pub verification: Verification,
    /// Whether a planner must look first.
    pub requires_deep_analysis: bool,
    /// Why a planner must look first.
    pub deep_analysis_reason: String,
    /// How often an implementer has tried.
    pub attempts: u64,
    /// Why it came back, the newest last.
    pub returned_because: Vec<String>,
}

/// The narrator's summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// When it was written.
    pub created_at: String,
    /// The last commit told of, in the workstreams layout.
    pub to_commit: Option<String>,
}

/// What an innovator proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// The innovator's role.
    pub persona: String,
    /// The day on which it was written.
    pub created_at: String,
    /// What is proposed, in a few words.
    pub title: String,
    /// What is wrong today.
    pub problem: String,
    /// What is proposed.
    pub introduction: String,
    /// Why it matters.
    pub importance: String,
    /// What it touches.
    pub impact_surface: Vec<String>,
    /// What it costs.
    pub implementation_cost: String,
    /// What it could clash with.
    pub consistency_risks: Vec<String>,
    /// What would show that it was right.
    pub verification_signals: Vec<String>,
}

/// What a role remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The role that its file names.
    pub role: String,
    /// Whether it is an innovator's.
    pub innovator: bool,
    /// Titles of its proposals, where it is an innovator's.
    pub recent_proposals: Vec<String>,
}

/// Why an event was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The day of the rejection.
    pub date: String,
    /// What the event was about.
    pub topic: String,
    /// Why it was rejected.
    pub critique: String,
    /// How such findings are avoided.
    pub guidance: String,
}

fn text(node: &Node, key: &str) -> String {
    let value = node.get(key).and_then(Node::text);
    value.unwrap_or_default().to_owned()
}

fn list(node: &Node, key: &str) -> Vec<String> {
    let items = node.get(key).map(Node::items).unwrap_or_default();
    items.iter().map(said).collect()
}

/// A scalar as it reads.
fn said(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        _ => String::new(),
    }
}

impl Event {
    pub(super) fn of(node: &Node, state: EventState) -> Self {
        let evidence = node.get("evidence").map(Node::items).unwrap_or_default();
        Self {
            state,
            id: text(node, "id"),
            issue_id: text(node, "issue_id"),
            created_at: text(node, "created_at"),
            author_role: text(node, "author_role"),
            confidence: text(node, "confidence"),
            title: text(node, "title"),
            statement: text(node, "statement"),
            evidence: evidence
                .iter()
                .map(|one| Evidence {
                    path: text(one, "path"),
                    loc: list(one, "loc"),
                    note: text(one, "note"),
                })
                .collect(),
        }
    }
}

impl WorkItem {
    pub(super) fn of(node: &Node) -> Self {
        let verification = if node.get("verification_commands").is_some() {
            Verification::Commands(list(node, "verification_commands"))
        } else {
            Verification::Criteria(list(node, "verification_criteria"))
        };
        let attempts = node.get("attempts").and_then(Node::integer).unwrap_or(0);
        Self {
            id: text(node, "id"),
            source_events: list(node, "source_events"),
            title: text(node, "title"),
            label: text(node, "label"),
            priority: text(node, "priority"),
            summary: text(node, "summary"),
            goal: node.get("goal").map(said),
            problem: text(node, "problem"),
            impact: text(node, "impact"),
            desired_outcome: text(node, "desired_outcome"),
            acceptance_criteria: list(node, "acceptance_criteria"),
            verification,
            requires_deep_analysis: node
                .get("requires_deep_analysis")
                .is_some_and(|flag| flag.value == Value::Flag(true)),
            deep_analysis_reason: text(node, "deep_analysis_reason"),
            attempts: u64::try_from(attempts).unwrap_or(0),
            returned_because: list(node, "returned_because"),
        }
    }
}

impl Changes {
    pub(super) fn of(node: &Node) -> Self {
        let range = node.get("range");
        Self {
            created_at: text(node, "created_at"),
            to_commit: range.map(|range| text(range, "to_commit")),
        }
    }
}

impl Proposal {
    pub(super) fn of(node: &Node) -> Self {
        Self {
            id: text(node, "id"),
            persona: text(node, "persona"),
            created_at: text(node, "created_at"),
            title: text(node, "title"),
            problem: text(node, "problem"),
            introduction: text(node, "introduction"),
            importance: text(node, "importance"),
            impact_surface: list(node, "impact_surface"),
            implementation_cost: text(node, "implementation_cost"),
            consistency_risks: list(node, "consistency_risks"),
            verification_signals: list(node, "verification_signals"),
        }
    }
}

impl Memory {
    pub(super) fn of(node: &Node) -> Self {
        let innovator = node.get("persona").is_some();
        Self {
            role: text(node, if innovator { "persona" } else { "observer" }),
            innovator,
            recent_proposals: list(node, "recent_proposals"),
        }
    }
}

impl Feedback {
    pub(super) fn of(node: &Node) -> Self {
        Self {
            date: text(node, "date"),
            topic: text(node, "topic"),
            critique: text(node, "critique"),
            guidance: text(node, "guidance"),
        }
    }
}
