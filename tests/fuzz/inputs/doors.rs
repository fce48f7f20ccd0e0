//! Any text at any door: the first byte chooses the door.

#[path = "../../../crates/domain/tests/rubbish/doors.rs"]
#[expect(dead_code, reason = "the names are for the tests of the domain")]
mod table;

use table::DOORS;

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    let Some((door, rest)) = data.split_first() else {
        return;
    };
    let door = &DOORS[usize::from(*door) % DOORS.len()];
    if let Ok(text) = std::str::from_utf8(rest) {
        (door.read)(text);
    }
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let doors = (0..=u8::MAX).zip(DOORS);
    doors
        .flat_map(|(number, door)| {
            door.samples
                .iter()
                .map(move |text| [&[number], text.as_bytes()].concat())
        })
        .collect()
}
