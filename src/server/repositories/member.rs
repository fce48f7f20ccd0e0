//! A repository that the service manages.

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::adapters::github::Account;
use crate::server::accounts::keys::{KeyClient, NoKey};

/// One repository that the service manages.
#[derive(Debug, Clone)]
pub struct Member {
    /// GitHub's number of it.
    pub id: RepositoryId,
    /// Its name as GitHub last showed it.
    pub name: RepositoryName,
    /// The account whose token and limits its requests use.
    pub account: Account,
    /// The installation's number; 0 for a plain token.
    pub installation: u64,
    /// Its Jules key's client, or why it has none.
    pub jules: Result<KeyClient, NoKey>,
}
