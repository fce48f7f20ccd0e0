//! A service whose inbox is a file, and which a repository kills.

use std::sync::Arc;

use super::fatal::{Fatal, Kept, is_suspended_alone};
use super::rig::Rig;

/// The leases of a process that is gone end with the next start, so that only the pauses take their time.
#[test]
fn a_repository_that_kills_its_service_is_suspended_alone() {
    let fatal = Arc::new(Fatal::default());
    let owners = [("acme", 1), ("umbrella", 1)];
    let rig = Rig::behind(&owners, Some(Arc::clone(&fatal) as _));
    let kept = Kept {
        option: ["--data-dir", rig.data.path().to_str().unwrap()],
        start: &Rig::start,
        hurry: &|_, _| {},
    };
    is_suspended_alone(&fatal, &rig, &kept);
}
