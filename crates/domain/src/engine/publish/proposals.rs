//! Publishes proposals as issues, each once: the intent is recorded first, and the file is removed when the issue
//! exists.

use std::collections::{BTreeMap, BTreeSet};

use super::attempts::{forget_issue, request_reads, start_attempt};
use crate::engine::lookup::exchange_view;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{INTENT_VALID, PUBLISHED_AT_ONCE, PUBLISHED_KEPT};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{publication_of, split_issue_key};

/// The number in the state of an issue that is about to be opened.
const INTENDED: u64 = 0;

pub(crate) fn publish_proposals(builder: &mut DecisionBuilder<'_>) {
    let intended: BTreeSet<String> = builder
        .state
        .published
        .iter()
        .filter(|(key, number)| **number == INTENDED && split_issue_key(key).is_none())
        .map(|(key, _)| key.clone())
        .collect();
    if builder.exchange.is_none() {
        request_reads(builder, &intended);
        return;
    }
    let view = exchange_view::current_view(builder);
    let Some(exchange) = &view.exchange else {
        return;
    };
    let proposals = exchange
        .streams
        .values()
        .flat_map(|stream| &stream.proposals);
    let mut gone = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut open = 0;
    for proposal in proposals {
        let Some(issue) = publication_of(proposal) else {
            continue;
        };
        known.insert(issue.key.clone());
        match builder.state.published.get(&issue.key) {
            Some(number) if *number != INTENDED => {
                gone.insert(proposal.path.clone(), None);
                continue;
            }
            _ if open >= PUBLISHED_AT_ONCE => continue,
            Some(_) => {}
            None => {
                builder.state.published.insert(issue.key.clone(), INTENDED);
                builder.add_headline(format!("publish {}", issue.key), None);
            }
        }
        if !start_attempt(builder, &issue.key) {
            continue;
        }
        open += 1;
        let not_after = builder.now_plus(INTENT_VALID);
        builder.add_effect(Effect::PublishProposal {
            key: issue.key,
            title: issue.title,
            body: issue.body,
            label: issue.label,
            marker: issue.marker,
            not_after,
        });
    }
    if !gone.is_empty() {
        builder.write_files(gone);
    }
    // A proposal that was withdrawn before its issue was opened gets none.
    for key in intended.difference(&known) {
        forget_issue(builder, key);
        builder.add_headline(format!("withdrawn {key}"), None);
    }
}

/// Records the issue of a proposal.
pub(crate) fn record_published(builder: &mut DecisionBuilder<'_>, key: &str, number: u64) {
    builder.state.published.insert(key.to_owned(), number);
    builder.state.publishing.remove(key);
    builder.add_headline(format!("published {key} as #{number}"), None);
    let text = format!("`{key}` is issue #{number} now");
    builder.report_line(Line::about_repository(
        Verdict::Settled,
        Reason::Finished,
        text,
    ));
    // Drop the oldest proposals. Work items leave with their items, and must not displace proposals.
    let count_proposals = |builder: &DecisionBuilder<'_>| {
        let keys = builder.state.published.keys();
        keys.filter(|key| split_issue_key(key).is_none()).count()
    };
    while count_proposals(builder) > PUBLISHED_KEPT {
        let numbered = builder
            .state
            .published
            .iter()
            .filter(|(key, number)| **number != INTENDED && split_issue_key(key).is_none());
        let oldest = numbered
            .min_by_key(|(_, number)| **number)
            .map(|(key, _)| key.clone());
        let Some(oldest) = oldest else { break };
        builder.state.published.remove(&oldest);
    }
}
