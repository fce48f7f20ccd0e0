//! Parses and builds the file names of tasks and journal entries.

use jiff::civil::{Date, DateTime, Time};

use super::limits::SLUG_LIMIT_CHARS;

/// Signs of a placeholder that was not filled in.
const FORGOTTEN: [&str; 7] = ["${", "$(", "{{", "}}", "`", "YYYY", "TIMESTAMP"];

/// Whether a text contains an unfilled placeholder: `${TIMESTAMP}-fix`, `$(date)`, `<id>`, `YYYYMMDD-fix`.
pub(super) fn is_unexpanded(text: &str) -> bool {
    FORGOTTEN.iter().any(|one| text.contains(one)) || (text.contains('<') && text.contains('>'))
}

/// The date of a task by its file's stem: `YYYYMMDD-HHMM-slug` or `YYYYMMDD-HHMMSS-slug`.
pub(super) fn task_day(stem: &str) -> Option<Date> {
    let (day, rest) = stem.split_once('-')?;
    let (time, slug) = rest.split_once('-')?;
    let clock = match time.len() {
        4 | 6 if !slug.is_empty() => parse_clock(time),
        _ => None,
    };
    clock?;
    parse_date(day.get(..4)?, day.get(4..6)?, day.get(6..)?)
}

/// The date of a journal entry by its file name: `YYYY-MM-DD-HHMM-Title.md`. The time may be missing.
pub(super) fn journal_day(file: &str) -> Option<Date> {
    let day = file.get(..10)?;
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    let ends = file[10..].starts_with(['-', '.', '_', 'T']);
    parse_date(year, month, day).filter(|_| ends)
}

/// The file name of a new task, without extension.
pub(super) fn task_stem(at: DateTime, title: &str) -> String {
    format!("{}-{}", at.strftime("%Y%m%d-%H%M%S"), title_slug(title))
}

/// A title as a part of a file name.
fn title_slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= SLUG_LIMIT_CHARS {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task" } else { slug }.to_owned()
}

fn parse_date(year: &str, month: &str, day: &str) -> Option<Date> {
    let figures = |text: &str, length| {
        let right = text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
        right.then(|| text.parse().ok()).flatten()
    };
    let year: i16 = figures(year, 4)?;
    let of = |text| figures(text, 2).and_then(|number| i8::try_from(number).ok());
    Date::new(year, of(month)?, of(day)?).ok()
}

fn parse_clock(text: &str) -> Option<Time> {
    let right = text.bytes().all(|b| b.is_ascii_digit());
    let of = |range| {
        text.get(range)
            .and_then(|part: &str| part.parse::<i8>().ok())
    };
    let seconds = if text.len() == 6 { of(4..6)? } else { 0 };
    Time::new(of(0..2)?, of(2..4)?, seconds, 0)
        .ok()
        .filter(|_| right)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_stand_in_the_names() {
        let day = Some(date(2026, 1, 5));
        for (stem, expected) in [
            ("20260105-0900-fix-the-parser", day),
            ("20260105-090059-x", day),
            ("20260105-0900", None),
            ("20260105-0900-", None),
            ("20260105-2500-x", None),
            ("20261305-0900-x", None),
            ("${TIMESTAMP}-x", None),
            ("2026-01-05-x", None),
            ("ü0260105-0900-x", None),
            ("", None),
        ] {
            assert_eq!(task_day(stem), expected, "{stem}");
        }
        for (file, expected) in [
            ("2026-01-05-0900-Title.md", day),
            ("2026-01-05-Title.md", day),
            ("2026-01-05.md", day),
            ("2026-02-30-0900-Title.md", None),
            ("20260105-Title.md", None),
            ("notes.md", None),
            ("2026-01-0ü.md", None),
        ] {
            assert_eq!(journal_day(file), expected, "{file}");
        }
    }

    #[test]
    fn a_title_becomes_a_name() {
        let at = date(2026, 1, 5).at(9, 0, 7, 0);
        assert_eq!(
            task_stem(at, "Fix: the Pärser (again)!"),
            "20260105-090007-fix-the-p-rser-again"
        );
        assert_eq!(task_stem(at, "日本"), "20260105-090007-task");
        assert!(task_day(&task_stem(at, &"x y".repeat(90))).is_some());
        assert!(task_stem(at, &"x".repeat(900)).len() <= 16 + SLUG_LIMIT_CHARS);
    }

    #[test]
    fn what_was_forgotten_is_seen() {
        for text in [
            "${TIMESTAMP}-fix",
            "$(date +%s)",
            "<id>",
            "YYYYMMDD-fix",
            "{{ id }}",
            "`date`",
        ] {
            assert!(is_unexpanded(text), "{text}");
        }
        for text in ["20260105-0900-fix", "a < b", "cost-5$", "timestamp"] {
            assert!(!is_unexpanded(text), "{text}");
        }
    }
}
