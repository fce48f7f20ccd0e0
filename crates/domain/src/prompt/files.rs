//! Resolves the names in a persona's template, and decides which files may be used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::limits::{
    SOURCES_LIMIT_FILES, TEMPLATE_DEPTH_LIMIT, TEMPLATE_LIMIT_BYTES, UNREAD_LIMIT_PATHS,
};
use crate::conflict;
use crate::model::Tree;
use crate::plan::Persona;

/// The folders of the default branch that prompts can use, with everything below them.
pub const SOURCE_FOLDERS: [&str; 2] = [".jules", ".jlo"];

/// The folders in which a bare name is searched, after the persona's own. The last two are from seed 004's repository.
const SEARCH: [&str; 4] = [
    ".jules/personas",
    ".jules",
    ".jules/templates",
    ".jules/jules/templates",
];

/// Folders of the ledger, where phileas writes what agents produced.
const LEDGER_FOLDERS: [&str; 4] = [
    ".jules/exchange/",
    ".jules/workstations/",
    ".jules/workstreams/",
    ".jules/changes/",
];

/// Folders of the default branch whose files agents write in pull requests.
const AGENTS_FOLDERS: [&str; 2] = [".jules/tasks/", ".jules/sprints/"];

/// Folders below a persona's with files that agents write on the default branch.
const AGENTS_FOLDERS_OF_PERSONAS: [&str; 2] = ["/journals/", "/mail/"];

/// Folders below a role's with files that agents write, in seed 000's form, which keeps rejections with the roles.
const AGENTS_FOLDERS_OF_ROLES: [&str; 1] = ["/feedbacks/"];
/// The folders of roles.
const ROLES_FOLDERS: [&str; 2] = [".jules/roles/", ".jules/layers/"];

/// Why a template may not use a file, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What is wrong: a lower-case fragment without a final period.
    pub(super) message: String,
    /// The fix: a lower-case fragment without a final period.
    pub(super) help: String,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for minijinja::Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(
            minijinja::ErrorKind::InvalidOperation,
            refusal.message.clone(),
        )
        .with_source(refusal)
    }
}

/// Whether a prompt may use a path. All code that reads files for prompts, from a folder or from GitHub, uses this.
#[must_use]
pub fn is_source(path: &str) -> bool {
    SOURCE_FOLDERS.iter().any(|folder| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    })
}

/// The paths that a prompt requested and that its tree does not contain yet. Rendering continues without them, so that
/// one attempt finds as many as possible; its result is discarded.
#[derive(Debug, Default)]
pub(super) struct Unread(Mutex<BTreeSet<String>>);

impl Unread {
    pub(super) fn note_path(&self, path: &str) {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() < UNREAD_LIMIT_PATHS {
            paths.insert(path.to_owned());
        }
    }

    pub(super) fn all_paths(&self) -> BTreeSet<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Limits the files that a prompt names, and the depth of its templates.
#[derive(Debug, Default)]
pub(super) struct Reach {
    named: Mutex<BTreeSet<String>>,
    depths: Mutex<BTreeMap<String, usize>>,
}

impl Reach {
    /// Counts a file that the prompt names.
    ///
    /// # Errors
    ///
    /// The prompt names too many files.
    pub(super) fn count_read(&self, path: &str) -> Result<(), Refusal> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < SOURCES_LIMIT_FILES {
            named.insert(path.to_owned());
        }
        if named.contains(path) {
            return Ok(());
        }
        Err(Refusal::new(
            format!("the prompt names more than {SOURCES_LIMIT_FILES} files"),
            "name fewer files, or join some of them",
        ))
    }

    /// Records that a template names another one.
    pub(super) fn follow_chain(&self, parent: &str, path: &str) {
        let mut depths = self.depths.lock().unwrap_or_else(PoisonError::into_inner);
        let depth = depths.get(parent).map_or(1, |depth| depth + 1);
        let known = depths.entry(path.to_owned()).or_insert(depth);
        *known = depth.min(*known);
    }

    /// Checks a template before it is loaded.
    ///
    /// # Errors
    ///
    /// The chain of templates from the prompt's own file to this one is too long.
    pub(super) fn check_depth(&self, path: &str) -> Result<(), Refusal> {
        let depths = self.depths.lock().unwrap_or_else(PoisonError::into_inner);
        match depths.get(path) {
            Some(depth) if *depth > TEMPLATE_DEPTH_LIMIT => Err(Refusal::new(
                format!(
                    "`{path}` is template {depth} of a chain in which each one names the next, more than \
                     {TEMPLATE_DEPTH_LIMIT}"
                ),
                "join some of these templates",
            )),
            _ => Ok(()),
        }
    }
}

