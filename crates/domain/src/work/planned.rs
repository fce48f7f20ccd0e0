//! Whether the plan of a session does what a pull request does. A plan has steps and names files, but has no lines.

use std::collections::BTreeSet;

use super::fingerprint::Fingerprint;
use super::named_files::possible_names;
use super::paths::{PATH_COUNT, is_derived, path_similarity};
use super::similarity::{SAME_PATHS, SAME_TITLE};
use super::title::meaningful_words;

/// So many words and names of a plan count.
const COUNTED: usize = 4_096;
/// Titles of fewer words prove nothing: one word easily occurs in a plan.
const WORDS_NEEDED: usize = 2;
/// A longer name is no path.
const NAME_LENGTH: usize = 256;
/// A longer ending is none of a file.
const ENDING_LENGTH: usize = 10;

/// What the plan of a session is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedWork {
    /// The words that carry meaning, as titles have them.
    stems: BTreeSet<String>,
    /// What may be the name of a file, in the order of the plan, each once.
    names: Vec<String>,
}

impl PlannedWork {
    /// Reads the titles and descriptions of the steps. Files that say nothing about the work do not count, nor do those
    /// that `is_excluded` names.
    #[must_use]
    pub fn from_steps<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        is_excluded: impl Fn(&str) -> bool,
    ) -> Self {
        let text = texts.into_iter().collect::<Vec<_>>().join("\n");
        let mut known = BTreeSet::new();
        let names = possible_names(&text).filter(|name| {
            let is_counted = !name.is_empty()
                && name.len() <= NAME_LENGTH
                && !is_derived(name)
                && !is_excluded(name);
            is_counted && known.insert(*name)
        });
        Self {
            stems: meaningful_words(&text, COUNTED),
            names: names.take(COUNTED).map(str::to_owned).collect(),
        }
    }

    /// Whether it does what a pull request does: it has the words of the title, and names the files. Without files on
    /// both sides it never does.
    #[must_use]
    pub fn repeats(&self, work: &Fingerprint) -> bool {
        let words = &work.title;
        let shared = words.iter().filter(|word| self.stems.contains(*word));
        let share = shared.count() as f64 / words.len().max(1) as f64;
        words.len() >= WORDS_NEEDED
            && share >= SAME_TITLE
            && path_similarity(&self.paths_beside(work), &work.paths) >= SAME_PATHS
    }

    /// The files that it names. A name without a folder, such as `README.md` or `list.len`, is one only where the pull
    /// request changes that file.
    fn paths_beside(&self, work: &Fingerprint) -> Vec<String> {
        let is_path = |name: &&String| is_path_of_file(name) || work.paths.contains(name);
        let paths = self.names.iter().filter(is_path);
        paths.take(PATH_COUNT).cloned().collect()
    }
}

