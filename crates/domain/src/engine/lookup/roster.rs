//! Lists all personas with the figures of their work.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::exchange_view::exchange_at_head;
use super::figures::{Yield, yields_so_far};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PersonaId, PullNumber, TrackName};
use crate::state::{HistoryEntry, Outcome};

/// The status of a persona.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaStatus {
    /// The persona.
    pub persona: PersonaId,
    /// Whether it has a prompt that can be read.
    pub known: bool,
    /// Its newest turn in the history that is not archived.
    pub last: Option<LastTurn>,
    /// How many of its newest ended turns in a row had the same outcome. 0: none has ended.
    pub streak: u32,
    /// How many of its newest turns in a row were unwanted: rejected, ignored or empty. A persona rests after some.
    pub unwanted: u32,
    /// What became of its sessions.
    pub yields: Yield,
}

/// A persona's newest turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LastTurn {
    /// Its outcome; `None`: it is live.
    pub outcome: Option<Outcome>,
    /// When it ended; else when it began.
    pub at: Option<Timestamp>,
    /// In which track.
    pub track: TrackName,
    /// Its pull request.
    pub pull: Option<PullNumber>,
}

/// Returns every persona of the plan and of the history, by id. Turns of layers are not included.
#[must_use]
pub fn persona_statuses(snapshot: &Snapshot) -> Vec<PersonaStatus> {
    let builder = DecisionBuilder::new(snapshot, exchange_at_head(snapshot));
    let mut yields = yields_so_far(&builder);
    let personas = &snapshot.plan.personas;
    let of_layer = |id: &PersonaId| id.as_str().contains('/');
    let known = personas.keys().cloned();
    let ran = yields.keys().filter(|id| !of_layer(id)).cloned();
    let all: BTreeSet<PersonaId> = known.chain(ran).collect();
    let standing = |persona: PersonaId| {
        let newest = || {
            let entries = builder.state.history.values().rev();
            entries.filter(|entry| entry.persona_id == persona)
        };
        let memory = builder.state.personas.get(&persona);
        PersonaStatus {
            known: personas.contains_key(&persona),
            last: newest().next().map(last_turn),
            streak: outcome_streak(newest()),
            unwanted: memory.map_or(0, |memory| memory.no_output_streak),
            yields: yields.remove(&persona).unwrap_or_default(),
            persona,
        }
    };
    all.into_iter().map(standing).collect()
}

fn last_turn(entry: &HistoryEntry) -> LastTurn {
    LastTurn {
        outcome: entry.outcome.clone(),
        at: entry.finished_at.or(entry.created_at),
        track: entry.track_name(),
        pull: entry.pr_number,
    }
}

fn outcome_streak<'e>(newest: impl Iterator<Item = &'e HistoryEntry>) -> u32 {
    let mut ended = newest.filter_map(|entry| entry.outcome.as_ref());
    let Some(last) = ended.next() else {
        return 0;
    };
    let same = ended.take_while(|outcome| *outcome == last).count();
    u32::try_from(same + 1).unwrap_or(u32::MAX)
}
