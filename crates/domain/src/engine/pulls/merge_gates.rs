//! Decides whether a pull request may be merged now.

use jiff::Timestamp;

use crate::engine::input::commands::HOLD;
use crate::engine::input::merge_facts::{MergeFacts, MergeMethod, MergeStatus, ReviewDemand};
use crate::engine::input::pull::{Checks, Mergeable, Pull, PullState};
use crate::engine::lookup::pending_merges::PendingMerge;
use crate::engine::lookup::permissions::{may_request, may_write};
use crate::engine::lookup::protected_paths::protection_text;
use crate::engine::lookup::pull_owner::merge_allowed;
use crate::engine::lookup::request_origin::request_actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    CHECKS_BEGIN, GRACE, MERGES_READ, REQUEST_VALID, REVIEWERS_READ,
};
use crate::engine::output::report::Reason;
use crate::model::{BranchName, Oid, PullNumber};

/// The result of the gates.
pub(crate) enum Gate {
    Open(MergeMethod),
    Merged,
    Wait(Reason, String),
    Unread,
    Shut(Reason, String),
}

/// Why the facts about a pull request do not allow its merge now.
pub(crate) enum FactsGap {
    Merged,
    Wait(Reason, String),
    Shut(Reason, String),
}

impl From<FactsGap> for Gate {
    fn from(gap: FactsGap) -> Self {
        match gap {
            FactsGap::Merged => Self::Merged,
            FactsGap::Wait(reason, text) => Self::Wait(reason, text),
            FactsGap::Shut(reason, text) => Self::Shut(reason, text),
        }
    }
}

/// The facts that the first read and the read before the merge share.
struct View<'a> {
    state: PullState,
    head: &'a Oid,
    same_repository: bool,
    base: &'a BranchName,
    draft: bool,
    checks: Checks,
    status: MergeStatus,
    held: bool,
}

/// Whether it may be merged now. The facts of the first read come first: while they forbid the merge, nothing more is
/// read.
pub(crate) fn check_gates(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) -> Gate {
    let snapshot = builder.snapshot;
    let Some(request) = builder.state.requests.get(&open.key) else {
        return Gate::Unread;
    };
    let (Some(merge), Some(asked_at)) = (&request.merge, request.created_at) else {
        return shut_gate(Reason::RequestOld, "the time of the request is unknown");
    };
    let (actor, head) = (request_actor(request), merge.head.clone());
    let age = builder.now().duration_since(asked_at);
    if age >= REQUEST_VALID {
        return shut_gate(Reason::RequestOld, "it could not be merged for a week");
    }
    let track = match merge_allowed(builder, open.pull) {
        Ok(track) => track,
        Err((reason, text)) => return Gate::Shut(reason, text),
    };
    let known = builder.state.tracks.get(&track);
    if known.is_some_and(|known| known.paused.is_some()) {
        let text = format!("the track `{track}` is paused");
        return Gate::Wait(Reason::PausedTrack, text);
    }
    // Checks take a while to begin, and so may a person's approval after the label.
    let is_young = age < GRACE;
    if let Err(gate) = check_first_read(builder, open.pull, &head, is_young) {
        return gate;
    }
    let may = actor.map_or(Some(false), |actor| may_request(builder, Some(&actor)));
    let facts = snapshot.merges.get(&open.pull);
    // The oldest requests come first; the next tick reads those without room.
    if facts.is_none() && snapshot.merges.len() + builder.reads.merges.len() < MERGES_READ {
        builder.reads.merges.insert(open.pull);
    }
    let (Some(may), Some(facts)) = (may, facts) else {
        return Gate::Unread;
    };
    if !may {
        let text = "its actor is no longer authorized";
        return shut_gate(Reason::ActorPermission, text);
    }
    let Some(facts) = facts else {
        return shut_gate(Reason::SubjectClosed, "it is gone");
    };
    let method = match check_facts(builder, facts, &head, is_young) {
        Ok(method) => method,
        Err(gap) => return gap.into(),
    };
    match check_reviews(builder, facts) {
        Ok(()) => Gate::Open(method),
        Err(ReviewGap::Unread) => Gate::Unread,
        Err(ReviewGap::Missing(text)) if is_young => wait_gate(Reason::MergeNotYet, text),
        Err(ReviewGap::Missing(text)) => shut_gate(Reason::ReviewMissing, text),
    }
}

