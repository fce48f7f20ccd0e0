//! A scripted transport, and a clock that advances only in pauses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;
use phileas_domain::engine::{Checks, CreateSession, Repository};
use phileas_domain::model::{Marker, RepositoryId, TurnId};

use super::super::{Client, JulesKey, Pause, RepositoryJules, Settings, routes};
use crate::adapters::transport::{BoxFuture, Transport, TransportError};
use crate::runtime::ports::Stopwatch;

pub(super) const KEY: &str = "test-key-0123456789";

/// The scripted answers.
pub(super) type Reply = Result<Response<Bytes>, TransportError>;

#[derive(Default)]
pub(super) struct Stage {
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Request<Bytes>>>,
    elapsed: Mutex<Duration>,
    waits: Mutex<Vec<Duration>>,
}

pub(super) struct Scripted {
    pub(super) stage: Arc<Stage>,
    pub(super) client: Arc<Client>,
    pub(super) jules: RepositoryJules,
}

pub(super) fn stage(replies: impl IntoIterator<Item = Reply>) -> Scripted {
    stage_with(replies, |_| {})
}

pub(super) fn stage_with(
    replies: impl IntoIterator<Item = Reply>,
    set: impl FnOnce(&mut Settings),
) -> Scripted {
    let stage = Arc::new(Stage {
        replies: Mutex::new(replies.into_iter().collect()),
        ..Stage::default()
    });
    let mut settings = Settings::new(JulesKey::new(KEY).unwrap());
    set(&mut settings);
    let client = Arc::new(Client::new(
        settings,
        stage.clone(),
        stage.clone(),
        stage.clone(),
    ));
    let jules = RepositoryJules::new(client.clone(), "acme/widget".parse().unwrap());
    Scripted {
        stage,
        client,
        jules,
    }
}

impl Transport for Stage {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Reply> {
        let line = format!("{} {}", request.method(), request.uri());
        self.requests.lock().unwrap().push(request);
        let reply = self.replies.lock().unwrap().pop_front();
        let reply = reply.unwrap_or_else(|| panic!("the script has no answer left for {line}"));
        Box::pin(async { reply })
    }
}

impl Stopwatch for Stage {
    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }
}

impl Pause for Stage {
    fn now(&self) -> Timestamp {
        let elapsed = jiff::SignedDuration::try_from(self.elapsed()).unwrap();
        Timestamp::UNIX_EPOCH + elapsed
    }

    fn pause_for(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.pass(time);
        self.waits.lock().unwrap().push(time);
        Box::pin(async {})
    }
}

impl Stage {
    pub(super) fn pass(&self, time: Duration) {
        *self.elapsed.lock().unwrap() += time;
    }

    /// Waits so far, in whole seconds: jitter never adds up to one here.
    pub(super) fn waits(&self) -> Vec<u64> {
        let waits = self.waits.lock().unwrap();
        waits.iter().map(Duration::as_secs).collect()
    }

    pub(super) fn requests(&self) -> Vec<Request<Bytes>> {
        self.requests.lock().unwrap().clone()
    }

    /// Requests so far as `GET /sessions?pageSize=100`, the base left out.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |request: &Request<Bytes>| {
            let target = request.uri().path_and_query().unwrap().as_str();
            let target = target.strip_prefix("/v1alpha").unwrap();
            format!("{} {target}", request.method())
        };
        self.requests().iter().map(line).collect()
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.replies.lock().unwrap().is_empty()
    }
}

pub(super) fn json(status: u16, body: &serde_json::Value) -> Reply {
    raw(status, "application/json; charset=UTF-8", body.to_string())
}

pub(super) fn ok(body: serde_json::Value) -> Reply {
    json(200, &body)
}

pub(super) fn raw(status: u16, kind: &str, body: impl Into<Bytes>) -> Reply {
    let response = Response::builder()
        .status(status)
        .header("content-type", kind);
    Ok(response.body(body.into()).unwrap())
}

pub(super) fn with_header(reply: Reply, name: &'static str, value: &str) -> Reply {
    let mut response = reply.unwrap();
    response.headers_mut().insert(name, value.parse().unwrap());
    Ok(response)
}

/// Google's envelope.
pub(super) fn refusal(code: u16, status: &str, message: &str) -> Reply {
    let body = serde_json::json!({"error": {"code": code, "message": message, "status": status}});
    json(code, &body)
}

pub(super) fn missing() -> Reply {
    refusal(404, "NOT_FOUND", "Requested entity was not found.")
}

pub(super) fn lost() -> Reply {
    Err(TransportError::Lost("connection reset".to_owned()))
}

pub(super) fn too_large() -> Reply {
    Err(TransportError::TooLarge { limit: 32 << 20 })
}

/// How many a request for a page, as [`Stage::lines`] has it, asks for.
pub(super) fn size_of(line: &str) -> u32 {
    let rest = line.split_once("pageSize=").unwrap().1;
    rest.split('&').next().unwrap().parse().unwrap()
}

pub(super) fn not_sent() -> Reply {
    Err(TransportError::NotSent("connection refused".to_owned()))
}

/// The repository as GitHub shows it; its id is that of [`marker`]'s turn.
pub(super) fn repository() -> Repository {
    Repository {
        id: RepositoryId(1),
        name: "acme/widget".parse().unwrap(),
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: None,
        default_checks: Checks::None,
    }
}

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn marker() -> Marker {
    Marker {
        turn: TurnId::derive("nonce", RepositoryId(1), &"default".into(), 1, &"".into()),
        attempt: 1,
    }
}

pub(super) fn create() -> CreateSession {
    CreateSession {
        track: "default".into(),
        slot: "".into(),
        marker: marker(),
        persona: "refactor".into(),
        title: format!("refactor{}", marker().title_suffix()),
        prompt: "Tidy up the private cellar.".to_owned(),
        source: "acme/widget".parse().unwrap(),
        branch: "main".into(),
        make_branch: None,
        open_pull: true,
        environment_variables: false,
        require_plan_approval: true,
        not_after: at("2026-01-05T12:10:00Z"),
    }
}

/// The route that a request belongs to.
pub(super) fn route_of(request: &Request<Bytes>) -> &'static str {
    let fits = |route: &&str| {
        let (method, template) = route.split_once(' ').unwrap();
        method == request.method() && path_fits(template, request.uri().path())
    };
    let route = routes::ALL.iter().copied().find(fits);
    route.unwrap_or_else(|| panic!("no route fits {request:?}"))
}

fn path_fits(template: &str, path: &str) -> bool {
    if let Some(before) = template.strip_suffix("{source}") {
        return path.starts_with(before);
    }
    let (template, verb) = template.split_once(':').unwrap_or((template, ""));
    let (path, path_verb) = path.split_once(':').unwrap_or((path, ""));
    verb == path_verb
        && template.split('/').count() == path.split('/').count()
        && template
            .split('/')
            .zip(path.split('/'))
            .all(|(wanted, given)| wanted.starts_with('{') || wanted == given)
}
