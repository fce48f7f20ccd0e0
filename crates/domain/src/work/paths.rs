//! The files that a pull request mainly changes, and those that say nothing about it.

use std::cmp::Reverse;

use super::changed_file::ChangedFile;

/// So many paths stand in a record.
pub const PATH_COUNT: usize = 8;
/// A longer path is cut, in bytes.
const PATH_LENGTH: usize = 256;

/// Files that a package manager writes.
const LOCK_FILES: [&str; 16] = [
    "cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "pipfile.lock",
    "uv.lock",
    "pdm.lock",
    "gemfile.lock",
    "composer.lock",
    "go.sum",
    "flake.lock",
];
/// Folders whose files a program writes, wherever they are.
const BUILD_FOLDERS: [&str; 3] = ["node_modules", "__snapshots__", "__generated__"];
/// Folders whose files a program writes, unless they are in a source folder: there the name is an ordinary word.
const BUILD_FOLDERS_OUTSIDE_SOURCES: [&str; 2] = ["dist", "vendor"];
/// Folders of sources.
const SOURCE_FOLDERS: [&str; 4] = ["src", "lib", "app", "tests"];
/// Endings of files that a program writes.
const GENERATED_ENDINGS: [&str; 9] = [
    // Coverage reports of Python's coverage.py.
    ",cover",
    ".min.js",
    ".min.css",
    ".map",
    ".snap",
    ".pb.go",
    "_pb2.py",
    ".g.dart",
    ".designer.cs",
];

/// Whether a program writes this file, so that its lines say nothing about the work.
#[must_use]
pub fn is_derived(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    LOCK_FILES.contains(&name)
        || GENERATED_ENDINGS.iter().any(|end| name.ends_with(end))
        || is_in_build_folder(folder)
}

fn is_in_build_folder(folder: &str) -> bool {
    let is_outside_sources = |part: &&str| !SOURCE_FOLDERS.contains(part);
    let mut outside_sources = folder.split('/').take_while(is_outside_sources);
    outside_sources.any(|part| BUILD_FOLDERS_OUTSIDE_SOURCES.contains(&part))
        || folder.split('/').any(|part| BUILD_FOLDERS.contains(&part))
}

/// The paths with the most changed lines, most first; equal ones by name.
#[must_use]
pub fn main_paths(files: &[ChangedFile<'_>], count: usize) -> Vec<String> {
    let mut sorted: Vec<&ChangedFile<'_>> = files.iter().collect();
    sorted.sort_by_key(|file| (Reverse(file.added.saturating_add(file.removed)), file.path));
    let cut = |path: &str| path[..path.floor_char_boundary(PATH_LENGTH)].to_owned();
    sorted
        .iter()
        .take(count)
        .map(|file| cut(file.path))
        .collect()
}

/// The likeness of two lists of paths, 0 to 1: the shared weight divided by the whole. A path weighs less the fewer
/// lines it changes: 1, 1/2, 1/3 and so on by its place. 0 where one list is empty.
#[must_use]
pub fn path_similarity(one: &[String], other: &[String]) -> f64 {
    let weight = |paths: &[String], path: &String| {
        let place = paths.iter().position(|known| known == path);
        place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
    };
    let (mut shared, mut whole) = (0.0, 0.0);
    for path in one {
        let (here, there) = (weight(one, path), weight(other, path));
        shared += f64::min(here, there);
        whole += f64::max(here, there);
    }
    for path in other.iter().filter(|path| !one.contains(path)) {
        whole += weight(other, path);
    }
    if whole > 0.0 { shared / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_and_generated_files_are_derived() {
        for path in [
            "Cargo.lock",
            "web/package-lock.json",
            "web/dist/main.js",
            "vendor/github.com/lib/pq/conn.go",
            "web/dist/lib/main.js",
            "a/node_modules/b/c.js",
            "app.min.js",
            "src/__snapshots__/x.ts",
            "src/db.py,cover",
        ] {
            assert!(is_derived(path), "{path}");
        }
        for path in [
            "src/lock.rs",
            "distance.rs",
            "src/target/mod.rs",
            "crates/shop/src/vendor/model.rs",
            "src/dist/tests.rs",
            "map",
            "go.mod",
        ] {
            assert!(!is_derived(path), "{path}");
        }
    }

    #[test]
    fn paths_weigh_by_their_place() {
        let list =
            |paths: &[&str]| -> Vec<String> { paths.iter().map(|p| (*p).to_owned()).collect() };
        let (first, second) = (list(&["a", "b"]), list(&["a", "c"]));
        assert!((path_similarity(&first, &second) - 0.5).abs() < 1e-9);
        assert!((path_similarity(&first, &first) - 1.0).abs() < 1e-9);
        assert!(path_similarity(&first, &[]) < 1e-9);
        assert!(path_similarity(&[], &[]) < 1e-9);
    }
}
