//! Collects what the prompt of one session needs besides the files of its layer: variables, the task, and untrusted
//! texts.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::limits::{
    COMMITS_LIMIT_BYTES, FINDINGS_LIMIT_BYTES, TRIAGE_EVENTS, TRIAGE_ITEMS_BYTES,
    TRIAGE_LIMIT_BYTES,
};
use super::spelling::{USUAL_ROLES, usual_role};
use super::{Catalogue, digest, is_role_name};
use crate::Diagnostic;
use crate::exchange::{EventState, Exchange, Filed, Labels, Layout, Stream, WorkItem, issue_text};
use crate::model::{RepositoryName, Tree};
use crate::plan::closest;
use crate::prompt::{OpenPull, clean_line};

/// The task of innovators.
const PROPOSE: &str = "create_three_proposals";

/// The job of a layer's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job<'a> {
    /// Summarize what has changed. `commits`: the commits since the last summary, as `git log` prints them, if they are
    /// known.
    Narrator {
        /// One line for each commit.
        commits: Option<&'a str>,
    },
    /// Analyse the repository in a role.
    Observer(&'a str),
    /// Decide on the pending events.
    Decider,
    /// Expand a work item. `None`: a preview without one.
    Planner(Option<&'a str>),
    /// Implement a work item, with the task of its label. `None`: a preview without one.
    Implementer(&'a str, Option<&'a str>),
    /// Implement a work item that a person approved, with the task of its label. The session gets the text that the
    /// person read, and nothing else of the ledger.
    Approved(&'a str, &'a str),
    /// Propose changes of direction in a role.
    Innovator(&'a str),
    /// Combine pull requests.
    Integrator {
        /// The open pull requests of implementers.
        pulls: &'a [OpenPull],
        /// The target branch.
        target: &'a str,
    },
}

impl Job<'_> {
    /// The layer, in the plan's spelling.
    #[must_use]
    pub fn layer(&self) -> &'static str {
        match self {
            Self::Narrator { .. } => "narrator",
            Self::Observer(_) => "observers",
            Self::Decider => "decider",
            Self::Planner(_) => "planner",
            Self::Implementer(..) | Self::Approved(..) => "implementer",
            Self::Innovator(_) => "innovators",
            Self::Integrator { .. } => "integrator",
        }
    }
}

/// What a session's prompt needs besides the files of its layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// The layer, in the plan's spelling.
    pub layer: &'static str,
    /// The variables of the template.
    pub variables: BTreeMap<String, String>,
    /// The task, whose text is the variable `task`.
    pub task: Option<String>,
    /// Untrusted texts, which are appended in fences.
    pub sections: Vec<Section>,
    /// The ids of the events that a decider gets. Others wait for its next session.
    pub events: Vec<String>,
}

/// An untrusted text that belongs to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What the text is, for the fence.
    pub what: String,
    /// The text.
    pub text: String,
}

impl Brief {
    fn set_variable(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    fn attach_file(&mut self, title: impl Into<String>, what: impl Into<String>, text: String) {
        if !text.trim().is_empty() {
            self.sections.push(Section {
                title: title.into(),
                what: what.into(),
                text,
            });
        }
    }
}

/// The sources of a brief.
struct BriefBuilder<'a> {
    layout: Layout,
    ledger: &'a Tree,
    exchange: Option<&'a Exchange>,
    name: &'a str,
    stream: Stream,
}

impl Catalogue {
    /// The brief of a session. `ledger`: the files of the branch `jules`. `exchange`: the exchange in them, if there is
    /// one. `stream`: the workstream, or [`FLAT_STREAM`](crate::exchange::FLAT_STREAM) in the flat layout.
    ///
    /// # Errors
    ///
    /// The role or the work item does not exist.
    pub fn brief(
        &self,
        repository: &RepositoryName,
        ledger: &Tree,
        exchange: Option<&Exchange>,
        stream: &str,
        job: Job<'_>,
    ) -> Result<Brief, Diagnostic> {
        let found = exchange.and_then(|exchange| exchange.streams.get(stream));
        let builder = BriefBuilder {
            layout: self.layout,
            ledger,
            exchange,
            name: stream,
            stream: found.cloned().unwrap_or_else(|| Stream {
                home: self.layout.stream_folder(ledger, stream),
                workstations: self.layout.workstations_folder(stream),
                ..Stream::default()
            }),
        };
        let mut brief = Brief {
            layer: job.layer(),
            variables: BTreeMap::new(),
            task: None,
            sections: Vec::new(),
            events: Vec::new(),
        };
        builder.add_paths(&mut brief);
        brief.set_variable("repository", repository.to_string());
        match job {
            Job::Narrator { commits } => builder.brief_narrator(&mut brief, commits),
            Job::Observer(role) => {
                self.check_role("observers", role)?;
                builder.brief_observer(&mut brief, role);
            }
            Job::Decider => builder.brief_decider(&mut brief, &Labels::read_labels(self.tree()).0),
            Job::Planner(item) => builder.brief_planner(&mut brief, item)?,
            Job::Implementer(label, item) => {
                brief.task = Some(label.to_owned());
                builder.brief_implementer(&mut brief, item)?;
            }
            Job::Approved(label, item) => {
                brief.task = Some(label.to_owned());
                builder.check_approved(&mut brief, item)?;
            }
            Job::Innovator(role) => {
                self.check_role("innovators", role)?;
                builder.brief_innovator(&mut brief, role);
            }
            Job::Integrator { pulls, target } => {
                brief.set_variable("target_branch", clean_line(target));
                brief.set_variable(
                    "candidate_branches",
                    "They stand at the end of this prompt.",
                );
                let text = digest::digest_pulls(pulls);
                brief.attach_file(
                    "The pull requests to put together",
                    "a list of pull requests",
                    text,
                );
            }
        }
        Ok(brief)
    }

