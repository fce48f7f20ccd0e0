//! Templates that take what they can, against the service: other repositories are answered as if it were not there.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::renderer::PROCESSOR_LIMIT_SECS;

use super::rig::Rig;
use super::stage::{Ground, Sessions};
use crate::support::{hostile, print_line};

/// The processor time that a template may take. A webhook that waits for a template is answered later than this; how much
/// sooner than this one is answered depends on the machine.
const A_TEMPLATE: Duration = Duration::from_secs(PROCESSOR_LIMIT_SECS);
/// How long the hostile repository may take to come to its honest persona. Each of its templates has two seconds.
const PAST_ALL: Duration = Duration::from_secs(600);

/// Every fifth of the hostile personas: a minute of the processor's time; each of them is stopped elsewhere.
fn personas() -> Vec<(String, String)> {
    hostile::personas().into_iter().step_by(5).collect()
}

/// A repository whose personas are all hostile but for the last.
fn files(owner: &str, _: usize) -> Vec<(String, String)> {
    if owner != "evil" {
        return Vec::new();
    }
    let personas = personas();
    let cycle: Vec<String> = personas.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let plan = format!("cycle = [{}, \"p0\"]\n", cycle.join(", "));
    let prompts = personas.into_iter().map(|(id, text)| {
        let path = format!(".jules/personas/{id}/prompt.md.j2");
        (path, text)
    });
    prompts
        .chain([(".jules/schedules.toml".to_owned(), plan)])
        .collect()
}

#[test]
fn webhooks_of_others_are_answered_while_a_repository_takes_what_it_can() {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let owners = [("evil", 1), ("acme", 2), ("zenith", 2)];
    let rig = Rig::of(Ground::with_files(
        Timestamp::now(),
        &owners,
        &sessions,
        files,
    ));
    let mut process = rig.start();
    let mut latencies = Vec::new();
    let begun = Instant::now();
    loop {
        let sessions = rig.sessions();
        if sessions.keys().any(|source| source.contains("evil/")) && sessions.len() == 5 {
            break;
        }
        assert!(begun.elapsed() < PAST_ALL, "{sessions:?}");
        rig.stir();
        for (owner, took) in rig.post_timed(process.public) {
            if owner != "evil" {
                latencies.push(took);
            }
        }
        rig.pass(SignedDuration::from_secs(1));
        std::thread::sleep(Duration::from_millis(100));
    }
    latencies.sort();
    let at = |share: usize| latencies[(latencies.len() * share / 100).min(latencies.len() - 1)];
    print_line(&format!(
        "{} hostile templates took {:?}; {} webhooks of others meanwhile: median {:?}, p99 {:?}",
        personas().len(),
        begun.elapsed(),
        latencies.len(),
        at(50),
        at(99)
    ));
    assert!(latencies.len() >= 100, "{}", latencies.len());
    assert!(at(99) < A_TEMPLATE, "{:?}", at(99));
    assert_eq!(
        process.child.try_wait().unwrap(),
        None,
        "the process has not ended"
    );
    let (took, code) = process.terminate();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(25), "{took:?}");
}
