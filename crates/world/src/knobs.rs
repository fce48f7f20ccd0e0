//! The knobs: a setting for each open question about how the two services behave.
//!
//! `documented()` is what the services' documentation says or what is commonly seen; `worst()` is the answer that is
//! hardest for a client. In files the names are written in kebab-case.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bounds::{Bounded, read_bounded};
use crate::knob_uses::KnobUses;

/// What Jules does with the title that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TitleKept {
    /// Kept as it was given.
    Verbatim,
    /// Truncated to 60 characters, which loses a marker at the end.
    Truncated,
    /// Replaced by a title of Jules' own.
    Rewritten,
    /// Absent.
    Dropped,
}

/// The order of a listing of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListingOrder {
    /// Newest creation first.
    NewestFirst,
    /// Most lately updated first, so that items move between pages while they are read.
    RecentlyUpdated,
    /// No order at all.
    Unordered,
}

/// The body of the reply to a custom verb (approvePlan, sendMessage, archive).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerbReply {
    /// `{}`.
    EmptyObject,
    /// The session.
    Session,
    /// No body at all.
    EmptyBody,
}

/// Who opens Jules' pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PullAuthor {
    /// `google-labs-jules[bot]`.
    Bot,
    /// The person whose key made the session.
    User,
}

/// The author of Jules' commits: a setting of the account, <https://jules.google/docs/changelog> of 2026-02-19.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitAuthor {
    /// `google-labs-jules[bot]`.
    Jules,
    /// The person whose key made the session, with Jules as co-author.
    CoAuthored,
    /// That person alone.
    User,
}

/// The status of Jules' answer when a quota is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaReply {
    /// 429 RESOURCE_EXHAUSTED with Retry-After.
    TooManyRequestsWithRetryAfter,
    /// 429 RESOURCE_EXHAUSTED alone.
    TooManyRequests,
    /// 400 FAILED_PRECONDITION.
    FailedPrecondition,
    /// 404 `Could not get source`, as was seen under load.
    CouldNotGetSource,
}

/// The window over which Jules counts the sessions of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaWindow {
    /// The last 24 hours.
    Rolling,
    /// The calendar day in UTC.
    Calendar,
}

/// What deleting a running session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeleteRunning {
    /// The session stops and is gone.
    Stops,
    /// The session is gone from listings, but it continues to work and may still open a pull request.
    WorksOn,
    /// Refused with 400 FAILED_PRECONDITION.
    Refused,
}

/// The text of GitHub's refusal of a commit on a branch that has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StaleText {
    /// `Expected branch to point to "<sha>" but it did not. Pull and try again.`
    ExpectedBranch,
    /// `is at <sha> but expected <sha>`.
    IsAtButExpected,
}

/// What brings a paused session of Jules back to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResumedBy {
    /// `:unarchive` as well as a message.
    UnarchiveOrMessage,
    /// `:unarchive` alone.
    Unarchive,
    /// Only a person in the web app.
    WebApp,
}

/// The names of Jules' new branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchForm {
    /// `<category>/<slug>-<session id>`.
    Slug,
    /// `jules-<session id>-<8 hex digits>`.
    JulesHex,
    /// Either, by chance.
    Mixed,
}

/// The values that a knob can take.
trait TestValues: Sized {
    /// Every value to test, given the documented and the worst one. For a number or a switch it is the worst one alone.
    fn test_values(_documented: &Self, worst: Self) -> Vec<Self> {
        vec![worst]
    }
}

impl TestValues for bool {}
impl TestValues for u32 {}
impl TestValues for u64 {}
impl TestValues for i64 {}
impl TestValues for f64 {}

/// Enumerations, which are always within bounds. Each value but the documented one is to be tested.
macro_rules! enumerations {
    ($($type:ident: $($word:ident)+;)+) => {
        $(
            impl Bounded for $type {}

            impl TestValues for $type {
                fn test_values(documented: &Self, _worst: Self) -> Vec<Self> {
                    let all = [$(Self::$word),+];
                    all.into_iter().filter(|one| one != documented).collect()
                }
            }
        )+
    };
}

