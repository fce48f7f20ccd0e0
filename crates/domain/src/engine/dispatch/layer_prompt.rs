//! Builds the prompt of a layer's session.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidate::Candidate;
use super::session_text::{SessionText, report_missing_prompt};
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::lookup::in_progress::open_implementer_pulls;
use crate::engine::lookup::layer_members::layer_members;
use crate::engine::lookup::slot::{SlotRole, resolve_stream};
use crate::engine::lookup::{exchange_view, new_commits, request_origin, reviewer_remarks};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::exchange::{Exchange, Filed, WorkItem, split_issue_key};
use crate::layers::{Brief, Job, Section};
use crate::model::{TrackName, Tree};
use crate::prompt::{
    self, Assembled, OpenPull, RenderError, RenderRequest, SourceFiles, TITLE_LIMIT_CHARS,
};

/// Builds the text of a slot's session. The exchange and the files of layers must have been read.
///
/// # Errors
///
/// Why there is no text: its template is broken, or its work item is gone.
pub(crate) fn build_layer_prompt(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
    slot_role: &SlotRole,
) -> Result<SessionText, (Reason, String)> {
    let view = exchange_view::current_view(builder);
    let (ledger, exchange) = (&view.tree, view.exchange.as_ref());
    let item = find_work_item(exchange, slot_role)?;
    let is_let_through = request_origin::is_approved_work_item(builder, &candidate.track);
    let members = layer_members(builder);
    if let Some(why) = members.hold_reason(slot_role) {
        return Err(why);
    }
    let catalogue = &members.catalogue;
    let stream = resolve_stream(exchange, slot_role);
    let commits = commit_lines(builder, slot_role);
    let pulls = implementer_pulls(builder, slot_role);
    let target = builder.snapshot.repository.default_branch.to_string();
    let job = match slot_role {
        SlotRole::Narrator => Job::Narrator {
            commits: commits.as_deref(),
        },
        SlotRole::Observer { role, .. } => Job::Observer(role),
        SlotRole::Decider { .. } => Job::Decider,
        SlotRole::Planner { .. } => Job::Planner(item.as_ref().map(|item| item.path.as_str())),
        SlotRole::Implementer { .. } => implementer_job(item.as_ref(), is_let_through),
        SlotRole::Innovator { role } => Job::Innovator(role),
        SlotRole::Integrator => Job::Integrator {
            pulls: &pulls,
            target: &target,
        },
    };
    let added = added_sections(builder, slot_role, is_let_through);
    let repository = &builder.snapshot.repository.name;
    let made = catalogue
        .brief(repository, ledger, exchange, &stream, job)
        .map_err(RenderError::from)
        .and_then(|mut brief| {
            brief.sections.extend(added);
            // A template may include ledger files, which the approving person has not seen.
            let ledger = if is_let_through { &Tree::new() } else { ledger };
            let made = render_brief(builder, candidate, &brief, catalogue.tree(), ledger)?;
            Ok((brief, made))
        });
    let (brief, made) = made.map_err(|error| report_missing_prompt(builder, error))?;
    Ok(SessionText {
        title: session_title(slot_role, item.as_ref(), &candidate.track),
        prompt: made.prompt,
        open_pull: slot_role.opens_pull(),
        // Without the ledger, existing memory files are unknown.
        seeds: made
            .seeds
            .into_iter()
            .filter(|_| !is_let_through)
            .map(|seed| (seed.to, Some(seed.text)))
            .collect(),
        item_digests: input_digests(exchange, ledger, slot_role, &brief),
    })
}

/// The job of an implementer, with the item's label.
fn implementer_job(item: Option<&Filed<WorkItem>>, is_let_through: bool) -> Job<'_> {
    let label = item.map_or("", |item| item.value.label.as_str());
    match item.map(|item| item.path.as_str()) {
        Some(path) if is_let_through => Job::Approved(label, path),
        path => Job::Implementer(label, path),
    }
}

/// The sections that follow those of the layer.
fn added_sections(
    builder: &mut DecisionBuilder<'_>,
    slot_role: &SlotRole,
    is_let_through: bool,
) -> Vec<Section> {
    let mut sections = match slot_role {
        SlotRole::Integrator => reviewer_remarks::candidate_sections(builder),
        _ => Vec::new(),
    };
    sections.extend(issue_section(builder, slot_role));
    // An approved item's issue shows why it came back; nothing else was approved.
    sections.extend(last_note_section(builder, slot_role).filter(|_| !is_let_through));
    sections
}

fn render_brief(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
    brief: &Brief,
    tree: &Tree,
    ledger: &Tree,
) -> Result<Assembled, RenderError> {
    // The attempt's number is not known yet; track, slot and commit identify this prompt.
    let about = format!("{} {}", candidate.track, candidate.work.slot);
    // A request that changes every second would never match its answer.
    let now = start_of_minute(builder.now());
    let files = SourceFiles::of_default_branch(tree);
    let files = (&files, &SourceFiles::of_ledger(ledger));
    let request = RenderRequest::for_brief(brief, files, (&about, now), &builder.snapshot.entropy);
    builder.render_prompt(request).into_layer()
}

