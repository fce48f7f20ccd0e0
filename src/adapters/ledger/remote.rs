//! The operations that the ledger needs from the host of the branch.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::time::Duration;

use phileas_domain::model::Oid;

use crate::runtime::ports::{Commit, Failure};

/// A commit on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFacts {
    /// Subject and body.
    pub message: String,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
}

/// The result of one attempt to move or create the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    /// It succeeded; the branch's new head.
    Done(Oid),
    /// The branch's head is not the expected one.
    Stale,
    /// It is unknown whether it took effect.
    Unknown(Failure),
    /// It had no effect.
    Failed(Failure),
}

/// A branch, and the objects below it.
pub trait Remote: Sync {
    /// Adds one commit on top of `base`, if `base` is the head; sent once.
    fn swap_head(&self, base: &Oid, commit: &Commit) -> impl Future<Output = Swap> + Send;

    /// Reads the head; `None`: there is no branch. May lag.
    fn read_head(&self) -> impl Future<Output = Result<Option<Oid>, Failure>> + Send;

    /// Reads a commit; `None`: it does not exist (yet).
    fn read_commit(
        &self,
        oid: &Oid,
    ) -> impl Future<Output = Result<Option<CommitFacts>, Failure>> + Send;

    /// Reads texts of files at a commit, as far as they are available whole.
    fn read_texts(
        &self,
        at: &Oid,
        paths: &BTreeSet<String>,
    ) -> impl Future<Output = Result<BTreeMap<String, String>, Failure>> + Send;

    /// Writes a commit without parents and without a branch.
    fn write_orphan(&self, commit: &Commit) -> impl Future<Output = Result<Oid, Failure>> + Send;

    /// Creates the branch at a commit, if there is none; sent once.
    fn create_branch(&self, at: &Oid) -> impl Future<Output = Swap> + Send;

    /// Waits.
    fn pause(&self, length: Duration) -> impl Future<Output = ()> + Send;
}
