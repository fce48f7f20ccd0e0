//! Resolves the paths in a layer's template, and decides which files may be included.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::home::Home;
use super::request::{Assembly, Origin, RULES_PATH};
use crate::Diagnostic;
use crate::exchange::{self, Owner};
use crate::layers::RULES;
use crate::model::{Mode, Tree};
use crate::prompt::files::{
    Reach, Refusal, Unread, check_name, is_feedback_of_role, is_on_the_ledger, is_source,
    is_written_by_agents, readable_text,
};
use crate::prompt::limits::TEMPLATE_LIMIT_BYTES;

/// The files of both branches, as one layer sees them.
#[derive(Debug)]
pub(super) struct Sources {
    tree: Tree,
    ledger: Tree,
    folder: String,
    layer: String,
    role: String,
    stream: String,
    now: Timestamp,
    unread: Unread,
    pub(super) reach: Reach,
}

/// The result of looking up a path.
#[derive(Debug)]
pub(super) enum Found {
    Text(Arc<str>),
    /// The file does not exist; a replacement, if there is one.
    Missing(Option<StandIn>),
    /// The file exists, but cannot be read.
    Unreadable(Refusal),
}

/// The replacement of a file that does not exist yet.
#[derive(Debug)]
pub(super) struct StandIn {
    /// The text for the prompt.
    pub(super) text: String,
    pub(super) from: Origin,
    /// The initial text of the file, if it is the role's own memory.
    pub(super) seed: Option<String>,
}

impl Sources {
    pub(super) fn new(request: &Assembly<'_>, home: &Home) -> Self {
        Self {
            tree: request.tree.clone(),
            ledger: request.ledger.clone(),
            folder: home.folder.clone(),
            layer: home.layer.clone(),
            now: request.now,
            role: request.variables.get("role").cloned().unwrap_or_default(),
            stream: request
                .variables
                .get("workstream")
                .cloned()
                .unwrap_or_default(),
            unread: Unread::default(),
            reach: Reach::default(),
        }
    }

    /// The paths of the default branch that must be read before the prompt can be rendered.
    pub(super) fn unread_paths(&self) -> BTreeSet<String> {
        self.unread.all_paths()
    }

    /// Normalizes a path by removing `.` segments.
    ///
    /// # Errors
    ///
    /// The path leads out of the repository or of the source folders.
    pub(super) fn resolve_path(&self, name: &str) -> Result<String, Refusal> {
        let parts: Vec<&str> = name.split('/').filter(|part| *part != ".").collect();
        let path = parts.join("/");
        let help = "name a file below `.jules` or `.jlo`, from the repository's root";
        check_name(name, &path).map_err(|refusal| Refusal::new(refusal.message, help))?;
        if !is_source(&path) {
            let message = format!(
                "`{path}` is outside of `.jules` and `.jlo`, which are all that can be put in"
            );
            return Err(Refusal::new(message, help));
        }
        Ok(path)
    }

    /// Looks up a path that [`resolve_path`](Self::resolve_path) returned.
    ///
    /// # Errors
    ///
    /// The file or a folder above it is a link, or the prompt names too many files.
    pub(super) fn find_file(&self, path: &str) -> Result<Found, Refusal> {
        self.reach.count_read(path)?;
        let tree = self.tree_of(path);
        if std::ptr::eq(tree, &self.tree) && tree.is_unread(path) {
            self.unread.note_path(path);
            return Ok(Found::Text("".into()));
        }
        let above = tree.in_the_way(path);
        let here = tree.get(path).map(|entry| (path, entry));
        if let Some((place, entry)) = above.or(here)
            && entry.mode == Mode::Link
        {
            return Err(Refusal::new(
                format!("`{place}` is a symbolic link, and links are not followed"),
                "put the file itself in its place",
            ));
        }
        if let Some((place, _)) = above {
            return Ok(Found::Unreadable(Refusal::new(
                format!("`{place}` is not a folder, so nothing lies below it"),
                "put a folder in its place",
            )));
        }
        Ok(match readable_text(tree, path) {
            Ok(Some(text)) => Found::Text(text.into()),
            Ok(None) => Found::Missing(self.stand_for(path)),
            Err(refusal) => Found::Unreadable(refusal),
        })
    }

