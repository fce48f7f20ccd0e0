//! The thread that writes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::condition::Condition;
use super::desk::{Desk, Room};
use super::known::Known;
use super::open_files::OpenFiles;
use super::schema;
use super::value::inbox_error;
use crate::runtime::inbox::{CROWDED, InboxError};

/// How much may wait for the thread. Whatever comes beyond is refused or must wait before it is queued.
const QUEUE: usize = 1_024;
/// The most that one transaction does. What has come meanwhile is the next one's.
const BATCH: usize = 256;
/// How often it is looked whether another process has written.
const OTHERS: Duration = Duration::from_secs(1);

/// Hands work to the thread that writes.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once it is to end.
    queue: Option<Sender<Job>>,
    places: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    condition: Arc<Condition>,
    /// Its sender is the thread's own, and goes with it.
    alive: watch::Receiver<()>,
}

/// Work for one transaction. It answers with what is to be said once that is committed; where it is not, both are
/// dropped, and whoever waits learns from that.
type Work = Box<dyn FnOnce(&mut Desk<'_>) -> rusqlite::Result<Reply> + Send>;
type Reply = Box<dyn FnOnce() + Send>;

struct Job {
    work: Work,
    place: OwnedSemaphorePermit,
}

/// What is to be said once a transaction is committed.
struct Answers {
    replies: Vec<Reply>,
    places: Vec<OwnedSemaphorePermit>,
}

impl Answers {
    fn say(self) {
        for reply in self.replies {
            reply();
        }
        // Only now is there room for more in the queue.
        drop(self.places);
    }
}

/// Where answers are said: by one task of the runtime in which the inbox was opened. It wakes the others as its neighbours, while
/// each waking from this thread would take a lock and a call to the system.
fn speaker() -> UnboundedSender<Answers> {
    let (answers, mut waiting) = unbounded_channel::<Answers>();
    // Without a runtime the channel is closed at once, and the thread answers by itself.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            while let Some(answers) = waiting.recv().await {
                answers.say();
            }
        });
    }
    answers
}

impl Writer {
    /// Starts the thread. New deliveries have room while the database is smaller than `room` bytes. `known`: all that are
    /// stored, or `None` for a visitor. `files`: what must stay in place, or `None` for a visitor.
    pub(super) fn start(
        connection: Connection,
        known: Option<Known>,
        files: Option<OpenFiles>,
        room: u64,
        news: watch::Sender<u64>,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = channel();
        let answers = speaker();
        let condition = Arc::new(Condition::default());
        let shown = Arc::clone(&condition);
        let (living, alive) = watch::channel(());
        let thread = thread::Builder::new()
            .name("phileas-inbox".to_owned())
            .spawn(move || {
                let clerk = Clerk {
                    connection,
                    known,
                    files,
                    room,
                    news,
                    answers,
                    condition: shown,
                };
                clerk.work(&jobs);
                drop(living);
            })?;
        Ok(Self {
            queue: Some(queue),
            places: Arc::new(Semaphore::new(QUEUE)),
            thread: Some(thread),
            condition,
            alive,
        })
    }

    /// Why nothing can be stored, where that is so.
    pub(super) fn trouble(&self) -> Option<String> {
        if self.alive.has_changed().is_err() {
            return Some("the thread that writes the inbox has ended".to_owned());
        }
        self.condition.trouble()
    }

    /// Completes when the thread has ended although nobody has told it to: nothing is written any more.
    pub(super) fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut alive = self.alive.clone();
        async move { while alive.changed().await.is_ok() {} }
    }

    /// Queues work and waits for what came of it.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, InboxError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|error| InboxError::Unavailable(error.to_string()))?;
        self.queue(place, work).await
    }

    /// Queues work unless too much is waiting already; then nothing is done.
    pub(super) fn try_ask<T, W>(
        &self,
        work: W,
    ) -> Option<impl Future<Output = Result<T, InboxError>> + use<T, W>>
    where
        T: Send + 'static,
        W: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(self.queue(place, work))
    }

    /// The work is queued when this returns, whether or not its future is awaited.
    fn queue<T, W>(
        &self,
        place: OwnedSemaphorePermit,
        work: W,
    ) -> impl Future<Output = Result<T, InboxError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |desk| {
            let value = work(desk)?;
            Ok(Box::new(move || {
                // Whoever asked may have gone away.
                let _gone = answer.send(value);
            }))
        });
        if let Some(queue) = &self.queue {
            // A thread that is gone drops the job, and with it the answer.
            let _gone = queue.send(Job { work, place });
        }
        async move {
            let lost = "nobody can say whether it was written; the log may";
            answered
                .await
                .map_err(|_| InboxError::Unavailable(lost.to_owned()))
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What is queued is still done; then the thread ends and closes the file.
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic over there has been told as lost answers.
            let _panicked = thread.join();
        }
    }
}

