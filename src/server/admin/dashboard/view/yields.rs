//! The view of the results of each persona's work, and of the used budget.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{BudgetFigures, Yield, span_text};

use crate::server::admin::dashboard::format::{self, Moment};

/// The results of one persona.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YieldView {
    /// The persona; `all` for the total.
    pub who: String,
    /// Whether it is a version of the prompt of the persona above.
    pub is_prompt: bool,
    /// The number of sessions.
    pub sessions: u32,
    /// The number of pull requests.
    pub pulls: u32,
    /// The number of merged pull requests.
    pub merged: u32,
    /// How many of them a session brought.
    pub merge_rate: String,
    /// Why people refused pull requests.
    pub refused: String,
    /// The number of other pull requests that were closed unmerged.
    pub rejected: u32,
    /// The number of closed pull requests that repeated others or changed nothing.
    pub unwanted: u32,
    /// The number of pull requests that were merged and then reverted.
    pub reverted: u32,
    /// The number of open pull requests without a review.
    pub ignored: u32,
    /// Sessions that came to nothing: no output, failed, stuck.
    pub nothing: u32,
    /// Parts of a bar of 100 units.
    pub parts: Vec<Part>,
    /// The median time until the merge.
    pub to_merge: Option<String>,
    /// The end of its rest.
    pub resting: Option<Moment>,
    /// Whether a change of a file ends that rest before.
    pub rests_for_files: bool,
}

/// A part of a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The class of its colour.
    pub class: &'static str,
    /// Its left edge, in percent.
    pub x: u32,
    /// Its width, in percent.
    pub width: u32,
}

/// The yield of a persona, or of all.
#[must_use]
pub fn yield_view(who: &str, figures: &Yield, now: Timestamp) -> YieldView {
    let unwanted = figures.repeated + figures.no_op + figures.superseded;
    let refused = figures.rejected + unwanted + figures.reverted;
    let nothing = figures.no_output + figures.failed + figures.stuck;
    let shares = [
        ("merged", figures.merged),
        ("completed", figures.completed),
        ("review", figures.open),
        ("rejected", refused),
        ("empty", nothing),
    ];
    YieldView {
        who: who.to_owned(),
        is_prompt: false,
        sessions: figures.sessions,
        pulls: figures.pulls,
        merged: figures.merged,
        merge_rate: figures.merge_rate_text(),
        refused: figures.refused_text(),
        rejected: figures.rejected,
        unwanted,
        reverted: figures.reverted,
        ignored: figures.ignored,
        nothing,
        parts: outcome_parts(&shares, figures.sessions),
        to_merge: figures.median_to_merge.map(span_text),
        resting: figures
            .resting_until
            .filter(|until| *until > now)
            .map(|until| format::format_moment(until, now)),
        rests_for_files: !figures.resting_for.is_empty(),
    }
}

