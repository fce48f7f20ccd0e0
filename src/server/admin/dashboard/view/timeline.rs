//! The timeline of sessions and their outcomes: a row for each persona, a bar for each session.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryName;
use phileas_domain::state::HistoryEntry;

use super::sessions::{self, SessionView};
use crate::server::admin::dashboard::format;

/// The width of a row, in units of the drawing.
pub const WIDTH: i64 = 1_000;
/// The least width of a bar.
const LEAST: i64 = 8;
/// The spans that a timeline may have, each with the distance of its marks, in hours.
const SPANS: [(i64, i64); 6] = [
    (6, 1),
    (24, 6),
    (3 * 24, 24),
    (7 * 24, 24),
    (14 * 24, 2 * 24),
    (30 * 24, 7 * 24),
];
/// A mark closer to the end than this would overlap `now`.
const ROOM: i64 = 60;
/// The timeline shows the shortest span with this many sessions.
const ENOUGH: usize = 14;
/// The most rows; they show the personas that ran last.
const MAX_ROWS: usize = 24;

/// The timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineView {
    /// Its span, in words.
    pub span: String,
    /// The marks at full hours or midnights, and at the end.
    pub marks: Vec<Mark>,
    /// Rows by persona.
    pub rows: Vec<Row>,
}

/// A time along the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its position from the left.
    pub x: i64,
    /// The time of day, or the day that begins.
    pub text: String,
}

impl Mark {
    /// Its position in hundredths of the width.
    #[must_use]
    pub fn percent(&self) -> String {
        format!("{}.{}%", self.x * 100 / WIDTH, self.x * 1_000 / WIDTH % 10)
    }

    /// The anchor of its text, so that no text leaves the drawing.
    #[must_use]
    pub fn anchor(&self) -> &'static str {
        match self.x {
            x if x < ROOM / 2 => "start",
            WIDTH => "end",
            _ => "middle",
        }
    }
}

/// One persona's sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The persona.
    pub persona: String,
    /// The bars, oldest first.
    pub bars: Vec<Bar>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Its left edge.
    pub x: i64,
    /// Its width.
    pub width: i64,
    /// The session.
    pub session: SessionView,
    /// The session in a sentence.
    pub description: String,
}

/// The time that the picture shows: up to now.
struct Span {
    start: Timestamp,
    now: Timestamp,
    hours: i64,
    /// Between two marks, in hours.
    step: i64,
}

impl Span {
    /// The shortest span with enough sessions; `None` where no session is in the longest.
    fn choose(entries: &[HistoryEntry], now: Timestamp) -> Option<Self> {
        let within = |hours: i64| {
            let span = SignedDuration::from_hours(hours);
            let begins = entries.iter().filter_map(|entry| entry.created_at);
            begins.filter(|at| now.duration_since(*at) < span).count()
        };
        let all = within(SPANS[SPANS.len() - 1].0);
        if all == 0 {
            return None;
        }
        let (hours, step) = SPANS
            .into_iter()
            .find(|(hours, _)| within(*hours) >= ENOUGH.min(all))?;
        let start = now.checked_sub(SignedDuration::from_hours(hours));
        Some(Self {
            start: start.unwrap_or(Timestamp::MIN),
            now,
            hours,
            step,
        })
    }

    fn text(&self) -> String {
        match self.hours {
            hours if hours <= 24 => format!("{hours} hours"),
            hours => format!("{} days", hours / 24),
        }
    }

    /// Where a time is, from the left.
    fn position(&self, at: Timestamp) -> i64 {
        let seconds = at.duration_since(self.start).as_secs();
        (seconds.saturating_mul(WIDTH) / (self.hours * 3_600)).clamp(0, WIDTH)
    }

    fn marks(&self) -> Vec<Mark> {
        let step = self.step * 3_600;
        let first = (self.start.as_second() + step - 1).div_euclid(step) * step;
        let stride = usize::try_from(step).unwrap_or(usize::MAX);
        let times = (first..self.now.as_second()).step_by(stride);
        let marks = times.map_while(|second| Timestamp::from_second(second).ok());
        let marks = marks.map(|at| Mark {
            x: self.position(at),
            text: format::axis_label(at),
        });
        let mut marks: Vec<Mark> = marks.filter(|mark| mark.x <= WIDTH - ROOM).collect();
        marks.push(Mark {
            x: WIDTH,
            text: "now".to_owned(),
        });
        marks
    }
}

