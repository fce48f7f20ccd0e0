use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{CreateSession, RunRequest};
use phileas_domain::model::{Marker, PromptLine};
use phileas_domain::plan::Driver;
use phileas_domain::state::{STATE_PATH, State, codec};
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::{Face, Fault, FaultPlan, FaultRule};
use serde_json::Value;

use super::live_sessions::announced_sessions;
use super::*;
use crate::adapters::transport::BoxFuture;
use crate::runtime::{Settings, Tick};
use crate::sandbox::{Clients, SharedWorld, WorldSetup, world_setup};

struct Fixture {
    shared: SharedWorld,
    clients: Clients,
}

impl Fixture {
    fn new() -> Self {
        let mut setup = WorldSetup::new(7);
        setup.review_policy = ReviewPolicy::absent();
        let shared = SharedWorld::new(setup.build_world().unwrap().0);
        let clients = Clients::new(&shared, world_setup::repository_name(), 7);
        Self { shared, clients }
    }

    /// A process announces sessions, and its calls to Jules are lost on the way.
    async fn with_announced_sessions() -> Self {
        let stage = Self::new();
        let lost = FaultRule {
            face: Some(Face::Jules),
            method: Some("POST".to_owned()),
            path: Some("*/sessions".to_owned()),
            body: None,
            nth: None,
            probability: None,
            from: None,
            until: None,
            fault: Fault::DropBefore {},
        };
        let faults = FaultPlan { rules: vec![lost] };
        stage.shared.lock_world().faults_mut().replace_plan(faults);
        let tick = Tick {
            github: &stage.clients.github,
            jules: &stage.clients.jules,
            stopwatch: &stage.clients.time,
        };
        let settings = Settings {
            holder: "another".into(),
            driver: Driver::Any,
            ask: RunRequest::Due,
            entropy: [7; 32],
            paused_by_variable: None,
            previous_tick: None,
            renderer: std::sync::Arc::new(phileas_domain::prompt::InProcess),
        };
        tick.run(&settings).await.unwrap();
        stage
            .shared
            .lock_world()
            .faults_mut()
            .replace_plan(FaultPlan::default());
        assert!(!announced_sessions(&stage.read_state()).is_empty());
        stage
    }

    fn read_state(&self) -> State {
        let world = self.shared.lock_world();
        let github = world.github();
        let repo = github
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
            .unwrap();
        let head = github.branch_head(repo, "jules").unwrap();
        let bytes = github.read_file(repo, head, STATE_PATH).unwrap();
        codec::load(std::str::from_utf8(&bytes).unwrap())
            .unwrap()
            .state
    }

    async fn run_stop(&self, pause: &dyn Waiting, variable: bool) -> (Exit, Vec<Value>) {
        let repository = format!("{}/{}", world_setup::OWNER, world_setup::NAME)
            .parse()
            .unwrap();
        let brake = Stopper {
            repository: &repository,
            github: &self.clients.github,
            pause,
            deadline: None,
            paused_otherwise: variable,
            json: true,
        };
        let mut out = Vec::new();
        let screen = &mut Screen::without_terminal(&mut out);
        let exit = brake
            .stop_repository(Ok(&self.clients.jules), screen)
            .await
            .unwrap();
        let lines = String::from_utf8(out).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        (exit, lines.collect())
    }
}

fn count_key(lines: &[Value], key: &str) -> usize {
    lines.iter().filter(|line| !line[key].is_null()).count()
}

#[tokio::test]
async fn an_announced_session_is_unconfirmed_until_it_must_be_listed() {
    let stage = Fixture::with_announced_sessions().await;
    let announced = announced_sessions(&stage.read_state());
    let called = announced
        .iter()
        .map(AnnouncedSession::call_ends_by)
        .max()
        .unwrap();
    let (exit, lines) = stage.run_stop(&stage.clients.time, false).await;
    assert_eq!(exit, Exit::Findings);
    assert_eq!(count_key(&lines, "announced"), announced.len(), "{lines:?}");
    assert_eq!(
        count_key(&lines, "may_still_start"),
        announced.len(),
        "{lines:?}"
    );
    assert_eq!(lines[1]["holder"], "another");
    assert!(stage.shared.world_time() >= called);

    stage.shared.advance_time(Duration::from_secs(15 * 60));
    let (exit, lines) = stage.run_stop(&stage.clients.time, false).await;
    assert_eq!((exit, lines.len()), (Exit::Done, 1), "{lines:?}");
}

/// While the command waits by this clock, the process that announced a session creates it.
struct CreatesWhileWaiting<'a> {
    stage: &'a Fixture,
    create: CreateSession,
}

impl Waiting for CreatesWhileWaiting<'_> {
    fn now(&self) -> Timestamp {
        self.stage.shared.world_time()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.stage.shared.advance_time(Duration::from_secs(30));
            self.stage
                .clients
                .jules
                .create_session(&self.create)
                .await
                .unwrap();
            self.stage.shared.advance_time(length);
        })
    }
}

#[tokio::test]
async fn a_session_that_is_created_meanwhile_is_archived() {
    let stage = Fixture::with_announced_sessions().await;
    let state = stage.read_state();
    let all = announced_sessions(&state);
    let [one] = &all[..] else {
        panic!("{} are announced", all.len());
    };
    let line = PromptLine {
        marker: Marker {
            turn: one.turn.turn.clone(),
            attempt: one.turn.attempt,
        },
        repository: state.genesis.clone().unwrap().repository_id,
        track: one.track.clone(),
        seq: 1,
        slot: "".into(),
        persona: one.turn.persona_id.clone(),
    };
    let create = CreateSession {
        track: line.track.clone(),
        slot: line.slot.clone(),
        marker: line.marker.clone(),
        persona: line.persona.clone(),
        title: "late".to_owned(),
        prompt: line.render(),
        source: world_setup::repository_name(),
        branch: "main".into(),
        make_branch: None,
        open_pull: true,
        environment_variables: false,
        require_plan_approval: false,
        not_after: one.not_after,
    };
    let stage = &stage;
    let (exit, lines) = stage
        .run_stop(&CreatesWhileWaiting { stage, create }, false)
        .await;
    assert_eq!(exit, Exit::Done, "{lines:?}");
    assert_eq!(count_key(&lines, "announced"), 1);
    assert_eq!(count_key(&lines, "archived"), 1, "{lines:?}");
    assert_eq!(count_key(&lines, "may_still_start"), 0, "{lines:?}");
    let books = stage.shared.lock_world().complete_books();
    assert!(books.sessions.iter().all(|session| session.archived));
}

#[tokio::test]
async fn without_a_ledger_only_a_variable_or_label_stops_sessions() {
    let stage = Fixture::new();
    let (exit, lines) = stage.run_stop(&stage.clients.time, false).await;
    assert_eq!(exit, Exit::Findings);
    assert_eq!(lines[0]["paused"], false);
    assert_eq!(lines[0]["help"], MANUAL_STOP);
    assert_eq!(
        stage.run_stop(&stage.clients.time, true).await.0,
        Exit::Done
    );
}
