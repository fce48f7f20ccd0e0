//! Runs deeply recursive work on a large stack.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Diagnostic;

/// Runs the work of one template on a stack of the given size.
///
/// The stack belongs to the same thread, because starting a thread for each prompt takes longer than rendering it.
///
/// # Errors
///
/// The memory is not available; `path` names the template.
pub(super) fn run_on_stack<T>(
    bytes: usize,
    path: &str,
    work: impl FnOnce() -> T,
) -> Result<T, Diagnostic> {
    let has_room = Cell::new(false);
    let there = || {
        has_room.set(true);
        work()
    };
    // Without memory this panics before the work begins. A panic of the work itself is passed on.
    catch_unwind(AssertUnwindSafe(|| stacker::grow(bytes, there))).map_err(|panic| {
        if has_room.get() {
            resume_unwind(panic);
        }
        Diagnostic::error(
            path,
            format!("there is no room for a stack of {bytes} bytes"),
        )
        .help("give the process more memory")
    })
}

#[cfg(test)]
mod tests {
    use super::super::limits::STACK_BYTES;
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
        // A test's thread has two megabytes, and each level takes one kilobyte.
        let levels = STACK_BYTES / 8 / 1024;
        assert_eq!(
            run_on_stack(STACK_BYTES, "a.j2", || down(levels)),
            Ok(levels)
        );
    }

    #[test]
    fn where_there_is_no_room_the_work_is_not_begun() {
        let begun = Cell::new(false);
        let full = run_on_stack(usize::MAX / 4, "a.j2", || begun.set(true)).unwrap_err();
        assert_eq!(full.file, "a.j2");
        assert!(full.message.starts_with("there is no room"), "{full:?}");
        assert!(!begun.get());
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on() {
        let panic =
            catch_unwind(|| run_on_stack(STACK_BYTES, "a.j2", || panic!("this is the work's")));
        let said = panic.map_err(|panic| panic.downcast_ref::<&str>().copied());
        assert_eq!(said, Err(Some("this is the work's")));
    }
}
