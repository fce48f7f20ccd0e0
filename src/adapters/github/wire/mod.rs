//! GitHub's answers, with only the fields that phileas uses. The models that judge this client share none of it.

pub(crate) mod common;
pub(crate) mod file;
pub(crate) mod git;
pub(crate) mod issue;
pub(crate) mod merge;
pub(crate) mod observation;
pub(crate) mod pull;
pub(crate) mod pull_activity;
pub(crate) mod pull_history;
pub(crate) mod refusal_texts;
pub(crate) mod review;
pub(crate) mod subject;

use serde::{Deserialize, Deserializer};

/// A field that may be null but must be present: a missing key is an error, not an absence.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// The answer to a query of one repository.
#[derive(Debug, Clone, Deserialize)]
#[serde(bound = "R: Deserialize<'de>")]
pub(crate) struct OfRepository<R> {
    /// Null if there is no such repository, or this credential may not see it.
    #[serde(deserialize_with = "present")]
    pub(crate) repository: Option<R>,
}

/// The answer about one pull request of a repository.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound = "P: Deserialize<'de>")]
pub(crate) struct OfPull<P> {
    /// Null if there is no pull request of this number.
    #[serde(deserialize_with = "present")]
    pub(crate) pull_request: Option<P>,
}

/// The items of a connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
pub(crate) struct Connection<T> {
    /// GitHub's schema allows null items.
    pub(crate) nodes: Vec<Option<T>>,
    #[serde(default)]
    pub(crate) page_info: Option<PageInfo>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    pub(crate) has_next_page: bool,
    pub(crate) end_cursor: Option<String>,
}

impl<T> Connection<T> {
    /// The cursor of the next page, if there is one.
    pub(crate) fn next(&self) -> Option<String> {
        self.page_info
            .as_ref()
            .filter(|page| page.has_next_page)?
            .end_cursor
            .clone()
    }
}

impl<T> IntoIterator for Connection<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Option<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Holder {
        #[serde(deserialize_with = "present")]
        ledger: Option<u8>,
    }

    #[test]
    fn a_missing_key_is_not_an_absence() {
        let holder: Holder = serde_json::from_str(r#"{"ledger":null}"#).unwrap();
        assert_eq!(holder.ledger, None);
        assert!(serde_json::from_str::<Holder>("{}").is_err());
    }
}
