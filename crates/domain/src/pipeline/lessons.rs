//! Lessons: what went wrong before, in any run.

use serde::Deserialize;
use serde_json::{Value, json};

use super::artifact::Artifact;
use super::limits::LESSONS_LIMIT;
use super::read::{Reading, read_part, write_yaml};
use super::settings::Settings;
use crate::jobs::Line;
use crate::{Diagnostic, Severity};

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

/// Reads a file of lessons. A lesson that cannot be read, or a line that is no text, is named and passed over; the second
/// value says whether that was so.
#[must_use]
pub fn read_lessons(file: &str, bytes: &[u8]) -> (Reading, bool) {
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for line in Line::split_lines(bytes) {
        let text = line.line_text().unwrap_or_else(|fault| {
            found.push(fault.to_warning(file, line.number));
            ""
        });
        lines.push(text.trim_end_matches('\r').to_owned());
    }
    let read_text = |text: &str, first_line: u32| {
        let part = (text.as_bytes(), first_line);
        read_part(Artifact::Lessons, file, part, &Settings::default())
    };
    let mut reading = read_text(&lines.join("\n"), 1);
    if !reading.is_sound() {
        let good = without_unsound(&lines, read_text, &mut found);
        reading = good.map_or(reading, |good| read_text(&good, 1));
    }
    let is_partial = !found.is_empty();
    reading.diagnostics.splice(0..0, found);
    (reading, is_partial)
}

/// The text without the lessons that are not sound, which are named; `None` where no lesson is.
fn without_unsound(
    lines: &[String],
    read_text: impl Fn(&str, u32) -> Reading,
    found: &mut Vec<Diagnostic>,
) -> Option<String> {
    let first = lines
        .iter()
        .position(|line| line.trim_start().starts_with("- "))?;
    let indent = lines[first].len() - lines[first].trim_start().len();
    let begins = |line: &String| {
        let parts = line.split_at_checked(indent);
        parts.is_some_and(|(before, rest)| rest.starts_with("- ") && before.trim().is_empty())
    };
    let head = lines[..first].join("\n");
    let mut starts: Vec<usize> = (first..lines.len())
        .filter(|at| begins(&lines[*at]))
        .collect();
    starts.push(lines.len());
    let mut text = head.clone();
    let mut wrong = Vec::new();
    let mut any = false;
    for range in starts.windows(2) {
        let entry = lines[range[0]..range[1]].join("\n");
        let offset = u32::try_from(range[0] - first).unwrap_or(u32::MAX);
        let alone = read_text(&format!("{head}\n{entry}"), offset.saturating_add(1));
        if alone.is_sound() {
            any = true;
            text.push('\n');
            text.push_str(&entry);
            continue;
        }
        // Its lines keep their numbers.
        text.push_str(&"\n".repeat(range[1] - range[0]));
        wrong.extend(alone.diagnostics.into_iter().map(|mut told| {
            told.severity = Severity::Warning;
            // What is never closed is found at the end, behind the lesson.
            let last = u32::try_from(range[1]).unwrap_or(u32::MAX);
            told.line = told.line.map(|line| line.min(last));
            told
        }));
    }
    if any {
        found.extend(wrong);
    }
    any.then_some(text)
}

/// The lessons of a file; none where it is not sound.
#[must_use]
pub fn list_lessons(reading: &Reading) -> Vec<Lesson> {
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
pub fn add_lesson(reading: Option<&Reading>, lesson: &Lesson) -> Option<String> {
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
    Some(write_yaml(Artifact::Lessons, &file))
}