/// Whether nothing in the facts of the first read forbids the merge.
fn check_first_read(
    builder: &mut DecisionBuilder<'_>,
    number: PullNumber,
    head: &Oid,
    is_young: bool,
) -> Result<(), Gate> {
    let snapshot = builder.snapshot;
    let Some(pull) = snapshot.pulls.get(&number) else {
        if snapshot.missing_pulls.contains(&number) {
            return Err(shut_gate(Reason::SubjectClosed, "it is gone"));
        }
        builder.reads.pulls.insert(number);
        return Err(Gate::Unread);
    };
    let words = snapshot.labelled.get(&number.0);
    let mut first = View::from_pull(pull, words.is_some_and(|words| words.contains(HOLD)));
    // It is read again anyway, and reading it starts GitHub's computation.
    if first.status == MergeStatus::Unknown {
        first.status = MergeStatus::Yes;
    }
    // One of the two reads may come from a lagging replica and describe another commit. The read before the merge
    // decides which is the newest.
    if first.head != head {
        first = View {
            head,
            checks: Checks::Passed,
            status: MergeStatus::Yes,
            ..first
        };
    }
    let default = &snapshot.repository.default_branch;
    Ok(first.check_commit(head, default, is_young)?)
}

/// The gates of every merge, however it was requested: the commit, its checks, its files, and the merge method.
pub(crate) fn check_facts(
    builder: &DecisionBuilder<'_>,
    facts: &MergeFacts,
    head: &Oid,
    is_young: bool,
) -> Result<MergeMethod, FactsGap> {
    let default = &builder.snapshot.repository.default_branch;
    View::from_facts(facts).check_commit(head, default, is_young)?;
    // Further checks may begin after the first one passed.
    let is_new = |at: Timestamp| builder.now().duration_since(at) < CHECKS_BEGIN;
    if facts.committed_at.is_some_and(is_new) {
        let text = "its newest commit was only just made, and more checks of it may begin";
        return Err(wait(Reason::ChecksRunning, text));
    }
    let own = &builder.snapshot.plan.gate.protected_paths;
    if let Some(text) = protection_text(own, facts.files.as_deref()) {
        return Err(FactsGap::Shut(Reason::ProtectedPath, text));
    }
    facts.method.ok_or_else(|| {
        let text = "the repository allows no way of merging";
        shut(Reason::NotMergeable, text)
    })
}

fn shut(reason: Reason, text: &str) -> FactsGap {
    FactsGap::Shut(reason, text.to_owned())
}

fn wait(reason: Reason, text: &str) -> FactsGap {
    FactsGap::Wait(reason, text.to_owned())
}

fn shut_gate(reason: Reason, text: &str) -> Gate {
    Gate::Shut(reason, text.to_owned())
}

fn wait_gate(reason: Reason, text: &str) -> Gate {
    Gate::Wait(reason, text.to_owned())
}

impl<'a> View<'a> {
    fn from_pull(pull: &'a Pull, held: bool) -> Self {
        Self {
            state: pull.state,
            head: &pull.head_oid,
            same_repository: pull.same_repository,
            base: &pull.base,
            draft: pull.draft,
            checks: pull.checks,
            status: match pull.mergeable {
                Mergeable::Unknown => MergeStatus::Unknown,
                Mergeable::Yes => MergeStatus::Yes,
                Mergeable::Behind => MergeStatus::Behind,
                Mergeable::Conflicting => MergeStatus::Conflicting,
            },
            held,
        }
    }

    fn from_facts(facts: &'a MergeFacts) -> Self {
        Self {
            state: facts.state,
            head: &facts.head,
            same_repository: facts.same_repository,
            base: &facts.base,
            draft: facts.draft,
            checks: facts.checks,
            status: facts.status,
            held: facts.labels.contains(HOLD),
        }
    }

