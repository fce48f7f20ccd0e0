//! What the session of a layer's slot is told.

use std::collections::BTreeMap;

use super::super::dispatch::Words;
use super::super::draft::Draft;
use super::super::start::Candidate;
use super::super::{PullState, Reason};
use super::due::candidates;
use super::narrated;
use super::picture;
use super::seat::Seat;
use crate::exchange::{self, EventState, Exchange, Filed, Layout, Stream, WorkItem};
use crate::model::{TrackName, Tree};
use crate::prompt::{
    self, Assembled, Assembly, Attached, MARKER_ROOM_BYTES, PROMPT_LIMIT_BYTES, TITLE_LIMIT_CHARS,
};

/// What the fence around one quoted text takes, at the most.
const FENCE_ROOM_BYTES: usize = 1024;

/// A text of others that a prompt quotes at its end.
struct Quoted {
    title: String,
    what: String,
    text: String,
}

/// What the session of a slot is told. The exchange and the files of layers must have been read.
///
/// # Errors
///
/// Why it cannot be told anything: its template is broken, or what it was to work on is gone.
pub(in crate::engine) fn speak(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    seat: &Seat,
) -> Result<Words, (Reason, String)> {
    let tree = draft.snapshot.tree.clone();
    let ledger = picture::tree(draft);
    let scene = Scene::new(draft, &ledger, seat)?;
    let variables = scene.variables();
    let (must, may) = scene.quoted(draft, &candidate.track);
    let task = scene.task(draft);
    let assembled = {
        let request = |attached: &[Attached<'_>]| {
            prompt::assemble(&Assembly {
                layer: seat.layer(),
                tree: &tree,
                ledger: &ledger,
                variables: &variables,
                task: task.as_deref(),
                attached,
                entropy: &draft.snapshot.entropy,
            })
        };
        // As much of the rest as has room beside the template's own sections and what must be there.
        request(&[]).and_then(|bare| {
            let room = PROMPT_LIMIT_BYTES - MARKER_ROOM_BYTES;
            let mut left = room.saturating_sub(bare.prompt.len());
            let mut quoted: Vec<&Quoted> = must.iter().collect();
            for one in &quoted {
                left = left.saturating_sub(size(one));
            }
            for one in &may {
                let Some(rest) = left.checked_sub(size(one)) else {
                    break;
                };
                left = rest;
                quoted.push(one);
            }
            let attached: Vec<Attached<'_>> = quoted.into_iter().map(Quoted::attached).collect();
            request(&attached)
        })
    };
    match assembled {
        Ok(Assembled { prompt, .. }) => Ok(Words {
            title: scene.title(&candidate.track),
            prompt,
            open_pull: seat.opens_pull(),
            seeds: BTreeMap::new(),
        }),
        Err(wrong) => {
            let text = wrong.to_string();
            draft.diagnose(vec![wrong]);
            Err((Reason::PromptInvalid, text))
        }
    }
}

fn size(one: &Quoted) -> usize {
    one.title.len() + one.what.len() + one.text.len() + FENCE_ROOM_BYTES
}

impl Quoted {
    fn attached(&self) -> Attached<'_> {
        Attached {
            title: &self.title,
            what: &self.what,
            text: &self.text,
        }
    }

    fn file(title: &str, path: &str, tree: &Tree) -> Option<Self> {
        Some(Self {
            title: title.to_owned(),
            what: format!("the file {path}"),
            text: tree.text(path)?.to_owned(),
        })
    }

    fn list(title: &str, what: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self {
            title: title.to_owned(),
            what: what.to_owned(),
            text: lines.join("\n"),
        })
    }
}

/// Everything that a slot's prompt is about.
struct Scene<'a> {
    seat: &'a Seat,
    ledger: &'a Tree,
    layout: Layout,
    exchange: Option<Exchange>,
    stream: Stream,
    item: Option<Filed<WorkItem>>,
    target: String,
    commits: Option<String>,
    since: Option<String>,
}

