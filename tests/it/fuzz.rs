//! The targets of `tests/fuzz`, with a few inputs of each: `scripts/test fuzz` is run by hand, and must work when it is.

#[path = "../fuzz/inputs/mcp_lines.rs"]
mod mcp_lines;
#[path = "../fuzz/inputs/parsers.rs"]
mod parsers;
#[path = "../fuzz/inputs/tail.rs"]
mod tail;
#[path = "../fuzz/inputs/templates.rs"]
mod templates;
#[path = "../fuzz/inputs/webhook.rs"]
mod webhook;

use phileas_world::chance::{Chance, Stream};

/// How many inputs are made of those that a target begins from.
const INPUTS: u64 = 400;
/// How often one is changed at most.
const CHANGES: u64 = 6;

/// A change as libFuzzer makes it: bytes of any value, or those of another input.
fn change(input: &mut Vec<u8>, other: &[u8], draws: &mut Stream) {
    let mut place = |length: usize| draws.draw_below(length as u64 + 1) as usize;
    let (from, to) = (place(input.len()), place(input.len()));
    let (begin, end) = (place(other.len()), place(other.len()));
    let piece = &other[begin.min(end)..begin.max(end)];
    let kind = draws.draw_below(4);
    match kind {
        0 => input.truncate(from),
        1 => drop(input.splice(from.min(to)..from.max(to), piece.iter().copied())),
        2 => input.insert(from, draws.draw_below(256) as u8),
        _ if from < input.len() => input[from] = draws.draw_below(256) as u8,
        _ => {}
    }
}

fn play(seeds: &[Vec<u8>], run: fn(&[u8])) {
    for seed in seeds {
        run(seed);
    }
    let mut draws = Chance::new(7).stream("inputs");
    for _ in 0..INPUTS {
        let mut input = draws.pick(seeds).unwrap().clone();
        for _ in 0..=draws.draw_below(CHANGES) {
            let other = draws.pick(seeds).unwrap();
            change(&mut input, other, &mut draws);
        }
        run(&input);
    }
}

#[test]
fn any_text_at_any_door() {
    play(&parsers::seeds(), parsers::run);
}

#[test]
fn any_bytes_on_the_lines_of_mcp() {
    play(&mcp_lines::seeds(), mcp_lines::run);
}

#[test]
fn any_bytes_in_the_file_of_events() {
    play(&tail::seeds(), tail::run);
}

#[test]
fn any_text_as_a_template_within_the_limits() {
    play(&templates::seeds(), templates::run);
}

#[test]
fn any_signature_and_any_event_at_the_webhook() {
    play(&webhook::seeds(), webhook::run);
}
