//! The self-check: tests the credentials, permissions and connections of the service against GitHub and Jules.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use tokio::sync::oneshot;

use crate::adapters::github::{AppClient, Client, TOKEN_RIGHTS};
use crate::adapters::jules::{Client as JulesClient, JulesKey, PageQuery};
use crate::runtime::ports::{Disposition, Failure};
use crate::server::accounts::external_services::ExternalServices;
use crate::server::config::WEBHOOK;
use crate::server::repositories::{Member, Repositories};
use crate::server::worker::sweep::is_own;

/// The permissions that an App needs, each with the reason. None of them lets an account change
/// workflows, settings or secrets.
pub const PERMISSIONS: [(&str, &str, &str); 6] = [
    (
        "contents",
        "write",
        "the ledger is a branch of the repository",
    ),
    (
        "issues",
        "write",
        "phileas opens issues when it needs a person",
    ),
    (
        "pull_requests",
        "write",
        "phileas follows pull requests, and sets their base branch",
    ),
    ("metadata", "read", "GitHub requires it of every App"),
    (
        "checks",
        "read",
        "failed checks on the default branch can stop the rest",
    ),
    ("statuses", "read", "failed statuses can stop the rest, too"),
];
/// The events that wake a repository, each with the permission without which GitHub refuses it in a
/// manifest. A missing event delays work, but loses none.
///
/// `check_suite` reports the results of workflow runs; `workflow_run` would need `actions`, which
/// allows reading logs and artifacts.
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
/// The most repositories whose connection to Jules is checked, and the most keys.
pub const MAX_ASKED: usize = 100;
/// How many of them are checked at the same time.
const ASKED_AT_ONCE: usize = 10;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// It is correct.
    Good,
    /// It works, but could be better.
    Hint,
    /// A service did not reply, so the result is unknown.
    Unavailable,
    /// The configuration is wrong.
    Configuration,
    /// A credential is missing, refused or lacks a permission.
    Credential,
}

/// One result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub grade: Grade,
    /// The subject, in a word or two.
    pub about: String,
    /// The result, and how to fix it.
    pub text: String,
}

/// The settings of the service apart from its identity at GitHub.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings {
    /// The default Jules key, and its name.
    pub jules: Option<(String, JulesKey)>,
    /// The source of the GitHub credential, from
    /// [`origin_of_identity`](crate::server::accounts::app::origin_of_identity).
    pub identity: String,
    /// The public address of the service.
    pub public_url: Option<String>,
    /// The address of GitHub's pages, such as `https://github.com`.
    pub github: String,
}

/// The findings so far.
#[derive(Debug, Default)]
pub struct CheckResult {
    all: RefCell<Vec<Finding>>,
    /// Findings about keys whose repositories are not known yet.
    keys: RefCell<Vec<Finding>>,
}

impl CheckResult {
    /// Adds a finding of the caller.
    pub fn add_finding(&self, finding: Finding) {
        self.all.borrow_mut().push(finding);
    }

    /// Returns all findings, in an order that does not depend on the order of replies.
    #[must_use]
    pub fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.all.into_inner();
        findings.extend(self.keys.into_inner());
        findings.sort_by(|a, b| (a.grade, &a.about, &a.text).cmp(&(b.grade, &b.about, &b.text)));
        findings
    }
}

/// Checks everything that the service uses, all at the same time, so that a service that does not
/// reply delays no other check. If the check is dropped, `found` has the findings so far.
pub async fn check_service(repositories: &Repositories, told: &CheckSettings, found: &CheckResult) {
    let findings = Findings(&found.all);
    let (listed, is_listed) = oneshot::channel();
    let app = async {
        if let Some(app) = repositories.source().app_client() {
            of_app(app, &told.github, None, Some(&told.identity), findings).await;
        } else if repositories.source().named_entries().is_empty() {
            findings.add_finding(
                Grade::Configuration,
                "repositories",
                "phileas.toml names no repository, and a plain token manages only those that it names; add \
                 `[[repository]]` entries",
            );
        }
    };
    let of_each = async {
        match repositories.read_once().await {
            Ok(whole) => {
                let members = repositories.list_members();
                of_members(repositories, &members, whole, told, findings);
                // The check of the keys waits for this, and does not end before it.
                let _received = listed.send(());
                let asked = members.iter().take(MAX_ASKED);
                let asked = asked.map(|member| of_access(repositories, member, told, findings));
                let asked = futures_util::stream::iter(asked).buffer_unordered(ASKED_AT_ONCE);
                asked.collect::<()>().await;
                if members.len() > MAX_ASKED {
                    let text = format!(
                        "of {} repositories only the first {MAX_ASKED} were checked one by one",
                        members.len()
                    );
                    findings.add_finding(Grade::Hint, "repositories", text);
                }
            }
            Err(failure) => {
                drop(listed);
                findings.fail_of_github("repositories", &failure, repositories, told);
            }
        }
    };
    tokio::join!(app, of_each, of_keys(repositories, told, found, is_listed));
}