impl<'a> Scene<'a> {
    fn new(draft: &Draft<'_>, ledger: &'a Tree, seat: &'a Seat) -> Result<Self, (Reason, String)> {
        let exchange = picture::exchange(draft);
        let layout = exchange
            .as_ref()
            .map_or(Layout::Flat, |exchange| exchange.layout);
        let name = seat.stream();
        let known = exchange
            .as_ref()
            .and_then(|exchange| exchange.streams.get(name));
        let stream = known.cloned().unwrap_or_else(|| Stream {
            home: layout.home(ledger, name),
            workstations: layout.workstations(name),
            ..Stream::default()
        });
        let item = match seat.item() {
            Some(id) => {
                let found = picture::item(&stream, id).cloned();
                let gone = || (Reason::LayerEmpty, format!("the work item `{id}` is gone"));
                Some(found.ok_or_else(gone)?)
            }
            None => None,
        };
        let commits = narrated::commits(draft).filter(|_| *seat == Seat::Narrator);
        let since = commits.and_then(|commits| {
            let after = commits.span.after.as_ref().filter(|_| commits.whole)?;
            let told = exchange
                .as_ref()
                .and_then(|one| Some(&one.changes.as_ref()?.value));
            let at = told.map(|told| told.created_at.clone()).unwrap_or_default();
            Some(format!("after commit {after} ({at})"))
        });
        let commits = commits.map(|commits| {
            let lines = commits.newest.iter().map(|one| {
                let at = one.at.map(|at| at.to_string()).unwrap_or_default();
                format!("{} {at} {}", one.oid, one.subject)
            });
            let lines: Vec<String> = lines.collect();
            format!(
                "{} of {} commits, the newest first:\n{}",
                lines.len(),
                commits.total,
                lines.join("\n")
            )
        });
        Ok(Self {
            seat,
            ledger,
            layout,
            exchange,
            stream,
            item,
            target: draft.snapshot.repository.default_branch.to_string(),
            commits,
            since,
        })
    }

    /// `<emoji> <slot>: <track>`, and for a work item its file's name.
    fn title(&self, track: &TrackName) -> String {
        let emoji = match self.seat {
            Seat::Narrator => "📰",
            Seat::Observer { .. } => "🔭",
            Seat::Decider { .. } => "🧮",
            Seat::Planner { .. } => "🧭",
            Seat::Implementer { .. } => "🔨",
            Seat::Innovator { .. } => "💡",
            Seat::Integrator => "🧵",
        };
        let item = self
            .item
            .as_ref()
            .map(|item| format!(" {}", item.stem()))
            .unwrap_or_default();
        let title = format!("{emoji} {}{item}: {track}", self.seat.slot());
        let line = prompt::clean_line(&title);
        line.chars().take(TITLE_LIMIT_CHARS).collect()
    }

    /// The task whose text the template is given.
    fn task(&self, _draft: &Draft<'_>) -> Option<String> {
        match self.seat {
            Seat::Narrator if self.since.is_some() => Some("overwrite_summary".to_owned()),
            Seat::Narrator => Some("bootstrap_summary".to_owned()),
            Seat::Implementer { .. } => Some(self.item.as_ref()?.value.label.clone()),
            Seat::Innovator { .. } => Some("create_three_proposals".to_owned()),
            _ => None,
        }
    }

    /// What templates can name.
    fn variables(&self) -> BTreeMap<String, String> {
        let Stream {
            home, workstations, ..
        } = &self.stream;
        let role = self.seat.role().unwrap_or_default();
        let items = match self.layout {
            Layout::Flat => format!("{home}/requirements"),
            Layout::Workstreams => format!("{home}/issues/LABEL"),
        };
        let labels = self
            .exchange
            .as_ref()
            .map(|exchange| exchange.labels.clone());
        let labels = labels.unwrap_or_default();
        let list = |lines: Vec<String>| lines.join("\n");
        let mut all = BTreeMap::new();
        let mut put = |name: &str, value: String| {
            all.insert(name.to_owned(), value);
        };
        put("role", role.to_owned());
        put("workstream", self.seat.stream().to_owned());
        put(
            "memory_path",
            format!("{workstations}/{role}/perspective.yml"),
        );
        put("changes_path", self.layout.changes_path().to_owned());
        put("pending_folder", format!("{home}/events/pending"));
        put("items_folder", items);
        put("feedback_folder", format!("{home}/feedback"));
        put("proposals_folder", format!("{home}/proposals"));
        put("proposal_prefix", exchange::proposal_prefix(role));
        put(
            "labels",
            list(labels.iter().map(|name| format!("- {name}")).collect()),
        );
        let item = self.item.as_ref().map(|item| item.path.clone());
        put("item_path", item.unwrap_or_default());
        put("target_branch", self.target.clone());
        let range = self
            .since
            .clone()
            .unwrap_or_else(|| "the newest twenty commits".to_owned());
        put("range_description", range);
        let mode = if self.since.is_some() {
            "overwrite"
        } else {
            "bootstrap"
        };
        put("run_mode", mode.to_owned());
        put(
            "commits_since_cursor",
            self.commits.clone().unwrap_or_default(),
        );
        all
    }

