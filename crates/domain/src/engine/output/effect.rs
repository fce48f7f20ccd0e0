//! Actions outside the process. An effect carries every value that its execution needs.

use std::fmt;

use jiff::Timestamp;

use crate::engine::input::merge_facts::MergeMethod;
use crate::model::{
    BranchName, Marker, Oid, PersonaId, PullNumber, RepositoryName, SessionId, Slot, TrackName,
    TurnId,
};

/// One action, to be executed after the decision's commit has won.
#[derive(Debug, Clone, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Effect {
    /// Create a session. Jules is called once; the answer, or its absence, comes back as an event.
    CreateSession(Box<CreateSession>),
    /// Send a message to a session. Decided only while no activity that was read carries the marker.
    SendMessage {
        /// The track of its turn.
        track: TrackName,
        /// The slot of its turn.
        slot: Slot,
        /// The recipient.
        session: SessionId,
        /// Ends the text, so that a later tick sees that the message was sent.
        marker: String,
        /// The text, marker included.
        text: String,
        /// Deadline for calling Jules; a later decision repeats the effect.
        not_after: Timestamp,
    },
    /// Send a message to the session of a pull request. The ledger counts it first; it is repeated only while the
    /// session does not show the marker.
    NotifyPullSession {
        /// The pull request that it is about.
        pull: PullNumber,
        /// The recipient.
        session: SessionId,
        /// Ends the text.
        marker: String,
        /// The text, marker included.
        text: String,
        /// Deadline for calling Jules; a later decision repeats the message.
        not_after: Timestamp,
    },
    /// Mark a draft as ready for review, unless its draft state was changed before.
    MarkReady {
        /// Which pull request.
        pull: PullNumber,
    },
    /// Merge a pull request, if this commit is still its newest. GitHub is asked once; where the answer is lost, the
    /// pull request is read again.
    MergePull {
        /// The request that it is about, by its key in the state.
        request: String,
        /// Which pull request.
        pull: PullNumber,
        /// The commit that may be merged.
        head: Oid,
        /// How.
        method: MergeMethod,
        /// Deadline for calling GitHub; a later decision checks everything again.
        not_after: Timestamp,
    },
    /// Remind reviewers of a pull request by a comment, unless the comment exists already.
    RemindPeople {
        /// Which pull request.
        pull: PullNumber,
        /// Hidden marker in the text.
        marker: String,
        /// The text, marker included.
        body: String,
        /// Deadline for calling GitHub; a later decision repeats the effect.
        not_after: Timestamp,
    },
    /// Add a label to a pull request. Adding it twice is harmless.
    AddLabel {
        /// Which pull request.
        pull: PullNumber,
        /// The label's whole name.
        label: String,
        /// Deadline for calling GitHub; a later decision checks everything again.
        not_after: Timestamp,
    },
    /// Say on a pull request why it is unwanted, unless the comment exists already.
    CommentOnPull {
        /// Which pull request.
        pull: PullNumber,
        /// Hidden marker in the text.
        marker: String,
        /// The text, marker included.
        body: String,
        /// Deadline for calling GitHub; a later decision repeats the effect.
        not_after: Timestamp,
    },
    /// Approve a session's plan. Approving twice is harmless.
    ApprovePlan {
        /// Whose.
        session: SessionId,
    },
    /// Archive a session: it stops, and can be restored.
    ArchiveSession {
        /// Which.
        session: SessionId,
    },
    /// Close a pull request; a closed or merged one stays as it is.
    ClosePull {
        /// Which.
        pull: PullNumber,
        /// Deadline for calling GitHub; a later decision checks everything again.
        not_after: Timestamp,
    },
    /// Point a pull request at another base.
    RetargetPull {
        /// Which.
        pull: PullNumber,
        /// Where to.
        base: BranchName,
    },
    /// Open a notice, unless an open issue carries the same key.
    OpenNotice {
        /// What it is about.
        key: NoticeKey,
        /// The title.
        title: String,
        /// The text; the executor adds the key as a hidden marker.
        body: String,
    },
    /// Close a notice that is no longer needed.
    CloseNotice {
        /// Its number.
        number: u64,
        /// The comment to write before closing.
        comment: String,
    },
    /// React with eyes to an accepted request. Doing it twice is harmless.
    AddReaction {
        /// The number of the issue or pull request.
        thread: u64,
        /// The comment to react to, instead of the issue or pull request itself.
        comment: Option<u64>,
    },
    /// Remove a label, if it is still there.
    RemoveLabel {
        /// The number of the issue or pull request.
        thread: u64,
        /// The label's whole name.
        label: String,
    },
    /// Write the status comment of an issue or pull request. Before the first one is created, an existing one with the
    /// marker is searched for.
    WriteStatus {
        /// The request that it is about, by its key in the state.
        request: String,
        /// The number of the issue or pull request.
        thread: u64,
        /// The comment, where it is known.
        comment_id: Option<u64>,
        /// Marker in the text.
        marker: String,
        /// SHA-256 of the text.
        digest: String,
        /// The text, the marker included.
        body: String,
        /// Deadline for calling GitHub; a later decision writes it again.
        not_after: Timestamp,
    },
    /// Open an issue for a proposal, unless one of phileas' own issues, open or closed, carries the marker.
    PublishProposal {
        /// The proposal's key in the state.
        key: String,
        /// The title.
        title: String,
        /// Its text, the marker included.
        body: String,
        /// Its label.
        label: String,
        /// Marker in the text.
        marker: String,
        /// Deadline for calling GitHub; a later decision repeats the effect.
        not_after: Timestamp,
    },
    /// Open an issue for a work item that waits for a person, unless one of phileas' own open issues carries the
    /// marker.
    OpenWorkItem {
        /// The work item's key in the state.
        key: String,
        /// The title.
        title: String,
        /// Its text, the marker included.
        body: String,
        /// Its label.
        label: String,
        /// Marker in the text.
        marker: String,
        /// Deadline for calling GitHub; a later decision repeats the effect.
        not_after: Timestamp,
    },
    /// Close the issue of a work item that is done, withdrawn or changed.
    CloseWorkItem {
        /// Its number.
        number: u64,
        /// The comment to write before closing.
        comment: String,
    },
    /// Open the dashboard issue. An existing one is searched for first, and reopened if it was closed.
    OpenDashboard {
        /// Its number, where it was open before.
        known: Option<u64>,
        /// The title.
        title: String,
        /// Marker in the text.
        marker: String,
        /// The text, the marker included.
        body: String,
        /// Deadline for calling GitHub.
        not_after: Timestamp,
    },
    /// Write the text of the dashboard issue, unless the text has changed since it was read.
    EditDashboard {
        /// Its number.
        number: u64,
        /// SHA-256 of the text that was read.
        seen: String,
        /// The new text.
        body: String,
        /// Deadline for calling GitHub; a later decision writes it again.
        not_after: Timestamp,
    },
}

