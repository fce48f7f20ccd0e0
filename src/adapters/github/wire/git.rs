//! Git objects in REST answers.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ref {
    pub(crate) object: Named,
}

/// A reference of a listing.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListedRef {
    #[serde(rename = "ref")]
    pub(crate) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Named {
    pub(crate) sha: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GitCommit {
    pub(crate) message: String,
    pub(crate) parents: Vec<Named>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Blob {
    pub(crate) content: String,
    pub(crate) encoding: String,
}

/// A commit of a listing.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListedCommit {
    pub(crate) sha: String,
    pub(crate) commit: CommitFacts,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CommitFacts {
    pub(crate) committer: Option<Signature>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Signature {
    pub(crate) date: Option<jiff::Timestamp>,
}

/// A file, or another entry at its path. The content of a large file is left out.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Contents {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) sha: String,
    #[serde(default)]
    pub(crate) size: u64,
}