fn outcome_parts(shares: &[(&'static str, u32)], whole: u32) -> Vec<Part> {
    let mut sum = 0;
    let mut parts = Vec::new();
    for (class, count) in shares {
        let of_whole = |count: u32| (100 * count).checked_div(whole).unwrap_or(0).min(100);
        let (from, to) = (of_whole(sum), of_whole(sum + count));
        sum += count;
        if to > from {
            parts.push(Part {
                class,
                x: from,
                width: to - from,
            });
        }
    }
    parts
}

/// One limit, and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    /// The limited quantity.
    pub what: &'static str,
    /// The unit of the figure.
    pub unit: &'static str,
    /// The used amount; `None`: it was not read lately.
    pub used: Option<u32>,
    /// The limit; `None`: the plan cannot be read.
    pub limit: Option<u32>,
    /// What the figure includes, where that is no matter of course.
    pub note: Option<String>,
    /// The used share, in percent.
    pub share: u32,
    /// `full`, or empty.
    pub class: &'static str,
    /// The age of the figure, if it is old.
    pub seen: Option<String>,
}

/// From this age on the page shows how old a figure is.
const OLD: SignedDuration = SignedDuration::from_mins(5);

/// Builds the limits of a repository and of its key.
#[must_use]
pub fn budget_meters(
    figures: &BudgetFigures,
    key_at: Option<Timestamp>,
    now: Timestamp,
) -> Vec<Meter> {
    // A recent figure counts as present; a check of the repository need not ask Jules.
    let old = key_at.filter(|at| now.duration_since(*at) >= OLD);
    let seen = old.map(|at| format::relative_time(at, now));
    let meter = |what, unit, used: Option<u32>, limit: Option<u32>| {
        let share = |used: u32, limit| (100 * used).checked_div(limit).unwrap_or(100);
        let share = used
            .zip(limit)
            .map_or(0, |(used, limit)| share(used, limit));
        Meter {
            what,
            unit,
            used,
            limit,
            note: None,
            share: share.min(100),
            seen: None,
            class: if share >= 100 { "full" } else { "" },
        }
    };
    let of_key = |meter: Meter| Meter {
        seen: seen.clone().filter(|_| meter.used.is_some()),
        ..meter
    };
    let limits = figures.limits;
    let day = meter(
        "Sessions within a day",
        "this repository",
        Some(figures.day),
        limits.map(|limits| limits.day),
    );
    let requested = figures.day_requested;
    vec![
        Meter {
            note: (requested > 0).then(|| format!("{requested} of them on request")),
            ..day
        },
        meter(
            "Sessions at once",
            "this repository",
            Some(figures.live),
            limits.map(|limits| limits.live),
        ),
        meter(
            "Waiting for a review",
            "pull requests",
            Some(figures.backlog),
            limits.map(|limits| limits.backlog),
        ),
        of_key(meter(
            "The key's day",
            "all its repositories",
            figures.key_day,
            limits.map(|limits| limits.key_day),
        )),
        of_key(meter(
            "The key at once",
            "all its repositories",
            figures.key_live,
            limits.map(|limits| limits.key_live),
        )),
    ]
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::BudgetLimits;

    use super::*;

    #[test]
    fn the_parts_of_a_bar_follow_one_another() {
        let figures = Yield {
            sessions: 8,
            pulls: 6,
            merged: 4,
            rejected: 1,
            open: 1,
            no_output: 1,
            ..Yield::default()
        };
        let shown = yield_view("all", &figures, Timestamp::UNIX_EPOCH);
        let parts: Vec<_> = shown
            .parts
            .iter()
            .map(|part| (part.class, part.x, part.width))
            .collect();
        assert_eq!(
            parts,
            [
                ("merged", 0, 50),
                ("review", 50, 12),
                ("rejected", 62, 13),
                ("empty", 75, 12)
            ]
        );
        assert!(
            yield_view("all", &Yield::default(), Timestamp::UNIX_EPOCH)
                .parts
                .is_empty()
        );
    }

    #[test]
    fn a_full_budget_is_marked_and_an_unknown_one_is_not_zero() {
        let figures = BudgetFigures {
            day: 7,
            day_requested: 2,
            limits: Some(BudgetLimits {
                day: 5,
                ..BudgetLimits::default()
            }),
            ..BudgetFigures::default()
        };
        let now = Timestamp::UNIX_EPOCH;
        let meters = budget_meters(&figures, None, now);
        assert_eq!((meters[0].share, meters[0].class), (100, "full"));
        assert_eq!(meters[0].note.as_deref(), Some("2 of them on request"));
        let unreadable = BudgetFigures {
            limits: None,
            ..figures.clone()
        };
        let unknown = &budget_meters(&unreadable, None, now)[0];
        assert_eq!((unknown.limit, unknown.class), (None, ""));
        assert_eq!(meters[3].used, None);
        let told = BudgetFigures {
            key_day: Some(36),
            ..figures
        };
        let ago = |minutes| now.checked_sub(SignedDuration::from_mins(minutes)).ok();
        assert_eq!(budget_meters(&told, ago(1), now)[3].seen, None);
        let old = budget_meters(&told, ago(90), now);
        assert_eq!(old[3].seen.as_deref(), Some("1 h 30 min ago"));
        assert_eq!(old[4].seen, None, "what is live is unknown");
    }
}
