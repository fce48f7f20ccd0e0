//! Objects of git, by REST.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Ref {
    pub(in super::super) object: Named,
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
