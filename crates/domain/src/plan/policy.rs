//! The settings of a plan. Each may be set for all, for a track, for a step or for a schedule.

use jiff::SignedDuration;

/// Whether phileas acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Decide and do.
    #[default]
    Act,
    /// Decide and report, start nothing.
    Observe,
}

/// When a track goes on to its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdvanceOn {
    /// When the session has ended.
    Completed,
    /// When its pull request is open, or the session ended without one.
    #[default]
    PrOpen,
    /// When its pull request is merged or closed.
    Merged,
}

/// Who approves a session's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanApproval {
    /// Jules continues without approval.
    #[default]
    Auto,
    /// The session waits until a person with write access approves.
    Writers,
    /// The session waits, and phileas does not approve the plan, not even on request.
    Never,
}

/// What Jules does with its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Automation {
    /// It opens a pull request.
    #[default]
    PullRequest,
    /// It keeps them in the session.
    None,
}

/// Where a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Branch {
    /// The repository's default branch.
    #[default]
    Default,
    /// A branch made for the turn: `phileas/<track>/<persona>-<seq>`.
    Persona,
    /// A branch by name.
    Named(String),
}

/// What happens to cron slots that were missed while phileas did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CatchUp {
    /// They collapse into one turn.
    #[default]
    One,
    /// They are skipped.
    None,
    /// Each gets its turn.
    All,
}

/// Which turn starts first when not all can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// After the others.
    #[default]
    Normal,
    /// Before normal ones.
    High,
    /// First, and also while the default branch's checks are red.
    Critical,
}

/// Whether phileas merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merge {
    /// Never.
    #[default]
    Off,
    /// When all conditions of the pull request are green.
    Green,
}

/// The settings of a step, a track or a schedule, with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Whether to act.
    pub mode: Mode,
    /// IANA name of the time zone that cron expressions are read in.
    pub timezone: String,
    /// When the track goes on.
    pub advance_on: AdvanceOn,
    /// Who approves plans.
    pub plan_approval: PlanApproval,
    /// What Jules does with its changes.
    pub automation: Automation,
    /// Where sessions start.
    pub branch: Branch,
    /// How many standard answers a waiting session gets before phileas opens a notice.
    pub max_nudges: u32,
    /// Minutes without activity after which a session counts as stuck.
    pub stuck_minutes: u32,
    /// Seconds without activity after which the turn is abandoned.
    pub abandon_after_secs: u64,
    /// How often a failed session is tried again.
    pub retry: u32,
    /// What happens to missed slots.
    pub catch_up: CatchUp,
    /// Whether a persona is skipped while the default branch has not moved since its last turn.
    pub skip_unchanged: bool,
    /// After how many unwanted turns in a row a persona rests; 0 means never.
    pub rest_after: u32,
    /// Who goes first.
    pub priority: Priority,
    /// Whether phileas merges.
    pub merge: Merge,
    /// Whether a sensitive persona or role may run on a public repository, where the ledger is public, too.
    pub sensitive: bool,
    /// Whether sessions get the environment variables that are set for the repository at Jules.
    pub environment_variables: bool,
}

impl Policy {
    /// The settings of what a mistake stops: a line that cannot be read may be the one against merges.
    #[must_use]
    pub(super) fn stopped(self) -> Self {
        Self {
            merge: Merge::Off,
            ..self
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            timezone: "UTC".to_owned(),
            advance_on: AdvanceOn::default(),
            plan_approval: PlanApproval::default(),
            automation: Automation::default(),
            branch: Branch::default(),
            max_nudges: 2,
            stuck_minutes: 20,
            abandon_after_secs: 6 * 60 * 60,
            retry: 0,
            catch_up: CatchUp::default(),
            skip_unchanged: true,
            rest_after: 3,
            priority: Priority::default(),
            merge: Merge::default(),
            sensitive: false,
            environment_variables: false,
        }
    }
}

/// A Jules plan, by its published limits (see [`Tier::limits`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tier {
    /// 15 sessions a day, 3 at once.
    #[default]
    Free,
    /// 100 a day, 15 at once.
    Pro,
    /// 300 a day, 60 at once.
    Ultra,
}

/// What a Jules key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyLimits {
    /// Sessions in a rolling day.
    pub daily: u32,
    /// Sessions at once.
    pub active: u32,
}

impl Tier {
    /// The limits that several independent users report for this plan. The service does not publish them.
    #[must_use]
    pub fn limits(self) -> KeyLimits {
        match self {
            Self::Free => KeyLimits {
                daily: 15,
                active: 3,
            },
            Self::Pro => KeyLimits {
                daily: 100,
                active: 15,
            },
            Self::Ultra => KeyLimits {
                daily: 300,
                active: 60,
            },
        }
    }
}

/// A part of a whole, from 0 to 1, in millionths: exact for every figure that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// Millionths in a whole.
    const WHOLE: u32 = 1_000_000;
    /// A half.
    pub const HALF: Self = Self(Self::WHOLE / 2);

    /// Reads a number from 0 to 1. What is finer than a millionth is rounded.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number: f64 = text.parse().ok()?;
        let millionths = (number * f64::from(Self::WHOLE)).round();
        (0.0..=1.0)
            .contains(&number)
            .then_some(Self(millionths as u32))
    }

    /// This part of a number of things, rounded down.
    #[must_use]
    pub fn of(self, count: u32) -> u32 {
        let part = u64::from(count) * u64::from(self.0) / u64::from(Self::WHOLE);
        u32::try_from(part).unwrap_or(u32::MAX)
    }

    /// As a number.
    #[must_use]
    pub fn number(self) -> f64 {
        f64::from(self.0) / f64::from(Self::WHOLE)
    }
}

