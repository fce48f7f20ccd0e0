//! The pull requests that Jules has opened in a repository so far, and what they say together.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::past_pull::PastPull;
use super::repeats::{Repeat, repeats};

/// A persona's pace is measured over so many days before its newest pull request.
const PACE_DAYS: i64 = 90;
const SECONDS_PER_WEEK: f64 = 7.0 * 24.0 * 3600.0;
/// So many pull requests make a name at the beginning of titles a persona.
const PERSONA_NEEDS: usize = 2;
/// The longest name of a persona, in letters.
const NAME_LENGTH: usize = 24;
/// What may stand before the colon of a title and names no persona: the types of conventional commits
/// (<https://www.conventionalcommits.org>), and words that people use in the same way.
const TITLE_TYPES: [&str; 21] = [
    "bug", "build", "chore", "ci", "docs", "feat", "feature", "fix", "hotfix", "jules", "note",
    "perf", "refactor", "release", "revert", "security", "style", "test", "tests", "todo", "wip",
];

/// What the pull requests of Jules say together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// How many there are.
    pub opened: usize,
    /// How many of them were merged.
    pub merged: usize,
    /// How many of them were closed without a merge.
    pub refused: usize,
    /// How many of them are open.
    pub open: usize,
    /// When the first one was opened.
    pub first_at: Option<Timestamp>,
    /// When the newest one was opened.
    pub last_at: Option<Timestamp>,
    /// The lower median of the time from opening to merge, in seconds.
    pub median_to_merge_secs: Option<i64>,
    /// Ideas with more than one pull request, the most frequent first.
    pub repeats: Vec<Repeat>,
    /// Files that several pull requests changed while they were open, most first.
    pub contested: Vec<ContestedFile>,
    /// The personas that titles name, most pull requests first.
    pub personas: Vec<PersonaHistory>,
    /// How many pull requests were compared by their lines; all are compared by titles and files.
    pub compared_by_lines: usize,
}

/// A file that several pull requests changed at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContestedFile {
    /// Its path.
    pub path: String,
    /// How many pull requests changed it while another one that changes it was open.
    pub pulls: usize,
}

/// What the pull requests of one persona say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonaHistory {
    /// Its name, in lower case.
    pub name: String,
    /// How many it opened.
    pub opened: usize,
    /// How many of them were merged.
    pub merged: usize,
    /// How many it opened a week in the last 90 days before its newest one.
    pub per_week: f64,
}

impl History {
    /// Reads the pull requests.
    #[must_use]
    pub fn of(pulls: &[PastPull]) -> Self {
        let merged = pulls.iter().filter(|pull| pull.merged).count();
        let is_open = |pull: &&PastPull| !pull.merged && pull.closed_at.is_none();
        let open = pulls.iter().filter(is_open).count();
        let mut to_merge: Vec<SignedDuration> = pulls
            .iter()
            .filter(|pull| pull.merged)
            .filter_map(|pull| Some(pull.closed_at?.duration_since(pull.opened_at)))
            .collect();
        to_merge.sort();
        let middle = to_merge.len().saturating_sub(1) / 2;
        Self {
            opened: pulls.len(),
            merged,
            refused: pulls.len() - merged - open,
            open,
            first_at: pulls.iter().map(|pull| pull.opened_at).min(),
            last_at: pulls.iter().map(|pull| pull.opened_at).max(),
            median_to_merge_secs: to_merge.get(middle).map(SignedDuration::as_secs),
            repeats: repeats(pulls),
            contested: contested_files(pulls),
            personas: persona_histories(pulls),
            compared_by_lines: pulls.iter().filter(|pull| pull.lines_known).count(),
        }
    }
}

/// The files that were changed by several pull requests at the same time.
fn contested_files(pulls: &[PastPull]) -> Vec<ContestedFile> {
    let mut by_path: BTreeMap<&str, Vec<&PastPull>> = BTreeMap::new();
    for pull in pulls {
        for path in &pull.fingerprint.paths {
            by_path.entry(path).or_default().push(pull);
        }
    }
    let mut files: Vec<ContestedFile> = by_path
        .into_iter()
        .map(|(path, mut pulls)| {
            pulls.sort_by_key(|pull| (pull.opened_at, pull.pr));
            ContestedFile {
                path: path.to_owned(),
                pulls: overlapping(&pulls),
            }
        })
        .filter(|file| file.pulls > 0)
        .collect();
    files.sort_by(|one, other| (other.pulls, &one.path).cmp(&(one.pulls, &other.path)));
    files
}

