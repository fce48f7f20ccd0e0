//! Maps paths to artifacts in both layouts: one flat exchange, or several workstreams.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::model::Tree;

/// The folder of the flat exchange.
pub(super) const FLAT_FOLDER: &str = ".jules/exchange";
/// The folder of the flat layout's memories.
pub(super) const WORKSTATIONS_FOLDER: &str = ".jules/workstations";
/// The folder of the workstreams.
pub(super) const STREAMS_FOLDER: &str = ".jules/workstreams";
/// The folder of the narrator's summary in the workstreams layout.
pub(super) const CHANGES_FOLDER: &str = ".jules/changes";
/// The narrator's summary in the workstreams layout.
pub(super) const STREAMS_CHANGES: &str = ".jules/changes/latest.yml";
/// The narrator's summary in the flat layout.
pub(super) const FLAT_CHANGES: &str = ".jules/exchange/changes.yml";
/// The name of the flat layout's only stream.
pub const FLAT_STREAM: &str = "generic";

/// The layout of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// `.jules/exchange/`: one stream.
    Flat,
    /// `.jules/workstreams/<name>/`: independent streams.
    Workstreams,
}

impl Layout {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Workstreams => "workstreams",
        }
    }

    /// The layout of a tree; `None` if it has no exchange. Both at once is an error, because it is unclear which one
    /// counts.
    ///
    /// # Errors
    ///
    /// Files of both layouts exist.
    pub fn detect(tree: &Tree) -> Result<Option<Self>, Box<Diagnostic>> {
        let first = |folder: &str, counts: fn(Self, &str) -> bool| {
            let layout = match folder {
                FLAT_FOLDER | WORKSTATIONS_FOLDER => Self::Flat,
                _ => Self::Workstreams,
            };
            let mut files = tree.below(folder).map(|(path, _)| path);
            files.find(|path| counts(layout, path)).map(str::to_owned)
        };
        let either = |counts| {
            let find = |folder| first(folder, counts);
            let flat = find(FLAT_FOLDER).or_else(|| find(WORKSTATIONS_FOLDER));
            let streams = find(STREAMS_FOLDER).or_else(|| find(CHANGES_FOLDER));
            (flat, streams)
        };
        // Files that only keep empty folders of the other layout do not count, and neither do notes and files that are no
        // artifacts, which stay when the layout changes.
        let levels: [fn(Self, &str) -> bool; 3] = [
            is_of_exchange,
            |_, path| path.ends_with("/.gitkeep"),
            |_, _| true,
        ];
        let mut found = levels.into_iter().map(either);
        let found = found.find(|found| *found != (None, None));
        let found = found.unwrap_or_default();
        match found {
            (Some(flat), Some(streams)) => Err(Box::new(
                Diagnostic::error(
                    streams,
                    format!("files of two layouts are there: `{flat}` is of the other one"),
                )
                .help(format!(
                    "keep either `{STREAMS_FOLDER}` or `{FLAT_FOLDER}`: move what still counts, and remove the rest"
                )),
            )),
            (Some(_), None) => Ok(Some(Self::Flat)),
            (None, Some(_)) => Ok(Some(Self::Workstreams)),
            // A flat layout that was set up and is still empty.
            (None, None) => {
                let mut roles = tree.below(".jlo/roles");
                let intends = tree.get(".jlo/config.toml").is_some() || roles.next().is_some();
                Ok(intends.then_some(Self::Flat))
            }
        }
    }

    /// The path of the narrator's summary.
    #[must_use]
    pub fn changes_path(self) -> &'static str {
        match self {
            Self::Flat => FLAT_CHANGES,
            Self::Workstreams => STREAMS_CHANGES,
        }
    }

    /// The folder of a stream's events, work items and feedback. Both forms of the workstreams layout are supported,
    /// with and without `exchange/`. Existing files decide; a new stream has the form without.
    #[must_use]
    pub fn stream_folder(self, tree: &Tree, stream: &str) -> String {
        match self {
            Self::Flat => FLAT_FOLDER.to_owned(),
            Self::Workstreams => {
                let plain = format!("{STREAMS_FOLDER}/{stream}");
                let nested = format!("{plain}/exchange");
                if tree.below(&nested).next().is_some() {
                    nested
                } else {
                    plain
                }
            }
        }
    }

    /// The folder of a stream's memories.
    #[must_use]
    pub fn workstations_folder(self, stream: &str) -> String {
        match self {
            Self::Flat => WORKSTATIONS_FOLDER.to_owned(),
            Self::Workstreams => format!("{STREAMS_FOLDER}/{stream}/workstations"),
        }
    }

    /// The streams of a tree.
    #[must_use]
    pub fn stream_names(self, tree: &Tree) -> BTreeSet<String> {
        match self {
            Self::Flat => BTreeSet::from([FLAT_STREAM.to_owned()]),
            Self::Workstreams => {
                let inside = tree.below(STREAMS_FOLDER);
                let names = inside.filter_map(|(path, _)| {
                    let rest = path.strip_prefix(STREAMS_FOLDER)?.strip_prefix('/')?;
                    rest.split_once('/').map(|(name, _)| name.to_owned())
                });
                names.collect()
            }
        }
    }
}

