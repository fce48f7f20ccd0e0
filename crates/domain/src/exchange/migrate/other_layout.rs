//! Converts between the layouts: a flat exchange becomes one workstream, or workstreams become one flat exchange.
//!
//! Everything that an artifact says has a place in the other layout, or is reported. If two files would become one, or
//! one id would mean two things, nothing is changed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::document::Document;
use super::locations::Kind;
use super::migration::{Migration, Step, sorted_migration};
use super::waiting::CORRECT;
use super::{memory, shapes};
use crate::diagnostic::{Diagnostic, Severity};
use crate::exchange::artifact::file_stem;
use crate::exchange::artifact_file::artifact_text;
use crate::exchange::edit::{self, new_node, text_node};
use crate::exchange::layout::{
    CHANGES_FOLDER, FLAT_CHANGES, FLAT_FOLDER, Layout, Location, OLDER_ROSTER, STREAMS_FOLDER,
    WORKSTATIONS_FOLDER, locate, older_roster,
};
use crate::exchange::limits::{LINE_LIMIT_CHARS, SUMMARIES};
use crate::exchange::memory::{Owner, leave_alone, lesson_text, seed_text};
use crate::exchange::model::Exchange;
use crate::exchange::names::{no_artifact, unknown_state};
use crate::exchange::roster::read_roster;
use crate::exchange::shapes::CHANGES;
use crate::exchange::{index, read, values};
use crate::model::{Mode, Tree};
use crate::plan::{self, CONFIG_PATH};
use crate::prompt::clean_line;
use crate::yaml::{self, Node, Value};

/// The key that says whether a planner must analyse a work item first.
const ANALYSIS: &str = "requires_deep_analysis";

/// Plans the conversion of an exchange to another layout. Nothing is changed. `stream`: the workstream that a flat
/// exchange becomes. A second conversion finds nothing to do.
///
/// # Errors
///
/// All obstacles, with their positions: older forms, which must be migrated first; ids that two artifacts have; two
/// files for one path; and files without a place in the other layout.
pub fn migrate_layout(tree: &Tree, to: Layout, stream: &str) -> Result<Migration, Vec<Diagnostic>> {
    let Some(from) = Layout::detect(tree).map_err(|both| vec![*both])? else {
        return Ok(Migration::default());
    };
    if from == to {
        let mut migration = Migration {
            kept: super::migrate_exchange(tree)?.kept,
            ..Migration::default()
        };
        migration.report_unread_files(tree, to);
        return sorted_migration(migration, Vec::new());
    }
    let older = super::migrate_exchange(tree)?;
    if let Some(step) = older.steps.first() {
        let one = Diagnostic::error(&step.path, "it lies or looks as it did in an older version");
        return Err(vec![one.help(
            "bring it to its own layout first: `phileas exchange migrate`",
        )]);
    }
    if !values::is_name(stream) {
        let one = Diagnostic::error(
            STREAMS_FOLDER,
            format!("no workstream can be called `{}`", stream.escape_debug()),
        );
        return Err(vec![one.help("a name has letters, digits, `-` and `_`")]);
    }
    let Some(exchange) = read::read_exchange(tree, Some(from)).exchange else {
        return Ok(Migration::default());
    };
    let mut way = LayoutMove {
        tree,
        to,
        stream,
        migration: Migration::default(),
        wrong: doubled_ids(&exchange),
        taken: BTreeMap::new(),
        lessons: match to {
            Layout::Flat => lessons_of_roles(tree),
            Layout::Workstreams => BTreeMap::new(),
        },
    };
    let names = shared_names(from, tree);
    for (path, entry) in tree.iter() {
        let Some(here) = locate(from, path) else {
            continue;
        };
        match entry.text.as_deref().filter(|_| entry.mode == Mode::File) {
            Some(text) => way.move_artifact(path, text, here, &names),
            None if entry.mode == Mode::File
                && matches!(here, Location::Beside | Location::NoArtifact) =>
            {
                way.leave_file(path, here);
            }
            None => way
                .wrong
                .extend(artifact_text(tree, path).err().map(|one| *one)),
        }
    }
    way.move_lessons();
    way.move_rosters(&exchange);
    let LayoutMove {
        mut migration,
        wrong,
        ..
    } = way;
    update_indexes(tree, to, stream, &mut migration);
    migration.report_waiting_items(tree, to);
    migration.report_unread_files(tree, to);
    sorted_migration(migration, wrong)
}

