//! Parses a layer's slot into its layer, role and work item.

use crate::exchange::{Author, Exchange, FLAT_STREAM};
use crate::model::{PersonaId, Slot};

/// The role of a layer's slot.
///
/// The slot's name contains it: `narrator`, `observers/taxonomy`, `decider`, `planner/a1b2c3`, `implementer/a1b2c3`,
/// `innovators/recruiter`, `integrator`. In a workstream the stream follows the layer: `observers/core/taxonomy`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SlotRole {
    Narrator,
    Observer { stream: String, role: String },
    Decider { stream: String },
    Planner { stream: String, item: String },
    Implementer { stream: String, item: String },
    Innovator { role: String },
    Integrator,
}

impl SlotRole {
    /// Parses a slot's name; `None`: this version starts no such slot.
    pub(crate) fn from_slot(slot: &Slot) -> Option<Self> {
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
    pub(crate) fn to_slot(&self) -> Slot {
        let layer = self.layer_name();
        let tail = match self {
            Self::Narrator | Self::Integrator => return Slot::from(layer),
            Self::Observer { role, .. } | Self::Innovator { role } => Some(role),
            Self::Planner { item, .. } | Self::Implementer { item, .. } => Some(item),
            Self::Decider { .. } => None,
        };
        let stream = Some(self.stream_name()).filter(|stream| *stream != FLAT_STREAM);
        let parts = [Some(layer), stream, tail.map(String::as_str)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Slot::from(parts.join("/").as_str())
    }

    /// The persona id for figures: the role without the work item.
    pub(crate) fn persona_id(&self) -> PersonaId {
        match self {
            Self::Planner { .. } | Self::Implementer { .. } => PersonaId::from(self.layer_name()),
            _ => PersonaId::from(self.to_slot().as_str()),
        }
    }

    /// The layer, as the plan spells it.
    pub(crate) fn layer_name(&self) -> &'static str {
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

    /// Its workstream.
    pub(crate) fn stream_name(&self) -> &str {
        match self {
            Self::Observer { stream, .. }
            | Self::Decider { stream }
            | Self::Planner { stream, .. }
            | Self::Implementer { stream, .. } => stream,
            Self::Narrator | Self::Innovator { .. } | Self::Integrator => FLAT_STREAM,
        }
    }

    /// The id of its work item.
    pub(crate) fn item_id(&self) -> Option<&str> {
        match self {
            Self::Planner { item, .. } | Self::Implementer { item, .. } => Some(item),
            _ => None,
        }
    }

    /// Whether its output is a pull request. The output of the others is imported into the ledger.
    pub(crate) fn opens_pull(&self) -> bool {
        matches!(self, Self::Implementer { .. } | Self::Integrator)
    }

    /// Whether it may end without output. The others get a reminder.
    pub(crate) fn may_be_silent(&self) -> bool {
        matches!(self, Self::Observer { .. } | Self::Narrator)
    }

    /// The author of an import. `item`: the path of its work item.
    pub(crate) fn import_author<'a>(&'a self, item: &'a str) -> Author<'a> {
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

/// The stream of a role's output. The narrator has the first stream, and so has an innovator where no stream has the
/// usual name, because its output must be in an existing stream.
pub(crate) fn resolve_stream(exchange: Option<&Exchange>, slot_role: &SlotRole) -> String {
    let streams = exchange.map(|exchange| &exchange.streams);
    let first = streams.and_then(|streams| streams.keys().next());
    let own = slot_role.stream_name();
    let is_there = streams.is_some_and(|streams| streams.contains_key(own));
    match (first, slot_role) {
        (Some(first), SlotRole::Narrator) => first.clone(),
        (Some(first), SlotRole::Innovator { .. }) if !is_there => first.clone(),
        _ => own.to_owned(),
    }
}

/// Whether only a newer version starts this slot; only that version can follow it. A persona's turn has one slot with
/// an empty name.
pub(crate) fn is_of_newer_version(slot: &Slot) -> bool {
    !slot.as_str().is_empty() && SlotRole::from_slot(slot).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_names_parse_into_roles() {
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
            let slot_role = SlotRole::from_slot(&name.into()).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(slot_role.to_slot().as_str(), name);
            assert_eq!(slot_role.persona_id().as_str(), persona);
            assert!(name.starts_with(slot_role.layer_name()));
        }
        for name in ["", "curator", "observers", "narrator/a", "observers/a/b/c"] {
            assert_eq!(SlotRole::from_slot(&name.into()), None, "{name}");
        }
    }
}
