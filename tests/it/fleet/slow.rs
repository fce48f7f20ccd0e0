//! One installation answers slowly, and the others do not wait for it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use phileas::adapters::entropy::SystemEntropy;
use phileas::adapters::github::{self, App};
use phileas::adapters::jules;
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::runtime::inbox::Inbox as _;
use phileas::sandbox::VirtualTime;
use phileas::sandbox::transport::InProcess;
use phileas::server::accounts::app::Identity;
use phileas::server::accounts::external_services::ExternalServices;
use phileas::server::accounts::keys::Keys;
use phileas::server::repositories::{Membership, Repositories, Source};
use phileas_domain::model::RepositoryId;
use phileas_world::Face;
use tokio::sync::Notify;

use super::stage::{APP, Ground, Sessions};
use crate::support::memory_inbox::MemoryInbox;

/// How often others may be let on before the listing is given up as one that waits for the slow one.
const MAX_TURNS: usize = 10_000;

/// GitHub, which answers what is asked below one path only when it is let.
struct Holding {
    github: InProcess,
    below: String,
    let_go: Arc<Notify>,
}

impl Transport for Holding {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let held = request.uri().path().starts_with(&self.below);
        Box::pin(async move {
            if held {
                self.let_go.notified().await;
            }
            self.github.send(request).await
        })
    }
}

#[tokio::test]
async fn no_repository_waits_for_the_slowest_installation() {
    let start = "2026-01-05T00:00:00Z".parse().unwrap();
    let lengths = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let ground = Ground::new(start, &[("acme", 1), ("zenith", 1)], &lengths);
    let time = Arc::new(VirtualTime::new(ground.world.clone()));
    let let_go = Arc::new(Notify::new());
    let outside = ExternalServices {
        github: github::Base::default(),
        jules: jules::Base::default(),
        to_github: Arc::new(Holding {
            github: InProcess::new(ground.world.clone(), Face::Github),
            // The first one that is asked.
            below: format!("/app/installations/{}/", ground.installations["acme"]),
            let_go: Arc::clone(&let_go),
        }),
        to_jules: Arc::new(InProcess::new(ground.world.clone(), Face::Jules)),
        pause: Arc::clone(&time) as _,
        stopwatch: time,
        entropy: Arc::new(SystemEntropy),
    };
    let app = App::new(&APP.to_string(), &ground.pem).unwrap();
    let source = Source::new(Identity::App(app), Vec::new(), &outside);
    let keys = Keys::new(None, Some(ground.keys.path().to_owned()));
    let repositories = Repositories::new(source, keys, outside, Arc::new(Notify::new()));
    let inbox = MemoryInbox::new(10);
    let [slow, quick] = [0, 1].map(|n| RepositoryId(ground.repositories[n].0));

    let others = async {
        for _ in 0..MAX_TURNS {
            if inbox.read_wake(quick).await.unwrap().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(matches!(
            repositories.find_membership(quick),
            Membership::Member(_)
        ));
        // Who was not listed yet may be there all the same.
        assert!(matches!(
            repositories.find_membership(slow),
            Membership::Unknown
        ));
        let_go.notify_one();
    };
    let (whole, ()) = tokio::join!(repositories.refresh_list(&inbox, start), others);
    assert!(whole.unwrap());
    assert!(matches!(
        repositories.find_membership(slow),
        Membership::Member(_)
    ));
    assert!(
        inbox.read_wake(slow).await.unwrap().is_some(),
        "it is ticked"
    );
}