    /// What must be quoted, and what may be as far as there is room.
    fn quoted(&self, draft: &Draft<'_>, track: &TrackName) -> (Vec<Quoted>, Vec<Quoted>) {
        let mut must: Vec<Quoted> = self.last_note(draft, track).into_iter().collect();
        let mut may = Vec::new();
        let stream = &self.stream;
        match self.seat {
            Seat::Narrator => must.extend(self.commits.as_ref().map(|text| Quoted {
                title: "Commits that the summary is about".to_owned(),
                what: "the subjects of commits".to_owned(),
                text: text.clone(),
            })),
            Seat::Observer { .. } | Seat::Innovator { .. } => {
                may.extend(self.known_work());
            }
            Seat::Decider { .. } => {
                let events = stream.events_in(EventState::Pending);
                let mut events: Vec<Quoted> = events
                    .filter_map(|event| {
                        Quoted::file("An event to decide on", &event.path, self.ledger)
                    })
                    .collect();
                // Without one there is nothing to decide. The work that is there comes before the other events, since
                // none of them may become a second item for the same.
                let rest = events.split_off(1.min(events.len()));
                must.extend(events);
                let items = stream.items.iter();
                may.extend(items.filter_map(|item| {
                    Quoted::file("Work that is there", &item.path, self.ledger)
                }));
                may.extend(rest);
            }
            Seat::Planner { .. } | Seat::Implementer { .. } => {
                if let Some(item) = &self.item {
                    must.extend(Quoted::file("The requirement", &item.path, self.ledger));
                    let events = item.value.source_events.iter();
                    let events = events.filter_map(|id| stream.events_of(id).next());
                    may.extend(events.filter_map(|event| {
                        Quoted::file("A finding that it was made of", &event.path, self.ledger)
                    }));
                }
            }
            Seat::Integrator => {
                let pulls = candidates(draft).into_iter();
                let pulls = pulls.filter_map(|number| draft.snapshot.pulls.get(&number));
                let open = pulls.filter(|pull| pull.state == PullState::Open);
                let lines =
                    open.map(|pull| format!("- #{} {} on {}", pull.number, pull.title, pull.head));
                must.extend(Quoted::list(
                    "Pull requests to integrate",
                    "numbers, titles and branches of pull requests",
                    lines.collect(),
                ));
            }
        }
        (must, may)
    }

    /// The work that is under way and the events that wait, by their titles.
    fn known_work(&self) -> Option<Quoted> {
        let items = self.stream.items.iter();
        let items =
            items.map(|item| format!("- work: {} ({})", item.value.title, item.value.label));
        let events = self.stream.events_in(EventState::Pending);
        let events = events.map(|event| format!("- waits to be decided: {}", event.value.title));
        Quoted::list(
            "What is known already",
            "titles of work under way and of events",
            items.chain(events).collect(),
        )
    }

    /// What was not taken of the last session's work.
    fn last_note(&self, draft: &Draft<'_>, _track: &TrackName) -> Option<Quoted> {
        let (slot, persona) = (self.seat.slot(), self.seat.persona());
        let mut entries = draft.state.history.values().rev();
        let last = entries.find(|entry| {
            entry.persona_id == persona
                && entry.outcome.is_some()
                && (self.seat.item().is_none() || entry.slot.as_ref() == Some(&slot))
        })?;
        let note = last.note.clone()?;
        Some(Quoted {
            title: "What phileas found wrong with your last session's work".to_owned(),
            what: "findings, with paths and words of that session".to_owned(),
            text: note,
        })
    }
}
