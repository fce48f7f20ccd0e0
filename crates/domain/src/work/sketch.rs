//! A sketch of the lines that a pull request adds and removes: the smallest hashes of its shingles.
//!
//! A shingle is three lines in a row that are all added or all removed, with their sign: the
//! hash of removed lines is inverted. Two sketches tell how many
//! shingles two pull requests share without keeping a line of them (bottom-k sketch: Broder, "On the resemblance and
//! containment of documents", 1997).

use std::collections::BTreeSet;

use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// So many hashes are kept.
const SKETCH_SIZE: usize = 32;
/// So many lines make a shingle.
const SHINGLE_LINES: usize = 3;
/// So many shingles of a pull request are read, so that one of a million lines costs no more than a second.
const SHINGLE_LIMIT: usize = 50_000;

/// The smallest hashes of the shingles, and how many shingles there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// At most 32 hashes, ascending.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "write_hashes",
        deserialize_with = "read_hashes"
    )]
    pub hunks: Vec<u32>,
    /// How many different shingles there are.
    pub shingles: usize,
}

/// The hashes of shingles, without their sign.
#[derive(Default)]
struct Shingles {
    added: BTreeSet<u32>,
    removed: BTreeSet<u32>,
}

impl Sketch {
    /// Reads the hunks of files, as GitHub gives them. Neither the order of hunks nor the end of a line counts.
    #[must_use]
    pub fn from_patches<'p>(patches: impl IntoIterator<Item = &'p str>) -> Self {
        Self::read(patches, false)
    }

    /// The sketch of the change that takes these patches back: each added line is removed, each removed one added.
    #[must_use]
    pub fn from_reverted_patches<'p>(patches: impl IntoIterator<Item = &'p str>) -> Self {
        Self::read(patches, true)
    }

    fn read<'p>(patches: impl IntoIterator<Item = &'p str>, reverted: bool) -> Self {
        let mut shingles = Shingles::default();
        for patch in patches {
            shingles.collect(patch);
            if shingles.is_full() {
                break;
            }
        }
        let (added, removed) = match reverted {
            false => (shingles.added, shingles.removed),
            true => (shingles.removed, shingles.added),
        };
        // What is both removed and added was moved or indented: it says nothing, and a revert would share it.
        let only_added = added.difference(&removed).copied();
        let only_removed = removed.difference(&added).map(|hash| !hash);
        let signed: BTreeSet<u32> = only_added.chain(only_removed).collect();
        Self {
            shingles: signed.len(),
            hunks: signed.into_iter().take(SKETCH_SIZE).collect(),
        }
    }

    /// The estimated share of shingles that both have, 0 to 1; exact where neither has more than 32. 0 where one has
    /// none.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f64 {
        if self.hunks.is_empty() || other.hunks.is_empty() {
            return 0.0;
        }
        let union: BTreeSet<&u32> = self.hunks.iter().chain(&other.hunks).collect();
        let smallest: Vec<&u32> = union.into_iter().take(SKETCH_SIZE).collect();
        let is_shared = |hash: &&&u32| {
            self.hunks.binary_search(hash).is_ok() && other.hunks.binary_search(hash).is_ok()
        };
        smallest.iter().filter(is_shared).count() as f64 / smallest.len() as f64
    }
}

impl Shingles {
    /// Adds the shingles of a patch. A run of changed lines ends at a line that stays.
    fn collect(&mut self, patch: &str) {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for line in patch.lines().chain(["@@"]) {
            match line.as_bytes().first() {
                Some(b'+') => push_line(&mut added, &line[1..]),
                Some(b'-') => push_line(&mut removed, &line[1..]),
                // "\ No newline at end of file"
                Some(b'\\') => {}
                _ => {
                    hash_run(&mut added, &mut self.added);
                    hash_run(&mut removed, &mut self.removed);
                    if self.is_full() {
                        return;
                    }
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.added.len() + self.removed.len() >= SHINGLE_LIMIT
    }
}

/// Keeps a line with its white space folded; an empty one says nothing.
fn push_line(run: &mut Vec<String>, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    if !words.is_empty() {
        run.push(words.join(" "));
    }
}

/// Hashes each three lines of a run; a shorter run is one shingle.
fn hash_run(run: &mut Vec<String>, hashes: &mut BTreeSet<u32>) {
    let lines = std::mem::take(run);
    if lines.is_empty() {
        return;
    }
    for shingle in lines.windows(SHINGLE_LINES.min(lines.len())) {
        if hashes.len() >= SHINGLE_LIMIT {
            return;
        }
        hashes.insert(hash_shingle(shingle));
    }
}

fn hash_shingle(lines: &[String]) -> u32 {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    let digest = hash.finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn write_hashes<S: Serializer>(hashes: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect();
    serializer.serialize_str(&BASE64.encode(&bytes))
}

/// Reads hashes from a record. A hand-made one may be unsorted, doubled or too long; what is read is sound.
fn read_hashes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64
        .decode(text.as_bytes())
        .map_err(serde::de::Error::custom)?;
    let (hashes, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(serde::de::Error::custom(
            "`hunks` is no list of 32-bit values",
        ));
    }
    let hashes: BTreeSet<u32> = hashes
        .iter()
        .map(|hash| u32::from_be_bytes(*hash))
        .collect();
    Ok(hashes.into_iter().take(SKETCH_SIZE).collect())
}
