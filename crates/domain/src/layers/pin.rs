//! Records the digest of each file that phileas wrote, so that a newer version replaces only files that people have not
//! changed.
//!
//! Three texts decide about a file: the written one (known by its digest), the present one, and the one that this
//! version would write. If the present text is the written one, it is replaced. If only people have changed it, it
//! stays. If both have changed it, it stays and is reported as a conflict. A file that people have removed is not
//! written again.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::exchange::{EventState, Layout};
use crate::model::Tree;

/// The pin of the default branch.
pub const CONFIG_PIN_PATH: &str = ".jlo/.phileas-version";
/// The README of the ledger.
pub const README_PATH: &str = ".jules/README.md";
/// The pin of the ledger.
pub const LEDGER_PIN_PATH: &str = ".jules/.phileas-version";
/// The comment below the version.
const ABOUT: &str = "# What phileas wrote, by the SHA-256 of its text; `phileas upgrade` goes by it. Leave it as it is.";
/// The largest number of files in a pin.
const FILES_LIMIT: usize = 2_000;

/// A version, and the files that it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The version of phileas.
    pub version: String,
    /// The digests of the written files, by path.
    pub digests: BTreeMap<String, String>,
}

/// Why a pin cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// A newer version wrote it.
    #[error(
        "it was written by phileas {written_by}, and this is {ours}; take that version or a newer one"
    )]
    Newer {
        /// The version that wrote it.
        written_by: String,
        /// This version.
        ours: String,
    },
    /// phileas did not write it.
    #[error(
        "line {line} is not what phileas writes; put the file back as it was (git log -- FILE), or remove it: then nothing that is there is replaced"
    )]
    Broken {
        /// The first wrong line, from 1.
        line: usize,
    },
}

impl Pin {
    /// A pin without files.
    #[must_use]
    pub fn new(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            digests: BTreeMap::new(),
        }
    }

    /// Reads a pin. `ours`: this version.
    ///
    /// # Errors
    ///
    /// [`PinError`]: a newer version wrote it, or it is no pin.
    pub fn read_pin(text: &str, ours: &str) -> Result<Self, PinError> {
        let mut lines = text.lines().enumerate();
        let version = lines
            .next()
            .map(|(_, line)| line.trim())
            .unwrap_or_default();
        let (Some(found), Some(known)) = (version_parts(version), version_parts(ours)) else {
            return Err(PinError::Broken { line: 1 });
        };
        if found > known {
            return Err(PinError::Newer {
                written_by: version.to_owned(),
                ours: ours.to_owned(),
            });
        }
        let mut pin = Self::new(version);
        for (index, line) in lines {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = line.split_once("  ").filter(|(digest, path)| {
                digest.len() == 64
                    && digest.bytes().all(|b| b.is_ascii_hexdigit())
                    && !path.is_empty()
            });
            let Some((digest, path)) = entry.filter(|_| index < FILES_LIMIT) else {
                return Err(PinError::Broken { line: index + 1 });
            };
            pin.digests.insert(path.to_owned(), digest.to_owned());
        }
        Ok(pin)
    }

    /// Records a written file.
    pub fn note(&mut self, path: &str, text: &str) {
        self.digests.insert(path.to_owned(), text_digest(text));
    }

    /// Whether a file has the text that phileas wrote there.
    #[must_use]
    pub fn is_own_copy(&self, tree: &Tree, path: &str) -> bool {
        let present = tree.text(path).map(text_digest);
        present.is_some() && self.digests.get(path) == present.as_ref()
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{ABOUT}\n", self.version);
        for (path, digest) in &self.digests {
            text.push_str(&format!("{digest}  {path}\n"));
        }
        text
    }
}

/// The major, minor and patch numbers of a version, without a suffix after `-` or `+`.
fn version_parts(version: &str) -> Option<[u64; 3]> {
    let bare = version.split(['-', '+']).next()?;
    let mut parts = bare.split('.').map(|part| part.parse().ok());
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Line ends do not count, because git may change them.
fn text_digest(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.replace("\r\n", "\n")))
}

