//! Composes the beats of a session from its scenario and from chance.

use std::collections::VecDeque;

use super::beat::{Beat, Deed};
use super::config::Config;
use super::scenario::{Ending, Scenario};
use super::words;
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
pub(super) fn compose(
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
        .unwrap_or_else(|| config.weights.draw(chance));
    let never_completes = scenario.ending.is_none() && chance.happens(knobs.never_completes);
    let outputs_missing = scenario.ending.is_none() && chance.happens(knobs.outputs_missing);
    knobs.acts("never-completes", never_completes);
    knobs.acts("outputs-missing", outputs_missing);
    let total = 60.0
        * scenario
            .minutes
            .unwrap_or_else(|| minutes(config, chance))
            .max(0.0);
    let queued = (2.0 + 38.0 * share(chance)).min(total * 0.05);
    let planning = (20.0 + 130.0 * share(chance)).min(total * 0.15);
    let mut beats = vec![
        Beat::new(queued, Deed::Start),
        Beat::new(planning, Deed::Plan),
    ];
    let work = total - queued - planning;

    let mut deeds = middle(scenario, ending, config, knobs, chance);
    deeds.extend(last(ending, about, scenario, chance, outputs_missing));
    if never_completes {
        deeds.retain(|deed| !matches!(deed, Deed::Complete { .. }));
    }
    // The last beats share one instant, so that equal timestamps occur as they do on the service.
    let paced = deeds.iter().filter(|deed| takes_time(deed)).count().max(1);
    let pace = work / paced as f64;
    let mut left = work;
    for deed in deeds {
        let after = if takes_time(&deed) {
            (pace * (0.5 + share(chance))).min(left)
        } else {
            0.0
        };
        left -= after;
        beats.push(Beat::new(after, deed));
    }
    if left > 0.0 {
        // The rest of the duration passes before the first of the closing beats.
        let closing = beats
            .iter()
            .rposition(|beat| takes_time(&beat.deed))
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
                    .acts("pushes-again", does)
                    .then_some(PUSHES_AGAIN_AFTER)
            });
        beats.extend(again.map(|after| Beat::new(after, Deed::PushOldDiff)));
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
        Some(files) => Deed::Edit(files.clone()),
        None => Deed::EditSomehow,
    };
    let mut beats = VecDeque::from([
        Beat::new(
            15.0 + 45.0 * share(chance),
            Deed::Say(words::agreement(chance)),
        ),
        Beat::new(60.0 + 540.0 * share(chance), edit),
    ]);
    if pushes {
        beats.push_back(Beat::new(30.0, Deed::Push));
    }
    beats.push_back(Beat::new(0.0, Deed::Complete { outputs: true }));
    beats
}

/// What happens when a late approval wakes a session that had stopped at its plan.
pub(super) fn after_late_approval(pushes: bool, chance: &mut Stream) -> VecDeque<Beat> {
    let mut beats = VecDeque::from([Beat::new(120.0 + 900.0 * share(chance), Deed::EditSomehow)]);
    if pushes {
        beats.push_back(Beat::new(30.0, Deed::Push));
    }
    beats.push_back(Beat::new(0.0, Deed::Complete { outputs: true }));
    beats
}

fn middle(
    scenario: &Scenario,
    ending: Ending,
    config: &Config,
    knobs: &Knobs,
    chance: &mut Stream,
) -> Vec<Deed> {
    if matches!(ending, Ending::PlanOnly) {
        return Vec::new();
    }
    let mut deeds = Vec::new();
    match &scenario.questions {
        Some(questions) => deeds.extend(questions.iter().cloned().map(Deed::Ask)),
        None if chance.happens(config.asks) => deeds.push(Deed::Ask(words::question(chance))),
        None => {}
    }
    match &scenario.progress {
        Some(texts) => deeds.extend(texts.iter().map(|text| progress(text))),
        None => {
            for _ in 0..chance.between(2, MOST_UPDATES) {
                deeds.push(update(knobs, chance));
            }
        }
    }
    let unknown = knobs.unknown_kinds && chance.happens(0.1);
    knobs.acts("unknown-kinds", unknown);
    let activity = scenario
        .unknown_activity
        .clone()
        .or_else(|| unknown.then(|| "codeReviewed".to_owned()));
    let artifact = scenario
        .unknown_artifact
        .clone()
        .or_else(|| unknown.then(|| "trace".to_owned()));
    if activity.is_some() || artifact.is_some() {
        deeds.push(Deed::Unknown {
            activity: activity.unwrap_or_default(),
            artifact: artifact.unwrap_or_default(),
        });
    }
    deeds
}

