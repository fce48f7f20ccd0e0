//! Composes the beats of a session from its scenario and from chance.

use std::collections::VecDeque;

use super::beat::{Beat, BeatAction};
use super::config::Config;
use super::sample_texts;
use super::scenario::{Ending, Scenario};
use crate::chance::Stream;
use crate::knobs::Knobs;

/// Seconds between completion and the old diff coming back, where a knob asks for it.
const PUSHES_AGAIN_AFTER: f64 = 3600.0;
/// The most progress updates of one session.
const MOST_UPDATES: u64 = 12;

/// The facts of a session that its beats depend on.
pub(super) struct Circumstances<'a> {
    pub(super) has_source: bool,
    pub(super) auto_create_pull: bool,
    pub(super) scenario: &'a Scenario,
}

/// The beats of a new session, from start to end.
pub(super) fn compose_beats(
    about: &Circumstances<'_>,
    config: &Config,
    knobs: &Knobs,
    chance: &mut Stream,
) -> VecDeque<Beat> {
    let scenario = about.scenario;
    if let Some(beats) = &scenario.beats {
        return beats.iter().cloned().collect();
    }
    let ending = scenario
        .ending
        .unwrap_or_else(|| config.weights.draw_ending(chance));
    let never_completes = scenario.ending.is_none() && chance.happens(knobs.never_completes);
    let outputs_missing = scenario.ending.is_none() && chance.happens(knobs.outputs_missing);
    knobs.count_use("never-completes", never_completes);
    knobs.count_use("outputs-missing", outputs_missing);
    let total = 60.0
        * scenario
            .minutes
            .unwrap_or_else(|| draw_minutes(config, chance))
            .max(0.0);
    let queued = (2.0 + 38.0 * draw_share(chance)).min(total * 0.05);
    let planning = (20.0 + 130.0 * draw_share(chance)).min(total * 0.15);
    let mut beats = vec![
        Beat::new(queued, BeatAction::Start),
        Beat::new(planning, BeatAction::Plan),
    ];
    let work = total - queued - planning;

    let mut actions = middle_beats(scenario, ending, config, knobs, chance);
    actions.extend(final_beats(
        ending,
        about,
        scenario,
        chance,
        outputs_missing,
    ));
    if never_completes {
        actions.retain(|action| !matches!(action, BeatAction::Complete { .. }));
    }
    // The last beats share one instant, so that equal timestamps occur as they do on the service.
    let paced = actions
        .iter()
        .filter(|action| takes_time(action))
        .count()
        .max(1);
    let pace = work / paced as f64;
    let mut left = work;
    for action in actions {
        let after = if takes_time(&action) {
            (pace * (0.5 + draw_share(chance))).min(left)
        } else {
            0.0
        };
        left -= after;
        beats.push(Beat::new(after, action));
    }
    if left > 0.0 {
        // The rest of the duration passes before the first of the closing beats.
        let closing = beats
            .iter()
            .rposition(|beat| takes_time(&beat.action))
            .unwrap_or(1);
        beats[closing].after += left;
    }
    if matches!(ending, Ending::Changes) && about.auto_create_pull {
        let again = scenario
            .pushes_again_after
            .map(|minutes| minutes * 60.0)
            .or_else(|| {
                let does = chance.happens(knobs.pushes_again);
                knobs
                    .count_use("pushes-again", does)
                    .then_some(PUSHES_AGAIN_AFTER)
            });
        beats.extend(again.map(|after| Beat::new(after, BeatAction::PushOldDiff)));
    }
    beats.into()
}

/// What happens after a message to a completed session.
pub(super) fn follow_up(
    scenario: &Scenario,
    message: usize,
    pushes: bool,
    chance: &mut Stream,
) -> VecDeque<Beat> {
    let edit = match scenario.follow_ups.get(message) {
        Some(files) => BeatAction::Edit(files.clone()),
        None => BeatAction::EditSomehow,
    };
    let mut beats = VecDeque::from([
        Beat::new(
            15.0 + 45.0 * draw_share(chance),
            BeatAction::Say(sample_texts::agreement_text(chance)),
        ),
        Beat::new(60.0 + 540.0 * draw_share(chance), edit),
    ]);
    if pushes {
        beats.push_back(Beat::new(30.0, BeatAction::Push));
    }
    beats.push_back(Beat::new(0.0, BeatAction::Complete { outputs: true }));
    beats
}

