//! Which roles take part, and which work goes to implementers by itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::draft::Draft;
use super::super::{Reason, Snapshot};
use super::picture::picture;
use super::seat::Seat;
use crate::exchange::{self, Bound, Exchange, FLAT_STREAM, Layout};
use crate::layers::{Catalogue, Held};
use crate::plan::Roster;

/// Who takes part.
#[derive(Debug)]
pub(in crate::engine) struct Cast {
    pub(super) catalogue: Catalogue,
    /// The streams by name, with the roles of their observers. The flat layout has one.
    pub(super) streams: BTreeMap<String, Vec<Member>>,
    /// Roles whose stream does not exist: none of them can start.
    pub(super) lost: Vec<Bound>,
    /// The roles of the innovators.
    pub(super) innovators: Vec<Member>,
    /// The labels of work that goes to implementers by itself; `None`: all.
    pub(super) labels: Option<Vec<String>>,
}

impl Cast {
    /// Why the role of a seat takes no part, also where its turn was announced before it was so.
    pub(super) fn holds(&self, seat: &Seat) -> Option<(Reason, String)> {
        let (members, role) = match seat {
            Seat::Observer { stream, role } => (self.streams.get(stream)?, role),
            Seat::Innovator { role } => (&self.innovators, role),
            _ => return None,
        };
        let member = members.iter().find(|member| member.role == *role)?;
        member.held.clone()
    }
}

/// A role of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) role: String,
    /// Why it takes no part.
    pub(super) held: Option<(Reason, String)>,
}

/// Who takes part, by the default branch and the catalogue, in the exchange as this decision leaves it.
pub(super) fn cast(draft: &Draft<'_>) -> Rc<Cast> {
    let read = || Rc::new(of(draft.snapshot, picture(draft).exchange.as_ref()));
    Rc::clone(draft.cast.get_or_init(read))
}

fn of(snapshot: &Snapshot, exchange: Option<&Exchange>) -> Cast {
    let layout = exchange.map_or(Layout::Flat, |exchange| exchange.layout);
    let catalogue = Catalogue::of(&snapshot.tree, layout);
    let roster = &snapshot.plan.roster;
    let public = snapshot.repository.public;
    let bound = exchange::bound(&snapshot.tree);
    let mut streams = BTreeMap::new();
    match (layout, exchange) {
        (Layout::Workstreams, Some(exchange)) => {
            for (name, stream) in &exchange.streams {
                // A stream without a roster has those whose own files name it.
                let listed = match &stream.roster {
                    Some(own) if !own.enabled => continue,
                    Some(own) => own.observers.clone(),
                    None => of_stream(&bound, name),
                };
                // Who takes part in a workstream is said beside it; whether a role may, in the one roster of all.
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
                streams.insert(name.clone(), agreeing(members, &bound, name));
            }
        }
        _ => {
            let members = members_of(&catalogue, roster, "observers", public);
            streams.insert(
                FLAT_STREAM.to_owned(),
                agreeing(members, &bound, FLAT_STREAM),
            );
        }
    }
    let missing = |one: &&Bound| match exchange {
        Some(exchange) => !exchange.streams.contains_key(&one.stream),
        None => one.stream != FLAT_STREAM,
    };
    Cast {
        innovators: members_of(&catalogue, roster, "innovators", public),
        labels: roster.labels.clone(),
        lost: bound.iter().filter(missing).cloned().collect(),
        streams,
        catalogue,
    }
}

/// The observers whose own files name a stream.
fn of_stream(bound: &[Bound], stream: &str) -> Vec<String> {
    let own = bound
        .iter()
        .filter(|one| one.layer == "observers" && one.stream == stream);
    own.map(|one| one.role.clone()).collect()
}

/// The members of a stream, of whom those whose own file names another one take no part.
fn agreeing(members: Vec<Member>, bound: &[Bound], stream: &str) -> Vec<Member> {
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
            member.held = Some((Reason::PersonaInvalid, why));
        }
    }
    members
}

fn members_of(catalogue: &Catalogue, roster: &Roster, layer: &str, public: bool) -> Vec<Member> {
    let standing = catalogue.standing(roster, layer, public).into_iter();
    let members = standing.map(|one| Member {
        role: one.role,
        held: one.held.map(|held| {
            let reason = match held {
                Held::Disabled => Reason::PersonaUnscheduled,
                Held::Unknown | Held::Broken => Reason::PersonaInvalid,
                Held::Sensitive => Reason::PersonaSensitive,
            };
            (reason, held.why().to_owned())
        }),
    });
    members.collect()
}
