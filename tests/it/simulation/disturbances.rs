//! Everything that can be turned: the models' own knobs, what befalls requests, and what befalls processes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs};
use serde_json::{Value, json};

use super::case::{Case, name_of};
use super::outages::outages;

/// Answers are lost, before the effect or after it.
const LOST_ANSWERS: &str = "lost-answers";
/// No answer comes, and what was asked for was done, or was not.
const TIME_OUTS: &str = "time-outs";
/// Conflicts and refusals: 409 and 422.
pub(super) const REFUSALS: &str = "refusals";
/// What they are refused with.
pub(super) const REFUSED_WITH: [u16; 2] = [409, 422];
/// Limits: 429, and GitHub's primary and secondary ones.
const LIMITS: &str = "limits";
/// Faults of the services: 500, 502 and 503.
const SERVER_ERRORS: &str = "server-errors";
/// The App's tokens, the workflow's and the Jules key are refused in the middle of it all, each for minutes. An App's
/// tokens end after an hour in any case.
pub(super) const TOKEN_EXPIRY: &str = "token-expiry";
/// The repository gets another name, and its old one back.
pub(super) const RENAMES: &str = "renames";
/// Machines' clocks are set, forwards and back.
pub(super) const CLOCK_STEPS: &str = "clock-steps";
/// There is little room in the inbox.
pub(super) const INBOX_FULL: &str = "inbox-full";
/// Processes die far more often.
pub(super) const MANY_KILLS: &str = "many-kills";
/// Processes stand still for minutes and go on.
pub(super) const STALLS: &str = "stalls";
/// Another writer changes the ledger's branch.
pub(super) const UNTRUSTED_COMMITS: &str = "untrusted-commits";

/// The plans allow a second attempt.
pub(super) const RETRIES: &str = "retries";

/// Services are away for minutes.
pub(super) const OUTAGES: &str = "outages";

/// Sessions have the same ideas again, the maintainer refuses some of them, and phileas turns plans down and closes what is
/// unwanted.
pub(super) const UNWANTED_WORK: &str = "unwanted-work";

/// The Jules account allows less than the plans.
pub(super) const SMALL_ACCOUNT: &str = "small-account";

/// The inbox cannot be reached for minutes, and what it was asked for is done or not.
pub(super) const INBOX_AWAY: &str = "inbox-away";

/// Knobs of the models that nothing here can bring to act. Turning them would only feign that they were seen.
const OUT_OF_REACH: [&str; 7] = [
    // Sessions are archived while phileas works; it deletes none.
    "delete-running",
    // The adapters never ask for pages of less than 1 or more than 100.
    "page-size-rejected",
    // No prompt comes near it. With so little allowed that some do, nothing would begin but what is short: a persona whose
    // prompt is too long is refused until a person shortens it.
    "prompt-limit",
    // A plan is approved where it was seen waiting, seconds before. That its session gives up in these does not happen.
    "late-approval-ignored",
    // Only its owner resumes a paused session, in the web app: phileas waits, sends it nothing and takes
    // nothing out of the archive.
    "resumed-by",
    // The repositories here have no check that fails.
    "ci-fixer-seconds",
    // Comments on pull requests of completed sessions are commands to phileas here, and `/phileas approve` comes before.
    "answers-comments",
];

const OWN: [&str; 17] = [
    LOST_ANSWERS,
    TIME_OUTS,
    REFUSALS,
    LIMITS,
    SERVER_ERRORS,
    TOKEN_EXPIRY,
    RENAMES,
    CLOCK_STEPS,
    INBOX_FULL,
    INBOX_AWAY,
    MANY_KILLS,
    STALLS,
    UNTRUSTED_COMMITS,
    RETRIES,
    OUTAGES,
    SMALL_ACCOUNT,
    UNWANTED_WORK,
];

/// What is little enough to be met by what happens here.
const PRIMARY_LIMIT: u64 = 150;
const CONTENT_PER_MINUTE: u64 = 1;
const ACTIVITY_READS_PER_MINUTE: u64 = 4;
const CREATE_BURST: u64 = 1;

/// The names of all of them, in a fixed order.
pub(super) fn names() -> Vec<String> {
    let own = OWN.iter().map(|name| (*name).to_owned());
    knob_names().chain(own).collect()
}

/// The troubles of our own.
pub(super) fn own() -> impl Iterator<Item = &'static str> {
    OWN.into_iter()
}

/// The models' knobs that are turned here.
pub(super) fn knob_names() -> impl Iterator<Item = String> {
    let reached = |name: &String| !OUT_OF_REACH.contains(&name.as_str());
    Knobs::names().into_iter().filter(reached)
}

/// What a knob of the models is turned to, one of these; nothing for a trouble of our own.
pub(super) fn values(name: &str) -> Vec<Value> {
    match name {
        // An installation that is shared by three replicas is not this busy; with little allowed, it meets its limit.
        "primary-limit" => vec![json!(PRIMARY_LIMIT)],
        "content-per-minute" => vec![json!(CONTENT_PER_MINUTE)],
        "activity-reads-per-minute" => vec![json!(ACTIVITY_READS_PER_MINUTE)],
        "create-burst" => vec![json!(CREATE_BURST)],
        _ => Knobs::test_values(name),
    }
}

