//! What happens, and why everything else does not. Silence is the commonest complaint in this field, so nothing is
//! skipped without a line that carries a stable reason code.

use std::fmt;

use jiff::Timestamp;

use crate::Diagnostic;
use crate::model::{PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};

/// One line for each track, schedule and request, and for the repository where it concerns all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In the order of tracks, then schedules, then requests.
    pub lines: Vec<Line>,
    /// What is wrong with the plan and shows only when a turn has come: prompts that cannot be rendered.
    pub diagnostics: Vec<Diagnostic>,
}

/// One thing that happens or waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The track; `None` when the line concerns the whole repository.
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
    /// Whether it answers what this very run was asked to do, not what other people requested.
    pub is_requested: bool,
}

/// What is done about a track, schedule or request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A session is being started.
    Dispatched,
    /// A session that was found was taken as the turn's own.
    Adopted,
    /// The turn is done; the track goes on.
    Advanced,
    /// Nothing can be done yet.
    Waiting,
    /// Left out this time.
    Skipped,
    /// Not allowed.
    Refused,
    /// Stopped by a person, or for safety.
    Paused,
    /// A person has to decide.
    Held,
    /// An older turn was completed.
    Settled,
    /// What a session produced was taken into the ledger.
    Imported,
}

impl Verdict {
    /// The word in machine-readable output.
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
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why something happens or does not. The codes are stable: programs may rely on them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
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
        }
    };
}

