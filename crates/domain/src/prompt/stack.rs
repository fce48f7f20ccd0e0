//! A thread with room for whatever a template nests.

use std::thread::{self, ScopedJoinHandle};

use super::limits::STACK_BYTES;
use crate::Diagnostic;

/// Does the work of one template on a stack of [`STACK_BYTES`].
///
/// # Errors
///
/// There is no room for it; `path` names the template.
pub(super) fn deep<T: Send>(path: &str, work: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    thread::scope(|scope| {
        let working = thread::Builder::new()
            .name("prompt".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        match working.map(ScopedJoinHandle::join) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(Diagnostic::error(
                path,
                format!("there is no room for a stack of STACK_BYTES ({STACK_BYTES}): {error}"),
            )),
        }
    })
}
