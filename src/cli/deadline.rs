//! How long a command may take that asks GitHub or Jules.
//!
//! Each request has its own limits, but a command sends many, and a service that drips or hangs uses up each of them.

use std::time::Duration;

use tokio::time::Instant;

use super::arguments::{Arguments, Command, DEADLINE};
use super::exit::{Exit, Stopped};

/// The part of its time after which a tick begins nothing new: what it has begun is then written down in the rest.
const NOTHING_NEW_AFTER: f64 = 0.75;

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
        deadline.is_some_and(|deadline| Instant::now() >= deadline.nothing_new_after)
    }

    /// Does some work, and gives it up at the deadline.
    pub(super) async fn within<T>(
        deadline: Option<Self>,
        work: impl Future<Output = Result<T, Stopped>>,
    ) -> Result<T, Stopped> {
        let Some(Self { limit, end, .. }) = deadline else {
            return work.await;
        };
        match tokio::time::timeout_at(end, work).await {
            Ok(done) => done,
            Err(_) => Err(Stopped {
                exit: Exit::Unavailable,
                message: format!(
                    "the command was ended at its deadline of {limit:?}, because GitHub or Jules had not answered by \
                     then; run it again, or give it more time with --deadline. What a tick had announced, the next one \
                     finds and goes on with"
                ),
            }),
        }
    }

    /// What is said of a tick that began nothing new because its deadline was near.
    pub(super) fn stopped(deadline: Option<Self>) -> Stopped {
        let limit = deadline.map_or(DEADLINE, |deadline| deadline.limit);
        Stopped {
            exit: Exit::Unavailable,
            message: format!(
                "the tick ended early, because GitHub or Jules were slow and its deadline of {limit:?} was near; the next \
                 tick does the rest"
            ),
        }
    }
}