fn last(
    ending: Ending,
    about: &Circumstances<'_>,
    scenario: &Scenario,
    chance: &mut Stream,
    outputs_missing: bool,
) -> Vec<Deed> {
    let edit = scenario.changes().map_or(Deed::EditSomehow, Deed::Edit);
    let push = about.has_source && about.auto_create_pull;
    let complete = Deed::Complete {
        outputs: !outputs_missing,
    };
    match ending {
        Ending::Changes => {
            let mut deeds = vec![edit];
            deeds.extend(push.then_some(Deed::Push));
            deeds.push(complete);
            deeds
        }
        Ending::HiddenChanges => vec![edit, Deed::Complete { outputs: false }],
        Ending::PlanOnly => vec![Deed::Complete { outputs: false }],
        Ending::NoChange => {
            vec![
                Deed::Say(words::nothing_to_do(chance)),
                Deed::Complete { outputs: false },
            ]
        }
        Ending::OpenQuestion => {
            vec![
                Deed::Complete { outputs: false },
                Deed::AskInPassing(words::question(chance)),
            ]
        }
        Ending::Failure => {
            vec![Deed::Fail(
                scenario
                    .reason
                    .clone()
                    .unwrap_or_else(|| words::failure(chance)),
            )]
        }
        Ending::Stuck => vec![edit, Deed::Hang],
        Ending::StuckWithPull => {
            let mut deeds = vec![edit];
            deeds.extend(push.then_some(Deed::Push));
            deeds.push(Deed::Hang);
            deeds
        }
    }
}

fn progress(text: &str) -> Deed {
    Deed::Progress {
        title: text.to_owned(),
        description: String::new(),
    }
}

fn update(knobs: &Knobs, chance: &mut Stream) -> Deed {
    if knobs.acts("empty-progress", chance.happens(knobs.empty_progress)) {
        return progress("");
    }
    match chance.below(10) {
        0..3 => {
            let (command, output, exit_code) = words::command(chance);
            Deed::Bash {
                command,
                output,
                exit_code,
            }
        }
        3 => Deed::Media,
        4 => Deed::Say(words::remark(chance)),
        _ => {
            let (title, description) = words::progress(chance);
            Deed::Progress { title, description }
        }
    }
}

/// Whether time passes before this beat; the closing ones follow at once.
fn takes_time(deed: &Deed) -> bool {
    !matches!(
        deed,
        Deed::Push | Deed::Complete { outputs: true } | Deed::AskInPassing(_) | Deed::Hang
    )
}

/// A duration between the shortest and the longest; short ones are more frequent.
fn minutes(config: &Config, chance: &mut Stream) -> f64 {
    let low = config.shortest_minutes.max(0.01);
    let high = config.longest_minutes.max(low);
    low * (high / low).powf(share(chance))
}

/// A share between 0 and 1 in steps of a thousandth.
pub(super) fn share(chance: &mut Stream) -> f64 {
    chance.below(1001) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn life(scenario: &Scenario) -> Vec<Beat> {
        let about = Circumstances {
            has_source: true,
            auto_create_pull: true,
            scenario,
        };
        compose(
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
            let beats = life(&Scenario::ending(ending).taking(20.0));
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
            let minutes = minutes(&Config::default(), &mut Chance::new(seed).stream("life"));
            assert!((4.0..=60.0).contains(&minutes), "{minutes}");
        }
    }

    #[test]
    fn each_ending_has_its_own_last_deeds() {
        let last = |ending| life(&Scenario::ending(ending)).pop().unwrap().deed;
        assert_eq!(last(Ending::Changes), Deed::Complete { outputs: true });
        assert_eq!(
            last(Ending::HiddenChanges),
            Deed::Complete { outputs: false }
        );
        assert!(matches!(last(Ending::OpenQuestion), Deed::AskInPassing(_)));
        assert!(matches!(last(Ending::Failure), Deed::Fail(_)));
        assert_eq!(last(Ending::StuckWithPull), Deed::Hang);
        assert!(
            life(&Scenario::ending(Ending::StuckWithPull))
                .iter()
                .any(|beat| beat.deed == Deed::Push)
        );
        assert!(
            !life(&Scenario::ending(Ending::Stuck))
                .iter()
                .any(|beat| beat.deed == Deed::Push)
        );
    }
}
