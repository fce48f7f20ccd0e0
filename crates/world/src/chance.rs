//! Seeded randomness with independent child streams.
//!
//! A stream is derived from the seed and a name alone, so that one more draw in one part of the world does not
//! change what another part draws.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The root of all randomness of one world.
#[derive(Debug, Clone)]
pub struct Chance {
    seed: u64,
}

impl Chance {
    /// A root with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The seed, for messages that let a reader repeat a run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stream of this name: the same seed and name give the same draws.
    #[must_use]
    pub fn stream(&self, name: &str) -> Stream {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(name.as_bytes());
        Stream {
            source: ChaCha8Rng::from_seed(hash.finalize().into()),
        }
    }
}

/// One stream of draws.
#[derive(Debug, Clone)]
pub struct Stream {
    source: ChaCha8Rng,
}

impl Stream {
    /// 64 random bits.
    pub fn random_bits(&mut self) -> u64 {
        self.source.next_u64()
    }

    /// A value in `0..bound`; 0 when the bound is 0.
    pub fn draw_below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            0
        } else {
            self.random_bits() % bound
        }
    }

    /// A value in `low..=high`; `low` when the range is empty.
    pub fn draw_between(&mut self, low: u64, high: u64) -> u64 {
        if high <= low {
            low
        } else {
            low + self.draw_below(high - low + 1)
        }
    }

    /// True with this probability (0.0 never, 1.0 always). A probability of exactly 0 or 1 draws nothing.
    pub fn happens(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        if probability >= 1.0 {
            return true;
        }
        // 53 bits are what a double can hold without rounding.
        let draw = (self.random_bits() >> 11) as f64 / (1u64 << 53) as f64;
        draw < probability
    }

    /// One element of the slice, none when it is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = usize::try_from(self.draw_below(from.len() as u64))
            .expect("an index below a length fits");
        from.get(index)
    }

    /// A random (version 4) UUID in its text form.
    pub fn random_uuid(&mut self) -> String {
        let (a, b) = (self.random_bits(), self.random_bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            0x8000 | (b >> 50) & 0x3fff,
            b & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_in_one_stream_leaves_the_others_alone() {
        let chance = Chance::new(7);
        let expected = chance.stream("jules").random_bits();
        let mut github = chance.stream("github");
        github.random_bits();
        assert_eq!(chance.stream("jules").random_bits(), expected);
        assert_ne!(chance.stream("github").random_bits(), expected);
    }

    #[test]
    fn probabilities_are_kept_roughly() {
        let mut stream = Chance::new(1).stream("coin");
        let heads = (0..10_000).filter(|_| stream.happens(0.25)).count();
        assert!((2_200..2_800).contains(&heads), "{heads}");
        assert!(!stream.happens(0.0) && stream.happens(1.0));
    }

    #[test]
    fn uuids_have_the_form_of_version_four() {
        let text = Chance::new(3).stream("guid").random_uuid();
        assert_eq!(text.len(), 36);
        assert_eq!(&text[14..15], "4");
    }
}
