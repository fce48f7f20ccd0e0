//! Other ways in which artifacts are written. Each is brought into the normal form, and told of; the places stay.

mod attempt;
mod nodes;
mod plan;
mod state;
mod verdict;
mod words;

use super::artifact::Artifact;
use crate::Diagnostic;
use crate::yaml::Node;
use nodes::Variants;

/// Brings a document into the normal form, as far as its variants are known.
pub(super) fn mend(artifact: Artifact, file: &str, root: &mut Node, found: &mut Vec<Diagnostic>) {
    let mut variants = Variants { file, found };
    match artifact {
        Artifact::Plan => plan::plan(root, &mut variants),
        Artifact::Worker => plan::notes(root, &mut variants),
        Artifact::Test => verdict::test(root, &mut variants),
        Artifact::Review => verdict::review(root, &mut variants),
        Artifact::Debug => verdict::cause(root, &mut variants),
        Artifact::Git | Artifact::Trace => {}
        Artifact::State => state::state(root, &mut variants),
        Artifact::Lessons => state::lessons(root, &mut variants),
    }
    if artifact.assesses_itself() {
        attempt::assessment(root, &mut variants);
    }
    words::words(root, artifact.shape(), "", &mut variants);
}
