//! Reads the texts of comments in parts when they do not fit into a tick's one read. Long comments must not keep
//! phileas from reading commands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::BODIES;

/// How many texts one query reads. So many of the longest texts that GitHub accepts, 65,536 characters, fit into one
/// answer.
const CHUNK: usize = 25;
/// How many queries one tick sends; the newest comments come first.
const MAX_READS: usize = 20;

#[derive(Deserialize)]
struct Found {
    nodes: Vec<Option<Body>>,
}

/// A deleted comment has neither field.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    body: Option<String>,
}

impl Client {
    /// The texts of comments by id, as far as they can be read.
    pub(crate) async fn read_comment_texts(
        &self,
        mut comments: Vec<(Timestamp, String)>,
    ) -> BTreeMap<String, String> {
        comments.sort_unstable();
        comments.reverse();
        let mut bodies = BTreeMap::new();
        for chunk in comments.chunks(CHUNK).take(MAX_READS) {
            let ids: Vec<&str> = chunk.iter().map(|(_, id)| id.as_str()).collect();
            let variables = serde_json::json!({ "ids": ids });
            // A comment that was deleted meanwhile is an error in its own field only.
            let read = self
                .run_query::<Found>("Bodies", BODIES, &variables, |error| {
                    error.has_type("NOT_FOUND")
                })
                .await;
            match read {
                Ok(reply) => {
                    let read = reply.data.nodes.into_iter().flatten();
                    bodies.extend(read.filter_map(|one| Some((one.id?, one.body?))));
                }
                Err(failure) => {
                    tracing::warn!(%failure, "comments could not be read; the next tick reads them");
                    return bodies;
                }
            }
        }
        bodies
    }
}
