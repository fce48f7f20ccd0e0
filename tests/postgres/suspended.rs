//! Services on one database that a repository kills.

use std::cell::RefCell;
use std::sync::Arc;

use crate::fleet::fatal::{Fatal, Kept, is_suspended_alone};
use crate::replicas::Replicas;
use crate::server::Database;

/// Each of the leases runs out after 15 s, and each pause takes longer than the one before. The database is told that they
/// are over, for this repository alone.
#[test]
fn a_repository_that_kills_its_service_is_suspended_alone() {
    let fatal = Arc::new(Fatal::default());
    let owners = [("acme", 1), ("umbrella", 1)];
    let gate = Arc::clone(&fatal) as _;
    let all = Replicas::on(Arc::new(Database::new()), &owners, Some(gate));
    let address = all.database.address();
    let kept_beside = RefCell::new(Vec::new());
    let kept = Kept {
        option: ["--database-url", &address],
        start: &|_| {
            let (process, beside) = all.start();
            kept_beside.borrow_mut().push(beside);
            process
        },
        hurry: &|id, living| {
            all.database.sql(&format!(
                "UPDATE phileas.wake SET lease_until = least(lease_until, 0), not_before = least(not_before, 0), \
                 next_at = least(next_at, 0) WHERE repo = {id} AND suspended_at IS NULL \
                 AND (lease_owner IS NULL OR lease_owner NOT LIKE 'serve:{living}:%'); \
                 SELECT pg_notify('phileas_wake', '')"
            ));
        },
    };
    is_suspended_alone(&fatal, &all.rig, &kept);
}