reasons! {
    /// It was the track's turn.
    DueTrack = "due.track",
    /// A cron slot came.
    DueSchedule = "due.schedule",
    /// A person asked for it.
    DueRequest = "due.request",
    /// The attempt before this one came to nothing.
    DueRetry = "due.retry",
    /// A person's command was carried out.
    Obeyed = "finished.command",
    /// The session was found by its marker.
    FoundByMarker = "found.by_marker",
    /// A second session of one turn was found.
    FoundDuplicate = "found.duplicate",
    /// The turn ended with an outcome.
    Finished = "finished",
    /// A pull request's fate became known.
    PullSettled = "finished.pull",
    /// A pull request's session was archived some time after its end.
    SessionArchived = "finished.archived",
    /// People were reminded of a pull request that nobody has reviewed.
    Reminded = "finished.reminder",
    /// A draft was marked as ready for review.
    DraftReady = "finished.draft_ready",
    /// The session is at work.
    SessionRunning = "waiting.session_running",
    /// The session asked something and was given a standard answer.
    SessionAsked = "waiting.session_asked",
    /// The session has been quiet for long.
    SessionStuck = "waiting.session_stuck",
    /// What happened in the session cannot be read; the others go on.
    SessionUnread = "waiting.session_unread",
    /// The session ended without a result and was reminded of it.
    SessionReminded = "waiting.session_reminded",
    /// A person paused the session.
    SessionPaused = "waiting.session_paused",
    /// The session asked something that only a person can answer.
    PersonAnswer = "waiting.person_answer",
    /// The pull request is neither merged nor closed.
    PrOpen = "waiting.pr_open",
    /// The pull request's checks failed; it waits until its session can be told.
    ChecksFailed = "waiting.checks_failed",
    /// The pull request's checks failed and its session was told.
    ChecksTold = "waiting.checks_told",
    /// Somebody asks that a session is told what reviewers want changed; it waits until it can be.
    ReviewsAsked = "waiting.reviews_asked",
    /// A session was told what reviewers want changed.
    ReviewsTold = "waiting.reviews_told",
    /// The pull request conflicts with its base or is behind it; it waits until its session can be told.
    BaseNeeded = "waiting.base_needed",
    /// The pull request conflicts with its base or is behind it, and its session was told.
    BaseTold = "waiting.base_told",
    /// The pull request is a draft, and its session is not done.
    DraftUnfinished = "waiting.draft",
    /// The pull request is to be merged, and its checks are not over.
    ChecksRunning = "waiting.checks_running",
    /// The pull request is to be merged, and GitHub does not know yet whether it can be.
    MergeableUnknown = "waiting.mergeable_unknown",
    /// The pull request is to be merged, and an approval, or what the rules of its base ask for, has not shown yet.
    MergeNotYet = "waiting.merge_not_yet",
    /// The pull request could not be merged at that moment; it is looked at again.
    MergePutOff = "waiting.merge_put_off",
    /// GitHub was asked to merge the pull request.
    MergeSent = "waiting.merge_sent",
    /// People have enough to review.
    ReviewBacklog = "waiting.review_backlog",
    /// A plan waits for approval by a person.
    PlanApproval = "waiting.plan_approval",
    /// Enough sessions are live in this repository.
    BudgetActive = "waiting.budget_active",
    /// Enough sessions were started today in this repository.
    BudgetDaily = "waiting.budget_daily",
    /// Schedules have had their part of the day; the rest is left to tracks.
    BudgetShare = "waiting.budget_share",
    /// The same person has asked for enough within an hour; it has its turn later.
    ActorHour = "waiting.actor_budget",
    /// The Jules key's quota is spent or reserved for people.
    JulesQuota = "waiting.jules_quota",
    /// The persona's work was not wanted lately.
    PersonaResting = "waiting.persona_resting",
    /// The persona's session was refused for what it says; its track goes on without it for a while.
    PersonaRefused = "waiting.persona_refused",
    /// The persona has a live session elsewhere.
    PersonaBusy = "waiting.persona_busy",
    /// The default branch has not moved since the persona's last turn.
    Unchanged = "waiting.unchanged",
    /// Its time has not come.
    NotDue = "waiting.not_due",
    /// The exchange, or what a session wrote for it, is being read.
    ExchangeUnread = "waiting.exchange_unread",
    /// The files that its prompt is made from are being read, or it is being rendered.
    PromptUnread = "waiting.prompt_unread",
    /// More is due than one commit starts; the next one goes on.
    NextCommit = "waiting.next_commit",
    /// The intent belongs to another process that is still within its time.
    OtherHolder = "waiting.other_holder",
    /// Another driver acts on this repository.
    OtherDriver = "waiting.other_driver",
    /// The plan says to observe only.
    ObserveMode = "waiting.observe_mode",
    /// The default branch's checks are red.
    MainRed = "waiting.main_red",
    /// Jules does not answer.
    JulesUnavailable = "waiting.jules_unavailable",
    /// The session was not asked for: its branch could not be made, or the time for it was over.
    NotSent = "waiting.not_sent",
    /// The listing shows more than the ledger knows; the ledger is read again.
    LedgerCatchingUp = "waiting.ledger_catching_up",
    /// More may have been said since the last look than is read at once.
    CommentsMissed = "waiting.comments_missed",
    /// What a wish is about, or who made it, is read next.
    RequestUnread = "waiting.request_unread",
    /// A failed attempt waits before it is tried again.
    RetryPause = "waiting.retry_pause",
    /// Nobody knows whether a session exists.
    Ambiguous = "held.ambiguous",
    /// Jules refused the session, or GitHub its branch.
    CreateRefused = "held.create_refused",
    /// The repository variable says so.
    PausedVariable = "paused.variable",
    /// The label `phileas:pause` says so.
    PausedLabel = "paused.label",
    /// The state says so.
    PausedState = "paused.state",
    /// The track's state says so.
    PausedTrack = "paused.track",
    /// The label `phileas:hold` is on what it is about.
    SubjectHeld = "paused.hold",
    /// The state file cannot be read.
    LedgerCorrupt = "paused.ledger_corrupt",
    /// The state file is gone or old although Jules knows this repository.
    LedgerRolledBack = "paused.ledger_rolled_back",
    /// A limit in the plan cannot be read, so nothing starts until it is mended.
    PlanInvalid = "paused.plan_invalid",
    /// There is no ledger, and Jules' list is too long, or too short of what is archived, to tell whether there was one.
    LedgerUnproven = "paused.ledger_unproven",
    /// The ledger was born for another repository: this one is a copy.
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
    /// There is no such layer, or a newer version started its turn.
    LayerUnavailable = "skipped.layer_unavailable",
    /// The layer has nothing to do.
    LayerEmpty = "skipped.layer_empty",
    /// The schedule runs only when asked for.
    Manual = "skipped.manual",
    /// The same wish stands already and was not started yet; this one joins it.
    RequestOpen = "skipped.request_open",
    /// The track has no step that could run.
    TrackEmpty = "skipped.track_empty",
    /// Missed slots are forgotten, as the plan says.
    SlotsMissed = "skipped.slots_missed",
    /// Nothing by that name exists.
    Unknown = "refused.unknown",
    /// A request that could not be started for a week.
    RequestOld = "refused.request_old",
    /// Who asked has no write access, or the account is gone.
    ActorPermission = "refused.actor_permission",
    /// GitHub does not tell who put the label on.
    ActorUnknown = "refused.actor_unknown",
    /// Who asked is a bot that the plan does not name.
    ActorBot = "refused.actor_bot",
    /// Who asked is the bot that phileas itself works as, or Jules.
    ActorSelf = "refused.actor_self",
    /// The plan lets nobody ask for sessions by labels and comments.
    ActorBudget = "refused.actor_budget",
    /// What it was asked for on was changed afterwards.
    ContentChanged = "refused.content_changed",
    /// Somebody changed the text of the dashboard issue; it is written anew.
    DashboardEdited = "refused.dashboard_edited",
    /// What it was asked for on was closed or is gone.
    SubjectClosed = "refused.subject_closed",
    /// The pull request comes from a fork.
    Fork = "refused.fork",
    /// The plan keeps it from phileas.
    PlanForbids = "refused.plan_forbids",
    /// The pull request is of no session that phileas started.
    NotOurs = "refused.not_ours",
    /// The plan does not let phileas merge.
    MergeOff = "refused.merge_off",
    /// A check of the pull request's newest commit failed, or there is none.
    ChecksNotGreen = "refused.checks_not_green",
    /// Nobody with write access has approved the pull request's newest commit, or somebody asks for changes.
    ReviewMissing = "refused.review_missing",
    /// The pull request touches what only people merge.
    ProtectedPath = "refused.protected_path",
    /// The pull request is a draft, leads elsewhere, conflicts, or the rules of its base forbid to merge it.
    NotMergeable = "refused.not_mergeable",
    /// GitHub refused to merge the pull request, or did not answer.
    MergeFailed = "refused.merge_failed",
    /// The pull request's session was told often enough.
    RoundsSpent = "refused.rounds_spent",
    /// The pull request's session is archived, has failed, is gone, or does not hear.
    SessionGone = "refused.session_gone",
    /// The pull request's newest commit is not its session's, which would write over it.
    PushedByOthers = "refused.pushed_by_others",
    /// There is nothing that it could be done to.
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

    /// Scripts tell verdicts by these words.
    #[test]
    fn the_words_of_verdicts_are_stable() {
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
    fn a_reason_reads_as_its_code() {
        assert_eq!(Reason::JulesQuota.to_string(), "waiting.jules_quota");
        for reason in Reason::ALL {
            assert_eq!(reason.to_string(), reason.code());
        }
    }

    #[test]
    fn codes_are_unique() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
