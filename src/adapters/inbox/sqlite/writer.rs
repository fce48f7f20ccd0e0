//! The thread that writes to the database.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::delivery_index::DeliveryIndex;
use super::open_files::OpenFiles;
use super::schema;
use super::transaction::{InboxTransaction, Room};
use super::value::inbox_error;
use super::write_health::WriteHealth;
use crate::runtime::inbox::{InboxError, NEARLY_FULL};

/// The most jobs that may wait for the thread. Further ones are refused, or wait before they are queued.
const QUEUE: usize = 1_024;
/// The most jobs in one transaction. Later ones go into the next.
const BATCH: usize = 256;
/// How often writes of other processes are checked.
const OTHERS: Duration = Duration::from_secs(1);

/// Sends work to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once the thread must end.
    queue: Option<Sender<Job>>,
    slots: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    condition: Arc<WriteHealth>,
    /// Its sender belongs to the thread and is dropped with it.
    alive: watch::Receiver<()>,
}

/// Work for one transaction. It returns a reply to send after the commit. If the commit fails, both are dropped, and
/// the waiting caller sees that.
type Work = Box<dyn FnOnce(&mut InboxTransaction<'_>) -> rusqlite::Result<Reply> + Send>;
type Reply = Box<dyn FnOnce() + Send>;

struct Job {
    work: Work,
    place: OwnedSemaphorePermit,
}

/// The replies to send once a transaction is committed.
struct Answers {
    replies: Vec<Reply>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Answers {
    fn send_replies(self) {
        for reply in self.replies {
            reply();
        }
        // Only now does the queue have room for more.
        drop(self.permits);
    }
}

/// Sends replies from one task of the runtime in which the inbox was opened. It wakes its neighbours cheaply, while
/// waking each from this thread would need a lock and a system call.
fn speaker() -> UnboundedSender<Answers> {
    let (answers, mut waiting) = unbounded_channel::<Answers>();
    // Without a runtime the channel is closed at once, and the thread sends replies itself.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            while let Some(answers) = waiting.recv().await {
                answers.send_replies();
            }
        });
    }
    answers
}

impl Writer {
    /// Starts the thread. New deliveries are accepted while the database is smaller than `room` bytes. `known`: the
    /// index of stored deliveries; `None` for a command. `files`: the files that must stay in place; `None` for a
    /// command.
    pub(super) fn start(
        connection: Connection,
        known: Option<DeliveryIndex>,
        files: Option<OpenFiles>,
        room: u64,
        news: watch::Sender<u64>,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = channel();
        let answers = speaker();
        let condition = Arc::new(WriteHealth::default());
        let shown = Arc::clone(&condition);
        let (living, alive) = watch::channel(());
        let thread = thread::Builder::new()
            .name("phileas-inbox".to_owned())
            .spawn(move || {
                let clerk = WriterThread {
                    connection,
                    known,
                    files,
                    room,
                    news,
                    answers,
                    condition: shown,
                };
                clerk.work_until_closed(&jobs);
                drop(living);
            })?;
        Ok(Self {
            queue: Some(queue),
            slots: Arc::new(Semaphore::new(QUEUE)),
            thread: Some(thread),
            condition,
            alive,
        })
    }

    /// Why deliveries cannot be stored.
    pub(super) fn current_problem(&self) -> Option<String> {
        if self.alive.has_changed().is_err() {
            return Some("the thread that writes the inbox has ended".to_owned());
        }
        self.condition.current_problem()
    }

    /// Completes when the thread has ended unexpectedly: nothing is written any more.
    pub(super) fn thread_ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut alive = self.alive.clone();
        async move { while alive.changed().await.is_ok() {} }
    }

    /// Queues work and waits for its result.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut InboxTransaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, InboxError> {
        let place = Arc::clone(&self.slots).acquire_owned().await;
        let place = place.map_err(|error| InboxError::Unavailable(error.to_string()))?;
        self.enqueue(place, work).await
    }

    /// Queues work unless the queue is full; then nothing is done.
    pub(super) fn try_submit<T, W>(
        &self,
        work: W,
    ) -> Option<impl Future<Output = Result<T, InboxError>> + use<T, W>>
    where
        T: Send + 'static,
        W: FnOnce(&mut InboxTransaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let place = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        Some(self.enqueue(place, work))
    }

    /// The work is queued when this returns, even if its future is never awaited.
    fn enqueue<T, W>(
        &self,
        place: OwnedSemaphorePermit,
        work: W,
    ) -> impl Future<Output = Result<T, InboxError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&mut InboxTransaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |transaction| {
            let value = work(transaction)?;
            Ok(Box::new(move || {
                // The caller may be gone.
                let _gone = answer.send(value);
            }))
        });
        if let Some(queue) = &self.queue {
            // A dead thread drops the job, and with it the reply.
            let _gone = queue.send(Job { work, place });
        }
        async move {
            let lost = "it is unknown whether it was written; the log may say";
            answered
                .await
                .map_err(|_| InboxError::Unavailable(lost.to_owned()))
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Queued work is still done; then the thread ends and closes the file.
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // Callers have seen a panic there as lost replies.
            let _panicked = thread.join();
        }
    }
}

/// The state of the thread.
struct WriterThread {
    connection: Connection,
    /// `None` for a visitor.
    known: Option<DeliveryIndex>,
    /// `None` for a visitor.
    files: Option<OpenFiles>,
    room: u64,
    news: watch::Sender<u64>,
    answers: UnboundedSender<Answers>,
    condition: Arc<WriteHealth>,
}

