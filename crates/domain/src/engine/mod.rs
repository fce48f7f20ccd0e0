//! Decides what happens next, and why everything else waits.
//!
//! [`decide()`] takes one [`Snapshot`] and the [`Event`]s that followed it, and returns a [`Decision`]: one commit, the
//! effects to execute after it, a report, and the time of the next check. It performs no I/O, reads no clock, draws no
//! randomness and cannot fail.

mod apply_events;
mod decide;
mod dispatch;
mod input;
mod ledger;
mod lookup;
mod manual_merge;
mod observe_only;
mod output;
mod publish;
mod pulls;
mod record;
mod requests;
mod simulate;
mod text;
mod turns;
mod view;

pub use decide::{decide, decide_without_starts, prompts_to_render, read_requests};
pub use input::comment::{Comment, concerns_closing, parse_command};
pub use input::commits::{Commit, CommitSpan, Commits};
pub use input::coverage::{CommentCoverage, FurtherComments, ReadReach};
pub use input::merge_facts::{MergeFacts, MergeMethod, MergeStatus, Opinion, ReviewDemand};
pub use input::pull::{
    Checks, FailedCheck, FailedChecks, Mergeable, Pull, PullFile, PullState, Remark, ReviewComment,
    ReviewThread, Reviews,
};
pub use input::pull_activity::{PullActivity, PullChange, PullEvent};
pub use input::refusal_texts::RefusalTexts;
pub use input::session::{
    Activity, ActivityKind, KeyUsage, Listing, ListingNeed, Outage, PlanStep, Session,
    SessionState, Sessions,
};
pub use input::snapshot::{
    Dashboard, ExchangeRead, Ledger, Notice, PlanCommit, Repository, RunRequest, SessionFiles,
    Snapshot, WorkFilesRead, WorkingDocs,
};
pub use input::subject::{
    Actor, LABEL_PREFIX, Permission, PullEnds, Subject, SubjectChange, SubjectEdit, SubjectEvent,
};
pub use lookup::dashboard_issue::text_digest;
pub use lookup::exchange_view::LEDGER_DOCUMENTS;
pub use lookup::figures::{
    BudgetFigures, BudgetLimits, PromptYield, UnreviewedPull, Yield, budget_figures, plan_limits,
};
pub use lookup::pending_requests::{pending_requests, requested_persona};
pub use lookup::policy::blocking_mistakes;
pub use lookup::protected_paths::ProtectedPaths;
pub use lookup::pull_owner::of_session as pull_of_session;
pub use lookup::roster::{LastTurn, PersonaStatus, persona_statuses};
pub use lookup::work_items::WORK_LABEL;
pub use manual_merge::{MergeRefusal, check_manual_merge};
pub use output::decision::{Change, Decision};
pub use output::effect::{CreateSession, Effect, MakeBranch, NoticeKey};
pub use output::event::{CreateFailure, Event};
pub use output::read_requests::ReadRequests;
pub use output::report::{Line, Reason, Report, SIGN_LEGEND, Verdict};
pub use publish::dashboard::DASHBOARD_KEY;
pub use pulls::rebuilt_records::rebuild_records;
pub use record::import::{Import, ImportError};
pub use record::request::withdraw_request;
pub use record::steer::{SteerError, next_step, resume_turn, set_next_step};
pub use record::turn::end_cancelled;
pub use requests::refuse::withdraw_refusal;
pub use simulate::{Assumptions, Delay, Forecast, Planned, simulate};
pub use text::markdown::session_page;
pub use text::markers::STATUS_MARKER;
pub use text::time::{format_utc, span_text};
pub use view::attention::NeedsPerson;
pub use view::line::plain_text;
pub use view::pause::PauseView;
pub use view::repository::RepositoryView;
pub use view::review::{ReviewLane, ReviewPull};
pub use view::review_lane::LaneKind;
pub use view::track::{TrackView, place_text};
pub use view::turn::{TurnStage, TurnView};
