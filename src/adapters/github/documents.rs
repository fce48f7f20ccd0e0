//! Lists every GraphQL document that phileas sends.

use super::graphql::{
    BODIES, CHECKS, COMMIT, DRAFT, EDITS, MARK_READY, MERGE_FACTS, OBSERVE, OPEN_PULLS,
    OWN_COMMENTS, OWN_ISSUES, PLAN_COMMIT, REVIEWS,
};
use super::read::{file_texts, folders, pulls, subjects};

/// Every document as it is sent, by name, for the check against GitHub's schema. Documents that grow with the number
/// of items are shown for two.
#[must_use]
pub fn all_documents() -> Vec<(&'static str, String)> {
    vec![
        ("Observe", OBSERVE.to_owned()),
        ("OpenPulls", OPEN_PULLS.to_owned()),
        ("PullsByNumber", pulls::pulls_document(2)),
        ("Texts", file_texts::texts_document(2)),
        ("Folders", folders::folders_document(2)),
        ("Subjects", subjects::subjects_document(2)),
        ("Edits", EDITS.to_owned()),
        ("Checks", CHECKS.to_owned()),
        ("OwnComments", OWN_COMMENTS.to_owned()),
        ("OwnIssues", OWN_ISSUES.to_owned()),
        ("Bodies", BODIES.to_owned()),
        ("Draft", DRAFT.to_owned()),
        ("MarkReady", MARK_READY.to_owned()),
        ("MergeFacts", MERGE_FACTS.to_owned()),
        ("Reviews", REVIEWS.to_owned()),
        ("PlanCommit", PLAN_COMMIT.to_owned()),
        ("Commit", COMMIT.to_owned()),
    ]
}