struct LayoutMove<'t> {
    tree: &'t Tree,
    to: Layout,
    stream: &'t str,
    migration: Migration,
    wrong: Vec<Diagnostic>,
    /// The source of each new path.
    taken: BTreeMap<String, String>,
    /// The lessons from the feedback in the roles' folders, and the date of the newest.
    lessons: BTreeMap<String, (Vec<String>, Timestamp)>,
}

impl LayoutMove<'_> {
    fn move_artifact(
        &mut self,
        path: &str,
        text: &str,
        here: Location<'_>,
        names: &[(String, String)],
    ) {
        let name = format!("{}.yml", file_stem(path));
        let of = |stream: &str| match names
            .contains(&(file_stem(path).to_owned(), kind_of(here).to_owned()))
        {
            true => format!("{stream}-{name}"),
            false => name.clone(),
        };
        match here {
            Location::Event { stream, state } => match unknown_state(path, state) {
                Some(wrong) => self.wrong.push(wrong),
                None => {
                    let below = format!("{state}/{}", of(stream));
                    self.move_unchanged(path, text, "events", &below);
                }
            },
            Location::Feedback { .. } => {
                self.move_unchanged(path, text, "feedback", &name);
            }
            Location::Item { stream, .. } => self.move_item(path, text, &of(stream)),
            Location::Proposal { .. } if self.to == Layout::Workstreams => self.keep_file(
                path,
                "workstreams have no proposals",
                "wait until phileas has opened an issue for it, or remove it",
            ),
            Location::Proposal { .. } => {
                self.move_unchanged(path, text, "proposals", &name);
            }
            Location::Memory { role, .. } => self.move_memory(path, text, role),
            Location::Changes => self.move_changes(path, text),
            Location::Index { .. } => {
                self.remove_file(path, "a flat exchange has no list of its work items");
            }
            Location::History { .. } => {
                let why = "a flat exchange keeps no histories; its git history does";
                self.remove_file(path, why);
            }
            // One roster is built from all of them.
            Location::Roster { .. } => {}
            Location::Beside if path.starts_with(".jules/roles/") => {}
            Location::Beside if text.trim().is_empty() || path.ends_with("/.gitkeep") => {
                self.remove_file(path, "it kept a folder of the other layout");
            }
            // Its lesson enters the role's memory. The file is not part of the exchange and stays.
            Location::RoleFeedback => {}
            Location::Beside | Location::NoArtifact => self.leave_file(path, here),
            Location::Stray => {
                let why = "it has no place in the other layout";
                self.keep_file(path, why, "move it or remove it");
            }
        }
    }

    /// The folder of the only stream in the new layout.
    fn home(&self) -> String {
        match self.to {
            Layout::Flat => FLAT_FOLDER.to_owned(),
            Layout::Workstreams => format!("{STREAMS_FOLDER}/{}", self.stream),
        }
    }

    /// Moves a document, and says what was done to it.
    fn add_document(&mut self, document: Document, to: String, why: &str) {
        self.add_step(&document.path, Some(to), document.text, why);
        let step = self.migration.steps.last_mut();
        if let Some(step) = step {
            step.why.extend(document.done);
        }
    }

    fn add_step(&mut self, path: &str, to: Option<String>, text: String, why: &str) {
        if let Some(place) = &to {
            let other = self.taken.insert(place.clone(), path.to_owned());
            let there = self.tree.get(place).map(|_| place.clone());
            if let Some(other) = other.or(there) {
                let one = Diagnostic::error(path, format!("`{other}` would be at `{place}`, too"));
                self.wrong
                    .push(one.help("put the two together, or give one of them another name"));
            }
        }
        self.migration.steps.push(Step {
            path: path.to_owned(),
            to,
            text,
            why: vec![why.to_owned()],
        });
    }

    /// Moves an artifact that looks the same in both layouts. `folder`: its kind. `below`: its path in that folder.
    fn move_unchanged(&mut self, path: &str, text: &str, folder: &str, below: &str) {
        let to = format!("{}/{folder}/{below}", self.home());
        let why = format!("{folder} of the other layout");
        self.add_step(path, Some(to), text.to_owned(), &why);
    }

    fn remove_file(&mut self, path: &str, why: &str) {
        self.add_step(path, None, String::new(), why);
    }

    /// Leaves a file that is no artifact where it is.
    fn leave_file(&mut self, path: &str, here: Location<'_>) {
        self.migration.kept.push(match here {
            Location::NoArtifact => no_artifact(self.tree, path),
            _ => Diagnostic::warning(
                path,
                "phileas leaves this note in a folder of the other layout",
            )
            .help("move it or remove it"),
        });
    }

    fn keep_file(&mut self, path: &str, why: &str, help: &str) {
        self.wrong.push(Diagnostic::error(path, why).help(help));
    }

    fn move_item(&mut self, path: &str, text: &str, name: &str) {
        let Some(mut document) = Document::parse_file(path, text) else {
            return self.keep_file(path, "it cannot be read, so its kind is unknown", CORRECT);
        };
        let to = match self.to {
            Layout::Flat => {
                if let Err(half) = shapes::convert_shape(&mut document, Kind::Item, Layout::Flat) {
                    return self.wrong.push(*half);
                }
                // In the workstreams layout the key may be missing, which means no analysis.
                if !document.has_key(ANALYSIS) {
                    let text = edit::set_key(&document.text, &document.root, ANALYSIS, "false");
                    document.rewrite_text(text, format!("added `{ANALYSIS}: false`"));
                }
                format!("{FLAT_FOLDER}/requirements/{name}")
            }
            Layout::Workstreams => {
                if let Err(half) = convert_commands(&mut document) {
                    return self.wrong.push(*half);
                }
                let label = document.root.get("label").and_then(Node::text);
                let Some(label) = label.filter(|label| values::is_name(label)) else {
                    return self.keep_file(
                        path,
                        "it has no label, which is its folder among workstreams",
                        "write its `label`",
                    );
                };
                format!("{}/issues/{label}/{name}", self.home())
            }
        };
        let looked_over = std::mem::take(&mut document.kept).into_iter();
        self.migration
            .kept
            .extend(looked_over.map(|one| Diagnostic {
                file: to.clone(),
                ..one
            }));
        self.add_document(document, to, "a work item of the other layout");
    }

    fn move_memory(&mut self, path: &str, text: &str, role: &str) {
        let Some(mut document) = Document::parse_file(path, text) else {
            return self.keep_file(path, "it cannot be read, so its kind is unknown", CORRECT);
        };
        let to = match self.to {
            Layout::Flat => {
                if let Err(half) = shapes::convert_shape(&mut document, Kind::Memory, Layout::Flat)
                {
                    return self.wrong.push(*half);
                }
                if let Some(left) = document.kept.pop() {
                    return self.wrong.push(Diagnostic {
                        severity: Severity::Error,
                        ..left
                    });
                }
                let mut root = document.root.clone();
                if let Some((lessons, _)) = self.lessons.remove(role)
                    && leave_alone(&mut root, &lessons, &[])
                {
                    let done = "the lessons of its feedback are in it";
                    document.rewrite_text(edit::emit_yaml(&root), done.to_owned());
                }
                format!("{WORKSTATIONS_FOLDER}/{role}/perspective.yml")
            }
            Layout::Workstreams => {
                memory::to_stream(&mut document, self.stream);
                if let Some(left) = document.kept.pop() {
                    return self.wrong.push(Diagnostic {
                        severity: Severity::Error,
                        ..left
                    });
                }
                format!("{}/workstations/{role}/perspective.yml", self.home())
            }
        };
        self.add_document(document, to, "a memory of the other layout");
    }

    /// Creates a memory for each role that has lessons but no memory.
    fn move_lessons(&mut self) {
        for (role, (lessons, newest)) in std::mem::take(&mut self.lessons) {
            let seeded = seed_text(Owner::Observer(&role), newest);
            let Some(mut root) = yaml::parse(&seeded).0 else {
                continue;
            };
            leave_alone(&mut root, &lessons, &[]);
            let path = format!("{WORKSTATIONS_FOLDER}/{role}/perspective.yml");
            let why = "made of the feedback that the role was given";
            self.add_step(&path, Some(path.clone()), edit::emit_yaml(&root), why);
        }
    }

    /// A summary of workstreams becomes five themes. The reverse is impossible, because themes name no commits.
    fn move_changes(&mut self, path: &str, text: &str) {
        if self.to == Layout::Workstreams {
            let titles = themes(text);
            let why = format!(
                "its themes name no commits, so they have no place in the other layout: {}; the narrator writes a new summary",
                titles.join("; ")
            );
            return self.add_step(path, None, String::new(), &why);
        }
        let Some(mut document) = Document::parse_file(path, text) else {
            return self.keep_file(path, "it cannot be read", CORRECT);
        };
        let rewritten = themes_text(&document.root);
        if let Some(wrong) = CHANGES.validate(path, &rewritten).into_iter().next() {
            let message = format!(
                "its form in the other layout would not be sound: {}",
                wrong.message
            );
            return self.keep_file(path, &message, "correct it, and migrate again");
        }
        let why = format!(
            "a summary of the other layout, without its commits and counts{}",
            left_out_changes(&document.root)
        );
        document.replace_text(rewritten);
        self.add_document(document, FLAT_CHANGES.to_owned(), &why);
    }

    /// Converts the rosters: `scheduled.toml` of each workstream, or the roster of `.jlo/config.toml`.
    fn move_rosters(&mut self, exchange: &Exchange) {
        match self.to {
            Layout::Workstreams => self.make_roster(),
            Layout::Flat => {
                self.remove_rosters(exchange);
                self.name_observers(&observers_of_streams(exchange));
            }
        }
    }

    /// Makes the roster of the new workstream. A checkout of the ledger has nothing to make it of.
    fn make_roster(&mut self) {
        let path = format!("{}/scheduled.toml", self.home());
        if !self.tree.has(CONFIG_PATH) {
            let message =
                "the roster of the flat layout is not here, so this workstream has none yet";
            let help = format!(
                "write {path} on the default branch, with the observers of `{CONFIG_PATH}`"
            );
            let one = Diagnostic::warning(path, message).help(help);
            return self.migration.kept.push(one);
        }
        let (plan, found) = plan::read(self.tree);
        let found = found.into_iter().filter(Diagnostic::is_error);
        self.wrong
            .extend(found.filter(|one| one.file == CONFIG_PATH));
        let observers = plan.roster.observers.iter().filter(|member| member.enabled);
        let roles: Vec<String> = observers.map(|member| member.role.clone()).collect();
        let text = format!(
            "version = 1\nenabled = {}\n\n[observers]\nroles = [{}]\n\n[deciders]\nroles = []\n",
            !roles.is_empty(),
            quoted_list(&roles)
        );
        self.add_step(
            &path.clone(),
            Some(path),
            text,
            "made of the roster of `.jlo/config.toml`; a `scheduled.toml` of the default branch takes its place",
        );
    }

    /// Removes the rosters of workstreams, and names their members. The default branch has the flat layout's roster, so
    /// none is written here.
    fn remove_rosters(&mut self, exchange: &Exchange) {
        let is_roster = |path: &str| {
            matches!(
                locate(Layout::Workstreams, path),
                Some(Location::Roster { .. })
            )
        };
        let files = self.tree.below(STREAMS_FOLDER).map(|(path, _)| path);
        let older = exchange.streams.keys().map(|name| older_roster(name));
        let older = older.chain([OLDER_ROSTER.to_owned()]);
        let older = older.filter(|path| self.tree.get(path).is_some());
        let files = files.filter(|path| is_roster(path)).map(str::to_owned);
        let files: Vec<String> = files.chain(older).collect();
        for path in files {
            self.wrong.extend(broken_roster(self.tree, &path));
            let text = self.tree.text(&path).unwrap_or_default();
            let members = read_roster(&path, text).0.unwrap_or_default();
            let why = format!(
                "the roster of the flat layout is `{CONFIG_PATH}` of the default branch; this one has the observers [{}] and the deciders [{}]",
                members.observers.join(", "),
                members.deciders.join(", ")
            );
            self.add_step(&path, None, String::new(), &why);
        }
    }

    /// Names the observers of the workstreams, which the roster of the flat layout has to have.
    fn name_observers(&mut self, roles: &[String]) {
        if !roles.is_empty() {
            let message = format!("the workstreams had these observers: {}", roles.join(", "));
            let help = format!(
                "write `roles = [{}]` below `[observers]` in this file of the default branch",
                quoted_list(roles)
            );
            let one = Diagnostic::warning(CONFIG_PATH, message).help(help);
            self.migration.kept.push(one);
        }
    }
}

