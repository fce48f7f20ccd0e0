//! Renders the monitor's metrics in the Prometheus text format (0.0.4), as a node exporter reads them from a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::memory::MonitorMemory;
use super::registry::Registry;

/// The metrics of a monitor.
#[must_use]
pub fn render_metrics(memory: &MonitorMemory, registry: &Registry) -> String {
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failing = 0;
    for job in registry.jobs().filter(|job| job.is_live()) {
        let known = memory.jobs.get(&job.job_id);
        let state = known.and_then(|known| known.last_status.as_deref());
        *states.entry(state.unwrap_or("UNSEEN")).or_default() += 1;
        failing += usize::from(known.is_some_and(|known| known.failures > 0));
    }
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
        // Writing to a `String` cannot fail.
        let _infallible = writeln!(
            text,
            "# HELP phileas_{name} {help}\n# TYPE phileas_{name} {kind}"
        );
        for (labels, value) in samples {
            let _infallible = writeln!(text, "phileas_{name}{labels} {value}");
        }
    };
    let states: Vec<_> = states
        .iter()
        .map(|(state, count)| (metric_label("state", state), count.to_string()))
        .collect();
    family(
        "jobs",
        "gauge",
        "Live jobs by the state of their session.",
        &states,
    );
    let one = |value: String| [(String::new(), value)];
    family(
        "jobs_failing",
        "gauge",
        "Live jobs that the last check could not read.",
        &one(failing.to_string()),
    );
    let events: Vec<_> = memory
        .own
        .events
        .iter()
        .map(|(event, count)| (metric_label("event", event), count.to_string()))
        .collect();
    family(
        "job_events_total",
        "counter",
        "Events that were written.",
        &events,
    );
    family(
        "monitor_cycles_total",
        "counter",
        "Completed checks of all jobs.",
        &one(memory.own.cycles.to_string()),
    );
    family(
        "monitor_jules_requests_total",
        "counter",
        "Requests that the monitor sent to Jules.",
        &one(memory.own.requests.to_string()),
    );
    let last = memory.own.cycle_at.map_or(0, |at| at.as_second());
    family(
        "monitor_last_cycle_timestamp_seconds",
        "gauge",
        "Time of the last check of all jobs.",
        &one(last.to_string()),
    );
    text
}

/// A label with its value escaped.
fn metric_label(name: &str, value: &str) -> String {
    let value = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("{{{name}=\"{value}\"}}")
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;
    use super::*;

    #[test]
    fn jobs_are_counted_by_state() {
        let (registry, _) =
            Registry::parse("jobs", Line::split_lines(b"\"1\"\n\"2\"\n\"3\"")).unwrap();
        let text = r#"{"1": {"last_status": "IN_PROGRESS"}, "2": {"last_status": "X\"Y", "failures": 2},
                       "$monitor": {"events": {"question": 4}, "cycles": 9}}"#;
        let memory = MonitorMemory::parse("state", text.as_bytes()).unwrap().0;
        let text = render_metrics(&memory, &registry);
        for line in [
            "phileas_jobs{state=\"IN_PROGRESS\"} 1",
            "phileas_jobs{state=\"UNSEEN\"} 1",
            "phileas_jobs{state=\"X\\\"Y\"} 1",
            "phileas_jobs_failing 1",
            "phileas_job_events_total{event=\"question\"} 4",
            "phileas_monitor_cycles_total 9",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
    }
}
