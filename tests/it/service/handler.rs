//! The webhook's answers for what a process of its own does not come to easily: an inbox that is full or unable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use phileas::adapters::inbox::sqlite::{DATABASE, DEFAULT_ROOM, DataDirectory, SqliteInbox};
use phileas::runtime::inbox::Inbox;
use phileas::server::public::counters::Figures;
use phileas::server::public::webhook::{Intake, RepositoryFilter, Secrets, webhook_routes};
use tower::ServiceExt as _;

use super::client::Post;
use super::hook::SECRET;
use crate::support::memory_inbox::MemoryInbox;

struct Hook {
    router: axum::Router,
    figures: Arc<Figures>,
}

fn hook(inbox: impl Inbox + 'static) -> Hook {
    let secrets = Secrets::from_list(&SECRET.into()).unwrap();
    let figures = Arc::new(Figures::default());
    let listed = RepositoryFilter::default();
    let intake = Intake::new(Arc::new(inbox), secrets, listed, Arc::clone(&figures));
    Hook {
        router: webhook_routes(intake),
        figures,
    }
}

impl Hook {
    /// The status, and whether the answer says when to come again.
    async fn send(&self, post: Post) -> (u16, bool) {
        let mut request = Request::post("/webhook");
        for (name, value) in post.headers {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(post.body)).unwrap();
        let reply = self.router.clone().oneshot(request).await.unwrap();
        let again = reply.headers().contains_key("retry-after");
        (reply.status().as_u16(), again)
    }

    fn figure(&self, name: &str) -> u64 {
        let all = self.figures.all_counts();
        all.iter().find(|(known, _)| *known == name).unwrap().1
    }
}

#[tokio::test]
async fn a_full_inbox_is_told() {
    let hook = hook(MemoryInbox::new(3));
    for n in 0..3 {
        let stored = hook.send(Post::about(&format!("{n}"), 7)).await;
        assert_eq!(stored, (202, false));
    }
    assert_eq!(hook.send(Post::about("3", 7)).await, (503, true));
    assert_eq!(hook.send(Post::about("2", 7)).await, (200, false));
    assert_eq!(hook.figure("stored"), 3);
    assert_eq!(hook.figure("overloaded"), 1);
    assert_eq!(hook.figure("duplicate"), 1);
}

/// The disk refuses for a while: no delivery is answered with 202 meanwhile, and all is well afterwards.
#[tokio::test]
async fn an_inbox_that_cannot_write_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let directory = DataDirectory::lock_directory(folder.path()).unwrap();
    let hook = hook(SqliteInbox::open(directory, DEFAULT_ROOM, jiff::Timestamp::now()).unwrap());
    let raw = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    let broken = AtomicBool::new(false);
    for n in 0..6 {
        let breaks = n % 3 == 1;
        if breaks != broken.swap(breaks, Ordering::Relaxed) {
            let change = if breaks {
                "CREATE TRIGGER broken BEFORE INSERT ON delivery BEGIN SELECT RAISE(ABORT, 'no'); END"
            } else {
                "DROP TRIGGER broken"
            };
            raw.execute_batch(change).unwrap();
        }
        let wanted = if breaks { (503, true) } else { (202, false) };
        assert_eq!(hook.send(Post::about(&format!("{n}"), 7)).await, wanted);
    }
    assert_eq!(hook.figure("unavailable"), 2);
    assert_eq!(hook.figure("stored"), 4);
}

#[tokio::test]
async fn r30_what_is_new_is_counted_and_stored() {
    let hook = hook(MemoryInbox::new(10));
    let body = r#"{"action": "teleported", "repository": {"id": 7}}"#;
    assert_eq!(
        hook.send(Post::new("a", "issues", body)).await,
        (202, false)
    );
    assert_eq!(
        hook.send(Post::new("b", "holodeck", body)).await,
        (202, false)
    );
    assert_eq!(hook.figure("unknown_action"), 1);
    assert_eq!(hook.figure("unknown_event"), 1);
    assert_eq!(hook.figure("stored"), 2);
}
