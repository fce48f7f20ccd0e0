//! Whether a pull request of ours may be merged now: what must speak for it, and what stands in the way.

use jiff::Timestamp;

use super::protected_paths::protects;
use crate::engine::input::merge_facts::{MergeFacts, MergeMethod, MergeStands, ReviewDemand};
use crate::engine::input::pull::{Checks, Mergeable, Pull, PullState};
use crate::engine::input::request_kind::HOLD;
use crate::engine::lookup::pending_merges::Open;
use crate::engine::lookup::permissions::{may_ask, may_write};
use crate::engine::lookup::pull_owner::allowed;
use crate::engine::lookup::request_origin::actor_of;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    CHECKS_BEGIN, GRACE, MERGES_READ, REQUEST_VALID, REVIEWERS_READ,
};
use crate::engine::output::report::Reason;
use crate::model::{BranchName, Oid};

/// What the gates say.
pub(crate) enum Gate {
    Open(MergeMethod),
    Merged,
    Wait(Reason, String),
    Unread,
    Shut(Reason, String),
}

/// What the first read and the last look both tell.
struct View<'a> {
    state: PullState,
    head: &'a Oid,
    same_repository: bool,
    base: &'a BranchName,
    draft: bool,
    checks: Checks,
    stands: MergeStands,
    held: bool,
}

/// Whether it may be merged now. What the first read tells is looked at first: while that says no or not yet, nothing
/// further is read.
pub(crate) fn gates(draft: &mut Draft<'_>, open: &Open) -> Gate {
    let snapshot = draft.snapshot;
    let Some(request) = draft.state.requests.get(&open.key) else {
        return Gate::Unread;
    };
    let (Some(merge), Some(asked_at)) = (&request.merge, request.created_at) else {
        return shut(Reason::RequestOld, "the time of the request is unknown");
    };
    let (actor, head) = (actor_of(request), merge.head.clone());
    let age = draft.now().duration_since(asked_at);
    if age >= REQUEST_VALID {
        return shut(Reason::RequestOld, "it could not be merged for a week");
    }
    let track = match allowed(draft, open.pull) {
        Ok(track) => track,
        Err((reason, text)) => return Gate::Shut(reason, text),
    };
    let known = draft.state.tracks.get(&track);
    if known.is_some_and(|known| known.paused.is_some()) {
        let text = format!("the track `{track}` is paused");
        return Gate::Wait(Reason::PausedTrack, text);
    }
    let Some(pull) = snapshot.pulls.get(&open.pull) else {
        if snapshot.missing_pulls.contains(&open.pull) {
            return shut(Reason::SubjectClosed, "it is gone");
        }
        draft.needs.pulls.insert(open.pull);
        return Gate::Unread;
    };
    let words = snapshot.labelled.get(&open.pull.0);
    let mut first = View::of_pull(pull, words.is_some_and(|words| words.contains(HOLD)));
    // It is looked at once more anyhow, and asking makes GitHub work it out.
    if first.stands == MergeStands::Unknown {
        first.stands = MergeStands::Yes;
    }
    // One of two reads may come from a replica that lags: what this one tells is of another commit then, and which is
    // the newest is told by the last look.
    if *first.head != head {
        first = View {
            head: &head,
            checks: Checks::Green,
            stands: MergeStands::Yes,
            ..first
        };
    }
    // Checks take a while to begin, and so may what a person does beside the label.
    let is_young = age < GRACE;
    let default = &snapshot.repository.default_branch;
    if let Err(gate) = first.passes(&head, default, is_young) {
        return gate;
    }
    let may = actor.map_or(Some(false), |actor| may_ask(draft, Some(&actor)));
    let facts = snapshot.merges.get(&open.pull);
    // The oldest wishes come first; who finds no room is looked at by the next tick.
    if facts.is_none() && snapshot.merges.len() + draft.needs.merges.len() < MERGES_READ {
        draft.needs.merges.insert(open.pull);
    }
    let (Some(may), Some(facts)) = (may, facts) else {
        return Gate::Unread;
    };
    if !may {
        let text = "who asked for it may not do so any more";
        return shut(Reason::ActorPermission, text);
    }
    let Some(facts) = facts else {
        return shut(Reason::SubjectClosed, "it is gone");
    };
    let method = match admits(draft, facts, &head, is_young) {
        Ok(method) => method,
        Err(gate) => return gate,
    };
    match reviewed(draft, facts) {
        None => Gate::Unread,
        Some(Err(text)) if is_young => wait(Reason::MergeNotYet, text),
        Some(Err(text)) => shut(Reason::ReviewMissing, text),
        Some(Ok(())) => Gate::Open(method),
    }
}

