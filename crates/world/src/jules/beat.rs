//! The beats of a session: what happens, and how long after the previous beat.

use serde::{Deserialize, Serialize};

use super::file_texts::FileTexts;
use crate::bounds;

/// One event in the life of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Beat {
    /// Seconds after the previous beat, or after the event that the session waited for.
    #[serde(deserialize_with = "bounds::read_delay")]
    pub after: f64,
    /// What happens.
    #[serde(rename = "deed")]
    pub action: BeatAction,
}

/// What can happen in a beat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeatAction {
    /// A machine starts and clones the repository: QUEUED becomes PLANNING.
    Start,
    /// A plan is made; the session waits when approval is required and was not given yet.
    Plan,
    /// A progress update; empty texts are left out, as on the wire.
    Progress {
        /// The heading.
        title: String,
        /// The text.
        description: String,
    },
    /// A command ran.
    Bash {
        /// The command line.
        command: String,
        /// What it printed.
        output: String,
        /// Its exit code.
        exit_code: i32,
    },
    /// A picture was taken of the running application.
    Media,
    /// Files change; the activity carries the cumulative change set.
    Edit(FileTexts),
    /// Files change as the model's worker says, or in some plausible way without one.
    EditSomehow,
    /// The agent says something.
    Say(String),
    /// The agent asks something and waits: AWAITING_USER_FEEDBACK.
    Ask(String),
    /// The agent asks something and does not wait.
    AskInPassing(String),
    /// The changes are pushed, and the pull request is opened unless it exists.
    Push,
    /// As `Push`, but replays the whole diff on the old base, which undoes what others pushed in the meantime.
    PushOldDiff,
    /// The work ends: COMPLETED. With `outputs: false` the session shows none.
    Complete {
        /// Whether the session shows its outputs.
        outputs: bool,
    },
    /// The work ends: FAILED.
    Fail(String),
    /// An activity of a kind, or with an artifact of a kind, that no client knows.
    Unknown {
        /// The key of the kind; empty for none.
        activity: String,
        /// The key of the artifact; empty for none.
        artifact: String,
    },
    /// The session stops for good without a final state.
    Hang,
}

impl Beat {
    pub(super) fn new(after: f64, action: BeatAction) -> Beat {
        Beat { after, action }
    }
}
