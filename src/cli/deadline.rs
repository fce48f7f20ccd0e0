//! How long a command may take that asks GitHub or Jules.
//!
//! Each request has its own limits, but a command sends many, and a service that drips or hangs uses up each of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::arguments::{Arguments, Command, DEADLINE};
use super::exit::{Exit, Stopped};

/// The part of its time after which a tick begins nothing new: what it has begun is then written down in the rest.
const NOTHING_NEW_AFTER: f64 = 0.75;

/// How long this process has waited for a person to answer questions, in milliseconds. It counts towards no deadline.
static ANSWERING_MILLIS: AtomicU64 = AtomicU64::new(0);

/// A person has taken so long to answer a question.
pub(super) fn note_answer_time(length: Duration) {
    let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    ANSWERING_MILLIS.fetch_add(millis, Ordering::Relaxed);
}

fn answer_time() -> Duration {
    Duration::from_millis(ANSWERING_MILLIS.load(Ordering::Relaxed))
}

/// When a command ends, whatever it waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    limit: Duration,
    nothing_new_after: Instant,
    end: Instant,
}

impl Deadline {
    /// The deadline of a command; `None` for those that go on until they are told to end.
    pub(super) fn of(arguments: &Arguments) -> Option<Self> {
        let goes_on = match &arguments.command {
            Command::Serve(serve) => !serve.check,
            Command::Monitor(monitor) => !monitor.once,
            Command::Sandbox(_) | Command::Watch(_) | Command::Events(_) => true,
            Command::Mcp(mcp) => mcp.command.is_none(),
            _ => false,
        };
        let limit = arguments.deadline.map_or(DEADLINE, |deadline| deadline.0);
        let begun = Instant::now();
        (!goes_on).then(|| Self {
            limit,
            nothing_new_after: begun + limit.mul_f64(NOTHING_NEW_AFTER),
            end: begun + limit,
        })
    }

    /// Whether the deadline is so near that a tick begins nothing new.
    pub(super) fn is_near(deadline: Option<Self>) -> bool {
        deadline
            .is_some_and(|deadline| Instant::now() >= deadline.nothing_new_after + answer_time())
    }

    /// Does some work, and gives it up at the deadline.
    pub(super) async fn within<T>(
        deadline: Option<Self>,
        work: impl Future<Output = Result<T, Stopped>>,
    ) -> Result<T, Stopped> {
        let Some(Self { limit, end, .. }) = deadline else {
            return work.await;
        };
        let mut work = std::pin::pin!(work);
        loop {
            let answering = answer_time();
            if let Ok(done) = tokio::time::timeout_at(end + answering, &mut work).await {
                return done;
            }
            // A person who answered a question meanwhile has moved the end.
            if answer_time() == answering {
                break;
            }
        }
        Err(Stopped {
            exit: Exit::Unavailable,
            message: format!(
                "the command was ended at its deadline of {limit:?}, because GitHub or Jules had not answered by then; run \
                 it again, or give it more time with --deadline. What a tick had announced, the next one finds and goes \
                 on with"
            ),
        })
    }

    /// What is said of a tick that began nothing new because its deadline was near.
    pub(super) fn stopped(deadline: Option<Self>) -> Stopped {
        let limit = deadline.map_or(DEADLINE, |deadline| deadline.limit);
        Stopped {
            exit: Exit::Unavailable,
            message: format!(
                "the tick ended early, because GitHub or Jules were slow and its deadline of {limit:?} was near; the next \
                 tick does the rest, or give this one more time with --deadline"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(limit: Duration) -> Deadline {
        let begun = Instant::now();
        Deadline {
            limit,
            nothing_new_after: begun + limit.mul_f64(NOTHING_NEW_AFTER),
            end: begun + limit,
        }
    }

    /// A busy machine may reach the tick only when its deadline is near. Both messages say what to do.
    #[test]
    fn a_tick_that_ended_early_can_be_given_more_time() {
        let said = Deadline::stopped(Some(deadline(Duration::from_secs(2))));
        assert_eq!(said.exit, Exit::Unavailable);
        assert!(said.message.contains("deadline of 2s"), "{said}");
        assert!(said.message.contains("--deadline"), "{said}");
    }

    /// The deadline has passed when the answer comes. By the length of the wait for it, it has not.
    #[tokio::test]
    async fn the_time_of_an_answer_moves_the_end() {
        let begun = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        let passed = Some(Deadline {
            limit: Duration::from_secs(1),
            nothing_new_after: begun,
            end: begun,
        });
        assert!(Deadline::is_near(passed));
        let asks = async {
            note_answer_time(Duration::from_secs(3_600));
            tokio::task::yield_now().await;
            Ok(Deadline::is_near(passed))
        };
        assert!(!Deadline::within(passed, asks).await.unwrap());
    }
}
