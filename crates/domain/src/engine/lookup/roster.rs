//! Who there is, and what became of their work: figures for people.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::exchange_view::at_hand;
use super::figures::{Yield, yields_of};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::Draft;
use crate::model::{PersonaId, PullNumber, TrackName};
use crate::state::{HistoryEntry, Outcome};

/// A persona as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Who.
    pub persona: PersonaId,
    /// Whether it has a prompt that can be read.
    pub known: bool,
    /// Its newest turn, as far as the history is not archived.
    pub last: Option<LastTurn>,
    /// How many of its newest ended turns had the outcome of the last of them, in a row. 0: none has ended.
    pub streak: u32,
    /// How many of its newest turns in a row nobody wanted: rejected, ignored or empty. A persona rests after some.
    pub unwanted: u32,
    /// What became of its sessions.
    pub yields: Yield,
}

/// A persona's newest turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LastTurn {
    /// What became of it; `None`: it is under way.
    pub outcome: Option<Outcome>,
    /// When that was; else when it began.
    pub at: Option<Timestamp>,
    /// In which track.
    pub track: TrackName,
    /// Its pull request.
    pub pull: Option<PullNumber>,
}

/// Every persona of the plan, and every one that the history knows, by id. Turns of layers are no personas'.
#[must_use]
pub fn roster(snapshot: &Snapshot) -> Vec<Standing> {
    let draft = Draft::new(snapshot, at_hand(snapshot));
    let mut yields = yields_of(&draft);
    let personas = &snapshot.plan.personas;
    let of_layer = |id: &PersonaId| id.as_str().contains('/');
    let known = personas.keys().cloned();
    let ran = yields.keys().filter(|id| !of_layer(id)).cloned();
    let all: BTreeSet<PersonaId> = known.chain(ran).collect();
    let standing = |persona: PersonaId| {
        let newest = || {
            let entries = draft.state.history.values().rev();
            entries.filter(|entry| entry.persona_id == persona)
        };
        let memory = draft.state.personas.get(&persona);
        Standing {
            known: personas.contains_key(&persona),
            last: newest().next().map(last),
            streak: streak(newest()),
            unwanted: memory.map_or(0, |memory| memory.empty_streak),
            yields: yields.remove(&persona).unwrap_or_default(),
            persona,
        }
    };
    all.into_iter().map(standing).collect()
}

fn last(entry: &HistoryEntry) -> LastTurn {
    LastTurn {
        outcome: entry.outcome.clone(),
        at: entry.finished_at.or(entry.created_at),
        track: entry.track_name(),
        pull: entry.pr_number,
    }
}

fn streak<'e>(newest: impl Iterator<Item = &'e HistoryEntry>) -> u32 {
    let mut ended = newest.filter_map(|entry| entry.outcome.as_ref());
    let Some(last) = ended.next() else {
        return 0;
    };
    let same = ended.take_while(|outcome| *outcome == last).count();
    u32::try_from(same + 1).unwrap_or(u32::MAX)
}
