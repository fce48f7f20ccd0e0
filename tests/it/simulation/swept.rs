//! What became of the deliveries that nobody took, by the world's books: GitHub repeats none by itself, so that each must
//! have been asked for.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas::server::sweep::{INTERVAL, MAX_ASKS};
use phileas_world::books::{Books, Delivery};

/// By when at the latest a failed attempt is followed by another, where nothing goes wrong: a sweep leaves what was asked
/// for half an hour before, and the next one comes an hour later.
const PATIENCE: SignedDuration = SignedDuration::from_mins(100);

/// The deliveries of one world.
pub(super) struct Swept {
    /// Events that failed, were asked for and then taken.
    pub(super) found: usize,
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
        found: 0,
        findings: Vec::new(),
    };
    // Nobody asks for many while all that comes is refused, as where the inbox is full.
    let lately = books.deliveries.iter().filter(|one| {
        let at = one.due.unwrap_or(one.created_at);
        matches!(one.fate.as_str(), "accepted" | "failed") && end.duration_since(at) < PATIENCE
    });
    let mut lately = lately.map(|one| one.fate == "accepted").peekable();
    let is_refusing = lately.peek().is_some() && !lately.any(|taken| taken);
    for (guid, attempts) in events {
        let failed = attempts.iter().any(|one| one.fate == "failed");
        let asked = attempts.iter().filter(|one| one.redelivery).count();
        if !failed {
            continue;
        }
        if attempts.iter().any(|one| one.fate == "accepted") {
            swept.found += usize::from(asked > 0);
            continue;
        }
        let last = attempts.iter().map(|one| one.due.unwrap_or(one.created_at));
        let waits = last.max().map(|last| end.duration_since(last));
        if asked < MAX_ASKS as usize && waits > Some(PATIENCE) && !is_refusing {
            let (event, at) = (&attempts[0].event, attempts[0].created_at);
            swept.findings.push(format!(
                "delivery {guid} of `{event}` at {at} was taken by nobody and asked for {asked} times"
            ));
        }
    }
    swept
}
