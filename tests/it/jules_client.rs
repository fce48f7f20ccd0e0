//! The client for Jules against the model of Jules, in one process and on virtual time.
//!
//! Verdicts are taken from the model's own books, never from what the client says of itself.

use std::collections::BTreeSet;
use std::time::Duration;

use phileas::adapters::jules::wire::{Kind, NewSession};
use phileas::adapters::jules::{PageQuery, routes};
use phileas::runtime::ports::{Disposition, ReadJules as _, WriteJules as _};
use phileas::sandbox::{Clients, SharedWorld, WorldSetup};
use phileas_domain::engine::{
    ActivityKind, Checks, CreateFailure, CreateSession, ListingNeed, Repository, Session,
    SessionState,
};
use phileas_domain::model::{Marker, PromptLine, RepositoryId, SessionId, TurnId};
use phileas_world::faults::FaultRule;
use phileas_world::jules::{Matcher, Scenario, Tier};
use phileas_world::{Face, Fault, FaultPlan, Knobs};

/// Longer than any delay that a knob makes.
const SETTLED: Duration = Duration::from_secs(15 * 60);

struct Bench {
    shared: SharedWorld,
    clients: Clients,
}

fn bench(set: impl FnOnce(&mut WorldSetup)) -> Bench {
    let mut setup = WorldSetup::new(7);
    setup.tier = Tier::Ultra;
    setup.jules.asks = 0.0;
    set(&mut setup);
    let (world, _) = setup.build_world().unwrap();
    let shared = SharedWorld::new(world);
    let clients = Clients::new(&shared, "acme/widget".parse().unwrap(), 7);
    Bench { shared, clients }
}

