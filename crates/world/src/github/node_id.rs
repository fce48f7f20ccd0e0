//! Encodes and decodes node ids, which are opaque to clients.

use data_encoding::BASE64URL_NOPAD;

use super::RepoId;
use super::object::Oid;

/// The node id of an object with a number.
#[must_use]
pub fn encode_id(prefix: &str, repo: RepoId, id: u64) -> String {
    let mut bytes = Vec::with_capacity(16);
    bytes.extend_from_slice(&repo.0.to_be_bytes());
    bytes.extend_from_slice(&id.to_be_bytes());
    format!("{prefix}_kwDO{}", BASE64URL_NOPAD.encode(&bytes))
}

/// The node id of a commit, tree or blob.
#[must_use]
pub fn encode_object(prefix: &str, repo: RepoId, oid: Oid) -> String {
    let mut bytes = repo.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(oid.as_bytes());
    format!("{prefix}_kwDO{}", BASE64URL_NOPAD.encode(&bytes))
}

/// The node id of a reference.
#[must_use]
pub fn encode_ref(repo: RepoId, name: &str) -> String {
    let mut bytes = repo.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(name.as_bytes());
    format!("REF_kwDO{}", BASE64URL_NOPAD.encode(&bytes))
}

/// The parts of a node id: its prefix, the repository, and the rest.
#[must_use]
pub fn decode_id(id: &str) -> Option<(&str, RepoId, Vec<u8>)> {
    let (prefix, rest) = id.split_once("_kwDO")?;
    let bytes = BASE64URL_NOPAD.decode(rest.as_bytes()).ok()?;
    let (repo, rest) = bytes.split_at_checked(8)?;
    Some((
        prefix,
        RepoId(u64::from_be_bytes(repo.try_into().ok()?)),
        rest.to_vec(),
    ))
}

/// The number in the rest of a node id.
#[must_use]
pub fn id_number(rest: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(rest.try_into().ok()?))
}
