//! A clock that stands still until a test moves it on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::ports::Clock;
use tokio::sync::oneshot;

use crate::support::held;

/// How often everybody else gets their turn before time goes on. Far more than any chain of wake-ups has links.
const TURNS: usize = 80;

/// A clock that stands still until a test moves it on. All tasks must run on the test's own thread.
#[derive(Debug, Clone)]
pub(super) struct StillClock(Arc<Mutex<Hands>>);

#[derive(Debug)]
struct Hands {
    now: Timestamp,
    sleepers: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
    count: u64,
}

impl StillClock {
    pub(super) fn new(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Hands {
            now,
            sleepers: BTreeMap::new(),
            count: 0,
        })))
    }

    /// How often anybody has gone to sleep.
    pub(super) fn naps(&self) -> u64 {
        held(&self.0).count
    }

    /// Lets everything happen that is due until then, in the order of its time.
    pub(super) async fn pass(&self, length: SignedDuration) {
        let until = held(&self.0).now + length;
        loop {
            settle().await;
            let mut hands = held(&self.0);
            let Some(((at, _), sleeper)) = hands.sleepers.pop_first() else {
                hands.now = until;
                break;
            };
            if sleeper.is_closed() {
                continue;
            }
            if at > until {
                let number = hands.count;
                hands.count += 1;
                hands.sleepers.insert((at, number), sleeper);
                hands.now = until;
                break;
            }
            hands.now = hands.now.max(at);
            // Nobody may wait any more; then there is nobody to wake.
            let _gone = sleeper.send(());
        }
        settle().await;
    }
}

/// Lets every task run until it waits for something.
pub(super) async fn settle() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        held(&self.0).now
    }

    async fn sleep_until(&self, at: Timestamp) {
        let woken = {
            let mut hands = held(&self.0);
            if at <= hands.now {
                return;
            }
            let (wake, woken) = oneshot::channel();
            hands.count += 1;
            let number = hands.count;
            hands.sleepers.insert((at, number), wake);
            woken
        };
        // The clock is never dropped before its sleepers.
        let _gone = woken.await;
    }
}
