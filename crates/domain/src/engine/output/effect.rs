//! Complete instructions for the world outside git. Carrying one out chooses nothing.

use std::fmt;

use jiff::Timestamp;

use crate::engine::input::merge_facts::MergeMethod;
use crate::model::{
    BranchName, Marker, Oid, PersonaId, PullNumber, RepositoryName, SessionId, Slot, TrackName,
    TurnId,
};

/// One thing to do outside git, after the decision's commit has won.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start a session. Called once; the answer, or its absence, comes back as an event.
    CreateSession(Box<CreateSession>),
    /// Say something to a session. It is decided on only while none of the activities that were read carries the marker.
    SendMessage {
        /// The track of its turn.
        track: TrackName,
        /// The slot of its turn.
        slot: Slot,
        /// To whom.
        session: SessionId,
        /// Stands at the end of the text, so that a successor sees that it was sent.
        marker: String,
        /// What, the marker included.
        text: String,
    },
    /// Say something to the session of a pull request. It was counted before, and is decided on again only while the
    /// session does not show the marker.
    TellPull {
        /// The pull request that it is about.
        pull: PullNumber,
        /// To whom.
        session: SessionId,
        /// Stands at the end of the text.
        marker: String,
        /// What, the marker included.
        text: String,
        /// Jules may be called only before this: a later decision says it again.
        not_after: Timestamp,
    },
    /// Mark a draft as ready for review, unless anybody has marked it so or turned it back before.
    MarkReady {
        /// Which pull request.
        pull: PullNumber,
    },
    /// Merge a pull request, if this commit is still its newest. It is asked for once; where the answer is lost, it is
    /// looked at.
    MergePull {
        /// The request that it is about, by its key in the state.
        request: String,
        /// Which pull request.
        pull: PullNumber,
        /// The commit that may be merged.
        head: Oid,
        /// How.
        method: MergeMethod,
        /// GitHub may be asked only before this: a later decision looks at everything again.
        not_after: Timestamp,
    },
    /// Remind people of a pull request by a comment on it, which is looked for before it is written.
    RemindPeople {
        /// Which pull request.
        pull: PullNumber,
        /// Stands in the text, hidden.
        marker: String,
        /// What, the marker included.
        body: String,
        /// GitHub may be called only before this: a later decision says it again.
        not_after: Timestamp,
    },
    /// Approve a session's plan. Approving twice does no harm.
    ApprovePlan {
        /// Whose.
        session: SessionId,
    },
    /// Archive a session: it stops, and can be brought back.
    ArchiveSession {
        /// Which.
        session: SessionId,
    },
    /// Point a pull request at another base.
    RetargetPull {
        /// Which.
        pull: PullNumber,
        /// Where to.
        base: BranchName,
    },
    /// Call a person by an issue, unless an open one already carries the key.
    OpenNotice {
        /// What it is about.
        key: NoticeKey,
        /// The title.
        title: String,
        /// The text; the executor adds the key as a hidden marker.
        body: String,
    },
    /// Close an issue that is no longer needed.
    CloseNotice {
        /// Its number.
        number: u64,
        /// What to say in it first.
        comment: String,
    },
    /// Look with eyes at what was heard. Doing it twice does no harm.
    AddReaction {
        /// The number of the issue or pull request.
        thread: u64,
        /// The comment on it that is meant, instead of itself.
        comment: Option<u64>,
    },
    /// Take a label off. One that is off already is left so.
    RemoveLabel {
        /// The number of the issue or pull request.
        thread: u64,
        /// The label's whole name.
        label: String,
    },
    /// Make the one status comment of an issue or pull request say this. One of ours that carries the marker is looked
    /// for before a first one is written.
    TellStatus {
        /// The request that it is about, by its key in the state.
        request: String,
        /// The number of the issue or pull request.
        thread: u64,
        /// The comment, where it is known.
        comment_id: Option<u64>,
        /// Stands in the text.
        marker: String,
        /// SHA-256 of the text.
        digest: String,
        /// The text, the marker included.
        body: String,
        /// GitHub may be called only before this: a later decision writes it again.
        not_after: Timestamp,
    },
    /// Open an issue for a proposal, unless one of ours, open or closed, already carries the marker.
    PublishProposal {
        /// The proposal's key in the state.
        key: String,
        /// The title.
        title: String,
        /// Its text, the marker included.
        body: String,
        /// Its label.
        label: String,
        /// Stands in the text.
        marker: String,
        /// GitHub may be called only before this: a later decision says it again.
        not_after: Timestamp,
    },
    /// Open an issue for a work item that waits for a person, unless an open one of ours already carries the marker.
    OfferWork {
        /// The work item's key in the state.
        key: String,
        /// The title.
        title: String,
        /// Its text, the marker included.
        body: String,
        /// Its label.
        label: String,
        /// Stands in the text.
        marker: String,
        /// GitHub may be called only before this: a later decision says it again.
        not_after: Timestamp,
    },
    /// Close the issue that shows a work item, which is done, taken back or changed.
    CloseOffer {
        /// Its number.
        number: u64,
        /// What to say in it first.
        comment: String,
    },
    /// Open the dashboard issue. One of ours is looked for first, and opened again if it was closed.
    OpenDashboard {
        /// Its number, where it was open before.
        known: Option<u64>,
        /// The title.
        title: String,
        /// Stands in the text.
        marker: String,
        /// The text, the marker included.
        body: String,
        /// GitHub may be called only before this.
        not_after: Timestamp,
    },
    /// Make the dashboard issue say this, unless its text is another one by now than the one that was looked at.
    EditDashboard {
        /// Its number.
        number: u64,
        /// SHA-256 of the text that was looked at.
        seen: String,
        /// The new text.
        body: String,
        /// GitHub may be called only before this: a later decision writes it again.
        not_after: Timestamp,
    },
}

