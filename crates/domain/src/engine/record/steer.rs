//! Lets a person set a track's pointer, or resume a turn.

use crate::engine::lookup::pointer::last_step_index;
use crate::plan::{StepKind, Track};
use crate::state::{TrackState, Turn};

/// Why a pointer cannot be set. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// A turn is live, and its end decides the next step.
    #[error(
        "a turn of `{persona}` is under way{session}; wait for its end, or end it by `phileas session cancel`"
    )]
    Live {
        /// Whose turn.
        persona: String,
        /// Its session, as part of the sentence.
        session: String,
    },
    /// The track ends before this index.
    #[error("the track has {steps} steps, from 0 to {}; there is no {index}", steps.saturating_sub(1))]
    Beyond {
        /// The requested index.
        index: usize,
        /// How many steps there are.
        steps: usize,
    },
}

/// Resumes a turn that waits for a person: with the session that has its marker, where one is found, else with its next
/// attempt.
pub fn resume_turn(turn: &mut Turn) {
    turn.ambiguous = 0;
    turn.late_finds = 0;
    // Without a session, a notice was opened for a lookalike or an unreadable session. Without the intent only the
    // marker counts; the next listings reach back to the intent's time.
    if turn.session_id.is_none()
        && turn.warned_at.is_some()
        && let Some(intent) = turn.intent.take()
    {
        turn.attempt += 1;
        turn.ambiguous = 1;
        turn.listed_empty_at = Some(intent.created_at);
    }
    turn.warned_at = None;
    turn.not_before = None;
}

/// Returns the index of the track's next step, whether it can run or not. `None`: the track has no steps.
#[must_use]
pub fn next_step(plan: &Track, state: &TrackState) -> Option<usize> {
    let count = plan.steps.len();
    if count == 0 {
        return None;
    }
    Some(last_step_index(plan, state).map_or(0, |last| (last + 1) % count))
}

/// Makes the step at `index` the next one.
///
/// # Errors
///
/// [`SteerError`]: while a turn is live, and beyond the track's end.
pub fn set_next_step(plan: &Track, state: &mut TrackState, index: usize) -> Result<(), SteerError> {
    if let Some(turn) = state.turns.values().next() {
        let session = turn.session_id.as_ref();
        return Err(SteerError::Live {
            persona: turn.persona_id.to_string(),
            session: session.map_or_else(String::new, |id| format!(" (session {id})")),
        });
    }
    if index >= plan.steps.len() {
        return Err(SteerError::Beyond {
            index,
            steps: plan.steps.len(),
        });
    }
    if next_step(plan, state) == Some(index) {
        return Ok(());
    }
    // The pointer names the step that ran last; before the first step there is none.
    let last = index.checked_sub(1);
    state.index = last.map(|last| last as u64);
    state.persona_id = last.and_then(|last| match &plan.steps[last].kind {
        StepKind::Persona(id) => Some(id.clone()),
        StepKind::Layer(_) => None,
    });
    // They belonged to the step that ran last.
    state.session_id = None;
    state.pr_number = None;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Policy, Step};
    use crate::state::{Extra, Intent};

    fn plan() -> Track {
        let steps = ["a", "b", "a", "c"].map(|id| Step {
            kind: StepKind::Persona(id.into()),
            policy: Policy::default(),
        });
        Track {
            name: "default".into(),
            steps: steps.to_vec(),
            start: None,
            policy: Policy::default(),
        }
    }

    #[test]
    fn every_step_can_be_made_the_next_one() {
        let plan = plan();
        let mut state = TrackState {
            persona_id: Some("b".into()),
            index: Some(1),
            seq: 6,
            passes: 1,
            ..TrackState::default()
        };
        assert_eq!(next_step(&plan, &state), Some(2));
        for index in [0, 3, 1, 2, 0] {
            set_next_step(&plan, &mut state, index).unwrap();
            assert_eq!(next_step(&plan, &state), Some(index));
        }
        assert_eq!((state.seq, state.passes), (6, 1));
    }

    #[test]
    fn resuming_a_turn_drops_only_an_intent_with_a_notice() {
        let at = |minute: i64| jiff::Timestamp::from_second(60 * minute).expect("in range");
        let intent = Intent {
            created_at: at(1),
            not_after: at(3),
            holder: "cli:1".into(),
            prompt_sha256: String::new(),
            extra: Extra::new(),
        };
        let id = crate::model::TurnId::parse("0123456789ab").unwrap();
        let held = Turn {
            attempt: 2,
            ambiguous: 2,
            late_finds: 2,
            not_before: Some(at(9)),
            ..Turn::new(id, "b".into())
        };
        let free = Turn {
            ambiguous: 0,
            late_finds: 0,
            not_before: None,
            ..held.clone()
        };
        let gone_on = |turn: &Turn| {
            let mut turn = turn.clone();
            resume_turn(&mut turn);
            turn
        };
        // It may have a session: the next attempt may start.
        assert_eq!(gone_on(&held), free);
        let warned = Turn {
            warned_at: Some(at(5)),
            ..held.clone()
        };
        assert_eq!(gone_on(&warned), free);
        // A session has its marker: it is searched from the intent's time on.
        let announced = Turn {
            intent: Some(intent.clone()),
            ..warned.clone()
        };
        let looked_for = Turn {
            attempt: 3,
            ambiguous: 1,
            listed_empty_at: Some(at(1)),
            ..free.clone()
        };
        assert_eq!(gone_on(&announced), looked_for);
        // Its session is just being started: nothing changes.
        let starting = Turn {
            warned_at: None,
            ..announced.clone()
        };
        let goes_on = Turn {
            intent: Some(intent),
            ..free.clone()
        };
        assert_eq!(gone_on(&starting), goes_on);
        // Its session asked a question: it keeps its session and its intent.
        let asked = Turn {
            session_id: Some("77".into()),
            ..announced
        };
        let answered = Turn {
            session_id: Some("77".into()),
            ..goes_on
        };
        assert_eq!(gone_on(&asked), answered);
    }

    #[test]
    fn a_live_turn_and_a_missing_step_are_refused() {
        let plan = plan();
        let mut state = TrackState::default();
        assert_eq!(
            set_next_step(&plan, &mut state, 4).unwrap_err().to_string(),
            "the track has 4 steps, from 0 to 3; there is no 4"
        );
        let id = crate::model::TurnId::parse("0123456789ab").unwrap();
        state.turns.insert("".into(), Turn::new(id, "b".into()));
        let before = state.clone();
        assert!(matches!(
            set_next_step(&plan, &mut state, 0),
            Err(SteerError::Live { .. })
        ));
        assert_eq!(state, before);
    }
}
