//! Explains each reason to people who do not know phileas: a sentence without its full stop, about a track, a turn or a
//! request.

use super::report::Reason;

/// The sentence of a reason.
pub(crate) fn reason_text(reason: Reason) -> &'static str {
    match reason.code().split_once('.').map_or("", |(kind, _)| kind) {
        "waiting" | "held" => waiting_text(reason),
        "paused" => paused_text(reason),
        "skipped" | "refused" => not_done_text(reason),
        _ => done_text(reason),
    }
}

fn done_text(reason: Reason) -> &'static str {
    match reason {
        Reason::DueTrack => "it is next in its track",
        Reason::DueSchedule => "the time of its schedule has come",
        Reason::DueRequest => "it was requested",
        Reason::DueRetry => "its next attempt is due",
        Reason::CommandExecuted => "the command was executed",
        Reason::FoundByMarker => "its session was found",
        Reason::FoundDuplicate => "a second session of the same turn was found",
        Reason::PullSettled => "its pull request was merged or closed",
        Reason::SessionArchived => "its session was archived",
        Reason::Reminded => "reviewers were reminded of its pull request",
        Reason::DraftReady => "its draft was marked as ready for review",
        _ => "its turn has ended",
    }
}

fn waiting_text(reason: Reason) -> &'static str {
    match reason {
        Reason::SessionRunning => "its session is at work",
        Reason::SessionAsked => "its session asked a question and was answered",
        Reason::SessionStuck => "its session has been quiet for long",
        Reason::SessionUnread => "its session cannot be read now",
        Reason::SessionReminded => "its session ended without a result and was reminded of it",
        Reason::SessionPaused => "a person paused its session in Jules",
        Reason::PersonAnswer => "its session asks a question that only a person can answer",
        Reason::PrOpen => "its pull request is neither merged nor closed",
        Reason::ChecksFailed => {
            "checks of its pull request failed, and its session cannot be messaged yet"
        }
        Reason::ChecksReported => "checks of its pull request failed, and its session was messaged",
        Reason::ReviewsRequested => "its session cannot be messaged yet",
        Reason::ReviewsSent => {
            "its session was messaged; whether the message was delivered is not known yet"
        }
        Reason::UpdateNeeded => {
            "its pull request is behind its base, and its session cannot be messaged yet"
        }
        Reason::UpdateRequested => {
            "its pull request is behind its base, and its session was messaged"
        }
        Reason::DraftUnfinished => "its pull request is a draft, and its session is not done",
        Reason::ChecksRunning => "the checks of its newest commit are not over",
        Reason::MergeableUnknown => "GitHub does not know yet whether it can be merged",
        Reason::MergeNotYet => "an approval or another rule of its base is not fulfilled yet",
        Reason::MergePostponed => "GitHub could not merge it at that moment; phileas asks again",
        Reason::MergeSent => "GitHub was asked to merge it, and the answer was lost",
        Reason::ReviewBacklog => "enough pull requests wait for a review",
        Reason::PlanApproval => "its plan waits for the approval of a person",
        Reason::BudgetActive => "enough sessions are at work in this repository",
        Reason::BudgetDaily => {
            "enough sessions were started within a day in this repository (`daily_sessions` and `reserve_for_people` of \
             the plan's budget)"
        }
        Reason::BudgetShare => {
            "schedules have had their part of the day; the rest is left to tracks (`track_share` of the plan's budget)"
        }
        Reason::ActorHour => "the same person has requested enough within an hour",
        Reason::JulesQuota => "the Jules key has no room for it now",
        Reason::PersonaResting => "its work was not wanted lately, so it rests",
        Reason::PersonaRefused => "its last session was refused, so it is left out for a while",
        Reason::PersonaBusy => "the same persona is at work elsewhere",
        Reason::Unchanged => "the default branch has not moved since its last turn",
        Reason::NotDue => "its time has not come",
        Reason::PromptUnread => {
            "its prompt is being made: files are read for it, or it is rendered"
        }
        Reason::ExchangeUnread => "the files that its layer works on are being read",
        Reason::NextCommit => "more is due than one commit starts; the next commit starts it",
        Reason::OtherHolder => "another process of phileas is starting it",
        Reason::OtherDriver => "the plan's `gate.driver` leaves it to another driver of phileas",
        Reason::ObserveMode => "the plan's `mode` is \"observe\"",
        Reason::DefaultChecksFailed => "checks of the default branch failed",
        Reason::JulesUnavailable => "Jules does not answer",
        Reason::NotSent => "its session could not be requested in time; phileas tries again",
        Reason::LedgerCatchingUp => {
            "Jules shows more than the ledger knows; phileas reads the ledger again"
        }
        Reason::CommentsMissed => "more comments were written than are read at once",
        Reason::RequestUnread => "phileas is reading what was requested, and by which account",
        Reason::RetryPause => "phileas tries it again in a while",
        Reason::Ambiguous => "whether its session exists is not known yet",
        Reason::CreateRefused => "Jules refused the session; phileas tries it again",
        _ => "it waits for its turn",
    }
}