/// The files that one persona's prompt can use, at the plan's commit.
#[derive(Debug)]
pub(super) struct Files {
    tree: Tree,
    folders: Vec<String>,
    unread: Unread,
    pub(super) reach: Reach,
}

impl Files {
    pub(super) fn new(tree: &Tree, persona: &Persona) -> Arc<Self> {
        let own = folder_of(&persona.path).to_owned();
        let mut folders = vec![own];
        folders.extend(SEARCH.map(str::to_owned));
        Arc::new(Self {
            tree: tree.clone(),
            folders,
            unread: Unread::default(),
            reach: Reach::default(),
        })
    }

    /// The folders in which a bare name is searched, in order.
    pub(super) fn source_folders(&self) -> &[String] {
        &self.folders
    }

    /// All paths that a prompt can use.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.tree
            .iter()
            .map(|(path, _)| path)
            .filter(|path| is_source(path))
    }

    /// The paths to read before the prompt can be rendered.
    pub(super) fn unread_paths(&self) -> BTreeSet<String> {
        self.unread.all_paths()
    }

    /// The files directly in a folder below one of [`source_folders`](Self::source_folders). Requests the folder if it
    /// was not read.
    pub(super) fn in_folder(&self, folder: &str) -> impl Iterator<Item = &str> {
        for folder in [folder_of(folder), folder] {
            if self.tree.is_unlisted(folder) {
                self.unread.note_path(folder);
                break;
            }
        }
        let start = folder.len() + 1;
        self.tree
            .below(folder)
            .map(|(path, _)| path)
            .filter(move |path| !path[start..].contains('/'))
    }

    /// The path of a name in the template `parent`. `None`: no such file exists.
    pub(super) fn resolve_name(&self, name: &str, parent: &str) -> Result<Option<String>, Refusal> {
        let (beside, bare) = match name.strip_prefix("./") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        check_name(name, bare)?;
        self.reach.count_read(name)?;
        let exists = |path: String| {
            // If the tree was not read there, assume that the file exists; its text is requested next.
            let is_there = self.tree.get(&path).is_some() || self.tree.is_unread(&path);
            (is_source(&path) && is_there).then_some(path)
        };
        if beside {
            return Ok(exists(format!("{}/{bare}", folder_of(parent))));
        }
        if is_source(bare) {
            return Ok(exists(bare.to_owned()));
        }
        let mut candidates = self
            .folders
            .iter()
            .filter_map(|folder| exists(format!("{folder}/{bare}")));
        let first = candidates.next();
        if let Some(first) = &first
            && self.tree.get(first).is_none()
        {
            // One more read tells whether this path or one of the next exists.
            self.unread.note_path(first);
            let unsure = candidates.take_while(|next| self.tree.get(next).is_none());
            unsure.for_each(|next| self.unread.note_path(&next));
        }
        Ok(first)
    }

    /// The text of a path that [`resolve_name`](Self::resolve_name) returned.
    pub(super) fn file_text(&self, path: &str) -> Result<Arc<str>, Refusal> {
        if self.tree.is_unread(path) {
            self.unread.note_path(path);
            return Ok("".into());
        }
        let Some(text) = readable_text(&self.tree, path)? else {
            return Err(Refusal::new(
                format!("there is no `{path}`"),
                "name a file that exists at the default branch's head",
            ));
        };
        Ok(text.into())
    }

    /// The text of a template: like [`file_text`](Self::file_text), but not for files that agents write.
    pub(super) fn template_text(&self, path: &str) -> Result<Arc<str>, Refusal> {
        if is_written_by_agents(path) {
            return Err(Refusal::new(
                format!("`{path}` is written by agents, so it cannot be a template"),
                format!("quote it as data: `{{{{ include_required(\"{path}\") }}}}`"),
            ));
        }
        self.file_text(path)
    }
}

/// The text of a file; `None` if there is none. Refuses a file with merge markers, unless agents write it: then it is
/// data as it is.
pub(super) fn readable_text<'t>(tree: &'t Tree, path: &str) -> Result<Option<&'t str>, Refusal> {
    let text = tree.read_text(path, &format!("`{path}`"), TEMPLATE_LIMIT_BYTES as u64);
    let text = text.map_err(|wrong| Refusal::new(wrong.message, wrong.help))?;
    match text
        .and_then(conflict::marker_line)
        .filter(|_| !is_written_by_agents(path))
    {
        Some(line) => Err(Refusal::new(
            format!("`{path}`, line {line}: {}", conflict::MESSAGE),
            conflict::HELP,
        )),
        None => Ok(text),
    }
}

/// Whether agents write the files at a path, so that they are data.
pub(super) fn is_written_by_agents(path: &str) -> bool {
    is_on_the_ledger(path)
        || AGENTS_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || is_below(path, &[".jules/personas/"], &AGENTS_FOLDERS_OF_PERSONAS)
}