/// Everything that creating a session needs.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSession {
    /// The track of its turn.
    pub track: TrackName,
    /// The slot of its turn.
    pub slot: Slot,
    /// The turn and the attempt.
    pub marker: Marker,
    /// Who.
    pub persona: PersonaId,
    /// The title, marker included.
    pub title: String,
    /// The prompt, its last line included.
    pub prompt: String,
    /// The repository.
    pub source: RepositoryName,
    /// The branch that the session starts from.
    pub branch: BranchName,
    /// A branch to create first.
    pub make_branch: Option<MakeBranch>,
    /// Whether Jules opens a pull request.
    pub open_pull: bool,
    /// Whether the session waits for its plan to be approved.
    pub require_plan_approval: bool,
    /// Whether the session gets the environment variables that are set at Jules.
    pub environment_variables: bool,
    /// Deadline for calling Jules.
    pub not_after: Timestamp,
}

/// A branch to create before the session starts. An existing one is used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeBranch {
    /// Its name.
    pub name: BranchName,
    /// Where it begins.
    pub at: Oid,
}

/// What a notice is about; at most one open issue each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKey {
    /// The state file cannot be read.
    LedgerCorrupt,
    /// The state file is gone, or behind what Jules shows.
    LedgerRolledBack,
    /// There is no state file, and Jules' list does not prove that there never was one.
    LedgerUnproven,
    /// The state file belongs to another repository.
    LedgerForeign,
    /// A turn needs a person: a question, an ambiguous dispatch, a plan to approve.
    Turn(TurnId),
    /// An open pull request needs a person, because its session could not fix it.
    Pull(PullNumber),
    /// Jules refuses the sessions of a persona for their content.
    Persona(PersonaId),
    /// Jules refuses the sessions of several personas or tracks.
    Sessions,
    /// The Jules key is refused.
    JulesCredential,
    /// The plan has mistakes.
    PlanInvalid,
}

impl fmt::Display for NoticeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LedgerCorrupt => f.write_str("ledger_corrupt"),
            Self::LedgerRolledBack => f.write_str("ledger_rolled_back"),
            Self::LedgerUnproven => f.write_str("ledger_unproven"),
            Self::LedgerForeign => f.write_str("ledger_foreign"),
            Self::Turn(turn) => write!(f, "turn:{turn}"),
            Self::Pull(pull) => write!(f, "pull:{pull}"),
            Self::Persona(persona) => write!(f, "persona:{persona}"),
            Self::Sessions => f.write_str("sessions_refused"),
            Self::JulesCredential => f.write_str("jules_credential"),
            Self::PlanInvalid => f.write_str("plan_invalid"),
        }
    }
}

