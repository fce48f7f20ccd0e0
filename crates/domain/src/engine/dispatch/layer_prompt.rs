//! What the session of a layer's slot is told.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidate::Candidate;
use super::session_text::{Words, no_prompt};
use crate::engine::input::pull::PullState;
use crate::engine::lookup::in_progress::candidates;
use crate::engine::lookup::layer_members::cast;
use crate::engine::lookup::slot::{Seat, stream};
use crate::engine::lookup::{exchange_view, new_commits, request_origin, reviewer_remarks};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::exchange::{Exchange, Filed, WorkItem, offered};
use crate::layers::{Brief, Job, Section};
use crate::model::{TrackName, Tree};
use crate::prompt::{self, OpenPull, RenderError, RenderRequest, SourceFiles, TITLE_LIMIT_CHARS};

/// What the session of a slot is told. The exchange and the files of layers must have been read.
///
/// # Errors
///
/// Why it cannot be told anything: its template is broken, or what it was to work on is gone.
pub(crate) fn speak(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    seat: &Seat,
) -> Result<Words, (Reason, String)> {
    let picture = exchange_view::picture(draft);
    let (ledger, exchange) = (&picture.tree, picture.exchange.as_ref());
    let item = item(exchange, seat)?;
    let is_let_through = request_origin::lets_through(draft, &candidate.track);
    let cast = cast(draft);
    if let Some(why) = cast.holds(seat) {
        return Err(why);
    }
    let catalogue = &cast.catalogue;
    let stream = stream(exchange, seat);
    let commits = commits(draft, seat);
    let pulls = pulls(draft, seat);
    let mut beside = match seat {
        Seat::Integrator => reviewer_remarks::of_candidates(draft),
        _ => Vec::new(),
    };
    beside.extend(shown_by(draft, seat));
    let path = item.as_ref().map(|item| item.path.as_str());
    let target = draft.snapshot.repository.default_branch.to_string();
    let job = match seat {
        Seat::Narrator => Job::Narrator {
            commits: commits.as_deref(),
        },
        Seat::Observer { role, .. } => Job::Observer(role),
        Seat::Decider { .. } => Job::Decider,
        Seat::Planner { .. } => Job::Planner(path),
        Seat::Implementer { .. } => {
            let label = item.as_ref().map_or("", |item| item.value.label.as_str());
            match path.filter(|_| is_let_through) {
                Some(path) => Job::Approved(label, path),
                None => Job::Implementer(label, path),
            }
        }
        Seat::Innovator { role } => Job::Innovator(role),
        Seat::Integrator => Job::Integrator {
            pulls: &pulls,
            target: &target,
        },
    };
    let repository = &draft.snapshot.repository.name;
    let made = catalogue
        .brief(repository, ledger, exchange, &stream, job)
        .map_err(RenderError::from)
        .and_then(|mut brief| {
            brief.sections.append(&mut beside);
            // Why an item came back stands in it, so that a person has read it; what else there is to say was read by
            // nobody.
            brief
                .sections
                .extend(last_note(draft, seat).filter(|_| !is_let_through));
            // A template of the repository may put in files of the ledger, which that person was not shown either.
            let ledger = if is_let_through { &Tree::new() } else { ledger };
            // The attempt's number is not drawn yet; track, slot and commit are this prompt's alone.
            let about = format!("{} {}", candidate.track, candidate.work.slot);
            // A request that changes with every second would never find its answer.
            let now = minute(draft.now());
            let entropy = draft.snapshot.entropy;
            let files = SourceFiles::of_default_branch(catalogue.tree());
            let files = (&files, &SourceFiles::of_ledger(ledger));
            let request = RenderRequest::brief(&brief, files, (&about, now), &entropy);
            let made = draft.rendered(request).into_layer()?;
            Ok((brief, made))
        });
    match made {
        Ok((brief, made)) => Ok(Words {
            title: title(seat, item.as_ref(), &candidate.track),
            prompt: made.prompt,
            open_pull: seat.opens_pull(),
            // Without the ledger nobody knows which memories are there.
            seeds: made
                .seeds
                .into_iter()
                .filter(|_| !is_let_through)
                .map(|seed| (seed.to, Some(seed.text)))
                .collect(),
            given: given(exchange, ledger, seat, &brief),
        }),
        Err(error) => Err(no_prompt(draft, error)),
    }
}

/// The minute that an instant is in.
fn minute(now: Timestamp) -> Timestamp {
    let second = now.as_second();
    Timestamp::from_second(second - second.rem_euclid(60)).unwrap_or(now)
}

