//! Plans and what workers wrote: steps numbered otherwise, notes that are no list.

use super::nodes::{Variants, get_mut, items_mut, node_at, rename_key};
use crate::yaml::{Node, Value};

/// Steps by `id` or by `step`; steps without kind or file.
pub(super) fn normalize_plan(root: &mut Node, variants: &mut Variants<'_>) {
    normalize_notes(root, variants);
    let Some(steps) = get_mut(root, "steps") else {
        return;
    };
    for (index, step) in items_mut(steps).iter_mut().enumerate() {
        for other in ["id", "step"] {
            if let Some(place) = rename_key(step, other, "order") {
                let key = format!("steps[{index}].{other}");
                let what = format!("the step is numbered by `{other}`");
                variants.report(&place, &key, what, "the normal form is `order`");
            }
        }
        if let Some(file) = get_mut(step, "file")
            && file.text() == Some("")
        {
            let key = format!("steps[{index}].file");
            variants.report(file, &key, "the file is empty", "the normal form is `null`");
            *file = node_at(file, Value::Null);
        }
        for missing in ["action", "file"] {
            if matches!(step.value, Value::Map(_)) && step.get(missing).is_none() {
                let key = format!("steps[{index}].{missing}");
                let what = format!("the step has no `{missing}`");
                let help = if missing == "file" {
                    "name the file that it touches, or write null"
                } else {
                    "say what kind of work it is, such as implement, modify or test"
                };
                variants.report(step, &key, what, help);
            }
        }
    }
}

/// Notes of risks as one text.
pub(super) fn normalize_notes(root: &mut Node, variants: &mut Variants<'_>) {
    if let Some(notes) = get_mut(root, "risk_notes")
        && notes.text().is_some()
    {
        let what = "the notes are one text";
        variants.report(
            notes,
            "risk_notes",
            what,
            "the normal form is a list of texts",
        );
        let one = notes.clone();
        *notes = node_at(notes, Value::List(vec![one]));
    }
}
