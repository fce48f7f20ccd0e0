//! What should happen next, and why everything else waits.
//!
//! [`decide()`] looks at one [`Snapshot`] and the [`Event`]s that followed it, and answers with a [`Decision`]: one
//! commit to make, effects to carry out after it, a report of everything that does and does not happen, and the time
//! at which looking again is worth while. It performs no I/O, reads no clock, draws no randomness and cannot fail.

mod apply_events;
mod decide;
mod dispatch;
mod input;
mod ledger;
mod lookup;
mod merge_gate;
mod observe_only;
mod output;
mod publish;
mod pulls;
mod record;
mod requests;
mod simulate;
mod text;
mod turns;

pub use decide::{decide, needs, prompts_to_render, settle};
pub use input::comment::{Comment, command_in};
pub use input::commits::{Commit, CommitSpan, Commits};
pub use input::coverage::{Further, Heard, Reach};
pub use input::merge_facts::{MergeFacts, MergeMethod, MergeStands, Opinion, ReviewDemand};
pub use input::pull::{
    Checks, FailedCheck, Mergeable, Pull, PullState, RedChecks, Remark, ReviewThread, Reviews,
    Saying,
};
pub use input::session::{
    Activity, ActivityKind, KeyUse, Listing, ListingNeed, Outage, PlanStep, Session, SessionState,
    Sessions,
};
pub use input::snapshot::{
    Ask, Dashboard, ExchangeRead, Ledger, Notice, Papers, PlanCommit, Repository, Snapshot, Written,
};
pub use input::subject::{
    Actor, Ends, LABEL_PREFIX, Permission, Subject, SubjectChange, SubjectEdit, SubjectEvent,
};
pub use lookup::dashboard_issue::text_digest;
pub use lookup::exchange_view::LEDGER_DOCUMENTS;
pub use lookup::figures::{BudgetFigures, Yield, budget_figures, yield_of_all, yields};
pub use lookup::pending_requests::{asked_for, pending_requests};
pub use lookup::policy::holds_all_back;
pub use lookup::pull_owner::of_session as pull_of_session;
pub use lookup::roster::{LastTurn, Standing, roster};
pub use lookup::work_items::WORK_LABEL;
pub use merge_gate::{MergeRefusal, merge_gate};
pub use output::decision::{Change, Decision};
pub use output::effect::{CreateSession, Effect, MakeBranch, NoticeKey};
pub use output::event::{CreateFailure, Event};
pub use output::needs::Needs;
pub use output::report::{Line, Reason, Report, Verdict};
pub use publish::dashboard::DASHBOARD_KEY;
pub use record::import::{Import, ImportError};
pub use record::request::withdraw;
pub use record::steer::{SteerError, go_on, next_step, set_next_step};
pub use record::turn::end_cancelled;
pub use simulate::{Assumptions, Forecast, Held, Planned, simulate};
pub use text::markers::STATUS_MARKER;
