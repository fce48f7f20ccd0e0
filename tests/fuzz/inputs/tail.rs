//! Any bytes in the file of events: what is read is what stands between the ends of lines, and each is understood or not.

use std::fs;

use phileas::jobs::tail::Tail;
use phileas_domain::jobs::{Event, WatcherMemory};

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    fs::write(&path, data).unwrap();
    let tail = Tail::new(&path);
    let mut memory = WatcherMemory::default();
    let mut read = Vec::new();
    while let Some(line) = tail.next(&mut memory).unwrap() {
        tail.mark_passed(&mut memory, &line).unwrap();
        let _ = Event::parse(&String::from_utf8_lossy(&line.line.bytes));
        read.extend(line.line.bytes);
        read.push(b'\n');
    }
    let whole = data
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    assert_eq!(read, data[..whole]);
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let line = "{\"event\": \"question\", \"event_id\": \"evt_1\", \"job_id\": \"a\", \"session_id\": \"123\"}\n";
    vec![line.repeat(3).into(), format!("\n\r\n{line}{{").into()]
}
