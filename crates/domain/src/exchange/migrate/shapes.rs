//! Converts older shapes of artifacts.

use super::document::Document;
use super::places::Kind;
use super::{memory, one_answer};
use crate::diagnostic::Diagnostic;
use crate::exchange::edit;
use crate::exchange::layout::Layout;
use crate::exchange::shapes::DEGREES;
use crate::yaml::{Node, Value, quoted};

/// Converts a document to the current shape of its kind.
///
/// # Errors
///
/// The document mixes two shapes.
pub(super) fn bring(
    document: &mut Document,
    kind: Kind,
    layout: Layout,
) -> Result<(), Box<Diagnostic>> {
    match kind {
        Kind::Event => {
            degree(document, "confidence");
            document.rename("requirement_id", "issue_id")?;
            document.rename("role", "author_role")?;
            one_answer::event(document);
            Ok(())
        }
        Kind::Proposal => document.rename("role", "persona"),
        Kind::Feedback => {
            document.rename("created_at", "date")?;
            document.rename("reason", "critique")
        }
        Kind::Item => item(document, layout),
        Kind::Memory => memory::bring(document, layout),
        Kind::List => Ok(()),
    }
}

/// Fixes the case of a degree: `High`.
fn degree(document: &mut Document, key: &str) {
    let said = document.root.get(key).and_then(Node::text);
    let Some(word) = said.map(str::to_ascii_lowercase) else {
        return;
    };
    if DEGREES.contains(&word.as_str()) && said != Some(word.as_str()) {
        let text = edit::set(&document.text, &document.root, key, &word);
        document.rewrite(text, format!("`{key}` is spelled `{word}`"));
    }
}

fn item(document: &mut Document, layout: Layout) -> Result<(), Box<Diagnostic>> {
    degree(document, "priority");
    ready(document)?;
    one_answer::item(document);
    document.rename("planner_request_reason", "deep_analysis_reason")?;
    if layout == Layout::Workstreams {
        if document.has("verification_criteria") && !document.has("verification_commands") {
            let message = "criteria are no commands, which this layout asks for";
            document.keep(
                "verification_criteria",
                message,
                "write `verification_commands`",
            );
        }
        return Ok(());
    }
    document.rename("verification_commands", "verification_criteria")?;
    let outcome = document.root.get("desired_outcome").and_then(Node::text);
    if let Some(outcome) = outcome.map(str::to_owned)
        && !document.has("goal")
    {
        let text = edit::set(&document.text, &document.root, "goal", &quoted(&outcome));
        document.rewrite(text, "made `goal` of `desired_outcome`".to_owned());
        document.keep(
            "goal",
            "it says what `desired_outcome` says",
            "look it over",
        );
    }
    Ok(())
}

/// Converts the flag that later versions inverted.
fn ready(document: &mut Document) -> Result<(), Box<Diagnostic>> {
    const OLDER: &str = "implementation_ready";
    const NEWER: &str = "requires_deep_analysis";
    let Some(older) = document.root.get(OLDER) else {
        return Ok(());
    };
    let Value::Flag(ready) = older.value else {
        document.keep(
            OLDER,
            "it is neither true nor false",
            "write `requires_deep_analysis`",
        );
        return Ok(());
    };
    let newer = document.root.get(NEWER).map(|newer| newer.value.clone());
    if newer.is_some_and(|newer| newer != Value::Flag(!ready)) {
        return Err(document.half(OLDER, NEWER));
    }
    if document.has(NEWER) {
        let mut anew = document.root.clone();
        edit::remove(&mut anew, OLDER);
        let done = format!("removed `{OLDER}`, which `{NEWER}` says, too");
        document.rewrite(edit::emit(&anew), done);
        return Ok(());
    }
    let turned = edit::set(&document.text, &document.root, OLDER, &(!ready).to_string());
    document.rewrite(turned, format!("`{NEWER}` is the contrary of `{OLDER}`"));
    document.rename(OLDER, NEWER)?;
    // The previous entry says the same.
    document.done.pop();
    Ok(())
}