/// Everything that starting a session takes.
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
    /// On which repository.
    pub source: RepositoryName,
    /// From which branch.
    pub branch: BranchName,
    /// A branch to make first.
    pub make_branch: Option<MakeBranch>,
    /// Whether Jules opens a pull request.
    pub open_pull: bool,
    /// Whether the session waits for its plan to be approved.
    pub require_plan_approval: bool,
    /// Whether the session gets the environment variables that are set at Jules.
    pub environment_variables: bool,
    /// Jules may be called only before this.
    pub not_after: Timestamp,
}

/// A branch to make before the session starts. One that exists already is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MakeBranch {
    /// Its name.
    pub name: BranchName,
    /// Where it begins.
    pub at: Oid,
}

/// What a notice is about; one open issue for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKey {
    /// The state file cannot be read.
    LedgerCorrupt,
    /// The state file is gone, or behind what Jules shows.
    LedgerRolledBack,
    /// There is no state file, and Jules' list is too long to tell whether there was one.
    LedgerUnproven,
    /// The state file belongs to another repository.
    LedgerForeign,
    /// A turn needs a person: a question, an ambiguous dispatch, a plan to approve.
    Turn(TurnId),
    /// An open pull request needs a person: its session could not mend it.
    Pull(PullNumber),
    /// Jules refuses the sessions of a persona for what they say.
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
    /// The name under which a refusal of it is remembered. `None`: the rule that decides on it counts its attempts itself,
    /// and one that is counted must be made.
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
            | Self::TellPull { .. }
            | Self::TellStatus { .. }
            | Self::RemindPeople { .. }
            | Self::MarkReady { .. }
            | Self::RetargetPull { .. }
            | Self::MergePull { .. }
            | Self::ApprovePlan { .. }
            | Self::ArchiveSession { .. }
            | Self::PublishProposal { .. }
            | Self::OfferWork { .. }
            | Self::CloseOffer { .. }
            | Self::OpenDashboard { .. }
            | Self::EditDashboard { .. } => return None,
        };
        Some(format!("{}:{about}", self.name()))
    }

    /// A short name for logs and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::CreateSession(_) => "create_session",
            Self::SendMessage { .. } => "send_message",
            Self::TellPull { .. } => "tell_pull",
            Self::MarkReady { .. } => "mark_ready",
            Self::MergePull { .. } => "merge_pull",
            Self::RemindPeople { .. } => "remind_people",
            Self::ApprovePlan { .. } => "approve_plan",
            Self::ArchiveSession { .. } => "archive_session",
            Self::RetargetPull { .. } => "retarget_pull",
            Self::OpenNotice { .. } => "open_notice",
            Self::CloseNotice { .. } => "close_notice",
            Self::AddReaction { .. } => "add_reaction",
            Self::RemoveLabel { .. } => "remove_label",
            Self::TellStatus { .. } => "tell_status",
            Self::PublishProposal { .. } => "publish_proposal",
            Self::OfferWork { .. } => "offer_work",
            Self::CloseOffer { .. } => "close_offer",
            Self::OpenDashboard { .. } => "open_dashboard",
            Self::EditDashboard { .. } => "edit_dashboard",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs and metrics are searched by these names.
    #[test]
    fn the_names_of_effects_are_stable() {
        let session = SessionId::from("77");
        let message = Effect::SendMessage {
            track: "default".into(),
            slot: "".into(),
            session: session.clone(),
            marker: String::new(),
            text: String::new(),
        };
        let retarget = Effect::RetargetPull {
            pull: PullNumber(7),
            base: "main".into(),
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
        let tell = Effect::TellStatus {
            request: "LE_1".to_owned(),
            thread: 7,
            comment_id: None,
            marker: String::new(),
            digest: String::new(),
            body: String::new(),
            not_after: Timestamp::MIN,
        };
        let about_pull = Effect::TellPull {
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
        let offer = Effect::OfferWork {
            key: String::new(),
            title: String::new(),
            body: String::new(),
            label: String::new(),
            marker: String::new(),
            not_after: Timestamp::MIN,
        };
        let withdraw = Effect::CloseOffer {
            number: 7,
            comment: String::new(),
        };
        for (effect, name) in [
            (withdraw, "close_offer"),
            (publish, "publish_proposal"),
            (offer, "offer_work"),
            (open, "open_dashboard"),
            (edit, "edit_dashboard"),
            (merge, "merge_pull"),
            (message, "send_message"),
            (about_pull, "tell_pull"),
            (ready, "mark_ready"),
            (reminder, "remind_people"),
            (retarget, "retarget_pull"),
            (close, "close_notice"),
            (react, "add_reaction"),
            (unlabel, "remove_label"),
            (tell, "tell_status"),
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

    /// An issue is found again by its key.
    #[test]
    fn a_notice_about_a_turn_names_it() {
        let turn = TurnId::parse("0123456789ab").expect("a turn's id");
        assert_eq!(NoticeKey::Turn(turn).to_string(), "turn:0123456789ab");
    }
}