#[derive(Clone, Copy)]
struct Findings<'a>(&'a RefCell<Vec<Finding>>);

impl Findings<'_> {
    fn add_finding(self, grade: Grade, about: &str, text: impl Into<String>) {
        self.0.borrow_mut().push(Finding {
            grade,
            about: about.to_owned(),
            text: text.into(),
        });
    }

    fn add_failure(self, about: &str, failure: &Failure) {
        let grade = match failure.disposition {
            Disposition::Denied | Disposition::NotFound => Grade::Credential,
            Disposition::Refused => Grade::Configuration,
            Disposition::Retry { .. } | Disposition::Unknown | Disposition::TooLarge => {
                Grade::Unavailable
            }
        };
        self.add_finding(grade, about, failure.detail.clone());
    }

    /// Adds Jules' reply about a key. `which`: the owner or the source of the key.
    fn add_key_answer(self, about: &str, which: &str, answer: &Answer) {
        let failure = match answer {
            Ok(()) => {
                let text = format!("Jules accepts it; it is {which}");
                return self.add_finding(Grade::Good, about, text);
            }
            Err(failure) => failure,
        };
        let said = &failure.detail;
        let detail = if failure.disposition == Disposition::Denied {
            format!(
                "the key is wrong, was revoked, or lacks a permission; it is {which}: replace it by another one from \
                 https://jules.google.com/settings#api ({said})"
            )
        } else {
            format!("{said}; it is {which}")
        };
        let disposition = failure.disposition.clone();
        self.add_failure(
            about,
            &Failure {
                detail,
                disposition,
            },
        );
    }

    /// Adds a failure of GitHub with the credential of the service. A refused token is replaced at
    /// its source.
    fn fail_of_github(
        self,
        about: &str,
        failure: &Failure,
        repositories: &Repositories,
        told: &CheckSettings,
    ) {
        let is_token = repositories.source().app_client().is_none();
        if failure.disposition != Disposition::Denied || !is_token {
            return self.add_failure(about, failure);
        }
        let text = format!(
            "GitHub refuses the token of {}; replace it by one that is valid, from {}/settings/tokens, with these \
             permissions for the repository: {TOKEN_RIGHTS} ({})",
            told.identity, told.github, failure.detail
        );
        self.add_finding(Grade::Credential, about, text);
    }
}

/// Checks an App: its permissions, the address of its webhook, and its installations, or only that
/// of `account`. `github` is the address of GitHub's pages.
pub async fn check_app(app: &AppClient, github: &str, account: Option<&str>) -> Vec<Finding> {
    let found = RefCell::default();
    of_app(app, github, account, None, Findings(&found)).await;
    found.into_inner()
}

/// `identity`: the source of the App's number and key, if the caller does not show it by itself.
async fn of_app(
    app: &AppClient,
    github: &str,
    account: Option<&str>,
    identity: Option<&str>,
    findings: Findings<'_>,
) {
    let from = identity.map_or_else(String::new, |from| format!("; both come from {from}"));
    let identity = match app.read_identity().await {
        Ok(identity) => identity,
        Err(failure) if failure.disposition == Disposition::Denied => {
            let text = format!(
                "{}; the private key does not belong to the App with this number, or it was deleted on GitHub{from}",
                failure.detail
            );
            return findings.add_finding(Grade::Credential, "GitHub App", text);
        }
        Err(failure) => return findings.add_failure("GitHub App", &failure),
    };
    let owner = identity
        .owner
        .as_ref()
        .and_then(|owner| owner.organization_name());
    let settings = settings_of(github, owner);
    let page = format!("{settings}/apps/{}/permissions", identity.slug);
    findings.add_finding(
        Grade::Good,
        "GitHub App",
        format!("{} (number {})", identity.slug, identity.id),
    );
    missing_permissions(&identity.permissions, |name, access, why| {
        findings.add_finding(
            Grade::Credential,
            "GitHub App",
            format!("the App does not request `{name}: {access}` ({why}); add it at {page}"),
        );
    });
    let missing: Vec<&str> = EVENTS
        .into_iter()
        .map(|(event, _)| event)
        .filter(|event| !identity.events.iter().any(|known| known == event))
        .collect();
    if !missing.is_empty() {
        findings.add_finding(
            Grade::Hint,
            "GitHub App",
            format!(
                "the App's webhook does not get {}, so phileas sees such changes only at its hourly check. Add them at \
                 {page}",
                missing.join(", ")
            ),
        );
    }
    tokio::join!(
        of_hook(app, &settings, &identity.slug, findings),
        of_installations(app, (github, &identity.slug), account, findings),
    );
}

