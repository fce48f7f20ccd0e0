//! Rulesets and the older protection of branches: what they refuse.
//!
//! The kinds and their parameters are those of <https://docs.github.com/en/rest/repos/rules>; the texts those that git
//! and the API show.

use regex::Regex;
use serde_json::Value;

use super::ActError;
use crate::github::object::{Mode, Oid};
use crate::github::repository::Repository;
use crate::github::{Model, RepoId, Role};

/// The most new commits of one push that rules check.
const MAX_COMMITS: usize = 1_000;

impl Repository {
    /// The rules that hold for a branch, which need not exist.
    pub(crate) fn rules_for(&self, branch: &str) -> Vec<&Value> {
        let hold = self
            .rules
            .iter()
            .filter(|(pattern, _)| matches_ref_pattern(pattern, branch));
        hold.flat_map(|(_, rules)| rules).collect()
    }
}

/// Whether a name fits a pattern of a ruleset: `~ALL`, or `*` inside a segment and `**` across segments.
fn matches_ref_pattern(pattern: &str, name: &str) -> bool {
    if pattern == "~ALL" || pattern == name {
        return true;
    }
    let pattern = pattern.strip_prefix("refs/heads/").unwrap_or(pattern);
    let expression = regex::escape(pattern)
        .replace(r"\*\*/", "(?:.*/)?")
        .replace(r"\*\*", ".*")
        .replace(r"\*", "[^/]*")
        .replace(r"\?", "[^/]");
    Regex::new(&format!("^(?:{expression})$")).is_ok_and(|regex| regex.is_match(name))
}

impl Model {
    /// Refuses a change of a branch that rules or a protection forbid; `None` is a branch that does not exist.
    pub(crate) fn enforce_rules(
        &self,
        repo: RepoId,
        name: &str,
        (old, new): (Option<Oid>, Option<Oid>),
        actor: u64,
    ) -> Result<(), ActError> {
        let (Some(branch), Some(repository)) =
            (name.strip_prefix("refs/heads/"), self.repository(repo))
        else {
            return Ok(());
        };
        if old == new {
            return Ok(());
        }
        for rule in repository.rules_for(branch) {
            if let Some(why) = self.rule_violation(repo, branch, (old, new), rule) {
                return Err(ActError::RuleViolation(why));
            }
        }
        let protection = repository.protections.get(branch);
        let exempt = self.role(repo, actor) >= Role::Admin
            && protection.is_none_or(|set| set["enforce_admins"]["enabled"] != true);
        match protection {
            Some(set) if !exempt && old.is_some() => check_protection(set),
            _ => Ok(()),
        }
    }

    /// Why one rule refuses a change.
    fn rule_violation(
        &self,
        repo: RepoId,
        branch: &str,
        (old, new): (Option<Oid>, Option<Oid>),
        rule: &Value,
    ) -> Option<String> {
        let kind = rule["type"].as_str().unwrap_or_default();
        let parameters = &rule["parameters"];
        let moved = old.zip(new);
        let objects = self.objects(repo)?;
        let fresh = || new.map_or_else(Vec::new, |new| self.fresh_commits(repo, old, new));
        let says = |is: bool, text: &str| is.then(|| text.to_owned());
        let unless_made = |key: &str| old.is_some() || parameters[key] != true;
        match kind {
            "creation" => says(
                old.is_none(),
                "Cannot create ref due to creations being restricted.",
            ),
            "update" => says(moved.is_some(), "Cannot update this protected ref."),
            "deletion" => says(new.is_none(), "Cannot delete this protected ref."),
            "non_fast_forward" => says(
                moved.is_some_and(|(old, new)| !objects.is_ancestor(old, new)),
                "Cannot force-push to this branch",
            ),
            "pull_request" => says(
                moved.is_some(),
                "Changes must be made through a pull request.",
            ),
            "merge_queue" => says(
                moved.is_some(),
                "Changes must be made through the merge queue",
            ),
            "required_linear_history" => says(
                fresh().iter().any(|oid| {
                    objects
                        .commit(*oid)
                        .is_some_and(|one| one.parents.len() > 1)
                }),
                "This branch must not contain merge commits.",
            ),
            "required_signatures" => says(
                fresh().iter().any(|oid| !self.verified.contains(oid)),
                "Commits must have verified signatures.",
            ),
            "required_status_checks"
                if new.is_some() && unless_made("do_not_enforce_on_create") =>
            {
                Some("Required status check is expected.".to_owned())
            }
            "required_deployments" if new.is_some() => {
                Some("Missing successful active deployment.".to_owned())
            }
            "workflows" if new.is_some() && unless_made("do_not_enforce_on_create") => {
                Some("Required workflow has not run.".to_owned())
            }
            "code_scanning" | "code_quality" if moved.is_some() => {
                Some(format!("Waiting for {} results.", kind.replace('_', " ")))
            }
            "branch_name_pattern" if new.is_some() => {
                refuses_text(parameters, branch).then(|| pattern_text("Branch name", parameters))
            }
            "commit_message_pattern"
            | "commit_author_email_pattern"
            | "committer_email_pattern" => fresh().into_iter().find_map(|oid| {
                let commit = objects.commit(oid)?;
                let (what, text) = match kind {
                    "commit_message_pattern" => ("Commit message", &commit.message),
                    "commit_author_email_pattern" => ("Author email", &commit.author.email),
                    _ => ("Committer email", &commit.committer.email),
                };
                refuses_text(parameters, text).then(|| pattern_text(what, parameters))
            }),
            _ => self.path_violation(repo, (old, new), kind, parameters),
        }
    }

