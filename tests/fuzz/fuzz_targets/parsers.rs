//! The target `parsers`. What it does stands in `inputs/`, which `tests/it/fuzz.rs` compiles, too.
#![no_main]

#[path = "../inputs/parsers.rs"]
#[expect(dead_code, reason = "libFuzzer begins from inputs of its own")]
mod inputs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| inputs::run(data));
