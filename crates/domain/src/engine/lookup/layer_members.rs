//! Which roles of layers take part, and which work items implementers start without a request.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::exchange_view::current_view;
use super::slot::SlotRole;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::exchange_view::{LayerMembers, Member};
use crate::engine::output::report::Reason;
use crate::exchange::{self, BoundRole, Exchange, FLAT_STREAM, Layout};
use crate::layers::{Catalogue, HoldReason};
use crate::plan::Roster;

impl LayerMembers {
    /// Why a role does not take part, even where its turn was announced before.
    pub(crate) fn hold_reason(&self, slot_role: &SlotRole) -> Option<(Reason, String)> {
        let (members, role) = match slot_role {
            SlotRole::Observer { stream, role } => (self.streams.get(stream)?, role),
            SlotRole::Innovator { role } => (&self.innovators, role),
            _ => return None,
        };
        let member = members.iter().find(|member| member.role == *role)?;
        member.hold_reason.clone()
    }
}

/// The members of layers, by the default branch, the catalogue and the exchange after this decision.
pub(crate) fn layer_members(builder: &DecisionBuilder<'_>) -> Rc<LayerMembers> {
    let read = || {
        Rc::new(read_members(
            builder.snapshot,
            current_view(builder).exchange.as_ref(),
        ))
    };
    Rc::clone(builder.layer_members.get_or_init(read))
}

fn read_members(snapshot: &Snapshot, exchange: Option<&Exchange>) -> LayerMembers {
    let layout = exchange.map_or(Layout::Flat, |exchange| exchange.layout);
    let catalogue = Catalogue::of(&snapshot.tree, layout);
    let roster = &snapshot.plan.roster;
    let public = snapshot.repository.public;
    let bound = exchange::bound_roles(&snapshot.tree);
    let mut streams = BTreeMap::new();
    match (layout, exchange) {
        (Layout::Workstreams, Some(exchange)) => {
            for (name, stream) in &exchange.streams {
                // A stream without a roster has the observers whose own files name it.
                let listed = match &stream.roster {
                    Some(own) if !own.enabled => continue,
                    Some(own) => own.observers.clone(),
                    None => observers_of_stream(&bound, name),
                };
                // The workstream's own roster says who takes part; the plan's roster says whether a role may.
                let members = listed.iter().map(|role| {
                    let known = roster.member("observers", role).cloned();
                    let known = known.unwrap_or_else(|| crate::plan::Member::enabled(role));
                    crate::plan::Member {
                        enabled: true,
                        ..known
                    }
                });
                let roster = Roster {
                    observers: members.collect(),
                    ..roster.clone()
                };
                let members = members_of(&catalogue, &roster, "observers", public);
                streams.insert(name.clone(), hold_misplaced_roles(members, &bound, name));
            }
        }
        _ => {
            let members = members_of(&catalogue, roster, "observers", public);
            streams.insert(
                FLAT_STREAM.to_owned(),
                hold_misplaced_roles(members, &bound, FLAT_STREAM),
            );
        }
    }
    let missing = |one: &&BoundRole| match exchange {
        Some(exchange) => !exchange.streams.contains_key(&one.stream),
        None => one.stream != FLAT_STREAM,
    };
    LayerMembers {
        innovators: members_of(&catalogue, roster, "innovators", public),
        labels: roster.labels.clone(),
        without_stream: bound.iter().filter(missing).cloned().collect(),
        streams,
        catalogue,
    }
}

/// The observers whose own files name a stream.
fn observers_of_stream(bound: &[BoundRole], stream: &str) -> Vec<String> {
    let own = bound
        .iter()
        .filter(|one| one.layer == "observers" && one.stream == stream);
    own.map(|one| one.role.clone()).collect()
}

/// Holds the members of a stream whose own file names another stream.
fn hold_misplaced_roles(members: Vec<Member>, bound: &[BoundRole], stream: &str) -> Vec<Member> {
    let mut members = members;
    for member in &mut members {
        let own = bound
            .iter()
            .find(|one| one.layer == "observers" && one.role == member.role);
        if let Some(own) = own.filter(|own| own.stream != stream) {
            let why = format!(
                "{} names the workstream `{}`, and the roster of `{stream}` lists it: name the same one in both",
                own.file, own.stream
            );
            member.hold_reason = Some((Reason::PersonaInvalid, why));
        }
    }
    members
}

fn members_of(catalogue: &Catalogue, roster: &Roster, layer: &str, public: bool) -> Vec<Member> {
    let standing = catalogue.role_statuses(roster, layer, public).into_iter();
    let members = standing.map(|one| Member {
        role: one.role,
        hold_reason: one.held.map(|held| {
            let reason = match held {
                HoldReason::Disabled => Reason::PersonaUnscheduled,
                HoldReason::Unknown | HoldReason::Broken => Reason::PersonaInvalid,
                HoldReason::Sensitive => Reason::PersonaSensitive,
            };
            (reason, held.explanation().to_owned())
        }),
    });
    members.collect()
}
