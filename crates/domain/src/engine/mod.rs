//! What should happen next, and why everything else waits.
//!
//! [`decide()`] looks at one [`Snapshot`] and the [`Event`]s that followed it, and answers with a [`Decision`]: one
//! commit to make, effects to carry out after it, a report of everything that does and does not happen, and the time
//! at which looking again is worth while. It performs no I/O, reads no clock, draws no randomness and cannot fail.

mod account;
mod admission;
mod adopt;
mod allowance;
mod asked;
mod base;
mod binding;
mod budget;
mod comment;
mod dashboard;
mod decide;
mod decision;
mod dispatch;
mod draft;
mod effect;
mod ending;
mod event;
mod events;
mod follow;
mod gate;
mod heard;
mod import;
mod layers;
mod limits;
mod looks;
mod merge_facts;
mod merge_gates;
mod merging;
mod messages;
mod needs;
mod neutral;
mod notices;
mod obey;
mod plans;
mod progress;
mod protected;
mod pulls;
mod put_away;
mod ready;
mod reason_text;
mod red;
mod remind;
mod report;
mod rest;
mod reviews;
mod roster;
mod schedule;
mod simulate;
mod snapshot;
mod sprint;
mod start;
mod steer;
mod step;
mod subject;
mod tell;
mod timing;
mod track;
mod unseen;
mod watched;
mod wish;
mod word;
mod yields;

pub use asked::{asked_for, pending_requests, withdraw};
pub use comment::{Comment, command_in};
pub use dashboard::{DASHBOARD_KEY, text_digest};
pub use decide::{decide, needs, prompts_to_render, settle};
pub use decision::{Change, Decision};
pub use effect::{CreateSession, Effect, MakeBranch, NoticeKey};
pub use ending::end_cancelled;
pub use event::{CreateFailure, Event};
pub use gate::holds_all_back;
pub use heard::{Further, Heard, Reach};
pub use import::{Import, ImportError};
pub use layers::{LEDGER_DOCUMENTS, WORK_LABEL};
pub use merge_facts::{MergeFacts, MergeMethod, MergeStands, Opinion, ReviewDemand};
pub use merge_gates::{MergeRefusal, merge_gate};
pub use needs::{ListingNeed, Needs};
pub use pulls::of_session as pull_of_session;
pub use report::{Line, Reason, Report, Verdict};
pub use roster::{LastTurn, Standing, roster};
pub use simulate::{Assumptions, Forecast, Held, Planned, simulate};
pub use snapshot::{
    Activity, ActivityKind, Ask, Checks, Commit, CommitSpan, Commits, Dashboard, ExchangeRead,
    FailedCheck, KeyUse, Ledger, Listing, Mergeable, Notice, Outage, Papers, PlanCommit, PlanStep,
    Pull, PullState, RedChecks, Remark, Repository, ReviewThread, Reviews, Saying, Session,
    SessionState, Sessions, Snapshot, Written,
};
pub use steer::{SteerError, go_on, next_step, set_next_step};
pub use subject::{
    Actor, Ends, LABEL_PREFIX, Permission, Subject, SubjectChange, SubjectEdit, SubjectEvent,
};
pub use tell::STATUS_MARKER;
pub use yields::{BudgetFigures, Yield, budget_figures, yield_of_all, yields};