/// Checks the address of the App's webhook. `settings`: the address of its owner's settings.
async fn of_hook(app: &AppClient, settings: &str, slug: &str, findings: Findings<'_>) {
    match app.read_hook().await {
        Ok(hook) => {
            let url = hook.as_ref().and_then(|hook| hook.url.as_deref());
            let form = hook
                .as_ref()
                .is_some_and(|hook| hook.content_type.as_deref() == Some("form"));
            match url {
                Some(url) if url.ends_with(WEBHOOK) && form => findings.add_finding(
                    Grade::Configuration,
                    "webhook",
                    format!("the App posts to {url} with the content type `form`, which phileas refuses; set it to \
                        application/json at {settings}/apps/{slug}"),
                ),
                Some(url) if url.ends_with(WEBHOOK) => {
                    findings.add_finding(Grade::Good, "webhook", format!("the App posts to {url}"));
                }
                url => findings.add_finding(
                    Grade::Hint,
                    "webhook",
                    format!(
                        "the App posts to {}, but the service listens at `/webhook`, so repositories are checked only \
                         once an hour",
                        url.filter(|url| !url.is_empty()).unwrap_or("nowhere")
                    ),
                ),
            }
        }
        Err(failure) => findings.add_failure("webhook", &failure),
    }
}

async fn of_installations(
    app: &AppClient,
    (github, slug): (&str, &str),
    account: Option<&str>,
    findings: Findings<'_>,
) {
    let is_asked = |name: &str| account.is_none_or(|account| account.eq_ignore_ascii_case(name));
    match app.list_installations().await {
        Ok(mut installations) => {
            installations.retain(|one| is_asked(&one.account));
            if installations.is_empty() {
                findings.add_finding(
                    Grade::Credential,
                    "installations",
                    format!(
                        "the App is {}; install it at {github}/apps/{slug}/installations/new",
                        account.map_or_else(
                            || "installed nowhere".to_owned(),
                            |name| format!("not installed on {name}")
                        ),
                    ),
                );
            }
            for installation in &installations {
                let account = &installation.account;
                if installation.suspended {
                    let text =
                        format!("{account} has suspended the App, so phileas does nothing there");
                    findings.add_finding(Grade::Hint, "installations", text);
                    continue;
                }
                missing_permissions(&installation.permissions, |name, access, why| {
                    findings.add_finding(
                        Grade::Credential,
                        "installations",
                        format!(
                            "{account} has not granted `{name}: {access}` ({why}); its owner accepts it at \
                             {}/installations/{}",
                            settings_of(github, installation.organisation.then_some(account)),
                            installation.id
                        ),
                    );
                });
            }
        }
        Err(failure) => findings.add_failure("installations", &failure),
    }
}

/// The address of an account's settings.
fn settings_of(github: &str, organisation: Option<&str>) -> String {
    match organisation {
        Some(name) => format!("{github}/organizations/{name}/settings"),
        None => format!("{github}/settings"),
    }
}

