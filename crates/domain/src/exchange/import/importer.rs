//! Holds the state of an import: the exchange at the head, the accepted files, and the result.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::change_set::{Author, Import, Request};
use super::screen;
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::{Filed, file_stem};
use crate::exchange::artifact_file;
use crate::exchange::layout::{self, FLAT_STREAM, Layout, Location};
use crate::exchange::model::{Exchange, Stream};
use crate::exchange::shape::Shape;
use crate::exchange::{edit, index, read, values};
use crate::yaml::{self, Node, quoted};

/// How many ids are tried. Ids have two thousand million values, so a free one is found.
const ID_TRIES: u32 = 1_000;

pub(super) struct Importer<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) layout: Layout,
    pub(super) exchange: Exchange,
    /// Accepted files that were not imported yet.
    files: BTreeMap<&'a str, Option<&'a str>>,
    import: Import,
}

/// An accepted file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Importer<'a> {
    pub(super) fn open_exchange(request: &'a Request<'a>) -> Result<Self, Vec<Diagnostic>> {
        let layout = match Layout::detect(request.tree) {
            Ok(layout) => layout.unwrap_or(Layout::Flat),
            Err(both) => return Err(vec![*both]),
        };
        let reading = read::read_exchange(request.tree, Some(layout));
        let Some(exchange) = reading.exchange else {
            return Err(reading.diagnostics);
        };
        if !exchange.streams.contains_key(request.stream) {
            let help = match layout {
                Layout::Flat => format!("the exchange is flat: its only stream is `{FLAT_STREAM}`"),
                Layout::Workstreams => {
                    format!("make the folder .jules/workstreams/{}", request.stream)
                }
            };
            let message = format!("there is no workstream `{}`", request.stream);
            return Err(vec![
                Diagnostic::error(".jules/workstreams", message).help(help),
            ]);
        }
        let (files, found) = screen::screen_files(request.changes, request.tree);
        Ok(Self {
            request,
            layout,
            exchange,
            files,
            import: Import {
                diagnostics: found,
                ..Import::default()
            },
        })
    }

    pub(super) fn own_stream(&self) -> &Stream {
        // `open_exchange` has checked that the stream exists; the empty one is never reached.
        static NONE: std::sync::LazyLock<Stream> = std::sync::LazyLock::new(Stream::default);
        self.exchange
            .streams
            .get(self.request.stream)
            .unwrap_or(&NONE)
    }

    /// Takes the written files at the wanted locations, sorted by path.
    pub(super) fn take_incoming(
        &mut self,
        wanted: impl Fn(Location<'_>) -> bool,
    ) -> Vec<Incoming<'a>> {
        let stream = self.request.stream;
        let here = |place: &Location<'_>| match place {
            Location::Event { stream: one, .. }
            | Location::Item { stream: one, .. }
            | Location::Index { stream: one }
            | Location::Proposal { stream: one }
            | Location::Feedback { stream: one }
            | Location::Memory { stream: one, .. }
            | Location::History { stream: one, .. } => *one == stream,
            _ => true,
        };
        let mut taken = Vec::new();
        for (path, text) in &self.files {
            let place =
                layout::locate(self.layout, path).filter(|place| here(place) && wanted(*place));
            if let (Some(_), Some(text)) = (place, text) {
                taken.push(Incoming { path, text });
            }
        }
        for one in &taken {
            self.files.remove(one.path);
        }
        taken
    }

    /// Drops files that phileas writes itself, without reporting them.
    pub(super) fn ignore_files(&mut self, ignored: impl Fn(&str, Option<&str>) -> bool) {
        self.files.retain(|path, text| !ignored(path, *text));
    }

    pub(super) fn report(&mut self, one: Diagnostic) {
        self.import.diagnostics.push(one);
    }

    /// The future text of a file: from this import, or else from the ledger.
    pub(super) fn current_text(&self, path: &str) -> Option<&str> {
        match self.import.files.get(path) {
            Some(text) => text.as_deref(),
            None => self.request.tree.text(path),
        }
    }

    /// Whether a file will exist.
    pub(super) fn is_there(&self, path: &str) -> bool {
        match self.import.files.get(path) {
            Some(text) => text.is_some(),
            None => self.request.tree.get(path).is_some(),
        }
    }

    /// Whether a file of the ledger is unchanged since the session was given it.
    pub(super) fn is_as_given(&self, path: &str) -> bool {
        let given = self.request.base.and_then(|base| base.get(path));
        let (Some(given), Some(present)) = (given, self.request.tree.get(path)) else {
            return false;
        };
        if given.oid.is_empty() || present.oid.is_empty() {
            given.text.is_some() && given.text == present.text
        } else {
            given.oid == present.oid
        }
    }

    /// Writes a file, unless its text is the same.
    pub(super) fn write_file(&mut self, path: &str, text: String, taken: Option<String>) {
        if self.current_text(path) == Some(text.as_str()) {
            return;
        }
        if self.request.tree.text(path) == Some(text.as_str()) {
            self.import.files.remove(path);
        } else {
            self.import.files.insert(path.to_owned(), Some(text));
        }
        self.import.taken.extend(taken);
    }

    pub(super) fn remove_file(&mut self, path: &str) {
        if self.request.tree.get(path).is_some() {
            self.import.files.insert(path.to_owned(), None);
        } else {
            self.import.files.remove(path);
        }
    }

    /// Parses a document and reports YAML errors.
    pub(super) fn parse_file(&mut self, one: Incoming<'_>) -> Option<Node> {
        let (root, mistakes) = yaml::parse(one.text);
        let whole = root.filter(|_| mistakes.is_empty());
        if whole.is_none() && mistakes.is_empty() {
            let empty = Diagnostic::error(one.path, "there is nothing in it");
            self.report(empty.at(1, 1).help("fill in the template"));
        }
        for wrong in mistakes {
            let told = Diagnostic::error(one.path, wrong.message).at(wrong.line, wrong.column);
            self.report(told.help(wrong.help));
        }
        whole
    }

    /// A valid artifact; otherwise its mistakes are reported.
    pub(super) fn read_sound<T>(
        &mut self,
        shape: &Shape,
        path: &str,
        text: &str,
        value: impl FnOnce(&Node) -> T,
    ) -> Option<Filed<T>> {
        let mut found = Vec::new();
        let filed = artifact_file::read_artifact(shape, path, text, &mut found, value);
        self.import.diagnostics.extend(found);
        filed.filter(|filed| filed.sound)
    }

    /// The document with a valid id that is not taken. If necessary an id is derived from its content.
    pub(super) fn with_id(&self, text: &str, root: &Node, taken: &BTreeSet<String>) -> String {
        let node = root.get("id");
        // Six unquoted digits parse as a number, but are an id.
        let written = node
            .and_then(|node| text.get(node.range.clone()))
            .unwrap_or_default();
        let own = node.and_then(Node::text).or(Some(written));
        let own = own.filter(|id| values::is_id(id) && !taken.contains(*id));
        let id = match own {
            Some(id) if node.and_then(Node::text) == Some(id) => return text.to_owned(),
            Some(id) => id.to_owned(),
            None => self.fresh_id(root, taken),
        };
        edit::set_key(text, root, "id", &quoted(&id))
    }

    /// An id that is derived from the rest of the document, so that the same document gets the same id.
    pub(super) fn fresh_id(&self, root: &Node, taken: &BTreeSet<String>) -> String {
        const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut document = root.clone();
        for key in [
            "id",
            "issue_id",
            "source_events",
            "attempts",
            "returned_because",
        ] {
            edit::remove_key(&mut document, key);
        }
        let said = document.json().to_string();
        let id = |attempt: u32| {
            let whole = format!(
                "phileas/id/1\n{}\n{}\n{attempt}\n{said}",
                self.request.stream,
                self.request.author.name()
            );
            let digest = Sha256::digest(whole.as_bytes());
            let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
            digest.iter().take(6).map(letter).collect::<String>()
        };
        let free = (0..ID_TRIES).map(id).find(|id| !taken.contains(id));
        free.unwrap_or_else(|| id(ID_TRIES))
    }

    /// A path for a new file: its own name if it is valid and free, or else one with its id.
    pub(super) fn free_path(&self, folder: &str, path: &str, id: &str) -> String {
        let name = file_stem(path);
        if !values::is_kebab(name) {
            return format!("{folder}/{id}.yml");
        }
        let plain = format!("{folder}/{name}.yml");
        if self.is_there(&plain) {
            format!("{folder}/{name}-{id}.yml")
        } else {
            plain
        }
    }

    /// Whether a document equals one in the ledger, except for the keys that phileas sets.
    pub(super) fn is_same_but(one: &Node, other: &Node, but: &[&str]) -> bool {
        let bare = |node: &Node| {
            let mut node = node.clone();
            for key in but {
                edit::remove_key(&mut node, key);
            }
            node.json()
        };
        bare(one) == bare(other)
    }

    pub(super) fn finish(mut self) -> Import {
        let mut found = Vec::new();
        for path in self.files.keys() {
            let one = Diagnostic::error(
                *path,
                format!("{} may not change it", self.request.author.name()),
            );
            found.push(one.help(allowed_paths(&self.request.author, self.own_stream())));
        }
        self.import.diagnostics.extend(found);
        self.update_index();
        self.import.diagnostics.sort();
        self.import.diagnostics.dedup();
        self.import
    }

    /// Updates the list of issues.
    fn update_index(&mut self) {
        if self.layout == Layout::Flat || self.import.files.is_empty() {
            return;
        }
        let tree = self.request.tree.with(&self.import.files);
        let exchange = read::read_exchange(&tree, Some(self.layout)).exchange;
        let Some(stream) = exchange
            .as_ref()
            .and_then(|exchange| exchange.streams.get(self.request.stream))
        else {
            return;
        };
        if !index::check_index(stream).is_empty() {
            self.write_file(
                &index::index_path(stream),
                index::render_index(stream),
                None,
            );
        }
    }
}

/// The paths that a role may write, for a hint.
fn allowed_paths(author: &Author<'_>, stream: &Stream) -> String {
    let Stream {
        home, workstations, ..
    } = stream;
    match author {
        Author::Narrator => "write the summary of changes only".to_owned(),
        Author::Observer(role) => {
            format!(
                "write {home}/events/pending/*.yml and {workstations}/{role}/perspective.yml only"
            )
        }
        Author::Decider => {
            "write work items and feedback/<event-id>.yml only: links and moves are made from them"
                .to_owned()
        }
        Author::Planner(item) => format!("write {item} only"),
        Author::Innovator(role) => {
            format!("write {home}/proposals/*.yml and {workstations}/{role}/perspective.yml only")
        }
        Author::Implementer | Author::Integrator => {
            "propose it in the pull request; nothing of it enters the ledger".to_owned()
        }
    }
}
