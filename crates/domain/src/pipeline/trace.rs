//! The trace: what a run has gone through, written by phileas as artifacts come in.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::artifact::Artifact;
use super::limits::TRACE_LIMIT;
use super::next::{Step, next};
use super::outcome::stage_outcome;
use super::read::{Reading, write_yaml};
use super::run::{Run, hex_sha256};
use super::tiers;
use super::values::{Stage, Tier};

/// What is known of the attempt that wrote an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// When it ended.
    pub at: Timestamp,
    /// When it began; else the end of the stage before counts. What lies before that stage's beginning counts as it, since
    /// a trace lists the stages as they ran.
    pub started_at: Option<Timestamp>,
    /// The agent; else the one whose turn it was counts.
    pub agent: Option<String>,
}

/// Why a trace cannot be continued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// There is one that cannot be read.
    #[error("{first}; fix it or move it away; the artifact was not written")]
    Unsound {
        /// What is wrong with it first.
        first: String,
    },
    /// It has as many stages as it may have.
    #[error(
        "the trace has {TRACE_LIMIT} stages, and no run should need that many; a person should look at it"
    )]
    Full,
}

/// The trace with a further stage: the artifact that is about to be written.
///
/// # Errors
///
/// [`TraceError`], when the trace that is there cannot be continued.
pub fn add_to_trace(
    run: &Run,
    new: &Reading,
    text: &str,
    made: &Made,
) -> Result<Option<String>, TraceError> {
    let Some(stage) = new.artifact.stage() else {
        return Ok(None);
    };
    let mut trace = match run.reading(Artifact::Trace) {
        None => json!({
            "issue_id": run.issue.as_str(),
            "stages": [],
            "total_duration_ms": 0,
            "produced_by": "jg-planner",
        }),
        Some(reading) => reading.document().ok_or_else(|| TraceError::Unsound {
            first: reading
                .diagnostics
                .iter()
                .find(|one| one.is_error())
                .map_or_else(String::new, ToString::to_string),
        })?,
    };
    let known = run
        .run_trace()
        .map(|trace| trace.stages)
        .unwrap_or_default();
    if known.len() >= TRACE_LIMIT {
        return Err(TraceError::Full);
    }
    let before = known.last().and_then(|last| {
        let length = i64::try_from(last.duration_ms).ok()?;
        let length = jiff::SignedDuration::from_millis(length);
        last.started_at.checked_add(length).ok()
    });
    // Two writers may have looked at the clock in another order than they come in, and a clock may be put back: a trace
    // lists the stages as they ran.
    let at = before.map_or(made.at, |before| before.max(made.at));
    let started_at = made.started_at.or(before).unwrap_or(at);
    let started_at = known
        .last()
        .map_or(started_at, |last| started_at.max(last.started_at))
        .min(at);
    let duration = at.duration_since(started_at).as_millis();
    let duration = u64::try_from(duration).unwrap_or(0);
    let (agent, tier) = agent_and_tier(run, new, stage, made);
    let outcome = stage_outcome(new);
    let entry = json!({
        "stage": stage.as_str(),
        "agent": agent,
        "started_at": to_the_millisecond(started_at),
        "duration_ms": duration,
        "result": if outcome.is_pass() { "pass" } else { "fail" },
        "artifact": format!(".pipeline/{}/{}", run.issue, new.artifact.file_name()),
        "outcome": outcome.as_str(),
        "tier": tier.as_str(),
        "sha256": hex_sha256(text.as_bytes()),
    });
    let total = known.iter().map(|one| one.duration_ms).sum::<u64>() + duration;
    if let Some(stages) = trace["stages"].as_array_mut() {
        stages.push(entry);
    }
    trace["total_duration_ms"] = Value::from(total);
    Ok(Some(write_yaml(Artifact::Trace, &trace)))
}

/// The agent of an attempt and how strong it was.
fn agent_and_tier(run: &Run, new: &Reading, stage: Stage, made: &Made) -> (String, Tier) {
    #[derive(serde::Deserialize)]
    struct Says {
        tier_used: Option<Tier>,
        produced_by: Option<String>,
    }
    let says: Option<Says> = new.value();
    let named = made.agent.clone();
    let named = named.or_else(|| says.as_ref()?.produced_by.clone());
    let turn = match next(run).step {
        Step::Run(dispatch) if dispatch.stage == stage => Some(dispatch.tier),
        _ => None,
    };
    let tier = says
        .and_then(|says| says.tier_used)
        .or_else(|| {
            named
                .as_deref()
                .map(Tier::of_agent)
                .filter(|tier| *tier != Tier::Standard)
        })
        .or(turn)
        .unwrap_or_else(|| tiers::first_tier(stage, run.complexity()));
    (
        named.unwrap_or_else(|| tiers::agent_name(stage, tier)),
        tier,
    )
}

/// An instant to the millisecond, as traces have it.
fn to_the_millisecond(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
