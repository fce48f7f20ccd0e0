//! Tests the view of a repository that all renderers show.

use phileas_domain::engine::{RepositoryView, SessionState, TurnStage, place_text, plain_text};

use crate::support::scenario::Scenario;

fn view(scenario: &Scenario) -> RepositoryView {
    RepositoryView::new(&scenario.snapshot(), &scenario.lines)
}

#[test]
fn a_turn_is_at_work_and_then_needs_a_person() {
    let plan = "[tracks]\none = [\"a\"]\n[schedules]\nb = \"0 9 * * *\"\n[defaults]\nplan_approval = \"writers\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(1);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    let seen = view(&scenario);
    assert_eq!(seen.needs, []);
    let turn = &seen.tracks[0].turns[0];
    assert_eq!(turn.stage, TurnStage::AtWork);
    assert_eq!(turn.sentence(true), "at work since 2026-01-05 00:00 UTC");
    let (next, at) = seen.next_start().unwrap();
    assert_eq!(
        (plain_text(&place_text(None, &next.name)), at.to_string()),
        (
            "b on its schedule".to_owned(),
            "2026-01-05T09:00:00Z".to_owned()
        )
    );

    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    let seen = view(&scenario);
    let turn = &seen.tracks[0].turns[0];
    assert_eq!(turn.stage, TurnStage::NeedsPerson);
    assert_eq!(
        turn.sentence(true),
        "waits since 2026-01-05 00:01 UTC for a person: its plan waits for the approval of a person \
         (`waiting.plan_approval`)"
    );
    let notice = seen.needs[0].issue;
    assert_eq!(notice, Some(scenario.notices[0].number), "{:?}", seen.needs);
    assert!(!seen.needs[0].title.contains("phileas: "));
    assert_eq!(seen.needs.len(), 1, "the notice is about that turn");
}
