//! Accounts of the service: keys, tiers, the repositories on which the GitHub App is installed.

use serde::{Deserialize, Serialize};

/// The plan of an account, which sets its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// 15 sessions in 24 hours, 3 at a time.
    #[default]
    Free,
    /// 100 sessions in 24 hours, 15 at a time.
    Pro,
    /// 300 sessions in 24 hours, 60 at a time.
    Ultra,
}

impl Tier {
    /// Sessions in a window of 24 hours.
    pub fn daily_limit(self) -> usize {
        match self {
            Tier::Free => 15,
            Tier::Pro => 100,
            Tier::Ultra => 300,
        }
    }

    /// Sessions at a time.
    pub fn concurrent_limit(self) -> usize {
        match self {
            Tier::Free => 3,
            Tier::Pro => 15,
            Tier::Ultra => 60,
        }
    }
}

/// A repository on which a person installed the Jules GitHub App.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Installed {
    /// The owner as Jules stored it; the case may differ from GitHub's.
    pub owner: String,
    /// The repository's name as Jules stored it.
    pub repo: String,
    /// Branches to list besides the real ones; users have counted 515 on one repository.
    #[serde(default)]
    pub more_branches: usize,
}

impl Installed {
    /// An installation on a repository, without invented branches.
    pub fn new(owner: &str, repo: &str) -> Installed {
        Installed {
            owner: owner.to_owned(),
            repo: repo.to_owned(),
            more_branches: 0,
        }
    }

    /// The same with the case of the first letters turned.
    pub(super) fn in_other_case(&self) -> Installed {
        Installed {
            owner: other_case(&self.owner),
            repo: other_case(&self.repo),
            ..self.clone()
        }
    }

    /// The source's resource name.
    pub fn source_name(&self) -> String {
        format!("sources/github/{}/{}", self.owner, self.repo)
    }
}

/// The same letters with the case of the first one turned.
fn other_case(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first.is_ascii_lowercase() => {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        }
        Some(first) => first.to_ascii_lowercase().to_string() + letters.as_str(),
        None => String::new(),
    }
}

/// One person's account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Account {
    /// The GitHub login of the person.
    pub login: String,
    /// The API keys; the service allows three.
    pub keys: Vec<String>,
    /// The plan.
    #[serde(default)]
    pub tier: Tier,
    /// Sessions in 24 hours, where they differ from the tier's.
    #[serde(default)]
    pub daily: Option<usize>,
    /// Sessions at a time, where they differ from the tier's.
    #[serde(default)]
    pub concurrent: Option<usize>,
    /// Where the app is installed.
    #[serde(default)]
    pub installed: Vec<Installed>,
    /// Keys that the service has disabled because they were found in public.
    #[serde(default)]
    pub disabled_keys: Vec<String>,
}

impl Account {
    /// An account of the free tier with one key and nothing installed.
    pub fn new(login: &str, key: &str) -> Account {
        Account {
            login: login.to_owned(),
            keys: vec![key.to_owned()],
            tier: Tier::Free,
            daily: None,
            concurrent: None,
            installed: Vec::new(),
            disabled_keys: Vec::new(),
        }
    }

    /// Sessions that may be created in 24 hours.
    pub fn daily_limit(&self) -> usize {
        self.daily.unwrap_or(self.tier.daily_limit())
    }

    /// Sessions that may run at a time.
    pub fn concurrent_limit(&self) -> usize {
        self.concurrent.unwrap_or(self.tier.concurrent_limit())
    }

    /// The installation of a source, by its name in any case.
    pub fn find_installation(&self, source: &str) -> Option<&Installed> {
        self.installed
            .iter()
            .find(|installed| installed.source_name().eq_ignore_ascii_case(source))
    }
}
