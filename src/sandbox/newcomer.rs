//! The default repository of a sandbox: a small library, five personas, a cycle and a schedule.

use phileas_world::seed::{Files, files as files_of};

/// The files that replace the cycle by the layers of the hand-over pipeline.
#[must_use]
pub fn layer_files() -> Files {
    files_of(&[
        (".jlo/config.toml", include_str!("newcomer/config.toml")),
        (
            ".jules/schedules.toml",
            include_str!("newcomer/layered.toml"),
        ),
    ])
}

/// The files of the repository.
#[must_use]
pub fn repository_files() -> Files {
    files_of(&[
        ("README.md", include_str!("newcomer/README.md")),
        ("Cargo.toml", include_str!("newcomer/Cargo.toml.txt")),
        ("src/lib.rs", include_str!("newcomer/lib.rs.txt")),
        (
            ".jules/schedules.toml",
            include_str!("newcomer/schedules.toml"),
        ),
        (
            ".jules/personas/blocks/base.md.j2",
            include_str!("newcomer/base.md.j2"),
        ),
        (
            ".jules/partials/journal_rules.md.j2",
            include_str!("newcomer/journal_rules.md.j2"),
        ),
        (
            ".jules/personas/curator/prompt.md.j2",
            include_str!("newcomer/curator.md.j2"),
        ),
        (
            ".jules/personas/refactor/prompt.md.j2",
            include_str!("newcomer/refactor.md.j2"),
        ),
        (
            ".jules/personas/tester/prompt.md.j2",
            include_str!("newcomer/tester.md.j2"),
        ),
        (
            ".jules/personas/auditor/prompt.md.j2",
            include_str!("newcomer/auditor.md.j2"),
        ),
        (
            ".jules/personas/fixer/prompt.md.j2",
            include_str!("newcomer/fixer.md.j2"),
        ),
    ])
}
