//! The parser held against `serde_json`, and its places against people's eyes.

use super::*;

/// What is wrong, as one line for each mistake, without the file's name.
fn refused(text: &str) -> Vec<String> {
    let wrong = parse("f", text).expect_err(text);
    wrong
        .iter()
        .map(|one| one.to_string()[2..].to_owned())
        .collect()
}

/// Every text of up to `length` of these bits.
fn each_text(bits: &[&str], length: usize, mut look: impl FnMut(&str)) {
    let mut texts = vec![String::new()];
    for _ in 0..length {
        let longer = texts.iter().flat_map(|text| {
            let with = move |bit: &&str| format!("{text}{bit}");
            bits.iter().map(with)
        });
        texts = longer.collect();
        texts.iter().for_each(|text| look(text));
    }
}

/// Both parsers read the text alike, or neither does.
fn same_as_serde_json(text: &str) {
    let ours = parse("f", text).map(|node| keep(&node).expect("small numbers are kept"));
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text:?}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{text:?}: we say {ours:?}, serde_json says {theirs:?}"),
    }
}

#[test]
fn every_short_text_is_json_here_exactly_where_it_is_json_elsewhere() {
    let structure = ["{", "}", "[", "]", ":", ",", "\"a\"", "1", " "];
    each_text(&structure, 5, same_as_serde_json);
    // Twice the same key is an error here alone, so the members are given different ones.
    let members = ["{\"a\":1", ",\"b\":", "[2", ",", "]", "}", "null"];
    each_text(&members, 5, same_as_serde_json);
    let numbers = ["-", "0", "1", ".", "e", "E", "+"];
    each_text(&numbers, 5, same_as_serde_json);
    let words = ["nul", "l", "tru", "e", "fals", "a", "N", "\n", "\t", "\r"];
    each_text(&words, 3, same_as_serde_json);
    let letters = ["\"", "\\", "n", "u", "0041", "/", "é", "\u{1f}", " ", "\n"];
    each_text(&letters, 4, |inner| {
        same_as_serde_json(&format!("\"{inner}\""));
        same_as_serde_json(&format!("\"{inner}"));
    });
}

#[test]
fn an_error_has_line_column_and_key() {
    for (text, says) in [
        (
            "{\"a\": {\n  \"b\": [1,\n 2,  ]}}",
            "3:3: error: a comma follows the last item (at a.b); remove the comma",
        ),
        (
            "{\"a\": [1, {\"b\": tru}]}",
            "1:17: error: a JSON value should stand here, not `tru}]}` (at a[1].b)",
        ),
        (
            "[abcdefghijklmnopqrstuvwxyz]",
            "1:2: error: a JSON value should stand here, not `abcdefghijklmnopqrst` (at [0])",
        ),
        (
            "[a b]",
            "1:2: error: a JSON value should stand here, not `a` (at [0])",
        ),
        (
            "[é, +1]",
            "1:2: error: a JSON value should stand here, not `é,` (at [0])",
        ),
        (
            "[\"é\",  -]",
            "1:8: error: `-` is not a JSON number (at [1])",
        ),
        (
            "[1.5e+x-3]",
            "1:2: error: `1.5e+x-3` is not a JSON number (at [0])",
        ),
        (
            "{\"a\": 1 \"b\": 2}",
            "1:9: error: `,` or `}` should stand here",
        ),
        (
            "{\"a\": 1, 2}",
            "1:10: error: a key in double quotes should stand here",
        ),
        (
            "{\"a\" \"b\"}",
            "1:6: error: `:` should follow the key (at a)",
        ),
        (
            "null  x",
            "1:7: error: something follows after the end of the JSON value",
        ),
        (
            "[\"a\\n\u{7}\"]",
            "1:6: error: a control character stands in a text (at [0])",
        ),
        (
            "[\"\\x\"]",
            "1:2: error: the text that begins here holds an impossible escape (at [0])",
        ),
    ] {
        assert_eq!(refused(text), [says], "{text:?}");
    }
}

#[test]
fn a_file_that_was_cut_off_names_what_is_still_open() {
    for (text, says) in [
        ("  ", "1:3: error: the file is cut off"),
        (
            "{\n\"a\": [1],\n\"b\": {\"c\": 1},",
            "3:15: error: the file is cut off: the object that begins in line 1 is not closed",
        ),
        (
            "{\"a\":\n[[1], 2",
            "2:8: error: the file is cut off: the list that begins in line 2 is not closed (at a)",
        ),
        (
            "[1,\n{\"a\"",
            "2:5: error: the file is cut off: the object that begins in line 2 is not closed (at [1].a)",
        ),
        (
            "[\"ab\\\"",
            "1:7: error: the file is cut off: the list that begins in line 1 is not closed (at [0])",
        ),
        // Empty ones count as closed.
        (
            "{\n\"a\":\n{}, \"b\":\n[]",
            "4:3: error: the file is cut off: the object that begins in line 1 is not closed",
        ),
    ] {
        assert_eq!(refused(text), [says], "{text:?}");
    }
}

#[test]
fn lists_and_objects_may_lie_64_deep_and_no_deeper() {
    let nested = |deep: usize| format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    assert!(parse("f", &nested(64)).is_ok());
    let said = refused(&nested(65));
    assert!(
        said[0].starts_with("1:65: error: lists and objects lie more than 64 deep in each other"),
        "{said:?}"
    );
    // Only what lies in each other counts, not what follows.
    assert!(parse("f", &format!("[{}[]]", "[],{},".repeat(100))).is_ok());
}

#[test]
fn duplicate_keys_are_found_in_objects_of_any_length() {
    for keys in [2, 15, 16, 17, 18, 40] {
        let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\": 1")).collect();
        assert!(parse("f", &format!("{{{}}}", members.join(","))).is_ok());
        for doubled in [0, keys - 1] {
            let text = format!("{{\n{},\n\"k{doubled}\": 2}}", members.join(",\n"));
            let says = format!(
                "{}:1: error: the key `k{doubled}` stands here a second time (first in line {}) (at k{doubled}); keep one of the two",
                keys + 2,
                doubled + 2
            );
            assert_eq!(refused(&text), [says]);
        }
    }
}

#[test]
fn the_nearest_place_of_a_path_is_found() {
    let text = "{\"a\": [1, {\"b\": 2}], \"c\": 3}";
    let tree = parse("f", text).unwrap();
    let place = |path: &[&str]| {
        let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        &text[tree.nearest(&path)..]
    };
    assert_eq!(place(&[]), text);
    assert_eq!(place(&["c"]), "3}");
    assert_eq!(place(&["a", "1", "b"]), "2}], \"c\": 3}");
    for lost in [&["a", "7", "b"][..], &["a", "b"], &["a", "x", "1"]] {
        assert_eq!(place(lost), "[1, {\"b\": 2}], \"c\": 3}", "{lost:?}");
    }
    assert_eq!(place(&["c", "0"]), "3}");
    assert_eq!(place(&["d", "a"]), text);
}

#[test]
fn every_value_has_its_place_and_its_name() {
    let text = " [null, true, 1, \"a\", [], {} ]";
    let tree = parse("f", text).unwrap();
    assert_eq!((tree.at, tree.value.name()), (1, "a list"));
    let Value::List(items) = tree.value else {
        panic!("a list was written");
    };
    let found: Vec<_> = items
        .iter()
        .map(|item| (item.at, item.value.name()))
        .collect();
    assert_eq!(
        found,
        [
            (2, "null"),
            (8, "a truth value"),
            (14, "a number"),
            (17, "a text"),
            (22, "a list"),
            (26, "an object")
        ]
    );
}