/// The artifact that a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location<'p> {
    Changes,
    Event {
        stream: &'p str,
        state: &'p str,
    },
    Item {
        stream: &'p str,
        label: Option<&'p str>,
    },
    Index {
        stream: &'p str,
    },
    Proposal {
        stream: &'p str,
    },
    Feedback {
        stream: &'p str,
    },
    /// Feedback in a role's folder, as in older versions of the workstreams layout.
    RoleFeedback,
    Memory {
        stream: &'p str,
        role: &'p str,
    },
    History {
        stream: &'p str,
        role: &'p str,
    },
    Roster {
        stream: &'p str,
    },
    /// A file that keeps a folder, or a note for people.
    Beside,
    /// A file whose name is that of no artifact, such as an editor's copy. It is reported and stays.
    NoArtifact,
    /// An artifact by its name, below the exchange, but at no valid location.
    Stray,
}

/// The roster of all streams in version 10 of the original program.
pub(super) const OLDER_ROSTER: &str = ".jlo/scheduled.toml";

/// A stream's roster in version 9 of the original program.
pub(super) fn older_roster(stream: &str) -> String {
    format!(".jlo/workstreams/{stream}/scheduled.toml")
}

/// The location of a path in a layout; `None` if it is not part of the exchange.
pub(super) fn locate(layout: Layout, path: &str) -> Option<Location<'_>> {
    let parts: Vec<&str> = path.split('/').collect();
    let place = match (layout, parts.as_slice()) {
        (Layout::Flat, [".jules", "exchange", "changes.yml"])
        | (Layout::Workstreams, [".jules", "changes", "latest.yml"]) => Location::Changes,
        (Layout::Flat, [".jules", "exchange", rest @ ..]) => {
            locate_in_stream(layout, FLAT_STREAM, rest)
        }
        (Layout::Flat, [".jules", "workstations", rest @ ..]) => locate_memory(FLAT_STREAM, rest),
        (Layout::Workstreams, [".jules", "workstreams", stream, rest @ ..]) => match rest {
            ["scheduled.toml"] => Location::Roster { stream },
            ["workstations", rest @ ..] => locate_memory(stream, rest),
            ["exchange", rest @ ..] | rest => locate_in_stream(layout, stream, rest),
        },
        (Layout::Workstreams, [".jules", "changes", ..]) => Location::Stray,
        (
            Layout::Workstreams,
            [".jules", "roles", "observers", _, "feedbacks", _]
            | [".jules", "roles", "observers", "roles", _, "feedbacks", _],
        ) => Location::RoleFeedback,
        _ => return None,
    };
    let is_yaml = [".yml", ".yaml"].iter().any(|end| path.ends_with(end));
    Some(match place {
        _ if path.rsplit('/').next().is_some_and(is_keeper) => Location::Beside,
        Location::Index { .. } | Location::Roster { .. } => place,
        _ if !is_yaml => Location::NoArtifact,
        _ => place,
    })
}

/// Whether a file belongs to the exchange of a layout, be it at a valid location or not.
fn is_of_exchange(layout: Layout, path: &str) -> bool {
    !matches!(
        locate(layout, path),
        None | Some(Location::Beside | Location::NoArtifact)
    )
}

