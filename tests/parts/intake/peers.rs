//! Services that the real one is held against: one that answers before it has committed, which the checks must find
//! out; and for the benchmark one that stores nothing, one transaction a request, and a handler that only verifies.
//!
//! `peers hasty|nowhere|single|verify serve --listen ADDRESS --data-dir DIR …` (options of `phileas serve`)

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use phileas::runtime::inbox::{
    Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, Page, Record,
    Replayed, Settled, Wake,
};
use phileas::server::public::counters::Figures;
use phileas::server::public::webhook::{
    Intake, MAX_BODY, RepositoryFilter, Secrets, webhook_routes,
};
use phileas_domain::model::{Holder, RepositoryId};
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};

type Failure = Box<dyn std::error::Error>;

/// How deliveries are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The answer does not wait for the commit.
    Hasty,
    /// Nothing is stored.
    Nowhere,
    /// One transaction a request.
    Single,
}

struct Peer {
    inner: Arc<SqliteInbox>,
    how: How,
    one: Mutex<()>,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name);
        place.and_then(|place| arguments.get(place + 1)).cloned()
    };
    let mode = arguments.get(1).map_or("", String::as_str);
    let listen = option("--listen").ok_or("--listen is missing")?;
    let data = option("--data-dir").ok_or("--data-dir is missing")?;
    let secret = std::env::var("PHILEAS_WEBHOOK_SECRET")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await?;
        let places = serde_json::json!({"listen": listener.local_addr()?.to_string()});
        #[expect(clippy::disallowed_methods, reason = "no text of others is in it")]
        let mut out = std::io::stdout();
        writeln!(out, "{places}")?;
        let how = match mode {
            "verify" => None,
            "nowhere" => Some(How::Nowhere),
            "single" => Some(How::Single),
            "hasty" => Some(How::Hasty),
            other => return Err(format!("`{other}` is no way to accept deliveries").into()),
        };
        let router = match how {
            None => verifying(secret),
            Some(how) => accepting(how, &secret, Path::new(&data))?,
        };
        axum::serve(listener, router).await?;
        Ok(())
    })
}

/// Checks the signature over the body, and nothing else.
fn verifying(secret: String) -> Router {
    let handler = move |headers: HeaderMap, body: Bytes| async move {
        let digits = headers
            .get("x-hub-signature-256")
            .and_then(|value| value.to_str().ok()?.strip_prefix("sha256="));
        let signature = digits.and_then(|digits| {
            data_encoding::HEXLOWER_PERMISSIVE
                .decode(digits.as_bytes())
                .ok()
        });
        let keyed = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok();
        let verified = keyed.zip(signature).is_some_and(|(mac, signature)| {
            mac.chain_update(&body).verify_slice(&signature).is_ok()
        });
        if verified {
            StatusCode::ACCEPTED
        } else {
            StatusCode::UNAUTHORIZED
        }
    };
    Router::new()
        .route("/webhook", post(handler))
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

fn accepting(how: How, secret: &str, data: &Path) -> Result<Router, Failure> {
    let inner = Arc::new(SqliteInbox::open(
        DataDirectory::lock_directory(data)?,
        DEFAULT_ROOM,
        Timestamp::now(),
    )?);
    let one = Mutex::new(());
    let secrets = Secrets::from_list(&secret.into())?;
    let (listed, figures) = (RepositoryFilter::default(), Arc::new(Figures::default()));
    let peer = Arc::new(Peer { inner, how, one });
    Ok(webhook_routes(Intake::new(peer, secrets, listed, figures)))
}

impl Inbox for Peer {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        match self.how {
            How::Nowhere => Ok(Accepted::Stored),
            How::Single => {
                let _alone = self.one.lock().await;
                self.inner.accept_delivery(delivery).await
            }
            How::Hasty => {
                let inner = Arc::clone(&self.inner);
                tokio::spawn(async move { inner.accept_delivery(delivery).await });
                Ok(Accepted::Stored)
            }
        }
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        self.inner.wake_repository(repository, at).await
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        self.inner.list_due(now, most).await
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        self.inner
            .claim_leases(holder, now, length, repositories)
            .await
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        self.inner.due_alone(now).await
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        self.inner
            .claim_alone(holder, now, length, repository)
            .await
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        self.inner.end_pauses(repositories).await
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        self.inner.call_back(now).await
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        self.inner.extend_leases(leases, now, length).await
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        self.inner.finish_lease(lease, now, next).await
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        self.inner.fail_lease(lease, now, fault).await
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        self.inner.release_lease(lease, now).await
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        self.inner.abandon_lease(lease).await
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        self.inner.read_wake(repository).await
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        self.inner.suspended_repositories().await
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        self.inner.resume_repository(repository, now).await
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        self.inner.forget_repository(repository).await
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        self.inner.list_deliveries(page).await
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        self.inner.replay_delivery(id, now).await
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        self.inner.prune_deliveries(now).await
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        self.inner.read_counts(now).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        self.inner.next_due().await
    }

    fn problem_text(&self) -> Option<String> {
        self.inner.problem_text()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.inner.watch_changes()
    }
}