/// The start of an instant's minute.
fn start_of_minute(now: Timestamp) -> Timestamp {
    let second = now.as_second();
    Timestamp::from_second(second - second.rem_euclid(60)).unwrap_or(now)
}

/// The work item of a role. If it is gone, the session does not start.
fn find_work_item(
    exchange: Option<&Exchange>,
    slot_role: &SlotRole,
) -> Result<Option<Filed<WorkItem>>, (Reason, String)> {
    let Some(id) = slot_role.item_id() else {
        return Ok(None);
    };
    let stream = exchange.and_then(|exchange| exchange.streams.get(slot_role.stream_name()));
    let found = stream
        .and_then(|stream| exchange_view::find_item(stream, id))
        .cloned();
    let gone = || (Reason::LayerEmpty, format!("the work item `{id}` is gone"));
    found.map(Some).ok_or_else(gone)
}

/// The commits to summarize, one line each.
fn commit_lines(builder: &DecisionBuilder<'_>, slot_role: &SlotRole) -> Option<String> {
    let commits =
        new_commits::unsummarized_commits(builder).filter(|_| *slot_role == SlotRole::Narrator)?;
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

/// The pull requests that an integrator combines.
fn implementer_pulls(builder: &DecisionBuilder<'_>, slot_role: &SlotRole) -> Vec<OpenPull> {
    if *slot_role != SlotRole::Integrator {
        return Vec::new();
    }
    let pulls = open_implementer_pulls(builder).into_iter();
    let pulls = pulls.filter_map(|number| builder.snapshot.pulls.get(&number));
    let open = pulls.filter(|pull| pull.state == PullState::Open);
    open.map(Pull::to_prompt).collect()
}

/// `<emoji> <slot>: <track>`, and for a work item its file's name.
fn session_title(
    slot_role: &SlotRole,
    item: Option<&Filed<WorkItem>>,
    track: &TrackName,
) -> String {
    let emoji = match slot_role {
        SlotRole::Narrator => "📰",
        SlotRole::Observer { .. } => "🔭",
        SlotRole::Decider { .. } => "🧮",
        SlotRole::Planner { .. } => "🧭",
        SlotRole::Implementer { .. } => "🔨",
        SlotRole::Innovator { .. } => "💡",
        SlotRole::Integrator => "🧵",
    };
    let item = item
        .map(|item| format!(" {}", item.file_stem()))
        .unwrap_or_default();
    let line = prompt::clean_line(&format!("{emoji} {}{item}: {track}", slot_role.to_slot()));
    line.chars().take(TITLE_LIMIT_CHARS).collect()
}

/// The digests of the work items in a session's prompt, where it may write them.
fn input_digests(
    exchange: Option<&Exchange>,
    ledger: &Tree,
    slot_role: &SlotRole,
    brief: &Brief,
) -> BTreeMap<String, String> {
    if !matches!(
        slot_role,
        SlotRole::Decider { .. } | SlotRole::Planner { .. }
    ) {
        return BTreeMap::new();
    }
    let Some(stream) = exchange.and_then(|exchange| exchange.streams.get(slot_role.stream_name()))
    else {
        return BTreeMap::new();
    };
    let shown = |path: &str| {
        let what = format!("the file {path}");
        brief.sections.iter().any(|section| section.what == what)
    };
    let mut given = exchange_view::item_digests(stream, ledger);
    given.retain(|path, _| shown(path));
    given
}

/// The section that names a work item's issue.
fn issue_section(builder: &DecisionBuilder<'_>, slot_role: &SlotRole) -> Option<Section> {
    let slot = slot_role.to_slot();
    let mut published = builder.state.published.iter();
    let of_item = |key: &str| split_issue_key(key).is_some_and(|(one, _)| one == slot.as_str());
    let (_, number) = published.find(|(key, number)| **number != 0 && of_item(key))?;
    Some(Section {
        title: "The issue that shows it to people".to_owned(),
        what: "the number of an issue".to_owned(),
        text: format!("#{number}: name it in the text of the pull request."),
    })
}

/// The section with the import diagnostics of the role's last session.
fn last_note_section(builder: &DecisionBuilder<'_>, slot_role: &SlotRole) -> Option<Section> {
    let (slot, persona) = (slot_role.to_slot(), slot_role.persona_id());
    let mut entries = builder.state.history.values().rev();
    let last = entries.find(|entry| {
        entry.persona_id == persona
            && entry.outcome.is_some()
            && (slot_role.item_id().is_none() || entry.slot.as_ref() == Some(&slot))
    })?;
    Some(Section {
        title: "What phileas found wrong with your last session's work".to_owned(),
        what: "findings, with paths and words of that session".to_owned(),
        text: last.note.clone()?,
    })
}
