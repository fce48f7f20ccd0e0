//! What phileas writes for people: status comments, the dashboard issue, notices, work items, proposals, documents.

pub(super) mod account;
pub(super) mod attempts;
pub(super) mod dashboard;
pub(super) mod dashboard_text;
pub(super) mod ledger_documents;
pub(super) mod notices;
pub(super) mod proposals;
pub(super) mod status_comment;
pub(super) mod work_items;

use super::output::builder::Draft;
use super::publish::proposals::proposals;

/// Shows work that waits for a person, opens an issue for each sound proposal that has none, and removes those that
/// have one. Nothing is read for it but what an intent of before needs; a new proposal is seen by the decision that
/// imports it.
pub(crate) fn run(draft: &mut Draft<'_>) {
    work_items::run(draft);
    proposals(draft);
}