fn locate_in_stream<'p>(layout: Layout, stream: &'p str, rest: &[&'p str]) -> Location<'p> {
    match (layout, rest) {
        (_, ["events", state, _]) => Location::Event { stream, state },
        (_, ["feedback", _]) => Location::Feedback { stream },
        (Layout::Flat, ["requirements", _]) => Location::Item {
            stream,
            label: None,
        },
        (_, ["proposals", _]) => Location::Proposal { stream },
        (Layout::Workstreams, ["issues", "index.md"]) => Location::Index { stream },
        (Layout::Workstreams, ["issues", label, _]) => Location::Item {
            stream,
            label: Some(label),
        },
        _ => Location::Stray,
    }
}

fn locate_memory<'p>(stream: &'p str, rest: &[&'p str]) -> Location<'p> {
    match rest {
        [role, "perspective.yml"] => Location::Memory { stream, role },
        [role, "histories", _] => Location::History { stream, role },
        _ => Location::Stray,
    }
}

fn is_keeper(name: &str) -> bool {
    matches!(name, ".gitkeep" | ".gitignore" | "README.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_told_from_the_files() {
        let of = |paths: &[&str]| {
            Layout::detect(&Tree::from_texts(paths.iter().map(|path| (*path, ""))))
        };
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(
            of(&[".jules/schedules.toml", ".jlo/setup/tools.yml"]),
            Ok(None)
        );
        assert_eq!(of(&[".jules/exchange/.gitkeep"]), Ok(Some(Layout::Flat)));
        assert_eq!(
            of(&[".jules/workstations/a/perspective.yml"]),
            Ok(Some(Layout::Flat))
        );
        for intended in [".jlo/config.toml", ".jlo/roles/observers/a/role.yml"] {
            assert_eq!(of(&[intended]), Ok(Some(Layout::Flat)), "{intended}");
        }
        assert_eq!(
            of(&[".jules/workstreams/generic/.gitkeep"]),
            Ok(Some(Layout::Workstreams))
        );
        assert_eq!(
            of(&[".jules/changes/latest.yml"]),
            Ok(Some(Layout::Workstreams))
        );
        assert_eq!(
            of(&[".jules/workstreams/a/.gitkeep", ".jlo/config.toml"]),
            Ok(Some(Layout::Workstreams))
        );
        // Files that keep empty folders do not count beside an existing exchange.
        for (kept, begun, layout) in [
            (
                ".jules/workstreams/a/issues/.gitkeep",
                ".jules/exchange/changes.yml",
                Layout::Flat,
            ),
            (
                ".jules/exchange/events/pending/.gitkeep",
                ".jules/workstreams/a/events/pending/a.yml",
                Layout::Workstreams,
            ),
            // Notes and files that are no artifacts stay when the layout changes.
            (
                ".jules/exchange/readme.txt",
                ".jules/workstreams/a/issues/index.md",
                Layout::Workstreams,
            ),
            (
                ".jules/workstreams/a/README.md",
                ".jules/exchange/events/pending/.gitkeep",
                Layout::Flat,
            ),
        ] {
            assert_eq!(of(&[kept, begun]), Ok(Some(layout)), "{kept}");
        }
        let both = of(&[
            ".jules/workstreams/a/issues/bugs/a.yml",
            ".jules/exchange/changes.yml",
        ])
        .unwrap_err();
        assert!(both.message.contains("two layouts"), "{both}");
    }

    #[test]
    fn every_variant_of_a_path_has_its_meaning() {
        use Layout::{Flat, Workstreams};
        let (stream, state) = ("ws", "pending");
        for (layout, path, expected) in [
            (Flat, ".jules/exchange/changes.yml", Some(Location::Changes)),
            (
                Flat,
                ".jules/exchange/events/pending/a.yml",
                Some(Location::Event {
                    stream: "generic",
                    state,
                }),
            ),
            (
                Flat,
                ".jules/exchange/requirements/a.yml",
                Some(Location::Item {
                    stream: "generic",
                    label: None,
                }),
            ),
            (
                Flat,
                ".jules/exchange/proposals/a.yml",
                Some(Location::Proposal { stream: "generic" }),
            ),
            (
                Flat,
                ".jules/exchange/feedback/a.yml",
                Some(Location::Feedback { stream: "generic" }),
            ),
            (
                Flat,
                ".jules/workstations/qa/perspective.yml",
                Some(Location::Memory {
                    stream: "generic",
                    role: "qa",
                }),
            ),
            (
                Flat,
                ".jules/exchange/events/pending/.gitkeep",
                Some(Location::Beside),
            ),
            (
                Flat,
                ".jules/exchange/issues/bugs/a.yml",
                Some(Location::Stray),
            ),
            (Flat, ".jules/exchange/events/a.yml", Some(Location::Stray)),
            (
                Flat,
                ".jules/exchange/requirements/a.yml.bak",
                Some(Location::NoArtifact),
            ),
            (
                Flat,
                ".jules/exchange/readme.txt",
                Some(Location::NoArtifact),
            ),
            (Flat, ".jules/schedules.toml", None),
            (Flat, ".jules/exchanges/a.yml", None),
            (
                Workstreams,
                ".jules/changes/latest.yml",
                Some(Location::Changes),
            ),
            (Workstreams, ".jules/changes/old.yml", Some(Location::Stray)),
            (
                Workstreams,
                ".jules/workstreams/ws/events/pending/a.yml",
                Some(Location::Event { stream, state }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/exchange/events/pending/a.yml",
                Some(Location::Event { stream, state }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/issues/bugs/a.yml",
                Some(Location::Item {
                    stream,
                    label: Some("bugs"),
                }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/exchange/issues/bugs/a.yml",
                Some(Location::Item {
                    stream,
                    label: Some("bugs"),
                }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/issues/index.md",
                Some(Location::Index { stream }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/exchange/issues/index.md",
                Some(Location::Index { stream }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/workstations/qa/perspective.yml",
                Some(Location::Memory { stream, role: "qa" }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/workstations/qa/histories/1.yml",
                Some(Location::History { stream, role: "qa" }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/scheduled.toml",
                Some(Location::Roster { stream }),
            ),
            (
                Workstreams,
                ".jules/workstreams/ws/exchange/requirements/a.yml",
                Some(Location::Stray),
            ),
            (
                Workstreams,
                ".jules/roles/observers/qa/feedbacks/a.yml",
                Some(Location::RoleFeedback),
            ),
            (
                Workstreams,
                ".jules/roles/observers/roles/qa/feedbacks/a.yml",
                Some(Location::RoleFeedback),
            ),
            (Workstreams, ".jules/roles/observers/qa/role.yml", None),
        ] {
            assert_eq!(locate(layout, path), expected, "{path}");
        }
    }
}
