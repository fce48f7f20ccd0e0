//! The settings that one table or one persona's frontmatter overrides.

use std::ops::RangeInclusive;

use super::policy::{AdvanceOn, Automation, CatchUp, Merge, Mode, PlanApproval, Policy, Priority};
use super::section::{Entry, Reader};
use super::{Branch, branch, cron};

/// Standard answers to one session.
pub const NUDGES: RangeInclusive<u32> = 0..=20;
/// Minutes without activity after which a session counts as stuck: at most a week.
pub const STUCK_MINUTES: RangeInclusive<u32> = 1..=10_080;
/// Seconds without activity after which a turn is abandoned: ten minutes to thirty days.
pub const ABANDON_AFTER_SECS: RangeInclusive<u64> = 600..=2_592_000;
/// Attempts after the first one.
pub const RETRIES: RangeInclusive<u32> = 0..=10;
/// Unwanted turns in a row before a rest.
pub const REST_AFTER: RangeInclusive<u32> = 0..=100;

/// All settings.
pub(super) const KEYS: [&str; 17] = [
    "mode",
    "timezone",
    "advance_on",
    "plan_approval",
    "automation",
    "branch",
    "max_nudges",
    "stuck_minutes",
    "abandon_after",
    "retry",
    "catch_up",
    "skip_unchanged",
    "rest_after",
    "priority",
    "merge",
    "sensitive",
    "environment_variables",
];

/// The settings of a step. It has no cron expression of its own, and a step that only observes would block its track.
pub(super) const STEP_KEYS: [&str; 14] = [
    "advance_on",
    "plan_approval",
    "automation",
    "branch",
    "max_nudges",
    "stuck_minutes",
    "abandon_after",
    "retry",
    "skip_unchanged",
    "rest_after",
    "priority",
    "merge",
    "sensitive",
    "environment_variables",
];

/// The settings that are overridden.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Overrides {
    pub(super) mode: Option<Mode>,
    pub(super) timezone: Option<String>,
    pub(super) advance_on: Option<AdvanceOn>,
    pub(super) plan_approval: Option<PlanApproval>,
    pub(super) automation: Option<Automation>,
    pub(super) branch: Option<Branch>,
    pub(super) max_nudges: Option<u32>,
    pub(super) stuck_minutes: Option<u32>,
    pub(super) abandon_after_secs: Option<u64>,
    pub(super) retry: Option<u32>,
    pub(super) catch_up: Option<CatchUp>,
    pub(super) skip_unchanged: Option<bool>,
    pub(super) rest_after: Option<u32>,
    pub(super) priority: Option<Priority>,
    pub(super) merge: Option<Merge>,
    pub(super) sensitive: Option<bool>,
    pub(super) environment_variables: Option<bool>,
}

impl Overrides {
    /// Reads a setting, or reports what is wrong with it. The key must be one of [`KEYS`].
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>) {
        match entry.key {
            "mode" => self.mode = entry.read_keyword(reader),
            "timezone" => self.timezone = timezone(reader, entry),
            "advance_on" => self.advance_on = entry.read_keyword(reader),
            "plan_approval" => self.plan_approval = entry.read_keyword(reader),
            "automation" => self.automation = entry.read_keyword(reader),
            "branch" => self.branch = read_branch(reader, entry),
            "max_nudges" => self.max_nudges = entry.small(reader, NUDGES),
            "stuck_minutes" => self.stuck_minutes = entry.small(reader, STUCK_MINUTES),
            "abandon_after" => self.abandon_after_secs = entry.seconds(reader, ABANDON_AFTER_SECS),
            "retry" => self.retry = entry.small(reader, RETRIES),
            "catch_up" => self.catch_up = entry.read_keyword(reader),
            "skip_unchanged" => self.skip_unchanged = entry.flag(reader),
            "rest_after" => self.rest_after = entry.small(reader, REST_AFTER),
            "priority" => self.priority = entry.read_keyword(reader),
            "merge" => self.merge = entry.read_keyword(reader),
            "sensitive" => self.sensitive = entry.flag(reader),
            "environment_variables" => self.environment_variables = entry.flag(reader),
            _ => {}
        }
    }

    /// The policy with these settings.
    pub(super) fn over(&self, below: &Policy) -> Policy {
        let own = self.clone();
        let below = below.clone();
        Policy {
            mode: own.mode.unwrap_or(below.mode),
            timezone: own.timezone.unwrap_or(below.timezone),
            advance_on: own.advance_on.unwrap_or(below.advance_on),
            plan_approval: own.plan_approval.unwrap_or(below.plan_approval),
            automation: own.automation.unwrap_or(below.automation),
            branch: own.branch.unwrap_or(below.branch),
            max_nudges: own.max_nudges.unwrap_or(below.max_nudges),
            stuck_minutes: own.stuck_minutes.unwrap_or(below.stuck_minutes),
            abandon_after_secs: own.abandon_after_secs.unwrap_or(below.abandon_after_secs),
            retry: own.retry.unwrap_or(below.retry),
            catch_up: own.catch_up.unwrap_or(below.catch_up),
            skip_unchanged: own.skip_unchanged.unwrap_or(below.skip_unchanged),
            rest_after: own.rest_after.unwrap_or(below.rest_after),
            priority: own.priority.unwrap_or(below.priority),
            merge: own.merge.unwrap_or(below.merge),
            sensitive: own.sensitive.unwrap_or(below.sensitive),
            environment_variables: own
                .environment_variables
                .unwrap_or(below.environment_variables),
        }
    }
}

fn timezone(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<String> {
    let name = entry.text(reader)?;
    let zone = cron::zone(name);
    if zone.is_none() {
        let message = format!("`{name}` is not an IANA time zone");
        reader.error(
            entry.value_at(),
            &entry.path,
            message,
            cron::zone_help(name),
        );
    }
    zone.and_then(|zone| zone.iana_name().map(str::to_owned))
}

fn read_branch(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Branch> {
    match branch::parse(entry.text(reader)?) {
        Ok(branch) => Some(branch),
        Err((message, help)) => {
            reader.error(entry.value_at(), &entry.path, message, help);
            None
        }
    }
}
