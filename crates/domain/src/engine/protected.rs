//! Paths that no pull request may touch to be merged by phileas.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::neutral::neutral;

/// What no pull request may touch, whatever the plan adds: what steers workflows, reviews, agents, dependencies and
/// phileas itself.
const PROTECTED: [&str; 34] = [
    ".github/**",
    ".jlo/**",
    ".jules/**",
    ".circleci/**",
    ".gitlab-ci.yml",
    "**/Jenkinsfile",
    "**/.claude/**",
    "**/.cursor/**",
    "**/.devcontainer/**",
    "**/.husky/**",
    "**/.npmrc",
    "**/.cargo/**",
    "**/.gitattributes",
    "**/.gitmodules",
    "**/AGENTS.md",
    "**/CLAUDE.md",
    "**/GEMINI.md",
    "**/CODEOWNERS",
    "**/Cargo.lock",
    "**/package-lock.json",
    "**/npm-shrinkwrap.json",
    "**/pnpm-lock.yaml",
    "**/yarn.lock",
    "**/poetry.lock",
    "**/uv.lock",
    "**/Pipfile.lock",
    "**/Gemfile.lock",
    "**/composer.lock",
    "**/go.sum",
    "**/flake.lock",
    "**/bun.lock*",
    "**/Podfile.lock",
    "**/gradle.lockfile",
    "**/packages.lock.json",
];
/// What personas write into their own pull requests, by design. The plan may protect it all the same.
const WRITTEN_BY_PERSONAS: [&str; 3] = [
    ".jules/personas/*/journals/**",
    ".jules/tasks/**",
    ".jules/sprints/**",
];

/// Why files may not be merged by phileas. `None` of them: there are more than were read.
pub(super) fn protects(own: &[String], files: Option<&[String]>) -> Option<String> {
    let Some(files) = files else {
        return Some("it touches more files than are looked at".to_owned());
    };
    let (Some(own), Some(built_in), Some(by_personas)) = (
        set(own.iter().map(String::as_str)),
        set(PROTECTED),
        set(WRITTEN_BY_PERSONAS),
    ) else {
        return Some("a pattern of `protected_paths` cannot be read".to_owned());
    };
    let is_protected = |path: &&String| {
        own.is_match(path) || (built_in.is_match(path) && !by_personas.is_match(path))
    };
    let path = files.iter().find(is_protected)?;
    Some(format!(
        "it touches {}, which only people merge",
        neutral(path)
    ))
}

/// Whether case counts depends on who checks the branch out, so it does not here.
fn set<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let mut glob = GlobBuilder::new(pattern);
        set.add(
            glob.literal_separator(true)
                .case_insensitive(true)
                .build()
                .ok()?,
        );
    }
    set.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_protected(own: &[&str], path: &str) -> bool {
        let own: Vec<String> = own.iter().map(|one| (*one).to_owned()).collect();
        protects(&own, Some(&[path.to_owned()])).is_some()
    }

    #[test]
    fn r18_what_steers_others_is_protected_and_its_neighbours_are_not() {
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

    #[test]
    fn r18_the_plan_adds_to_it() {
        assert!(is_protected(&["docs/*.md"], "docs/a.md"));
        assert!(!is_protected(&["docs/*.md"], "docs/deep/a.md"));
        assert!(is_protected(&[".jules/tasks/**"], ".jules/tasks/open/1.md"));
        assert!(
            is_protected(&["["], "src/main.rs"),
            "one that cannot be read"
        );
        assert!(protects(&[], None).is_some(), "more than were read");
    }
}