/// Whether the files at a path are on the ledger. Other files of agents are on the default branch.
pub(super) fn is_on_the_ledger(path: &str) -> bool {
    LEDGER_FOLDERS.iter().any(|folder| path.starts_with(folder)) || is_feedback_of_role(path)
}

/// Whether a path is feedback that is kept with the role.
pub fn is_feedback_of_role(path: &str) -> bool {
    is_below(path, &ROLES_FOLDERS, &AGENTS_FOLDERS_OF_ROLES)
}

fn is_below(path: &str, roots: &[&str], parts: &[&str]) -> bool {
    roots.iter().any(|root| path.starts_with(root)) && parts.iter().any(|part| path.contains(part))
}

/// The folder of a path, without a trailing slash.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Refuses names that leave the folder.
pub(super) fn check_name(name: &str, bare: &str) -> Result<(), Refusal> {
    let shown = name.escape_debug();
    let wrong = if bare.contains(char::is_control) {
        "contains a control character"
    } else if bare.starts_with('/') || bare.contains(':') {
        "is an absolute path"
    } else if bare.contains('\\') {
        "contains a backslash"
    } else if bare.split('/').any(|part| part == "..") {
        "contains `..`"
    } else if bare.split('/').any(|part| part.is_empty() || part == ".") {
        "is not a plain path"
    } else {
        return Ok(());
    };
    Err(Refusal::new(
        format!("the file name `{shown}` is refused: it {wrong}"),
        "name a file below `.jules`: from the repository's root, or from the persona's folder",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, Mode};
    use crate::prompt::tests::persona;

    fn files() -> Arc<Files> {
        let mut tree = Tree::from_texts([
            (".jules/personas/a/partials/x.md.j2", "own"),
            (".jules/partials/x.md.j2", "shared"),
            (".jules/partials/y.md.j2", "y"),
            (".jules/templates/base/p.j2", "base"),
            (".jules/personas/a/journals/2026.md", "{{ evil }}"),
            (
                ".jules/big.md",
                "x".repeat(TEMPLATE_LIMIT_BYTES + 1).as_str(),
            ),
            ("src/secret.rs", "no"),
        ]);
        for (path, mode) in [
            (".jules/link.md", Mode::Link),
            (".jules/sub", Mode::Submodule),
            (".jules/unread.bin", Mode::File),
        ] {
            tree.insert(
                path,
                Entry {
                    mode,
                    oid: String::new(),
                    size: 1,
                    text: None,
                },
            );
        }
        Files::new(&tree, &persona("a", ""))
    }

    #[test]
    fn the_nearest_folder_wins() {
        let files = files();
        let find = |name: &str, parent: &str| files.resolve_name(name, parent).unwrap();
        let own = Some(".jules/personas/a/partials/x.md.j2".to_owned());
        assert_eq!(find("partials/x.md.j2", ""), own);
        assert_eq!(
            find(".jules/partials/x.md.j2", "").as_deref(),
            Some(".jules/partials/x.md.j2")
        );
        assert_eq!(
            find("./y.md.j2", ".jules/partials/x.md.j2").as_deref(),
            Some(".jules/partials/y.md.j2")
        );
        assert_eq!(
            find("base/p.j2", "").as_deref(),
            Some(".jules/templates/base/p.j2")
        );
        assert_eq!(find("src/secret.rs", ""), None);
    }

    #[test]
    fn r13_names_that_leave_the_folder_are_refused() {
        for (name, why) in [
            ("../x", "contains `..`"),
            (".jules/../src/secret.rs", "contains `..`"),
            ("./../x", "contains `..`"),
            ("/etc/passwd", "absolute"),
            ("C:/x", "absolute"),
            ("a\\b", "backslash"),
            ("a\0b", "control character"),
            ("a//b", "plain path"),
            ("", "plain path"),
            ("././x", "plain path"),
        ] {
            let refusal = files().resolve_name(name, ".jules/p.md").unwrap_err();
            assert!(refusal.message.contains(why), "{name}: {}", refusal.message);
        }
    }

    #[test]
    fn r13_only_readable_regular_files_are_given() {
        let large = format!("larger than {TEMPLATE_LIMIT_BYTES} bytes");
        for (path, why) in [
            (".jules/link.md", "symbolic link"),
            (".jules/sub", "submodule"),
            (".jules/unread.bin", "not read"),
            (".jules/big.md", &large),
            (".jules/personas/a/journals/2026.md", "written by agents"),
        ] {
            let refusal = files().template_text(path).unwrap_err();
            assert!(refusal.message.contains(why), "{path}: {}", refusal.message);
        }
    }
}