/// What holds for each way in which a merge is asked for: the commit, its checks, its files, and the way of merging.
pub(crate) fn admits(
    draft: &Draft<'_>,
    facts: &MergeFacts,
    head: &Oid,
    is_young: bool,
) -> Result<MergeMethod, Gate> {
    let default = &draft.snapshot.repository.default_branch;
    View::of_facts(facts).passes(head, default, is_young)?;
    // The first check that ends well is not the last one that begins.
    let is_new = |at: Timestamp| draft.now().duration_since(at) < CHECKS_BEGIN;
    if facts.committed_at.is_some_and(is_new) {
        let text = "its newest commit was only just made, and more checks of it may begin";
        return Err(wait(Reason::ChecksRunning, text));
    }
    let own = &draft.snapshot.plan.gate.protected_paths;
    if let Some(text) = protects(own, facts.files.as_deref()) {
        return Err(Gate::Shut(Reason::ProtectedPath, text));
    }
    facts.method.ok_or_else(|| {
        let text = "the repository allows no way of merging";
        shut(Reason::NotMergeable, text)
    })
}

fn shut(reason: Reason, text: &str) -> Gate {
    Gate::Shut(reason, text.to_owned())
}

fn wait(reason: Reason, text: &str) -> Gate {
    Gate::Wait(reason, text.to_owned())
}

impl<'a> View<'a> {
    fn of_pull(pull: &'a Pull, held: bool) -> Self {
        Self {
            state: pull.state,
            head: &pull.head_oid,
            same_repository: pull.same_repository,
            base: &pull.base,
            draft: pull.draft,
            checks: pull.checks,
            stands: match pull.mergeable {
                Mergeable::Unknown => MergeStands::Unknown,
                Mergeable::Yes => MergeStands::Yes,
                Mergeable::Behind => MergeStands::Behind,
                Mergeable::Conflicting => MergeStands::Conflicting,
            },
            held,
        }
    }

    fn of_facts(facts: &'a MergeFacts) -> Self {
        Self {
            state: facts.state,
            head: &facts.head,
            same_repository: facts.same_repository,
            base: &facts.base,
            draft: facts.draft,
            checks: facts.checks,
            stands: facts.stands,
            held: facts.labels.contains(HOLD),
        }
    }

    /// Whether nothing that is seen here stands in the way of merging this commit.
    fn passes(&self, head: &Oid, default: &BranchName, is_young: bool) -> Result<(), Gate> {
        let is_shut = |reason, text| Err(shut(reason, text));
        match self.state {
            PullState::Open => {}
            PullState::Merged => return Err(Gate::Merged),
            PullState::Closed => return is_shut(Reason::SubjectClosed, "it was closed unmerged"),
        }
        if self.head != head {
            let text = "commits were pushed after it was asked for; look at them and ask again";
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
            let text = "it bears the label `phileas:hold`";
            return Err(wait(Reason::SubjectHeld, text));
        }
        match self.checks {
            Checks::Green => {}
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
            Checks::Red => {
                let text = "a check of its newest commit failed";
                return is_shut(Reason::ChecksNotGreen, text);
            }
        }
        match self.stands {
            MergeStands::Yes => Ok(()),
            MergeStands::Unknown => {
                let text = "GitHub does not know yet whether it can be merged";
                Err(wait(Reason::MergeableUnknown, text))
            }
            MergeStands::Behind => {
                let text = "its base has moved on, and its rules demand that it is merged first";
                is_shut(Reason::NotMergeable, text)
            }
            MergeStands::Conflicting => is_shut(Reason::NotMergeable, "it conflicts with its base"),
            MergeStands::Blocked if is_young => {
                let text = "the rules of its base do not let it be merged yet";
                Err(wait(Reason::MergeNotYet, text))
            }
            MergeStands::Blocked => {
                let text = "the rules of its base do not let it be merged as it is";
                is_shut(Reason::NotMergeable, text)
            }
        }
    }
}

/// Whether a person who may write has approved this very commit, and nobody who may asks for changes. `None`: what they
/// may do has still to be read.
fn reviewed(draft: &mut Draft<'_>, facts: &MergeFacts) -> Option<Result<(), &'static str>> {
    match facts.demand {
        ReviewDemand::Met => {}
        ReviewDemand::Missing => return Some(Err("the rules of its base ask for more reviews")),
        ReviewDemand::ChangesAsked => return Some(Err("somebody asks for changes")),
    }
    let Some(opinions) = &facts.opinions else {
        return Some(Err("more people have reviewed it than are looked at"));
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
            return Some(Err("more people have reviewed it than are looked at"));
        }
        match may_write(draft, actor) {
            None => is_unread = true,
            Some(false) => {}
            Some(true) if !opinion.approves => return Some(Err("somebody asks for changes")),
            Some(true) => approved = true,
        }
    }
    if is_unread {
        return None;
    }
    let text = "no account with write access has approved its newest commit";
    Some(if approved { Ok(()) } else { Err(text) })
}