    fn check_role(&self, layer: &str, role: &str) -> Result<(), Diagnostic> {
        if self.role(layer, role).is_some() {
            return Ok(());
        }
        let names = self.roles().iter().filter(|one| one.layer == layer);
        let help = match closest(role, names.map(|one| one.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                format!("write it (`phileas role create {layer} NAME`), or take it off the roster")
            }
        };
        let shown = role.escape_debug().to_string();
        if !is_role_name(role) {
            return Err(
                Diagnostic::error(USUAL_ROLES, format!("`{shown}` cannot be a role"))
                    .help("a role has letters, digits, `-` and `_`"),
            );
        }
        let path = usual_role(layer, &shown);
        Err(Diagnostic::error(path, format!("the layer `{layer}` has no such role")).help(help))
    }
}

impl BriefBuilder<'_> {
    /// Adds the paths of folders and files.
    fn add_paths(&self, brief: &mut Brief) {
        let home = &self.stream.home;
        brief.set_variable("workstream", self.name);
        brief.set_variable("changes_path", self.layout.changes_path());
        brief.set_variable("changes_schema", super::texts::changes_schema(self.layout));
        brief.set_variable(
            "pending_folder",
            format!("{home}/events/{}", EventState::Pending.folder_name()),
        );
        brief.set_variable("feedback_folder", format!("{home}/feedback"));
        brief.set_variable("proposals_folder", format!("{home}/proposals"));
        let items = match self.layout {
            Layout::Flat => "requirements",
            Layout::Workstreams => "issues/LABEL",
        };
        brief.set_variable("items_folder", format!("{home}/{items}"));
    }

    fn brief_narrator(&self, brief: &mut Brief, commits: Option<&str>) {
        let changes = self.exchange.and_then(|exchange| exchange.changes.as_ref());
        let changes = changes.map(|filed| &filed.value);
        let at: Option<Timestamp> = changes.and_then(|changes| changes.created_at.parse().ok());
        let (mode, range) = match at {
            None => (
                "bootstrap",
                "There is no summary yet: with the last twenty commits.".to_owned(),
            ),
            Some(at) => {
                let commit = changes.and_then(|changes| changes.to_commit.as_deref());
                let commit = commit
                    .filter(|sha| sha.len() >= 7 && sha.bytes().all(|b| b.is_ascii_hexdigit()));
                let after = commit.map(|sha| format!(", after the commit {sha}"));
                (
                    "overwrite",
                    format!("With what came since {at}{}.", after.unwrap_or_default()),
                )
            }
        };
        brief.task = Some(format!("{mode}_summary"));
        brief.set_variable("run_mode", mode);
        brief.set_variable("range_description", range);
        let told = match commits {
            Some(_) => "They stand at the end of this prompt.",
            None => "They are not given: list them yourself.",
        };
        brief.set_variable("commits_since_cursor", told);
        if let Some(commits) = commits {
            brief.attach_file(
                "The commits since then",
                "a list of commits",
                truncate_text(commits, COMMITS_LIMIT_BYTES),
            );
        }
    }

    fn brief_observer(&self, brief: &mut Brief, role: &str) {
        self.brief_role(brief, role);
        self.under_way(brief);
        let pending = digest::digest_pending(&self.stream);
        brief.attach_file(
            "Events that wait to be decided",
            "a list of events",
            pending,
        );
    }

    fn brief_innovator(&self, brief: &mut Brief, role: &str) {
        self.brief_role(brief, role);
        brief.task = Some(PROPOSE.to_owned());
        brief.set_variable("proposal_prefix", crate::exchange::proposal_prefix(role));
        self.under_way(brief);
        let proposals = digest::digest_proposals(&self.stream);
        brief.attach_file(
            "Proposals that are not issues yet",
            "a list of proposals",
            proposals,
        );
    }

    fn brief_role(&self, brief: &mut Brief, role: &str) {
        brief.set_variable("role", role);
        brief.set_variable(
            "memory_path",
            format!("{}/{role}/perspective.yml", self.stream.workstations),
        );
    }

    fn under_way(&self, brief: &mut Brief) {
        let items = digest::digest_items(&self.stream);
        brief.attach_file("Work that is under way", "a list of work items", items);
    }

    /// Adds the oldest events first, as many as fit, and the existing work items, as many as fit.
    fn brief_decider(&self, brief: &mut Brief, labels: &Labels) {
        let names: Vec<&str> = labels.iter().collect();
        brief.set_variable("labels", format!("`{}`", names.join("`, `")));
        let mut left = TRIAGE_LIMIT_BYTES;
        let mut events: Vec<_> = self
            .stream
            .events_in(EventState::Pending)
            .filter(|event| event.sound)
            .collect();
        events.sort_by(|a, b| (&a.value.created_at, &a.path).cmp(&(&b.value.created_at, &b.path)));
        let mut sections = Vec::new();
        for event in &events {
            let Some(text) = self.ledger.text(&event.path) else {
                continue;
            };
            // One event is always included, however long it is.
            let fits = text.len() <= left.saturating_sub(TRIAGE_ITEMS_BYTES) || sections.is_empty();
            if !fits || sections.len() >= TRIAGE_EVENTS {
                break;
            }
            left = left.saturating_sub(text.len());
            brief.events.push(event.value.id.clone());
            sections.push((
                format!("Event {}", event.value.id),
                event.path.clone(),
                text.to_owned(),
            ));
        }
        let waiting = events.len() - sections.len();
        let mut listed = self.stream.clone();
        listed.items.clear();
        let mut whole = Vec::new();
        let mut room = left.min(TRIAGE_ITEMS_BYTES);
        for item in &self.stream.items {
            match self.ledger.text(&item.path) {
                Some(text) if text.len() <= room => {
                    room -= text.len();
                    whole.push((
                        format!("Work item {}", item.value.id),
                        item.path.clone(),
                        text.to_owned(),
                    ));
                }
                _ => listed.items.push(item.clone()),
            }
        }
        for (title, path, text) in sections.into_iter().chain(whole) {
            brief.attach_file(title, format!("the file {path}"), text);
        }
        let more = digest::digest_items(&listed);
        brief.attach_file("Further work that is there", "a list of work items", more);
        if waiting > 0 {
            let text =
                format!("{waiting} more events wait for the next session; leave them alone.");
            brief.attach_file("Events that are not shown", "a count", text);
        }
    }

    fn brief_planner(&self, brief: &mut Brief, item: Option<&str>) -> Result<(), Diagnostic> {
        let path = item.map_or_else(
            || format!("{}/NAME.yml", brief.variables["items_folder"]),
            clean_line,
        );
        brief.set_variable("item_path", path);
        if let Some(item) = item {
            let filed = self.find_item(item)?;
            self.attach_whole(brief, "The work item", &filed.path);
            let (findings, _) = self.item_findings(filed, FINDINGS_LIMIT_BYTES);
            brief.sections.extend(findings);
        }
        Ok(())
    }

    fn brief_implementer(&self, brief: &mut Brief, item: Option<&str>) -> Result<(), Diagnostic> {
        if let Some(item) = item {
            let filed = self.find_item(item)?;
            self.attach_whole(brief, "The requirement", &filed.path);
            let (findings, left_out) = self.item_findings(filed, FINDINGS_LIMIT_BYTES);
            brief.sections.extend(findings);
            if left_out > 0 {
                let text = format!("{left_out} more findings say the same and are left out here.");
                brief.attach_file("Findings that are not shown", "a count", text);
            }
        }
        Ok(())
    }

    fn check_approved(&self, brief: &mut Brief, item: &str) -> Result<(), Diagnostic> {
        let text = issue_text(&self.stream, self.find_item(item)?)?;
        let what = format!("the file {item} and its findings, as a person let them through");
        brief.attach_file("The requirement", what, text);
        Ok(())
    }

    fn attach_whole(&self, brief: &mut Brief, title: &str, path: &str) {
        let text = self.ledger.text(path).unwrap_or_default().to_owned();
        brief.attach_file(title, format!("the file {path}"), text);
    }

    fn find_item(&self, path: &str) -> Result<&Filed<WorkItem>, Diagnostic> {
        self.stream.find_item(path).ok_or_else(|| {
            let shown = path.escape_debug().to_string();
            Diagnostic::error(shown, "there is no such work item in this stream")
                .help("name one that `phileas exchange inspect` lists")
        })
    }

    /// The events that an item covers, as many as fit, and how many were left out.
    fn item_findings(&self, item: &Filed<WorkItem>, mut room: usize) -> (Vec<Section>, usize) {
        let (mut sections, mut left_out) = (Vec::new(), 0);
        for id in &item.value.source_events {
            for event in self.stream.events_of(id) {
                match self.ledger.text(&event.path) {
                    Some(text) if text.len() <= room => {
                        room -= text.len();
                        sections.push(Section {
                            title: format!("Finding {id}"),
                            what: format!("the file {}", event.path),
                            text: text.to_owned(),
                        });
                    }
                    _ => left_out += 1,
                }
            }
        }
        (sections, left_out)
    }
}

/// The first lines of a text that fit.
fn truncate_text(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text[..end]
        .rfind('\n')
        .map_or(&text[..end], |at| &text[..at]);
    let more = text[kept.len()..]
        .lines()
        .filter(|line| !line.trim().is_empty())
        .count();
    format!("{kept}\nand {more} more")
}