impl WriterThread {
    fn work_until_closed(mut self, jobs: &Receiver<Job>) {
        let mut seen = self.written_by_others();
        let mut looked = Instant::now();
        loop {
            match jobs.recv_timeout(OTHERS) {
                Ok(first) => {
                    let rest = jobs.try_iter().take(BATCH - 1);
                    let batch: Vec<Job> = std::iter::once(first).chain(rest).collect();
                    self.run_batch(batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if looked.elapsed() >= OTHERS {
                looked = Instant::now();
                self.check_storage();
                self.try_again();
                self.check_room();
                let now = self.written_by_others();
                if now != seen {
                    seen = now;
                    self.notify_change();
                }
            }
        }
    }

    /// Runs a batch in one transaction, and sends the replies after it.
    fn run_batch(&mut self, batch: Vec<Job>) {
        let (works, places): (Vec<Work>, Vec<_>) =
            batch.into_iter().map(|job| (job.work, job.place)).unzip();
        match self.transact_in_place(works) {
            Ok((replies, woke)) => {
                if woke {
                    self.notify_change();
                }
                if let Err(SendError(answers)) = self.answers.send(Answers {
                    replies,
                    permits: places,
                }) {
                    answers.send_replies();
                }
            }
            Err(error) => self.condition.record_failure(&error),
        }
    }

    /// Runs a transaction, and checks before and after it that the files are still the opened ones: a commit to a
    /// deleted file is not stored.
    fn transact_in_place(&mut self, works: Vec<Work>) -> Result<(Vec<Reply>, bool), InboxError> {
        self.check_files()?;
        let done = self.run_transaction(works).map_err(inbox_error)?;
        self.check_files()?;
        Ok(done)
    }

    fn check_files(&self) -> Result<(), InboxError> {
        let checked = self
            .files
            .as_ref()
            .map_or(Ok(()), OpenFiles::check_unchanged);
        checked.map_err(InboxError::Unavailable)
    }

    /// Tests whether deliveries could be stored, if none arrives that would show it.
    fn check_storage(&self) {
        let Some(files) = &self.files else { return };
        if let Err(because) = files
            .check_unchanged()
            .and_then(|()| files.check_writable())
        {
            self.condition
                .check_failed(&InboxError::Unavailable(because));
        }
    }

    /// Tests whether writes succeed again, if no work arrives that would show it.
    fn try_again(&self) {
        if self.condition.is_to_be_tried() {
            let touched = self
                .check_files()
                .and_then(|()| schema::test_write(&self.connection).map_err(inbox_error));
            match touched {
                Ok(()) => self.condition.record_success(),
                Err(error) => self.condition.check_failed(&error),
            }
        }
    }

    /// Notices that there is room again, if no work arrives that would show it.
    fn check_room(&self) {
        if self.condition.is_full()
            && let Ok(room) = room_left(&self.connection, self.room)
        {
            self.condition.record_room(room == Room::None);
        }
    }

    fn run_transaction(&mut self, works: Vec<Work>) -> rusqlite::Result<(Vec<Reply>, bool)> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read within the transaction: outside, each query would be a transaction with its own locks.
        let room = room_left(&transaction, self.room)?;
        self.condition.record_room(room == Room::None);
        let mut inbox = InboxTransaction::new(&transaction, self.known.as_ref(), room);
        let mut replies = Vec::with_capacity(works.len());
        for work in works {
            replies.push(work(&mut inbox)?);
        }
        inbox.put_down()?;
        let (news, woke) = inbox.into_news();
        transaction.commit()?;
        if news.has_stored() {
            self.condition.record_success();
        }
        if let Some(known) = &mut self.known {
            known.take_over(news);
        }
        Ok((replies, woke))
    }

    /// A number that changes only when another process writes.
    fn written_by_others(&self) -> Option<i64> {
        let mut statement = self.connection.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }

    fn notify_change(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}

/// How much room is left for new deliveries, including freed pages.
fn room_left(connection: &Connection, most: u64) -> rusqlite::Result<Room> {
    let number = |sql| -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(sql)?;
        statement
            .query_row([], |row| row.get::<_, u32>(0))
            .map(u64::from)
    };
    let pages = number("PRAGMA page_count")?;
    let free = number("PRAGMA freelist_count")?;
    let size = number("PRAGMA page_size")?;
    let used = (pages - free.min(pages)) * size;
    Ok(if used >= most {
        Room::None
    } else if used as f64 >= most as f64 * NEARLY_FULL {
        Room::Little
    } else {
        Room::Plenty
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operator must see it: without the thread nothing is stored any more.
    #[tokio::test]
    async fn a_thread_that_ends_is_missed() {
        let connection = Connection::open_in_memory().unwrap();
        let news = watch::Sender::new(0);
        let writer = Writer::start(connection, None, None, u64::MAX, news).unwrap();
        assert_eq!(writer.current_problem(), None);
        let asked = writer.submit(|_| -> rusqlite::Result<()> {
            // As a panic does, without the backtrace of one.
            std::panic::resume_unwind(Box::new("the thread panics"))
        });
        asked.await.unwrap_err();
        writer.thread_ended().await;
        assert!(writer.current_problem().unwrap().contains("has ended"));
    }
}
