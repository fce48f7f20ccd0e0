//! The tool `jules_list_sources`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cursor;
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::arguments::check_limit;

/// How many repositories a page has by default.
const DEFAULT_LIMIT: u32 = 30;
/// The most repositories of a page.
const MAX_LIMIT: u32 = 100;
/// How many branches of each repository are named.
const MAX_BRANCHES: usize = 20;
/// How many pages of sources, of 100 or fewer, one call reads.
const MAX_PAGES: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only repositories whose name contains this.
    contains: Option<String>,
    /// The most repositories to return, 1 to 100. Default: 30.
    limit: Option<u32>,
    /// `next_cursor` of the previous answer.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The repositories, by name.
    sources: Vec<SourceView>,
    /// The `cursor` for further repositories. Missing: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether further repositories of the account were not read.
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct SourceView {
    /// `owner/name`.
    repo: String,
    /// Whether it is private.
    private: bool,
    /// Its default branch.
    default_branch: Option<String>,
    /// Some of its branches.
    branches: Vec<String>,
    /// How many branches it has.
    branches_total: usize,
}

pub(super) fn list_sources() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_list_sources",
        title: "List the repositories of Jules",
        text: "Lists the repositories that have the Jules App installed and that this server may see, with their \
            default branches.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, run_list_sources)
}

async fn run_list_sources(context: Arc<ToolContext>, input: Input) -> Result<Output, ToolError> {
    let limit = check_limit(input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let contains = input.contains.unwrap_or_default().to_lowercase();
    let of = format!("sources {contains}");
    let after: Option<String> = cursor::open_cursor(&of, input.cursor.as_deref())?;
    let mut found = std::collections::BTreeMap::new();
    let mut page = None;
    let mut truncated = true;
    for _ in 0..MAX_PAGES {
        let read = context.jules()?.list_sources(None, page.as_deref()).await?;
        for source in read.sources {
            let name = source.repository.to_string().to_lowercase();
            if context.policy.is_allowed(&source.repository)
                && name.contains(&contains)
                && after.as_ref().is_none_or(|after| name > *after)
            {
                found.insert(name, source);
            }
        }
        page = read.next;
        if page.is_none() {
            truncated = false;
            break;
        }
    }
    let more = found.len() > limit;
    let shown: Vec<_> = found.into_iter().take(limit).collect();
    let next_cursor = shown
        .last()
        .filter(|_| more)
        .map(|(name, _)| cursor::seal_cursor(&of, name));
    let sources = shown.into_iter().map(|(_, source)| SourceView {
        repo: source.repository.to_string(),
        private: source.private,
        default_branch: source.default_branch,
        branches_total: source.branches.len(),
        branches: source.branches.into_iter().take(MAX_BRANCHES).collect(),
    });
    Ok(Output {
        sources: sources.collect(),
        next_cursor,
        truncated,
    })
}