/// Roles as entries of a list in TOML.
fn quoted_list(roles: &[String]) -> String {
    let quoted: Vec<String> = roles.iter().map(|role| format!("\"{role}\"")).collect();
    quoted.join(", ")
}

/// The observers of all enabled rosters, each once.
fn observers_of_streams(exchange: &Exchange) -> Vec<String> {
    let rosters = exchange
        .streams
        .values()
        .filter_map(|stream| stream.roster.as_ref());
    let mut roles: Vec<String> = Vec::new();
    for role in rosters
        .filter(|roster| roster.enabled)
        .flat_map(|roster| &roster.observers)
    {
        if !roles.contains(role) {
            roles.push(role.clone());
        }
    }
    roles
}

/// The lessons of the feedback in the roles' folders, by role, the oldest first.
fn lessons_of_roles(tree: &Tree) -> BTreeMap<String, (Vec<String>, Timestamp)> {
    let mut dated: BTreeMap<String, Vec<(Option<Date>, String)>> = BTreeMap::new();
    for (path, _) in tree.iter() {
        if !matches!(
            locate(Layout::Workstreams, path),
            Some(Location::RoleFeedback)
        ) {
            continue;
        }
        let role = path.rsplit('/').nth(2).filter(|role| values::is_name(role));
        let root = tree.text(path).and_then(|text| yaml::parse(text).0);
        let (Some(role), Some(root)) = (role, root) else {
            continue;
        };
        let said = |key: &str| root.get(key).and_then(Node::text).unwrap_or_default();
        if said("topic").is_empty() && said("guidance").is_empty() {
            continue;
        }
        let day = said("date").parse().ok();
        let one = lesson_text(said("topic"), said("guidance"));
        dated.entry(role.to_owned()).or_default().push((day, one));
    }
    let of_role = |(role, mut all): (String, Vec<(Option<Date>, String)>)| {
        all.sort();
        let newest = all.iter().filter_map(|(day, _)| *day).max();
        let newest = newest.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
        let newest = newest.map_or(Timestamp::UNIX_EPOCH, |at| at.timestamp());
        (
            role,
            (all.into_iter().map(|(_, one)| one).collect(), newest),
        )
    };
    dated.into_iter().map(of_role).collect()
}

