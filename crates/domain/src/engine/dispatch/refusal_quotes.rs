//! Quotes why people refused earlier work.
//!
//! The ledger keeps no text. It is read from GitHub when a prompt is built, so that a comment that was deleted, hidden or
//! edited is quoted no more.

use std::collections::BTreeMap;

use crate::engine::input::comment::refusal_words;
use crate::engine::lookup::dashboard_issue::text_digest;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{REFUSALS_QUOTED, REVIEWS_QUOTED};
use crate::model::PullNumber;
use crate::work::WorkRecord;

/// What people wrote about the nearest of these pull requests, by number. What was refused with a comment comes first, and
/// where the plan quotes reviews, what was closed without one takes the places that are left.
pub(super) fn refusal_quotes(
    builder: &mut DecisionBuilder<'_>,
    refused: &[&WorkRecord],
) -> BTreeMap<u64, Vec<String>> {
    let has_comment = |record: &&WorkRecord| refusal_comment(builder, record).is_some();
    let (mut chosen, silent): (Vec<&WorkRecord>, Vec<&WorkRecord>) =
        refused.iter().copied().partition(has_comment);
    if builder.snapshot.plan.novelty.quote_reviews {
        chosen.extend(silent);
    }
    chosen.truncate(REFUSALS_QUOTED);
    let quotes = chosen.into_iter();
    quotes
        .map(|record| (record.pr, quotes_of(builder, record)))
        .collect()
}

/// What people wrote about a refusal, as far as GitHub shows it now: the words behind their command, and reviews where
/// the plan says so. Requests the read; without it nothing is quoted.
fn quotes_of(builder: &mut DecisionBuilder<'_>, record: &WorkRecord) -> Vec<String> {
    let number = PullNumber(record.pr);
    let Some(texts) = builder.snapshot.refusal_texts.get(&number) else {
        builder.reads.refusal_texts.insert(number);
        return Vec::new();
    };
    let Some(texts) = texts else {
        return Vec::new();
    };
    let refusal = refusal_comment(builder, record).and_then(|(comment, digest)| {
        let text = texts.comments.get(&comment)?;
        let is_same = digest == format!("sha256:{}", text_digest(text));
        is_same.then(|| refusal_words(text))
    });
    let quotes_reviews = builder.snapshot.plan.novelty.quote_reviews;
    let reviews = texts.reviews.iter().filter(|_| quotes_reviews);
    let reviews = reviews.take(REVIEWS_QUOTED).map(String::as_str);
    let quotes = refusal.into_iter().chain(reviews);
    let quotes = quotes.filter(|text| !text.trim().is_empty());
    quotes.map(str::to_owned).collect()
}

/// The comment of the newest refusal, with its digest. phileas has accepted its command, so its author may write.
fn refusal_comment(builder: &DecisionBuilder<'_>, record: &WorkRecord) -> Option<(u64, String)> {
    let (comment, digest) = match builder.state.work.refused.get(&PullNumber(record.pr)) {
        Some(refusal) => (refusal.comment, &refusal.digest),
        None => {
            let refusal = record.refused.as_ref()?;
            (refusal.comment, &refusal.digest)
        }
    };
    Some((comment?, digest.clone()?))
}
