//! Newtypes of the identifiers that all modules share.

use std::borrow::Borrow;
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub struct $name(String);

        impl $name {
            /// Wraps a text unchanged.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug,
            Clone,
            Copy,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
        )]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

text_id! {
    /// A persona: the folder name under `.jules/personas/`. Layer roles read `observers/taxonomy`.
    PersonaId
}
text_id! {
    /// A track. Schedules and requests run in tracks of their own: `schedule:<persona>`, `request:<number>`.
    TrackName
}
text_id! {
    /// One lane of a step's fan-out; empty for a persona, a role or a requirement for a layer.
    Slot
}
text_id! {
    /// A Jules session: 15 to 20 decimal digits today, opaque to us, always text (a number would lose digits).
    SessionId
}
text_id! {
    /// A git object id in lower-case hexadecimal.
    Oid
}
text_id! {
    /// A GitHub login. Compare logins only together with the numeric account id where trust hangs on it.
    Login
}
text_id! {
    /// A branch, without `refs/heads/`.
    BranchName
}
text_id! {
    /// Who holds an intent: one process, one run (`action:8123/1`, `serve:host:4711`, `cli:4711`).
    Holder
}
number_id! {
    /// GitHub's numeric repository id; it survives renames.
    RepositoryId
}
number_id! {
    /// The number of a pull request in its repository.
    PullNumber
}

impl PersonaId {
    /// The longest text that could be an id, in bytes. GitHub's labels have at most 50 characters.
    pub const MAX_BYTES: usize = 100;

    /// Whether a text has the form of a persona's id. No other text from a request enters the ledger.
    #[must_use]
    pub fn is_possible(text: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        text.len() <= Self::MAX_BYTES && text.chars().all(fits)
    }
}

impl TrackName {
    /// The track of a schedule's turns.
    #[must_use]
    pub fn of_schedule(persona: &PersonaId) -> Self {
        Self(format!("schedule:{persona}"))
    }

    /// The track of a request's turn.
    #[must_use]
    pub fn of_request(number: u64) -> Self {
        Self(format!("request:{number}"))
    }

    /// The number of a request's track, if it is one.
    #[must_use]
    pub fn request_number(&self) -> Option<u64> {
        self.0.strip_prefix("request:")?.parse().ok()
    }

    /// The persona of a schedule's track, if it is one.
    #[must_use]
    pub fn schedule_persona(&self) -> Option<PersonaId> {
        self.0.strip_prefix("schedule:").map(PersonaId::from)
    }
}