/// Calls `tell` for each permission that is not granted.
fn missing_permissions(granted: &BTreeMap<String, String>, mut tell: impl FnMut(&str, &str, &str)) {
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
    members: &[Arc<Member>],
    whole: bool,
    told: &CheckSettings,
    findings: Findings<'_>,
) {
    findings.add_finding(
        if members.is_empty() {
            Grade::Hint
        } else {
            Grade::Good
        },
        "repositories",
        match members.len() {
            0 => "no repository is reached yet".to_owned(),
            found => format!(
                "{found} reached, with {} Jules {}",
                repositories.keys_in_use(),
                if repositories.keys_in_use() == 1 {
                    "key"
                } else {
                    "keys"
                }
            ),
        },
    );
    // The repositories of a token are checked one by one below.
    if !whole && repositories.source().app_client().is_some() {
        let text = "some could not be checked; the log has the reasons";
        findings.add_finding(Grade::Unavailable, "repositories", text);
    }
    for one in repositories.unreachable_entries() {
        let text = format!(
            "phileas.toml names it, but {}; check its present name and number, or give the token or the App access to \
             it",
            one.because
        );
        findings.add_finding(Grade::Credential, &one.name.to_string(), text);
    }
    for (name, failure) in repositories.skipped_entries() {
        findings.fail_of_github(&name.to_string(), &failure, repositories, told);
    }
    for member in members {
        if let Err(no_key) = &member.jules {
            findings.add_finding(
                Grade::Credential,
                &member.name.to_string(),
                no_key.to_string(),
            );
        }
    }
}

/// Checks whether the credential may write, and whether Jules is connected.
async fn of_access(
    repositories: &Repositories,
    member: &Member,
    told: &CheckSettings,
    findings: Findings<'_>,
) {
    tokio::join!(
        of_token(repositories, member, told, findings),
        of_source(member, findings),
    );
}

/// Checks whether a plain token may write, and the addresses of the repository's webhooks.
async fn of_token(
    repositories: &Repositories,
    member: &Member,
    told: &CheckSettings,
    findings: Findings<'_>,
) {
    if repositories.source().app_client().is_some() {
        return;
    }
    let name = member.name.to_string();
    let client = repositories.client_of(member);
    let own = async {
        match client.own_repository().await {
            Ok(own) if own.push == Some(false) => findings.add_finding(
                Grade::Credential,
                &name,
                "the token may not push, but the ledger is a branch of the repository; give it `Contents: write`, \
                 `Issues: write` and `Pull requests: write`",
            ),
            Ok(own) if own.archived => {
                findings.add_finding(Grade::Hint, &name, "it is archived, so phileas does nothing there");
            }
            Ok(_) => {}
            Err(failure) => findings.fail_of_github(&name, &failure, repositories, told),
        }
    };
    tokio::join!(own, of_hooks(&client, &name, told, findings));
}

/// Checks whether Jules is connected to the repository.
async fn of_source(member: &Member, findings: Findings<'_>) {
    let name = member.name.to_string();
    let Ok(key) = &member.jules else { return };
    let source = format!("sources/github/{}", member.name);
    match key.client.get_source(&source).await {
        Ok(_) => {}
        Err(error) if error.is_status(404) => findings.add_finding(
            Grade::Credential,
            &name,
            "Jules does not know it; install Jules' own GitHub App on it at https://jules.google.com, with the account \
             of this key",
        ),
        // A wrong key is reported once, below.
        Err(error) if error.disposition() == Disposition::Denied => {}
        Err(error) => findings.add_failure(&name, &error.into()),
    }
}

/// Checks whether a webhook of the repository posts to the service, if the token may read them.
async fn of_hooks(client: &Client, name: &str, told: &CheckSettings, findings: Findings<'_>) {
    let hooks = match client.list_hooks().await {
        Ok(hooks) => hooks,
        // Only administrators may read them, and the token may belong to another account.
        Err(failure)
            if matches!(
                failure.disposition,
                Disposition::Denied | Disposition::NotFound
            ) =>
        {
            let text = "the token may not read its webhooks, so phileas cannot request lost deliveries again; the \
                hourly check finds what they reported";
            return findings.add_finding(Grade::Hint, name, text);
        }
        Err(failure) => return findings.add_failure(name, &failure),
    };
    let Some(own) = &told.public_url else {
        let text = "it is unknown which of its webhooks belongs to this service; set --public-url";
        return findings.add_finding(Grade::Hint, name, text);
    };
    let mut own = hooks
        .iter()
        .filter(|hook| hook.active && is_own(&hook.url, own));
    match own.next() {
        None => findings.add_finding(
            Grade::Hint,
            name,
            "none of its webhooks posts to the service, so it is checked only once an hour",
        ),
        Some(hook) if hook.content_type != "json" => findings.add_finding(
            Grade::Configuration,
            name,
            "its webhook has the content type `form`, which phileas refuses; set it to application/json",
        ),
        Some(_) => {}
    }
}