/// How many sessions may start, for a repository and for its Jules key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Live sessions of this repository.
    pub max_active: u32,
    /// Sessions of this repository in a rolling day. Requests may exceed it by `reserve_for_people`.
    pub daily_sessions: u32,
    /// The part of these that schedules leave to tracks while a track has work.
    pub track_share: Share,
    /// The number of unreviewed pull requests of phileas above which nothing starts on a schedule.
    pub max_open_pulls: u32,
    /// Requests of one person in an hour.
    pub requests_per_actor_hour: u32,
    /// The key's plan.
    pub tier: Tier,
    /// The key's daily limit, where it is not the plan's.
    pub key_daily: Option<u32>,
    /// The key's limit of sessions at once, where it is not the plan's.
    pub key_active: Option<u32>,
    /// How many sessions are reserved for requests: of the key's day, and beyond `daily_sessions`.
    pub reserve_for_people: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_active: 2,
            daily_sessions: 5,
            track_share: Share::HALF,
            max_open_pulls: 3,
            requests_per_actor_hour: 6,
            tier: Tier::default(),
            key_daily: None,
            key_active: None,
            reserve_for_people: 2,
        }
    }
}

impl Budget {
    /// How many of the day's sessions schedules leave to tracks while a track has work.
    #[must_use]
    pub fn reserved_for_tracks(&self) -> u32 {
        let part = self.track_share.of(self.daily_sessions);
        let is_shared = self.track_share > Share(0) && self.daily_sessions >= 2;
        part.max(u32::from(is_shared))
    }

    /// The key's limits: explicit values before those of the plan.
    #[must_use]
    pub fn key_limits(&self) -> KeyLimits {
        let tier = self.tier.limits();
        KeyLimits {
            daily: self.key_daily.unwrap_or(tier.daily),
            active: self.key_active.unwrap_or(tier.active),
        }
    }

    /// The part of the key's limits that schedules may use: some daily sessions are reserved for requests.
    #[must_use]
    pub fn clock_limits(&self) -> KeyLimits {
        let key = self.key_limits();
        KeyLimits {
            daily: key.daily.saturating_sub(self.reserve_for_people),
            ..key
        }
    }
}

/// How far phileas goes to keep work from being repeated. Each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum NoveltyMode {
    /// It does nothing.
    Off,
    /// Prompts name what is open, refused and merged.
    #[default]
    Prompt,
    /// Repeats and pull requests that change nothing are labelled, too.
    Label,
    /// They are closed a day after that.
    Close,
}

/// Whose prompts name a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefusalsFor {
    /// Those of the persona whose work was refused.
    #[default]
    Persona,
    /// Those of every persona.
    All,
}

/// What keeps sessions from repeating work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Novelty {
    /// How far phileas goes.
    pub mode: NoveltyMode,
    /// Whether phileas judges the plans of sessions before it approves them.
    pub plan: bool,
    /// Whether a turn waits while an open pull request changes a file that its persona or request names.
    pub avoid_overlap: bool,
    /// Seconds after a merge in which the same work is a repeat; 0 means that merged work never counts.
    pub count_merged_secs: u64,
    /// Seconds that a refusal is remembered; 0 means not at all.
    pub remember_refusals_secs: u64,
    /// Whether prompts quote reviews of refused pull requests, too.
    pub quote_reviews: bool,
    /// Whose prompts name a refusal.
    pub refusals_for: RefusalsFor,
}

impl Novelty {
    /// How long settled work is remembered.
    #[must_use]
    pub fn remember(&self) -> SignedDuration {
        SignedDuration::from_secs(i64::try_from(self.remember_refusals_secs).unwrap_or(i64::MAX))
    }

    /// How long after its merge work must not be done again.
    #[must_use]
    pub fn count_merged(&self) -> SignedDuration {
        SignedDuration::from_secs(i64::try_from(self.count_merged_secs).unwrap_or(i64::MAX))
    }
}

impl Default for Novelty {
    fn default() -> Self {
        Self {
            mode: NoveltyMode::default(),
            plan: false,
            avoid_overlap: false,
            count_merged_secs: 0,
            remember_refusals_secs: 180 * 24 * 60 * 60,
            quote_reviews: false,
            refusals_for: RefusalsFor::default(),
        }
    }
}

/// What happens while the default branch's checks are red.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MainRed {
    /// Nothing changes.
    #[default]
    Ignore,
    /// Only steps of critical priority start.
    CriticalOnly,
}

/// Which driver acts. The others only observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Driver {
    /// All of them; the compare-and-swap decides.
    #[default]
    Any,
    /// Only the Action.
    Action,
    /// Only the service.
    Server,
}

/// A bot whose requests count: exact login and numeric id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedBot {
    /// `name[bot]`.
    pub login: String,
    /// GitHub's numeric account id.
    pub id: u64,
}

/// Which pull requests, drivers and bots are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gate {
    /// What happens while the default branch is red.
    pub main_red: MainRed,
    /// Path patterns that block a merge by phileas, in addition to the built-in ones.
    pub protected_paths: Vec<String>,
    /// Which driver acts.
    pub driver: Driver,
    /// Bots whose requests count.
    pub allow_bots: Vec<AllowedBot>,
}
