//! Converts older shapes of artifacts.

use super::document::Document;
use super::locations::Kind;
use super::{memory, unambiguous};
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
pub(super) fn convert_shape(
    document: &mut Document,
    kind: Kind,
    layout: Layout,
) -> Result<(), Box<Diagnostic>> {
    match kind {
        Kind::Event => {
            convert_degree(document, "confidence");
            document.rename_key("requirement_id", "issue_id")?;
            document.rename_key("role", "author_role")?;
            unambiguous::fix_event(document);
            Ok(())
        }
        Kind::Proposal => document.rename_key("role", "persona"),
        Kind::Feedback => {
            document.rename_key("created_at", "date")?;
            document.rename_key("reason", "critique")
        }
        Kind::Item => convert_item(document, layout),
        Kind::Memory => memory::convert_memory(document, layout),
        Kind::List => Ok(()),
    }
}

/// Fixes the case of a degree: `High`.
fn convert_degree(document: &mut Document, key: &str) {
    let said = document.root.get(key).and_then(Node::text);
    let Some(word) = said.map(str::to_ascii_lowercase) else {
        return;
    };
    if DEGREES.contains(&word.as_str()) && said != Some(word.as_str()) {
        let text = edit::set_key(&document.text, &document.root, key, &word);
        document.rewrite_text(text, format!("`{key}` is spelled `{word}`"));
    }
}

fn convert_item(document: &mut Document, layout: Layout) -> Result<(), Box<Diagnostic>> {
    convert_degree(document, "priority");
    convert_ready(document)?;
    unambiguous::fix_item(document);
    document.rename_key("planner_request_reason", "deep_analysis_reason")?;
    if layout == Layout::Workstreams {
        if document.has_key("verification_criteria") && !document.has_key("verification_commands") {
            let message = "criteria are not commands, which this layout asks for";
            document.keep_key(
                "verification_criteria",
                message,
                "write `verification_commands`",
            );
        }
        return Ok(());
    }
    document.rename_key("verification_commands", "verification_criteria")?;
    let outcome = document.root.get("desired_outcome").and_then(Node::text);
    if let Some(outcome) = outcome.map(str::to_owned)
        && !document.has_key("goal")
    {
        let text = edit::set_key(&document.text, &document.root, "goal", &quoted(&outcome));
        document.rewrite_text(text, "made `goal` of `desired_outcome`".to_owned());
        document.keep_key(
            "goal",
            "it says what `desired_outcome` says",
            "look it over",
        );
    }
    Ok(())
}

/// Converts the flag that later versions inverted.
fn convert_ready(document: &mut Document) -> Result<(), Box<Diagnostic>> {
    const OLDER: &str = "implementation_ready";
    const NEWER: &str = "requires_deep_analysis";
    let Some(older) = document.root.get(OLDER) else {
        return Ok(());
    };
    let Value::Flag(ready) = older.value else {
        document.keep_key(
            OLDER,
            "it is neither true nor false",
            "write `requires_deep_analysis`",
        );
        return Ok(());
    };
    let newer = document.root.get(NEWER).map(|newer| newer.value.clone());
    if newer.is_some_and(|newer| newer != Value::Flag(!ready)) {
        return Err(document.half_renamed(OLDER, NEWER));
    }
    if document.has_key(NEWER) {
        let mut edited = document.root.clone();
        edit::remove_key(&mut edited, OLDER);
        let done = format!("removed `{OLDER}`, which `{NEWER}` says, too");
        document.rewrite_text(edit::emit_yaml(&edited), done);
        return Ok(());
    }
    let turned = edit::set_key(&document.text, &document.root, OLDER, &(!ready).to_string());
    document.rewrite_text(turned, format!("`{NEWER}` is the contrary of `{OLDER}`"));
    let at = document.done.len();
    document.rename_key(OLDER, NEWER)?;
    // The previous entry says the same as this one.
    if at < document.done.len() {
        document.done.remove(at);
    }
    Ok(())
}
