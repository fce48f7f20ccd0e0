//! The planner's state, and lessons.

use super::nodes::{
    Variants, entries_mut, get_mut, items_mut, map_of, node_at, rename_key, text_at,
};
use crate::yaml::{Node, Value};

/// What agents' names begin with.
const AGENT_PREFIX: &str = "jg-";
/// No more retries are read from a count.
const COUNTED_RETRIES: i64 = 100;

/// Agents without their prefix, criteria by `description` or without an id, retries as a count.
pub(super) fn normalize_state(root: &mut Node, variants: &mut Variants<'_>) {
    if let Some(stages) = get_mut(root, "stages") {
        for (name, stage) in entries_mut(stages) {
            let key = format!("stages.{}.agent", name.text().unwrap_or_default());
            if let Some(agent) = get_mut(stage, "agent")
                && let Some(said) = agent.text()
                && !said.starts_with(AGENT_PREFIX)
                && !said.trim().is_empty()
            {
                let normal = format!("{AGENT_PREFIX}{said}");
                let what = format!("the agent's name does not begin with `{AGENT_PREFIX}`");
                variants.report(agent, &key, what, format!("the normal form is `{normal}`"));
                *agent = text_at(agent, normal);
            }
        }
    }
    if let Some(criteria) = get_mut(root, "acceptance_criteria") {
        for (index, criterion) in items_mut(criteria).iter_mut().enumerate() {
            let key = |name: &str| format!("acceptance_criteria[{index}].{name}");
            if let Some(place) = rename_key(criterion, "description", "text") {
                let what = "`description` stands in place of `text`";
                variants.report(
                    &place,
                    &key("description"),
                    what,
                    "the normal form is `text`",
                );
            }
            if let Value::Map(inner) = &criterion.value
                && !inner.iter().any(|(name, _)| name.text() == Some("id"))
            {
                let id = format!("AC-{}", index + 1);
                let normal = format!("it becomes `{id}`");
                variants.report(criterion, &key("id"), "the criterion has no id", normal);
                let entry = (text_at(criterion, "id"), text_at(criterion, id));
                if let Value::Map(inner) = &mut criterion.value {
                    inner.insert(0, entry);
                }
            }
        }
    }
    let stage = root.get("current_stage").and_then(Node::text);
    let stage = stage.unwrap_or("unknown").to_owned();
    if let Some(retries) = get_mut(root, "retries")
        && let Some(count @ 0..=COUNTED_RETRIES) = retries.integer()
    {
        let what = "the retries are a count";
        variants.report(retries, "retries", what, "the normal form is a list");
        let one = map_of("stage", text_at(retries, stage));
        let count = usize::try_from(count).unwrap_or(0);
        *retries = node_at(retries, Value::List(vec![one; count]));
    }
}

/// Lessons without the key above them.
pub(super) fn normalize_lessons(root: &mut Node, variants: &mut Variants<'_>) {
    if matches!(root.value, Value::List(_)) {
        let what = "the lessons stand without the key `lessons`";
        variants.report(
            root,
            "",
            what,
            "the normal form is `lessons:` with a list below",
        );
        *root = map_of("lessons", root.clone());
    }
}
