//! A stack with room for whatever a template nests.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::limits::STACK_BYTES;
use crate::Diagnostic;

/// Does the work of one template on a stack of [`STACK_BYTES`].
///
/// The stack is one more of the same thread: starting a thread for each prompt took longer than making the prompt.
///
/// # Errors
///
/// There is no room for it; `path` names the template.
pub(super) fn deep<T>(path: &str, work: impl FnOnce() -> T) -> Result<T, Diagnostic> {
    let has_room = Cell::new(false);
    let on_stack = || {
        has_room.set(true);
        work()
    };
    // Where the system gives no memory, that is a panic before the work began. One of the work itself is passed on.
    catch_unwind(AssertUnwindSafe(|| stacker::grow(STACK_BYTES, on_stack))).map_err(|panic| {
        if has_room.get() {
            resume_unwind(panic);
        }
        let said = panic.downcast_ref::<String>().map_or("", String::as_str);
        let said = said.lines().next().unwrap_or_default();
        Diagnostic::error(
            path,
            format!("there is no room for a stack of STACK_BYTES ({STACK_BYTES}): {said}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_has_the_room_that_is_promised() {
        fn down(levels: usize) -> usize {
            let filled = std::hint::black_box([levels; 128]);
            if levels == 0 {
                return 0;
            }
            1 + down(levels - 1) + (filled[0] - filled[127])
        }
        // A thread of a test has two megabytes, and each level takes one kilobyte of them.
        let levels = STACK_BYTES / 8 / 1024;
        assert_eq!(deep("a.j2", || down(levels)), Ok(levels));
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on() {
        let panic = catch_unwind(|| deep("a.j2", || panic!("this is the work's")));
        let said = panic.map_err(|panic| panic.downcast_ref::<&str>().copied());
        assert_eq!(said, Err(Some("this is the work's")));
    }
}
