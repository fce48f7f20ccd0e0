//! Proposes a replacement for a state file that cannot be read. A person accepts it; phileas does not write it itself.
//!
//! The sides of conflict markers are merged by meaning. Any other file is replaced by the newest earlier version that
//! loads. In both cases the proposal keeps all entries of earlier versions, because history does not shrink.

use std::fmt;

use jiff::Timestamp;

use super::codec::load;
use super::{HistoryEntry, State, TrackState, conflict, invariant, merge};
use crate::Diagnostic;
use crate::model::Oid;

/// How many earlier versions are read, newest first.
pub const MAX_EARLIER: usize = 100;

/// The file as an earlier commit of the ledger branch had it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierVersion {
    /// The commit.
    pub oid: Oid,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The file's text in it.
    pub text: String,
}

/// What to write instead of a file that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The state to write. `None`: no version loads, and `state rebuild` may help.
    pub state: Option<State>,
    /// Where it comes from.
    pub origin: Origin,
    /// The differences from the newest earlier version that loads, and from what the broken file mentions.
    pub lines: Vec<ProposalLine>,
    /// What is wrong with the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where a proposed state comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The file itself: nothing is wrong with it.
    Intact,
    /// Those sides of its conflict markers that had something to add, each named from the outermost level inwards.
    Sides(Vec<String>),
    /// An earlier commit.
    Earlier {
        /// The commit.
        oid: Oid,
        /// When it was committed.
        committed_at: Timestamp,
    },
    /// None: a newer version of phileas wrote the file, and only that version can judge it.
    Newer,
    /// None.
    Nothing,
}

/// One line of a proposal, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalLine {
    /// An entry that the newest earlier version does not have.
    Gained(String),
    /// A known session that the proposal does not contain.
    Lost(String),
    /// A track with another pointer than in the newest earlier version.
    Moved(String),
    /// A remark.
    Remark(String),
}

impl fmt::Display for ProposalLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, text) = match self {
            Self::Gained(text) => ('+', text),
            Self::Lost(text) => ('-', text),
            Self::Moved(text) => ('~', text),
            Self::Remark(text) => ('!', text),
        };
        write!(f, "{sign} {text}")
    }
}

/// Proposes a replacement for a file, from earlier versions of it in any order.
#[must_use]
pub fn propose_repair(text: &str, earlier: &[EarlierVersion]) -> Proposal {
    let diagnostics = match load(text) {
        Ok(loaded) => {
            return Proposal {
                state: Some(loaded.state),
                origin: Origin::Intact,
                lines: Vec::new(),
                diagnostics: loaded.warnings,
            };
        }
        Err(diagnostics) => diagnostics,
    };
    let past = EarlierStates::load_versions(earlier);
    if diagnostics.iter().any(Diagnostic::is_newer_format)
        || has_newer_side(text)
        || past.is_newer_format
    {
        return Proposal {
            state: None,
            origin: Origin::Newer,
            lines: Vec::new(),
            diagnostics,
        };
    }
    let newest = past.loaded.first().map(|(_, state)| state);
    let mut remarks = past.remarks.clone();
    let found = from_sides(text, &past, &mut remarks).or_else(|| from_earlier(&past, &mut remarks));
    let Some((state, origin)) = found else {
        return Proposal {
            state: None,
            origin: Origin::Nothing,
            lines: remarks.into_iter().map(ProposalLine::Remark).collect(),
            diagnostics,
        };
    };
    let mut lines = compare_states(newest, &state);
    lines.extend(lost_sessions(text, &state));
    lines.extend(remarks.into_iter().map(ProposalLine::Remark));
    Proposal {
        state: Some(state),
        origin,
        lines,
        diagnostics,
    }
}

/// The earlier versions that load, newest first.
struct EarlierStates<'e> {
    loaded: Vec<(&'e EarlierVersion, State)>,
    remarks: Vec<String>,
    /// A newer version of phileas wrote one after the newest that loads.
    is_newer_format: bool,
}

impl<'e> EarlierStates<'e> {
    fn load_versions(earlier: &'e [EarlierVersion]) -> Self {
        let mut newest_first: Vec<&EarlierVersion> = earlier.iter().collect();
        newest_first.sort_by_key(|version| std::cmp::Reverse(version.committed_at));
        let mut past = Self {
            loaded: Vec::new(),
            remarks: Vec::new(),
            is_newer_format: false,
        };
        for version in newest_first.into_iter().take(MAX_EARLIER) {
            match load(&version.text) {
                Ok(loaded) => past.loaded.push((version, loaded.state)),
                Err(diagnostics) => {
                    let newer = diagnostics.iter().any(Diagnostic::is_newer_format);
                    past.is_newer_format |= newer && past.loaded.is_empty();
                    past.remarks.push(format!(
                        "the version of {} ({}) cannot be read either",
                        version.committed_at, version.oid
                    ));
                }
            }
        }
        past
    }

    /// Adds the entries of earlier versions that the state does not have.
    fn add_missing_entries(&self, state: &mut State, remarks: &mut Vec<String>) {
        for (version, earlier) in &self.loaded {
            let before = state.history.len();
            let said = merge::merge_earlier(state, earlier);
            remarks.extend(
                said.into_iter()
                    .map(|said| format!("{}: {said}", version.oid)),
            );
            let added = state.history.len() - before;
            if added > 0 {
                remarks.push(format!(
                    "{added} entries come from the version of {} ({}), because history never shrinks",
                    version.committed_at, version.oid
                ));
            }
        }
    }
}