/// Whether something can be turned so, with its value where it has one.
pub(super) fn check(turned: &str) -> Result<(), String> {
    let mut knobs = Knobs::documented();
    match turned.split_once('=') {
        None if names().iter().any(|name| name == turned) => Ok(()),
        Some((name, value)) if values(name).is_empty() => {
            Err(format!("`{name}` has no value `{value}`"))
        }
        Some((name, value)) => set(&mut knobs, name, value),
        None => Err(format!("there is no knob `{turned}`")),
    }
}

fn set(knobs: &mut Knobs, name: &str, value: &str) -> Result<(), String> {
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    knobs.set(&json!({ name: value }))
}

/// The models' knobs as a case turns them.
pub(super) fn knobs(case: &Case) -> Knobs {
    let mut knobs = Knobs::documented();
    for turned in &case.turned {
        match turned.split_once('=') {
            Some((name, value)) => set(&mut knobs, name, value).unwrap(),
            // The others are not the models'.
            None => {
                let _is_own = knobs.set_worst(name_of(turned));
            }
        }
    }
    knobs
}

/// What befalls requests in a case that begins at `start`.
pub(super) fn faults(case: &Case, start: Timestamp) -> FaultPlan {
    let rules = named_faults(case, start).into_iter();
    FaultPlan {
        rules: rules.map(|(_, rule)| rule).collect(),
    }
}

/// How often each kind of fault has struck, where each of its rules has struck so often.
pub(super) fn strokes(case: &Case, start: Timestamp, struck: &[u64]) -> BTreeMap<String, u64> {
    let mut strokes = BTreeMap::new();
    for ((name, _), count) in named_faults(case, start).into_iter().zip(struck) {
        *strokes.entry(name).or_default() += count;
    }
    strokes
}

/// The rules, each with the trouble that it is of and what it does: `refusals: 409 of Jules`.
fn named_faults(case: &Case, start: Timestamp) -> Vec<(String, FaultRule)> {
    let status = |status: u16, done: bool, retry_after: Option<u64>| Fault::Status {
        status,
        retry_after,
        html: status == 502,
        done,
    };
    let github = Some(Face::Github);
    let jules = Some(Face::Jules);
    // Where a service is away, nothing else befalls its requests.
    let mut rules: Vec<(String, FaultRule)> = outages(case, start)
        .into_iter()
        .map(|rule| (rule_text(OUTAGES, &rule), rule))
        .collect();
    let mut add = |name: &str, face: Option<Face>, probability: f64, fault: Fault| {
        if case.is_turned(name) {
            let rule = rule(face, probability, fault);
            rules.push((rule_text(name, &rule), rule));
        }
    };
    add(LOST_ANSWERS, None, 0.015, Fault::DropAfter {});
    add(LOST_ANSWERS, None, 0.015, Fault::DropBefore {});
    add(TIME_OUTS, None, 0.01, Fault::TimeoutAfter {});
    add(TIME_OUTS, None, 0.005, Fault::TimeoutBefore {});
    for refusal in REFUSED_WITH {
        add(REFUSALS, github, 0.005, status(refusal, false, None));
        add(REFUSALS, jules, 0.005, status(refusal, false, None));
    }
    add(LIMITS, jules, 0.01, status(429, false, Some(60)));
    add(LIMITS, github, 0.003, status(429, false, Some(60)));
    let secondary = Fault::SecondaryLimit {
        retry_after: Some(60),
    };
    add(LIMITS, github, 0.002, secondary);
    add(LIMITS, github, 0.0005, Fault::PrimaryLimit {});
    add(SERVER_ERRORS, None, 0.01, status(500, false, None));
    add(SERVER_ERRORS, None, 0.005, status(502, true, None));
    add(SERVER_ERRORS, jules, 0.01, status(503, false, None));
    rules
}

/// What a rule does, for people.
fn rule_text(trouble: &str, rule: &FaultRule) -> String {
    let what = match &rule.fault {
        Fault::Status { status, .. } => status.to_string(),
        Fault::DropBefore {} => "cut before the effect".to_owned(),
        Fault::DropAfter {} => "cut after the effect".to_owned(),
        Fault::TimeoutBefore {} => "no answer and no effect".to_owned(),
        Fault::TimeoutAfter {} => "no answer after the effect".to_owned(),
        Fault::PrimaryLimit {} => "the primary limit".to_owned(),
        Fault::SecondaryLimit { .. } => "a secondary limit".to_owned(),
        Fault::Slow { .. } => "slow".to_owned(),
    };
    let whose = match rule.face {
        Some(Face::Github) => " of GitHub",
        Some(Face::Jules) => " of Jules",
        None => "",
    };
    format!("{trouble}: {what}{whose}")
}

fn rule(face: Option<Face>, probability: f64, fault: Fault) -> FaultRule {
    FaultRule {
        face,
        method: None,
        path: None,
        body: None,
        nth: None,
        probability: Some(probability),
        from: None,
        until: None,
        fault,
    }
}