/// The thread's own side.
struct Clerk {
    connection: Connection,
    /// `None` for a visitor.
    known: Option<Known>,
    /// `None` for a visitor.
    files: Option<OpenFiles>,
    room: u64,
    news: watch::Sender<u64>,
    answers: UnboundedSender<Answers>,
    condition: Arc<Condition>,
}

impl Clerk {
    fn work(mut self, jobs: &Receiver<Job>) {
        let mut seen = self.written_by_others();
        let mut looked = Instant::now();
        loop {
            match jobs.recv_timeout(OTHERS) {
                Ok(first) => {
                    let rest = jobs.try_iter().take(BATCH - 1);
                    let batch: Vec<Job> = std::iter::once(first).chain(rest).collect();
                    self.batch(batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if looked.elapsed() >= OTHERS {
                looked = Instant::now();
                self.check_storage();
                self.try_again();
                let now = self.written_by_others();
                if now != seen {
                    seen = now;
                    self.tell();
                }
            }
        }
    }

    /// Does a batch in one transaction, and answers after it.
    fn batch(&mut self, batch: Vec<Job>) {
        let (works, places): (Vec<Work>, Vec<_>) =
            batch.into_iter().map(|job| (job.work, job.place)).unzip();
        match self.transact_in_place(works) {
            Ok((replies, woke)) => {
                if woke {
                    self.tell();
                }
                if let Err(SendError(answers)) = self.answers.send(Answers { replies, places }) {
                    answers.say();
                }
            }
            Err(error) => self.condition.failed(&error),
        }
    }

    /// A transaction in files that are where they were opened, before it and after it: what was committed to a file that
    /// is deleted is not stored.
    fn transact_in_place(&mut self, works: Vec<Work>) -> Result<(Vec<Reply>, bool), InboxError> {
        self.check_files()?;
        let done = self.transact(works).map_err(inbox_error)?;
        self.check_files()?;
        Ok(done)
    }

    fn check_files(&self) -> Result<(), InboxError> {
        let checked = self.files.as_ref().map_or(Ok(()), OpenFiles::check);
        checked.map_err(InboxError::Unavailable)
    }

    /// Finds out whether deliveries could be stored, where no delivery comes that would show it.
    fn check_storage(&self) {
        let Some(files) = &self.files else { return };
        if let Err(because) = files.check().and_then(|()| files.check_writable()) {
            self.condition.failed(&InboxError::Unavailable(because));
        }
    }

    /// Finds out whether it can be written again, where nobody brings anything that would show it.
    fn try_again(&self) {
        if self.condition.is_to_be_tried() {
            let touched = self
                .check_files()
                .and_then(|()| schema::touch(&self.connection).map_err(inbox_error));
            match touched {
                Ok(()) => self.condition.written(),
                Err(error) => self.condition.failed(&error),
            }
        }
    }

    fn transact(&mut self, works: Vec<Work>) -> rusqlite::Result<(Vec<Reply>, bool)> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Within the transaction: outside, each question would be one of its own, with its own locks.
        let room = room_left(&transaction, self.room)?;
        let mut desk = Desk::new(&transaction, self.known.as_ref(), room);
        let mut replies = Vec::with_capacity(works.len());
        for work in works {
            replies.push(work(&mut desk)?);
        }
        desk.put_down()?;
        let (news, woke) = desk.into_news();
        transaction.commit()?;
        if news.has_stored() {
            self.condition.written();
        }
        if let Some(known) = &mut self.known {
            known.take_over(news);
        }
        Ok((replies, woke))
    }

    /// A number that changes when another process writes, and only then.
    fn written_by_others(&self) -> Option<i64> {
        let mut statement = self.connection.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }

    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}

/// How much room new deliveries have: pages that were freed are used again.
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
    } else if used as f64 >= most as f64 * CROWDED {
        Room::Little
    } else {
        Room::Plenty
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever runs the service must be able to see it: without the thread nothing is stored any more.
    #[tokio::test]
    async fn a_thread_that_ends_is_missed() {
        let connection = Connection::open_in_memory().unwrap();
        let news = watch::Sender::new(0);
        let writer = Writer::start(connection, None, None, u64::MAX, news).unwrap();
        assert_eq!(writer.trouble(), None);
        let asked = writer.ask(|_| -> rusqlite::Result<()> {
            // As a panic does, without the backtrace of one.
            std::panic::resume_unwind(Box::new("the thread panics"))
        });
        asked.await.unwrap_err();
        writer.lost().await;
        assert!(writer.trouble().unwrap().contains("has ended"));
    }
}
