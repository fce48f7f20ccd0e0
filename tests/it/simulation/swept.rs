//! What became of deliveries without an answer, by the world's books: GitHub repeats none by itself, so that each must
//! have been asked for.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas::server::worker::sweep::{INTERVAL, MAX_ASKS};
use phileas_world::books::{Books, Delivery};

/// By when at the latest a failed attempt is followed by another, where nothing goes wrong: a sweep leaves what was asked
/// for half an hour before, and the next one comes an hour later.
const PATIENCE: SignedDuration = SignedDuration::from_mins(100);

/// The deliveries of one world.
pub(super) struct Swept {
    /// Events that failed, were asked for and then taken.
    pub(super) recovered: usize,
    /// What must not be.
    pub(super) findings: Vec<String>,
}

pub(super) fn swept(books: &Books, end: Timestamp) -> Swept {
    assert!(INTERVAL < PATIENCE);
    let mut events: BTreeMap<&str, Vec<&Delivery>> = BTreeMap::new();
    for attempt in &books.deliveries {
        events.entry(&attempt.guid).or_default().push(attempt);
    }
    let mut swept = Swept {
        recovered: 0,
        findings: Vec::new(),
    };
    // The service requests few while all that comes is refused, as where the inbox is full, or has room only for what
    // wakes a repository.
    let mut taken: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for one in books
        .deliveries
        .iter()
        .filter(|one| one.state == "accepted")
    {
        let at = one.due.unwrap_or(one.created_at);
        let last = taken.entry(&one.event).or_insert(at);
        *last = at.max(*last);
    }
    for (guid, attempts) in events {
        let failed = attempts.iter().any(|one| one.state == "failed");
        let asked = attempts.iter().filter(|one| one.redelivery).count();
        if !failed {
            continue;
        }
        if attempts.iter().any(|one| one.state == "accepted") {
            swept.recovered += usize::from(asked > 0);
            continue;
        }
        let last = attempts.iter().map(|one| one.due.unwrap_or(one.created_at));
        let Some(last) = last.max() else {
            continue;
        };
        let taken_since = taken.get(attempts[0].event.as_str()) > Some(&(last + PATIENCE));
        if asked < MAX_ASKS as usize && end.duration_since(last) > PATIENCE && taken_since {
            let (event, at) = (&attempts[0].event, attempts[0].created_at);
            swept.findings.push(format!(
                "delivery {guid} of `{event}` at {at} was not taken and requested {asked} times"
            ));
        }
    }
    swept
}
