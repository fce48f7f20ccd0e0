//! The keys of `.jlo/config.toml`, their limits and their defaults.

use crate::plan::section::{Entry, Reader};

/// The path of the file.
pub const CONFIG_PATH: &str = ".jlo/config.toml";

/// The largest file that phileas reads, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 64 * 1024;

/// The maximal number of roles of one layer.
pub const MAX_ROLES: usize = 64;

/// The longest name of a role or a label, in bytes.
pub(super) const MAX_ROLE_BYTES: usize = crate::exchange::limits::NAME_LIMIT_BYTES;

/// The default start of a pass.
pub const DEFAULT_PASS: &str = "17 19 * * *";

/// The default start of a round of innovators.
pub const DEFAULT_INNOVATION: &str = "41 6 * * 1";

/// The default layers of a pass.
pub const PASS: [&str; 5] = ["narrator", "observers", "decider", "planner", "implementer"];

pub(super) const ROOT_KEYS: [&str; 4] = ["version", "workflow", "observers", "innovators"];

pub(super) const WORKFLOW_KEYS: [&str; 7] = [
    "enabled",
    "cron",
    "timezone",
    "layers",
    "labels",
    "approval",
    "entry_point",
];

pub(super) const OBSERVERS_KEYS: [&str; 1] = ["roles"];

pub(super) const INNOVATORS_KEYS: [&str; 2] = ["roles", "cron"];

pub(super) const MEMBER_KEYS: [&str; 3] = ["name", "enabled", "sensitive"];

const HOMES: [(&str, &[&str]); 2] = [
    ("[workflow]", &WORKFLOW_KEYS),
    ("[innovators]", &INNOVATORS_KEYS),
];

/// Tables and keys of `jlo` that have no effect in phileas, and why.
pub(super) const WITHOUT_EFFECT: [(&str, &str); 5] = [
    (
        "run",
        "sessions start on the default branch, and the ledger is the branch `jules`",
    ),
    ("jules", "the Jules API is set up with the driver"),
    ("jules_api", "the Jules API is set up with the driver"),
    (
        "workflow.runner_mode",
        "the runner is named in the workflow itself",
    ),
    (
        "workflow.wait_minutes_default",
        "phileas follows each session and waits for none",
    ),
];

/// Reports an unknown key. `true`: it has no effect, and does no harm.
pub(super) fn unknown(reader: &mut Reader<'_>, entry: &Entry<'_>, known: &[&str]) -> bool {
    let without_effect = WITHOUT_EFFECT.iter().find(|(path, _)| *path == entry.path);
    match without_effect {
        Some((path, instead)) => {
            reader.warning(
                entry.at,
                path,
                format!("`{path}` has no effect: {instead}"),
                "remove it",
            );
        }
        None => reader.unknown(entry, known, &HOMES),
    }
    without_effect.is_some()
}