/// The repository as GitHub shows it.
fn repository() -> Repository {
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

fn turn(seq: u64) -> CreateSession {
    let marker = Marker {
        turn: TurnId::derive("nonce", RepositoryId(1), &"default".into(), seq, &"".into()),
        attempt: 1,
    };
    let line = PromptLine {
        marker: marker.clone(),
        repository: RepositoryId(1),
        track: "default".into(),
        seq,
        slot: "".into(),
        persona: "refactor".into(),
    };
    CreateSession {
        track: "default".into(),
        slot: "".into(),
        persona: "refactor".into(),
        title: format!("refactor: default{}", marker.title_suffix()),
        prompt: format!("Tidy up.\n\n{}", line.render()),
        marker,
        source: "acme/widget".parse().unwrap(),
        branch: "main".into(),
        make_branch: None,
        open_pull: true,
        environment_variables: false,
        require_plan_approval: false,
        not_after: "2027-01-01T00:00:00Z".parse().unwrap(),
    }
}

impl Bench {
    async fn create(&self, create: &CreateSession) -> Result<Session, CreateFailure> {
        self.clients.jules.create_session(create).await
    }

    async fn session(&self, session: &Session) -> Session {
        let found = self.clients.jules.read_session(&session.id).await.unwrap();
        found.unwrap()
    }

    async fn list(&self, need: ListingNeed) -> Vec<Session> {
        let listed = self
            .clients
            .jules
            .list_sessions(&repository(), &need, self.shared.world_time())
            .await
            .unwrap();
        assert!(
            listed
                .sessions
                .is_sorted_by_key(|session| session.created_at)
        );
        assert!(matches!(need, ListingNeed::Since(_)) || listed.covers(self.shared.world_time()));
        listed.sessions
    }

    fn made(&self, create: &CreateSession) -> usize {
        let marker = create.marker.to_string();
        self.shared.lock_world().jules().created_with(&marker)
    }

    fn creates_sent(&self) -> usize {
        let world = self.shared.lock_world();
        let requests = &world.books().requests;
        let creates = |request: &&phileas_world::books::Request| {
            format!("{} {}", request.method, request.route) == routes::CREATE_SESSION
        };
        requests.iter().filter(creates).count()
    }
}

#[tokio::test]
async fn a_session_lives_and_every_method_is_understood() {
    let bench = bench(|_| {});
    let jules = &bench.clients.jules;
    let client = &bench.clients.jules_client;
    let sources = client.list_sources(PageQuery::default()).await.unwrap();
    let source = client.get_source(&sources.sources[0].name).await.unwrap();
    let repository = source.github_repo.unwrap();
    assert_eq!(
        (repository.owner.as_str(), repository.repo.as_str()),
        ("acme", "widget")
    );

    let mut gated = turn(1);
    gated.require_plan_approval = true;
    let session = bench.create(&gated).await.unwrap();
    assert_eq!(session.state, SessionState::Queued);
    assert_eq!(bench.list(ListingNeed::Everything).await[0].id, session.id);
    bench.shared.advance_time(SETTLED);
    assert_eq!(
        bench.session(&session).await.state,
        SessionState::AwaitingPlanApproval
    );
    let before = jules.read_activities(&session.id).await.unwrap().unwrap();
    jules.approve_plan(&session.id).await.unwrap();
    bench.shared.advance_time(Duration::from_secs(3 * 60 * 60));

    let done = bench.session(&session).await;
    assert_eq!(done.state, SessionState::Completed);
    assert!(done.has_changes && done.pulls.len() == 1, "{done:?}");
    let after = jules.read_activities(&session.id).await.unwrap().unwrap();
    assert_eq!(after[..before.len()], before[..]);
    let kinds: Vec<&ActivityKind> = after.iter().map(|activity| &activity.kind).collect();
    assert!(kinds.contains(&&ActivityKind::PlanApproved));
    assert!(kinds.contains(&&ActivityKind::Completed));
    let whole = PageQuery {
        page_size: Some(100),
        ..PageQuery::default()
    };
    let whole = client
        .list_activities(session.id.as_str(), whole)
        .await
        .unwrap();
    assert_eq!(whole.activities.len(), after.len());
    assert!(
        whole
            .activities
            .iter()
            .any(|activity| activity.change_set().is_some())
    );
    assert!(
        whole
            .activities
            .iter()
            .all(|activity| !matches!(activity.kind, Kind::Unknown(..)))
    );

    jules
        .send_message(&session.id, "Thank you. [phileas-1]")
        .await
        .unwrap();
    let said = |kind: &ActivityKind| matches!(kind, ActivityKind::UserMessaged(text) if text.ends_with("[phileas-1]"));
    let answered = jules.read_activities(&session.id).await.unwrap().unwrap();
    assert!(answered.iter().any(|activity| said(&activity.kind)));

    jules.archive_session(&session.id).await.unwrap();
    let since = ListingNeed::Since(session.created_at);
    assert!(bench.list(since).await.is_empty());
    assert!(
        bench
            .list(ListingNeed::CompleteSince(session.created_at))
            .await[0]
            .archived
    );
    let unknown = SessionId::from("404");
    assert_eq!(jules.read_session(&unknown).await.unwrap(), None);

    let world = bench.shared.lock_world();
    let requests = &world.books().requests;
    let called: BTreeSet<String> = requests
        .iter()
        .map(|request| format!("{} {}", request.method, request.route))
        .collect();
    let all: BTreeSet<String> = routes::ALL
        .iter()
        .map(|route| (*route).to_owned())
        .collect();
    assert_eq!(called, all);
    assert_eq!(requests.len() as u64, client.request_count());
    let refused: Vec<_> = requests
        .iter()
        .filter(|request| request.status != Some(200))
        .collect();
    let statuses: Vec<_> = refused.iter().map(|request| request.status).collect();
    assert_eq!(statuses, [Some(404)], "{refused:?}");
}

#[tokio::test]
async fn each_answer_to_an_open_question_is_coped_with() {
    let names: Vec<String> = Knobs::names()
        .into_iter()
        .filter(|name| Knobs::describe_knob(name).is_some_and(|text| text.starts_with("Jules:")))
        .collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let bench = bench(|setup| assert!(setup.knobs.set_worst(&name)));
        let create = turn(1);
        let session = bench.create(&create).await;
        assert_eq!(
            (bench.made(&create), bench.creates_sent()),
            (1, 1),
            "{name}"
        );
        let Ok(session) = session else {
            panic!("{name}: {session:?}");
        };
        bench.shared.advance_time(SETTLED);
        let all = bench.list(ListingNeed::Everything).await;
        let found: Vec<_> = all
            .iter()
            .filter(|listed| listed.id == session.id)
            .collect();
        assert_eq!(found.len(), 1, "{name}: {all:?}");
        assert_eq!(found[0].source, Some(create.source.clone()), "{name}");
        for _ in 0..3 {
            let activities = bench
                .clients
                .jules
                .read_activities(&session.id)
                .await
                .unwrap()
                .unwrap();
            let ids: BTreeSet<_> = activities.iter().map(|activity| &activity.id).collect();
            assert_eq!(ids.len(), activities.len(), "{name}");
            assert!(
                activities.is_sorted_by_key(|activity| activity.at),
                "{name}"
            );
            assert!(!activities.is_empty(), "{name}");
            bench.shared.advance_time(Duration::from_secs(20 * 60));
        }
        bench
            .clients
            .jules
            .send_message(&session.id, "go on")
            .await
            .unwrap();
        bench
            .clients
            .jules
            .archive_session(&session.id)
            .await
            .unwrap();
        let archived = bench.list(ListingNeed::Everything).await;
        let archived: Vec<_> = archived
            .iter()
            .filter(|listed| listed.id == session.id)
            .collect();
        assert!(
            archived.len() == 1 && archived[0].archived,
            "{name}: {archived:?}"
        );
    }
}

