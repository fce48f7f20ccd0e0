//! Which roles take part, and which work goes to implementers by itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::exchange_view::picture;
use super::slot::Seat;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::Draft;
use crate::engine::output::exchange_view::{Cast, Member};
use crate::engine::output::report::Reason;
use crate::exchange::{self, Bound, Exchange, FLAT_STREAM, Layout};
use crate::layers::{Catalogue, Held};
use crate::plan::Roster;

impl Cast {
    /// Why the role of a seat takes no part, also where its turn was announced before it was so.
    pub(crate) fn holds(&self, seat: &Seat) -> Option<(Reason, String)> {
        let (members, role) = match seat {
            Seat::Observer { stream, role } => (self.streams.get(stream)?, role),
            Seat::Innovator { role } => (&self.innovators, role),
            _ => return None,
        };
        let member = members.iter().find(|member| member.role == *role)?;
        member.held.clone()
    }
}

/// Who takes part, by the default branch and the catalogue, in the exchange as this decision leaves it.
pub(crate) fn cast(draft: &Draft<'_>) -> Rc<Cast> {
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
