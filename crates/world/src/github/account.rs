//! Accounts, roles, tokens and Apps: who may do what.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::RepoId;

/// What an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountKind {
    /// A person.
    User,
    /// The account of an App; its login ends in `[bot]`.
    Bot,
    /// An organisation.
    Organization,
}

impl AccountKind {
    /// The value of REST's `type` and GraphQL's `__typename`.
    #[must_use]
    pub fn kind_name(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
            Self::Organization => "Organization",
        }
    }
}

/// An account.
#[derive(Debug, Clone)]
pub struct Account {
    /// The number that stays when the login changes.
    pub id: u64,
    /// The login.
    pub login: String,
    /// What it is.
    pub kind: AccountKind,
}

impl Account {
    /// The address under which the account's commits are made.
    #[must_use]
    pub fn email(&self) -> String {
        format!("{}+{}@users.noreply.github.com", self.id, self.login)
    }

    /// The login as GraphQL writes it, where bots go without their suffix.
    #[must_use]
    pub fn bare_login(&self) -> &str {
        self.login.strip_suffix("[bot]").unwrap_or(&self.login)
    }
}

/// What a person may do in a repository, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// No role: only what any user may do.
    None,
    /// Read.
    Read,
    /// Label and close issues.
    Triage,
    /// Push.
    Write,
    /// Manage without the dangerous parts.
    Maintain,
    /// Everything.
    Admin,
}

impl Role {
    /// The value of `role_name`.
    #[must_use]
    pub fn role_name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// The value of the older field `permission`, which has four values.
    #[must_use]
    pub fn legacy_name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

/// How strong a permission of a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// Permissions by their names, for example `contents` and `issues`.
pub type Permissions = BTreeMap<String, Access>;

/// Permissions from pairs of words.
#[must_use]
pub fn permissions(pairs: &[(&str, Access)]) -> Permissions {
    pairs
        .iter()
        .map(|(name, access)| ((*name).to_owned(), *access))
        .collect()
}

/// What kind of token was shown.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// A classic personal access token: its scopes limit what its owner may do.
    Person {
        /// Its scopes; every one when absent.
        scopes: Option<Vec<String>>,
    },
    /// A fine-grained personal access token: its permissions limit what its owner may do.
    FineGrained {
        /// What it may do in repositories that its owner owns or collaborates on.
        permissions: Permissions,
    },
    /// The `GITHUB_TOKEN` of a workflow run in one repository.
    Actions {
        /// The repository of the run.
        repository: RepoId,
        /// What the job asked for.
        permissions: Permissions,
    },
    /// A token of an installation of an App.
    Installation {
        /// The App.
        app: u64,
        /// The installation.
        installation: u64,
        /// The repositories that it reaches; all of the installation when absent.
        repositories: Option<BTreeSet<RepoId>>,
        /// What it may do.
        permissions: Permissions,
    },
    /// An App itself, by a JWT.
    App {
        /// The App.
        app: u64,
    },
}

impl TokenKind {
    /// Whether it acts as a person.
    #[must_use]
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. } | Self::FineGrained { .. })
    }
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The account that acts.
    pub account: u64,
    /// The kind of the token.
    pub kind: TokenKind,
    /// When the token ends; never when absent.
    pub expires_at: Option<Timestamp>,
    /// The name for rate limits and for the books; not a secret.
    pub name: String,
}

/// A GitHub App.
#[derive(Debug, Clone)]
pub struct App {
    /// The App's id, the `iss` of its JWT.
    pub id: u64,
    /// The short name; the bot's login is `<slug>[bot]`.
    pub slug: String,
    /// The client id, which `iss` may hold as well.
    pub client_id: String,
    /// The bot's account.
    pub account: u64,
    /// The owner's account.
    pub owner: u64,
    /// What it asks for.
    pub permissions: Permissions,
    /// The events that it wants.
    pub events: Vec<String>,
    /// Where its deliveries go.
    pub hook: Option<super::hook::Target>,
    /// The key that its JWTs must be signed with, as PKCS#1 DER; signatures are not checked without one.
    pub public_key: Option<Vec<u8>>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An installation of an App on an account's repositories.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The installation's id.
    pub id: u64,
    /// The App.
    pub app: u64,
    /// The account whose repositories it reaches.
    pub account: u64,
    /// The chosen repositories; all of the account when absent.
    pub repositories: Option<BTreeSet<RepoId>>,
    /// When it was suspended, if it is.
    pub suspended_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}
