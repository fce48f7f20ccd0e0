//! The report of a decision. Nothing waits without a line that carries a stable reason code, because silence is the
//! commonest complaint about schedulers.

use std::fmt;

use jiff::Timestamp;

use crate::Diagnostic;
use crate::model::{PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};

/// One line for each track, schedule and request, and for the repository where a fact concerns all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In the order of tracks, then schedules, then requests.
    pub lines: Vec<Line>,
    /// Diagnostics of the plan that show only when a turn has come: prompts that cannot be rendered.
    pub diagnostics: Vec<Diagnostic>,
}

/// One thing that happens or waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The track; `None`: the line concerns the whole repository.
    pub track: Option<TrackName>,
    /// The track's sequence number.
    pub seq: Option<u64>,
    /// The slot.
    pub slot: Option<Slot>,
    /// Who.
    pub persona: Option<PersonaId>,
    /// What is done.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The turn.
    pub turn: Option<TurnId>,
    /// Its session.
    pub session_id: Option<SessionId>,
    /// Its pull request.
    pub pr_number: Option<PullNumber>,
    /// One sentence for people.
    pub detail: String,
    /// When this may change by itself.
    pub until: Option<Timestamp>,
    /// Whether the line answers this run's own request, not one that other people made.
    pub is_requested: bool,
}

/// What is done about a track, schedule or request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A session is being started.
    Dispatched,
    /// A session that was found became the turn's session.
    Adopted,
    /// The turn has ended; the track advances.
    Advanced,
    /// Nothing can be done yet.
    Waiting,
    /// Skipped this time.
    Skipped,
    /// Not allowed.
    Refused,
    /// Stopped by a person, or for safety.
    Paused,
    /// A person has to decide.
    Held,
    /// An older turn was completed.
    Settled,
    /// A session's output was imported into the ledger.
    Imported,
}

impl Verdict {
    /// The name in machine-readable output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dispatched => "dispatched",
            Self::Adopted => "adopted",
            Self::Advanced => "advanced",
            Self::Waiting => "waiting",
            Self::Skipped => "skipped",
            Self::Refused => "refused",
            Self::Paused => "paused",
            Self::Held => "held",
            Self::Settled => "settled",
            Self::Imported => "imported",
        }
    }

    /// What happened, in a word or two for people. [`SIGN_LEGEND`] explains the signs before it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Dispatched => "started",
            Self::Advanced => "ended",
            Self::Held => "needs you",
            other => other.as_str(),
        }
    }

    /// Like [`label`](Self::label), of what a tick would do.
    #[must_use]
    pub fn forecast_label(self) -> &'static str {
        match self {
            Self::Dispatched => "would start",
            Self::Adopted => "would adopt",
            Self::Advanced => "would end",
            Self::Settled => "would settle",
            Self::Imported => "would import",
            other => other.label(),
        }
    }

    /// The sign of a line, the same in the terminal, the sandbox and the step summary.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Dispatched => "▶",
            Self::Adopted => "↺",
            Self::Advanced => "■",
            Self::Settled | Self::Imported => "●",
            Self::Waiting => "…",
            Self::Skipped => "-",
            Self::Refused => "✗",
            Self::Paused => "‖",
            Self::Held => "!",
        }
    }
}

/// What the signs of [`Verdict::sign`] mean, and the sign of what people and Jules do on GitHub.
pub const SIGN_LEGEND: &str = "\
▶ started  ↺ adopted  ■ ended  ● settled or imported  … waiting  - skipped
✗ refused or failed  ‖ paused  ! needs you  ◇ on GitHub";

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)*) => {
        /// Why something happens or does not. The codes are stable: programs may rely on them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Reason {
            /// Every reason there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The reason of a code; `None`: this version does not know it.
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.code() == code)
            }

            /// What the code means, in one sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim(),)*
                }
            }
        }
    };
}