    /// Why the rules of push rulesets refuse the files of a change.
    fn path_violation(
        &self,
        repo: RepoId,
        (old, new): (Option<Oid>, Option<Oid>),
        kind: &str,
        parameters: &Value,
    ) -> Option<String> {
        let objects = self.objects(repo)?;
        let texts = |key: &str| -> Vec<String> {
            let all = parameters[key].as_array().into_iter().flatten();
            all.filter_map(|one| one.as_str().map(str::to_owned))
                .collect()
        };
        let restricted = texts("restricted_file_paths");
        let extensions = texts("restricted_file_extensions");
        let longest = parameters["max_file_path_length"].as_u64();
        let largest = parameters["max_file_size"].as_u64();
        let differences = objects.diff_trees(old, Some(new?));
        let refused = differences.into_iter().find(|one| {
            let path = one.path.as_str();
            let size = one.new.map_or(0, |(mode, oid)| match mode {
                Mode::File => objects.blob(oid).map_or(0, |blob| blob.len() as u64),
                _ => 0,
            });
            match kind {
                "file_path_restriction" => restricted
                    .iter()
                    .any(|glob| matches_ref_pattern(glob, path)),
                "file_extension_restriction" => extensions
                    .iter()
                    .any(|end| path.ends_with(end.trim_start_matches('*'))),
                "max_file_path_length" => longest.is_some_and(|most| path.len() as u64 > most),
                // Megabytes.
                "max_file_size" => largest.is_some_and(|most| size > most * 1024 * 1024),
                _ => false,
            }
        })?;
        Some(format!("File {} is restricted ({kind}).", refused.path))
    }

    /// The commits that a branch would gain and that no branch has yet.
    fn fresh_commits(&self, repo: RepoId, old: Option<Oid>, new: Oid) -> Vec<Oid> {
        let (Some(repository), Some(objects)) = (self.repository(repo), self.objects(repo)) else {
            return Vec::new();
        };
        let mut fresh = objects.missing_from(old, new);
        fresh.truncate(MAX_COMMITS);
        fresh.retain(|oid| {
            !repository
                .branches()
                .any(|(_, head)| objects.is_ancestor(*oid, head))
        });
        fresh
    }
}

fn check_protection(set: &Value) -> Result<(), ActError> {
    let refused = [
        (
            set["required_pull_request_reviews"].is_object(),
            "Changes must be made through a pull request.",
        ),
        (
            set["required_status_checks"].is_object(),
            "Required status check is expected.",
        ),
        (
            set["restrictions"].is_object(),
            "You're not authorized to push to this branch.",
        ),
        (
            set["lock_branch"]["enabled"] == true,
            "Cannot change this locked branch",
        ),
    ];
    let first = refused.into_iter().find(|(is, _)| *is);
    first.map_or(Ok(()), |(_, text)| {
        Err(ActError::Protected(text.to_owned()))
    })
}

/// Whether a pattern of a rule refuses a text.
fn refuses_text(parameters: &Value, text: &str) -> bool {
    let Some(pattern) = parameters["pattern"].as_str() else {
        return false;
    };
    let fits = match parameters["operator"].as_str() {
        Some("starts_with") => text.starts_with(pattern),
        Some("ends_with") => text.ends_with(pattern),
        Some("contains") => text.contains(pattern),
        _ => Regex::new(pattern).is_ok_and(|regex| regex.is_match(text)),
    };
    fits == (parameters["negate"] == true)
}

fn pattern_text(what: &str, parameters: &Value) -> String {
    let not = if parameters["negate"] == true {
        "must not"
    } else {
        "must"
    };
    let how = match parameters["operator"].as_str() {
        Some("starts_with") => "start with a matching pattern",
        Some("ends_with") => "end with a matching pattern",
        Some("contains") => "contain a matching pattern",
        _ => "match a given regex pattern",
    };
    let pattern = parameters["pattern"].as_str().unwrap_or_default();
    format!("{what} {not} {how}: {pattern}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_rulesets() {
        for (pattern, name, fits) in [
            ("jules", "jules", true),
            ("refs/heads/jules", "jules", true),
            ("~ALL", "a/b", true),
            ("phileas/*", "phileas/a", true),
            ("phileas/*", "phileas/a/b", false),
            ("phileas/**", "phileas/a/b", true),
            ("**/*", "a", true),
            ("main", "maine", false),
        ] {
            assert_eq!(matches_ref_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }
}