impl Effect {
    /// The key under which a refusal of this effect is recorded. `None`: the rule that decides it counts its own
    /// attempts, and a counted attempt must be made.
    #[must_use]
    pub fn refusal_key(&self) -> Option<String> {
        let about = match self {
            Self::OpenNotice { key, .. } => key.to_string(),
            Self::CloseNotice { number, .. } => format!("issue #{number}"),
            Self::AddReaction { thread, .. } | Self::RemoveLabel { thread, .. } => {
                format!("issue #{thread}")
            }
            Self::CreateSession(_)
            | Self::SendMessage { .. }
            | Self::NotifyPullSession { .. }
            | Self::WriteStatus { .. }
            | Self::RemindPeople { .. }
            | Self::AddLabel { .. }
            | Self::CommentOnPull { .. }
            | Self::MarkReady { .. }
            | Self::RetargetPull { .. }
            | Self::ClosePull { .. }
            | Self::MergePull { .. }
            | Self::ApprovePlan { .. }
            | Self::ArchiveSession { .. }
            | Self::PublishProposal { .. }
            | Self::OpenWorkItem { .. }
            | Self::CloseWorkItem { .. }
            | Self::OpenDashboard { .. }
            | Self::EditDashboard { .. } => return None,
        };
        Some(format!("{}:{about}", self.name()))
    }

    /// A short name for logs and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// People search logs and metrics by these names.
    #[test]
    fn effect_names_are_stable() {
        let session = SessionId::from("77");
        let message = Effect::SendMessage {
            track: "default".into(),
            slot: "".into(),
            session: session.clone(),
            marker: String::new(),
            text: String::new(),
            not_after: Timestamp::MIN,
        };
        let retarget = Effect::RetargetPull {
            pull: PullNumber(7),
            base: "main".into(),
        };
        let close_pull = Effect::ClosePull {
            pull: PullNumber(7),
            not_after: Timestamp::MIN,
        };
        let close = Effect::CloseNotice {
            number: 7,
            comment: String::new(),
        };
        let react = Effect::AddReaction {
            thread: 7,
            comment: None,
        };
        let unlabel = Effect::RemoveLabel {
            thread: 7,
            label: "phileas:a".to_owned(),
        };
        let status = Effect::WriteStatus {
            request: "LE_1".to_owned(),
            thread: 7,
            comment_id: None,
            marker: String::new(),
            digest: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let about_pull = Effect::NotifyPullSession {
            pull: PullNumber(7),
            session: session.clone(),
            marker: String::new(),
            text: String::new(),
            not_after: Timestamp::MIN,
        };
        let ready = Effect::MarkReady {
            pull: PullNumber(7),
        };
        let reminder = Effect::RemindPeople {
            pull: PullNumber(7),
            marker: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let label = Effect::AddLabel {
            pull: PullNumber(7),
            label: String::new(),
            not_after: Timestamp::MIN,
        };
        let comment = Effect::CommentOnPull {
            pull: PullNumber(7),
            marker: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let merge = Effect::MergePull {
            request: "LE_1".to_owned(),
            pull: PullNumber(7),
            head: "1f".into(),
            method: MergeMethod::Squash,
            not_after: Timestamp::MIN,
        };
        let open = Effect::OpenDashboard {
            known: None,
            title: String::new(),
            marker: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let edit = Effect::EditDashboard {
            number: 7,
            seen: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let publish = Effect::PublishProposal {
            key: String::new(),
            title: String::new(),
            body: String::new(),
            label: String::new(),
            marker: String::new(),
            not_after: Timestamp::MIN,
        };
        let offer = Effect::OpenWorkItem {
            key: String::new(),
            title: String::new(),
            body: String::new(),
            label: String::new(),
            marker: String::new(),
            not_after: Timestamp::MIN,
        };
        let withdraw = Effect::CloseWorkItem {
            number: 7,
            comment: String::new(),
        };
        for (effect, name) in [
            (withdraw, "close_work_item"),
            (publish, "publish_proposal"),
            (offer, "open_work_item"),
            (open, "open_dashboard"),
            (edit, "edit_dashboard"),
            (merge, "merge_pull"),
            (message, "send_message"),
            (about_pull, "notify_pull_session"),
            (ready, "mark_ready"),
            (reminder, "remind_people"),
            (label, "add_label"),
            (comment, "comment_on_pull"),
            (retarget, "retarget_pull"),
            (close_pull, "close_pull"),
            (close, "close_notice"),
            (react, "add_reaction"),
            (unlabel, "remove_label"),
            (status, "write_status"),
            (
                Effect::ApprovePlan {
                    session: session.clone(),
                },
                "approve_plan",
            ),
            (Effect::ArchiveSession { session }, "archive_session"),
        ] {
            assert_eq!(effect.name(), name);
        }
    }

    /// A notice is found again by its key.
    #[test]
    fn a_notice_about_a_turn_names_it() {
        let turn = TurnId::parse("0123456789ab").expect("a turn's id");
        assert_eq!(NoticeKey::Turn(turn).to_string(), "turn:0123456789ab");
    }
}