/// The mistakes in a roster. With one of them, its roles may be unknown.
fn broken_roster(tree: &Tree, path: &str) -> Vec<Diagnostic> {
    match artifact_text(tree, path).map(|text| read_roster(path, text)) {
        Ok((_, wrong)) => wrong,
        Err(wrong) => vec![*wrong],
    }
}

/// Ids that two artifacts of one kind have, over all workstreams.
fn doubled_ids(exchange: &Exchange) -> Vec<Diagnostic> {
    let mut known: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut wrong = Vec::new();
    for stream in exchange.streams.values() {
        let events = stream
            .events
            .iter()
            .map(|one| ("event", &one.value.id, &one.path));
        let items = stream
            .items
            .iter()
            .map(|one| ("work item", &one.value.id, &one.path));
        for (kind, id, path) in events.chain(items) {
            if id.is_empty() {
                continue;
            }
            if let Some(other) = known.insert((kind, id), path) {
                let one =
                    Diagnostic::error(path, format!("its id `{id}` is that of `{other}`, too"));
                wrong.push(
                    one.key("id")
                        .help("give one of them another id, with its links"),
                );
            }
        }
    }
    wrong
}

/// The kind of artifact at a location, as far as names may collide there.
fn kind_of(place: Location<'_>) -> &'static str {
    match place {
        Location::Event { .. } => "event",
        Location::Item { .. } => "item",
        _ => "",
    }
}

/// Names that several workstreams use for the same kind of artifact.
fn shared_names(from: Layout, tree: &Tree) -> Vec<(String, String)> {
    let mut streams: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (path, _) in tree.iter() {
        let Some(here) = locate(from, path) else {
            continue;
        };
        let (Location::Event { stream, .. } | Location::Item { stream, .. }) = here else {
            continue;
        };
        let of = streams
            .entry((file_stem(path).to_owned(), kind_of(here).to_owned()))
            .or_default();
        if !of.iter().any(|known| known == stream) {
            of.push(stream.to_owned());
        }
    }
    streams.retain(|_, of| of.len() > 1);
    streams.into_keys().collect()
}

/// Converts a requirement to an issue: the goal is put before the desired outcome, and the criteria take the place of
/// commands.
fn convert_commands(document: &mut Document) -> Result<(), Box<Diagnostic>> {
    let said = |key: &str| {
        document
            .root
            .get(key)
            .and_then(Node::text)
            .map(str::to_owned)
    };
    if let Some(goal) = said("goal") {
        let outcome = said("desired_outcome").unwrap_or_default();
        let mut rewritten = document.root.clone();
        edit::remove_key(&mut rewritten, "goal");
        let mut done = "removed `goal`, which `desired_outcome` says, too";
        if goal.trim() != outcome.trim() {
            let both = format!("{} {}", goal.trim(), outcome.trim());
            edit::put_key(&mut rewritten, "desired_outcome", Value::Text(both));
            done = "put `goal` before `desired_outcome`, as one text";
        }
        document.rewrite_text(edit::emit_yaml(&rewritten), done.to_owned());
    }
    if document.has_key("verification_criteria") {
        document.rename_key("verification_criteria", "verification_commands")?;
        document.keep_key(
            "verification_commands",
            "criteria stand where this layout asks for commands",
            "write the commands that show them",
        );
    }
    Ok(())
}

/// The themes of a flat summary.
fn themes(text: &str) -> Vec<String> {
    let root = yaml::parse(text).0;
    let themes = root.as_ref().and_then(|root| root.get("summaries"));
    let themes = themes.map(Node::items).unwrap_or_default().iter();
    let titles = themes.filter_map(|one| one.get("title")?.text());
    titles.map(clean_line).collect()
}

/// Which notable changes find no room among the themes.
fn left_out_changes(root: &Node) -> String {
    let summary = root.get("summary");
    let notable = summary.and_then(|one| one.get("notable_changes"));
    let notable = notable.map(Node::items).unwrap_or_default();
    // The overview is a theme, too.
    let left = notable.iter().filter_map(Node::text).skip(SUMMARIES - 1);
    let left = left.map(clean_line).collect::<Vec<_>>();
    let mut text = String::new();
    match left.as_slice() {
        [] => {}
        left => {
            text.push_str(", and without these notable changes: ");
            text.push_str(&left.join("; "));
        }
    }
    let said = |of: Option<&Node>, key: &str| of?.get(key)?.text().map(str::to_owned);
    let overview = said(summary, "overview").unwrap_or_default();
    let cut: String = on_one_line(&overview)
        .chars()
        .skip(LINE_LIMIT_CHARS)
        .collect();
    if !cut.is_empty() {
        text.push_str(", and without the end of its overview: ");
        text.push_str(&clean_line(&cut));
    }
    for (of, key) in [
        (summary, "truncation_note"),
        (root.get("range"), "selection_detail"),
    ] {
        if let Some(said) = said(of, key) {
            text.push_str(&format!(", and without its `{key}`: {}", clean_line(&said)));
        }
    }
    text
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A summary of workstreams as five themes.
fn themes_text(root: &Node) -> String {
    let summary = root.get("summary");
    let overview = summary
        .and_then(|one| one.get("overview"))
        .and_then(Node::text)
        .unwrap_or_default();
    let notable = summary
        .and_then(|one| one.get("notable_changes"))
        .map(Node::items)
        .unwrap_or_default();
    let line =
        |words: &str| -> String { on_one_line(words).chars().take(LINE_LIMIT_CHARS).collect() };
    let theme = |title: &str, scope: &str, impact: &str| {
        let entries = [("title", title), ("scope", scope), ("impact", impact)];
        new_node(Value::Map(
            entries
                .map(|(key, value)| (text_node(key), text_node(value)))
                .into(),
        ))
    };
    let mut summaries = vec![theme(
        "Overview",
        &line(overview),
        "See the themes that follow.",
    )];
    let told = notable.iter().filter_map(Node::text);
    summaries.extend(told.map(|one| theme(&line(one), &line(one), "It was told as notable.")));
    summaries.truncate(SUMMARIES);
    while summaries.len() < SUMMARIES {
        summaries.push(theme("Nothing further", "Nothing.", "None."));
    }
    let created = root
        .get("created_at")
        .and_then(Node::text)
        .unwrap_or_default();
    let entries = [
        ("schema_version", Value::Integer(1)),
        ("created_at", Value::Text(created.to_owned())),
        ("summaries", Value::List(summaries)),
    ];
    let entries = entries
        .into_iter()
        .map(|(key, value)| (text_node(key), new_node(value)));
    edit::emit_yaml(&new_node(Value::Map(entries.collect())))
}

/// Creates the list of issues of a new workstream, or a file that keeps a flat exchange without artifacts.
fn update_indexes(tree: &Tree, to: Layout, stream: &str, migration: &mut Migration) {
    if to == Layout::Flat {
        let next = migration.tree_after(tree);
        let has_files = |folder: &str| next.below(folder).next().is_some();
        let is_there = has_files(FLAT_FOLDER) || has_files(WORKSTATIONS_FOLDER);
        // Once the last artifact is removed, files that stayed in the other layout would tell it.
        let is_alone = !has_files(STREAMS_FOLDER) && !has_files(CHANGES_FOLDER);
        let path = format!("{FLAT_FOLDER}/events/pending/.gitkeep");
        let is_kept = next.get(&path).is_some() || (is_there && is_alone);
        if !is_kept || Layout::detect(&next) != Ok(Some(to)) {
            migration.steps.push(Step {
                to: Some(path.clone()),
                path,
                text: String::new(),
                why: vec!["it keeps the folder of the exchange".to_owned()],
            });
        }
        return;
    }
    let mut next = migration.tree_after(tree);
    // A workstream without another file has its list.
    next.insert_text(format!("{STREAMS_FOLDER}/{stream}/.gitkeep"), "");
    let read = read::read_exchange(&next, Some(to)).exchange;
    for stream in read.iter().flat_map(|exchange| exchange.streams.values()) {
        let path = index::index_path(stream);
        migration.steps.push(Step {
            to: Some(path.clone()),
            path,
            text: index::render_index(stream),
            why: vec!["the list of issues".to_owned()],
        });
    }
}
