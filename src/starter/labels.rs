//! The labels by which people speak to phileas.

use std::collections::BTreeMap;

use phileas_domain::engine::{LABEL_PREFIX, WORK_LABEL};
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::{EntryPoint, PERSONAS_FOLDER, Persona, Plan};

use crate::adapters::github::{Label, NOTICE_COLOR, NOTICE_DESCRIPTION, NOTICE_LABEL};

/// GitHub's limit of a label's description, in characters. It refuses characters beyond the basic plane, too.
pub const MAX_DESCRIPTION_CHARS: usize = 100;
const PERSONA_COLOR: &str = "1d76db";
const COMMAND_COLOR: &str = "5319e7";
const STOP_COLOR: &str = "b60205";

const MARK_COLOR: &str = "cfd3d7";

/// Words that are labels, their colours and what they do or say.
const COMMANDS: [(&str, &str, &str); 8] = [
    ("hold", STOP_COLOR, "phileas starts nothing on this"),
    (
        "keep",
        STOP_COLOR,
        "phileas neither labels nor closes this as unwanted",
    ),
    (
        "duplicate",
        MARK_COLOR,
        "This pull request of Jules does the same as another one",
    ),
    (
        "no-op",
        MARK_COLOR,
        "This pull request of Jules changes nothing",
    ),
    (
        "pause",
        STOP_COLOR,
        "phileas starts nothing in this repository while an open issue carries this",
    ),
    (
        "retry",
        COMMAND_COLOR,
        "phileas tries this again, or tells a session what reviewers want changed",
    ),
    (
        "approve-plan",
        COMMAND_COLOR,
        "Approves the plan that the session waits with",
    ),
    (
        "merge",
        COMMAND_COLOR,
        "Merges the approved commit when its checks are green, if the plan says merge = green",
    ),
];

/// What must be done to a repository's labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Not there yet.
    pub create: Vec<Label>,
    /// There, with another spelling, colour or description: its present name, and what it should be.
    pub change: Vec<(String, Label)>,
    /// Of personas that are gone.
    pub gone: Vec<String>,
    /// As they should be.
    pub right: usize,
}

/// The labels that a repository with these personas should have. `has_work`: layers make work items there, of which some
/// wait for people.
#[must_use]
pub fn wanted(personas: &BTreeMap<PersonaId, Persona>, has_work: bool) -> Vec<Label> {
    let label = |name: String, color: &str, description: String| Label {
        name,
        color: color.to_owned(),
        description,
    };
    let notice = label(
        NOTICE_LABEL.to_owned(),
        NOTICE_COLOR,
        NOTICE_DESCRIPTION.to_owned(),
    );
    let commands = COMMANDS
        .into_iter()
        .map(|(word, color, text)| label(format!("{LABEL_PREFIX}{word}"), color, text.to_owned()));
    let personas = personas.values().map(|persona| {
        let text = match persona.description.trim() {
            "" => format!("phileas starts {} on this", persona.id),
            text => text.to_owned(),
        };
        label(
            format!("{LABEL_PREFIX}{}", persona.id),
            PERSONA_COLOR,
            fit_description(&text),
        )
    });
    let lets_through = has_work.then(|| {
        let text = "Has the work item done that this issue shows".to_owned();
        label(WORK_LABEL.to_owned(), COMMAND_COLOR, text)
    });
    std::iter::once(notice)
        .chain(commands)
        .chain(lets_through)
        .chain(personas)
        .collect()
}

/// Whether layers make work items by this plan.
#[must_use]
pub fn has_work(plan: &Plan) -> bool {
    plan.entry(EntryPoint::Requirements).is_some()
}

/// What GitHub takes as a description.
fn fit_description(text: &str) -> String {
    let basic = |c: &char| u32::from(*c) <= 0xffff && !c.is_control();
    let text: String = text.chars().filter(basic).collect();
    let text = text.trim();
    if text.chars().count() <= MAX_DESCRIPTION_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MAX_DESCRIPTION_CHARS - 1).collect();
    format!("{}…", cut.trim_end())
}

/// What must be done so that the labels that are there become the wanted ones. A label of ours is gone when its persona
/// has no folder any more: one that only cannot be read comes back.
#[must_use]
pub fn changes(wanted: &[Label], there: &[Label], tree: &Tree) -> Labels {
    let mut labels = Labels::default();
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    for label in wanted {
        match there.iter().find(|one| same(&one.name, &label.name)) {
            None => labels.create.push(label.clone()),
            Some(one) if one == label => labels.right += 1,
            Some(one) => labels.change.push((one.name.clone(), label.clone())),
        }
    }
    for one in there {
        let ours = one.name.to_ascii_lowercase();
        let Some(id) = ours.strip_prefix(LABEL_PREFIX) else {
            continue;
        };
        let is_wanted = wanted.iter().any(|label| same(&label.name, &one.name));
        let has_folder = tree.iter().any(|(path, _)| {
            path.strip_prefix(PERSONAS_FOLDER)
                .and_then(|rest| rest.strip_prefix('/')?.split_once('/'))
                .is_some_and(|(folder, _)| same(folder, id))
        });
        if !is_wanted && !has_folder {
            labels.gone.push(one.name.clone());
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use phileas_domain::plan::RESERVED_IDS;
    use phileas_domain::plan::read_personas;

    use super::*;

    fn tree() -> Tree {
        Tree::from_texts([
            (
                ".jules/personas/curator/prompt.md",
                "---\nid: curator\nemoji: x\ndescription: \"Keeps 📚 it\"\n---\nDo.\n",
            ),
            (".jules/personas/broken/prompt.md", "no frontmatter"),
        ])
    }

    #[test]
    fn what_is_missing_wrong_and_gone_is_told_apart() {
        let wanted = wanted(&read_personas(&tree()).0, false);
        let curator = wanted.last().unwrap();
        assert_eq!(curator.name, "phileas:curator");
        assert_eq!(curator.description, "Keeps  it");
        let other = |name: &str| Label {
            name: name.to_owned(),
            color: "ededed".to_owned(),
            description: String::new(),
        };
        let there = [
            curator.clone(),
            other("Phileas:Hold"),
            other("phileas:ghost"),
            other("phileas:broken"),
            other("bug"),
        ];
        let changes = changes(&wanted, &there, &tree());
        assert_eq!(changes.right, 1);
        assert_eq!(changes.change.len(), 1);
        assert_eq!(changes.change[0].0, "Phileas:Hold");
        assert_eq!(changes.gone, ["phileas:ghost"]);
        assert_eq!(changes.create.len(), wanted.len() - 2);
    }

    #[test]
    fn every_label_is_one_that_github_takes() {
        for (word, color, text) in COMMANDS {
            assert!(RESERVED_IDS.contains(&word), "{word}");
            assert!(text.chars().count() <= MAX_DESCRIPTION_CHARS);
            assert!(color.len() == 6);
        }
        let long = fit_description(&"é".repeat(300));
        assert_eq!(long.chars().count(), MAX_DESCRIPTION_CHARS);
    }
}
