//! What the narrator tells of the latest commits.

use super::keys::{ID, version};
use crate::exchange::limits::{COMMITS_LIMIT, SUMMARIES};
use crate::exchange::shape::{Is, Key, Kind, List, Rule, Shape};

/// The summary of the flat layout: five themes.
pub static CHANGES: Shape = Shape {
    name: "changes",
    about: "What has changed of late, in five themes: a hint for observers.",
    keys: &[
        version(1),
        Key::new(
            "created_at",
            Kind::Instant,
            "When it was written; the next summary begins here.",
        ),
        Key::new(
            "summaries",
            Kind::List(List::between(SUMMARIES, SUMMARIES, &SUMMARY)),
            "Exactly five themes; small ones are put together.",
        ),
    ],
    rules: &[],
    renamed: &[],
};

static SUMMARY: Kind = Kind::Map(&[
    Key::new("title", Kind::Line("<title of the theme>"), "The theme."),
    Key::new("scope", Kind::Text("<what it touches>"), "What it touches."),
    Key::new(
        "impact",
        Kind::Text("<what it means for the system>"),
        "What it means.",
    ),
]);

/// The summary of the workstreams layout: a range of commits, counted and told.
pub static CHANGE: Shape = Shape {
    name: "change",
    about: "What has changed in a range of commits: a hint for the observers of all workstreams.",
    keys: &[
        version(1),
        ID,
        Key::new("created_at", Kind::Instant, "When it was written."),
        Key::new(
            "range",
            Kind::Map(&[
                Key::new(
                    "from_commit",
                    Kind::Commit,
                    "The commit before the first one told of.",
                ),
                Key::new(
                    "to_commit",
                    Kind::Commit,
                    "The last commit of the range; the next summary begins after it.",
                ),
                Key::new(
                    "selection_mode",
                    Kind::Word(&["incremental", "bootstrap"]),
                    "Since the last summary, or from scratch.",
                ),
                Key::new(
                    "selection_detail",
                    Kind::Prose,
                    "How a bootstrap chose its range; needed there.",
                )
                .with_template(),
                Key::new(
                    "excluded_paths",
                    Kind::List(List {
                        of: &Kind::Line("<path>"),
                        least: 1,
                        most: crate::exchange::limits::LIST_LIMIT,
                        one_of: &[".jules/", ".jules"],
                    }),
                    "Paths left out; `.jules/` always is.",
                ),
            ]),
            "Which commits it tells of.",
        ),
        Key::new(
            "stats",
            Kind::Map(&[
                Key::new("commits_total", Kind::Count, "Commits of the range."),
                Key::new("commits_included", Kind::Count, "Those that are listed."),
                Key::new("files_changed", Kind::Count, "Files."),
                Key::new("insertions", Kind::Count, "Inserted lines."),
                Key::new("deletions", Kind::Count, "Deleted lines."),
            ]),
            "Counts of the range.",
        ),
        Key::new(
            "commits",
            Kind::List(List::between(0, COMMITS_LIMIT, &COMMIT)),
            "A sample of the commits.",
        ),
        Key::new(
            "summary",
            Kind::Map(&[
                Key::new(
                    "overview",
                    Kind::Text("<what has changed>"),
                    "What has changed, in short.",
                ),
                Key::new(
                    "notable_changes",
                    Kind::List(List::of_any(&Kind::Line("<notable change>"))),
                    "What an observer should know.",
                )
                .with_template(),
                Key::new(
                    "truncation_note",
                    Kind::Prose,
                    "What was left out; needed when not all commits are listed.",
                )
                .with_template(),
            ]),
            "The summary.",
        ),
    ],
    rules: &[Rule {
        within: "range",
        when: "selection_mode",
        is: Is::Word("bootstrap"),
        then: "selection_detail",
    }],
    renamed: &[],
};

static COMMIT: Kind = Kind::Map(&[
    Key::new("sha", Kind::Commit, "The commit."),
    Key::new(
        "subject",
        Kind::Line("<first line of the message>"),
        "The first line of its message.",
    ),
]);