/// What happens when a late approval wakes a session that had stopped at its plan.
pub(super) fn after_late_approval(pushes: bool, chance: &mut Stream) -> VecDeque<Beat> {
    let mut beats = VecDeque::from([Beat::new(
        120.0 + 900.0 * draw_share(chance),
        BeatAction::EditSomehow,
    )]);
    if pushes {
        beats.push_back(Beat::new(30.0, BeatAction::Push));
    }
    beats.push_back(Beat::new(0.0, BeatAction::Complete { outputs: true }));
    beats
}

fn middle_beats(
    scenario: &Scenario,
    ending: Ending,
    config: &Config,
    knobs: &Knobs,
    chance: &mut Stream,
) -> Vec<BeatAction> {
    if matches!(ending, Ending::PlanOnly) {
        return Vec::new();
    }
    let mut actions = Vec::new();
    match &scenario.questions {
        Some(questions) => actions.extend(questions.iter().cloned().map(BeatAction::Ask)),
        None if chance.happens(config.asks) => {
            actions.push(BeatAction::Ask(sample_texts::question_text(chance)))
        }
        None => {}
    }
    match &scenario.progress {
        Some(texts) => actions.extend(texts.iter().map(|text| progress_action(text))),
        None => {
            for _ in 0..chance.draw_between(2, MOST_UPDATES) {
                actions.push(random_update(knobs, chance));
            }
        }
    }
    let unknown = knobs.unknown_kinds && chance.happens(0.1);
    knobs.count_use("unknown-kinds", unknown);
    let activity = scenario
        .unknown_activity
        .clone()
        .or_else(|| unknown.then(|| "codeReviewed".to_owned()));
    let artifact = scenario
        .unknown_artifact
        .clone()
        .or_else(|| unknown.then(|| "trace".to_owned()));
    if activity.is_some() || artifact.is_some() {
        actions.push(BeatAction::Unknown {
            activity: activity.unwrap_or_default(),
            artifact: artifact.unwrap_or_default(),
        });
    }
    actions
}

fn final_beats(
    ending: Ending,
    about: &Circumstances<'_>,
    scenario: &Scenario,
    chance: &mut Stream,
    outputs_missing: bool,
) -> Vec<BeatAction> {
    let edit = scenario
        .file_changes()
        .map_or(BeatAction::EditSomehow, BeatAction::Edit);
    let push = about.has_source && about.auto_create_pull;
    let complete = BeatAction::Complete {
        outputs: !outputs_missing,
    };
    match ending {
        Ending::Changes => {
            let mut actions = vec![edit];
            actions.extend(push.then_some(BeatAction::Push));
            actions.push(complete);
            actions
        }
        Ending::HiddenChanges => vec![edit, BeatAction::Complete { outputs: false }],
        Ending::PlanOnly => vec![BeatAction::Complete { outputs: false }],
        Ending::NoChange => {
            vec![
                BeatAction::Say(sample_texts::nothing_to_do(chance)),
                BeatAction::Complete { outputs: false },
            ]
        }
        Ending::OpenQuestion => {
            vec![
                BeatAction::Complete { outputs: false },
                BeatAction::AskInPassing(sample_texts::question_text(chance)),
            ]
        }
        Ending::Failure => {
            vec![BeatAction::Fail(
                scenario
                    .reason
                    .clone()
                    .unwrap_or_else(|| sample_texts::failure_reason(chance)),
            )]
        }
        Ending::Stuck => vec![edit, BeatAction::Hang],
        Ending::StuckWithPull => {
            let mut actions = vec![edit];
            actions.extend(push.then_some(BeatAction::Push));
            actions.push(BeatAction::Hang);
            actions
        }
    }
}