#[tokio::test]
async fn a_create_is_sent_once_whatever_goes_wrong() {
    let status = |status, done| Fault::Status {
        status,
        retry_after: None,
        html: status == 502,
        done,
    };
    let cases = [
        (Fault::DropBefore {}, 0),
        (Fault::DropAfter {}, 1),
        (Fault::TimeoutBefore {}, 0),
        (Fault::TimeoutAfter {}, 1),
        (status(503, true), 1),
        (status(502, false), 0),
        (status(504, true), 1),
    ];
    for (fault, made) in cases {
        let bench = bench(|setup| setup.faults = single_fault(fault.clone()));
        let create = turn(1);
        let failure = bench.create(&create).await.unwrap_err();
        assert!(
            matches!(failure, CreateFailure::Unknown { .. }),
            "{fault:?}: {failure:?}"
        );
        assert_eq!(
            (bench.made(&create), bench.creates_sent()),
            (made, 1),
            "{fault:?}"
        );
        bench.shared.advance_time(SETTLED);
        // One complete listing settles what was unknown.
        let since = ListingNeed::CompleteSince(bench.shared.world_time());
        let found = bench.list(since).await;
        let ours = |session: &&Session| {
            Marker::from_title(&session.title).as_ref() == Some(&create.marker)
        };
        assert_eq!(found.iter().filter(ours).count(), made, "{fault:?}");
    }
}

fn single_fault(fault: Fault) -> FaultPlan {
    let rule = serde_json::json!({"face": "jules", "method": "POST", "fault": fault});
    let rule: FaultRule = serde_json::from_value(rule).unwrap();
    assert_eq!(rule.face, Some(Face::Jules));
    FaultPlan { rules: vec![rule] }
}