    /// A file that is parsed as a template. It is on the default branch, and agents do not write it.
    pub(super) fn template_text(&self, name: &str) -> Result<Option<Arc<str>>, Refusal> {
        let path = self.resolve_path(name)?;
        if is_written_by_agents(&path) {
            return Err(Refusal::new(
                format!("`{path}` is written by agents, so it cannot be a template"),
                format!("put it in as data: `{{{{ include_required(\"{path}\") }}}}`"),
            ));
        }
        self.reach.check_depth(name)?;
        match self.find_file(&path)? {
            Found::Text(text) => Ok(Some(text)),
            Found::Missing(_) => Ok(None),
            Found::Unreadable(refusal) => Err(refusal),
        }
    }

    /// The text of one of the layer's tasks.
    pub(super) fn task_text(&self, name: &str) -> Result<String, Diagnostic> {
        let path = format!("{}/tasks/{name}.yml", self.folder);
        let wrong = |refusal: Refusal| Diagnostic::error(&path, refusal.message).help(refusal.help);
        if name.is_empty() || name.contains('/') {
            let message = format!("`{}` cannot be a task's name", name.escape_debug());
            return Err(Diagnostic::error(&path, message)
                .help("name a file of the layer's folder `tasks`, without `.yml`"));
        }
        let path = self.resolve_path(&path).map_err(wrong)?;
        match self.find_file(&path).map_err(wrong)? {
            Found::Text(text) => Ok(text.trim_end().to_owned()),
            Found::Missing(_) => Err(Diagnostic::error(
                &path,
                format!("there is no task `{name}`"),
            )
            .help("write this file")),
            Found::Unreadable(refusal) => Err(wrong(refusal)),
        }
    }

    /// The rules for all layers, and their source.
    pub(super) fn rules_text(&self) -> Result<(String, Origin), Diagnostic> {
        let wrong =
            |refusal: Refusal| Diagnostic::error(RULES_PATH, refusal.message).help(refusal.help);
        match self.find_file(RULES_PATH).map_err(wrong)? {
            Found::Text(text) => Ok((text.as_ref().to_owned(), Origin::Repository)),
            Found::Missing(_) => Ok((RULES.to_owned(), Origin::BuiltIn)),
            Found::Unreadable(refusal) => Err(wrong(refusal)),
        }
    }

    /// The branch of a path. In seed 000's form, the feedback on a role may be on either branch; the ledger's takes
    /// precedence.
    fn tree_of(&self, path: &str) -> &Tree {
        let is_merged = is_feedback_of_role(path) && self.ledger.get(path).is_none();
        if is_on_the_ledger(path) && !is_merged {
            &self.ledger
        } else {
            &self.tree
        }
    }

    /// The replacement of a missing file of the ledger: its schema, and its initial text.
    fn stand_for(&self, path: &str) -> Option<StandIn> {
        if !is_on_the_ledger(path) {
            return None;
        }
        let seed = self
            .memory_owner(path)
            .map(|owner| exchange::seed_text(owner, self.now));
        if let Some((schema, text)) = self.schema_for(path) {
            let from = Origin::Schema(schema);
            return Some(StandIn { text, from, seed });
        }
        let text = seed.clone()?;
        Some(StandIn {
            text,
            from: Origin::Seed,
            seed,
        })
    }

    /// The role whose memory a path is. Only this prompt's own role gets a new memory.
    fn memory_owner<'p>(&self, path: &'p str) -> Option<Owner<'p>> {
        let parts: Vec<&str> = path.split('/').collect();
        let (stream, role) = match parts.as_slice() {
            [".jules", "workstations", role, "perspective.yml"] => (None, *role),
            [
                ".jules",
                "workstreams",
                stream,
                "workstations",
                role,
                "perspective.yml",
            ] => (Some(*stream), *role),
            _ => return None,
        };
        if role != self.role || !exchange::is_role(role) {
            return None;
        }
        match (self.layer.as_str(), stream) {
            ("observers", None) => Some(Owner::Observer(role)),
            ("observers", Some(stream)) => Some(Owner::StreamObserver(role, stream)),
            ("innovators", None) => Some(Owner::Innovator(role)),
            _ => None,
        }
    }

    /// The schema of a file in the layer's folder, with its text.
    fn schema_for(&self, path: &str) -> Option<(String, String)> {
        let (_, name) = path.rsplit_once('/')?;
        let schema = format!("{}/schemas/{name}", self.folder);
        let text = self.tree.text(&schema)?;
        (text.len() <= TEMPLATE_LIMIT_BYTES).then(|| {
            let text = if self.role.is_empty() {
                text.to_owned()
            } else {
                text.replace("<role>", &self.role)
                    .replace("<workstream>", &self.stream)
            };
            (schema, text)
        })
    }
}