enumerations! {
    TitleKept: Verbatim Truncated Rewritten Dropped;
    ListingOrder: NewestFirst RecentlyUpdated Unordered;
    VerbReply: EmptyObject Session EmptyBody;
    PullAuthor: Bot User;
    CommitAuthor: Jules CoAuthored User;
    QuotaReply: TooManyRequestsWithRetryAfter TooManyRequests FailedPrecondition CouldNotGetSource;
    QuotaWindow: Rolling Calendar;
    DeleteRunning: Stops WorksOn Refused;
    StaleText: ExpectedBranch IsAtButExpected;
    ResumedBy: UnarchiveOrMessage Unarchive WebApp;
    BranchForm: Slug JulesHex Mixed;
}

macro_rules! knobs {
    ($($(#[doc = $doc:expr])+ $name:ident: $type:ty = $documented:expr, worst $worst:expr;)+) => {
        /// All knobs of one world.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
        pub struct Knobs {
            $($(#[doc = $doc])+ #[serde(deserialize_with = "read_bounded")] pub $name: $type,)+
            /// How often each of them has acted.
            #[serde(skip)]
            pub acted: KnobUses,
        }

        impl Knobs {
            /// The services as their documentation describes them.
            #[must_use]
            pub fn documented() -> Self {
                Self { $($name: $documented,)+ acted: KnobUses::default() }
            }

            /// Every open question with the answer that is hardest for a client.
            #[must_use]
            pub fn worst() -> Self {
                Self { $($name: $worst,)+ acted: KnobUses::default() }
            }

            /// The names of all knobs in their order, for tests that walk every pair.
            #[must_use]
            pub fn names() -> Vec<String> {
                vec![$(stringify!($name).replace('_', "-"),)+]
            }

            /// Sets one knob, by its name in kebab-case, to its worst value; false when there is no such knob.
            pub fn set_worst(&mut self, name: &str) -> bool {
                let worst = Self::worst();
                let name = name.replace('-', "_");
                match name.as_str() {
                    $(stringify!($name) => self.$name = worst.$name,)+
                    _ => return false,
                }
                true
            }

            /// The values of one knob to test, by its name in kebab-case; empty when there is no such knob.
            #[must_use]
            pub fn test_values(name: &str) -> Vec<Value> {
                let (documented, worst) = (Self::documented(), Self::worst());
                let name = name.replace('-', "_");
                match name.as_str() {
                    $(stringify!($name) => {
                        let all = TestValues::test_values(&documented.$name, worst.$name);
                        all.into_iter().map(|value| json!(value)).collect()
                    })+
                    _ => Vec::new(),
                }
            }

            /// The description of a knob, by its name in kebab-case.
            #[must_use]
            pub fn describe_knob(name: &str) -> Option<String> {
                let name = name.replace('-', "_");
                match name.as_str() {
                    $(stringify!($name) => Some([$($doc),+].concat().trim().to_owned()),)+
                    _ => None,
                }
            }
        }
    };
}

knobs! {
    /// GitHub: reads through the API answer the state of this many seconds ago (compare-and-swap does not).
    replica_lag_seconds: u64 = 0, worst 8;
    /// GitHub: probability that a commit takes effect although the reply is 502.
    commit_done_although_502: f64 = 0.0, worst 0.05;
    /// GitHub: probability that a GraphQL read answers 200 with errors and a null in place of part of the data.
    graphql_partial: f64 = 0.0, worst 0.05;
    /// GitHub: how many reads of a pull request answer `mergeable: null` before it is known.
    mergeable_unknown_reads: u32 = 1, worst 4;
    /// GitHub: the words in which a stale head is refused.
    stale_text: StaleText = StaleText::ExpectedBranch, worst StaleText::IsAtButExpected;
    /// GitHub: probability that the type `STALE_DATA` is missing, so that only the text tells.
    stale_type_missing: f64 = 0.0, worst 0.5;
    /// GitHub: probability that a webhook delivery is never sent.
    webhook_lost: f64 = 0.0, worst 0.2;
    /// GitHub: probability that a webhook delivery is sent twice with the same GUID.
    webhook_doubled: f64 = 0.0, worst 0.1;
    /// GitHub: a webhook delivery is late by up to this many seconds, each by its own draw, so the order changes.
    webhook_late_seconds: u64 = 0, worst 600;
    /// GitHub: requests an hour of a user or an installation.
    primary_limit: u64 = 5_000, worst 1_000;
    /// GitHub: content-creating requests a minute before the secondary limit answers.
    content_per_minute: u64 = 80, worst 20;
    /// GitHub: the Date header differs from the world's clock by this many seconds.
    date_skew_seconds: i64 = 0, worst 45;
    /// GitHub: upper bound of a request's latency in milliseconds.
    github_latency_ms: u64 = 200, worst 4_000;
    /// GitHub: the order in which comments of a listing come is by creation; worst, by last update.
    comments_by_update: bool = false, worst true;
    /// GitHub: `baseRefOid` of a pull request moves with its base branch, and not only with a push to the pull request.
    base_oid_follows: bool = false, worst true;

    /// Jules: what it does with the title that a client sends.
    title: TitleKept = TitleKept::Verbatim, worst TitleKept::Dropped;
    /// Jules: the order of the listing of sessions.
    listing_order: ListingOrder = ListingOrder::NewestFirst, worst ListingOrder::Unordered;
    /// Jules: a new session appears in listings only after this many seconds.
    listing_lag_seconds: u64 = 0, worst 240;
    /// Jules: the listing leaves out the prompt.
    listing_without_prompt: bool = false, worst true;
    /// Jules: probability that a create is answered 503 although the session was made.
    create_refused_after_effect: f64 = 0.0, worst 0.1;
    /// Jules: activities of a session answer 404 for this many seconds after its creation.
    fresh_activities_404_seconds: u64 = 0, worst 300;
    /// Jules: the body that answers approvePlan.
    approve_reply: VerbReply = VerbReply::EmptyObject, worst VerbReply::EmptyBody;
    /// Jules: the body that answers sendMessage.
    message_reply: VerbReply = VerbReply::EmptyObject, worst VerbReply::EmptyBody;
    /// Jules: the body that answers archive and unarchive.
    archive_reply: VerbReply = VerbReply::Session, worst VerbReply::EmptyBody;
    /// Jules: pull requests are opened as drafts.
    draft_pulls: bool = false, worst true;
    /// Jules: who opens the pull requests.
    pull_author: PullAuthor = PullAuthor::Bot, worst PullAuthor::User;
    /// Jules: who is the author of the commits.
    commit_author: CommitAuthor = CommitAuthor::Jules, worst CommitAuthor::User;
    /// Jules: the undocumented filter by create_time on activities is accepted.
    activity_filter: bool = true, worst false;
    /// Jules: the state lags behind the activities by this many seconds.
    state_lag_seconds: u64 = 0, worst 60;
    /// Jules: the session's outputs appear this many seconds after COMPLETED.
    outputs_lag_seconds: u64 = 0, worst 120;
    /// Jules: the answer to a create beyond a quota.
    quota_reply: QuotaReply = QuotaReply::TooManyRequests, worst QuotaReply::CouldNotGetSource;
    /// Jules: the window of the daily quota.
    quota_window: QuotaWindow = QuotaWindow::Rolling, worst QuotaWindow::Calendar;
    /// Jules: what deleting a running session does.
    delete_running: DeleteRunning = DeleteRunning::Stops, worst DeleteRunning::WorksOn;
    /// Jules: a plan is approved automatically after this many seconds even where approval is required; 0 is never.
    auto_approve_seconds: u64 = 0, worst 1_800;
    /// Jules: the longest prompt in characters; a longer one is refused with 400. 0 is no limit.
    prompt_limit: u64 = 0, worst 60_000;
    /// Jules: creates in parallel or within one second beyond this many fail as `Could not get source`; 0 is no limit.
    create_burst: u64 = 0, worst 4;
    /// Jules: owner and repository of a source come back in another case.
    source_case_changed: bool = false, worst true;
    /// Jules: archived sessions are listed without a filter that asks for them.
    archived_listed: bool = false, worst true;
    /// Jules: unknown states and activity kinds appear now and then.
    unknown_kinds: bool = false, worst true;
    /// Jules: `sessions.get` answers 404 about a new session for this many seconds.
    fresh_session_404_seconds: u64 = 0, worst 20;
    /// Jules: an approval of a session that reads COMPLETED with only a plan is answered 200 and does nothing.
    late_approval_ignored: bool = false, worst true;
    /// Jules: an approval before there is a plan is answered 200 and does nothing.
    early_approval_ignored: bool = false, worst true;
    /// Jules: what brings a paused session back to work.
    resumed_by: ResumedBy = ResumedBy::UnarchiveOrMessage, worst ResumedBy::WebApp;
    /// Jules: a create above the concurrent limit is not refused; the session stays QUEUED until another one ends.
    over_concurrency_queued: bool = false, worst true;
    /// Jules: requests a minute to the activities of one key above which they answer 429; 0 is no limit.
    activity_reads_per_minute: u64 = 0, worst 120;
    /// Jules: an unknown key is answered 400 API_KEY_INVALID instead of 401.
    bad_key_is_400: bool = false, worst true;
    /// Jules: page sizes outside 1 to 100 are answered 400 instead of being coerced.
    page_size_rejected: bool = false, worst true;
    /// Jules: the id of an activity stands only at the end of its name.
    activity_id_in_name_only: bool = false, worst true;
    /// Jules: the name of a session is its bare number.
    session_name_bare: bool = false, worst true;
    /// Jules: the names of new branches.
    branch_form: BranchForm = BranchForm::Slug, worst BranchForm::Mixed;
    /// Jules: share of activities without an originator.
    originator_missing: f64 = 0.0, worst 0.3;
    /// Jules: share of progress updates that are empty.
    empty_progress: f64 = 0.1, worst 0.5;
    /// Jules: share of sessions that still read IN_PROGRESS after their work is done.
    never_completes: f64 = 0.0, worst 0.05;
    /// Jules: share of finished sessions whose outputs stay empty although there are changes.
    outputs_missing: f64 = 0.0, worst 0.2;
    /// Jules: share of completed sessions that push their whole old diff once more, an hour later.
    pushes_again: f64 = 0.0, worst 0.1;
    /// Jules: `updateTime` is the time of entry into the present state, and no heartbeat.
    update_time_frozen: bool = false, worst true;
    /// Jules: share of messages to completed sessions that are accepted and never read.
    done_message_unread: f64 = 0.0, worst 0.1;
    /// Jules: a message to a QUEUED session is answered 404.
    queued_message_404: bool = false, worst true;
    /// Jules: a session claims to get environment variables although the client did not ask for them.
    environment_echoed: bool = false, worst true;
    /// Jules: the CI Fixer goes to work this many seconds after a check of its newest commit failed; 0 is never.
    ci_fixer_seconds: u64 = 0, worst 600;
    /// Jules: a completed session works again after a comment of its user on its pull request that asks for something.
    answers_comments: bool = false, worst true;
    /// Jules: upper bound of a request's latency in milliseconds.
    jules_latency_ms: u64 = 400, worst 8_000;
}

impl Default for Knobs {
    fn default() -> Self {
        Self::documented()
    }
}

impl Knobs {
    /// Counts that a knob, by its name in kebab-case, acts here, if it does; returns whether it does.
    pub(crate) fn count_use(&self, name: &'static str, does: bool) -> bool {
        if does {
            self.acted.add_use(name);
        }
        does
    }

    /// Sets the knobs that the object names, in kebab-case; the others keep their values.
    ///
    /// # Errors
    /// Names the knob that is unknown or whose value does not fit.
    pub fn set(&mut self, changes: &Value) -> Result<(), String> {
        let Value::Object(changes) = changes else {
            return Err("knobs: expected an object of knob names and values".to_owned());
        };
        let mut all = serde_json::to_value(&*self).map_err(|error| error.to_string())?;
        let names = Self::names();
        for (name, value) in changes {
            if !names.contains(name) {
                return Err(format!("knobs.{name}: there is no such knob"));
            }
            all[name.as_str()] = value.clone();
            let changed: Self = serde_json::from_value(all.clone())
                .map_err(|error| format!("knobs.{name}: {error}"))?;
            *self = Self {
                acted: self.acted.clone(),
                ..changed
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_has_a_worst_value_of_its_own_and_a_meaning() {
        for name in Knobs::names() {
            let mut knobs = Knobs::documented();
            assert!(knobs.set_worst(&name));
            assert_ne!(knobs, Knobs::documented(), "{name}");
            assert!(
                Knobs::describe_knob(&name).is_some_and(|text| text.ends_with('.')),
                "{name}"
            );
        }
        assert!(!Knobs::documented().set_worst("no-such-knob"));
    }

    #[test]
    fn a_knob_is_turned_to_each_value_but_the_documented_one() {
        for name in Knobs::names() {
            let all = Knobs::test_values(&name);
            assert!(!all.is_empty(), "{name}");
            for value in all {
                let mut knobs = Knobs::documented();
                knobs.set(&json!({ name.as_str(): value })).unwrap();
                assert_ne!(knobs, Knobs::documented(), "{name}");
            }
        }
        let titles = [json!("truncated"), json!("rewritten"), json!("dropped")];
        assert_eq!(Knobs::test_values("title"), titles);
        assert_eq!(Knobs::test_values("webhook-lost"), [json!(0.2)]);
        assert!(Knobs::test_values("no-such-knob").is_empty());
    }

    #[test]
    fn what_acts_is_counted_and_changes_nothing() {
        let mut knobs = Knobs::documented();
        assert!(!knobs.count_use("title", false) && knobs.count_use("title", true));
        knobs.set(&json!({"title": "dropped"})).unwrap();
        knobs.count_use("title", true);
        assert_eq!(knobs.acted.use_counts(), [("title", 2)].into());
        let like_it = Knobs {
            title: TitleKept::Dropped,
            ..Knobs::documented()
        };
        assert_eq!(knobs, like_it);
    }

    #[test]
    fn names_are_those_of_the_file_form() {
        let value = serde_json::to_value(Knobs::worst()).unwrap();
        let written: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        assert_eq!(written, Knobs::names());
    }

    #[test]
    fn single_knobs_are_set_and_mistakes_are_named() {
        let mut knobs = Knobs::documented();
        knobs
            .set(&json!({"title": "dropped", "replica-lag-seconds": 3}))
            .unwrap();
        assert_eq!(
            (knobs.title, knobs.replica_lag_seconds),
            (TitleKept::Dropped, 3)
        );
        assert!(
            knobs
                .set(&json!({"titel": "dropped"}))
                .unwrap_err()
                .starts_with("knobs.titel")
        );
        let from_file: Knobs = toml::from_str("listing-order = \"unordered\"").unwrap();
        assert_eq!(from_file.listing_order, ListingOrder::Unordered);
    }

    #[test]
    fn what_no_world_could_do_is_refused() {
        let before = Knobs::documented();
        for (name, value, word) in [
            ("webhook-lost", json!(20), "20 is out of range"),
            ("webhook-lost", json!(-0.2), "from 0 to 1"),
            ("webhook-late-seconds", json!(u64::MAX), "is out of range"),
            ("date-skew-seconds", json!(i64::MIN), "is out of range"),
        ] {
            let mut knobs = before.clone();
            let wrong = knobs.set(&json!({ name: value })).unwrap_err();
            assert!(wrong.starts_with(&format!("knobs.{name}: ")), "{wrong}");
            assert!(wrong.contains(word), "{wrong}");
            assert_eq!(knobs, before);
        }
        for certain in ["0", "1", "1.0"] {
            let read = toml::from_str::<Knobs>(&format!("webhook-lost = {certain}"));
            assert!(read.is_ok(), "{read:?}");
        }
        assert!(toml::from_str::<Knobs>("webhook-lost = nan").is_err());
    }
}