/// How many repositories describe a key.
const NAMED: usize = 3;

/// Jules' reply about a key: accepted, or the failure.
type Answer = Result<(), Failure>;

/// Checks whether Jules accepts the keys, beginning at once. Their repositories are added when
/// GitHub has listed them, which `is_listed` reports.
async fn of_keys(
    repositories: &Repositories,
    told: &CheckSettings,
    found: &CheckResult,
    is_listed: oneshot::Receiver<()>,
) {
    let answers: RefCell<BTreeMap<[u8; 32], Answer>> = RefCell::default();
    let of_all = told
        .jules
        .iter()
        .map(|(name, key)| (name.clone(), key.clone()));
    let of_files = repositories.key_files(MAX_ASKED).into_iter();
    let at_hand = of_all.chain(of_files).map(|(place, key)| {
        let answers = &answers;
        async move {
            let digest = key.digest();
            let known = answers.borrow().get(&digest).cloned();
            let answer = match known {
                Some(answer) => answer,
                None => ask_for(&repositories.external_services().jules_client(key)).await,
            };
            let which = format!("from {place}");
            Findings(&found.keys).add_key_answer("Jules key", &which, &answer);
            answers.borrow_mut().insert(digest, answer);
        }
    });
    let at_hand = futures_util::stream::iter(at_hand).buffer_unordered(ASKED_AT_ONCE);
    at_hand.collect::<()>().await;
    if is_listed.await.is_err() {
        return;
    }
    let keys = keys_in_use(repositories, told);
    // A key that no repository uses yet may be wrong, too.
    if !keys.is_empty() {
        found.keys.borrow_mut().clear();
    }
    for (number, key) in keys {
        let known = answers.borrow().get(&key.digest).cloned();
        let answer = match known {
            Some(answer) => answer,
            None => ask_for(&key.client).await,
        };
        let about = format!("Jules key {}", number + 1);
        Findings(&found.all).add_key_answer(&about, &key.key_origin(), &answer);
    }
}

/// A key that repositories use.
struct KeyInUse {
    client: Arc<JulesClient>,
    digest: [u8; 32],
    names: BTreeSet<String>,
    repositories: BTreeSet<String>,
}

impl KeyInUse {
    fn key_origin(&self) -> String {
        let named: Vec<&str> = self.names.iter().take(NAMED).map(String::as_str).collect();
        let mut whose = named.join(", ");
        let more = self.names.len().saturating_sub(NAMED);
        if more > 0 {
            whose.push_str(&format!(" and {more} more"));
        }
        let places: Vec<&str> = self.repositories.iter().map(String::as_str).collect();
        format!("that of {whose}, from {}", places.join(" and "))
    }
}

/// Returns the keys of the repositories, by their numbers.
fn keys_in_use(repositories: &Repositories, told: &CheckSettings) -> BTreeMap<u64, KeyInUse> {
    let mut keys = BTreeMap::new();
    for member in repositories.list_members() {
        let (Ok(key), Some(digest)) = (&member.jules, repositories.key_digest(&member.name)) else {
            continue;
        };
        let known = keys.entry(key.number).or_insert_with(|| KeyInUse {
            client: Arc::clone(&key.client),
            digest,
            names: BTreeSet::new(),
            repositories: BTreeSet::new(),
        });
        known.names.insert(member.name.to_string());
        known
            .repositories
            .extend(match repositories.key_file(&member.name) {
                Some(path) => Some(path.display().to_string()),
                None => told.jules.as_ref().map(|(name, _)| name.clone()),
            });
    }
    keys
}

/// Checks a Jules key of a service that has no GitHub credential yet. `name`: the name of the key
/// in messages.
pub async fn check_key(outside: &ExternalServices, name: &str, key: JulesKey, found: &CheckResult) {
    let answer = ask_for(&outside.jules_client(key)).await;
    Findings(&found.all).add_key_answer("Jules key", &format!("from {name}"), &answer);
}

async fn ask_for(client: &JulesClient) -> Answer {
    let listed = client.list_sources(PageQuery::default()).await;
    listed.map(drop).map_err(Failure::from)
}
