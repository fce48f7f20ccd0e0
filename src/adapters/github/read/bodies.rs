//! The texts of comments, read in parts where they do not fit into the one read of a tick: anybody may write long ones,
//! and nobody may make phileas deaf by them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::BODIES;

/// How many texts one query asks for: the longest that GitHub takes, 65,536 characters, fit into one answer so many times.
const CHUNK: usize = 25;
/// How many queries one tick asks; the newest comments come first.
const MAX_READS: usize = 20;

#[derive(Deserialize)]
struct Found {
    nodes: Vec<Option<Body>>,
}

/// What is not a comment any more has neither.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    body: Option<String>,
}

impl Client {
    /// The texts of comments by their ids, as far as they can be read.
    pub(crate) async fn bodies(
        &self,
        mut comments: Vec<(Timestamp, String)>,
    ) -> BTreeMap<String, String> {
        comments.sort_unstable();
        comments.reverse();
        let mut bodies = BTreeMap::new();
        for chunk in comments.chunks(CHUNK).take(MAX_READS) {
            let ids: Vec<&str> = chunk.iter().map(|(_, id)| id.as_str()).collect();
            let variables = serde_json::json!({ "ids": ids });
            // One that was deleted meanwhile is an error at its own place and no other.
            let read = self
                .query::<Found>("Bodies", BODIES, &variables, |error| error.is("NOT_FOUND"))
                .await;
            match read {
                Ok(reply) => {
                    let read = reply.data.nodes.into_iter().flatten();
                    bodies.extend(read.filter_map(|one| Some((one.id?, one.body?))));
                }
                Err(failure) => {
                    tracing::warn!(%failure, "comments could not be read; they are looked at next time");
                    return bodies;
                }
            }
        }
        bodies
    }
}
