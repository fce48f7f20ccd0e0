//! What went wrong half-way is found and finished: listings that are too short or too early, archives that failed,
//! clocks that were put back.

use phileas_domain::engine::SessionState;
use phileas_domain::state::Outcome;

use crate::desk::Desk;

#[test]
fn a_deeper_listing_still_answers_what_the_short_one_did() {
    let mut desk = Desk::new(
        "[tracks]\none = [\"a\"]\n[schedules]\nb = \"10 * * * *\"\n",
        &["a", "b"],
    );
    desk.tick();
    desk.minutes(11);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b"]);
    // Only the younger one needs the archived sessions; the older one needs the listing to reach further back.
    let session = &mut desk.sessions[1];
    session.archived = true;
    session.state = SessionState::Paused;
    desk.minutes(19);
    desk.listings = 0;
    desk.tick();
    assert_eq!(desk.listings, 2);
    assert_eq!(desk.outcomes(), [None, Some(Outcome::Cancelled)]);
}
