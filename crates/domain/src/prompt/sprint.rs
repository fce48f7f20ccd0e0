//! What a persona is told about the sprint.

use super::fence::Fence;
use super::limits::ENTRY_LIMIT_BYTES;
use super::untrusted::cut_bytes;
use crate::model::{PersonaId, Tree};

/// The sprint's number, and those of its papers that were read, each fenced: agents write them. Empty without a
/// sprint. The paths are those of the papers.
pub(super) fn sprint_context(
    tree: &Tree,
    persona: &PersonaId,
    sprint: Option<u64>,
    fence: &Fence,
) -> (String, Vec<String>) {
    let Some(sprint) = sprint else {
        return (String::new(), Vec::new());
    };
    let folder = format!(".jules/sprints/sprint-{sprint}");
    let mut text = format!("This is sprint {sprint}.");
    let mut paths = Vec::new();
    for file in [
        "README.md".to_owned(),
        format!("{persona}-plan.md"),
        format!("{persona}-feedback.md"),
    ] {
        let path = format!("{folder}/{file}");
        if let Some(paper) = tree.text(&path).filter(|paper| !paper.trim().is_empty()) {
            text.push_str("\n\n");
            text.push_str(&fence.block(
                &format!("the sprint paper {file}"),
                &cut_bytes(paper.trim(), ENTRY_LIMIT_BYTES),
            ));
            paths.push(path);
        }
    }
    (text, paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_of_this_sprint_and_persona_are_quoted() {
        let tree = Tree::of_texts([
            (".jules/sprints/sprint-3/a-plan.md", "Plan of a."),
            (".jules/sprints/sprint-3/b-plan.md", "Plan of b."),
            (".jules/sprints/sprint-4/a-plan.md", "Later."),
        ]);
        let fence = Fence::draw(&[1; 32], &"a".into(), &"t".into());
        let (text, paths) = sprint_context(&tree, &"a".into(), Some(3), &fence);
        assert!(text.starts_with("This is sprint 3.\n\nWhat stands between <data-"));
        assert!(text.contains("\nPlan of a.\n</data-"));
        assert_eq!(paths, [".jules/sprints/sprint-3/a-plan.md"]);
        assert_eq!(sprint_context(&tree, &"a".into(), None, &fence).0, "");
    }
}
