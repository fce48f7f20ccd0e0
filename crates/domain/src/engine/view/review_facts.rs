//! What decides in which lane of the review a pull request stands, and what settles it.

use super::review_lane::LaneKind;
use crate::engine::input::commands::{HOLD, KEEP};
use crate::engine::input::pull::{Checks, Mergeable, Pull, PullState};
use crate::engine::lookup::pull_owner::merge_allowed;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{SMALL_FILES, SMALL_LINES};
use crate::engine::output::report::Line;
use crate::engine::text::time::format_utc;
use crate::model::PullNumber;
use crate::plan::NoveltyMode;
use crate::state::{Outcome, WorkFacts, WorkMark};

/// What is known of an open pull request.
pub(super) struct ReviewFacts<'a> {
    pull: &'a Pull,
    /// What its files say, where they were read at its newest commit.
    pub(super) read: Option<&'a WorkFacts>,
    mark: Option<&'a WorkMark>,
    /// What it repeats, where people have not decided to keep it.
    twin: Option<PullNumber>,
    /// Whether a person has refused it, so that phileas closes it.
    is_refused: bool,
    is_kept: bool,
    is_held: bool,
    /// Whether its session got a review of its newest commit.
    is_being_changed: bool,
    /// Whether phileas has given it up to people.
    needs_person: bool,
    /// Whether phileas can refuse it, because it records its work.
    can_refuse: bool,
    can_merge: bool,
    closes_it: bool,
}

impl<'a> ReviewFacts<'a> {
    /// `lines`: the lines of the newest report.
    pub(super) fn new(builder: &'a DecisionBuilder<'_>, pull: &'a Pull, lines: &[&Line]) -> Self {
        let (number, work) = (pull.number, &builder.state.work);
        let words = builder.snapshot.labelled.get(&number.0);
        let has_label = |word: &str| words.is_some_and(|words| words.contains(word));
        let read = work.facts.get(&number);
        let read = read.filter(|read| read.head == pull.head_oid);
        let is_shown_open = |twin: &PullNumber| {
            let twin = builder.snapshot.pulls.get(twin);
            twin.is_none_or(|twin| twin.state == PullState::Open)
        };
        // One that has just ended is judged again by the next record.
        let is_current = |read: &&WorkFacts| {
            read.twin_outcome.is_some() || read.twin.as_ref().is_some_and(is_shown_open)
        };
        let tracked = builder.state.pulls.get(&number);
        let reviews = tracked.and_then(|tracked| tracked.reviews.as_ref());
        let mut own_lines = lines.iter().filter(|line| line.pr_number == Some(number));
        let mode = builder.snapshot.plan.novelty.mode;
        Self {
            pull,
            read,
            mark: work.marks.get(&number),
            twin: read.filter(is_current).and_then(|read| read.twin),
            is_refused: work.refused.contains_key(&number),
            is_kept: has_label(KEEP),
            is_held: has_label(HOLD),
            is_being_changed: reviews.is_some_and(|reviews| reviews.head == pull.head_oid),
            needs_person: own_lines.any(|line| line.needs_person()),
            can_refuse: mode != NoveltyMode::Off,
            can_merge: merge_allowed(builder, number).is_ok(),
            closes_it: mode == NoveltyMode::Close,
        }
    }

    pub(super) fn lane(&self) -> LaneKind {
        if self.is_refused || !self.is_kept && self.unwanted_reason().is_some() {
            LaneKind::Unwanted
        } else if self.is_unfinished() {
            LaneKind::Waiting
        } else if self.is_small() && !self.is_protected() && self.pull.checks == Checks::Passed {
            LaneKind::Small
        } else {
            LaneKind::Careful
        }
    }

    /// Whether its session, or its checks, have not finished.
    fn is_unfinished(&self) -> bool {
        let pull = self.pull;
        let cannot_merge = matches!(pull.mergeable, Mergeable::Conflicting | Mergeable::Behind);
        let not_green = matches!(pull.checks, Checks::Pending | Checks::Failed);
        pull.draft || cannot_merge || not_green || self.is_being_changed
    }

