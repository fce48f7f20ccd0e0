//! Other ways in which artifacts are written. Each is brought into the normal form, and told of; the places stay.

mod attempt;
mod keywords;
mod nodes;
mod plan;
mod state;
mod verdict;

use super::artifact::Artifact;
use crate::Diagnostic;
use crate::yaml::Node;
use nodes::Variants;

/// Brings a document into the normal form, as far as its variants are known.
pub(super) fn normalize_document(
    artifact: Artifact,
    file: &str,
    root: &mut Node,
    found: &mut Vec<Diagnostic>,
) {
    let mut variants = Variants {
        file,
        diagnostics: found,
    };
    match artifact {
        Artifact::Plan => plan::normalize_plan(root, &mut variants),
        Artifact::Worker => plan::normalize_notes(root, &mut variants),
        Artifact::Test => verdict::normalize_test(root, &mut variants),
        Artifact::Review => verdict::normalize_review(root, &mut variants),
        Artifact::Debug => verdict::normalize_cause(root, &mut variants),
        Artifact::Git | Artifact::Trace => {}
        Artifact::State => state::normalize_state(root, &mut variants),
        Artifact::Lessons => state::normalize_lessons(root, &mut variants),
    }
    if artifact.assesses_itself() {
        attempt::normalize_assessment(root, &mut variants);
    }
    keywords::normalize_words(root, artifact.artifact_shape(), "", &mut variants);
}