fn progress_action(text: &str) -> BeatAction {
    BeatAction::Progress {
        title: text.to_owned(),
        description: String::new(),
    }
}

fn random_update(knobs: &Knobs, chance: &mut Stream) -> BeatAction {
    if knobs.count_use("empty-progress", chance.happens(knobs.empty_progress)) {
        return progress_action("");
    }
    match chance.draw_below(10) {
        0..3 => {
            let (command, output, exit_code) = sample_texts::command_run(chance);
            BeatAction::Bash {
                command,
                output,
                exit_code,
            }
        }
        3 => BeatAction::Media,
        4 => BeatAction::Say(sample_texts::remark_text(chance)),
        _ => {
            let (title, description) = sample_texts::progress_text(chance);
            BeatAction::Progress { title, description }
        }
    }
}

/// Whether time passes before this beat; the closing ones follow at once.
fn takes_time(action: &BeatAction) -> bool {
    !matches!(
        action,
        BeatAction::Push
            | BeatAction::Complete { outputs: true }
            | BeatAction::AskInPassing(_)
            | BeatAction::Hang
    )
}

/// A duration between the shortest and the longest; short ones are more frequent.
fn draw_minutes(config: &Config, chance: &mut Stream) -> f64 {
    let low = config.shortest_minutes.max(0.01);
    let high = config.longest_minutes.max(low);
    low * (high / low).powf(draw_share(chance))
}

/// A share between 0 and 1 in steps of a thousandth.
pub(super) fn draw_share(chance: &mut Stream) -> f64 {
    chance.draw_below(1001) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn composed_life(scenario: &Scenario) -> Vec<Beat> {
        let about = Circumstances {
            has_source: true,
            auto_create_pull: true,
            scenario,
        };
        compose_beats(
            &about,
            &Config::default(),
            &Knobs::documented(),
            &mut Chance::new(5).stream("life"),
        )
        .into()
    }

    fn minutes_of(beats: &[Beat]) -> f64 {
        beats.iter().map(|beat| beat.after).sum::<f64>() / 60.0
    }

    #[test]
    fn a_life_takes_the_time_that_the_script_says() {
        for ending in [
            Ending::Changes,
            Ending::PlanOnly,
            Ending::Failure,
            Ending::NoChange,
            Ending::Stuck,
        ] {
            let beats = composed_life(&Scenario::with_ending(ending).with_minutes(20.0));
            assert!(
                (minutes_of(&beats) - 20.0).abs() < 0.01,
                "{ending:?}: {}",
                minutes_of(&beats)
            );
            assert!(beats.iter().all(|beat| beat.after >= 0.0));
        }
    }

    #[test]
    fn drawn_durations_are_realistic() {
        for seed in 0..200 {
            let minutes = draw_minutes(&Config::default(), &mut Chance::new(seed).stream("life"));
            assert!((4.0..=60.0).contains(&minutes), "{minutes}");
        }
    }

    #[test]
    fn each_ending_has_its_own_last_actions() {
        let last = |ending| {
            composed_life(&Scenario::with_ending(ending))
                .pop()
                .unwrap()
                .action
        };
        assert_eq!(
            last(Ending::Changes),
            BeatAction::Complete { outputs: true }
        );
        assert_eq!(
            last(Ending::HiddenChanges),
            BeatAction::Complete { outputs: false }
        );
        assert!(matches!(
            last(Ending::OpenQuestion),
            BeatAction::AskInPassing(_)
        ));
        assert!(matches!(last(Ending::Failure), BeatAction::Fail(_)));
        assert_eq!(last(Ending::StuckWithPull), BeatAction::Hang);
        assert!(
            composed_life(&Scenario::with_ending(Ending::StuckWithPull))
                .iter()
                .any(|beat| beat.action == BeatAction::Push)
        );
        assert!(
            !composed_life(&Scenario::with_ending(Ending::Stuck))
                .iter()
                .any(|beat| beat.action == BeatAction::Push)
        );
    }
}