/// How many of these pull requests, by the time of their opening, were open at the same time as another of them.
fn overlapping(pulls: &[&PastPull]) -> usize {
    let mut together = vec![false; pulls.len()];
    // The one before that is open longest, and until when.
    let mut longest: Option<(usize, Option<Timestamp>)> = None;
    for (index, pull) in pulls.iter().enumerate() {
        if let Some((before, until)) = longest
            && until.is_none_or(|until| pull.opened_at < until)
        {
            together[before] = true;
            together[index] = true;
        }
        let stays_longer = |until: Option<Timestamp>| match (until, pull.closed_at) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(until), Some(end)) => end > until,
        };
        if longest.is_none_or(|(_, until)| stays_longer(until)) {
            longest = Some((index, pull.closed_at));
        }
    }
    together.into_iter().filter(|together| *together).count()
}

fn persona_histories(pulls: &[PastPull]) -> Vec<PersonaHistory> {
    let mut by_name: BTreeMap<String, Vec<&PastPull>> = BTreeMap::new();
    for pull in pulls {
        if let Some(name) = persona_of(&pull.title) {
            by_name.entry(name).or_default().push(pull);
        }
    }
    let mut personas: Vec<PersonaHistory> = by_name
        .into_iter()
        .filter(|(_, pulls)| pulls.len() >= PERSONA_NEEDS)
        .map(|(name, pulls)| PersonaHistory {
            name,
            opened: pulls.len(),
            merged: pulls.iter().filter(|pull| pull.merged).count(),
            per_week: pace(&pulls),
        })
        .collect();
    personas.sort_by(|one, other| (other.opened, &one.name).cmp(&(one.opened, &other.name)));
    personas
}

/// Pull requests a week in the last [`PACE_DAYS`] before the newest. A week is the shortest time that counts.
fn pace(pulls: &[&PastPull]) -> f64 {
    let Some(newest) = pulls.iter().map(|pull| pull.opened_at).max() else {
        return 0.0;
    };
    let ages: Vec<SignedDuration> = pulls
        .iter()
        .map(|pull| newest.duration_since(pull.opened_at))
        .filter(|age| *age <= SignedDuration::from_hours(24 * PACE_DAYS))
        .collect();
    let span = ages.iter().max().map_or(0.0, SignedDuration::as_secs_f64);
    ages.len() as f64 / (span / SECONDS_PER_WEEK).max(1.0)
}

