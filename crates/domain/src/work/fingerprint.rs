//! The fingerprint of a pull request: its title's words, its main files, a sketch of its changed lines.

use serde::{Deserialize, Serialize};

use super::changed_file::ChangedFile;
use super::paths::{PATH_COUNT, is_derived, main_paths};
use super::sketch::Sketch;
use super::title::title_words;

/// What a pull request is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The words of its title that carry meaning, sorted.
    pub title: Vec<String>,
    /// The paths with the most changed lines, most first; at most [`PATH_COUNT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The changed lines.
    #[serde(flatten)]
    pub sketch: Sketch,
    /// Added and removed lines.
    pub size: (u64, u64),
}

impl Fingerprint {
    /// Reads a pull request. Lock files and generated files do not count, nor do those that `is_excluded` names; what
    /// they change says nothing about the work.
    #[must_use]
    pub fn from_pull(
        title: &str,
        files: &[ChangedFile<'_>],
        is_excluded: impl Fn(&str) -> bool,
    ) -> Self {
        let files = counted_files(files, is_excluded);
        let sum = |lines: fn(&ChangedFile<'_>) -> u64| {
            files.iter().map(lines).fold(0, u64::saturating_add)
        };
        Self {
            title: title_words(title),
            paths: main_paths(&files, PATH_COUNT),
            sketch: Sketch::from_patches(files.iter().filter_map(|file| file.patch)),
            size: (sum(|file| file.added), sum(|file| file.removed)),
        }
    }

    /// The sketch of the change that takes these files back.
    #[must_use]
    pub fn inverse_sketch(files: &[ChangedFile<'_>], is_excluded: impl Fn(&str) -> bool) -> Sketch {
        let files = counted_files(files, is_excluded);
        Sketch::from_reverted_patches(files.iter().filter_map(|file| file.patch))
    }
}

/// The files that say something about the work, by their paths.
fn counted_files<'f>(
    files: &[ChangedFile<'f>],
    is_excluded: impl Fn(&str) -> bool,
) -> Vec<ChangedFile<'f>> {
    let counted = |file: &&ChangedFile<'_>| !is_derived(file.path) && !is_excluded(file.path);
    let mut files: Vec<ChangedFile<'_>> = files.iter().filter(counted).copied().collect();
    files.sort_by_key(|file| file.path);
    files
}
