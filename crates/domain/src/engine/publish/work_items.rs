//! Shows work items that wait for a person as issues; a writer's label on an issue starts its item. With `approval =
//! "human"` these are all items, else those in the backlog or suspended.
//!
//! The intent to show an item is recorded first, under a key that names its slot and a digest of the text that people
//! read. When an item changes or leaves, its issue is closed, so that an approval covers exactly the text that was
//! read.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::attempts;
use crate::engine::lookup::exchange_view;
use crate::engine::lookup::work_items::{
    WORK_LABEL, WorkItemIssue, may_be_broken, needs_human_approval, work_item_issues,
};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{INTENT_VALID, WORK_ITEMS_READ, WORK_ITEMS_SHOWN};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{self, Next};

/// The number in the state of an issue that is about to be opened.
const INTENDED: u64 = 0;

/// Opens issues for items that wait for a person, and closes those of items that no longer do.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    let known: Vec<(String, u64)> = builder
        .state
        .published
        .iter()
        .filter(|(key, _)| exchange::split_issue_key(key).is_some())
        .map(|(key, number)| (key.clone(), *number))
        .collect();
    if builder.exchange.is_none() {
        let intended = known.into_iter().filter(|(_, number)| *number == INTENDED);
        attempts::request_reads(builder, &intended.map(|(key, _)| key).collect());
        return;
    }
    // Without the files of layers the labels are unknown, and so are the sound items. Where no item was shown before
    // and approval is not needed, the next pass reads them.
    let is_awaited = !known.is_empty() || needs_human_approval(builder);
    if !builder.snapshot.layers_read && (!is_awaited || exchange_view::request_exchange(builder)) {
        return;
    }
    // An unreadable exchange is not an empty one: issues stay, and approvals wait.
    let view = exchange_view::current_view(builder);
    if view.is_unreadable {
        return;
    }
    let read = view.exchange.as_ref();
    let (offers, unshown) = work_item_issues(builder, read);
    builder.add_diagnostics(unshown);
    close_outdated(builder, &known, &offers, |slot| {
        may_be_broken(read, &view.tree, slot)
    });
    let shown: Vec<u64> = known
        .iter()
        .filter(|(key, _)| offers.contains_key(key))
        .map(|(_, number)| *number)
        .collect();
    open_missing(builder, offers, shown);
}

/// Closes the issues of items that no longer wait. `may_exist`: whether a slot's item may be in an unreadable file.
fn close_outdated(
    builder: &mut DecisionBuilder<'_>,
    known: &[(String, u64)],
    offers: &BTreeMap<String, WorkItemIssue>,
    may_exist: impl Fn(&str) -> bool,
) {
    for (key, number) in known {
        if offers.contains_key(key) {
            continue;
        }
        let slot = exchange::split_issue_key(key).map_or("", |(slot, _)| slot);
        let is_there = offers
            .keys()
            .any(|other| exchange::split_issue_key(other).is_some_and(|(one, _)| one == slot));
        if !is_there && may_exist(slot) {
            continue;
        }
        if *number == INTENDED {
            attempts::forget_issue(builder, key);
            builder.add_headline(format!("withdrawn {key}"), None);
            continue;
        }
        if !attempts::start_attempt(builder, key) {
            continue;
        }
        builder.add_effect(Effect::CloseWorkItem {
            number: *number,
            comment: if is_there {
                "The work item has changed, and another issue shows it.".to_owned()
            } else {
                "The work item is done, or was withdrawn.".to_owned()
            },
        });
    }
}

/// Opens issues for items that have none, as far as there is room beside the `shown` ones.
fn open_missing(
    builder: &mut DecisionBuilder<'_>,
    offers: BTreeMap<String, WorkItemIssue>,
    shown: Vec<u64>,
) {
    let mut room = WORK_ITEMS_SHOWN.saturating_sub(shown.len());
    let all = needs_human_approval(builder);
    let is_new = |(key, offer): (&String, &WorkItemIssue)| {
        (all || offer.next != Next::Implementer) && !builder.state.published.contains_key(key)
    };
    if room == 0 && offers.iter().any(is_new) {
        room = WORK_ITEMS_SHOWN.saturating_sub(count_open(builder, shown));
    }
    for (key, WorkItemIssue { issue, next }) in offers {
        // Items that start without a request need no approval.
        if !all && next == Next::Implementer {
            continue;
        }
        match builder.state.published.get(&key) {
            Some(number) if *number != INTENDED => continue,
            Some(_) => {}
            None if room == 0 => continue,
            None => {
                room -= 1;
                builder.state.published.insert(key.clone(), INTENDED);
                builder.add_headline(format!("offer {key}"), None);
            }
        }
        if !attempts::start_attempt(builder, &key) {
            continue;
        }
        let not_after = builder.now_plus(INTENT_VALID);
        builder.add_effect(Effect::OpenWorkItem {
            key,
            title: issue.title,
            body: issue.body,
            label: issue.label,
            marker: issue.marker,
            not_after,
        });
    }
}

/// How many of these issues wait for people. A closed one takes no room. Unknown ones count, and are read; of very many
/// only the newest are read, and the rest counts as closed.
fn count_open(builder: &mut DecisionBuilder<'_>, mut numbers: Vec<u64>) -> usize {
    let snapshot = builder.snapshot;
    numbers.sort_unstable_by_key(|number| {
        Reverse(match *number {
            INTENDED => u64::MAX,
            number => number,
        })
    });
    numbers.truncate(WORK_ITEMS_READ);
    numbers.retain(|number| match snapshot.subjects.get(number) {
        _ if *number == INTENDED => true,
        Some(subject) => subject.as_ref().is_some_and(|subject| subject.open),
        None => {
            builder.reads.subjects.insert(*number);
            true
        }
    });
    numbers.len()
}

/// Records the issue of a work item.
pub(crate) fn record_opened(builder: &mut DecisionBuilder<'_>, key: &str, number: u64) {
    builder.state.published.insert(key.to_owned(), number);
    builder.state.publishing.remove(key);
    builder.add_headline(format!("offered {key} as #{number}"), None);
    let text = format!(
        "issue #{number} shows a work item; the label `{}` on it starts it",
        WORK_LABEL
    );
    builder.report_line(Line::about_repository(
        Verdict::Settled,
        Reason::Finished,
        text,
    ));
}

/// Records that the issue of a work item is closed.
pub(crate) fn record_closed(builder: &mut DecisionBuilder<'_>, number: u64) {
    let of_it = |(key, known): (&String, &u64)| {
        (*known == number && exchange::split_issue_key(key).is_some()).then(|| key.clone())
    };
    let keys: Vec<String> = builder.state.published.iter().filter_map(of_it).collect();
    for key in keys {
        attempts::forget_issue(builder, &key);
        builder.add_headline(format!("withdrawn {key}"), None);
    }
}
