//! The identity of a turn, and the marker by which its session is found again.

use std::fmt;
use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};
use sha2::{Digest, Sha256};

use super::{PersonaId, RepositoryId, Slot, TrackName};

/// Length of a turn id in characters.
const TURN_ID_LENGTH: usize = 12;

/// A turn: one slot's due work. Processes that would dispatch the same work get the same id, so that only one of them
/// dispatches it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(String);

impl TurnId {
    /// Derives the id: the first 12 characters of the lower-case Crockford base32 of a SHA-256 over the ledger's
    /// nonce, the repository, the track, the sequence number and the slot.
    #[must_use]
    pub fn derive(
        nonce: &str,
        repository: RepositoryId,
        track: &TrackName,
        seq: u64,
        slot: &Slot,
    ) -> Self {
        let digest = Sha256::digest(format!(
            "phileas/turn/1\n{nonce}\n{repository}\n{track}\n{seq}\n{slot}"
        ));
        let mut text = CROCKFORD.encode(&digest);
        text.truncate(TURN_ID_LENGTH);
        Self(text)
    }

    /// Reads an id: exactly 12 characters of lower-case Crockford base32.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let legal = text.len() == TURN_ID_LENGTH
            && text.bytes().all(|b| {
                matches!(b, b'0'..=b'9' | b'a'..=b'z') && !matches!(b, b'i' | b'l' | b'o' | b'u')
            });
        legal.then(|| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Built once: checking the alphabet takes longer than encoding an id.
static CROCKFORD: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification
        .symbols
        .push_str("0123456789abcdefghjkmnpqrstvwxyz");
    specification
        .encoding()
        .expect("the alphabet has 32 different characters")
});

/// `<turn>.<attempt>`, in the title and in the last line of the prompt of the session that it names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker {
    /// The turn.
    pub turn: TurnId,
    /// Which attempt at it, from 1.
    pub attempt: u32,
}

/// The content of a prompt's last line: the turn that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLine {
    /// The marker.
    pub marker: Marker,
    /// The repository it works for.
    pub repository: RepositoryId,
    /// The track.
    pub track: TrackName,
    /// The sequence number in the track.
    pub seq: u64,
    /// The slot.
    pub slot: Slot,
    /// The persona.
    pub persona: PersonaId,
}

impl Marker {
    /// Reads the marker that ends a session's title: ` [phileas:<turn>.<attempt>]`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let inner = title.trim_end().strip_suffix(']')?;
        let at = inner.rfind("[phileas:")?;
        inner[at + "[phileas:".len()..].parse().ok()
    }

    /// Reads a prompt's last line.
    #[must_use]
    pub fn from_prompt(prompt: &str) -> Option<PromptLine> {
        let line = prompt
            .trim_end()
            .rsplit('\n')
            .next()?
            .strip_prefix("phileas-turn: ")?;
        let mut parts = line.split(' ');
        let marker = parts.next()?.parse().ok()?;
        let mut field = |name: &str| {
            parts
                .next()?
                .strip_prefix(name)?
                .strip_prefix('=')
                .map(str::to_owned)
        };
        Some(PromptLine {
            marker,
            repository: RepositoryId(field("repository")?.parse().ok()?),
            track: field("track")?.into(),
            seq: field("seq")?.parse().ok()?,
            slot: field("slot")?.into(),
            persona: field("persona")?.into(),
        })
    }

    /// The suffix of a session's title, with its leading space.
    #[must_use]
    pub fn title_suffix(&self) -> String {
        format!(" [phileas:{self}]")
    }
}

impl PromptLine {
    /// Whether the nonce of a ledger makes the id of the very turn that the line names. Anyone can write such a line; a
    /// number that the ledger never gave does not go with an id that it would have made.
    #[must_use]
    pub fn is_made_by(&self, nonce: &str) -> bool {
        let made = TurnId::derive(nonce, self.repository, &self.track, self.seq, &self.slot);
        made == self.marker.turn
    }

    /// The line as it ends a prompt, without a final newline.
    #[must_use]
    pub fn render(&self) -> String {
        format!(
            "phileas-turn: {} repository={} track={} seq={} slot={} persona={}",
            self.marker, self.repository, self.track, self.seq, self.slot, self.persona
        )
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.turn, self.attempt)
    }
}

/// The text is not `<turn>.<attempt>`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a turn marker; it reads `<12 characters>.<attempt>`")]
pub struct MarkerError(String);

impl std::str::FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || MarkerError(text.to_owned());
        let (turn, attempt) = text.split_once('.').ok_or_else(wrong)?;
        let turn = TurnId::parse(turn).ok_or_else(wrong)?;
        // `+1` and `01` parse as numbers, but phileas does not write them.
        if attempt.starts_with(['0', '+']) {
            return Err(wrong());
        }
        Ok(Self {
            turn,
            attempt: attempt.parse().map_err(|_| wrong())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> TurnId {
        TurnId::derive(
            "9f3c5a0e77b1",
            RepositoryId(123_456_789),
            &"default".into(),
            88,
            &"".into(),
        )
    }

    #[test]
    fn the_same_work_has_the_same_id_everywhere() {
        assert_eq!(turn(), turn());
        assert_eq!(TurnId::parse(turn().as_str()), Some(turn()));
        assert_ne!(
            turn(),
            TurnId::derive(
                "9f3c5a0e77b1",
                RepositoryId(123_456_789),
                &"default".into(),
                89,
                &"".into()
            )
        );
    }

    #[test]
    fn a_marker_survives_title_and_prompt() {
        let marker = Marker {
            turn: turn(),
            attempt: 2,
        };
        let title = format!("🔧 refactor: default{}", marker.title_suffix());
        assert_eq!(Marker::from_title(&title), Some(marker.clone()));
        let line = PromptLine {
            marker,
            repository: RepositoryId(7),
            track: "schedule:a".into(),
            seq: 3,
            slot: "".into(),
            persona: "a".into(),
        };
        assert_eq!(
            Marker::from_prompt(&format!("Do it.\n\n{}\n", line.render())),
            Some(line)
        );
    }

    #[test]
    fn what_is_almost_a_marker_is_none() {
        for title in [
            "[phileas:]",
            "x [phileas:abc.1]",
            "x [phileas:0123456789ab.0]",
            "[phileas:0123456789ab.1] x",
        ] {
            assert_eq!(Marker::from_title(title), None, "{title}");
        }
    }
}
