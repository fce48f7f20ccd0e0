//! The time between the signal and the end: a load balancer sees that the service ends before deliveries are refused.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use phileas::runtime::driver::Heartbeat;
use phileas::runtime::inbox::{Inbox, Page, Start};
use phileas::server::admin::dashboard::Access;
use phileas::server::public::counters::Figures;
use phileas::server::public::webhook::{Intake, RepositoryFilter, Secrets};
use phileas::server::shutdown::ShutdownTrigger;
use phileas::server::{Driver, Service, Shutdown, shutdown_pair};
use tempfile::tempdir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::client::{Line, Post, ask, get, until_ready_is};
use super::hook::SECRET;
use super::served::{self, deliveries};
use crate::support::memory_inbox::MemoryInbox;

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Far less than a service takes to end whose driver is never heard to have ended.
const SOON: Duration = Duration::from_secs(15);

/// A tick that runs until it is released, however often the end is requested.
struct AtWork(Arc<Notify>);

impl<I: Inbox> Driver<I> for AtWork {
    async fn run(self, _inbox: Arc<I>, mut ending: Shutdown) {
        ending.wait_for_shutdown().await;
        self.0.notified().await;
    }
}

/// A service of this process, whose driver is a test's own.
struct Stand {
    inbox: Arc<MemoryInbox>,
    let_go: Arc<Notify>,
    end: ShutdownTrigger,
    hurry: ShutdownTrigger,
    public: SocketAddr,
    admin: SocketAddr,
    running: JoinHandle<bool>,
}

async fn stand(drain: Duration) -> Stand {
    let inbox = Arc::new(MemoryInbox::new(100));
    let figures = Arc::new(Figures::default());
    let secrets = Secrets::from_list(&SECRET.into()).unwrap();
    let let_go = Arc::new(Notify::new());
    let public = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let admin = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (end, asked) = shutdown_pair();
    let (hurry, hurried) = shutdown_pair();
    let places = (public.local_addr().unwrap(), admin.local_addr().unwrap());
    let service = Service {
        inbox: Arc::clone(&inbox),
        intake: Intake::new(
            Arc::clone(&inbox),
            secrets,
            RepositoryFilter::default(),
            Arc::clone(&figures),
        ),
        public,
        admin,
        admin_routes: Router::new(),
        figures,
        driver: AtWork(Arc::clone(&let_go)),
        heartbeat: Arc::new(Heartbeat::default()),
        drain,
        access: Arc::new(Access::new(places.1, None, []).unwrap()),
        hurry: hurried,
    };
    Stand {
        inbox,
        let_go,
        end,
        hurry,
        public: places.0,
        admin: places.1,
        running: tokio::spawn(service.run(asked)),
    }
}

#[test]
fn while_ticks_run_deliveries_are_stored_and_readiness_is_off() {
    let runtime = Runtime::new().unwrap();
    let stand = runtime.block_on(stand(Duration::ZERO));
    until_ready_is(stand.public, 200);
    stand.end.request_shutdown();
    for place in [stand.public, stand.admin] {
        until_ready_is(place, 503);
        assert_eq!(
            get(place, "/readyz").body,
            "not ready: the service is shutting down\n"
        );
        assert_eq!(get(place, "/healthz").status, 200, "it lives still");
    }
    for n in 0..3 {
        let post = Post::about(&format!("late-{n}"), 7);
        assert_eq!(ask(stand.public, &post.bytes()).status, 202);
    }
    stand.let_go.notify_one();
    assert!(
        runtime.block_on(stand.running).unwrap(),
        "all came to an end"
    );
    assert!(
        Line::open(stand.public).is_err(),
        "no connection is accepted any more"
    );
    let page = Page {
        start: Start::After(0),
        most: 10,
    };
    let stored = runtime.block_on(stand.inbox.list_deliveries(page)).unwrap();
    assert_eq!(stored.len(), 3, "left to the next one");
}

#[test]
fn an_idle_service_waits_for_the_drain_and_no_longer() {
    let runtime = Runtime::new().unwrap();
    for drain in [0, 300].map(Duration::from_millis) {
        let stand = runtime.block_on(stand(drain));
        stand.let_go.notify_one();
        let begun = Instant::now();
        stand.end.request_shutdown();
        assert!(runtime.block_on(stand.running).unwrap());
        let took = begun.elapsed();
        assert!(took >= drain && took < SOON, "{drain:?}: {took:?}");
    }
}

#[test]
fn a_second_signal_does_not_wait_for_the_drain() {
    let runtime = Runtime::new().unwrap();
    let stand = runtime.block_on(stand(Duration::from_secs(600)));
    stand.let_go.notify_one();
    let begun = Instant::now();
    stand.end.request_shutdown();
    stand.hurry.request_shutdown();
    assert!(runtime.block_on(stand.running).unwrap());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// The whole program, whose drain a balancer needs to notice that it is ending.
#[test]
fn a_service_behind_a_balancer_takes_deliveries_until_it_is_known_to_end() {
    const DRAIN: Duration = Duration::from_secs(8);
    let data = tempdir().unwrap();
    let mut service = served::Service::start_with(data.path(), &["--drain", "8s"], |program| {
        // The option counts.
        program.env("PHILEAS_DRAIN", "3m")
    });
    let begun = Instant::now();
    service.ask_to_end();
    until_ready_is(service.public, 503);
    let post = Post::about("between", 7);
    assert_eq!(ask(service.public, &post.bytes()).status, 202);
    assert_eq!(service.wait().code(), Some(0));
    let took = begun.elapsed();
    assert!(took >= DRAIN && took < PATIENCE, "{took:?}");
    assert!(Line::open(service.public).is_err());
    assert_eq!(deliveries(data.path()).len(), 1);
}
