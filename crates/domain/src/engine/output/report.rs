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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
        self.into()
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

            /// What the code means, in one sentence about a track, a turn or a request.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim(),)*
                }
            }

            /// The [meaning](Self::meaning) as a part of a longer sentence: without its full stop, and without a
            /// capital that only its place at the beginning asked for.
            #[must_use]
            pub fn clause(self) -> String {
                let meaning = self.meaning().trim_end_matches('.');
                let is_name = ["GitHub ", "Jules "].iter().any(|name| meaning.starts_with(name));
                match meaning.chars().next() {
                    Some(first) if !is_name => {
                        format!("{}{}", first.to_lowercase(), &meaning[first.len_utf8()..])
                    }
                    _ => meaning.to_owned(),
                }
            }
        }
    };
}

reasons! {
    /// It is next in its track.
    DueTrack = "due.track",
    /// The time of its schedule has come.
    DueSchedule = "due.schedule",
    /// A person requested it.
    DueRequest = "due.request",
    /// Its next attempt is due.
    DueRetry = "due.retry",
    /// The command was executed.
    CommandExecuted = "finished.command",
    /// Its session was found by its marker.
    FoundByMarker = "found.by_marker",
    /// A second session of the same turn was found.
    FoundDuplicate = "found.duplicate",
    /// Its pull request does the same as another one, and was labelled.
    RepeatsWork = "found.repeat",
    /// Its pull request changes nothing, and was labelled.
    ChangesNothing = "found.no_op",
    /// Its pull request was unwanted, and is left to people now.
    KeptByPeople = "found.kept",
    /// Its turn has ended.
    Finished = "finished",
    /// Its pull request was merged or closed.
    PullSettled = "finished.pull",
    /// Its pull request was refused by a person, who gave a reason.
    PullRefused = "finished.refused",
    /// Its pull request was merged, and another one took the change back.
    PullReverted = "finished.reverted",
    /// Its session was archived some time after its end.
    SessionArchived = "finished.archived",
    /// Reviewers were reminded of its pull request.
    Reminded = "finished.reminder",
    /// Its draft was marked as ready for review.
    DraftReady = "finished.draft_ready",
    /// Its session is at work.
    SessionRunning = "waiting.session_running",
    /// Its session asked a question and was answered.
    SessionAsked = "waiting.session_asked",
    /// Its session has been quiet for long.
    SessionStuck = "waiting.session_stuck",
    /// Its session cannot be read now.
    SessionUnread = "waiting.session_unread",
    /// Its session ended without a result and was reminded of it.
    SessionReminded = "waiting.session_reminded",
    /// A person paused its session in Jules.
    SessionPaused = "waiting.session_paused",
    /// Its session asks a question that only a person can answer.
    PersonAnswer = "waiting.person_answer",
    /// Its pull request is neither merged nor closed.
    PrOpen = "waiting.pr_open",
    /// Checks of its pull request failed, and its session does not work on that.
    ChecksFailed = "waiting.checks_failed",
    /// Checks of its pull request failed, and its session was messaged.
    ChecksReported = "waiting.checks_told",
    /// Its session cannot be messaged yet about the reviews.
    ReviewsRequested = "waiting.reviews_asked",
    /// Its session was messaged about the reviews; whether the message was delivered is not known yet.
    ReviewsSent = "waiting.reviews_told",
    /// Its pull request conflicts with its base or is behind it, and its session does not work on that.
    UpdateNeeded = "waiting.base_needed",
    /// Its pull request conflicts with its base or is behind it, and its session was messaged.
    UpdateRequested = "waiting.base_told",
    /// Its pull request is a draft, and its session is not done.
    DraftUnfinished = "waiting.draft",
    /// The checks of its newest commit are not over.
    ChecksRunning = "waiting.checks_running",
    /// GitHub does not know yet whether it can be merged.
    MergeableUnknown = "waiting.mergeable_unknown",
    /// An approval or another rule of its base is not fulfilled yet.
    MergeNotYet = "waiting.merge_not_yet",
    /// GitHub could not merge it at that moment; phileas asks again.
    MergePostponed = "waiting.merge_put_off",
    /// GitHub was asked to merge it, and its answer is not known yet.
    MergeSent = "waiting.merge_sent",
    /// Enough pull requests wait for a review.
    ReviewBacklog = "waiting.review_backlog",
    /// Its plan waits for the approval of a person.
    PlanApproval = "waiting.plan_approval",
    /// Its plan does what a pull request does that is open, refused or merged, and its session was asked for another task.
    PlanRepeats = "waiting.plan_repeats",
    /// An open pull request changes a file that its persona or request names.
    Overlap = "waiting.overlap",
    /// Enough sessions are at work in this repository.
    BudgetActive = "waiting.budget_active",
    /// Enough sessions were started within a day in this repository (`daily_sessions` and `reserve_for_people` of the
    /// plan's budget).
    BudgetDaily = "waiting.budget_daily",
    /// Schedules have had their part of the day; the rest is left to tracks (`track_share` of the plan's budget).
    BudgetShare = "waiting.budget_share",
    /// The same person has requested enough within an hour.
    ActorHour = "waiting.actor_budget",
    /// The quota of the Jules key is spent, or reserved for people.
    JulesQuota = "waiting.jules_quota",
    /// Its work was not wanted lately, so it rests.
    PersonaResting = "waiting.persona_resting",
    /// Its last session was refused, so it is left out for a while.
    PersonaRefused = "waiting.persona_refused",
    /// The same persona is at work elsewhere.
    PersonaBusy = "waiting.persona_busy",
    /// The default branch has not moved since its last turn.
    Unchanged = "waiting.unchanged",
    /// Its time has not come.
    NotDue = "waiting.not_due",
    /// The files that its layer works on are being read.
    ExchangeUnread = "waiting.exchange_unread",
    /// Its prompt is being made: files are read for it, or it is rendered.
    PromptUnread = "waiting.prompt_unread",
    /// More is due than one commit starts; the next commit starts it.
    NextCommit = "waiting.next_commit",
    /// Another process of phileas is starting it.
    OtherHolder = "waiting.other_holder",
    /// The plan's `gate.driver` leaves it to another driver of phileas.
    OtherDriver = "waiting.other_driver",
    /// The plan's `mode` is "observe".
    ObserveMode = "waiting.observe_mode",
    /// Checks of the default branch failed.
    DefaultChecksFailed = "waiting.main_red",
    /// Jules does not answer.
    JulesUnavailable = "waiting.jules_unavailable",
    /// Its session could not be requested, or its branch not be created, in time; phileas tries again.
    NotSent = "waiting.not_sent",
    /// Jules shows more than the ledger knows; phileas reads the ledger again.
    LedgerCatchingUp = "waiting.ledger_catching_up",
    /// More comments may have been written than are read at once.
    CommentsMissed = "waiting.comments_missed",
    /// What was requested, and by which account, is being read.
    RequestUnread = "waiting.request_unread",
    /// phileas tries it again in a while.
    RetryPause = "waiting.retry_pause",
    /// Whether its session exists is not known yet.
    Ambiguous = "held.ambiguous",
    /// Jules refused the session, or GitHub its branch; phileas tries again.
    CreateRefused = "held.create_refused",
    /// The repository variable `PHILEAS_PAUSED` pauses the repository.
    PausedVariable = "paused.variable",
    /// The label `phileas:pause` pauses the repository.
    PausedLabel = "paused.label",
    /// A command paused the repository.
    PausedState = "paused.state",
    /// A command paused the track.
    PausedTrack = "paused.track",
    /// The label `phileas:hold` keeps it from starting.
    SubjectHeld = "paused.hold",
    /// The state file of the ledger cannot be read.
    LedgerCorrupt = "paused.ledger_corrupt",
    /// The ledger is missing, or older than the sessions that it started.
    LedgerRolledBack = "paused.ledger_rolled_back",
    /// The plan has a mistake that may concern everything, so nothing starts until it is fixed.
    PlanInvalid = "paused.plan_invalid",
    /// Whether this repository had a ledger before cannot be proven.
    LedgerUnproven = "paused.ledger_unproven",
    /// The ledger belongs to another repository: this one is a copy.
    LedgerForeign = "paused.ledger_foreign",
    /// Jules refuses the key.
    JulesCredential = "paused.jules_credential",
    /// The repository is archived.
    RepositoryArchived = "paused.repository_archived",
    /// The repository has no commit yet.
    RepositoryEmpty = "paused.repository_empty",
    /// The persona cannot be read; `phileas validate` says why.
    PersonaInvalid = "skipped.persona_invalid",
    /// The persona says `scheduled: false`.
    PersonaUnscheduled = "skipped.persona_unscheduled",
    /// The persona is sensitive, and the repository with its ledger is public.
    PersonaSensitive = "skipped.persona_sensitive",
    /// The prompt of the persona cannot be rendered; `phileas validate` says why.
    PromptInvalid = "skipped.prompt_invalid",
    /// This version of phileas does not know the layer, or a newer one started its turn.
    LayerUnavailable = "skipped.layer_unavailable",
    /// The layer has nothing to do.
    LayerEmpty = "skipped.layer_empty",
    /// It runs only when a person requests it.
    Manual = "skipped.manual",
    /// The same request is pending already; this one joins it.
    RequestOpen = "skipped.request_open",
    /// It has no step that can run.
    TrackEmpty = "skipped.track_empty",
    /// Times of its schedule were missed, and the plan does not catch up on them.
    SlotsMissed = "skipped.slots_missed",
    /// The name is not known here.
    Unknown = "refused.unknown",
    /// It was requested more than seven days ago and could not start; request it again.
    RequestOld = "refused.request_old",
    /// Only people with write access to this repository may request it.
    ActorPermission = "refused.actor_permission",
    /// GitHub does not show which account added the label; remove it and add it again, or use a comment.
    ActorUnknown = "refused.actor_unknown",
    /// Bots may not request it, unless `gate.allow_bots` of the plan names them.
    ActorBot = "refused.actor_bot",
    /// The account is phileas itself or Jules, which may make no requests.
    ActorSelf = "refused.actor_self",
    /// The plan allows no requests for sessions by labels and comments.
    ActorBudget = "refused.actor_budget",
    /// The text, the title or the commits were changed after the request; read it again and repeat the request.
    ContentChanged = "refused.content_changed",
    /// The issue no longer shows the work item; undo the edit of the issue, or use the item's newer issue.
    ItemChanged = "refused.item_changed",
    /// The text of the dashboard issue was edited by hand; phileas writes it again.
    DashboardEdited = "refused.dashboard_edited",
    /// The issue or pull request was closed before it could start, or is gone.
    SubjectClosed = "refused.subject_closed",
    /// The pull request comes from a fork, and forks start nothing.
    Fork = "refused.fork",
    /// The plan leaves it to people.
    PlanForbids = "refused.plan_forbids",
    /// It is no pull request of a session that phileas started.
    NotOurs = "refused.not_ours",
    /// The plan does not say `merge = "green"` for it; write that under `[defaults]` or in its track, and ask again.
    MergeOff = "refused.merge_off",
    /// A check of its newest commit failed, or there is none.
    ChecksNotGreen = "refused.checks_not_green",
    /// A review by an account with write access is missing, or a reviewer requests changes.
    ReviewMissing = "refused.review_missing",
    /// It changes a protected path, which only people merge.
    ProtectedPath = "refused.protected_path",
    /// It is a draft, has another base, conflicts, or violates a rule of its base.
    NotMergeable = "refused.not_mergeable",
    /// GitHub refused to merge it, or did not answer.
    MergeFailed = "refused.merge_failed",
    /// Its session got the maximum number of messages.
    RoundsSpent = "refused.rounds_spent",
    /// Its session is archived, failed, gone or unreachable.
    SessionGone = "refused.session_gone",
    /// Its newest commit is not its session's, and the session would overwrite it.
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
    fn each_reason_has_a_sentence_of_its_own() {
        let clauses: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.clause()).collect();
        assert_eq!(clauses.len(), Reason::ALL.len());
        assert_eq!(Reason::SessionRunning.clause(), "its session is at work");
        assert_eq!(Reason::JulesUnavailable.clause(), "Jules does not answer");
        for reason in Reason::ALL {
            assert!(reason.meaning().ends_with('.'), "{reason}");
            assert!(!reason.clause().contains(". "), "one sentence: {reason}");
        }
    }

    #[test]
    fn codes_are_unique() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
