//! Reads what protects a branch: rulesets and classic branch protection.

use http::StatusCode;
use serde::Deserialize;

use super::reached::PAGE;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// The protection of a branch, as far as the credential may read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Active rules of rulesets.
    pub rules: Vec<Rule>,
    /// Whether classic protection is on.
    pub classic: bool,
    /// Its settings; `None`: it is off, or only administrators may read them.
    pub details: Option<Classic>,
}

/// Classic branch protection. <https://docs.github.com/en/rest/branches/branch-protection>
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classic {
    /// The settings that refuse a direct commit, by GitHub's names.
    pub refuses: Vec<&'static str>,
    /// Whether history can be rewritten.
    pub force_pushes: bool,
    /// Whether the branch can be deleted.
    pub deletions: bool,
}

/// An active rule of a ruleset. <https://docs.github.com/en/rest/repos/rules>
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Rule {
    /// Its kind, such as `deletion`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its parameters, if it has any.
    #[serde(default)]
    pub parameters: Parameters,
}

/// The parameters of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// `starts_with`, `ends_with`, `contains` or `regex`.
    pub operator: String,
    /// The pattern.
    pub pattern: String,
    /// Whether the pattern must not match.
    pub negate: bool,
    /// Paths that no account may change.
    pub restricted_file_paths: Vec<String>,
}

impl Rule {
    /// Whether a rule with a pattern refuses a text. `None`: only GitHub can tell, as for a regular expression.
    #[must_use]
    pub fn refuses_text(&self, text: &str) -> Option<bool> {
        let Parameters {
            operator,
            pattern,
            negate,
            ..
        } = &self.parameters;
        let fits = match operator.as_str() {
            "starts_with" => text.starts_with(pattern.as_str()),
            "ends_with" => text.ends_with(pattern.as_str()),
            "contains" => text.contains(pattern.as_str()),
            _ => return None,
        };
        Some(fits == *negate)
    }

    /// The kind, with the pattern if it has one.
    #[must_use]
    pub fn describe_rule(&self) -> String {
        let Parameters {
            operator,
            pattern,
            negate,
            restricted_file_paths,
        } = &self.parameters;
        let kind = error::sanitize(&self.kind);
        if !pattern.is_empty() {
            let not = if *negate { "not " } else { "" };
            let operator = error::sanitize(&operator.replace('_', " "));
            return format!("{kind} ({not}{operator} `{}`)", error::sanitize(pattern));
        }
        if !restricted_file_paths.is_empty() {
            let paths = error::sanitize(&restricted_file_paths.join(", "));
            return format!("{kind} ({paths})");
        }
        kind
    }
}

#[derive(Deserialize)]
struct Branch {
    #[serde(default)]
    protected: bool,
}

#[derive(Deserialize, Default)]
struct Switch {
    #[serde(default)]
    enabled: bool,
}

#[derive(Deserialize)]
struct Details {
    required_status_checks: Option<serde_json::Value>,
    required_pull_request_reviews: Option<serde_json::Value>,
    restrictions: Option<serde_json::Value>,
    lock_branch: Option<Switch>,
    allow_force_pushes: Option<Switch>,
    allow_deletions: Option<Switch>,
}

impl Details {
    fn into_classic(self) -> Classic {
        let on = |switch: Option<Switch>| switch.is_some_and(|switch| switch.enabled);
        let refuses = [
            (
                self.required_pull_request_reviews.is_some(),
                "Require a pull request before merging",
            ),
            (
                self.required_status_checks.is_some(),
                "Require status checks to pass",
            ),
            (
                self.restrictions.is_some(),
                "Restrict who can push to matching branches",
            ),
            (on(self.lock_branch), "Lock branch"),
        ];
        Classic {
            refuses: refuses
                .into_iter()
                .filter_map(|(is, words)| is.then_some(words))
                .collect(),
            force_pushes: on(self.allow_force_pushes),
            deletions: on(self.allow_deletions),
        }
    }
}

impl Client {
    /// Reads the protection of a branch. Rulesets apply even to branches that do not exist yet.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or the credential may not read the repository.
    pub async fn read_protection(&self, branch: &str) -> Result<Protection, Failure> {
        let rules = self.list_rules(branch).await?;
        let route = routes::READ_BRANCH;
        let answer = self.read_route(route, &[branch], "").await?;
        let classic = match answer.status {
            StatusCode::NOT_FOUND => false,
            _ => {
                let shown: Branch = self.parse(route, &require_success(route, answer)?)?;
                shown.protected
            }
        };
        let details = if classic {
            self.read_classic(branch).await?
        } else {
            None
        };
        Ok(Protection {
            rules,
            classic,
            details,
        })
    }

    /// Reads the ruleset rules that apply to a branch, even if it does not exist yet.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or the credential may not read the repository.
    pub async fn list_rules(&self, branch: &str) -> Result<Vec<Rule>, Failure> {
        let route = routes::LIST_BRANCH_RULES;
        let query = format!("?per_page={PAGE}");
        let answer = self.read_route(route, &[branch], &query).await?;
        match answer.status {
            // GitHub plans without rulesets answer 404.
            StatusCode::NOT_FOUND => Ok(Vec::new()),
            _ => self.parse(route, &require_success(route, answer)?),
        }
    }

    async fn read_classic(&self, branch: &str) -> Result<Option<Classic>, Failure> {
        let route = routes::READ_PROTECTION;
        match self.read_route(route, &[branch], "").await {
            Ok(answer) if answer.status == StatusCode::NOT_FOUND => Ok(None),
            Ok(answer) => {
                let details: Details = self.parse(route, &require_success(route, answer)?)?;
                Ok(Some(details.into_classic()))
            }
            Err(failure) if failure.disposition == Disposition::Denied => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use crate::adapters::github::scripted::{json, set};

    #[tokio::test]
    async fn both_kinds_are_read_as_far_as_one_may() {
        let set = set([
            json(
                200,
                &value!([{ "type": "deletion" }, { "type": "pull_request" }]),
            ),
            json(200, &value!({ "name": "jules", "protected": true })),
            json(
                200,
                &value!({
                    "required_pull_request_reviews": {}, "lock_branch": { "enabled": true },
                    "allow_force_pushes": { "enabled": true }, "allow_deletions": { "enabled": false },
                }),
            ),
        ]);
        let found = set.client.read_protection("jules").await.unwrap();
        let kinds: Vec<&str> = found.rules.iter().map(|rule| rule.kind.as_str()).collect();
        assert_eq!(kinds, ["deletion", "pull_request"]);
        let details = found.details.unwrap();
        assert_eq!(
            details.refuses,
            ["Require a pull request before merging", "Lock branch"]
        );
        assert!(details.force_pushes && !details.deletions);
    }

    #[tokio::test]
    async fn what_only_administrators_see_is_left_open() {
        let set = set([
            json(200, &value!([])),
            json(200, &value!({ "protected": true })),
            json(
                403,
                &value!({ "message": "Resource not accessible by integration" }),
            ),
        ]);
        let found = set.client.read_protection("jules").await.unwrap();
        assert!(found.classic && found.details.is_none());
    }
}
