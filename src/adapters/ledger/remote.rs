//! What the protocol needs of the place where the branch lives.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::time::Duration;

use phileas_domain::model::Oid;

use crate::runtime::ports::{Commit, Failure};

/// A commit as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Subject and body.
    pub message: String,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
}

/// What became of one attempt to move or to make the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    /// It was done; the branch's new head.
    Done(Oid),
    /// The branch is not where it was said to be.
    Stale,
    /// Nobody knows.
    Doubtful(Failure),
    /// It was not done.
    Failed(Failure),
}

/// A branch, and the objects below it.
pub trait Remote: Sync {
    /// One commit on top of `base`, if `base` is the head: sent once.
    fn swap(&self, base: &Oid, commit: &Commit) -> impl Future<Output = Swap> + Send;

    /// The head; `None` when there is no branch. May lag.
    fn head(&self) -> impl Future<Output = Result<Option<Oid>, Failure>> + Send;

    /// A commit; `None` when it does not exist (yet).
    fn recorded(&self, oid: &Oid)
    -> impl Future<Output = Result<Option<Recorded>, Failure>> + Send;

    /// Texts of files at a commit, as far as they can be had whole.
    fn texts(
        &self,
        at: &Oid,
        paths: &BTreeSet<String>,
    ) -> impl Future<Output = Result<BTreeMap<String, String>, Failure>> + Send;

    /// Writes a commit without parents, which no branch holds.
    fn write_orphan(&self, commit: &Commit) -> impl Future<Output = Result<Oid, Failure>> + Send;

    /// Makes the branch at a commit, if there is none: sent once.
    fn create_branch(&self, at: &Oid) -> impl Future<Output = Swap> + Send;

    /// Waits.
    fn pause(&self, length: Duration) -> impl Future<Output = ()> + Send;
}