/// Whether a newer version of phileas wrote one of the sides of the conflict markers.
fn has_newer_side(text: &str) -> bool {
    let is_newer = |text: &str| {
        load(text).is_err_and(|diagnostics| diagnostics.iter().any(Diagnostic::is_newer_format))
    };
    !conflict::marker_lines(text).is_empty()
        && conflict::resolutions(text)
            .iter()
            .any(|reading| is_newer(&reading.text))
}

/// The merged sides of conflict markers, if there are any and at least one side loads.
fn from_sides(
    text: &str,
    past: &EarlierStates<'_>,
    remarks: &mut Vec<String>,
) -> Option<(State, Origin)> {
    if conflict::marker_lines(text).is_empty() {
        return None;
    }
    let mut sides: Vec<(String, State)> = conflict::resolutions(text)
        .into_iter()
        .filter_map(|reading| Some((reading.sides, load(&reading.text).ok()?.state)))
        .collect();
    // The side with the most archived entries defines the first key of the file.
    sides.sort_by_key(|(_, state)| {
        std::cmp::Reverse(state.history.first_key_value().map_or(0, |(key, _)| *key))
    });
    let mut loaded = sides.into_iter();
    let (name, mut state) = loaded.next()?;
    let mut names = vec![name];
    let mut said = Vec::new();
    for (name, side) in loaded {
        let before = state.clone();
        said.extend(merge::merge_states(&mut state, &side));
        if state != before {
            names.push(name);
        }
    }
    past.add_missing_entries(&mut state, &mut said);
    said.dedup();
    check_invariants(&state, "the merged sides", remarks)?;
    remarks.extend(said);
    Some((state, Origin::Sides(names)))
}

/// The newest earlier version, completed by those before it.
fn from_earlier(past: &EarlierStates<'_>, remarks: &mut Vec<String>) -> Option<(State, Origin)> {
    let (version, newest) = past.loaded.first()?;
    let origin = Origin::Earlier {
        oid: version.oid.clone(),
        committed_at: version.committed_at,
    };
    let mut state = newest.clone();
    let mut said = Vec::new();
    past.add_missing_entries(&mut state, &mut said);
    if check_invariants(&state, "the completed version", remarks).is_none() {
        return Some((newest.clone(), origin));
    }
    remarks.extend(said);
    Some((state, origin))
}

fn check_invariants(state: &State, what: &str, remarks: &mut Vec<String>) -> Option<()> {
    let broken = invariant::check_state(state);
    remarks.extend(
        broken
            .iter()
            .map(|violation| format!("{what} cannot be used: {violation}")),
    );
    broken.is_empty().then_some(())
}

/// The differences between the newest earlier version and the proposal.
fn compare_states(newest: Option<&State>, proposal: &State) -> Vec<ProposalLine> {
    let nothing = State::default();
    let newest = newest.unwrap_or(&nothing);
    let mut lines = Vec::new();
    let first = proposal
        .history
        .first_key_value()
        .map_or(0, |(key, _)| *key);
    for (key, entry) in newest.history.range(first..) {
        if !proposal
            .history
            .values()
            .any(|other| merge::is_same_session(entry, other))
        {
            lines.push(ProposalLine::Lost(describe_entry(*key, entry)));
        }
    }
    for (key, entry) in &proposal.history {
        if !newest
            .history
            .values()
            .any(|other| merge::is_same_session(entry, other))
        {
            lines.push(ProposalLine::Gained(describe_entry(*key, entry)));
        }
    }
    for (name, before, after) in merge::moved_tracks(newest, proposal) {
        let before = before.map_or("nowhere".to_owned(), describe_pointer);
        lines.push(ProposalLine::Moved(format!(
            "track {name}: {before} -> {}",
            describe_pointer(after)
        )));
    }
    lines
}

fn describe_entry(key: u64, entry: &HistoryEntry) -> String {
    let session = entry
        .session_id
        .as_ref()
        .map_or("none", |session| session.as_str());
    let created = entry
        .created_at
        .map_or("unknown".to_owned(), |at| at.to_string());
    format!(
        "entry {key}: {} session {session} created {created}",
        entry.persona_id
    )
}

fn describe_pointer(track: &TrackState) -> String {
    let persona = track
        .persona_id
        .as_ref()
        .map_or("no persona", |persona| persona.as_str());
    let session = track
        .session_id
        .as_ref()
        .map_or("none", |session| session.as_str());
    format!("{persona} (session {session})")
}

/// Sessions that the broken file mentions and the proposal does not contain.
fn lost_sessions(text: &str, state: &State) -> Vec<ProposalLine> {
    let mut lost: Vec<&str> = text
        .split("session_id\"")
        .skip(1)
        .filter_map(|after| {
            let value = after
                .trim_start()
                .strip_prefix(':')?
                .trim_start()
                .strip_prefix('"')?;
            value.split(['"', '\n']).next()
        })
        .filter(|session| {
            !session.is_empty() && state.entry_of_session(&(*session).into()).is_none()
        })
        .collect();
    lost.sort_unstable();
    lost.dedup();
    lost.into_iter()
        .map(|session| {
            ProposalLine::Lost(format!("session {session}, which the broken file mentions"))
        })
        .collect()
}

#[cfg(test)]
mod tests;
