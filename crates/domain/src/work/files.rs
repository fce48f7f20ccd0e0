//! The files of work records on the ledger.
//!
//! `hot.json` has the records that are open or remembered. The others lie in segments, one for each hundred numbers of
//! pull requests, so that a record's segment is known by its number alone. A record stands on one line.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::record::WorkRecord;

/// The folder of work records on the branch `jules`.
pub const WORK_FOLDER: &str = ".jules/work";
/// The file of the records that are open or remembered.
pub const HOT_PATH: &str = ".jules/work/hot.json";
/// When that file is larger, its oldest settled records move to segments although they are remembered. GitHub shows
/// files of up to a megabyte whole.
pub const HOT_LIMIT_BYTES: usize = 768 * 1024;
/// A segment is never larger: so many numbers share one, and a compact record has less than 2.5 KB.
pub const SEGMENT_LIMIT_BYTES: usize = 256 * 1024;
const SEGMENT_NUMBERS: u64 = 100;
/// So many records leave the hot file in one commit, so that one commit touches no more segments.
pub const LEAVING_AT_ONCE: usize = 20;
const VERSION: u64 = 1;

/// The path of the segment that a pull request's record belongs to.
#[must_use]
pub fn segment_path(pr: u64) -> String {
    let first = pr - pr % SEGMENT_NUMBERS;
    let last = first.saturating_add(SEGMENT_NUMBERS - 1);
    format!("{WORK_FOLDER}/{first}-{last}.json")
}

/// The records of one file, by the number of their pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkFile {
    records: BTreeMap<u64, WorkRecord>,
    /// Keys of a newer version.
    unknown: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Shape {
    version: u64,
    records: Vec<WorkRecord>,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

impl WorkFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line. Such a file is never overwritten.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shape: Shape = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if shape.version != VERSION {
            return Err(format!(
                "it has version {}, and this phileas reads version {VERSION}",
                shape.version
            ));
        }
        let records = shape.records.into_iter().map(|record| (record.pr, record));
        Ok(Self {
            records: records.collect(),
            unknown: shape.unknown,
        })
    }

    /// The text of the file. The same records give the same bytes.
    #[must_use]
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.records.values().map(line_of).collect();
        let records = match lines.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n{}\n  ]", lines.join(",\n")),
        };
        let unknown = self.unknown.iter();
        let unknown: String = unknown
            .map(|(key, value)| format!(",\n  {}: {value}", Value::from(key.as_str())))
            .collect();
        format!("{{\n  \"version\": {VERSION},\n  \"records\": {records}{unknown}\n}}\n")
    }

    /// How many records it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The record of a pull request.
    #[must_use]
    pub fn get(&self, pr: u64) -> Option<&WorkRecord> {
        self.records.get(&pr)
    }

    /// All records, in the order of their numbers.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &WorkRecord> {
        self.records.values()
    }

    /// Adds a record, in place of an earlier one.
    pub fn insert(&mut self, record: WorkRecord) {
        self.records.insert(record.pr, record);
    }

    /// Removes a record.
    pub fn remove(&mut self, pr: u64) -> Option<WorkRecord> {
        self.records.remove(&pr)
    }

    /// Removes the records of a turn.
    pub fn remove_turn(&mut self, turn: &str) {
        self.records
            .retain(|_, record| record.turn.as_deref() != Some(turn));
    }

    /// The numbers of the records that should leave the hot file: those that are no longer remembered, and of a file
    /// above its limit the oldest settled ones, then those that forbid work, then open ones. One commit moves
    /// [`LEAVING_AT_ONCE`] of them.
    #[must_use]
    pub fn leaving(&self, now: Timestamp, remember: SignedDuration) -> Vec<u64> {
        let (kept, forgotten): (Vec<&WorkRecord>, Vec<&WorkRecord>) = self
            .records
            .values()
            .partition(|record| record.is_remembered(now, remember));
        let mut leaving: Vec<u64> = forgotten.iter().map(|record| record.pr).collect();
        // Each line ends with a comma and a line feed.
        let sized = kept
            .iter()
            .map(|record| (record, line_of(record).len() + 2));
        let mut sized: Vec<_> = sized.collect();
        sized.sort_by_key(|(record, _)| {
            let refusal = record.refused.as_ref();
            let forbids = refusal.is_some_and(|refusal| refusal.condemns_work(now));
            (record.is_open(), forbids, record.closed_at, record.pr)
        });
        let mut size: usize = sized.iter().map(|(_, size)| size).sum();
        for (record, length) in sized {
            if size <= HOT_LIMIT_BYTES {
                break;
            }
            size -= length;
            leaving.push(record.pr);
        }
        leaving
    }
}

fn line_of(record: &WorkRecord) -> String {
    // This could fail only for maps with keys that are no texts, and a record has none.
    let text = serde_json::to_string(record).unwrap_or_default();
    format!("    {text}")
}
