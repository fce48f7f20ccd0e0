//! Tests merges that a person confirms in a conversation.

use phileas_domain::engine::{MergeRefusal, check_manual_merge};
use phileas_domain::state::Pause;

use super::*;

fn refusal(scenario: &mut Scenario) -> MergeRefusal {
    let facts = facts(scenario).clone();
    check_manual_merge(&scenario.snapshot(), PULL, &facts).unwrap_err()
}

#[test]
fn a_pause_is_named_and_only_a_mistake_in_the_plan_does_not_wait() {
    let mut scenario = reviewed(GREEN);
    scenario.paused_by_variable = Some("true".to_owned());
    let variable = refusal(&mut scenario);
    let text = "is not merged: the variable PHILEAS_PAUSED is `true`";
    assert_eq!((variable.text.as_str(), variable.waits), (text, true));

    let pause = || {
        Some(Pause {
            by: Some("ada".into()),
            reason: Some("a release".to_owned()),
            ..Pause::default()
        })
    };
    let mut scenario = reviewed(GREEN);
    let mut state = scenario.state().clone();
    state.paused = pause();
    scenario.set_state(state.clone());
    let paused = refusal(&mut scenario);
    let text =
        "is not merged: the repository is paused by ada: a release; `phileas resume` resumes it";
    assert_eq!((paused.text.as_str(), paused.waits), (text, true));
    state.paused = None;
    for track in state.tracks.values_mut() {
        track.paused = pause();
    }
    scenario.set_state(state);
    let paused = refusal(&mut scenario);
    let text = "is not merged: the track is paused by ada: a release; `phileas track resume default` resumes it";
    assert_eq!((paused.text.as_str(), paused.waits), (text, true));

    let broken = GREEN.replace("max_open_pulls = 1", "max_open_pulls = \"one\"");
    let mut scenario = reviewed(GREEN);
    let plan = phileas_domain::plan::SCHEDULES_PATH.to_owned();
    scenario.files.insert(plan, broken);
    let broken = refusal(&mut scenario);
    assert_eq!(broken.reason, Reason::PlanInvalid, "{}", broken.text);
    let text = "is not merged: the plan has a mistake that may concern everything: ";
    assert!(broken.text.starts_with(text), "{}", broken.text);
    assert!(broken.text.contains("max_open_pulls"), "{}", broken.text);
    assert!(!broken.waits, "time does not correct it");
}

#[test]
fn a_merged_pull_request_is_merged_already() {
    let mut scenario = reviewed(GREEN);
    facts(&mut scenario).state = PullState::Merged;
    let merged = refusal(&mut scenario);
    assert_eq!(merged.reason, Reason::NothingToDo);
    assert_eq!(merged.text, "is not merged: it is merged already");
}
