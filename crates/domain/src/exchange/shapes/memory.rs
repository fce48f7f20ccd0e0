//! What a role remembers from one session to the next.

use super::keys::{ID, version};
use crate::exchange::limits::RECENT_PROPOSALS_LIMIT;
use crate::exchange::shape::{Key, Kind, List, Shape};

const OBSERVER: Key = Key::new(
    "observer",
    Kind::Role,
    "The observer's role: the name of the folder.",
);
const STREAM: Key = Key::new(
    "workstream",
    Kind::Stream,
    "The workstream: the name of its folder.",
);
const UPDATED_AT: Key = Key::new("updated_at", Kind::Instant, "When it was last written.");
const GOALS: Key = Key::new(
    "goals",
    Kind::List(List::between(1, 3, &Kind::Line("<goal>"))),
    "One to three goals, looked at again in each session.",
);
const RULES: Key = Key::new(
    "rules",
    Kind::List(List::of_any(&Kind::Line("<rule>"))),
    "What the observer goes by.",
);
const IGNORE: Key = Key::new(
    "ignore",
    Kind::List(List::of_any(&Kind::Line("<what to leave alone>"))),
    "Findings to leave out.",
);
const LAST_SESSIONS: Key = Key::new(
    "log",
    Kind::List(List::between(0, 5, &LOG)),
    "The last five sessions, the newest first.",
);

/// The memory of an observer in the flat layout.
pub static PERSPECTIVE: Shape = Shape {
    name: "perspective",
    about: "What an observer remembers: goals, rules, what to leave alone, and its last sessions.",
    keys: &[
        version(2),
        OBSERVER,
        UPDATED_AT,
        GOALS,
        RULES,
        IGNORE,
        LAST_SESSIONS,
    ],
    rules: &[],
    renamed: &[("learned_exclusions", "ignore"), ("role", "observer")],
};

/// The same memory among workstreams: from 2026-02-04 on, the releases between seeds 000 and 001 wrote version 2 there,
/// most of them with the name of the workstream.
pub(crate) static PERSPECTIVE_V2: Shape = Shape {
    name: "perspective",
    about: "What an observer of a workstream remembers, in version 2.",
    keys: &[
        version(2),
        OBSERVER,
        STREAM.with_template(),
        UPDATED_AT,
        GOALS,
        RULES,
        IGNORE,
        LAST_SESSIONS,
    ],
    rules: &[],
    renamed: &[("learned_exclusions", "ignore"), ("role", "observer")],
};

static LOG: Kind = Kind::Map(&[
    Key::new("at", Kind::Instant, "When."),
    Key::new(
        "summary",
        Kind::Line("<what the session found>"),
        "What came of it.",
    ),
]);

/// The memory of an observer among workstreams.
pub static PERSPECTIVE_V1: Shape = Shape {
    name: "perspective-v1",
    about: "What an observer of a workstream remembers.",
    keys: &[
        version(1),
        OBSERVER,
        STREAM,
        UPDATED_AT,
        Key::new(
            "goals",
            Kind::Map(&[Key::new(
                "short_term",
                Kind::List(List::of_any(&Kind::Line("<goal>"))),
                "What the observer is after now.",
            )]),
            "Its goals.",
        ),
        Key::new(
            "biases",
            Kind::Map(&[
                Key::new(
                    "assumptions",
                    Kind::List(List::of_any(&Kind::Line("<assumption>"))),
                    "What it takes for granted.",
                ),
                Key::new(
                    "blind_spots",
                    Kind::List(List::of_any(&Kind::Line("<blind spot>"))),
                    "What it tends to miss.",
                ),
                Key::new(
                    "heuristics",
                    Kind::List(List::of_any(&Kind::Line("<heuristic>"))),
                    "What it goes by.",
                ),
            ]),
            "How it looks at things.",
        ),
        Key::new(
            "recent_runs",
            Kind::List(List::between(0, 3, &RUN)),
            "The last three sessions, the newest first.",
        ),
        Key::new(
            "learned_exclusions",
            Kind::List(List::of_any(&Kind::Line("<what to leave alone>"))),
            "Findings to leave out.",
        ),
    ],
    rules: &[],
    renamed: &[],
};

static RUN: Kind = Kind::Map(&[
    Key::new("created_at", Kind::Instant, "When."),
    Key::new(
        "summary",
        Kind::Line("<what the session found>"),
        "What came of it.",
    ),
    Key::new(
        "history_path",
        Kind::Line("<path of the history>"),
        "The file that tells it at length.",
    )
    .with_template(),
]);