/// Whether a file of the ledger has the text that phileas wrote there.
#[must_use]
pub fn is_own_copy(ledger: &Tree, path: &str) -> bool {
    let Some(text) = ledger.text(LEDGER_PIN_PATH) else {
        return false;
    };
    // The digests of a newer version count, too.
    let version = text.lines().next().unwrap_or_default().trim();
    Pin::read_pin(text, version).is_ok_and(|pin| pin.is_own_copy(ledger, path))
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It is up to date.
    Same,
    /// It is created with this text.
    Write(String),
    /// It is unchanged and is replaced by this text.
    Replace(String),
    /// People have changed it; only the commit that its `uses:` line names is replaced. This is the whole text.
    Pin(String),
    /// It is unchanged and is removed, because this version has no such file.
    Remove,
    /// People have changed it, and this version has nothing new: it stays. This is phileas' text.
    Changed(String),
    /// People have changed it, and this version has another text: it stays, and a person must merge them.
    Conflict(String),
    /// People have removed it: it is not written again.
    Gone,
    /// People have changed it, and this version has no such file: it stays.
    Theirs,
}

/// A file, and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The path.
    pub path: String,
    /// What happens to it.
    pub kind: FileChangeKind,
}

/// What happens to every file, and the new pin. `tree`: the files that there are; one that is no text counts as changed.
/// `version`: the version that writes.
#[must_use]
pub fn upgrade_moves(
    pin: Option<&Pin>,
    version: &str,
    wanted: &BTreeMap<String, String>,
    tree: &Tree,
) -> (Vec<Move>, Pin) {
    let none = BTreeMap::new();
    let before = pin.map_or(&none, |pin| &pin.digests);
    let mut after = Pin::new(version);
    let paths: BTreeSet<&String> = wanted.keys().chain(before.keys()).collect();
    let mut moves = Vec::new();
    for path in paths {
        let base = before.get(path);
        let new = wanted.get(path).map(|text| (text, text_digest(text)));
        let digest = || tree.text(path).map(text_digest).unwrap_or_default();
        let present = tree.get(path).map(|_| digest());
        let fate = match (&new, present) {
            (Some((text, _)), None) if base.is_none() => FileChangeKind::Write((*text).clone()),
            (_, None) => FileChangeKind::Gone,
            (Some((_, new)), Some(present)) if *new == present => FileChangeKind::Same,
            (Some((text, _)), Some(present)) if base == Some(&present) => {
                FileChangeKind::Replace((*text).clone())
            }
            (Some((text, new)), Some(_)) if base == Some(new) => {
                FileChangeKind::Changed((*text).clone())
            }
            (Some((text, _)), Some(_)) => FileChangeKind::Conflict((*text).clone()),
            (None, Some(present)) if base == Some(&present) => FileChangeKind::Remove,
            (None, Some(_)) => FileChangeKind::Theirs,
        };
        let keep = match &fate {
            FileChangeKind::Same | FileChangeKind::Write(_) | FileChangeKind::Replace(_) => {
                new.map(|(_, digest)| digest)
            }
            // A conflict is reported once. After that it counts as a change against this version's text.
            FileChangeKind::Changed(_) | FileChangeKind::Pin(_) | FileChangeKind::Conflict(_) => {
                new.map(|(_, digest)| digest)
            }
            FileChangeKind::Gone => base.cloned().filter(|_| wanted.contains_key(path)),
            FileChangeKind::Remove | FileChangeKind::Theirs => None,
        };
        if let Some(digest) = keep {
            after.digests.insert(path.clone(), digest);
        }
        moves.push(Move {
            path: path.clone(),
            kind: fate,
        });
    }
    (moves, after)
}

