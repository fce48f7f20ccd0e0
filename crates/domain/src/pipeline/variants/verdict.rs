//! Tests, reviews and diagnoses: results without their map, findings without their parts, lines as texts.

use super::nodes::{Variants, entries_mut, get_mut, items_mut, map_of, node_at, rename_key};
use crate::exchange::shape::Kind;
use crate::pipeline::shapes::TEST;
use crate::yaml::{Node, Value};

/// Checks by `status` or as a bare word; phase 2 as a map of checks.
pub(super) fn normalize_test(root: &mut Node, variants: &mut Variants<'_>) {
    if let Some(phase) = get_mut(root, "phase_1") {
        normalize_checks(phase, "phase_1", variants);
    }
    let Some(phase) = get_mut(root, "phase_2") else {
        return;
    };
    if is_bare(phase) {
        let what = "phase 2 is a map of checks";
        variants.report(phase, "phase_2", what, "the normal form is {\"checks\": …}");
        *phase = map_of("checks", phase.clone());
    }
    if let Some(inner) = get_mut(phase, "checks") {
        normalize_checks(inner, "phase_2.checks", variants);
    }
}

/// Whether a phase 2 holds checks, and none of the keys that it should have.
fn is_bare(phase: &Node) -> bool {
    let Value::Map(inner) = &phase.value else {
        return false;
    };
    let Kind::Open(keys) = &TEST else {
        return false;
    };
    let phase_2 = keys.iter().find(|key| key.name == "phase_2");
    let known: Vec<&str> = match phase_2.map(|key| &key.kind) {
        Some(Kind::Open(keys)) => keys.iter().map(|key| key.name).collect(),
        _ => Vec::new(),
    };
    let check = |value: &Node| {
        let result = value.get("result").or_else(|| value.get("status"));
        result.unwrap_or(value).text().is_some_and(is_result)
    };
    !inner.is_empty()
        && inner
            .iter()
            .all(|(name, value)| !known.contains(&name.text().unwrap_or_default()) && check(value))
}

fn is_result(text: &str) -> bool {
    ["PASS", "FAIL"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

fn normalize_checks(phase: &mut Node, path: &str, variants: &mut Variants<'_>) {
    for (name, check) in entries_mut(phase) {
        let key = format!("{path}.{}", name.text().unwrap_or_default());
        if check.text().is_some_and(is_result) {
            let what = "the check is a bare word";
            variants.report(check, &key, what, "the normal form is {\"result\": …}");
            *check = map_of("result", check.clone());
        } else if let Some(place) = rename_key(check, "status", "result") {
            let what = "`status` stands in place of `result`";
            variants.report(&place, &key, what, "the normal form is `result`");
        }
    }
}

/// Findings as bare texts.
pub(super) fn normalize_review(root: &mut Node, variants: &mut Variants<'_>) {
    for list in ["blockers", "concerns", "nits"] {
        let Some(findings) = get_mut(root, list) else {
            continue;
        };
        for (index, finding) in items_mut(findings).iter_mut().enumerate() {
            if finding.text().is_some() {
                let what = "the finding is a bare text";
                let normal = "the normal form has `description`, `file`, `line` and `fix`";
                variants.report(finding, &format!("{list}[{index}]"), what, normal);
                *finding = map_of("description", finding.clone());
            }
        }
    }
}

/// A line's number as a text.
pub(super) fn normalize_cause(root: &mut Node, variants: &mut Variants<'_>) {
    if let Some(line) = get_mut(root, "root_cause_line")
        && let Some(number) = line.text().and_then(|text| text.trim().parse::<i64>().ok())
        && number > 0
    {
        let what = "the line's number is a text";
        let normal = format!("the normal form is {number}");
        variants.report(line, "root_cause_line", what, normal);
        *line = node_at(line, Value::Integer(number));
    }
}
