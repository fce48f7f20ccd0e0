//! Any text at any parser: the first byte chooses the parser.

#[path = "../../../crates/domain/tests/rubbish/parsers.rs"]
#[expect(dead_code, reason = "the names are for the tests of the domain")]
mod table;

use table::PARSERS;

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    let Some((parser, rest)) = data.split_first() else {
        return;
    };
    let parser = &PARSERS[usize::from(*parser) % PARSERS.len()];
    if let Ok(text) = std::str::from_utf8(rest) {
        (parser.read)(text);
    }
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let parsers = (0..=u8::MAX).zip(PARSERS);
    parsers
        .flat_map(|(number, parser)| {
            parser
                .samples
                .iter()
                .map(move |text| [&[number], text.as_bytes()].concat())
        })
        .collect()
}
