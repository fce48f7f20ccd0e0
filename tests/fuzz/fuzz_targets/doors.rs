//! Any text at any door: the first byte chooses the door.
#![no_main]

#[path = "../../../crates/domain/tests/rubbish/doors.rs"]
#[expect(dead_code, reason = "its samples are for the tests")]
mod doors;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((door, rest)) = data.split_first() else {
        return;
    };
    let door = &doors::DOORS[usize::from(*door) % doors::DOORS.len()];
    if let Ok(text) = std::str::from_utf8(rest) {
        (door.read)(text);
    }
});