/// Builds the timeline of sessions, newest first. `None`: none of them has a time.
#[must_use]
pub fn session_timeline(
    entries: &[HistoryEntry],
    repository: &RepositoryName,
    github: Option<&str>,
    now: Timestamp,
) -> Option<TimelineView> {
    let span = Span::choose(entries, now)?;
    let mut rows: Vec<Row> = Vec::new();
    for entry in entries {
        let Some((began, end)) = shown_time(entry, &span) else {
            continue;
        };
        let persona = entry.persona_id.to_string();
        let index = match rows.iter().position(|row| row.persona == persona) {
            Some(index) => index,
            None if rows.len() < MAX_ROWS => {
                let bars = Vec::new();
                rows.push(Row { persona, bars });
                rows.len() - 1
            }
            None => continue,
        };
        let session = sessions::session_view(entry, repository, github, now);
        rows[index].bars.insert(0, bar(session, began, end, &span));
    }
    rows.sort_by(|one, other| one.persona.cmp(&other.persona));
    Some(TimelineView {
        span: span.text(),
        marks: span.marks(),
        rows,
    })
}

/// When a session began and ended, where that is in the picture.
fn shown_time(entry: &HistoryEntry, span: &Span) -> Option<(Timestamp, Timestamp)> {
    let began = entry.created_at?;
    let end = if sessions::is_live(entry, span.now) {
        span.now
    } else {
        entry.finished_at.unwrap_or(began)
    };
    (end >= span.start && began <= span.now).then_some((began, end))
}

fn bar(session: SessionView, began: Timestamp, end: Timestamp, span: &Span) -> Bar {
    let (left, right) = (span.position(began), span.position(end));
    let width = (right - left).max(LEAST);
    let lasted = session.lasted.as_deref().unwrap_or("a moment");
    Bar {
        x: left.min(WIDTH - width.min(WIDTH)),
        width,
        description: format!(
            "{}, {}: {}, {lasted}",
            session.persona,
            format::time_of_day(began, span.now),
            session.outcome
        ),
        session,
    }
}

#[cfg(test)]
mod tests {
    use phileas_domain::model::{PersonaId, SessionId, TurnId};
    use phileas_domain::state::Outcome;

    use super::*;

    fn entry(persona: &str, began: &str, ended: Option<&str>) -> HistoryEntry {
        HistoryEntry {
            persona_id: PersonaId::from(persona),
            session_id: Some(SessionId::from("1")),
            pr_number: None,
            created_at: Some(began.parse().unwrap()),
            track: None,
            turn: TurnId::parse("0123456789ab"),
            seq: Some(1),
            slot: None,
            attempt: None,
            base_sha: None,
            outcome: ended.map(|_| Outcome::Merged),
            finished_at: ended.map(|ended| ended.parse().unwrap()),
            duplicates: Vec::new(),
            zero_touch: None,
            review_secs: None,
            refused: None,
            prompt: None,
            note: None,
            extra: phileas_domain::state::Extra::new(),
        }
    }

    fn at(entries: &[HistoryEntry]) -> Option<TimelineView> {
        let name = "acme/widget".parse().unwrap();
        let now = "2026-01-05T12:00:00Z".parse().unwrap();
        session_timeline(entries, &name, Some("https://github.com"), now)
    }

    #[test]
    fn bars_lie_where_their_time_is() {
        let shown = at(&[
            entry("b", "2026-01-05T11:00:00Z", None),
            entry("a", "2026-01-05T06:00:00Z", Some("2026-01-05T09:00:00Z")),
            entry("a", "2026-01-05T00:00:00Z", Some("2026-01-05T00:00:10Z")),
        ])
        .unwrap();
        assert_eq!(shown.span, "24 hours");
        let bars: Vec<_> = shown
            .rows
            .iter()
            .flat_map(|row| {
                row.bars
                    .iter()
                    .map(|bar| (row.persona.as_str(), bar.x, bar.width))
            })
            .collect();
        assert_eq!(bars, [("a", 500, LEAST), ("a", 750, 125), ("b", 958, 42)]);
        assert_eq!(shown.rows[1].bars[0].session.class, "live");
        let marks: Vec<_> = shown
            .marks
            .iter()
            .map(|mark| (mark.x, &*mark.text))
            .collect();
        assert_eq!(
            marks,
            [
                (0, "12:00"),
                (250, "18:00"),
                (500, "Mon 5"),
                (750, "06:00"),
                (WIDTH, "now")
            ]
        );
    }

    #[test]
    fn days_begin_at_midnight() {
        let sessions: Vec<_> = (0..8)
            .map(|n| entry("a", &format!("2026-01-03T1{n}:30:00Z"), None))
            .collect();
        let shown = at(&sessions).unwrap();
        assert_eq!(shown.span, "3 days");
        let marks: Vec<_> = shown
            .marks
            .iter()
            .map(|mark| (mark.percent(), &*mark.text))
            .collect();
        assert_eq!(marks[0], ("16.6%".to_owned(), "Sat 3"));
        assert_eq!(marks[1].1, "Sun 4");
    }

    #[test]
    fn nothing_is_drawn_of_what_has_no_time_or_is_old() {
        let mut timeless = entry("a", "2026-01-05T00:00:00Z", None);
        timeless.created_at = None;
        assert_eq!(at(&[timeless]), None);
        assert_eq!(at(&[entry("a", "2020-01-05T00:00:00Z", None)]), None);
    }
}
