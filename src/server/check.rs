//! Whether the service could do its work: credentials, permissions and connections, asked of those who decide them.

use std::collections::BTreeMap;

use super::repositories::{Member, Repositories};
use crate::adapters::github::AppClient;
use crate::adapters::jules::PageQuery;
use crate::runtime::ports::{Disposition, Failure};

/// What an App needs, and why. Nothing of this lets anybody change workflows, settings or secrets.
pub const PERMISSIONS: [(&str, &str, &str); 6] = [
    (
        "contents",
        "write",
        "the ledger is a branch of the repository",
    ),
    ("issues", "write", "phileas calls people by issues"),
    (
        "pull_requests",
        "write",
        "pull requests are followed, and pointed at their base",
    ),
    ("metadata", "read", "GitHub asks it of every App"),
    (
        "checks",
        "read",
        "red checks on the default branch can hold up the rest",
    ),
    ("statuses", "read", "red statuses do the same"),
];
/// The events that wake a repository, each with the permission without which GitHub does not offer it to an App, and
/// refuses the whole manifest. Losing one costs patience, never work.
///
/// What runs of workflows come to is told by `check_suite`; `workflow_run` would need `actions`, which lets its holder
/// read logs and artifacts.
/// <https://docs.github.com/en/webhooks/webhook-events-and-payloads>
pub const EVENTS: [(&str, &str); 8] = [
    ("check_suite", "checks"),
    ("issue_comment", "issues"),
    ("issues", "issues"),
    ("pull_request", "pull_requests"),
    ("pull_request_review", "pull_requests"),
    ("push", "contents"),
    ("repository", "metadata"),
    ("status", "statuses"),
];
/// The most repositories whose connection to Jules is asked about.
pub const MAX_ASKED: usize = 100;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// As it should be.
    Good,
    /// It works, and could be better.
    Hint,
    /// Somebody did not answer, so that nobody knows.
    Unavailable,
    /// The configuration is wrong.
    Configuration,
    /// A credential is missing, refused or too weak.
    Credential,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How grave it is.
    pub grade: Grade,
    /// What it is about, in a word or two.
    pub about: String,
    /// What is so, and how to mend it.
    pub text: String,
}

/// Checks all that the service would use.
pub async fn check(repositories: &Repositories) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(app) = repositories.source().app() {
        of_app(app, &mut findings).await;
    } else if repositories.source().named().is_empty() {
        findings.add(
            Grade::Configuration,
            "repositories",
            "a plain token looks after what phileas.toml names, and it names none; add `[[repository]]` entries",
        );
    }
    match repositories.read_once().await {
        Ok(whole) => {
            let members = repositories.members();
            of_members(repositories, &members, whole, &mut findings);
            for member in members.iter().take(MAX_ASKED) {
                of_access(repositories, member, &mut findings).await;
            }
            of_keys(&members, &mut findings).await;
        }
        Err(failure) => findings.fail("repositories", &failure),
    }
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, grade: Grade, about: &str, text: impl Into<String>) {
        self.0.push(Finding {
            grade,
            about: about.to_owned(),
            text: text.into(),
        });
    }

    fn fail(&mut self, about: &str, failure: &Failure) {
        let grade = match failure.disposition {
            Disposition::Denied | Disposition::NotFound => Grade::Credential,
            Disposition::Refused => Grade::Configuration,
            Disposition::Retry { .. } | Disposition::Unknown => Grade::Unavailable,
        };
        self.add(grade, about, failure.detail.clone());
    }
}

async fn of_app(app: &AppClient, findings: &mut Findings) {
    let identity = match app.identity().await {
        Ok(identity) => identity,
        Err(failure) => return findings.fail("GitHub App", &failure),
    };
    let page = format!(
        "https://github.com/settings/apps/{}/permissions",
        identity.slug
    );
    findings.add(
        Grade::Good,
        "GitHub App",
        format!("{} (number {})", identity.slug, identity.id),
    );
    lacks(&identity.permissions, |name, access, why| {
        findings.add(
            Grade::Credential,
            "GitHub App",
            format!("the App does not ask for `{name}: {access}` ({why}); add it at {page}"),
        );
    });
    let missing: Vec<&str> = EVENTS
        .into_iter()
        .map(|(event, _)| event)
        .filter(|event| !identity.events.iter().any(|known| known == event))
        .collect();
    if !missing.is_empty() {
        findings.add(
            Grade::Hint,
            "GitHub App",
            format!(
                "the App's webhook does not get {}; such changes are seen by the hourly look only. Add them at {page}",
                missing.join(", ")
            ),
        );
    }
    match app.hook_url().await {
        Ok(Some(url)) if url.ends_with("/webhook") => {
            findings.add(Grade::Good, "webhook", format!("the App posts to {url}"));
        }
        Ok(url) => findings.add(
            Grade::Hint,
            "webhook",
            format!(
                "the App posts to {}; the service listens at `/webhook`, and without it repositories are looked at once an hour",
                url.as_deref().filter(|url| !url.is_empty()).unwrap_or("nowhere")
            ),
        ),
        Err(failure) => findings.fail("webhook", &failure),
    }
    match app.installations().await {
        Ok(installations) => {
            if installations.is_empty() {
                findings.add(
                    Grade::Credential,
                    "installations",
                    format!(
                        "the App is installed nowhere; install it at https://github.com/apps/{}/installations/new",
                        identity.slug
                    ),
                );
            }
            for installation in &installations {
                let account = &installation.account;
                if installation.suspended {
                    let text = format!("{account} has suspended the App; nothing is done there");
                    findings.add(Grade::Hint, "installations", text);
                    continue;
                }
                lacks(&installation.permissions, |name, access, why| {
                    findings.add(
                        Grade::Credential,
                        "installations",
                        format!(
                            "{account} has not granted `{name}: {access}` ({why}); its owner accepts it at \
                             https://github.com/settings/installations/{}",
                            installation.id
                        ),
                    );
                });
            }
        }
        Err(failure) => findings.fail("installations", &failure),
    }
}

