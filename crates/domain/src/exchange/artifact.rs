//! Defines the artifacts of the exchange, independent of the layout.

use crate::yaml::{Node, Value};

/// An artifact and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed<T> {
    /// The path, from the repository's root.
    pub path: String,
    /// Whether the file has no mistakes of its own. Invalid values are read as empty.
    pub sound: bool,
    /// The artifact's content.
    pub value: T,
    pub(super) node: Node,
}

impl<T> Filed<T> {
    /// The file's name without its extension.
    #[must_use]
    pub fn file_stem(&self) -> &str {
        file_stem(&self.path)
    }

    /// The position of a key's value, or of the document.
    pub(super) fn key_position(&self, key: &str) -> (u32, u32) {
        let node = self.node.get(key).unwrap_or(&self.node);
        (node.line, node.column)
    }
}

/// The name of a path's file, without its extension.
pub(super) fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The state of an event: the name of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventState {
    /// No decider has decided on it.
    Pending,
    /// A work item covers it.
    Decided,
    /// The decider rejected it and wrote the reason.
    Rejected,
}

impl EventState {
    /// All states, in the order in which an event reaches them.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Decided, Self::Rejected];

    /// The name of its folder.
    #[must_use]
    pub fn folder_name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Decided => "decided",
            Self::Rejected => "rejected",
        }
    }

    /// The state for a folder's name.
    #[must_use]
    pub fn of(folder: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|state| state.folder_name() == folder)
    }
}

/// A finding of an observer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its state.
    pub state: EventState,
    /// Its id.
    pub id: String,
    /// The work item that covers it; empty if there is none.
    pub issue_id: String,
    /// The day of the finding.
    pub created_at: String,
    /// The observer's role.
    pub author_role: String,
    /// `low`, `medium` or `high`.
    pub confidence: String,
    /// The finding in a few words.
    pub title: String,
    /// The finding in full.
    pub statement: String,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
}

/// A place in the code that supports a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The file.
    pub path: String,
    /// Lines, ranges or symbols in it.
    pub loc: Vec<String>,
    /// What to see there.
    pub note: String,
}

/// How to verify that work is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// By criteria: the flat layout.
    Criteria(Vec<String>),
    /// By commands: the workstreams layout.
    Commands(Vec<String>),
}

/// Work to do: a requirement or an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// Its id.
    pub id: String,
    /// The events that it covers.
    pub source_events: Vec<String>,
    /// The work in a few words.
    pub title: String,
    /// Its kind.
    pub label: String,
    /// `low`, `medium` or `high`.
    pub priority: String,
    /// A summary on one line.
    pub summary: String,
    /// Its goal; the workstreams layout has none.
    pub goal: Option<String>,
    /// The problem today.
    pub problem: String,
    /// The cost of leaving it as it is.
    pub impact: String,
    /// The state after the work.
    pub desired_outcome: String,
    /// The criteria for accepting it.
    pub acceptance_criteria: Vec<String>,
    /// How to verify it.
    pub verification: Verification,
    /// Whether a planner must analyse it first.
    pub requires_deep_analysis: bool,
    /// Why a planner must analyse it first.
    pub deep_analysis_reason: String,
    /// How many implementers have tried.
    pub attempts: u64,
    /// Why it was returned, the newest reason last.
    pub returned_because: Vec<String>,
}

/// The narrator's summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// When it was written.
    pub created_at: String,
    /// The newest commit that it covers, in the workstreams layout.
    pub to_commit: Option<String>,
}

/// A proposal of an innovator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// The innovator's role.
    pub persona: String,
    /// The day of the proposal.
    pub created_at: String,
    /// The proposal in a few words.
    pub title: String,
    /// The problem today.
    pub problem: String,
    /// The proposal in full.
    pub introduction: String,
    /// Why it matters.
    pub importance: String,
    /// The parts of the repository that it changes.
    pub impact_surface: Vec<String>,
    /// Its cost.
    pub implementation_cost: String,
    /// What it may conflict with.
    pub consistency_risks: Vec<String>,
    /// How to see that it was right.
    pub verification_signals: Vec<String>,
}

/// The memory of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The role that its file names.
    pub role: String,
    /// Whether the role is an innovator.
    pub innovator: bool,
    /// The titles of an innovator's recent proposals.
    pub recent_proposals: Vec<String>,
}

/// Why an event was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The day of the rejection.
    pub date: String,
    /// The topic of the event.
    pub topic: String,
    /// Why it was rejected.
    pub critique: String,
    /// How to avoid such findings.
    pub guidance: String,
}

fn text(node: &Node, key: &str) -> String {
    let value = node.get(key).and_then(Node::text);
    value.unwrap_or_default().to_owned()
}

fn list(node: &Node, key: &str) -> Vec<String> {
    let items = node.get(key).map(Node::items).unwrap_or_default();
    items.iter().map(diagnostics_of).collect()
}

/// A scalar as text.
fn diagnostics_of(node: &Node) -> String {
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
            goal: node.get("goal").map(diagnostics_of),
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
