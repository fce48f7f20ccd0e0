//! What the public listener has counted since it was started.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! figures {
    ($($(#[$doc:meta])+ $name:ident),+ $(,)?) => {
        /// Counters. They only grow.
        #[derive(Debug, Default)]
        pub struct Figures {
            $($(#[$doc])+ pub $name: Counter,)+
        }

        impl Figures {
            /// All counters with their names, in the order of their declaration.
            #[must_use]
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.value())),+]
            }
        }
    };
}

figures! {
    /// Deliveries that were stored and answered 202.
    stored,
    /// Deliveries that were stored before and answered 200.
    duplicate,
    /// Deliveries of repositories that are not on the list: answered 202, nothing stored.
    not_listed,
    /// Deliveries of events that GitHub did not have when this was written. They are stored like others.
    unknown_event,
    /// Deliveries of known events with an action that GitHub did not have when this was written. They wake like others.
    unknown_action,
    /// Requests without a signature: answered 401.
    unsigned,
    /// Requests that none of our secrets has signed: answered 401.
    wrong_signature,
    /// Requests of another content type than `application/json`: answered 415.
    content_type,
    /// Requests rightly signed that cannot be read as a delivery: answered 400.
    malformed,
    /// Requests that are too large: answered 413.
    too_large,
    /// Requests whose body took too long or never ended: answered 408, or cut off.
    too_slow,
    /// Deliveries that wake nobody and were not stored because there is little room: answered 503.
    passed_over,
    /// Deliveries refused because there was no room, in memory or in the inbox: answered 503.
    overloaded,
    /// Deliveries refused because the inbox could not store them: answered 503.
    unavailable,
    /// Connections that were closed at once because their address had too many.
    crowded,
}

/// One counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