reasons! {
    /// The track's next step is due.
    DueTrack = "due.track",
    /// A cron slot came.
    DueSchedule = "due.schedule",
    /// A person requested it.
    DueRequest = "due.request",
    /// The previous attempt failed.
    DueRetry = "due.retry",
    /// A person's command was executed.
    CommandExecuted = "finished.command",
    /// The session was found by its marker.
    FoundByMarker = "found.by_marker",
    /// A second session of one turn was found.
    FoundDuplicate = "found.duplicate",
    /// The turn ended with an outcome.
    Finished = "finished",
    /// A pull request was merged or closed.
    PullSettled = "finished.pull",
    /// A pull request's session was archived some time after its end.
    SessionArchived = "finished.archived",
    /// Reviewers were reminded of a pull request without a review.
    Reminded = "finished.reminder",
    /// A draft was marked as ready for review.
    DraftReady = "finished.draft_ready",
    /// The session is at work.
    SessionRunning = "waiting.session_running",
    /// The session asked a question and got a standard answer.
    SessionAsked = "waiting.session_asked",
    /// The session has had no activity for long.
    SessionStuck = "waiting.session_stuck",
    /// The session's activities cannot be read; other turns continue.
    SessionUnread = "waiting.session_unread",
    /// The session ended without a result and got a reminder.
    SessionReminded = "waiting.session_reminded",
    /// A person paused the session.
    SessionPaused = "waiting.session_paused",
    /// The session asked a question that only a person can answer.
    PersonAnswer = "waiting.person_answer",
    /// The pull request is neither merged nor closed.
    PrOpen = "waiting.pr_open",
    /// The pull request's checks failed; its session cannot be messaged yet.
    ChecksFailed = "waiting.checks_failed",
    /// The pull request's checks failed, and its session was messaged.
    ChecksReported = "waiting.checks_told",
    /// A person requested that a session gets its reviews; it cannot be messaged yet.
    ReviewsRequested = "waiting.reviews_asked",
    /// A session got its reviews.
    ReviewsSent = "waiting.reviews_told",
    /// The pull request conflicts with its base or is behind it; its session cannot be messaged yet.
    UpdateNeeded = "waiting.base_needed",
    /// The pull request conflicts with its base or is behind it, and its session was messaged.
    UpdateRequested = "waiting.base_told",
    /// The pull request is a draft, and its session is not done.
    DraftUnfinished = "waiting.draft",
    /// A requested merge waits for checks.
    ChecksRunning = "waiting.checks_running",
    /// A requested merge waits until GitHub has computed whether it is possible.
    MergeableUnknown = "waiting.mergeable_unknown",
    /// A requested merge waits for an approval or another rule of the base branch.
    MergeNotYet = "waiting.merge_not_yet",
    /// A requested merge was postponed; it is checked again.
    MergePostponed = "waiting.merge_put_off",
    /// GitHub was asked to merge the pull request.
    MergeSent = "waiting.merge_sent",
    /// Enough pull requests wait for a review.
    ReviewBacklog = "waiting.review_backlog",
    /// A session's plan waits for a person's approval.
    PlanApproval = "waiting.plan_approval",
    /// Enough sessions are live in this repository.
    BudgetActive = "waiting.budget_active",
    /// Enough sessions were started today in this repository.
    BudgetDaily = "waiting.budget_daily",
    /// Schedules have used their share of the day; the rest is reserved for tracks.
    BudgetShare = "waiting.budget_share",
    /// The same person has requested enough within an hour; this request starts later.
    ActorHour = "waiting.actor_budget",
    /// The Jules key's quota is spent or reserved for people.
    JulesQuota = "waiting.jules_quota",
    /// The persona's recent work was not wanted.
    PersonaResting = "waiting.persona_resting",
    /// The persona's session was refused for its content; its track skips it for a while.
    PersonaRefused = "waiting.persona_refused",
    /// The persona has a live session in another track.
    PersonaBusy = "waiting.persona_busy",
    /// The default branch has not moved since the persona's last turn.
    Unchanged = "waiting.unchanged",
    /// Its time has not come.
    NotDue = "waiting.not_due",
    /// The exchange, or a session's files for it, are being read.
    ExchangeUnread = "waiting.exchange_unread",
    /// The files of its prompt are being read, or the prompt is being rendered.
    PromptUnread = "waiting.prompt_unread",
    /// More is due than one commit starts; the next commit continues.
    NextCommit = "waiting.next_commit",
    /// The intent of another process is still valid.
    OtherHolder = "waiting.other_holder",
    /// Another driver acts on this repository.
    OtherDriver = "waiting.other_driver",
    /// The plan's mode is "observe".
    ObserveMode = "waiting.observe_mode",
    /// The default branch's checks failed.
    DefaultChecksFailed = "waiting.main_red",
    /// Jules does not answer.
    JulesUnavailable = "waiting.jules_unavailable",
    /// The create call was not sent: its branch could not be created, or the deadline had passed.
    NotSent = "waiting.not_sent",
    /// Jules shows sessions that the ledger does not know yet; the ledger is read again.
    LedgerCatchingUp = "waiting.ledger_catching_up",
    /// More comments may have been written than one tick reads.
    CommentsMissed = "waiting.comments_missed",
    /// The subject or the actor of a request is being read.
    RequestUnread = "waiting.request_unread",
    /// A failed attempt waits for its retry.
    RetryPause = "waiting.retry_pause",
    /// Whether a session exists is unknown.
    Ambiguous = "held.ambiguous",
    /// Jules refused the session, or GitHub its branch.
    CreateRefused = "held.create_refused",
    /// The repository variable `PHILEAS_PAUSED` pauses the repository.
    PausedVariable = "paused.variable",
    /// The label `phileas:pause` pauses the repository.
    PausedLabel = "paused.label",
    /// A command paused the repository.
    PausedState = "paused.state",
    /// A command paused the track.
    PausedTrack = "paused.track",
    /// The label `phileas:hold` is on the issue or pull request.
    SubjectHeld = "paused.hold",
    /// The state file cannot be read.
    LedgerCorrupt = "paused.ledger_corrupt",
    /// The state file is missing or older than Jules' sessions of this repository.
    LedgerRolledBack = "paused.ledger_rolled_back",
    /// A limit in the plan cannot be read, so nothing starts until it is fixed.
    PlanInvalid = "paused.plan_invalid",
    /// There is no ledger, and Jules' list does not prove that there never was one.
    LedgerUnproven = "paused.ledger_unproven",
    /// The ledger belongs to another repository: this one is a copy.
    LedgerForeign = "paused.ledger_foreign",
    /// The Jules key is refused.
    JulesCredential = "paused.jules_credential",
    /// The repository is archived.
    RepositoryArchived = "paused.repository_archived",
    /// The repository has no commit yet.
    RepositoryEmpty = "paused.repository_empty",
    /// The persona cannot be read.
    PersonaInvalid = "skipped.persona_invalid",
    /// The persona says `scheduled: false`.
    PersonaUnscheduled = "skipped.persona_unscheduled",
    /// The persona is sensitive and the repository public.
    PersonaSensitive = "skipped.persona_sensitive",
    /// The prompt cannot be rendered.
    PromptInvalid = "skipped.prompt_invalid",
    /// The layer is unknown, or a newer version started its turn.
    LayerUnavailable = "skipped.layer_unavailable",
    /// The layer has nothing to do.
    LayerEmpty = "skipped.layer_empty",
    /// The schedule runs only on request.
    Manual = "skipped.manual",
    /// The same request is pending already; this one joins it.
    RequestOpen = "skipped.request_open",
    /// The track has no step that can run.
    TrackEmpty = "skipped.track_empty",
    /// Missed slots are skipped, as the plan says.
    SlotsMissed = "skipped.slots_missed",
    /// The name is unknown.
    Unknown = "refused.unknown",
    /// The request did not start within a week.
    RequestOld = "refused.request_old",
    /// The actor has no write access, or the account is gone.
    ActorPermission = "refused.actor_permission",
    /// GitHub does not show who added the label.
    ActorUnknown = "refused.actor_unknown",
    /// The actor is a bot that the plan does not name.
    ActorBot = "refused.actor_bot",
    /// The actor is phileas itself or Jules.
    ActorSelf = "refused.actor_self",
    /// The plan allows no requests by labels and comments.
    ActorBudget = "refused.actor_budget",
    /// The issue or pull request was changed after the request.
    ContentChanged = "refused.content_changed",
    /// The text of the dashboard issue was edited; phileas writes it again.
    DashboardEdited = "refused.dashboard_edited",
    /// The issue or pull request was closed or is gone.
    SubjectClosed = "refused.subject_closed",
    /// The pull request comes from a fork.
    Fork = "refused.fork",
    /// The plan forbids it.
    PlanForbids = "refused.plan_forbids",
    /// The pull request belongs to no session of phileas.
    NotOurs = "refused.not_ours",
    /// The plan does not allow merging.
    MergeOff = "refused.merge_off",
    /// A check of the pull request's newest commit failed, or there is none.
    ChecksNotGreen = "refused.checks_not_green",
    /// No account with write access approved the pull request's newest commit, or one requests changes.
    ReviewMissing = "refused.review_missing",
    /// The pull request changes a protected path.
    ProtectedPath = "refused.protected_path",
    /// The pull request is a draft, has another base, conflicts, or violates a rule of its base.
    NotMergeable = "refused.not_mergeable",
    /// GitHub refused to merge the pull request, or did not answer.
    MergeFailed = "refused.merge_failed",
    /// The pull request's session got the maximum number of messages.
    RoundsSpent = "refused.rounds_spent",
    /// The pull request's session is archived, failed, gone or unreachable.
    SessionGone = "refused.session_gone",
    /// The pull request's newest commit is not its session's, and the session would overwrite it.
    PushedByOthers = "refused.pushed_by_others",
    /// Nothing here matches the command.
    NothingToDo = "refused.nothing_to_do",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::engine::output::report::Reason;
    use crate::engine::output::report::Verdict;

    /// Scripts depend on these names.
    #[test]
    fn verdict_names_are_stable() {
        let words = [
            (Verdict::Dispatched, "dispatched"),
            (Verdict::Adopted, "adopted"),
            (Verdict::Advanced, "advanced"),
            (Verdict::Waiting, "waiting"),
            (Verdict::Skipped, "skipped"),
            (Verdict::Refused, "refused"),
            (Verdict::Paused, "paused"),
            (Verdict::Held, "held"),
            (Verdict::Settled, "settled"),
            (Verdict::Imported, "imported"),
        ];
        for (verdict, word) in words {
            assert_eq!(verdict.as_str(), word);
        }
    }

    #[test]
    fn a_reason_is_displayed_as_its_code() {
        assert_eq!(Reason::JulesQuota.to_string(), "waiting.jules_quota");
        for reason in Reason::ALL {
            assert_eq!(reason.to_string(), reason.code());
            assert_eq!(Reason::from_code(reason.code()), Some(*reason));
        }
    }

    #[test]
    fn codes_are_unique() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
