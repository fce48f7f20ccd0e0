//! Fault plans: which request fails, when, and how.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::chance::Stream;

/// One of the two services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    /// `api.github.com`, and git over smart HTTP.
    Github,
    /// `jules.googleapis.com`.
    Jules,
}

/// What goes wrong with one request. Kinds without fields have braces, because serde refuses further keys only there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Fault {
    /// The connection is cut before the service did anything.
    DropBefore {},
    /// The service did what was asked; the connection is cut before the reply.
    DropAfter {},
    /// Nothing was done and no reply ever comes.
    TimeoutBefore {},
    /// The service did what was asked, and no reply ever comes.
    TimeoutAfter {},
    /// This status is answered and nothing was done.
    Status {
        /// The status, for example 401, 403, 404, 409, 422, 429, 500, 502 or 503; from 200 to 599.
        #[serde(deserialize_with = "bounds::read_status")]
        status: u16,
        /// Seconds for a Retry-After header.
        #[serde(default, deserialize_with = "bounds::read_bounded")]
        retry_after: Option<u64>,
        /// The body is a page of HTML and not JSON, as a proxy would answer.
        #[serde(default)]
        html: bool,
        /// The service did it all the same.
        #[serde(default)]
        done: bool,
    },
    /// GitHub's primary limit: 403 with `x-ratelimit-remaining: 0` and the reset.
    PrimaryLimit {},
    /// GitHub's secondary limit: 403 with Retry-After.
    SecondaryLimit {
        /// Seconds for Retry-After; the header is missing without it, as on the real service at times.
        #[serde(default, deserialize_with = "bounds::read_bounded")]
        retry_after: Option<u64>,
    },
    /// The reply comes late by this many seconds.
    Slow {
        /// Virtual seconds.
        #[serde(deserialize_with = "bounds::read_bounded")]
        seconds: u64,
    },
}

/// A fault and its conditions. All conditions that are given must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FaultRule {
    /// Only this service; both when absent.
    #[serde(default)]
    pub face: Option<Face>,
    /// Only this method, in capitals.
    #[serde(default)]
    pub method: Option<String>,
    /// Only paths that match: `*` stands for any run of characters, also of slashes.
    #[serde(default)]
    pub path: Option<String>,
    /// Only requests whose body holds this text, for example the name of a GraphQL mutation.
    #[serde(default)]
    pub body: Option<String>,
    /// Only the n-th request that meets the other conditions, counted from 1.
    #[serde(default, deserialize_with = "bounds::read_nth")]
    pub nth: Option<u64>,
    /// Only with this probability, from 0 to 1.
    #[serde(default, deserialize_with = "bounds::read_bounded")]
    pub probability: Option<f64>,
    /// Not before this instant.
    #[serde(default, deserialize_with = "bounds::read_instant")]
    pub from: Option<Timestamp>,
    /// Not at or after this instant.
    #[serde(default, deserialize_with = "bounds::read_instant")]
    pub until: Option<Timestamp>,
    /// What happens.
    pub fault: Fault,
}

/// The rules of a run; the first that applies decides.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// In order of precedence.
    #[serde(default)]
    pub rules: Vec<FaultRule>,
}

/// A fault plan in use, which counts the requests that each rule has seen.
#[derive(Debug, Clone)]
pub struct Faults {
    plan: FaultPlan,
    seen: Vec<u64>,
    struck: Vec<u64>,
    chance: Stream,
}