/// Empty files that keep the folders of a layout's exchange, by path.
#[must_use]
pub fn placeholder_files(layout: Layout) -> BTreeMap<String, String> {
    if layout == Layout::Workstreams {
        return BTreeMap::new();
    }
    let home = layout.stream_folder(&Tree::new(), crate::exchange::FLAT_STREAM);
    let states = [
        EventState::Pending,
        EventState::Decided,
        EventState::Rejected,
    ];
    let events = states.map(|state| format!("{home}/events/{}", state.folder_name()));
    let others = ["feedback", "requirements", "proposals"].map(|folder| format!("{home}/{folder}"));
    let folders = events.into_iter().chain(others);
    folders
        .map(|folder| (format!("{folder}/.gitkeep"), String::new()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, Mode};

    /// What happens to one file, from the written, the present and the new text.
    fn planned_change(
        base: Option<&str>,
        there: Option<&str>,
        wanted: Option<&str>,
    ) -> (FileChangeKind, Option<String>) {
        let mut pin = Pin::new("0.1.0");
        if let Some(base) = base {
            pin.note("a", base);
        }
        let tree = Tree::from_texts(there.map(|text| ("a", text)));
        let wanted: BTreeMap<String, String> = wanted
            .map(|text| ("a".to_owned(), text.to_owned()))
            .into_iter()
            .collect();
        let (moves, after) = upgrade_moves(Some(&pin), "0.2.0", &wanted, &tree);
        assert_eq!(after.version, "0.2.0");
        (moves[0].kind.clone(), after.digests.get("a").cloned())
    }

    #[test]
    fn three_texts_decide() {
        let (one, two, own) = (Some("1"), Some("2"), Some("own"));
        let text = |text: &str| text.to_owned();
        for (base, there, wanted, expected, kept) in [
            (None, None, one, FileChangeKind::Write(text("1")), one),
            (None, one, one, FileChangeKind::Same, one),
            (None, own, one, FileChangeKind::Conflict(text("1")), one),
            (one, one, one, FileChangeKind::Same, one),
            (one, one, two, FileChangeKind::Replace(text("2")), two),
            (
                one,
                Some("1\r\n"),
                two,
                FileChangeKind::Conflict(text("2")),
                two,
            ),
            (
                Some("1\n"),
                Some("1\r\n"),
                two,
                FileChangeKind::Replace(text("2")),
                two,
            ),
            (one, own, one, FileChangeKind::Changed(text("1")), one),
            (one, own, two, FileChangeKind::Conflict(text("2")), two),
            (two, own, two, FileChangeKind::Changed(text("2")), two),
            (one, None, one, FileChangeKind::Gone, one),
            (one, None, two, FileChangeKind::Gone, one),
            (one, None, None, FileChangeKind::Gone, None),
            (one, one, None, FileChangeKind::Remove, None),
            (one, own, None, FileChangeKind::Theirs, None),
        ] {
            let (fate, digest_kept) = planned_change(base, there, wanted);
            assert_eq!(fate, expected, "{base:?} {there:?} {wanted:?}");
            assert_eq!(
                digest_kept,
                kept.map(text_digest),
                "{base:?} {there:?} {wanted:?}"
            );
        }
        // phileas does not replace a file that is no text.
        let wanted = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let mut tree = Tree::new();
        let entry = Entry {
            mode: Mode::File,
            oid: String::new(),
            size: 1,
            text: None,
        };
        tree.insert("a", entry);
        let (moves, _) = upgrade_moves(None, "0.1.0", &wanted, &tree);
        assert!(matches!(moves[0].kind, FileChangeKind::Conflict(_)));
    }

    #[test]
    fn a_pin_is_read_as_it_is_written() {
        let mut pin = Pin::new("1.2.3");
        pin.note("b c", "x");
        pin.note("a", "y");
        assert_eq!(Pin::read_pin(&pin.text(), "1.2.3"), Ok(pin.clone()));
        assert_eq!(
            Pin::read_pin(&pin.text().replace('\n', "\r\n"), "1.10.0"),
            Ok(pin.clone())
        );
        for ours in ["1.2.2", "1.1.9", "0.9.9"] {
            assert!(
                matches!(
                    Pin::read_pin(&pin.text(), ours),
                    Err(PinError::Newer { .. })
                ),
                "{ours}"
            );
        }
        for (text, line) in [
            ("", 1),
            ("next\n", 1),
            ("1.2\n", 1),
            ("1.2.3.4\n", 1),
            ("1.2.3\nx  a\n", 2),
            ("1.2.3\n\n# x\nabc", 4),
        ] {
            assert_eq!(
                Pin::read_pin(text, "2.0.0"),
                Err(PinError::Broken { line }),
                "{text}"
            );
        }
    }
}
