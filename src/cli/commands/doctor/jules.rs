//! Whether Jules takes the key, and knows the repository.

use phileas_domain::model::RepositoryName;

use super::finding::{Findings, Grade, Group};
use crate::adapters::jules::wire::Source;
use crate::adapters::jules::{ApiError, Client, PageQuery};
use crate::cli::context::{clients, credential_help};
use crate::cli::exit::Exit;
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 sources that are looked through.
const MAX_PAGES: usize = 20;
/// Where keys are made.
const KEYS: &str = "https://jules.google.com/settings#api";

pub(super) async fn check(repository: Option<&RepositoryName>, findings: &mut Findings) {
    findings.group = Group::Jules;
    let client = match clients::jules_client() {
        Ok(client) => client,
        Err(stopped) if stopped.exit == Exit::Usage => {
            let mend = "give the variable that it names another value, or take it away";
            return findings.error("jules.key", stopped.message, mend);
        }
        Err(stopped) => {
            return findings.credential(
                "jules.key",
                stopped.message,
                format!("make one at {KEYS}, then `export JULES_API_KEY=…`; in a workflow it is a secret"),
            );
        }
    };
    match find(&client, repository).await {
        Ok(found) => {
            findings.good("jules.key", "Jules takes the key");
            let (Some(repository), Some(connected)) = (repository, found) else {
                return;
            };
            if connected {
                return findings.good(
                    "jules.source",
                    format!("{repository} is connected to Jules"),
                );
            }
            findings.credential(
                "jules.source",
                format!("Jules does not know {repository}, so that no session can start there"),
                "install Jules' own GitHub App on it at https://jules.google.com, with the account whose key this is",
            );
        }
        Err(error) if error.disposition() == Disposition::Denied => findings.credential(
            "jules.key",
            format!("Jules refuses the key: {}", Failure::from(error).detail),
            credential_help::mend_of_jules_key(),
        ),
        Err(error) => findings.add(
            Grade::Unavailable,
            "jules.unavailable",
            format!("Jules cannot be asked: {}", Failure::from(error).detail),
            Some("run `phileas doctor` again in a while".to_owned()),
        ),
    }
}

/// Whether one of the key's sources is the repository; `None`: it was not asked for, or there are too many to tell.
async fn find(
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
        if page.sources.iter().any(|source| is_of(source, repository)) {
            return Ok(Some(true));
        }
        if page.next_page_token.is_empty() {
            return Ok(Some(false));
        }
        token = page.next_page_token;
    }
    // So many that asking for the one by its name is all that is left.
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

/// Jules keeps the case in which it met a name.
fn is_of(source: &Source, repository: &RepositoryName) -> bool {
    let full = match &source.github_repo {
        Some(github) => format!("{}/{}", github.owner, github.repo),
        None => source.id.trim_start_matches("github/").to_owned(),
    };
    full.eq_ignore_ascii_case(&repository.to_string())
}
