//! Texts for people: status comments, the dashboard issue, notices, work items, proposals, documents.

pub(super) mod attempts;
pub(super) mod comment_text;
pub(super) mod dashboard;
pub(super) mod dashboard_review;
pub(super) mod dashboard_text;
pub(super) mod ledger_documents;
pub(super) mod notices;
pub(super) mod proposals;
pub(super) mod request_status;
pub(super) mod status_answer;
pub(super) mod status_comment;
pub(super) mod work_items;

use super::output::builder::DecisionBuilder;
use super::publish::proposals::publish_proposals;

/// Publishes work items and proposals as issues. Only earlier intents cause reads; the decision that imports a new
/// proposal sees it anyway.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    work_items::run(builder);
    publish_proposals(builder);
}
