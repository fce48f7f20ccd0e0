//! Whether Jules accepts the key, and knows the repository.

use phileas_domain::model::RepositoryName;

use super::finding::{Findings, Grade, Group};
use crate::adapters::jules::wire::Source;
use crate::adapters::jules::{ApiError, Client, PageQuery};
use crate::cli::context::{clients, credential_help};
use crate::cli::exit::Exit;
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 sources to search.
const MAX_PAGES: usize = 20;

pub(super) async fn check_key(repository: Option<&RepositoryName>, findings: &mut Findings) {
    findings.group = Group::Jules;
    let client = match clients::jules_client() {
        Ok(client) => client,
        Err(stopped) if stopped.exit == Exit::Usage => {
            let help = "change the variable that it names, or unset it";
            return findings.add_error("jules.key", stopped.message, help);
        }
        Err(stopped) => {
            return findings.add_credential(
                "jules.key",
                stopped.message,
                "`export JULES_API_KEY=…` in a shell; in a workflow it is a secret",
            );
        }
    };
    match find_source(&client, repository).await {
        Ok(found) => {
            findings.add_good("jules.key", "Jules takes the key");
            let (Some(repository), Some(connected)) = (repository, found) else {
                return;
            };
            if connected {
                return findings.add_good(
                    "jules.source",
                    format!("{repository} is connected to Jules"),
                );
            }
            findings.add_credential(
                "jules.source",
                format!("Jules does not know {repository}, so that no session can start there"),
                "install Jules' own GitHub App on it at https://jules.google.com, with the account whose key this is",
            );
        }
        Err(error) if error.disposition() == Disposition::Denied => findings.add_credential(
            "jules.key",
            format!("Jules refuses the key: {}", Failure::from(error).detail),
            credential_help::jules_key_help(),
        ),
        Err(error) => findings.add_finding(
            Grade::Unavailable,
            "jules.unavailable",
            format!("Jules cannot be asked: {}", Failure::from(error).detail),
            Some("run `phileas doctor` again in a while".to_owned()),
        ),
    }
}

/// Whether one of the key's sources is the repository. `None`: no repository is named, or there are too many sources.
async fn find_source(
    client: &Client,
    repository: Option<&RepositoryName>,
) -> Result<Option<bool>, ApiError> {
    let mut token = String::new();
    for _ in 0..MAX_PAGES {
        let query = PageQuery {
            page_size: Some(100),
            page_token: Some(token.as_str()).filter(|token| !token.is_empty()),
            ..PageQuery::default()
        };
        let page = client.list_sources(query).await?;
        let Some(repository) = repository else {
            return Ok(None);
        };
        if page
            .sources
            .iter()
            .any(|source| is_source_of(source, repository))
        {
            return Ok(Some(true));
        }
        if page.next_page_token.is_empty() {
            return Ok(Some(false));
        }
        token = page.next_page_token;
    }
    // There are too many to list, so ask for this one by name.
    let Some(repository) = repository else {
        return Ok(None);
    };
    match client
        .get_source(&format!("sources/github/{repository}"))
        .await
    {
        Ok(_) => Ok(Some(true)),
        Err(error) if error.is_status(404) => Ok(Some(false)),
        Err(error) => Err(error),
    }
}

/// Jules keeps the case of a name as it first saw it.
fn is_source_of(source: &Source, repository: &RepositoryName) -> bool {
    let full = match &source.github_repo {
        Some(github) => format!("{}/{}", github.owner, github.repo),
        None => source.id.trim_start_matches("github/").to_owned(),
    };
    full.eq_ignore_ascii_case(&repository.to_string())
}
