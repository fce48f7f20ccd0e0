//! Paths, names and versions that several files of the plan share.

/// The plan's file on the default branch.
pub const SCHEDULES_PATH: &str = ".jules/schedules.toml";

/// The folder of personas on the default branch.
pub const PERSONAS_FOLDER: &str = ".jules/personas";

/// The keys of the plan that belong to no table, and their place.
pub(super) const TOP_KEYS: (&str, &[&str]) =
    ("the lines above the first table", &["version", "cycle"]);

/// Where a key belongs that stands in a track or a schedule and is none of theirs.
pub(super) const OTHER_HOMES: [(&str, &[&str]); 3] = [
    TOP_KEYS,
    ("[budget]", &super::budget::KEYS),
    ("[gate]", &super::gate::KEYS),
];

/// The commands of labels and comments, which cannot be ids of personas.
pub const RESERVED_IDS: [&str; 15] = [
    "hold",
    "retry",
    "approve-plan",
    "merge",
    "pause",
    "run",
    "stop",
    "status",
    "explain",
    "refuse",
    "forget",
    "help",
    "keep",
    "duplicate",
    "no-op",
];

/// The layers of the hand-over pipeline, in its order.
pub const LAYERS: [&str; 7] = [
    "narrator",
    "observers",
    "decider",
    "planner",
    "implementer",
    "innovators",
    "integrator",
];

/// The only version of the format.
pub const PLAN_VERSION: i64 = 1;

/// The track that `[workflow]` makes.
pub const PASS_TRACK: &str = "layers";

/// The track that `[innovators]` makes.
pub const INNOVATION_TRACK: &str = "innovators";
