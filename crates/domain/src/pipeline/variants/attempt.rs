//! What an agent thinks of its own work.

use super::nodes::{Variants, get_mut, node_at, rename_key};
use crate::yaml::{Node, Value};

/// Words for a confidence, and the numbers that they are read as.
const CONFIDENCES: [(&str, f64); 3] = [("low", 0.3), ("medium", 0.6), ("high", 0.9)];

/// A confidence in words, and a rationale in place of a recommendation.
pub(super) fn normalize_assessment(root: &mut Node, variants: &mut Variants<'_>) {
    let Some(assessment) = get_mut(root, "self_assessment") else {
        return;
    };
    if let Some(confidence) = get_mut(assessment, "confidence")
        && let Some(word) = confidence.text().map(str::to_ascii_lowercase)
        && let Some((_, number)) = CONFIDENCES.iter().find(|(known, _)| *known == word)
    {
        variants.report(
            confidence,
            "self_assessment.confidence",
            "the confidence is a word",
            format!("the normal form is {number}"),
        );
        *confidence = node_at(confidence, Value::Float(*number));
    }
    let rationale = assessment.get("rationale");
    // Anything else is a key of the agent's own.
    if rationale.is_some_and(|value| value.text().is_some())
        && let Some(place) = rename_key(assessment, "rationale", "recommendation")
    {
        variants.report(
            &place,
            "self_assessment.rationale",
            "`rationale` stands in place of `recommendation`",
            "the normal form is `recommendation`",
        );
    }
}