/// The properties of a request that rules match.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The service.
    pub face: Face,
    /// The method.
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl Faults {
    /// A plan with nothing counted yet.
    #[must_use]
    pub fn new(plan: FaultPlan, chance: Stream) -> Self {
        let seen = vec![0; plan.rules.len()];
        let struck = seen.clone();
        Self {
            plan,
            seen,
            struck,
            chance,
        }
    }

    /// Replaces the plan and resets the counts.
    pub fn replace_plan(&mut self, plan: FaultPlan) {
        self.seen = vec![0; plan.rules.len()];
        self.struck.clone_from(&self.seen);
        self.plan = plan;
    }

    /// How often each rule of the plan has applied, in the plan's order.
    #[must_use]
    pub fn applied_counts(&self) -> &[u64] {
        &self.struck
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &FaultPlan {
        &self.plan
    }

    /// The fault for this request, if any.
    pub fn fault_for(&mut self, subject: Subject<'_>, now: Timestamp) -> Option<Fault> {
        let counts = self.seen.iter_mut().zip(&mut self.struck);
        for (rule, (seen, struck)) in self.plan.rules.iter().zip(counts) {
            if !rule.applies_to(subject, now) {
                continue;
            }
            *seen += 1;
            if rule.nth.is_some_and(|nth| nth != *seen) {
                continue;
            }
            if rule
                .probability
                .is_some_and(|probability| !self.chance.happens(probability))
            {
                continue;
            }
            *struck += 1;
            return Some(rule.fault.clone());
        }
        None
    }
}

impl FaultRule {
    fn applies_to(&self, subject: Subject<'_>, now: Timestamp) -> bool {
        self.face.is_none_or(|face| face == subject.face)
            && self
                .method
                .as_deref()
                .is_none_or(|method| method.eq_ignore_ascii_case(subject.method))
            && self
                .path
                .as_deref()
                .is_none_or(|pattern| matches_pattern(pattern, subject.path))
            && self.from.is_none_or(|from| now >= from)
            && self.until.is_none_or(|until| now < until)
            && self
                .body
                .as_deref()
                .is_none_or(|text| contains_bytes(subject.body, text.as_bytes()))
    }
}

impl Fault {
    /// Whether the service still does what the request asks for.
    #[must_use]
    pub fn takes_effect(&self) -> bool {
        match self {
            Self::DropAfter {} | Self::TimeoutAfter {} | Self::Slow { .. } => true,
            Self::Status { done, .. } => *done,
            _ => false,
        }
    }

    /// The extra virtual time until the reply.
    #[must_use]
    pub fn reply_delay(&self) -> Duration {
        match self {
            Self::Slow { seconds } => Duration::from_secs(*seconds),
            _ => Duration::ZERO,
        }
    }
}

fn contains_bytes(haystack: &[u8], needle: &[u8]) -> bool {
    needle.is_empty()
        || haystack
            .windows(needle.len())
            .any(|window| window == needle)
}

/// Matches a pattern in which `*` stands for any run of characters.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn subject_at(path: &str) -> Subject<'_> {
        Subject {
            face: Face::Jules,
            method: "POST",
            path,
            body: b"{\"query\":\"createCommitOnBranch\"}",
        }
    }

    #[test]
    fn patterns_take_any_run_for_a_star() {
        assert!(matches_pattern("/v1alpha/sessions*", "/v1alpha/sessions"));
        assert!(matches_pattern(
            "/repos/*/git/refs/*",
            "/repos/o/r/git/refs/heads/jules"
        ));
        assert!(matches_pattern("/v1alpha/sessions", "/v1alpha/sessions"));
        assert!(!matches_pattern("/v1alpha/sessions", "/v1alpha/sessions/1"));
        assert!(!matches_pattern("*sessions:approve", "/v1alpha/sessions/1"));
    }

    #[test]
    fn the_nth_request_alone_is_struck() {
        let plan: FaultPlan = toml::from_str(
            "[[rules]]\nface = \"jules\"\nmethod = \"POST\"\npath = \"/v1alpha/sessions\"\nnth = 2\nfault = { kind = \"drop-after\" }",
        )
        .unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let mut faults = Faults::new(plan, Chance::new(0).stream("faults"));
        let struck: Vec<_> = (0..3)
            .map(|_| faults.fault_for(subject_at("/v1alpha/sessions"), now))
            .collect();
        assert_eq!(struck, [None, Some(Fault::DropAfter {}), None]);
        assert_eq!(faults.applied_counts(), [1]);
    }

    #[test]
    fn instants_and_bodies_bound_a_rule() {
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        let plan: FaultPlan = serde_json::from_value(serde_json::json!({"rules": [{
            "body": "createCommitOnBranch", "from": "2026-01-05T00:00:00Z", "until": "2026-01-05T00:00:01Z",
            "fault": {"kind": "status", "status": 502, "html": true, "done": true}
        }]}))
        .unwrap();
        let mut faults = Faults::new(plan, Chance::new(0).stream("faults"));
        assert!(
            faults
                .fault_for(subject_at("/graphql"), now)
                .is_some_and(|fault| fault.takes_effect())
        );
        assert_eq!(
            faults.fault_for(
                subject_at("/graphql"),
                now + jiff::SignedDuration::from_secs(1)
            ),
            None
        );
    }
}