    fn is_small(&self) -> bool {
        self.read.is_some_and(|read| {
            let lines = read.added.saturating_add(read.removed);
            read.files.is_some_and(|files| files <= SMALL_FILES) && lines <= SMALL_LINES
        })
    }

    fn is_protected(&self) -> bool {
        self.read.is_some_and(|read| read.protected)
    }

    /// Why it is unwanted, with the reason of `/phileas refuse` that says so.
    fn unwanted_reason(&self) -> Option<(String, &'static str)> {
        let read = self.read?;
        if let Some(twin) = self.twin {
            let (what, reason) = match read.twin_outcome {
                None => ("is open", "duplicate"),
                Some(Outcome::Merged) => ("was merged", "duplicate"),
                Some(_) => ("was refused", "out-of-scope"),
            };
            return Some((format!("same as #{twin}, which {what}"), reason));
        }
        if read.no_op {
            return Some(("changes nothing".to_owned(), "wrong"));
        }
        read.white_space
            .then(|| ("changes white space alone".to_owned(), "no-evidence"))
    }

    /// What a reviewer should know beside its size and its checks.
    pub(super) fn remarks(&self) -> Vec<String> {
        let pull = self.pull;
        let mut remarks = Vec::new();
        remarks.extend(self.unwanted_reason().map(|(text, _)| text));
        let mut add = |is_so: bool, text: &str| {
            if is_so {
                remarks.push(text.to_owned());
            }
        };
        let is_read = self.read.is_some_and(|read| read.files.is_some());
        add(is_read && !self.is_small(), "large");
        add(self.is_protected(), "changes a protected path");
        add(pull.draft, "draft");
        add(
            pull.mergeable == Mergeable::Conflicting,
            "conflicts with its base",
        );
        add(pull.mergeable == Mergeable::Behind, "behind its base");
        add(self.is_being_changed, "its session has the review");
        add(
            pull.reviewed && !self.is_being_changed,
            "a person has reviewed it",
        );
        add(self.is_held, "on hold");
        add(self.is_kept, "kept by a person");
        remarks
    }

    /// What settles it.
    pub(super) fn settles(&self, kind: LaneKind) -> String {
        match kind {
            LaneKind::Unwanted if self.is_refused => "refused; phileas closes it".to_owned(),
            LaneKind::Unwanted => self.settles_unwanted(),
            LaneKind::Waiting if self.is_held => "take off the label `phileas:hold`".to_owned(),
            LaneKind::Waiting if self.needs_person => {
                format!("fix it, or {}", self.refusal("wrong"))
            }
            LaneKind::Waiting if self.pull.checks == Checks::Pending => {
                "wait for its checks".to_owned()
            }
            LaneKind::Waiting => "wait for its session".to_owned(),
            LaneKind::Careful if self.read.is_some() && !self.is_small() => {
                format!("{}, or {}", self.merging(), self.refusal("too-large"))
            }
            LaneKind::Careful | LaneKind::Small => self.merging(),
        }
    }

    fn settles_unwanted(&self) -> String {
        let reason = self.unwanted_reason().map_or("wrong", |(_, reason)| reason);
        let closes_at = self.mark.filter(|mark| self.closes_it && !mark.white_space);
        let closing = closes_at.and_then(|mark| mark.closes_at);
        let closing = closing.map(|at| format!("; phileas closes it after {}", format_utc(at)));
        format!("{}{}", self.refusal(reason), closing.unwrap_or_default())
    }

    fn refusal(&self, reason: &str) -> String {
        match self.can_refuse {
            true => format!("`/phileas refuse {reason}`"),
            false => "close it".to_owned(),
        }
    }

    fn merging(&self) -> String {
        let is_green = self.pull.checks == Checks::Passed;
        let merging = match self.can_merge && is_green && !self.is_protected() && !self.is_held {
            true => "approve it and add the label `phileas:merge`",
            false => "review and merge it",
        };
        match self.pull.reviewed {
            true => format!("{merging}, or `/phileas retry` for what reviewers want changed"),
            false => merging.to_owned(),
        }
    }
}
