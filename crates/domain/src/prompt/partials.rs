//! Finds the partials and blocks that a persona can use by name.

use std::collections::BTreeMap;

use super::files::Files;
use super::limits::PARTIALS_LIMIT;
use crate::Diagnostic;

/// The extensions of template files, the longest first.
const ENDINGS: [&str; 3] = [".md.j2", ".j2", ".md"];

/// The path of each partial `x` as `x`, and of each block `x` as `x_block`. The nearest folder wins.
pub(super) fn find_partials(
    files: &Files,
    persona_path: &str,
) -> Result<BTreeMap<String, String>, Diagnostic> {
    let mut named = BTreeMap::new();
    for folder in files.source_folders() {
        for (kind, suffix) in [("partials", ""), ("blocks", "_block")] {
            let folder = format!("{folder}/{kind}");
            for path in files.in_folder(&folder) {
                if let Some(name) = name_of(&path[folder.len() + 1..]) {
                    named
                        .entry(format!("{name}{suffix}"))
                        .or_insert_with(|| path.to_owned());
                }
            }
        }
    }
    if named.len() > PARTIALS_LIMIT {
        return Err(Diagnostic::error(
            persona_path,
            format!(
                "{} partials and blocks are in reach, more than {PARTIALS_LIMIT}",
                named.len()
            ),
        )
        .help("move some to a folder of another name, and include them by path"));
    }
    Ok(named)
}

fn name_of(file: &str) -> Option<&str> {
    let stem = ENDINGS
        .iter()
        .find_map(|ending| file.strip_suffix(ending))?;
    let legal = !stem.is_empty()
        && !stem.starts_with(|c: char| c.is_ascii_digit())
        && stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    legal.then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tree;
    use crate::prompt::tests::persona;

    #[test]
    fn names_come_from_files() {
        let tree = Tree::from_texts([
            (".jules/partials/a.md.j2", ""),
            (".jules/personas/me/partials/a.j2", ""),
            (".jules/blocks/b.md", ""),
            (".jules/jules/templates/blocks/c.md.j2", ""),
            (".jules/partials/not-a-name.md", ""),
            (".jules/partials/deep/d.md", ""),
            (".jules/partials/e.txt", ""),
        ]);
        let me = persona("me", "");
        let found = find_partials(&Files::new(&tree, &me), &me.path).unwrap();
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [
                (
                    "a".to_owned(),
                    ".jules/personas/me/partials/a.j2".to_owned()
                ),
                ("b_block".to_owned(), ".jules/blocks/b.md".to_owned()),
                (
                    "c_block".to_owned(),
                    ".jules/jules/templates/blocks/c.md.j2".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn too_many_are_refused_with_the_limit() {
        let tree = Tree::from_texts(
            (0..=PARTIALS_LIMIT).map(|n| (format!(".jules/partials/p{n}.md"), "")),
        );
        let me = persona("me", "");
        let said = find_partials(&Files::new(&tree, &me), &me.path).unwrap_err();
        let most = format!("in reach, more than {PARTIALS_LIMIT}");
        assert!(said.message.contains(&most), "{}", said.message);
    }
}
