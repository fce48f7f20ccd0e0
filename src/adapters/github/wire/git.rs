//! Objects of git, by REST.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Ref {
    pub(in super::super) object: Named,
}

/// A reference of a listing.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct ListedRef {
    #[serde(rename = "ref")]
    pub(in super::super) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Named {
    pub(in super::super) sha: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct GitCommit {
    pub(in super::super) message: String,
    pub(in super::super) parents: Vec<Named>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Blob {
    pub(in super::super) content: String,
    pub(in super::super) encoding: String,
}

/// A commit of a listing.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct ListedCommit {
    pub(in super::super) sha: String,
    pub(in super::super) commit: CommitFacts,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct CommitFacts {
    pub(in super::super) committer: Option<Signature>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Signature {
    pub(in super::super) date: Option<jiff::Timestamp>,
}

/// A file, or something else that stands at its path. Of a large file the content is left out.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Contents {
    #[serde(rename = "type")]
    pub(in super::super) kind: String,
    pub(in super::super) sha: String,
    #[serde(default)]
    pub(in super::super) size: u64,
}