fn paused_text(reason: Reason) -> &'static str {
    match reason {
        Reason::PausedVariable => "the repository variable `PHILEAS_PAUSED` pauses the repository",
        Reason::PausedLabel => "the label `phileas:pause` pauses the repository",
        Reason::PausedState => "the repository is paused",
        Reason::PausedTrack => "its track is paused",
        Reason::SubjectHeld => "the label `phileas:hold` keeps it from starting",
        Reason::LedgerCorrupt => "the state file of the ledger cannot be read",
        Reason::LedgerRolledBack => "the ledger is older than the sessions that it started",
        Reason::PlanInvalid => "a limit in the plan cannot be read",
        Reason::LedgerUnproven => "whether this repository had a ledger before cannot be proven",
        Reason::LedgerForeign => "the ledger belongs to another repository",
        Reason::JulesCredential => "Jules refuses the key",
        Reason::RepositoryArchived => "the repository is archived",
        Reason::RepositoryEmpty => "the repository has no commit yet",
        _ => "it is paused",
    }
}

fn not_done_text(reason: Reason) -> &'static str {
    match reason {
        Reason::PersonaInvalid => "the file of the persona has a mistake",
        Reason::PersonaUnscheduled => "the persona says `scheduled: false`",
        Reason::PersonaSensitive => {
            "the persona is sensitive, and the repository with its ledger is public"
        }
        Reason::PromptInvalid => "the prompt of the persona cannot be rendered",
        Reason::LayerUnavailable => "this version of phileas does not know the layer",
        Reason::LayerEmpty => "the layer has nothing to do",
        Reason::Manual => "it runs only when a person requests it",
        Reason::RequestOpen => "the same request is open already",
        Reason::TrackEmpty => "it has no step that could run",
        Reason::SlotsMissed => {
            "times of its schedule were missed, and the plan does not catch up on them"
        }
        Reason::Unknown => "the name is not known here",
        Reason::RequestOld => "it could not be started for a week",
        Reason::ActorPermission => "the account has no write access",
        Reason::ActorUnknown => "GitHub does not show which account added the label",
        Reason::ActorBot => "the plan's `gate.allow_bots` does not name the bot",
        Reason::ActorSelf => "the account is the bot that phileas works as, or Jules",
        Reason::ActorBudget => "the plan allows no requests by labels and comments",
        Reason::ContentChanged => {
            "the text, the title or the commits changed after it was requested"
        }
        Reason::DashboardEdited => "the text of the dashboard issue was changed by hand",
        Reason::SubjectClosed => "the issue or pull request was closed",
        Reason::Fork => "the pull request comes from a fork",
        Reason::PlanForbids => "the plan leaves it to people",
        Reason::NotOurs => "the pull request is of no session that phileas started",
        Reason::MergeOff => "the plan does not say `merge = \"green\"` for it",
        Reason::ChecksNotGreen => "a check of its newest commit failed, or there is none",
        Reason::ReviewMissing => "a review is missing, or a reviewer asks for changes",
        Reason::ProtectedPath => "it changes files that only people merge",
        Reason::NotMergeable => "it cannot be merged as it stands",
        Reason::MergeFailed => "GitHub refused to merge it, or did not answer",
        Reason::RoundsSpent => "its session got the maximum number of messages",
        Reason::SessionGone => "its session is over or gone",
        Reason::PushedByOthers => "its newest commit is not of its session",
        _ => "it cannot be done here",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Only the reason that fits a catch-all sentence may have it.
    #[test]
    fn each_reason_has_a_sentence_of_its_own() {
        let mut codes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for reason in Reason::ALL {
            codes
                .entry(reason_text(*reason))
                .or_default()
                .push(reason.code());
        }
        let shared: Vec<_> = codes.iter().filter(|(_, codes)| codes.len() > 1).collect();
        assert_eq!(shared, [] as [(&&str, &Vec<&str>); 0]);
        for text in ["it waits for its turn", "it is paused"] {
            assert!(!codes.contains_key(text), "{:?}", codes[text]);
        }
        assert_eq!(codes["its turn has ended"], ["finished"]);
        assert_eq!(codes["it cannot be done here"], ["refused.nothing_to_do"]);
    }
}
