//! Draws a track as a loop: stations on a circle, the completed arc thick, the present station
//! marked. A track too long for a circle is drawn as a row of stations.

use std::f64::consts::TAU;

use phileas_domain::engine::TrackView;
use phileas_domain::state::HistoryEntry;

use crate::server::admin::dashboard::format;

/// The most stations of a ring.
pub const MAX_STATIONS: usize = 16;
/// The centre of the drawing, and half its width.
const MIDDLE: f64 = 120.0;
/// The circle's radius.
const RADIUS: f64 = 92.0;

/// The steps of a track, with their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// Whether it is drawn as a circle.
    pub round: bool,
    /// The steps, in order.
    pub stations: Vec<Station>,
    /// The completed share of the circle, in hundredths.
    pub behind: String,
    /// The text in the middle.
    pub middle: String,
    /// The text below the middle.
    pub below: &'static str,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Station {
    /// Its number, from 1.
    pub number: usize,
    /// The persona or layer.
    pub name: String,
    /// The position of its centre.
    pub x: String,
    /// The position of its centre.
    pub y: String,
    /// `present`, `next` or empty.
    pub mark: &'static str,
    /// The meaning of the mark, in words.
    pub mark_words: &'static str,
    /// The class of its last outcome; empty without one.
    pub class: &'static str,
    /// Its last outcome in words.
    pub last: Option<String>,
}

/// Builds a track's ring. `sessions` are newest first.
#[must_use]
pub fn track_ring(track: &TrackView, sessions: &[HistoryEntry]) -> Ring {
    let count = track.steps.len();
    let here = track.present.or(track.next);
    let stations = track.steps.iter().enumerate().map(|(index, name)| {
        let (mark, mark_words) = if track.present == Some(index) {
            ("present", "running now")
        } else if track.present.is_none() && track.next == Some(index) {
            ("next", "next")
        } else {
            ("", "")
        };
        let last = sessions
            .iter()
            .find(|entry| entry.persona_id.as_str() == name && entry.track_name() == track.name);
        let live = mark == "present";
        let angle = TAU * circle_share(index, count) - TAU / 4.0;
        Station {
            number: index + 1,
            name: name.clone(),
            x: circle_point(MIDDLE + RADIUS * angle.cos()),
            y: circle_point(MIDDLE + RADIUS * angle.sin()),
            mark,
            mark_words,
            class: last.map_or("", |entry| {
                format::outcome_class(entry.outcome.as_ref(), live)
            }),
            last: last.map(|entry| format::outcome_text(entry.outcome.as_ref(), live)),
        }
    });
    Ring {
        round: (2..=MAX_STATIONS).contains(&count),
        stations: stations.collect(),
        behind: circle_point(here.map_or(0.0, |here| 100.0 * circle_share(here, count))),
        middle: here
            .and_then(|here| track.steps.get(here))
            .map_or_else(|| "–".to_owned(), |name| fitting_name(name)),
        below: if track.present.is_some() {
            "at work"
        } else {
            "next"
        },
    }
}

/// Shortens a name so that it fits into the circle.
fn fitting_name(name: &str) -> String {
    const ROOM: usize = 13;
    match name.char_indices().nth(ROOM) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name.to_owned(),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a track has at most some hundred steps"
)]
fn circle_share(index: usize, count: usize) -> f64 {
    index as f64 / count.max(1) as f64
}

fn circle_point(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(steps: usize, present: Option<usize>, next: Option<usize>) -> TrackView {
        TrackView {
            name: "default".into(),
            steps: (0..steps).map(|n| format!("p{n}")).collect(),
            present,
            next,
            seq: 0,
            passes: 0,
            cron: None,
            next_at: None,
            pause: None,
            turns: Vec::new(),
            lines: Vec::new(),
        }
    }

    #[test]
    fn the_first_station_is_at_the_top_and_the_loop_goes_with_the_clock() {
        let ring = track_ring(&track(4, Some(1), Some(2)), &[]);
        let places: Vec<_> = ring
            .stations
            .iter()
            .map(|station| (station.x.as_str(), station.y.as_str(), station.mark))
            .collect();
        assert_eq!(
            places,
            [
                ("120.0", "28.0", ""),
                ("212.0", "120.0", "present"),
                ("120.0", "212.0", ""),
                ("28.0", "120.0", ""),
            ]
        );
        assert_eq!((ring.behind.as_str(), ring.middle.as_str()), ("25.0", "p1"));
    }

    #[test]
    fn without_a_live_turn_the_next_step_is_marked() {
        let ring = track_ring(&track(3, None, Some(0)), &[]);
        assert_eq!(ring.stations[0].mark, "next");
        assert_eq!(ring.below, "next");
    }

    #[test]
    fn a_long_or_very_short_track_is_a_lane() {
        assert!(!track_ring(&track(MAX_STATIONS + 1, None, Some(0)), &[]).round);
        assert!(!track_ring(&track(1, None, Some(0)), &[]).round);
        assert_eq!(track_ring(&track(0, None, None), &[]).middle, "–");
    }
}
