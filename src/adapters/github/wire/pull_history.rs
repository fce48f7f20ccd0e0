//! Pull requests as the listing of all of them shows them.

use jiff::Timestamp;
use phileas_domain::work::{ChangedFile, Fingerprint, JULES_BOT_ID, PastPull};
use serde::Deserialize;

use super::{Connection, present};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Repository {
    pub(crate) pull_requests: Connection<ListedPull>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedPull {
    number: u64,
    title: String,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    author: Option<Author>,
    is_cross_repository: bool,
    head_ref_name: String,
    created_at: Timestamp,
    #[serde(deserialize_with = "present")]
    closed_at: Option<Timestamp>,
    #[serde(deserialize_with = "present")]
    merged_at: Option<Timestamp>,
    /// Null where GitHub cannot compare head and base any more.
    #[serde(deserialize_with = "present")]
    files: Option<Connection<File>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Author {
    /// Present for bots only.
    #[serde(default)]
    database_id: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct File {
    path: String,
    additions: u64,
    deletions: u64,
}

impl ListedPull {
    /// Whether Jules' bot opened it from a branch of the repository. No other account can act as the bot.
    pub(crate) fn is_of_jules(&self) -> bool {
        let author = self.author.as_ref();
        !self.is_cross_repository
            && author.and_then(|author| author.database_id) == Some(JULES_BOT_ID)
    }

    /// Whether a person opened it from a branch that Jules has named. Jules can open pull requests as the person who
    /// started the session, but such a name proves nothing.
    pub(crate) fn looks_like_jules(&self) -> bool {
        let number = self.head_ref_name.rsplit('-').next().unwrap_or_default();
        !self.is_cross_repository
            && !self.is_of_jules()
            && number.len() >= 18
            && number.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl From<ListedPull> for PastPull {
    fn from(pull: ListedPull) -> Self {
        let files: Vec<File> = pull.files.into_iter().flatten().collect();
        let files: Vec<ChangedFile<'_>> = files
            .iter()
            .map(|file| ChangedFile {
                path: &file.path,
                added: file.additions,
                removed: file.deletions,
                patch: None,
            })
            .collect();
        Self {
            pr: pull.number,
            fingerprint: Fingerprint::from_pull(&pull.title, &files, |_| false),
            title: pull.title,
            opened_at: pull.created_at,
            closed_at: pull.closed_at,
            merged: pull.merged_at.is_some(),
            lines_known: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pull(author: &serde_json::Value, head: &str, from_fork: bool) -> ListedPull {
        serde_json::from_value(json!({
            "number": 7, "title": "⚡ Bolt: cache", "author": author, "isCrossRepository": from_fork,
            "headRefName": head, "createdAt": "2026-01-01T00:00:00Z", "closedAt": null, "mergedAt": null,
            "files": { "nodes": [{ "path": "src/a.rs", "additions": 3, "deletions": 1 }] },
        }))
        .unwrap()
    }

    #[test]
    fn only_the_bot_in_the_repository_itself_is_jules() {
        let bot = json!({ "__typename": "Bot", "databaseId": JULES_BOT_ID });
        let ada = json!({ "__typename": "User" });
        let branch = "cache-15456375593739879608";
        assert!(pull(&bot, "x", false).is_of_jules());
        assert!(!pull(&bot, "x", true).is_of_jules());
        assert!(!pull(&json!({ "__typename": "Bot", "databaseId": 5 }), "x", false).is_of_jules());
        assert!(!pull(&json!(null), "x", false).is_of_jules());
        assert!(pull(&ada, branch, false).looks_like_jules());
        assert!(!pull(&bot, branch, false).looks_like_jules());
        assert!(!pull(&ada, branch, true).looks_like_jules());
        assert!(!pull(&ada, "release-2026", false).looks_like_jules());
        let past = PastPull::from(pull(&bot, "x", false));
        assert_eq!(past.fingerprint.paths, ["src/a.rs"]);
        assert_eq!(past.fingerprint.size, (3, 1));
    }
}
