//! The signals that ask a command to end.

use crate::cli::exit::CliError;

/// Completes with the first signal that asks for the end. It listens from the call on.
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = ()>, CliError> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        let terminated = terminate.recv();
        #[cfg(not(unix))]
        let terminated = std::future::pending::<Option<()>>();
        tokio::select! {
            _ = terminated => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    })
}
