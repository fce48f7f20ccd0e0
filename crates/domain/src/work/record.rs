//! The work record: what the ledger keeps of one pull request.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::fingerprint::Fingerprint;
use super::similarity::{Likeness, Similarity};
use crate::state::Outcome;

/// One pull request of phileas. It holds no text and no login of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// Its number.
    pub pr: u64,
    /// The persona whose session opened it, where the ledger knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The turn of the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was merged or closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// What it is about.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    /// What became of it; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why a person refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// Whether a person withdrew the refusal: no prompt names it as refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
    /// Keys of a newer version.
    #[serde(flatten, deserialize_with = "read_unknown")]
    pub unknown: BTreeMap<String, Value>,
}

/// The keys of a record that this version knows.
pub(super) const KEYS: [&str; 15] = [
    "pr",
    "persona",
    "turn",
    "opened_at",
    "closed_at",
    "title",
    "paths",
    "hunks",
    "terms",
    "removed",
    "shingles",
    "size",
    "outcome",
    "refused",
    "forgotten",
];

/// Reads the keys that this version does not know. serde also shows those of the fingerprint, because that one has a
/// flattened part itself.
fn read_unknown<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Value>, D::Error> {
    let mut unknown = BTreeMap::<String, Value>::deserialize(deserializer)?;
    unknown.retain(|key, _| !KEYS.contains(&key.as_str()));
    Ok(unknown)
}

/// Why a person with write access refused a pull request. The text stays on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason.
    pub reason: RefusalReason,
    /// The comment that gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<u64>,
    /// The digest of that comment, so that an edited one no longer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Until when it is remembered; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether the person said `never`: no attempt at this work is wanted, whatever the reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never: bool,
    /// Keys of a newer version.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

/// The reasons that a person can give with `/phileas refuse`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RefusalReason {
    /// Another pull request does the same.
    Duplicate,
    /// The project does not want it.
    OutOfScope,
    /// Nothing shows that it is needed or that it works.
    NoEvidence,
    /// It does not do what it says, or breaks something.
    Wrong,
    /// It changes more than a person can review.
    TooLarge,
}

impl RefusalReason {
    /// All reasons.
    pub const ALL: [Self; 5] = [
        Self::Duplicate,
        Self::OutOfScope,
        Self::NoEvidence,
        Self::Wrong,
        Self::TooLarge,
    ];

    /// Reads a reason as people write it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    /// The reason as people write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Refusal {
    /// Whether it condemns the work itself, so that the same work again is not wanted. `duplicate` describes a copy;
    /// after `no-evidence`, `wrong` and `too-large` a better attempt is welcome.
    #[must_use]
    pub fn condemns_work(&self, now: Timestamp) -> bool {
        self.is_remembered(now) && (self.never || self.reason == RefusalReason::OutOfScope)
    }

    /// Whether it is still remembered.
    #[must_use]
    pub fn is_remembered(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl WorkRecord {
    /// Whether it is neither merged nor closed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.closed_at.is_none()
    }

    /// Whether it is open, was settled lately, or has a refusal that still counts.
    #[must_use]
    pub fn is_remembered(&self, now: Timestamp, remember: SignedDuration) -> bool {
        let is_recent = |at: Timestamp| now.duration_since(at) < remember;
        let refusal = self.refused.as_ref();
        self.closed_at.is_none_or(is_recent) || refusal.is_some_and(|one| one.is_remembered(now))
    }

    /// Whether it was merged less than so long ago, and neither reverted nor forgotten.
    #[must_use]
    pub fn is_merged_within(&self, now: Timestamp, span: SignedDuration) -> bool {
        let is_recent = |at: Timestamp| now.duration_since(at) < span;
        let is_merged = self.outcome == Some(Outcome::Merged) && !self.forgotten;
        is_merged && self.closed_at.is_some_and(is_recent)
    }

    /// Whether the same work again is not wanted, whatever the plan says: it is open, or its refusal condemns the work.
    #[must_use]
    pub fn forbids_repeats(&self, now: Timestamp) -> bool {
        let is_condemned = |refusal: &Refusal| refusal.condemns_work(now);
        self.is_open() || self.refused.as_ref().is_some_and(is_condemned)
    }

    /// Whether a newer pull request with this number does the same work.
    #[must_use]
    pub fn is_repeated_by(&self, pr: u64, work: &Fingerprint) -> bool {
        self.pr < pr && Similarity::between(&self.fingerprint, work).likeness() == Likeness::Same
    }

    /// Drops what a settled record needs no more: its paths and lines.
    pub fn compact(&mut self) {
        self.fingerprint.paths.clear();
        self.fingerprint.sketch.clear();
    }
}
