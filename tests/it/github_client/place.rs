//! A world with one repository, and clients of it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::github::{Base, Client, Credential, Pause, Settings, Token};
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas_world::github::{RepoId, Role};
use phileas_world::seed::{Seed, files};
use phileas_world::{Outcome, World, WorldConfig};

pub(super) const TOKEN: &str = "ghp_test-token";

/// A world that several clients share; time passes by requests and by waiting.
#[derive(Clone)]
pub(super) struct ClientWorld {
    world: Arc<Mutex<World>>,
    pub(super) repo: RepoId,
}

impl ClientWorld {
    /// A repository `acme/widget` with a schedule, a persona and no ledger.
    pub(super) fn new() -> Self {
        Self::with(files(&[
            (".jules/schedules.toml", "cycle = [\"curator\"]\n"),
            (".jules/blocks/rules.md", "Be kind.\n"),
            (
                ".jules/personas/curator/prompt.md.j2",
                "---\nid: curator\n---\nTidy.\n",
            ),
            (
                ".jules/personas/curator/journals/2026-01-04.md",
                "Tidied.\n",
            ),
            ("src/lib.rs", "//! A widget.\n"),
        ]))
    }

    /// The same with other files; without any the repository is empty.
    pub(super) fn with(files: phileas_world::seed::Files) -> Self {
        let mut world = World::new(WorldConfig::default());
        let mut seed = Seed::new("acme", "widget", files);
        seed.people = vec![("mia".to_owned(), Role::Write)];
        let repo = world.seed(&seed);
        world.github_mut().add_person_token(TOKEN, "acme");
        Self {
            world: Arc::new(Mutex::new(world)),
            repo,
        }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub(super) fn client(&self) -> Client {
        self.client_as(Credential::Token(Token::new(TOKEN).unwrap()))
    }

    pub(super) fn client_as(&self, credential: Credential) -> Client {
        Client::new(Settings {
            repository: "acme/widget".parse().unwrap(),
            credential,
            base: Base::default(),
            transport: Arc::new(self.clone()),
            pause: Arc::new(self.clone()),
            seed: 1,
        })
    }

    /// Turns knobs.
    pub(super) fn knobs(&self, changes: &serde_json::Value) {
        self.world().knobs_mut().set(changes).unwrap();
    }

    /// Lets requests fail by these rules, written as in files.
    pub(super) fn faults(&self, rules: &serde_json::Value) {
        let plan = serde_json::from_value(serde_json::json!({ "rules": rules })).unwrap();
        self.world().faults_mut().replace_plan(plan);
    }

    /// Messages of a branch's commits, the newest first.
    pub(super) fn messages(&self, branch: &str) -> Vec<String> {
        let world = self.world();
        let objects = world.github().objects(self.repo).unwrap();
        let mut next = world.github().branch_head(self.repo, branch);
        let mut messages = Vec::new();
        while let Some(oid) = next {
            let commit = objects.commit(oid).unwrap();
            messages.push(commit.message.clone());
            next = commit.parents.first().copied();
        }
        messages
    }

    fn pass(&self, length: Duration) {
        let mut world = self.world();
        let until = world.now() + SignedDuration::try_from(length).unwrap();
        world.advance_to(until);
    }
}

impl Transport for ClientWorld {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let answer = self.world().github_request(request);
        // A transport does not wait for ever.
        self.pass(answer.latency.min(Duration::from_secs(60)));
        let outcome = match answer.outcome {
            Outcome::Reply(response) => Ok(response),
            Outcome::Dropped => Err(TransportError::Lost("connection reset".to_owned())),
            Outcome::TimedOut => Err(TransportError::Lost("no answer".to_owned())),
        };
        Box::pin(async { outcome })
    }
}

impl Pause for ClientWorld {
    fn now(&self) -> Timestamp {
        self.world().now()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        self.pass(length);
        Box::pin(async {})
    }
}