    /// Whether nothing in these facts forbids merging this commit.
    fn check_commit(
        &self,
        head: &Oid,
        default: &BranchName,
        is_young: bool,
    ) -> Result<(), FactsGap> {
        let is_shut = |reason, text| Err(shut(reason, text));
        match self.state {
            PullState::Open => {}
            PullState::Merged => return Err(FactsGap::Merged),
            PullState::Closed => return is_shut(Reason::SubjectClosed, "it was closed unmerged"),
        }
        if self.head != head {
            let text = "commits were pushed after the request; check them and request it again";
            return is_shut(Reason::ContentChanged, text);
        }
        if !self.same_repository {
            return is_shut(Reason::Fork, "it comes from a fork");
        }
        if self.base != default {
            let text = "it does not lead to the default branch";
            return is_shut(Reason::NotMergeable, text);
        }
        if self.draft {
            return is_shut(Reason::NotMergeable, "it is a draft");
        }
        if self.held {
            let text = "it has the label `phileas:hold`";
            return Err(wait(Reason::SubjectHeld, text));
        }
        match self.checks {
            Checks::Passed => {}
            Checks::Pending => {
                let text = "the checks of its newest commit are not over";
                return Err(wait(Reason::ChecksRunning, text));
            }
            Checks::None if is_young => {
                let text = "no check of its newest commit has passed or failed";
                return Err(wait(Reason::ChecksRunning, text));
            }
            Checks::None => {
                let text = "no check of its newest commit has passed: there are none, all were skipped or are neutral, or phileas cannot see them";
                return is_shut(Reason::ChecksNotGreen, text);
            }
            Checks::Failed => {
                let text = "a check of its newest commit failed";
                return is_shut(Reason::ChecksNotGreen, text);
            }
        }
        match self.status {
            MergeStatus::Yes => Ok(()),
            MergeStatus::Unknown => {
                let text = "GitHub does not know yet whether it can be merged";
                Err(wait(Reason::MergeableUnknown, text))
            }
            MergeStatus::Behind => {
                let text = "its base has moved on, and its rules demand that it is merged first";
                is_shut(Reason::NotMergeable, text)
            }
            MergeStatus::Conflicting => is_shut(Reason::NotMergeable, "it conflicts with its base"),
            MergeStatus::Blocked if is_young => {
                let text = "the rules of its base do not let it be merged yet";
                Err(wait(Reason::MergeNotYet, text))
            }
            MergeStatus::Blocked => {
                let text = "the rules of its base do not let it be merged as it is";
                is_shut(Reason::NotMergeable, text)
            }
        }
    }
}

/// What the reviews of a pull request lack.
enum ReviewGap {
    /// Permissions must be read first.
    Unread,
    /// What is missing.
    Missing(&'static str),
}

/// Whether a person with write access approved this commit, and none requests changes.
fn check_reviews(builder: &mut DecisionBuilder<'_>, facts: &MergeFacts) -> Result<(), ReviewGap> {
    let missing = |text| Err(ReviewGap::Missing(text));
    match facts.demand {
        ReviewDemand::Met => {}
        ReviewDemand::Missing => return missing("the rules of its base ask for more reviews"),
        ReviewDemand::ChangesAsked => return missing("a reviewer requests changes"),
    }
    let Some(opinions) = &facts.opinions else {
        return missing("more people have reviewed it than phileas reads");
    };
    let mut is_unread = false;
    let mut approved = false;
    let mut count = 0;
    for opinion in opinions {
        let Some(actor) = opinion.actor.as_ref().filter(|actor| !actor.bot) else {
            continue;
        };
        let is_of_head = opinion.commit.as_ref() == Some(&facts.head);
        if opinion.approves && !is_of_head {
            continue;
        }
        count += 1;
        if count > REVIEWERS_READ {
            return missing("more people have reviewed it than phileas reads");
        }
        match may_write(builder, actor) {
            None => is_unread = true,
            Some(false) => {}
            Some(true) if !opinion.approves => return missing("a reviewer requests changes"),
            Some(true) => approved = true,
        }
    }
    if is_unread {
        return Err(ReviewGap::Unread);
    }
    match approved {
        true => Ok(()),
        false => missing("no account with write access has approved its newest commit"),
    }
}