/// Tells each permission that is not granted.
fn lacks(granted: &BTreeMap<String, String>, mut tell: impl FnMut(&str, &str, &str)) {
    for (name, access, why) in PERMISSIONS {
        let has = granted.get(name).map(String::as_str);
        let enough = has == Some(access) || has == Some("write") || has == Some("admin");
        if !enough {
            tell(name, access, why);
        }
    }
}

fn of_members(
    repositories: &Repositories,
    members: &[std::sync::Arc<Member>],
    whole: bool,
    findings: &mut Findings,
) {
    findings.add(
        if members.is_empty() {
            Grade::Hint
        } else {
            Grade::Good
        },
        "repositories",
        format!(
            "repositories: {}, Jules keys: {}{}",
            members.len(),
            repositories.keys_in_use(),
            if whole {
                ""
            } else {
                "; not all could be asked about"
            }
        ),
    );
    if !whole {
        let text = "some could not be asked about; see the log";
        findings.add(Grade::Unavailable, "repositories", text);
    }
    for entry in repositories.source().named() {
        let there = members.iter().any(|member| match entry.id {
            Some(id) => id == member.id,
            None => entry.name == member.name,
        });
        if !there && whole {
            findings.add(
                Grade::Credential,
                &entry.name.to_string(),
                "phileas.toml names it, and the credential does not reach it; look for its present name and number, \
                 or give the token or the App access to it",
            );
        }
    }
    for member in members {
        if let Err(no_key) = &member.jules {
            findings.add(
                Grade::Credential,
                &member.name.to_string(),
                no_key.to_string(),
            );
        }
    }
}

/// Whether the credential may write, and whether Jules is connected.
async fn of_access(repositories: &Repositories, member: &Member, findings: &mut Findings) {
    let name = member.name.to_string();
    if repositories.source().app().is_none() {
        let client = repositories
            .outside()
            .client(member.name.clone(), &member.account);
        match client.own_repository().await {
            Ok(own) if own.push == Some(false) => findings.add(
                Grade::Credential,
                &name,
                "the token may not push; the ledger is a branch of the repository. Give it `Contents: write`, \
                 `Issues: write` and `Pull requests: write`",
            ),
            Ok(own) if own.archived => {
                findings.add(Grade::Hint, &name, "it is archived; nothing is done in it");
            }
            Ok(_) => {}
            Err(failure) => findings.fail(&name, &failure),
        }
    }
    let Ok(key) = &member.jules else { return };
    let source = format!("sources/github/{}", member.name);
    match key.client.get_source(&source).await {
        Ok(_) => {}
        Err(error) if error.is_status(404) => findings.add(
            Grade::Credential,
            &name,
            "Jules does not know it; install Jules' own GitHub App on it at https://jules.google.com, with the account \
             whose key this is",
        ),
        // A wrong key is told of once, below.
        Err(error) if error.disposition() == Disposition::Denied => {}
        Err(error) => findings.fail(&name, &error.into()),
    }
}

async fn of_keys(members: &[std::sync::Arc<Member>], findings: &mut Findings) {
    let keys: BTreeMap<u64, _> = members
        .iter()
        .filter_map(|member| member.jules.as_ref().ok())
        .map(|key| (key.number, &key.client))
        .collect();
    for (number, client) in keys {
        let about = format!("Jules key {}", number + 1);
        match client.list_sources(PageQuery::default()).await {
            Ok(_) => findings.add(Grade::Good, &about, "Jules takes it"),
            Err(error) => findings.fail(&about, &error.into()),
        }
    }
}
