//! An inbox in one SQLite file.
//!
//! One thread writes. It takes all queued work, does it in one transaction, and answers after the commit. The more
//! work waits, the more of it shares one wait for the disk. No caller is answered before its write survives a power
//! failure (`synchronous=FULL`). Other processes may read and write, too; only a service locks the directory.

mod data_files;
mod deliveries;
mod delivery_index;
mod directory;
mod held_directory;
mod open_files;
mod read;
mod room;
mod schema;
mod transaction;
mod value;
mod wakes;
mod write_health;
mod writer;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use rusqlite::Connection;
use tokio::sync::watch;

pub use data_files::DATABASE;
pub use directory::{DataDirectory, DirectoryError};
pub use held_directory::HeldDirectory;
pub use room::{DEFAULT_ROOM, LEAST_ROOM, LOG_ROOM};
pub use schema::OpenError;

use crate::runtime::inbox::{
    Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, Page, Record,
    Replayed, Settled, Wake,
};
use delivery_index::DeliveryIndex;
use open_files::OpenFiles;
use writer::Writer;

/// An inbox in one SQLite file.
#[derive(Debug)]
pub struct SqliteInbox {
    writer: Writer,
    reader: Arc<Mutex<Connection>>,
    news: watch::Sender<u64>,
    room: u64,
    /// Locked as long as the inbox is open.
    directory: Option<DataDirectory>,
}

impl SqliteInbox {
    /// Opens the inbox of a service, and creates it if there is none. The lock proves that the holders of earlier
    /// leases are gone, so the leases end `now`.
    ///
    /// # Errors
    ///
    /// When the room is below [`LEAST_ROOM`], it cannot be opened, or a newer phileas created it.
    pub fn open(directory: DataDirectory, room: u64, now: Timestamp) -> Result<Self, OpenError> {
        if room < LEAST_ROOM {
            return Err(OpenError::Room { room });
        }
        let path = directory.path().join(DATABASE);
        schema::make_file(&path)?;
        let mut connection = schema::open_connection(&path)?;
        schema::migrate_tables(&mut connection, &path)?;
        schema::end_leases(&connection, &path, now)?;
        let known =
            DeliveryIndex::read_index(&connection).map_err(OpenError::from_sqlite(&path))?;
        Self::start_writer(connection, &path, room, Some((directory, known)))
    }

    /// Opens an inbox that a service may be using, for a command.
    ///
    /// # Errors
    ///
    /// When there is none, it cannot be opened, or another version of phileas created it.
    pub fn open_beside_service(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(DATABASE);
        if !path.is_file() {
            return Err(OpenError::Missing { path });
        }
        let connection = schema::open_connection(&path)?;
        schema::expect_present_version(&connection, &path)?;
        // A command accepts no deliveries, so it needs no limit.
        Self::start_writer(connection, &path, u64::MAX, None)
    }

    fn start_writer(
        connection: Connection,
        path: &Path,
        room: u64,
        service: Option<(DataDirectory, DeliveryIndex)>,
    ) -> Result<Self, OpenError> {
        let (directory, known) = service.unzip();
        let reader = schema::open_connection(path)?;
        let news = watch::Sender::new(0);
        let room_of_rows = room.saturating_sub(LOG_ROOM);
        let files = directory
            .as_ref()
            .map(|one| OpenFiles::note_files(one.path()));
        let writer = files
            .transpose()
            .and_then(|files| Writer::start(connection, known, files, room_of_rows, news.clone()))
            .map_err(|error| OpenError::from_io(path, &error))?;
        Ok(Self {
            writer,
            reader: Arc::new(Mutex::new(reader)),
            news,
            room,
            directory,
        })
    }

    /// Completes when the writing thread has ended by itself: nothing is stored any more until the process is
    /// restarted.
    pub fn writer_lost(&self) -> impl Future<Output = ()> + Send + use<> {
        self.writer.thread_ended()
    }

    /// Reads in another thread, so that a long page delays no other task.
    async fn read_rows<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, InboxError> {
        let reader = Arc::clone(&self.reader);
        let reading = tokio::task::spawn_blocking(move || {
            // A panic of another reader leaves no transaction open: each read is one statement.
            let connection = reader.lock().unwrap_or_else(PoisonError::into_inner);
            work(&connection).map_err(value::inbox_error)
        });
        reading
            .await
            .map_err(|error| InboxError::Unavailable(error.to_string()))?
    }

