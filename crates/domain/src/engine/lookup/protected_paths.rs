//! Paths whose changes only people merge.

use std::sync::LazyLock;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::engine::text::markdown::quote_as_code;
use crate::plan::Plan;

/// The built-in protected paths; the file explains its format.
const PROTECTED: &str = include_str!("protected_paths.txt");

/// Paths that personas write by design. The plan may protect them all the same.
const WRITTEN_BY_PERSONAS: [&str; 3] = [
    ".jules/personas/*/journals/**",
    ".jules/tasks/**",
    ".jules/sprints/**",
];

/// Characters that HFS+ ignores in names: zero-width and bidirectional ones.
/// <https://github.com/git/git/blob/master/utf8.c> (`next_hfs_char`)
const IGNORED_IN_NAMES: [std::ops::RangeInclusive<char>; 4] = [
    '\u{200c}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{206a}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
];

static BUILT_IN: LazyLock<Option<GlobSet>> = LazyLock::new(|| {
    let names = PROTECTED.lines().map(str::trim);
    let names = names.filter(|line| !line.is_empty() && !line.starts_with('#'));
    build_globs(names.flat_map(|name| [format!("**/{name}"), format!("**/{name}/**")]))
});

static BY_PERSONAS: LazyLock<Option<GlobSet>> =
    LazyLock::new(|| build_globs(WRITTEN_BY_PERSONAS.map(str::to_owned)));

/// The patterns of protected paths: the built-in ones and those of the plan.
#[derive(Debug)]
pub struct ProtectedPaths {
    own: GlobSet,
    built_in: &'static GlobSet,
    by_personas: &'static GlobSet,
}

impl ProtectedPaths {
    /// The built-in patterns and these. `None`: a pattern cannot be read.
    #[must_use]
    pub fn with_patterns(own: &[String]) -> Option<Self> {
        Some(Self {
            own: build_globs(own.iter().cloned())?,
            built_in: BUILT_IN.as_ref()?,
            by_personas: BY_PERSONAS.as_ref()?,
        })
    }

    /// Whether only people merge a change of this path.
    #[must_use]
    pub fn is_protected(&self, path: &str) -> bool {
        let name = normalize_path(path);
        // Files of personas are allowed, but no `AGENTS.md` or `.claude` among them.
        let checked = match name.split_once('/') {
            Some((_, inner)) if self.by_personas.is_match(&name) => inner,
            _ => &name,
        };
        self.own.is_match(path)
            || self.own.is_match(&name)
            || self.built_in.is_match(checked)
            || checked.split('/').any(is_short_name)
    }
}

/// What tells whether a path is protected by a plan, so that it says nothing about the work.
pub(crate) fn is_protected_by(plan: &Plan) -> impl Fn(&str) -> bool + use<> {
    let protected = ProtectedPaths::with_patterns(&plan.gate.protected_paths);
    move |path: &str| protected.as_ref().is_some_and(|one| one.is_protected(path))
}

/// Why phileas may not merge these files. `None`: there are more than were read.
pub(crate) fn protection_text(own: &[String], files: Option<&[String]>) -> Option<String> {
    let Some(files) = files else {
        return Some(
            "it changes more files than phileas reads; a person has to merge it".to_owned(),
        );
    };
    let Some(patterns) = ProtectedPaths::with_patterns(own) else {
        return Some("a pattern of `protected_paths` cannot be read".to_owned());
    };
    let path = files.iter().find(|path| patterns.is_protected(path))?;
    Some(format!(
        "it changes {}, which only people merge",
        quote_as_code(path)
    ))
}

/// Normalizes a path as the least strict file system opens it: macOS and Windows ignore case and invisible characters,
/// and Windows drops dots and blanks at a name's end and everything after a colon.
fn normalize_path(path: &str) -> String {
    let folded = path.to_uppercase().to_lowercase().replace('\\', "/");
    let is_ignored =
        |c: &char| IGNORED_IN_NAMES.iter().any(|range| range.contains(c)) || c.is_control();
    let names = folded.split('/').map(|name| {
        let seen: String = name.chars().filter(|c| !is_ignored(c)).collect();
        let stem = seen.split(':').next().unwrap_or_default();
        stem.trim_end_matches(['.', ' ']).to_owned()
    });
    names.collect::<Vec<_>>().join("/")
}

/// Whether a name is of the form by which Windows opens a file with another, longer name: `GITHUB~1` is `.github`.
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file#short-vs-long-names>
fn is_short_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let Some((before, after)) = stem.rsplit_once('~') else {
        return false;
    };
    let is_number = !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !before.is_empty() && stem.len() <= 8
}

