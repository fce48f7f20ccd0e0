//! Expands a layer's step into its slots, with a reason for each slot that does not start.

use super::candidate::SlotWork;
use super::eligibility::skip_reason;
use crate::engine::lookup::in_progress::{is_in_progress, open_implementer_pulls};
use crate::engine::lookup::layer_members::layer_members;
use crate::engine::lookup::new_commits::{self, NewCommits};
use crate::engine::lookup::slot::SlotRole;
use crate::engine::lookup::{exchange_view, usage, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::exchange_view::{LayerMembers, Member};
use crate::engine::output::limits::{ITEMS_AT_ONCE, ROLES_AT_ONCE};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{EventState, Exchange, Next, Routes};
use crate::model::TrackName;
use crate::plan::{LAYERS, Policy, StepKind, Track};

/// The result of expanding a layer's step.
pub(crate) enum FanOut {
    /// These slots are due.
    Ready(Vec<SlotWork>),
    /// There is nothing to do.
    Skip { reason: Reason, detail: String },
    /// An input is being read; the text names it.
    Unread(&'static str),
}

/// Expands a layer's step. `left_out` gets a line for each slot that could run and does not.
pub(crate) fn fan_out(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    index: usize,
    passes: u64,
    left_out: &mut Vec<Line>,
) -> FanOut {
    let skip = |reason, detail: &str| FanOut::Skip {
        reason,
        detail: detail.to_owned(),
    };
    let Some(step) = plan.steps.get(index) else {
        return skip(Reason::LayerEmpty, "there is no such step");
    };
    let name = match &step.kind {
        StepKind::Layer(name) if LAYERS.contains(&name.as_str()) => name.as_str(),
        StepKind::Layer(name) => {
            let detail = format!("there is no layer `{name}`");
            return skip(Reason::LayerUnavailable, &detail);
        }
        StepKind::Persona(_) => return skip(Reason::LayerEmpty, "the step is a persona's"),
    };
    if name == "narrator" {
        match new_commits::find_new_commits(builder) {
            NewCommits::Unread => return FanOut::Unread("the newest commits are being read"),
            NewCommits::None(reason, detail) => return FanOut::Skip { reason, detail },
            NewCommits::Some => {}
        }
    }
    if exchange_view::request_exchange(builder) {
        return FanOut::Unread("the exchange and the files of layers are being read");
    }
    let view = exchange_view::current_view(builder);
    let exchange = view.exchange.as_ref();
    let members = layer_members(builder);
    let slot_roles = match name {
        "narrator" => vec![SlotRole::Narrator],
        "observers" => {
            report_missing_streams(&members, "observers", &plan.name, left_out);
            observer_roles(&members, &plan.name, left_out)
        }
        "decider" => {
            report_missing_streams(&members, "deciders", &plan.name, left_out);
            decider_roles(exchange, &members)
        }
        "planner" => item_roles(builder, exchange, &members, Next::Planner),
        "implementer" => item_roles(builder, exchange, &members, Next::Implementer),
        "innovators" => innovator_roles(&members, &plan.name, left_out),
        _ => integrator_roles(builder),
    };
    if slot_roles.is_empty() {
        let detail = empty_text(builder, name, exchange, &members);
        return skip(Reason::LayerEmpty, &detail);
    }
    let work = eligible_work(
        builder,
        &plan.name,
        passes,
        &step.policy,
        slot_roles,
        left_out,
    );
    if work.is_empty() {
        // Each slot's own line says why.
        let reason = left_out
            .last()
            .map_or(Reason::LayerEmpty, |line| line.reason);
        let detail = format!("no role of layer `{name}` takes part this time");
        return skip(reason, &detail);
    }
    FanOut::Ready(work)
}

/// Reports each role whose workstream does not exist.
fn report_missing_streams(
    members: &LayerMembers,
    layer: &str,
    track: &TrackName,
    left_out: &mut Vec<Line>,
) {
    for one in members
        .without_stream
        .iter()
        .filter(|one| one.layer == layer)
    {
        let text = format!(
            "`{}`: {} names the workstream `{}`, which does not exist: make .jules/workstreams/{2}, or name another one",
            one.role, one.file, one.stream
        );
        let reason = Reason::PersonaInvalid;
        left_out.push(Line::about_track(track, Verdict::Skipped, reason, text));
    }
}

fn observer_roles(
    members: &LayerMembers,
    track: &TrackName,
    left_out: &mut Vec<Line>,
) -> Vec<SlotRole> {
    let mut slot_roles = Vec::new();
    for (stream, members) in &members.streams {
        for member in members {
            let (stream, role) = (stream.clone(), member.role.clone());
            let slot_role = SlotRole::Observer { stream, role };
            slot_roles.extend(role_if_enabled(slot_role, member, track, left_out));
        }
    }
    slot_roles.truncate(ROLES_AT_ONCE);
    slot_roles
}

fn innovator_roles(
    members: &LayerMembers,
    track: &TrackName,
    left_out: &mut Vec<Line>,
) -> Vec<SlotRole> {
    let mut slot_roles = Vec::new();
    for member in &members.innovators {
        let role = member.role.clone();
        slot_roles.extend(role_if_enabled(
            SlotRole::Innovator { role },
            member,
            track,
            left_out,
        ));
    }
    slot_roles.truncate(ROLES_AT_ONCE);
    slot_roles
}

fn role_if_enabled(
    slot_role: SlotRole,
    member: &Member,
    track: &TrackName,
    left_out: &mut Vec<Line>,
) -> Option<SlotRole> {
    let Some((reason, why)) = &member.hold_reason else {
        return Some(slot_role);
    };
    let text = format!("`{}`: {why}", member.role);
    let mut line = Line::about_track(track, Verdict::Skipped, *reason, text);
    line.slot = Some(slot_role.to_slot());
    left_out.push(line.with_persona(&slot_role.persona_id()));
    None
}

/// One decider for each stream with pending events.
fn decider_roles(exchange: Option<&Exchange>, members: &LayerMembers) -> Vec<SlotRole> {
    let streams = exchange.iter().flat_map(|exchange| &exchange.streams);
    let waiting = streams.filter(|(name, stream)| {
        members.streams.contains_key(*name)
            && stream.events_in(EventState::Pending).next().is_some()
    });
    waiting
        .map(|(name, _)| SlotRole::Decider {
            stream: name.clone(),
        })
        .take(ROLES_AT_ONCE)
        .collect()
}

/// Work items for this layer that are not in progress.
fn item_roles(
    builder: &DecisionBuilder<'_>,
    exchange: Option<&Exchange>,
    members: &LayerMembers,
    next: Next,
) -> Vec<SlotRole> {
    // With human approval only requests start items.
    if next == Next::Implementer && work_items::needs_human_approval(builder) {
        return Vec::new();
    }
    let mut slot_roles = Vec::new();
    for (name, stream) in exchange.iter().flat_map(|exchange| &exchange.streams) {
        let routes = Routes::of(stream, members.labels.as_deref());
        let wanted: Vec<&str> = routes.items_for(next).collect();
        for item in stream
            .items
            .iter()
            .filter(|item| wanted.contains(&item.path.as_str()))
        {
            let (stream, item) = (name.clone(), item.value.id.clone());
            let slot_role = match next {
                Next::Planner => SlotRole::Planner { stream, item },
                _ => SlotRole::Implementer { stream, item },
            };
            if !is_in_progress(builder, &slot_role) {
                slot_roles.push(slot_role);
            }
        }
    }
    let room = match next {
        // Start no more than people can review. If they have no room at all, the first item waits for them.
        Next::Implementer => {
            let limit = builder.snapshot.plan.budget.max_open_pulls as usize;
            let backlog = builder
                .backlog
                .get_or_init(|| usage::unreviewed_pulls(builder));
            limit.saturating_sub(backlog.len()).clamp(1, ITEMS_AT_ONCE)
        }
        _ => ITEMS_AT_ONCE,
    };
    slot_roles.truncate(room);
    slot_roles
}

/// One integrator for two or more open pull requests of implementers.
fn integrator_roles(builder: &DecisionBuilder<'_>) -> Vec<SlotRole> {
    if open_implementer_pulls(builder).len() >= 2 {
        vec![SlotRole::Integrator]
    } else {
        Vec::new()
    }
}

/// The eligible slots. Each of the others gets a line.
fn eligible_work(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    passes: u64,
    policy: &Policy,
    slot_roles: Vec<SlotRole>,
    left_out: &mut Vec<Line>,
) -> Vec<SlotWork> {
    let mut work = Vec::new();
    for slot_role in slot_roles {
        // Roles that work on the exchange do not depend on the default branch; the narrator has checked it.
        let looks_at_code = matches!(
            slot_role,
            SlotRole::Observer { .. } | SlotRole::Innovator { .. }
        );
        let policy = Policy {
            skip_unchanged: policy.skip_unchanged && looks_at_code,
            ..policy.clone()
        };
        let one = SlotWork {
            slot: slot_role.to_slot(),
            persona: slot_role.persona_id(),
        };
        match skip_reason(builder, track, passes, &one, &policy) {
            Some((reason, text)) => {
                let mut line = Line::about_track(track, Verdict::Skipped, reason, text);
                line.slot = Some(one.slot);
                left_out.push(line.with_persona(&one.persona));
            }
            None => work.push(one),
        }
    }
    work
}

/// Why a layer has nothing to do, with what waits elsewhere.
fn empty_text(
    builder: &DecisionBuilder<'_>,
    layer: &str,
    exchange: Option<&Exchange>,
    members: &LayerMembers,
) -> String {
    let what = match layer {
        "observers" => "no observer is on the roster",
        "decider" => "no event waits to be decided",
        "planner" => "no work item waits for a planner",
        "implementer" => "no work item is ready for an implementer",
        "innovators" => "no innovator is on the roster",
        _ => "fewer than two pull requests of implementers are open",
    };
    if !matches!(layer, "planner" | "implementer") {
        return what.to_owned();
    }
    let mut counts = Vec::new();
    let waits = layer == "implementer" && work_items::needs_human_approval(builder);
    let by_people = waits.then_some((Next::Implementer, "for a person's approval"));
    for (next, word) in [
        (
            Next::Shelved,
            "published as issues: the label `phileas:implementer` on their issues starts them",
        ),
        (
            Next::Suspended,
            "suspended: the label `phileas:implementer` on their issues starts them",
        ),
        (
            Next::Refused,
            "with mistakes: `phileas exchange check` names what to correct",
        ),
    ]
    .into_iter()
    .chain(by_people)
    {
        let streams = exchange
            .iter()
            .flat_map(|exchange| exchange.streams.values());
        let count: usize = streams
            .map(|stream| {
                Routes::of(stream, members.labels.as_deref())
                    .items_for(next)
                    .count()
            })
            .sum();
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let open = open_implementer_pulls(builder).len();
    if open > 0 {
        counts.push(format!("{open} with an open pull request"));
    }
    if counts.is_empty() {
        what.to_owned()
    } else {
        format!("{what} ({})", counts.join("; "))
    }
}