#[tokio::test]
async fn a_refusal_is_told_from_a_spent_quota_and_from_a_refused_key() {
    let refused = bench(|_| {});
    let mut nowhere = turn(1);
    nowhere.branch = "no-such-branch".into();
    let failure = refused.create(&nowhere).await.unwrap_err();
    assert!(
        matches!(failure, CreateFailure::TurnRefused { .. }),
        "{failure:?}"
    );
    assert_eq!(refused.made(&nowhere), 0);

    let spent = bench(|setup| setup.tier = Tier::Free);
    let mut quota = None;
    for seq in 1..=16 {
        match spent.create(&turn(seq)).await {
            Ok(_) => assert!(seq <= 15),
            Err(failure) => quota = Some((seq, failure)),
        }
        if quota.is_some() {
            break;
        }
        spent.shared.advance_time(Duration::from_secs(60 * 60));
    }
    let (seq, failure) = quota.unwrap();
    assert!(
        matches!(failure, CreateFailure::Quota { .. }),
        "{failure:?}"
    );
    assert_eq!(spent.made(&turn(seq)), 0);

    let refused = bench(|_| {});
    let account = |bench: &Bench| {
        let mut world = bench.shared.lock_world();
        let account = world.jules_mut().account_mut("maintainer").unwrap();
        account.disabled_keys = account.keys.clone();
    };
    account(&refused);
    let failure = refused.create(&turn(1)).await.unwrap_err();
    assert!(
        matches!(failure, CreateFailure::Credential { .. }),
        "{failure:?}"
    );
    let need = ListingNeed::Everything;
    let listed = refused
        .clients
        .jules
        .list_sessions(&repository(), &need, refused.shared.world_time())
        .await;
    assert_eq!(listed.unwrap_err().disposition, Disposition::Denied);
}

#[tokio::test]
async fn a_long_unordered_listing_is_read_whole() {
    let bench = bench(|setup| {
        setup
            .knobs
            .set(&serde_json::json!({"listing-order": "unordered"}))
            .unwrap();
        setup.jules.scenarios = vec![Scenario {
            when: Matcher::default(),
            minutes: Some(5.0),
            ..Scenario::default()
        }];
    });
    let mut made = BTreeSet::new();
    for seq in 1..=130 {
        made.insert(bench.create(&turn(seq)).await.unwrap().id);
        bench.shared.advance_time(Duration::from_secs(5 * 60));
    }
    let everything = bench.list(ListingNeed::Everything).await;
    let found: BTreeSet<_> = everything.into_iter().map(|session| session.id).collect();
    assert_eq!(found, made);
}

#[tokio::test]
async fn a_session_of_another_repository_is_not_shown() {
    let bench = bench(|_| {});
    let repoless = NewSession {
        prompt: "Write a poem.".to_owned(),
        title: Some("poem".to_owned()),
        source: None,
        open_pull: false,
        environment_variables: false,
        require_plan_approval: false,
    };
    bench
        .clients
        .jules_client
        .create_session(&repoless, None)
        .await
        .unwrap();
    let need = ListingNeed::Everything;
    let listed = bench
        .clients
        .jules
        .list_sessions(&repository(), &need, bench.shared.world_time())
        .await
        .unwrap();
    assert!(listed.sessions.is_empty());
    assert_eq!((listed.key.active, listed.key.created_last_day), (1, 1));
}

/// Jules answers 404 to a message for a session that is queued. It is sent again, and no report says that there is none.
#[tokio::test]
async fn a_message_to_a_queued_session_waits_for_it() {
    let bench = bench(|setup| setup.knobs.queued_message_404 = true);
    let session = bench.create(&turn(1)).await.unwrap();
    let jules = &bench.clients.jules;
    bench.shared.advance_time(Duration::from_millis(1));
    let sent = jules.send_message(&session.id, "Hello").await;
    if let Err(failure) = &sent {
        assert!(failure.detail.contains("still queued"), "{failure}");
        let later = Disposition::Retry { after: None };
        assert_eq!(failure.disposition, later);
    }
    bench.shared.advance_time(Duration::from_secs(600));
    jules
        .send_message(&session.id, "Hello again")
        .await
        .unwrap();
    let missing = SessionId::new("999999999999999999");
    let failure = jules.send_message(&missing, "Hello").await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::NotFound);
}