/// The persona that a title names: `⚡ Bolt: cache the parser` names `bolt`. Personas of Jules' gallery write so.
#[must_use]
pub fn persona_of(title: &str) -> Option<String> {
    let start = title.find(char::is_alphanumeric)?;
    let (name, rest) = title[start..].split_once(':')?;
    let name = name.trim();
    let is_name = !rest.trim().is_empty()
        && name.chars().count() <= NAME_LENGTH
        && name.chars().next().is_some_and(char::is_alphabetic)
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_');
    let name = name.to_lowercase();
    (is_name && !TITLE_TYPES.contains(&name.as_str())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Fingerprint;

    fn pull(pr: u64, title: &str, opened: &str, closed: Option<&str>, merged: bool) -> PastPull {
        PastPull {
            pr,
            title: title.to_owned(),
            opened_at: opened.parse().unwrap(),
            closed_at: closed.map(|at| at.parse().unwrap()),
            merged,
            fingerprint: Fingerprint {
                paths: vec!["src/render.rs".to_owned()],
                ..Fingerprint::default()
            },
            lines_known: false,
        }
    }

    #[test]
    fn pull_requests_overlap_with_the_one_that_is_open_longest() {
        let count = |times: &[(u8, u8)]| {
            let at = |hour: u8| format!("2026-01-01T{hour:02}:00:00Z");
            let pulls: Vec<PastPull> = times
                .iter()
                .map(|(opened, closed)| pull(1, "a", &at(*opened), Some(&at(*closed)), true))
                .collect();
            overlapping(&pulls.iter().collect::<Vec<_>>())
        };
        assert_eq!(count(&[(0, 10), (1, 2), (5, 6)]), 3);
        assert_eq!(count(&[(0, 2), (1, 10), (5, 6)]), 3);
        assert_eq!(count(&[(0, 2), (2, 4), (5, 6)]), 0);
    }

    #[test]
    fn figures_are_counted() {
        let history = History::of(&[
            pull(
                1,
                "a",
                "2026-01-01T00:00:00Z",
                Some("2026-01-01T02:00:00Z"),
                true,
            ),
            pull(
                2,
                "b",
                "2026-01-01T00:00:00Z",
                Some("2026-01-02T00:00:00Z"),
                true,
            ),
            pull(
                3,
                "c",
                "2026-01-01T01:00:00Z",
                Some("2026-01-01T03:00:00Z"),
                false,
            ),
            pull(4, "d", "2026-02-01T00:00:00Z", None, false),
        ]);
        assert_eq!(
            (
                history.opened,
                history.merged,
                history.refused,
                history.open
            ),
            (4, 2, 1, 1)
        );
        assert_eq!(history.median_to_merge_secs, Some(2 * 3600));
        let contested = ContestedFile {
            path: "src/render.rs".to_owned(),
            pulls: 3,
        };
        assert_eq!(history.contested, [contested], "the fourth came later");
        let none = History::of(&[]);
        assert_eq!(
            (none.opened, none.median_to_merge_secs, none.first_at),
            (0, None, None)
        );
    }

    #[test]
    fn a_merged_one_without_a_time_is_not_open() {
        let history = History::of(&[pull(1, "a", "2026-01-01T00:00:00Z", None, true)]);
        assert_eq!((history.merged, history.open, history.refused), (1, 0, 0));
    }

    #[test]
    fn an_open_pull_request_competes_with_all_that_come_after_it() {
        let pulls = [
            pull(1, "a", "2026-01-01T00:00:00Z", None, false),
            pull(
                2,
                "b",
                "2026-01-02T00:00:00Z",
                Some("2026-01-03T00:00:00Z"),
                true,
            ),
            pull(
                3,
                "c",
                "2026-01-04T00:00:00Z",
                Some("2026-01-05T00:00:00Z"),
                true,
            ),
        ];
        assert_eq!(History::of(&pulls).contested[0].pulls, 3);
        assert_eq!(History::of(&pulls[1..]).contested, []);
    }

    #[test]
    fn titles_name_personas_and_not_types() {
        let named = |title| persona_of(title);
        for (title, name) in [
            ("⚡ Bolt: cache the parser", "bolt"),
            ("🛡️ Sentinel: [HIGH] escape quotes", "sentinel"),
            ("🎨 Palette: add labels", "palette"),
            ("code-health: drop dead code", "code-health"),
        ] {
            assert_eq!(named(title).as_deref(), Some(name), "{title}");
        }
        for title in [
            "fix: a bug",
            "feat(html): x",
            "Bolt",
            "Bolt:",
            "a word or two: x",
            "12: x",
            "",
            "🚀",
        ] {
            assert_eq!(named(title), None, "{title}");
        }
    }

    #[test]
    fn a_persona_has_the_pace_of_its_last_months() {
        let day = |day: i64| {
            let at = "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap();
            (at + SignedDuration::from_hours(24 * day)).to_string()
        };
        let mut pulls: Vec<PastPull> = (0..15)
            .map(|number| pull(number, "⚡ Bolt: x", &day(200 + number as i64), None, false))
            .collect();
        pulls.push(pull(99, "⚡ Bolt: old", &day(0), None, false));
        let history = History::of(&pulls);
        assert_eq!(history.personas.len(), 1);
        let bolt = &history.personas[0];
        assert_eq!((bolt.name.as_str(), bolt.opened), ("bolt", 16));
        assert!((bolt.per_week - 7.5).abs() < 0.1, "{}", bolt.per_week);
    }
}
