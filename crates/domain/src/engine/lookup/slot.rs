//! Whose turn a slot of a layer is: the layer, the role, the work item.

use crate::exchange::{Author, Exchange, FLAT_STREAM};
use crate::model::{PersonaId, Slot};

/// Whose turn a slot of a layer is.
///
/// The slot's name says it all: `narrator`, `observers/taxonomy`, `decider`, `planner/a1b2c3`, `implementer/a1b2c3`,
/// `innovators/recruiter`, `integrator`. In a workstream its name stands behind the layer's: `observers/core/taxonomy`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seat {
    Narrator,
    Observer { stream: String, role: String },
    Decider { stream: String },
    Planner { stream: String, item: String },
    Implementer { stream: String, item: String },
    Innovator { role: String },
    Integrator,
}

impl Seat {
    /// What a slot's name says; `None`: this version starts no such slot.
    pub(crate) fn of(slot: &Slot) -> Option<Self> {
        let parts: Vec<&str> = slot.as_str().split('/').collect();
        let flat = FLAT_STREAM.to_owned();
        let own = |text: &&str| (*text).to_owned();
        Some(match parts.as_slice() {
            ["narrator"] => Self::Narrator,
            ["integrator"] => Self::Integrator,
            ["observers", role] => Self::Observer {
                stream: flat,
                role: own(role),
            },
            ["observers", stream, role] => Self::Observer {
                stream: own(stream),
                role: own(role),
            },
            ["decider"] => Self::Decider { stream: flat },
            ["decider", stream] => Self::Decider {
                stream: own(stream),
            },
            ["planner", item] => Self::Planner {
                stream: flat,
                item: own(item),
            },
            ["planner", stream, item] => Self::Planner {
                stream: own(stream),
                item: own(item),
            },
            ["implementer", item] => Self::Implementer {
                stream: flat,
                item: own(item),
            },
            ["implementer", stream, item] => Self::Implementer {
                stream: own(stream),
                item: own(item),
            },
            ["innovators", role] => Self::Innovator { role: own(role) },
            _ => return None,
        })
    }

    /// The slot's name.
    pub(crate) fn slot(&self) -> Slot {
        let layer = self.layer();
        let tail = match self {
            Self::Narrator | Self::Integrator => return Slot::from(layer),
            Self::Observer { role, .. } | Self::Innovator { role } => Some(role),
            Self::Planner { item, .. } | Self::Implementer { item, .. } => Some(item),
            Self::Decider { .. } => None,
        };
        let stream = Some(self.stream()).filter(|stream| *stream != FLAT_STREAM);
        let parts = [Some(layer), stream, tail.map(String::as_str)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Slot::from(parts.join("/").as_str())
    }

    /// Who counts as at work: the role, and not the work item, so that figures are about somebody.
    pub(crate) fn persona(&self) -> PersonaId {
        match self {
            Self::Planner { .. } | Self::Implementer { .. } => PersonaId::from(self.layer()),
            _ => PersonaId::from(self.slot().as_str()),
        }
    }

    /// The layer, as the plan spells it.
    pub(crate) fn layer(&self) -> &'static str {
        match self {
            Self::Narrator => "narrator",
            Self::Observer { .. } => "observers",
            Self::Decider { .. } => "decider",
            Self::Planner { .. } => "planner",
            Self::Implementer { .. } => "implementer",
            Self::Innovator { .. } => "innovators",
            Self::Integrator => "integrator",
        }
    }

    /// The stream that it works in.
    pub(crate) fn stream(&self) -> &str {
        match self {
            Self::Observer { stream, .. }
            | Self::Decider { stream }
            | Self::Planner { stream, .. }
            | Self::Implementer { stream, .. } => stream,
            Self::Narrator | Self::Innovator { .. } | Self::Integrator => FLAT_STREAM,
        }
    }

    /// The id of the work item that it is about.
    pub(crate) fn item(&self) -> Option<&str> {
        match self {
            Self::Planner { item, .. } | Self::Implementer { item, .. } => Some(item),
            _ => None,
        }
    }

    /// Whether its work is a pull request. What the others write is imported into the ledger.
    pub(crate) fn opens_pull(&self) -> bool {
        matches!(self, Self::Implementer { .. } | Self::Integrator)
    }

    /// Whether it may well end without having written anything. Others are reminded of it.
    pub(crate) fn may_be_silent(&self) -> bool {
        matches!(self, Self::Observer { .. } | Self::Narrator)
    }

    /// Who an import is from. `item`: the path of its work item.
    pub(crate) fn author<'a>(&'a self, item: &'a str) -> Author<'a> {
        match self {
            Self::Narrator => Author::Narrator,
            Self::Observer { role, .. } => Author::Observer(role),
            Self::Decider { .. } => Author::Decider,
            Self::Planner { .. } => Author::Planner(item),
            Self::Implementer { .. } => Author::Implementer,
            Self::Innovator { role } => Author::Innovator(role),
            Self::Integrator => Author::Integrator,
        }
    }
}

/// The stream that a seat's work belongs to. Of those that belong to all streams, the narrator has the first one, and so
/// has an innovator where none bears the usual name: what it writes must lie in a stream that exists.
pub(crate) fn stream(exchange: Option<&Exchange>, seat: &Seat) -> String {
    let streams = exchange.map(|exchange| &exchange.streams);
    let first = streams.and_then(|streams| streams.keys().next());
    let own = seat.stream();
    let is_there = streams.is_some_and(|streams| streams.contains_key(own));
    match (first, seat) {
        (Some(first), Seat::Narrator) => first.clone(),
        (Some(first), Seat::Innovator { .. }) if !is_there => first.clone(),
        _ => own.to_owned(),
    }
}

/// Whether a slot is one that only a newer version starts; it alone knows what to do with what comes of it. A persona's
/// turn has one slot, without a name.
pub(crate) fn is_of_newer_version(slot: &Slot) -> bool {
    !slot.as_str().is_empty() && Seat::of(slot).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slots_name_says_whose_it_is() {
        for (name, persona) in [
            ("narrator", "narrator"),
            ("observers/taxonomy", "observers/taxonomy"),
            ("observers/core/taxonomy", "observers/core/taxonomy"),
            ("decider", "decider"),
            ("decider/core", "decider/core"),
            ("planner/a1b2c3", "planner"),
            ("planner/core/a1b2c3", "planner"),
            ("implementer/a1b2c3", "implementer"),
            ("implementer/core/a1b2c3", "implementer"),
            ("innovators/recruiter", "innovators/recruiter"),
            ("integrator", "integrator"),
        ] {
            let seat = Seat::of(&name.into()).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(seat.slot().as_str(), name);
            assert_eq!(seat.persona().as_str(), persona);
            assert!(name.starts_with(seat.layer()));
        }
        for name in ["", "curator", "observers", "narrator/a", "observers/a/b/c"] {
            assert_eq!(Seat::of(&name.into()), None, "{name}");
        }
    }
}
