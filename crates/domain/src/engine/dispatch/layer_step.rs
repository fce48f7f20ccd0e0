//! What a layer's step fans out into, and why some of it, or all, is left out.

use super::candidate::Work;
use super::eligibility::reluctance;
use crate::engine::lookup::in_progress::{candidates, in_hand};
use crate::engine::lookup::layer_members::cast;
use crate::engine::lookup::new_commits::{self, News};
use crate::engine::lookup::slot::Seat;
use crate::engine::lookup::{exchange_view, usage, work_items};
use crate::engine::output::builder::Draft;
use crate::engine::output::exchange_view::{Cast, Member};
use crate::engine::output::limits::{ITEMS_AT_ONCE, ROLES_AT_ONCE};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::exchange::{EventState, Exchange, Next, Routes};
use crate::model::TrackName;
use crate::plan::{LAYERS, Policy, StepKind, Track};

/// What a layer's step comes to.
pub(crate) enum Due {
    /// These slots are due, side by side.
    Ready(Vec<Work>),
    /// There is nothing to do this time.
    Skip { reason: Reason, detail: String },
    /// It takes something to know that is being read: what, for people.
    Unread(&'static str),
}

/// What a layer's step fans out into now. `left_out` gets a line for each slot that could run and does not.
pub(crate) fn due(
    draft: &mut Draft<'_>,
    plan: &Track,
    index: usize,
    passes: u64,
    left_out: &mut Vec<Line>,
) -> Due {
    let skip = |reason, detail: &str| Due::Skip {
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
        match new_commits::news(draft) {
            News::Unread => return Due::Unread("the newest commits are being read"),
            News::None(reason, detail) => return Due::Skip { reason, detail },
            News::Some => {}
        }
    }
    if exchange_view::unread(draft) {
        return Due::Unread("the exchange and the files of layers are being read");
    }
    let picture = exchange_view::picture(draft);
    let exchange = picture.exchange.as_ref();
    let cast = cast(draft);
    let seats = match name {
        "narrator" => vec![Seat::Narrator],
        "observers" => {
            lost(&cast, "observers", &plan.name, left_out);
            observers(&cast, &plan.name, left_out)
        }
        "decider" => {
            lost(&cast, "deciders", &plan.name, left_out);
            deciders(exchange, &cast)
        }
        "planner" => items(draft, exchange, &cast, Next::Planner),
        "implementer" => items(draft, exchange, &cast, Next::Implementer),
        "innovators" => innovators(&cast, &plan.name, left_out),
        _ => integrator(draft),
    };
    if seats.is_empty() {
        let detail = empty(draft, name, exchange, &cast);
        return skip(Reason::LayerEmpty, &detail);
    }
    let work = willing(draft, &plan.name, passes, &step.policy, seats, left_out);
    if work.is_empty() {
        // Each slot's own line says why.
        let reason = left_out
            .last()
            .map_or(Reason::LayerEmpty, |line| line.reason);
        let detail = format!("nobody of layer `{name}` takes part this time");
        return skip(reason, &detail);
    }
    Due::Ready(work)
}

/// Says of each role whose workstream is missing that it cannot start.
fn lost(cast: &Cast, layer: &str, track: &TrackName, left_out: &mut Vec<Line>) {
    for one in cast.lost.iter().filter(|one| one.layer == layer) {
        let text = format!(
            "`{}`: {} names the workstream `{}`, which does not exist: make .jules/workstreams/{2}, or name another one",
            one.role, one.file, one.stream
        );
        let reason = Reason::PersonaInvalid;
        left_out.push(Line::track(track, Verdict::Skipped, reason, text));
    }
}

fn observers(cast: &Cast, track: &TrackName, left_out: &mut Vec<Line>) -> Vec<Seat> {
    let mut seats = Vec::new();
    for (stream, members) in &cast.streams {
        for member in members {
            let (stream, role) = (stream.clone(), member.role.clone());
            let seat = Seat::Observer { stream, role };
            seats.extend(taking_part(seat, member, track, left_out));
        }
    }
    seats.truncate(ROLES_AT_ONCE);
    seats
}

fn innovators(cast: &Cast, track: &TrackName, left_out: &mut Vec<Line>) -> Vec<Seat> {
    let mut seats = Vec::new();
    for member in &cast.innovators {
        let role = member.role.clone();
        seats.extend(taking_part(
            Seat::Innovator { role },
            member,
            track,
            left_out,
        ));
    }
    seats.truncate(ROLES_AT_ONCE);
    seats
}

fn taking_part(
    seat: Seat,
    member: &Member,
    track: &TrackName,
    left_out: &mut Vec<Line>,
) -> Option<Seat> {
    let Some((reason, why)) = &member.held else {
        return Some(seat);
    };
    let text = format!("`{}`: {why}", member.role);
    let mut line = Line::track(track, Verdict::Skipped, *reason, text);
    line.slot = Some(seat.slot());
    left_out.push(line.persona(&seat.persona()));
    None
}

/// A decider for each stream in which something waits to be decided.
fn deciders(exchange: Option<&Exchange>, cast: &Cast) -> Vec<Seat> {
    let streams = exchange.iter().flat_map(|exchange| &exchange.streams);
    let waiting = streams.filter(|(name, stream)| {
        cast.streams.contains_key(*name) && stream.events_in(EventState::Pending).next().is_some()
    });
    waiting
        .map(|(name, _)| Seat::Decider {
            stream: name.clone(),
        })
        .take(ROLES_AT_ONCE)
        .collect()
}

/// Work items that go to this layer and are in nobody's hands.
fn items(draft: &Draft<'_>, exchange: Option<&Exchange>, cast: &Cast, next: Next) -> Vec<Seat> {
    // A request starts what a person has let through, whenever that is.
    if next == Next::Implementer && work_items::waits_for_people(draft) {
        return Vec::new();
    }
    let mut seats = Vec::new();
    for (name, stream) in exchange.iter().flat_map(|exchange| &exchange.streams) {
        let routes = Routes::of(stream, cast.labels.as_deref());
        let wanted: Vec<&str> = routes.to(next).collect();
        for item in stream
            .items
            .iter()
            .filter(|item| wanted.contains(&item.path.as_str()))
        {
            let (stream, item) = (name.clone(), item.value.id.clone());
            let seat = match next {
                Next::Planner => Seat::Planner { stream, item },
                _ => Seat::Implementer { stream, item },
            };
            if !in_hand(draft, &seat) {
                seats.push(seat);
            }
        }
    }
    let room = match next {
        // What people have no time to review is not begun. Where they have none at all, the first one waits for them.
        Next::Implementer => {
            let limit = draft.snapshot.plan.budget.max_open_pulls as usize;
            let backlog = draft.backlog.get_or_init(|| usage::unreviewed(draft));
            limit.saturating_sub(backlog.len()).clamp(1, ITEMS_AT_ONCE)
        }
        _ => ITEMS_AT_ONCE,
    };
    seats.truncate(room);
    seats
}

/// One integrator for two or more open pull requests of implementers.
fn integrator(draft: &Draft<'_>) -> Vec<Seat> {
    if candidates(draft).len() >= 2 {
        vec![Seat::Integrator]
    } else {
        Vec::new()
    }
}

/// Those of the seats who take part this time. Each of the others gets its line.
fn willing(
    draft: &Draft<'_>,
    track: &TrackName,
    passes: u64,
    policy: &Policy,
    seats: Vec<Seat>,
    left_out: &mut Vec<Line>,
) -> Vec<Work> {
    let mut work = Vec::new();
    for seat in seats {
        // Whose input is the exchange does not care whether the default branch has moved; the narrator has asked.
        let looks_at_code = matches!(seat, Seat::Observer { .. } | Seat::Innovator { .. });
        let policy = Policy {
            skip_unchanged: policy.skip_unchanged && looks_at_code,
            ..policy.clone()
        };
        let one = Work {
            slot: seat.slot(),
            persona: seat.persona(),
        };
        match reluctance(draft, track, passes, &one, &policy) {
            Some((reason, text)) => {
                let mut line = Line::track(track, Verdict::Skipped, reason, text);
                line.slot = Some(one.slot);
                left_out.push(line.persona(&one.persona));
            }
            None => work.push(one),
        }
    }
    work
}

/// Why a layer has nothing to do, with what waits elsewhere.
fn empty(draft: &Draft<'_>, layer: &str, exchange: Option<&Exchange>, cast: &Cast) -> String {
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
    let waits = layer == "implementer" && work_items::waits_for_people(draft);
    let by_people = waits.then_some((Next::Implementer, "for a person to let through"));
    for (next, word) in [
        (
            Next::Shelved,
            "on the shelf: the label `phileas:implementer` on their issues starts them",
        ),
        (
            Next::Parked,
            "parked: the label `phileas:implementer` on their issues starts them",
        ),
        (
            Next::Refused,
            "not sound: `phileas exchange check` names what to correct",
        ),
    ]
    .into_iter()
    .chain(by_people)
    {
        let streams = exchange
            .iter()
            .flat_map(|exchange| exchange.streams.values());
        let count: usize = streams
            .map(|stream| Routes::of(stream, cast.labels.as_deref()).to(next).count())
            .sum();
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let open = candidates(draft).len();
    if open > 0 {
        counts.push(format!("{open} with an open pull request"));
    }
    if counts.is_empty() {
        what.to_owned()
    } else {
        format!("{what} ({})", counts.join("; "))
    }
}
