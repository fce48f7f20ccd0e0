//! The signals that ask a command to end.

use crate::cli::exit::CliError;

/// Completes with the first signal that asks for the end. It listens from the call on.
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = ()>, CliError> {
    #[cfg(unix)]
    let (mut terminate, mut interrupt) = {
        use tokio::signal::unix::{SignalKind, signal};
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        )
    };
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        let _ended = tokio::signal::ctrl_c().await;
    })
}