/// One session of an observer of a workstream, at length.
pub static HISTORY: Shape = Shape {
    name: "history",
    about: "One session of an observer of a workstream.",
    keys: &[
        version(1),
        ID,
        Key::new("created_at", Kind::Instant, "When."),
        Key::new("observer", Kind::Role, "The observer's role."),
        Key::new("workstream", Kind::Stream, "The workstream."),
        Key::new(
            "inputs",
            Kind::Map(&[Key::new(
                "change_summary_path",
                Kind::Prose,
                "The summary it was given.",
            )
            .with_template()]),
            "What it was given.",
        )
        .with_template(),
        Key::new("plan", Kind::Prose, "What it meant to do."),
        Key::new(
            "actions",
            Kind::List(List::of_any(&Kind::Line("<action>"))),
            "What it did.",
        ),
        Key::new(
            "outcomes",
            Kind::Map(&[
                Key::new(
                    "summary",
                    Kind::Text("<what came of it>"),
                    "What came of it.",
                ),
                Key::new(
                    "emitted_events",
                    Kind::List(List::of_any(&Kind::Line("<event id>"))),
                    "Events that it wrote.",
                ),
                Key::new("notes", Kind::Prose, "What else there is to say.").with_template(),
            ]),
            "What came of it.",
        ),
        Key::new(
            "perspective_updates",
            Kind::Map(&[
                Key::new("goals_delta", Kind::Prose, "How its goals changed.").with_template(),
                Key::new(
                    "learned_exclusions_delta",
                    Kind::Prose,
                    "What it learned to leave alone.",
                )
                .with_template(),
                Key::new(
                    "bias_adjustments",
                    Kind::Prose,
                    "How it looks at things now.",
                )
                .with_template(),
            ]),
            "What it changed of its memory.",
        )
        .with_template(),
    ],
    rules: &[],
    renamed: &[],
};

/// The memory of an innovator.
pub static INNOVATOR_PERSPECTIVE: Shape = Shape {
    name: "innovator-perspective",
    about: "What an innovator remembers: how it sees the repository, and what it has proposed.",
    keys: &[
        version(1),
        Key::new(
            "persona",
            Kind::Role,
            "The innovator's role: the name of the folder.",
        ),
        Key::new(
            "focus",
            Kind::Text("<what the persona cares for>"),
            "What it cares for.",
        ),
        Key::new(
            "repository_observations",
            Kind::Map(&[
                Key::new("codebase_state", NOTES, "How the code stands.").with_template(),
                Key::new(
                    "startup_and_runtime_contracts",
                    NOTES,
                    "What starting and running rely on.",
                )
                .with_template(),
                Key::new(
                    "decision_quality_gaps",
                    NOTES,
                    "Where decisions lack a ground.",
                )
                .with_template(),
                Key::new(
                    "leverage_candidates",
                    NOTES,
                    "Where little would change much.",
                )
                .with_template(),
            ]),
            "What it saw.",
        )
        .with_template(),
        Key::new(
            "thinking_notes",
            Kind::Map(&[
                Key::new("hypotheses", NOTES, "What it thinks is so.").with_template(),
                Key::new("tradeoff_assessment", NOTES, "What is to be weighed.").with_template(),
                Key::new("rejected_paths", NOTES, "What it decided against.").with_template(),
            ]),
            "What it thought.",
        )
        .with_template(),
        Key::new(
            "feedback_assimilation",
            Kind::Map(&[
                Key::new(
                    "observer_inputs",
                    Kind::List(List::of_any(&INPUT)),
                    "What observers said.",
                )
                .with_template(),
                Key::new("next_focus", NOTES, "What comes next.").with_template(),
            ]),
            "What it took from others.",
        )
        .with_template(),
        Key::new(
            "recent_proposals",
            Kind::List(List::between(
                0,
                RECENT_PROPOSALS_LIMIT,
                &Kind::Line("<title of a proposal>"),
            )),
            "Titles of its proposals, the newest first.",
        )
        .with_template(),
    ],
    rules: &[],
    renamed: &[("role", "persona")],
};

const NOTES: Kind = Kind::List(List::of_any(&Kind::Line("<note>")));

static INPUT: Kind = Kind::Map(&[
    Key::new("from", Kind::Line("<observer>"), "Who."),
    Key::new("signal", Kind::Line("<what was said>"), "What."),
    Key::new(
        "impact_on_direction",
        Kind::Line("<what follows>"),
        "What follows.",
    ),
]);
