//! Tests that no external text makes a parser panic, overflow the stack or run for long. Valid samples are damaged a
//! few times, in ways that parsers are known to fail on.

mod parsers;

use parsers::PARSERS;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The largest size of a text. Some parsers have smaller limits.
const MOST: usize = 1 << 20;
/// The depth of nesting.
const DEEP: usize = 5_000;

/// A text to insert.
fn spoil() -> impl Strategy<Value = String> {
    let pieces = [
        "",
        "\0",
        "\u{feff}",
        "\r\n",
        "\t",
        "\u{2028}",
        "\u{202e}",
        "💥",
        "---\n",
        "...\n",
        "%YAML 9.9\n",
        "&a [*a]",
        "&a {x: *a}",
        "<<: *a\n",
        "!!binary x",
        "!!python/object:os.system x",
        "? \n: ",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\\",
        "\"",
        "'",
        "'''",
        "\"\"\"",
        "#",
        "null",
        "true",
        ".nan",
        "-.inf",
        "1e999",
        "-0",
        "0x",
        "0o17",
        "1_000",
        "99999999999999999999999999",
        "-99999999999999999999999999",
        "9999-99-99",
        "0000-00-00T99:99:99Z",
        "2026-01-05T10:00:00+99:99",
        "{{",
        "}}",
        "{% include 'x' %}",
        "{% include loop %}",
        "{{ ''.__class__ }}",
        "{% for a in range(999999999) %}{% for b in range(999999999) %}x{% endfor %}{% endfor %}",
        "{{ 'x' * 999999999 }}",
        "{{ 'x'|center(999999999) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set x = 'y' %}",
        "@@ -1,99999999999 +1 @@\n",
        "@@ -0,0 +1,4294967296 @@\n",
        "diff --git a/x b/../../etc\n",
        "diff --git \"a/\\303\" \"b/\n",
        "rename from a\nrename to b\n",
        "GIT binary patch\nliteral 9\n",
        "../../../etc",
        "C:\\",
        "*/0 * * * *",
        "0-99 * * * *",
        "* * 31 2 *",
        "@reboot",
        "[[a]]\n[a]\n",
        "a.b.c.d = 1\n",
        "a = 1\na = 2\n",
        "\u{1b}[2J",
        "\u{7f}",
        "phileas:h37nd0dp50d8#1",
    ];
    prop_oneof![
        8 => select(pieces.to_vec()).prop_map(str::to_owned),
        2 => "\\PC{0,12}",
        1 => select(vec!["[", "{\"a\":", "- ", "a: [", "((", "{% if x %}", "{a: ", "[[", "<!--"])
            .prop_map(|piece| piece.repeat(DEEP)),
        1 => select(vec!["a", "a: b\n", "\n", "9", " "]).prop_map(|piece| piece.repeat(100_000 / piece.len())),
    ]
}

/// One damage: the inserted text, its position, and how much is removed there.
fn change() -> impl Strategy<Value = (Index, usize, String)> {
    (
        any::<Index>(),
        prop_oneof![3 => Just(0), 2 => 1..12_usize, 1 => 12..2_000_usize],
        spoil(),
    )
}

fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn spoiled(good: &str, changes: &[(Index, usize, String)]) -> String {
    let mut text = good.to_owned();
    for (at, taken, put) in changes {
        let start = boundary(&text, at.index(text.len() + 1));
        let end = boundary(&text, start + taken).max(start);
        text.replace_range(start..end, put);
        text.truncate(boundary(&text, MOST));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_parser_panics(parser in 0..PARSERS.len(), sample in any::<Index>(), changes in prop::collection::vec(change(), 0..6)) {
        let parser = &PARSERS[parser];
        let text = spoiled(parser.samples[sample.index(parser.samples.len())], &changes);
        (parser.read)(&text);
    }
}

/// A parser that rejects everything would pass the test above.
#[test]
fn what_is_good_is_taken() {
    for parser in PARSERS {
        assert!((parser.read)(parser.samples[0]), "{}", parser.name);
    }
}

/// Texts that make a parser scan its whole input for each token, each with a head and a foot that lead to the parser.
const REPEATED: [(&str, &str, &str); 24] = [
    ("", "[", ""),
    ("---\nid: curator\nx: ", "[", "\n---\nTidy.\n"),
    ("---\nid: curator\nx: ", "{a: ", "\n---\nTidy.\n"),
    ("---\nid: curator\nx: ", "[{", "\n---\nTidy.\n"),
    ("---\nid: curator\nx: ", "[],[", "\n---\nTidy.\n"),
    ("---\nid: curator\nx:\n  ", "- ", "a\n---\nTidy.\n"),
    ("---\nid: curator\nx:\n  ", "? ", "a\n---\nTidy.\n"),
    ("---\nid: curator\nx: [", "&a a, *a, ", "]\n---\nTidy.\n"),
    (
        "---\nid: curator\nx: &a [1]\ny: [",
        "*a, ",
        "]\n---\nTidy.\n",
    ),
    ("---\nid: curator\nx: [", "!!str a, ", "]\n---\nTidy.\n"),
    ("---\n", "%TAG !a! b\n", "id: curator\n---\nTidy.\n"),
    ("---\nid: curator\n", "... \n", "---\nTidy.\n"),
    ("---\nid: curator\nx: ", "a ", "\n---\nTidy.\n"),
    ("---\nid: curator\nx: '", "'' ", "'\n---\nTidy.\n"),
    ("---\nid: curator\nx:\n", "  a\n", "---\nTidy.\n"),
    ("---\nid: curator\n", " ", "\n---\nTidy.\n"),
    ("---\nid: curator\nx: {", "a, ", "}\n---\nTidy.\n"),
    ("id: \"pend01\"\nx: ", "[", "\n"),
    ("id: \"pend01\"\nx: ", "{a: ", "\n"),
    ("id: \"pend01\"\nx:\n  ", "- ", "a\n"),
    ("", "{\"a\":", ""),
    ("", "[[a]]\n", ""),
    ("", "a.", "a = 1\n"),
    ("a = ", "[", "\n"),
];
/// Small enough for all limits of size, and large enough to show quadratic time.
const REPEATED_BYTES: usize = 30_000;
/// How often a measurement that shows a fault is repeated.
const MEASURED_AGAIN: usize = 3;
/// Shorter measurements say nothing about the growth of time.
const SHORT: std::time::Duration = std::time::Duration::from_millis(150);

/// Twice the input takes about twice the time, for every parser.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how long reading takes is what is measured"
)]
fn time_grows_with_the_length_and_not_with_its_square() {
    let time = |parser: &parsers::Parser, text: &str| {
        let measure = |_| {
            let begun = std::time::Instant::now();
            (parser.read)(text);
            begun.elapsed()
        };
        // The fastest of several is least affected by other load.
        (0..3).map(measure).min().unwrap()
    };
    let mut slow = Vec::new();
    for parser in PARSERS {
        for (head, piece, foot) in REPEATED {
            let text = |bytes: usize| format!("{head}{}{foot}", piece.repeat(bytes / piece.len()));
            let twice = time(parser, &text(2 * REPEATED_BYTES));
            if twice < SHORT {
                continue;
            }
            let once = time(parser, &text(REPEATED_BYTES));
            // Other load may slow down one measurement, but not all of them.
            let mut again = (0..MEASURED_AGAIN).map(|_| {
                let twice = time(parser, &text(2 * REPEATED_BYTES));
                twice > 3 * time(parser, &text(REPEATED_BYTES))
            });
            if twice > 3 * once && again.all(|is_slow| is_slow) {
                slow.push(format!("{}: {piece:?}: {once:?}, {twice:?}", parser.name));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
