//! Lists the repositories on which the Jules app is installed.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::account::Installed;
use super::filter;
use super::model::Model;
use super::query;
use super::refusal::{Refusal, json_reply};
use super::request::{Call, text_reply};
use super::wire;
use crate::github;
use crate::knobs::Knobs;

/// The default number of entries on a page (documented).
const SOURCES_A_PAGE: usize = 30;

impl Model {
    pub(super) fn list_sources(&self, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let size = call.query.page_size(SOURCES_A_PAGE, call.knobs)?;
        let start = call.query.page_start("sources")?.unwrap_or(0);
        let names = call
            .query
            .filter
            .as_deref()
            .map(filter::source_names)
            .transpose()?;
        let all: Vec<String> = self.config.accounts[call.account]
            .installed
            .iter()
            .filter(|installed| {
                let name = installed.source_name();
                names.as_ref().is_none_or(|names| {
                    names
                        .iter()
                        .any(|wanted| wanted.eq_ignore_ascii_case(&name))
                })
            })
            .filter_map(|installed| source_json(installed, call.github, call.knobs))
            .map(|source| source.to_string())
            .collect();
        let page: Vec<&str> = all
            .iter()
            .skip(start)
            .take(size)
            .map(String::as_str)
            .collect();
        let token = (start + page.len() < all.len())
            .then(|| query::page_token("sources", start + page.len()));
        Ok(text_reply(wire::list_page(
            "sources",
            page.into_iter(),
            token.as_deref(),
        )))
    }

    pub(super) fn get_source(
        &self,
        name: &str,
        call: &Call<'_>,
    ) -> Result<Response<Bytes>, Refusal> {
        let installed = self.config.accounts[call.account]
            .find_installation(name)
            .ok_or_else(Refusal::not_found)?;
        let source =
            source_json(installed, call.github, call.knobs).ok_or_else(Refusal::not_found)?;
        Ok(json_reply(StatusCode::OK, &source))
    }
}

/// The Source resource; none when the repository is gone.
fn source_json(installed: &Installed, github: &github::Model, knobs: &Knobs) -> Option<Value> {
    let id = github.repository_by_name(&installed.owner, &installed.repo)?;
    let repository = github.repository(id)?;
    let branch = |name: &str| json!({ "displayName": name });
    let mut branches: Vec<Value> = repository
        .branches()
        .map(|(name, _)| branch(name))
        .collect();
    branches.extend((0..installed.more_branches).map(|n| branch(&format!("topic/{n:05}"))));
    let shown = if knobs.count_use("source-case-changed", knobs.source_case_changed) {
        installed.in_other_case()
    } else {
        installed.clone()
    };
    let (owner, name) = (shown.owner, shown.repo);
    let mut repo = Map::new();
    repo.insert("owner".to_owned(), json!(owner));
    repo.insert("repo".to_owned(), json!(name));
    wire::put_flag(&mut repo, "isPrivate", repository.private);
    repo.insert(
        "defaultBranch".to_owned(),
        branch(&repository.default_branch),
    );
    if !branches.is_empty() {
        repo.insert("branches".to_owned(), Value::Array(branches));
    }
    Some(json!({
        "name": format!("sources/github/{owner}/{name}"),
        "id": format!("github/{owner}/{name}"),
        "githubRepo": repo,
    }))
}
