//! Quotes the files of the current sprint.

use super::fence::Fence;
use super::limits::{ENTRY_LIMIT_BYTES, SPRINT_FILES_LIMIT, SPRINT_LIMIT_BYTES};
use super::untrusted::{clean_line, cut_bytes};
use crate::board::{self, SprintFile, SprintFileKind};
use crate::model::{PersonaId, Tree};

/// The sprint's number, and those of its files that were read, each fenced, because agents write them. First the README
/// and the persona's own files, then the plans of the others, then their feedback. Empty without a sprint. The paths
/// are those of the files.
pub(super) fn sprint_context(
    tree: &Tree,
    persona: &PersonaId,
    sprint: Option<u64>,
    fence: &Fence,
) -> (String, Vec<String>) {
    let Some(sprint) = sprint else {
        return (String::new(), Vec::new());
    };
    let folder = board::sprint_folder(sprint);
    let mut text = format!("This is sprint {sprint}. Its plans and feedback are in `{folder}/`.");
    let mut files = board::sprint_files(tree, sprint);
    let rank = |file: &SprintFile<'_>| match file.kind {
        SprintFileKind::Readme => 0,
        SprintFileKind::Plan | SprintFileKind::Feedback
            if file.persona == Some(persona.as_str()) =>
        {
            1
        }
        SprintFileKind::Plan => 2,
        SprintFileKind::Feedback => 3,
    };
    files.sort_by_key(rank);
    let mut paths = Vec::new();
    let mut room = SPRINT_LIMIT_BYTES;
    let mut more = 0;
    for file in files {
        let Some(said) = file.text else { continue };
        let said = cut_bytes(said.trim(), ENTRY_LIMIT_BYTES);
        if paths.len() == SPRINT_FILES_LIMIT || said.len() > room {
            more += 1;
            continue;
        }
        room -= said.len();
        let name = clean_line(&file.path[folder.len() + 1..]);
        text.push_str("\n\n");
        text.push_str(&fence.fenced_block(&format!("the sprint file {name}"), &said));
        paths.push(file.path.to_owned());
    }
    if more > 0 {
        text.push_str(&format!("\n\n{more} more files are not shown."));
    }
    (text, paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence() -> std::sync::Arc<Fence> {
        Fence::for_persona(&[1; 32], &"a".into(), &"t".into())
    }

    #[test]
    fn the_files_of_this_sprint_are_quoted_the_personas_own_first() {
        let tree = Tree::from_texts([
            (".jules/sprints/sprint-3/README.md", "Goal."),
            (".jules/sprints/sprint-3/b-feedback.md", "Feedback of b."),
            (".jules/sprints/sprint-3/b-plan.md", "Plan of b."),
            (".jules/sprints/sprint-3/c-plan.md", "Plan of c."),
            (".jules/sprints/sprint-4/c-plan.md", "Later."),
        ]);
        let (text, paths) = sprint_context(&tree, &"c".into(), Some(3), &fence());
        assert!(text.starts_with(
            "This is sprint 3. Its plans and feedback are in `.jules/sprints/sprint-3/`.\n\nWhat stands between <data-"
        ));
        assert!(text.contains("\nPlan of c.\n</data-"));
        let order = ["README", "c-plan", "b-plan", "b-feedback"]
            .map(|file| format!(".jules/sprints/sprint-3/{file}.md"));
        assert_eq!(paths, order);
        assert_eq!(sprint_context(&tree, &"a".into(), None, &fence()).0, "");
    }

    #[test]
    fn many_and_long_files_are_bounded() {
        let long = "x".repeat(ENTRY_LIMIT_BYTES * 2);
        let tree = Tree::from_texts((10..90).map(|n| {
            (
                format!(".jules/sprints/sprint-3/p{n}-plan.md"),
                long.as_str(),
            )
        }));
        let (text, paths) = sprint_context(&tree, &"p80".into(), Some(3), &fence());
        assert!(text.len() < SPRINT_LIMIT_BYTES + 4000, "{}", text.len());
        assert_eq!(paths[0], ".jules/sprints/sprint-3/p80-plan.md");
        assert!(text.ends_with("more files are not shown."), "{text}");
        let small = Tree::from_texts(
            (10..90).map(|n| (format!(".jules/sprints/sprint-3/p{n}-plan.md"), "x")),
        );
        let (_, paths) = sprint_context(&small, &"a".into(), Some(3), &fence());
        assert_eq!(paths.len(), SPRINT_FILES_LIMIT);
    }
}
