//! Places, kinds and refusals.

use super::read::{DEPTH_LIMIT, NODES_LIMIT};
use super::*;

fn read(text: &str) -> Node {
    let (node, mistakes) = parse(text);
    assert_eq!(mistakes, [], "{text}");
    node.unwrap()
}

fn mistake(text: &str) -> (u32, u32, String) {
    let (_, mut mistakes) = parse(text);
    assert_eq!(mistakes.len(), 1, "{text}: {mistakes:?}");
    let one = mistakes.remove(0);
    (one.line, one.column, one.message)
}

#[test]
fn values_have_the_kinds_of_the_core_schema() {
    let node = read(
        "a: 1\nb: 1.5\nc: yes\nd: 2026-01-05\ne: ~\nf: true\ng: '1'\nh: 0x1f\ni: -3\nj: 1e6\nk: 3f2a01\nl: 0o17\nm: .5\n",
    );
    assert_eq!(
        node.json().to_string(),
        r#"{"a":1,"b":1.5,"c":"yes","d":"2026-01-05","e":null,"f":true,"g":"1","h":31,"i":-3,"j":1000000.0,"k":"3f2a01","l":15,"m":0.5}"#
    );
    assert_eq!(read("a: 2.0").get("a").unwrap().integer(), Some(2));
    assert_eq!(read("a: 2.5").get("a").unwrap().integer(), None);
}

#[test]
fn places_count_characters_and_ranges_bytes() {
    let text = "\u{feff}é: \"ü\" # x\nlist:\n  - a\n  - {b: 'c d'}\n";
    let node = read(text);
    let first = node.get("é").unwrap();
    assert_eq!((first.line, first.column), (1, 4));
    assert_eq!(&text[first.range.clone()], "\"ü\"");
    let items = node.get("list").unwrap().items();
    assert_eq!((items[0].line, items[0].column), (3, 5));
    assert_eq!(&text[items[0].range.clone()], "a");
    let inner = items[1].get("b").unwrap();
    assert_eq!(&text[inner.range.clone()], "'c d'");
    assert_eq!((inner.line, inner.column), (4, 9));
}

#[test]
fn what_readers_differ_on_is_refused() {
    for (text, line, column, word) in [
        ("a: &x 1\n", 1, 4, "anchors"),
        ("a: !!str 1\n", 1, 4, "tags"),
        ("a: 1\nb: 2\na: 3\n", 3, 1, "twice, first on line 1"),
        ("1: a\n", 1, 1, "not text"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("a: [1\n", 2, 1, "not YAML"),
        ("a: b: c\n", 1, 5, "not YAML"),
        ("a: 1\n<<<<<<< HEAD\nb: 2\n", 2, 1, "merge conflict"),
    ] {
        let (at, in_line, message) = mistake(text);
        assert!(message.contains(word), "{text}: {message}");
        assert_eq!((at, in_line), (line, column), "{text}: {message}");
    }
    let (_, mistakes) = parse("a: &x [1]\nb: *x\n");
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
}

#[test]
fn depth_and_count_are_limited() {
    let deep = "[".repeat(DEPTH_LIMIT + 1) + &"]".repeat(DEPTH_LIMIT + 1);
    assert!(mistake(&deep).2.contains("deep"));
    read(&("[".repeat(DEPTH_LIMIT) + &"]".repeat(DEPTH_LIMIT)));
    let wide = |count| format!("[{}]", vec!["1"; count].join(","));
    read(&wide(NODES_LIMIT - 1));
    assert!(mistake(&wide(NODES_LIMIT)).2.contains("more than"));
}

#[test]
fn a_quoted_text_is_read_as_it_was() {
    for text in [
        "a",
        "",
        "a: b # c",
        "\"'\\\n\t\0",
        "\u{85}\u{2028}\u{7f}ü😀",
        "123456",
        "null",
    ] {
        let node = read(&format!("a: {}\nb: 1\n", quoted(text)));
        assert_eq!(node.get("a").unwrap().text(), Some(text));
    }
}

#[test]
fn what_begins_a_value_wrongly_has_the_fix_that_fits() {
    for (text, fix) in [
        ("a: `x` y\n", "cannot begin with a backtick"),
        ("a:\n  - `x` y\n", "cannot begin with a backtick"),
        ("a:\n  - b: `x`\n", "cannot begin with a backtick"),
        ("`x`: y\n", "cannot begin with a backtick"),
        ("a: @x\n", "cannot begin with `@`"),
        ("a: %x\n", "cannot begin with `%`"),
        ("a: *x* y\n", "begin with `*`"),
        ("a: **x** y\n", "begin with `*`"),
        ("a: & x\n", "begin with `&`"),
        ("a: > x\n", "cannot begin with `|` or `>`"),
        ("a: [x] y\n", "put a text between single quotes"),
        ("a: [x\n", "close it with `]`"),
        ("a: {x} y\n", "put a text between single quotes"),
        ("a: \"x\" y\n", "double quotes"),
        ("a: 'x' y\n", "single quotes"),
        ("a:\n\tb: c\n", "not with tabs"),
        ("a: b: c\n", "quote texts that hold `: `"),
    ] {
        let (_, mistakes) = parse(text);
        let said: Vec<&str> = mistakes.iter().map(|one| one.help).collect();
        assert!(
            said.iter().any(|help| help.contains(fix)),
            "{text}{mistakes:?}"
        );
    }
}