/// Patterns ignore case, because some file systems do.
pub(crate) fn build_globs(patterns: impl IntoIterator<Item = String>) -> Option<GlobSet> {
    let glob = |pattern: String| -> Option<Glob> {
        let mut glob = GlobBuilder::new(&pattern);
        glob.literal_separator(true).case_insensitive(true);
        glob.build().ok()
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(glob(pattern)?);
    }
    set.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_protected(own: &[&str], path: &str) -> bool {
        let own: Vec<String> = own.iter().map(|one| (*one).to_owned()).collect();
        protection_text(&own, Some(&[path.to_owned()])).is_some()
    }

    #[test]
    fn r18_files_that_control_tools_are_protected_and_their_neighbours_are_not() {
        for (path, protected) in [
            (".github/workflows/ci.yml", true),
            (".GitHub/workflows/ci.yml", true),
            ("AGENTS.md", true),
            ("docs/agents.md", true),
            ("docs/my-agents.md", false),
            ("docs/CODEOWNERS", true),
            ("Cargo.lock", true),
            ("a/b/Cargo.lock", true),
            ("Cargo.toml", false),
            (".gitmodules", true),
            (".jules/schedules.toml", true),
            (".jules/personas/curator/prompt.md", true),
            (".jules/personas/curator/journals/1.md", false),
            (".jules/tasks/open/1.md", false),
            ("src/.github.rs", false),
            ("src/main.rs", false),
        ] {
            assert_eq!(is_protected(&[], path), protected, "{path}");
        }
    }

    /// Each line of the list is read, and protects where file systems find it.
    #[test]
    fn every_line_of_the_list_protects_in_every_folder_case_and_kind() {
        let names = PROTECTED
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let names: Vec<&str> = names.collect();
        assert!(names.len() > 250, "{}", names.len());
        for name in &names {
            assert_eq!(
                *name,
                name.to_lowercase().trim(),
                "a name as it is compared"
            );
            let path = name.replace('*', "x");
            for written in [
                path.clone(),
                path.to_uppercase(),
                format!("a/b/{path}"),
                format!("{path}/below/it"),
                format!("a/{path}/below"),
            ] {
                assert!(is_protected(&[], &written), "{written}");
            }
        }
        let groups = PROTECTED.split("\n\n").skip(1);
        for group in groups {
            let names = group.lines().filter(|line| !line.starts_with('#'));
            assert!(names.is_sorted(), "{group}");
        }
    }

    #[test]
    fn protected_files_are_protected_under_every_name_that_opens_them() {
        for path in [
            ".gemini/settings.json",
            ".mcp.json",
            "app/.mcp.json",
            "CLAUDE.local.md",
            ".vscode/tasks.json",
            "app/.vscode/settings.json",
            ".travis.yml",
            "azure-pipelines.yml",
            ".buildkite/pipeline.yml",
            ".pre-commit-config.yaml",
            ".envrc",
            ".pipeline/config.toml",
            ".phileas/tick.toml",
            "app/.github/workflows/ci.yml",
            // The folder itself, as a link or a submodule.
            ".github",
            ".claude",
            "Jenkinsfile.release",
            "gradle/wrapper/gradle-wrapper.properties",
            // Names that other file systems open as the same one.
            ".g\u{200c}ithub/workflows/ci.yml",
            ".github./workflows/ci.yml",
            ".github /workflows/ci.yml",
            ".github::$INDEX_ALLOCATION/workflows/ci.yml",
            ".github\\workflows\\ci.yml",
            ".v\u{17f}code/tasks.json",
            "GITHUB~1/workflows/ci.yml",
            ".mcp.json:stream",
            // Beside what personas write.
            ".jules/tasks/AGENTS.md",
            ".jules/sprints/1/.claude/settings.json",
            ".jules/personas/a/journals/.gitattributes",
        ] {
            assert!(is_protected(&[], path), "{path:?}");
        }
        for path in [
            "src/gradle/parse.rs",
            "docs/environment.md",
            "src/env.rs",
            "src/vscode.rs",
            "a~b/c.rs",
            "docs/claude-and-others/index.html",
            "tests/data~2026/x.txt",
            ".jules/personas/a/journals/2026-01-05.md",
        ] {
            assert!(!is_protected(&[], path), "{path:?}");
        }
    }

    #[test]
    fn r18_the_plan_adds_protected_paths() {
        assert!(is_protected(&["src/Secret/**"], "SRC/secret./x"));
        assert!(is_protected(&["docs/*.md"], "docs/a.md"));
        assert!(!is_protected(&["docs/*.md"], "docs/deep/a.md"));
        assert!(is_protected(&[".jules/tasks/**"], ".jules/tasks/open/1.md"));
        assert!(
            is_protected(&["["], "src/main.rs"),
            "one that cannot be read"
        );
        assert!(protection_text(&[], None).is_some(), "more than were read");
    }
}
