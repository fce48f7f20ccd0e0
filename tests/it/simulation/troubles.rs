//! Everything that can be turned: the models' own knobs, what befalls requests, and what befalls processes.

use jiff::Timestamp;
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs};

use super::case::Case;
use super::outages::outages;

/// Answers are lost, before the effect or after it.
const LOST_ANSWERS: &str = "lost-answers";
/// No answer comes, and what was asked for was done, or was not.
const TIME_OUTS: &str = "time-outs";
/// Conflicts and refusals: 409 and 422.
pub(super) const REFUSALS: &str = "refusals";
/// Limits: 429, and GitHub's primary and secondary ones.
const LIMITS: &str = "limits";
/// Faults of the services: 500, 502 and 503.
const SERVER_ERRORS: &str = "server-errors";
/// Tokens are refused in the middle of it all, for minutes. An App's tokens end after an hour in any case.
const TOKEN_EXPIRY: &str = "token-expiry";
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
/// Somebody else writes to the ledger's branch.
pub(super) const STRANGERS_COMMITS: &str = "strangers-commits";

/// The plans allow a second attempt.
pub(super) const RETRIES: &str = "retries";

/// Services are away for minutes, or Jules refuses the key.
pub(super) const OUTAGES: &str = "outages";

/// The Jules account allows less than the plans.
pub(super) const SMALL_ACCOUNT: &str = "small-account";

const OWN: [&str; 15] = [
    LOST_ANSWERS,
    TIME_OUTS,
    REFUSALS,
    LIMITS,
    SERVER_ERRORS,
    TOKEN_EXPIRY,
    RENAMES,
    CLOCK_STEPS,
    INBOX_FULL,
    MANY_KILLS,
    STALLS,
    STRANGERS_COMMITS,
    RETRIES,
    OUTAGES,
    SMALL_ACCOUNT,
];

/// The names of all of them, in a fixed order.
pub(super) fn names() -> Vec<String> {
    let own = OWN.iter().map(|name| (*name).to_owned());
    Knobs::names().into_iter().chain(own).collect()
}

/// The models' knobs as a case turns them.
pub(super) fn knobs(case: &Case) -> Knobs {
    let mut knobs = Knobs::documented();
    for name in &case.turned {
        // The others are not the models'.
        let _is_own = knobs.turn_worst(name);
    }
    knobs
}

/// What befalls requests in a case that begins at `start`.
pub(super) fn faults(case: &Case, start: Timestamp) -> FaultPlan {
    let status = |status: u16, done: bool, retry_after: Option<u64>| Fault::Status {
        status,
        retry_after,
        html: status == 502,
        done,
    };
    let github = Some(Face::Github);
    let jules = Some(Face::Jules);
    // Where a service is away, nothing else befalls its requests.
    let mut rules = outages(case, start);
    let mut add = |name: &str, face: Option<Face>, probability: f64, fault: Fault| {
        if case.is_turned(name) {
            rules.push(rule(face, probability, fault));
        }
    };
    add(LOST_ANSWERS, None, 0.015, Fault::DropAfter);
    add(LOST_ANSWERS, None, 0.015, Fault::DropBefore);
    add(TIME_OUTS, None, 0.01, Fault::TimeoutAfter);
    add(TIME_OUTS, None, 0.005, Fault::TimeoutBefore);
    add(REFUSALS, github, 0.005, status(409, false, None));
    add(REFUSALS, github, 0.005, status(422, false, None));
    add(REFUSALS, jules, 0.005, status(409, false, None));
    add(LIMITS, jules, 0.01, status(429, false, Some(60)));
    add(LIMITS, github, 0.003, status(429, false, Some(60)));
    let secondary = Fault::SecondaryLimit {
        retry_after: Some(60),
    };
    add(LIMITS, github, 0.002, secondary);
    add(LIMITS, github, 0.0005, Fault::PrimaryLimit);
    add(SERVER_ERRORS, None, 0.01, status(500, false, None));
    add(SERVER_ERRORS, None, 0.005, status(502, true, None));
    add(SERVER_ERRORS, jules, 0.01, status(503, false, None));
    add(TOKEN_EXPIRY, github, 0.005, status(401, false, None));
    FaultPlan { rules }
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