/// The work item that a seat is about. That it is gone is a reason not to start.
fn item(
    exchange: Option<&Exchange>,
    seat: &Seat,
) -> Result<Option<Filed<WorkItem>>, (Reason, String)> {
    let Some(id) = seat.item() else {
        return Ok(None);
    };
    let stream = exchange.and_then(|exchange| exchange.streams.get(seat.stream()));
    let found = stream
        .and_then(|stream| exchange_view::item(stream, id))
        .cloned();
    let gone = || (Reason::LayerEmpty, format!("the work item `{id}` is gone"));
    found.map(Some).ok_or_else(gone)
}

/// The commits that a summary is about, a line each.
fn commits(draft: &Draft<'_>, seat: &Seat) -> Option<String> {
    let commits = new_commits::commits(draft).filter(|_| *seat == Seat::Narrator)?;
    let mut lines: Vec<String> = commits
        .newest
        .iter()
        .map(|one| {
            let at = one.at.map(|at| at.to_string()).unwrap_or_default();
            format!("{} {at} {}", one.oid, prompt::clean_line(&one.subject))
        })
        .collect();
    let more = commits.total.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} before these"));
    }
    Some(lines.join("\n"))
}

/// The pull requests that an integrator puts together.
fn pulls(draft: &Draft<'_>, seat: &Seat) -> Vec<OpenPull> {
    if *seat != Seat::Integrator {
        return Vec::new();
    }
    let pulls = candidates(draft).into_iter();
    let pulls = pulls.filter_map(|number| draft.snapshot.pulls.get(&number));
    let open = pulls.filter(|pull| pull.state == PullState::Open);
    open.map(|pull| OpenPull {
        number: pull.number,
        title: pull.title.clone(),
        author: pull.author.to_string(),
        head: pull.head.to_string(),
        draft: pull.draft,
    })
    .collect()
}

/// `<emoji> <slot>: <track>`, and for a work item its file's name.
fn title(seat: &Seat, item: Option<&Filed<WorkItem>>, track: &TrackName) -> String {
    let emoji = match seat {
        Seat::Narrator => "📰",
        Seat::Observer { .. } => "🔭",
        Seat::Decider { .. } => "🧮",
        Seat::Planner { .. } => "🧭",
        Seat::Implementer { .. } => "🔨",
        Seat::Innovator { .. } => "💡",
        Seat::Integrator => "🧵",
    };
    let item = item
        .map(|item| format!(" {}", item.stem()))
        .unwrap_or_default();
    let line = prompt::clean_line(&format!("{emoji} {}{item}: {track}", seat.slot()));
    line.chars().take(TITLE_LIMIT_CHARS).collect()
}

/// The digests of the work items that a session is given whole, where it may write them.
fn given(
    exchange: Option<&Exchange>,
    ledger: &Tree,
    seat: &Seat,
    brief: &Brief,
) -> BTreeMap<String, String> {
    if !matches!(seat, Seat::Decider { .. } | Seat::Planner { .. }) {
        return BTreeMap::new();
    }
    let Some(stream) = exchange.and_then(|exchange| exchange.streams.get(seat.stream())) else {
        return BTreeMap::new();
    };
    let shown = |path: &str| {
        let what = format!("the file {path}");
        brief.sections.iter().any(|section| section.what == what)
    };
    let mut given = exchange_view::given(stream, ledger);
    given.retain(|path, _| shown(path));
    given
}

/// The issue that shows a work item to people.
fn shown_by(draft: &Draft<'_>, seat: &Seat) -> Option<Section> {
    let slot = seat.slot();
    let mut published = draft.state.published.iter();
    let of_item = |key: &str| offered(key).is_some_and(|(one, _)| one == slot.as_str());
    let (_, number) = published.find(|(key, number)| **number != 0 && of_item(key))?;
    Some(Section {
        title: "The issue that shows it to people".to_owned(),
        what: "the number of an issue".to_owned(),
        text: format!("#{number}: name it in the text of the pull request."),
    })
}

/// What was not taken of the last session's work.
fn last_note(draft: &Draft<'_>, seat: &Seat) -> Option<Section> {
    let (slot, persona) = (seat.slot(), seat.persona());
    let mut entries = draft.state.history.values().rev();
    let last = entries.find(|entry| {
        entry.persona_id == persona
            && entry.outcome.is_some()
            && (seat.item().is_none() || entry.slot.as_ref() == Some(&slot))
    })?;
    Some(Section {
        title: "What phileas found wrong with your last session's work".to_owned(),
        what: "findings, with paths and words of that session".to_owned(),
        text: last.note.clone()?,
    })
}
