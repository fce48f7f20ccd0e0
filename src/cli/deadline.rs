//! The time limit of a command that calls GitHub or Jules.
//!
//! Each request has its own limit, but a command sends many, and a slow or hanging service uses up each limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::arguments::{AgentCommand, Arguments, Command, DEADLINE};
use super::exit::{CliError, Exit};
use super::terminal::duration::duration_text;

/// The part of the limit after which a tick begins nothing new. The rest is for recording what it has begun.
const NOTHING_NEW_AFTER: f64 = 0.75;

/// How long this process has waited for a person to answer questions, in milliseconds. It counts towards no deadline.
static ANSWERING_MILLIS: AtomicU64 = AtomicU64::new(0);

/// Records how long a person took to answer a question.
pub(super) fn note_answer_time(length: Duration) {
    let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    ANSWERING_MILLIS.fetch_add(millis, Ordering::Relaxed);
}

fn answer_time() -> Duration {
    Duration::from_millis(ANSWERING_MILLIS.load(Ordering::Relaxed))
}

/// The time limit of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    limit: Duration,
    nothing_new_after: Instant,
    end: Instant,
}

/// What the error of a tick that was ended at its limit says beside that.
pub(super) const RESUMED: &str = ". The next tick resumes what this one had announced";

impl Deadline {
    /// The limit of a command; `None` for commands that run until they are told to end.
    pub(super) fn for_command(arguments: &Arguments) -> Option<Self> {
        let goes_on = match &arguments.command {
            Command::Serve(serve) => !serve.check,
            Command::Monitor(monitor)
            | Command::Agent {
                command: AgentCommand::Monitor(monitor),
            } => !monitor.once,
            Command::Sandbox(_)
            | Command::Watch(_)
            | Command::Agent {
                command: AgentCommand::Watch(_) | AgentCommand::Events(_),
            } => true,
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

    /// Whether so little time is left that a tick begins nothing new.
    pub(super) fn is_near(deadline: Option<Self>) -> bool {
        deadline
            .is_some_and(|deadline| Instant::now() >= deadline.nothing_new_after + answer_time())
    }

    /// Runs some work, and cancels it at the limit. `note`: what the error says beside that.
    pub(super) async fn run_within<T>(
        deadline: Option<Self>,
        note: &str,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
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
        Err(CliError {
            exit: Exit::Unavailable,
            message: format!(
                "the command was ended at its deadline of {}, because GitHub or Jules had not answered by then; run \
                 it again, or give it more time with --deadline{note}",
                duration_text(limit)
            ),
        })
    }

    /// The error of a tick that began nothing new because its limit was near.
    pub(super) fn deadline_error(deadline: Option<Self>) -> CliError {
        let limit = deadline.map_or(DEADLINE, |deadline| deadline.limit);
        CliError {
            exit: Exit::Unavailable,
            message: format!(
                "the tick ended early, because GitHub or Jules were slow and its deadline of {} was near; the next \
                 tick does the rest, or give this one more time with --deadline",
                duration_text(limit)
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
        let said = Deadline::deadline_error(Some(deadline(Duration::from_secs(2))));
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
        assert!(!Deadline::run_within(passed, "", asks).await.unwrap());
    }
}
