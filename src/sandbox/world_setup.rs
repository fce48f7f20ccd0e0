//! Sets up the world of a sandbox: a repository, its people, their tokens and keys.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use phileas_domain::model::RepositoryName;
use phileas_domain::state::STATE_PATH;
use phileas_world::agent::Agent;
use phileas_world::github::{RepoId, Role};
use phileas_world::jules::{Account, Config, Installed, Tier};
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::seed::{self, Files, Seed};
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs, World, WorldConfig};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::newcomer;

/// The repository's owner.
pub const OWNER: &str = "acme";
/// The repository's name.
pub const NAME: &str = "widget";
/// The account of the token.
pub const RUNNER: &str = "phileas-runner";
/// The token that GitHub's model accepts. It is valid nowhere else.
pub const GITHUB_TOKEN: &str = "sandbox-github-token";
/// The token of the repository's maintainer. It is valid nowhere else.
pub const MAINTAINER_TOKEN: &str = "sandbox-maintainer-token";
/// The key that Jules' model accepts. It is valid nowhere else.
pub const JULES_KEY: &str = "sandbox-jules-key";
/// The address of the repository's webhook; the sandbox takes the deliveries itself.
const WEBHOOK_URL: &str = "http://sandbox.invalid/webhook";
/// The public address of the service for GitHub's model.
pub const PUBLIC_URL: &str = "http://sandbox.invalid";
/// The secret of the webhooks. It is valid nowhere else.
pub const WEBHOOK_SECRET: &str = "sandbox-webhook-secret-of-no-use-elsewhere";
/// The label of the maintainer's request.
const REQUEST_LABEL: &str = "phileas:fixer";
/// The start time of every sandbox.
pub const START: &str = "2026-01-05T00:00:00Z";

/// The settings of a sandbox.
#[derive(Debug, Clone)]
pub struct WorldSetup {
    /// A folder to use as the repository; by default the newcomer's.
    pub repo: Option<PathBuf>,
    /// A folder to put on the branch `jules` first. The world then has its repository's id, starts
    /// after its newest time, and continues its numbers.
    pub ledger: Option<PathBuf>,
    /// Whether the repository has no commit yet.
    pub empty: bool,
    /// The seed of all random draws.
    pub seed: u64,
    /// The answers to the open questions.
    pub knobs: Knobs,
    /// The faults.
    pub faults: FaultPlan,
    /// The behaviour of the maintainer.
    pub review_policy: ReviewPolicy,
    /// The behaviour of Jules.
    pub jules: Config,
    /// The plan of the Jules account.
    pub tier: Tier,
    /// The start time.
    pub start: Timestamp,
    /// Whether the maintainer begins by labelling an issue of another user; only in the newcomer's
    /// repository.
    pub begins_with_request: bool,
    /// Whether the repository also uses the layers of the hand-over pipeline.
    pub layers: bool,
    /// Texts by path that replace the repository's files; an empty one removes a file.
    pub texts: BTreeMap<String, String>,
    /// Texts by path at the beginning of the branch `jules`, over a folder's.
    pub ledger_texts: BTreeMap<String, String>,
    /// The names of further repositories of the same owner, with the newcomer's files.
    pub others: Vec<String>,
}

impl WorldSetup {
    /// The newcomer's repository with a maintainer.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            repo: None,
            ledger: None,
            empty: false,
            seed,
            knobs: Knobs::documented(),
            faults: FaultPlan::default(),
            review_policy: ReviewPolicy {
                office_hours: false,
                longest_minutes: 3 * 60,
                merges: 75,
                closes: 12,
                ignores: 3,
                ..ReviewPolicy::usual()
            },
            jules: Config {
                asks: 0.15,
                shortest_minutes: 6.0,
                longest_minutes: 45.0,
                ..Config::default()
            },
            tier: Tier::Pro,
            start: START.parse().expect("the start is an instant"),
            begins_with_request: false,
            layers: false,
            texts: BTreeMap::new(),
            ledger_texts: BTreeMap::new(),
            others: Vec::new(),
        }
    }

    /// Builds the world.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read.
    pub fn build_world(self) -> Result<(World, RepoId), String> {
        let ledger = self.ledger_files()?;
        let facts = LedgerFacts::of_files(ledger.as_ref());
        let start = facts.start.map_or(self.start, |at| at.max(self.start));
        let mut account = Account::new("maintainer", JULES_KEY);
        account.tier = self.tier;
        account.installed.push(Installed::new(OWNER, NAME));
        for name in &self.others {
            account.installed.push(Installed::new(OWNER, name));
        }
        let mut jules = self.jules;
        jules.accounts.push(account);
        let mut world = World::new(WorldConfig {
            start,
            seed: self.seed ^ facts.digest,
            knobs: self.knobs,
            faults: self.faults,
            review_policy: self.review_policy,
            jules,
        });
        // A session with a layer's prompt does what the prompt says; the model invents the work of
        // all other sessions.
        world.jules_mut().set_worker(Box::new(Agent));
        let mut files: Files = match &self.repo {
            Some(dir) => seed::files_of(dir)?,
            None if self.empty => Files::default(),
            None => newcomer::repository_files(),
        };
        if self.layers {
            files.extend(newcomer::layer_files());
        }
        for (path, text) in self.texts {
            if text.is_empty() {
                files.remove(&path);
            } else {
                files.insert(path, text.into());
            }
        }
        let mut seed = Seed::new(OWNER, NAME, files);
        seed.private = true;
        seed.id = facts.repository;
        seed.last_number = facts.last_number;
        seed.ledger = ledger;
        seed.labels = vec!["phileas".to_owned(), "phileas:pause".to_owned()];
        seed.people = vec![
            ("maintainer".to_owned(), Role::Admin),
            (RUNNER.to_owned(), Role::Write),
        ];
        let mut repositories = vec![world.seed(&seed)];
        for name in &self.others {
            let mut other = Seed::new(OWNER, name, newcomer::repository_files());
            other.private = true;
            other.labels.clone_from(&seed.labels);
            other.people.clone_from(&seed.people);
            repositories.push(world.seed(&other));
        }
        let github = world.github_mut();
        if self.begins_with_request && self.repo.is_none() {
            let (title, body) = (
                "An empty text counts as one word",
                "`words(\"\")` should be 0.\n\nThank you!",
            );
            let issue = github.open_issue(repositories[0], title, body, &[], "visitor", start);
            github.add_label(repositories[0], issue, REQUEST_LABEL, "maintainer", start);
        }
        github.add_person_token(GITHUB_TOKEN, RUNNER);
        github.add_person_token(MAINTAINER_TOKEN, "maintainer");
        let events = [
            "pull_request",
            "pull_request_review",
            "push",
            "issues",
            "issue_comment",
        ];
        for repo in &repositories {
            let _hook = github.add_hook(*repo, WEBHOOK_URL, Some(WEBHOOK_SECRET), &events, start);
        }
        Ok((world, repositories[0]))
    }

    fn ledger_files(&self) -> Result<Option<Files>, String> {
        let mut ledger = self.ledger.as_deref().map(seed::files_of).transpose()?;
        if !self.ledger_texts.is_empty() {
            let texts = self.ledger_texts.clone().into_iter();
            let ledger = ledger.get_or_insert_default();
            ledger.extend(texts.map(|(path, text)| (path, text.into())));
        }
        Ok(ledger)
    }
}