    /// The size of the files, and its limit.
    fn room_in_use(&self) -> (u64, Option<u64>) {
        let Some(directory) = &self.directory else {
            return (0, None);
        };
        let files = ["", "-wal"].map(|end| directory.path().join(format!("{DATABASE}{end}")));
        let bytes = files
            .iter()
            .filter_map(|file| std::fs::metadata(file).ok())
            .map(|found| found.len())
            .sum();
        (bytes, Some(self.room))
    }
}

impl Inbox for SqliteInbox {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        let asked = self
            .writer
            .try_submit(move |transaction| transaction.accept(&delivery));
        match asked {
            Some(answer) => answer.await,
            None => Ok(Accepted::Overloaded),
        }
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        self.writer
            .submit(move |transaction| {
                transaction
                    .change_wake(repository, |wake| wake.request_tick(at))
                    .map(drop)
            })
            .await
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        self.read_rows(move |connection| read::read_due(connection, now, most))
            .await
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        let (holder, repositories) = (holder.clone(), repositories.to_vec());
        self.writer
            .submit(move |transaction| {
                transaction.claim(&holder, now, length, &repositories, false)
            })
            .await
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        self.read_rows(move |connection| read::read_due_alone(connection, now))
            .await
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        let holder = holder.clone();
        self.writer
            .submit(move |transaction| transaction.claim(&holder, now, length, &[repository], true))
            .await
            .map(|mut leases| leases.pop())
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let repositories = repositories.to_vec();
        self.writer
            .submit(move |transaction| transaction.end_pauses(&repositories))
            .await
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        self.writer
            .submit(move |transaction| transaction.call_back(now))
            .await
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let leases = leases.to_vec();
        self.writer
            .submit(move |transaction| transaction.extend(&leases, now, length))
            .await
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        _now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        let lease = lease.clone();
        self.writer
            .submit(move |transaction| {
                transaction.change_wake(lease.repository, |wake| wake.finish_lease(&lease, next))
            })
            .await
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        let (lease, fault) = (lease.clone(), fault.clone());
        self.writer
            .submit(move |transaction| {
                transaction.change_wake(lease.repository, |wake| {
                    wake.fail_lease(&lease, now, &fault)
                })
            })
            .await
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        let lease = lease.clone();
        self.writer
            .submit(move |transaction| {
                transaction.change_wake(lease.repository, |wake| wake.release_lease(&lease, now))
            })
            .await
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        let lease = lease.clone();
        self.writer
            .submit(move |transaction| {
                transaction.change_wake(lease.repository, |wake| wake.abandon_lease(&lease))
            })
            .await
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        let looked = self.read_rows(move |connection| wakes::load_wake(connection, repository));
        match looked.await {
            // Only the writing thread can reset the row.
            Err(InboxError::Damaged(_)) => {
                self.writer
                    .submit(move |transaction| transaction.read_wake(repository))
                    .await
            }
            looked => looked,
        }
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        self.read_rows(read::read_suspended).await
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        self.writer
            .submit(move |transaction| {
                transaction.change_known(repository, |wake| wake.resume_suspended(now))
            })
            .await
            .map(|resumed| resumed == Some(true))
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        self.writer
            .submit(move |transaction| {
                transaction
                    .change_known(repository, Wake::forget_wakes)
                    .map(drop)
            })
            .await
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        self.read_rows(move |connection| read::read_page(connection, page))
            .await
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        let id = id.clone();
        self.writer
            .submit(move |transaction| transaction.replay(&id, now))
            .await
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        self.writer
            .submit(move |transaction| transaction.prune(now))
            .await
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        let (bytes, limit_bytes) = self.room_in_use();
        let counts = self
            .read_rows(move |connection| read::read_counts(connection, now))
            .await?;
        Ok(Counts {
            bytes,
            limit_bytes,
            ..counts
        })
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        self.read_rows(read::next_due).await
    }

    /// Only one process can lock the directory.
    fn is_shared(&self) -> bool {
        false
    }

    fn problem_text(&self) -> Option<String> {
        self.writer.current_problem()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
