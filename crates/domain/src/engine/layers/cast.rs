//! Which roles take part, and which work goes to implementers by itself.

use std::collections::BTreeMap;

use super::super::Reason;
use super::super::draft::Draft;
use crate::exchange::{Exchange, FLAT_STREAM, Layout};
use crate::layers::{Catalogue, Held};
use crate::plan::Roster;

/// Who takes part.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) catalogue: Catalogue,
    /// The streams by name, with the roles of their observers. The flat layout has one.
    pub(super) streams: BTreeMap<String, Vec<Member>>,
    /// The roles of the innovators.
    pub(super) innovators: Vec<Member>,
    /// The labels of work that goes to implementers by itself; `None`: all.
    pub(super) labels: Option<Vec<String>>,
}

/// A role of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) role: String,
    /// Why it takes no part.
    pub(super) held: Option<(Reason, String)>,
}

/// Who takes part, by the default branch and the catalogue.
pub(super) fn cast(draft: &Draft<'_>, exchange: Option<&Exchange>) -> Cast {
    let snapshot = draft.snapshot;
    let layout = exchange.map_or(Layout::Flat, |exchange| exchange.layout);
    let catalogue = Catalogue::of(&snapshot.tree, layout);
    let roster = &snapshot.plan.roster;
    let public = snapshot.repository.public;
    let mut streams = BTreeMap::new();
    match (layout, exchange) {
        (Layout::Workstreams, Some(exchange)) => {
            for (name, stream) in &exchange.streams {
                let own = stream.roster.as_ref().filter(|roster| roster.enabled);
                let Some(own) = own else { continue };
                // Who takes part in a workstream is said beside it; whether a role may, in the one roster of all.
                let members = own.observers.iter().map(|role| {
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
                streams.insert(
                    name.clone(),
                    members_of(&catalogue, &roster, "observers", public),
                );
            }
        }
        _ => {
            let members = members_of(&catalogue, roster, "observers", public);
            streams.insert(FLAT_STREAM.to_owned(), members);
        }
    }
    Cast {
        innovators: members_of(&catalogue, roster, "innovators", public),
        labels: roster.labels.clone(),
        streams,
        catalogue,
    }
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
