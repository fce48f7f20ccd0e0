//! Lessons: what went wrong before, in any run.

use serde::Deserialize;
use serde_json::{Value, json};

use super::artifact::Artifact;
use super::limits::LESSONS_LIMIT;
use super::read::{Reading, written};

/// What went wrong, and what helps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lesson {
    /// The day on which it was last seen, `YYYY-MM-DD`.
    pub date: String,
    /// The issue on which it was last seen.
    pub issue: String,
    /// What goes wrong.
    pub pattern: String,
    /// How often it was seen; nothing means once.
    pub frequency: Option<u64>,
    /// What helps against it.
    pub mitigation: Option<String>,
}

/// The lessons of a file; none where it is not sound.
#[must_use]
pub fn lessons(reading: &Reading) -> Vec<Lesson> {
    #[derive(Deserialize)]
    struct File {
        lessons: Vec<Lesson>,
    }
    let file: Option<File> = reading.value();
    file.map(|file| file.lessons).unwrap_or_default()
}

/// The file with a further lesson. One of the same pattern is seen again: counted, with the newer day, issue and
/// remedy. Only the newest [`LESSONS_LIMIT`] stay.
///
/// `None` where the file that is there is not sound: it is not written over.
#[must_use]
pub fn learn(reading: Option<&Reading>, lesson: &Lesson) -> Option<String> {
    let mut file = match reading {
        Some(reading) => reading.document()?,
        None => json!({ "lessons": [] }),
    };
    let list = file["lessons"].as_array_mut()?;
    let same = |one: &Value| {
        let pattern = one["pattern"].as_str().unwrap_or_default();
        pattern.trim().eq_ignore_ascii_case(lesson.pattern.trim())
    };
    let mut entry = match list.iter().position(same) {
        Some(at) => {
            let mut entry = list.remove(at);
            let seen = entry["frequency"].as_u64().unwrap_or(1).max(1);
            entry["frequency"] = Value::from(seen + 1);
            entry
        }
        None => json!({ "date": "", "issue": "", "pattern": lesson.pattern, "frequency": 1 }),
    };
    if entry["date"].as_str().unwrap_or_default() <= lesson.date.as_str() {
        entry["date"] = lesson.date.as_str().into();
        entry["issue"] = lesson.issue.as_str().into();
    }
    if let Some(mitigation) = &lesson.mitigation {
        entry["mitigation"] = mitigation.as_str().into();
    }
    list.push(entry);
    while list.len() > LESSONS_LIMIT {
        let oldest =
            (0..list.len() - 1).min_by_key(|at| list[*at]["date"].as_str().map(str::to_owned));
        list.remove(oldest.unwrap_or(0));
    }
    Some(written(Artifact::Lessons, &file))
}
