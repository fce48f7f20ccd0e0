//! Credentials that are refused for a while and are good again afterwards. The models themselves refuse them, each in its
//! own words.

use bytes::Bytes;
use http::{Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use phileas::sandbox::world_setup;
use phileas_world::chance::Chance;
use phileas_world::{Face, World};

use super::case::Case;
use super::course::Process;
use super::disturbances::TOKEN_EXPIRY;
use super::play::is_workflow;
use super::stage::drawn;

/// How long a window is, in seconds.
const SHORTEST: u64 = 2 * 60;
const LONGEST: u64 = 20 * 60;
/// There is one window of each credential, and one more for so many hours.
const HOURS: i64 = 12;
/// How the tokens of an App's installations begin.
const OF_THE_APP: &str = "ghs_";
/// Whose the Jules key is.
const ACCOUNT: &str = "maintainer";

/// What a client shows that asks a service for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credential {
    /// All tokens of the App's installations, new ones too.
    App,
    /// The workflow's token.
    Workflow,
    /// The Jules key.
    Key,
}

impl Credential {
    pub(super) const ALL: [Self; 3] = [Self::App, Self::Workflow, Self::Key];

    /// Lets its service refuse it from now on, or take it again.
    pub(super) fn set_refused(self, world: &mut World, refused: bool) {
        let start = match self {
            Self::App => OF_THE_APP,
            Self::Workflow => world_setup::GITHUB_TOKEN,
            Self::Key => {
                if let Some(account) = world.jules_mut().account_mut(ACCOUNT) {
                    account.keys.clear();
                    let kept = (!refused).then(|| world_setup::JULES_KEY.to_owned());
                    account.keys.extend(kept);
                }
                return;
            }
        };
        world.github_mut().refuse_tokens(start, refused);
    }
}

/// From when until when which credential is refused in a case that begins at `start`.
pub(super) fn windows(case: &Case, start: Timestamp) -> Vec<(Credential, Timestamp, Timestamp)> {
    if !case.is_turned(TOKEN_EXPIRY) {
        return Vec::new();
    }
    let mut draws = Chance::new(case.seed).stream("credentials");
    let mut windows = Vec::new();
    for credential in Credential::ALL {
        let mut from = start;
        let every = case.hours.min(HOURS).unsigned_abs() * 3_600;
        for _ in 0..=case.hours / HOURS {
            from += drawn(&mut draws, 0, every.saturating_sub(LONGEST));
            let until = from + drawn(&mut draws, SHORTEST, LONGEST);
            windows.push((credential, from, until));
            from = until;
        }
    }
    windows
}

/// Notes that a process was refused for its credential.
pub(super) fn note(process: &Process, face: Face, reply: &Response<Bytes>) {
    let whose = match face {
        Face::Jules => "the key",
        Face::Github if is_workflow(process.who) => "the workflow's",
        Face::Github => "the App's",
    };
    // What else Jules answers so is about what was asked for, not about who asks.
    let is_key = |text: &[u8]| String::from_utf8_lossy(text).contains("API_KEY_INVALID");
    let refused = reply.status() == StatusCode::UNAUTHORIZED
        || reply.status() == StatusCode::BAD_REQUEST && is_key(reply.body());
    if refused {
        process.course.struck(&format!("{TOKEN_EXPIRY}: {whose}"));
    }
}

#[test]
fn each_credential_is_refused_for_minutes_within_the_case() {
    let case = Case {
        turned: [TOKEN_EXPIRY.to_owned()].into(),
        ..Case::of(3, 24)
    };
    let start: Timestamp = "2026-01-05T05:40:00Z".parse().unwrap();
    let all = windows(&case, start);
    assert_eq!(all.len(), 9);
    for (credential, from, until) in all {
        let length = until.duration_since(from);
        let minutes = SignedDuration::from_mins(2)..=SignedDuration::from_mins(20);
        assert!(minutes.contains(&length), "{credential:?}");
        let last = start + SignedDuration::from_hours(37);
        assert!(from >= start && until <= last, "{credential:?}");
    }
    let nothing = Case {
        turned: std::collections::BTreeSet::new(),
        ..case
    };
    assert_eq!(windows(&nothing, start), []);
}