/// Whether a name is a file in a folder: `src/list.rs`, but not `and/or` or a part of an address.
fn is_path_of_file(name: &str) -> bool {
    let Some((folders, file)) = name.rsplit_once('/') else {
        return false;
    };
    let is_folder = |part: &str| !part.is_empty() && part != "..";
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_ending = ending.len() <= ENDING_LENGTH
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic());
    folders.split('/').all(is_folder) && is_ending
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::work::title::title_words;

    fn pull(title: &str, paths: &[&str]) -> Fingerprint {
        Fingerprint {
            title: title_words(title),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..Fingerprint::default()
        }
    }

    fn plan(text: &str) -> PlannedWork {
        PlannedWork::from_steps([text], |_| false)
    }

    fn twin() -> Fingerprint {
        let paths = ["src/render.rs", "tests/render.rs"];
        pull("Escape quotes in HTML attributes", &paths)
    }

    #[test]
    fn a_plan_with_the_same_words_and_files_repeats_the_work() {
        for text in [
            "1. Escape the quotes of an HTML attribute in `src/render.rs`.\n2. Test it in `tests/render.rs`.",
            "Escaping quotes (HTML attributes): /app/src/render.rs:12, ./tests/render.rs#L3!",
            "Quoted attributes: escape them. [render](src/render.rs) and **tests/render.rs**; html",
            // The main one of two files suffices.
            "Escape HTML quotes in an attribute of src/render.rs.",
        ] {
            assert!(plan(text).repeats(&twin()), "{text}");
        }
    }

    #[test]
    fn other_words_other_files_or_none_do_not() {
        for text in [
            "Count words in `src/render.rs` and `tests/render.rs`.",
            "Escape quotes in HTML attributes of `src/parse.rs`.",
            "Escape quotes in HTML attributes.",
            "Escape quotes in HTML attributes: https://example.com/src/render.rs",
            "Escape quotes in HTML attributes of render.rs.",
            "Escape quotes in HTML attributes: src/a.rs, src/b.rs, src/c.rs, src/render.rs.",
            "",
        ] {
            assert!(!plan(text).repeats(&twin()), "{text}");
        }
        let without_files = pull("Escape quotes in HTML attributes", &[]);
        assert!(!plan("Escape quotes in HTML attributes of src/a.rs.").repeats(&without_files));
        let vague = pull("Improve performance", &["src/a.rs"]);
        assert!(!plan("Improve the performance of src/a.rs.").repeats(&vague));
    }

    #[test]
    fn four_of_five_words_suffice() {
        let work = pull("Escape quotes in HTML attributes twice", &["src/render.rs"]);
        assert!(plan("Escape quotes in HTML attributes of src/render.rs.").repeats(&work));
        assert!(!plan("Escape quotes in attributes of src/render.rs.").repeats(&work));
    }

    #[test]
    fn a_file_without_a_folder_counts_where_the_pull_request_changes_it() {
        let readme = pull("Explain installation", &["README.md"]);
        assert!(plan("Explain the installation in README.md.").repeats(&readme));
        assert!(plan("Explain the installation, e.g. by list.len, in README.md.").repeats(&readme));
        let make = pull("Speed builds with ccache", &["Makefile"]);
        assert!(plan("Speed up builds: ccache in Makefile").repeats(&make));
    }

    #[test]
    fn a_path_has_folders_and_the_ending_of_a_file() {
        for name in ["src/list.rs", "a/b/c.mp3", "src/a.abcdefghij", "src/.env"] {
            assert!(is_path_of_file(name), "{name}");
        }
        for name in [
            "list.rs",
            "and/or",
            "src/a.",
            "src/a.r-s",
            "v1/1.2",
            "src/a.abcdefghijk",
            "src//a.rs",
            "/src/a.rs",
            "../a.rs",
        ] {
            assert!(!is_path_of_file(name), "{name}");
        }
    }

    #[test]
    fn files_that_say_nothing_do_not_count() {
        let text = "Escape quotes of HTML attributes: Cargo.lock, web/dist/a.js, .github/ci.yml, src/render.rs";
        let planned = PlannedWork::from_steps([text], |path| path.starts_with(".github/"));
        assert!(planned.repeats(&twin()));
        assert!(!plan(text).repeats(&twin()));
    }

    fn any_words() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-z]{3,9}", 0..8)
    }

    fn any_paths() -> impl Strategy<Value = Vec<String>> {
        prop::collection::btree_set("(src|lib)/[a-z]{1,6}\\.(rs|py)", 0..6)
            .prop_map(|paths| paths.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_plan_that_says_what_a_pull_request_does_repeats_it(
            words in any_words(), paths in any_paths()
        ) {
            let title = words.join(" ");
            let work = Fingerprint {
                title: title_words(&title),
                paths: paths.clone(),
                ..Fingerprint::default()
            };
            let files: Vec<String> = paths.iter().map(|path| format!("Change `{path}`.")).collect();
            let texts = || std::iter::once(title.as_str()).chain(files.iter().map(String::as_str));
            let planned = PlannedWork::from_steps(texts(), |_| false);
            let expected = work.title.len() >= WORDS_NEEDED && !paths.is_empty();
            prop_assert_eq!(planned.repeats(&work), expected);
            // Words alone, in whatever order and case, change nothing more than they add.
            let loud: Vec<String> = texts().map(str::to_uppercase).collect();
            let shouted = loud.iter().map(String::as_str);
            prop_assert_eq!(
                PlannedWork::from_steps(shouted, |_| false).stems, planned.stems
            );
        }

        #[test]
        fn without_files_nothing_is_repeated(text in "\\PC{0,200}", title in "\\PC{0,60}") {
            let work = Fingerprint { title: title_words(&title), ..Fingerprint::default() };
            prop_assert!(!plan(&text).repeats(&work));
        }

        #[test]
        fn more_prose_without_files_never_makes_a_repeat_another_work(prose in "[a-z ]{0,200}") {
            let text = "Escape quotes in HTML attributes of `src/render.rs` and `tests/render.rs`.";
            let whole = format!("{prose}\n{text}\n{prose}");
            prop_assert!(plan(&whole).repeats(&twin()));
        }
    }
}