/// The keys of a ledger whose times may come after its newest change.
const FUTURE_TIMES: [&str; 5] = [
    "archive_at",
    "closes_at",
    "not_before",
    "paused_until",
    "until",
];

/// What the world takes over from a ledger that was written elsewhere. Otherwise phileas would pause
/// for a foreign ledger, wait until its times have passed, or mistake new sessions and pull
/// requests for recorded ones.
#[derive(Debug, Default)]
struct LedgerFacts {
    /// The id of its repository.
    repository: Option<u64>,
    /// The first second after its newest time.
    start: Option<Timestamp>,
    /// Its highest number of an issue or a pull request.
    last_number: u64,
    /// Makes the model draw other ids than in the sandbox that wrote the ledger.
    digest: u64,
}

impl LedgerFacts {
    fn of_files(files: Option<&Files>) -> Self {
        let mut facts = Self::default();
        for (path, bytes) in files.into_iter().flatten() {
            if path == STATE_PATH {
                let digest = Sha256::digest(bytes);
                let first = digest.first_chunk().copied().unwrap_or_default();
                facts.digest = u64::from_be_bytes(first);
            }
            if path.starts_with(".jules/")
                && path.ends_with(".json")
                && let Ok(document) = serde_json::from_slice(bytes)
            {
                facts.note_value("", &document);
            }
        }
        facts
    }

    fn note_value(&mut self, key: &str, value: &Value) {
        match value {
            // These times are in the future.
            Value::String(_) if FUTURE_TIMES.contains(&key) => {}
            Value::String(text) => {
                let at = text.parse::<Timestamp>().ok();
                let after = at.and_then(|at| Timestamp::from_second(at.as_second() + 1).ok());
                self.start = self.start.max(after);
            }
            Value::Number(number) => match key {
                "repository_id" => self.repository = number.as_u64(),
                "pr_number" | "pr" | "number" | "dashboard_issue" => {
                    self.note_number(number.as_u64())
                }
                _ => {}
            },
            Value::Array(items) => items.iter().for_each(|item| self.note_value(key, item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match key {
                        "pulls" => self.note_number(name.parse().ok()),
                        "published" => self.note_number(field.as_u64()),
                        _ => {}
                    }
                    self.note_value(name, field);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn note_number(&mut self, number: Option<u64>) {
        self.last_number = self.last_number.max(number.unwrap_or_default());
    }
}

/// The repository's full name.
#[must_use]
pub fn repository_name() -> RepositoryName {
    format!("{OWNER}/{NAME}")
        .parse()
        .expect("the sandbox's repository has a valid name")
}

/// Faults for the worst answers to the open questions: lost requests, lost responses, server errors
/// and limits, a few in a hundred requests each.
#[must_use]
pub fn worst_faults() -> FaultPlan {
    let rule = |face: Face, fault: Fault, probability: f64| FaultRule {
        face: Some(face),
        method: None,
        path: None,
        body: None,
        nth: None,
        probability: Some(probability),
        from: None,
        until: None,
        fault,
    };
    let status = |status: u16, done: bool| Fault::Status {
        status,
        done,
        retry_after: None,
        html: status == 502,
    };
    FaultPlan {
        rules: vec![
            rule(Face::Jules, Fault::DropAfter {}, 0.02),
            rule(Face::Jules, Fault::DropBefore {}, 0.02),
            rule(Face::Jules, status(503, false), 0.02),
            rule(Face::Jules, status(502, true), 0.01),
            rule(Face::Github, Fault::DropAfter {}, 0.01),
            rule(Face::Github, Fault::DropBefore {}, 0.01),
            rule(Face::Github, status(502, true), 0.01),
            rule(Face::Github, status(500, false), 0.01),
            rule(
                Face::Github,
                Fault::SecondaryLimit {
                    retry_after: Some(60),
                },
                0.002,
            ),
        ],
    }
}
