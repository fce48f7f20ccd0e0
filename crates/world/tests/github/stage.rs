//! The fixture of these tests: one repository, an owner, a writer, a triager, and tokens of each kind.

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use http::{Request, Response};
use phileas_world::github::NewApp;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::{RepoId, Role};
use phileas_world::seed::{Seed, files};
use phileas_world::{Answer, Knobs, Outcome, World, WorldConfig};
use serde_json::{Value, json};

pub(crate) const APP: u64 = 77;

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) repo: RepoId,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_knobs(Knobs::documented())
    }

    pub(crate) fn with_knobs(knobs: Knobs) -> Self {
        let mut world = World::new(WorldConfig {
            knobs,
            seed: 5,
            ..WorldConfig::default()
        });
        let mut seed = Seed::new(
            "olivia",
            "garden",
            files(&[
                ("README.md", "# Garden\n"),
                ("src/lib.rs", "pub fn one() {}\n"),
            ]),
        );
        seed.ledger = Some(files(&[(".jules/cycle_state.json", "{}\n")]));
        seed.labels = vec!["bug".to_owned(), "phileas:sentinel".to_owned()];
        seed.people = vec![
            ("walter".to_owned(), Role::Write),
            ("trudy".to_owned(), Role::Triage),
        ];
        let repo = world.seed(&seed);
        let now = world.now();
        let github = world.github_mut();
        for login in ["olivia", "walter", "trudy", "outsider"] {
            github.add_person_token(&format!("token-{login}"), login);
        }
        let grants = permissions(&[
            ("contents", Access::Write),
            ("issues", Access::Write),
            ("pull_requests", Access::Write),
        ]);
        github.add_actions_token("token-actions", repo, grants.clone());
        let events = ["issues", "push", "pull_request", "issue_comment"]
            .map(str::to_owned)
            .to_vec();
        github.add_app(
            NewApp {
                id: APP,
                slug: "phileas".into(),
                owner: "olivia".into(),
                permissions: grants,
                events,
                ..NewApp::default()
            },
            now,
        );
        github.install_app(APP, "olivia", None, now);
        Self { world, repo }
    }

    pub(crate) fn send_request(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Response<Bytes> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body
            .map(|body| Bytes::from(body.to_string()))
            .unwrap_or_default();
        expect_reply(self.world.github_request(request.body(body).unwrap()))
    }

    /// A request with the owner's token; status and JSON body.
    pub(crate) fn ask_owner(&mut self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.ask_as("token-olivia", method, path, body)
    }

    pub(crate) fn ask_as(
        &mut self,
        token: &str,
        method: &str,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let body = (!body.is_null()).then_some(body);
        let response = self.send_request(method, path, Some(token), body.as_ref());
        (response.status().as_u16(), json_of(&response))
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        let (status, body) = self.ask_owner("GET", path, Value::Null);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub(crate) fn post_graphql(&mut self, query: &str, variables: Value) -> Value {
        let (status, body) = self.ask_owner(
            "POST",
            "/graphql",
            json!({"query": query, "variables": variables}),
        );
        assert_eq!(status, 200, "{body}");
        body
    }

    /// A JWT of the App with these claims; its signature is not checked while no key is registered.
    pub(crate) fn app_jwt(&self, issued: i64, ends: i64) -> String {
        let now = self.world.now().as_second();
        let encode = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let head = encode(json!({"alg": "RS256", "typ": "JWT"}));
        let claims =
            encode(json!({"iat": now + issued, "exp": now + ends, "iss": APP.to_string()}));
        format!("{head}.{claims}.c2lnbmF0dXJl")
    }
}

pub(crate) fn expect_reply(answer: Answer) -> Response<Bytes> {
    match answer.outcome {
        Outcome::Reply(response) => response,
        other => panic!("no reply: {other:?}"),
    }
}

pub(crate) fn json_of(response: &Response<Bytes>) -> Value {
    if response.body().is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(response.body()).unwrap()
    }
}
