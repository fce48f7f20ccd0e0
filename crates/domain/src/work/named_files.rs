//! Which files a text names.

use std::collections::BTreeSet;

/// What stands around the names of files in prose and Markdown.
const AROUND_NAMES: &str = "`\"'()[]{}<>,;:#*|";

/// What may be the name of a file, in the order of the text.
pub(super) fn possible_names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || AROUND_NAMES.contains(c));
    parts.map(path_in_repository)
}

/// A name without what is no part of the path: the folder of Jules' checkout, and the full stop of the sentence.
fn path_in_repository(name: &str) -> &str {
    let name = name.trim_end_matches(['.', '!', '?']);
    let roots = ["./", "/app/"];
    let inside = roots.iter().find_map(|root| name.strip_prefix(root));
    inside.unwrap_or(name)
}

/// The files that a text names by their whole path.
#[derive(Debug, Clone)]
pub struct NamedFiles<'t> {
    names: BTreeSet<&'t str>,
    /// What stands between back-ticks.
    code: BTreeSet<&'t str>,
}

impl<'t> NamedFiles<'t> {
    /// Reads the text of an issue, or another one in Markdown.
    #[must_use]
    pub fn from_text(text: &'t str) -> Self {
        Self {
            names: possible_names(text).collect(),
            // Which of them open and which close is not told apart: what stands between two pieces of code is prose.
            code: text.split('`').collect(),
        }
    }

    /// Whether the text names a file. A path without a folder or an ending, such as `Makefile`, may be another word, so
    /// it counts only between back-ticks.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let is_no_word = path.contains(['/', '.']);
        self.code.contains(path) || (is_no_word && self.names.contains(path))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str, path: &str) -> bool {
        NamedFiles::from_text(text).contains(path)
    }

    #[test]
    fn whole_paths_count_wherever_they_stand() {
        for text in [
            "src/render.rs",
            "Escape quotes in `src/render.rs`.",
            "See src/render.rs:12, please!",
            "[render](src/render.rs#L3) is slow",
            "> ./src/render.rs",
            "**src/render.rs**: 3 errors",
            "File \"src/render.rs\", line 3",
            "Is it /app/src/render.rs?",
        ] {
            assert!(names(text, "src/render.rs"), "{text}");
        }
        assert!(names("Fix README.md.", "README.md"));
        assert!(names("Fix `my notes/a b.md` now.", "my notes/a b.md"));
    }

    #[test]
    fn parts_of_other_names_do_not_count() {
        for text in [
            "render.rs is slow",
            "lib/src/render.rs",
            "src/render.rs.orig",
            "src/render",
            "https://example.com/src/render.rs",
            "SRC/RENDER.RS",
            "",
        ] {
            assert!(!names(text, "src/render.rs"), "{text}");
        }
    }

    #[test]
    fn a_word_is_a_file_only_between_back_ticks() {
        assert!(!names("The Makefile fails: build it", "Makefile"));
        assert!(!names("Do not build it", "build"));
        assert!(names("The `Makefile` fails", "Makefile"));
    }

    proptest! {
        #[test]
        fn a_path_between_spaces_is_named(
            before in "[a-z ,.`]{0,40}",
            path in "[a-z]{1,6}/[a-z]{1,6}\\.[a-z]{2}",
            after in "[a-z ,.`]{0,40}"
        ) {
            let text = format!("{before} {path} {after}");
            prop_assert!(names(&text, &path));
            let longer = format!("{before} x{path}y {after}");
            prop_assert!(!names(&longer, &path));
        }
    }
}
