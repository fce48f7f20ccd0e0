use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Garden {
    name: Option<String>,
    place: Option<PathBuf>,
    beds: Option<u16>,
    rows: Option<u64>,
    share: Option<f64>,
    open: Option<bool>,
    kind: Option<Kind>,
    #[serde(default)]
    tools: Vec<Tool>,
    about: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Kitchen,
    Flower,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Tool {
    name: String,
}

#[test]
fn mistakes_are_reported_in_plain_words_with_location_and_key() {
    for (text, said) in [
        (
            "nam = \"a\"\n",
            "g:1:1: error: unknown key `nam` (at nam); did you mean `name`?",
        ),
        (
            "open = true\nkind = \"kitchn\"\n",
            "g:2:8: error: unknown value `kitchn` (at kind); did you mean `kitchen`?",
        ),
        (
            "name = 5\n",
            "g:1:8: error: expected a text, found a whole number (at name); write a text between double quotes",
        ),
        (
            "place = true\n",
            "g:1:9: error: expected a text, found true or false (at place); write a text between double quotes",
        ),
        (
            "beds = \"two\"\n",
            "g:1:8: error: expected a whole number, found a text (at beds); write a whole number from 0 to 65535",
        ),
        (
            "rows = -1\n",
            "g:1:8: error: -1 is out of range (at rows); write a whole number of 0 or more",
        ),
        (
            "share = []\n",
            "g:1:9: error: expected a number, found an array (at share); write a number",
        ),
        (
            "open = 1.5\n",
            "g:1:8: error: expected true or false, found a number with a fraction (at open); write `true` or `false`",
        ),
        (
            "tools = \"a\"\n",
            "g:1:9: error: expected an array, found a text (at tools); write an array between square brackets",
        ),
        (
            "about = 1\n",
            "g:1:9: error: expected a table, found a whole number (at about); write a table",
        ),
        (
            "[[tools]]\nname = \"a\"\n[[tools]]\n",
            "g:3:1: error: `name` is missing (at tools[1]); add it",
        ),
        (
            "[[tools]]\nname = \"a\"\n\n[[tools]]\nnmae = \"a\"\n",
            "g:5:1: error: unknown key `nmae` (at tools[1].nmae); did you mean `name`?",
        ),
    ] {
        let wrong = TomlText::new("g", text).read::<Garden>().unwrap_err();
        assert_eq!(wrong.to_string(), said);
    }
    let broken = TomlText::new("g", "name = \n").read::<Garden>();
    let broken = broken.unwrap_err().to_string();
    assert!(broken.starts_with("g:1:"), "{broken}");
    // As of the plan: no words of the parser.
    for (text, said) in [
        (
            "name = \"a\nbeds = 2\n",
            "g:1:8: error: the text that begins here lacks a quotation mark (at name); put `\"` before and behind it",
        ),
        (
            "beds = 2\nname: a\n",
            "g:2:5: error: a colon stands in place of `=` (at name); write `name = \"a\"`",
        ),
    ] {
        let wrong = TomlText::new("g", text).read::<Garden>().unwrap_err();
        assert_eq!(wrong.to_string(), said);
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Shed {
    #[serde(default)]
    plants: Vec<Plant>,
    garden: Option<Garden>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Plant {
    name: String,
    care: Care,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
enum Care {
    Water { litres: u16, often: Option<bool> },
    Cut,
}

fn mistakes(text: &str) -> String {
    let wrong = TomlText::new("s", text).read::<Shed>().unwrap_err();
    wrong.to_string()
}

#[test]
fn all_mistakes_are_reported_in_the_order_of_the_file() {
    let text = "plant = 1
[garden]
beds = \"two\"
nam = \"a\"
rows = -1
open: true
[[plants]]
name = 5
care = { kind = \"cut\" }
[[plants]]
care = { kind = \"water\", litres = 1, ofen = true }
";
    assert_eq!(
        mistakes(text),
        "\
s:1:1: error: unknown key `plant` (at plant); did you mean `plants`?
s:3:8: error: expected a whole number, found a text (at garden.beds); write a whole number from 0 to 65535
s:4:1: error: unknown key `nam` (at garden.nam); did you mean `name`?
s:5:8: error: -1 is out of range (at garden.rows); write a whole number of 0 or more
s:6:5: error: a colon stands in place of `=` (at garden.open); write `open = true`
s:8:8: error: expected a text, found a whole number (at plants[0].name); write a text between double quotes
s:10:1: error: `name` is missing (at plants[1]); add it
s:11:38: error: unknown key `ofen` (at plants[1].care.ofen); did you mean `often`?"
    );
}

/// The reader of such a table says only that something in it is wrong.
#[test]
fn a_mistake_in_a_table_of_several_kinds_is_reported_with_its_key() {
    for (care, said) in [
        (
            "{ kind = \"water\", litres = \"two\", often = 3 }",
            "\
s:3:35: error: expected a whole number, found a text (at plants[0].care.litres); write a whole number from 0 to 65535
s:3:50: error: expected true or false, found a whole number (at plants[0].care.often); write `true` or `false`",
        ),
        (
            "{ litres = -1, kind = \"water\" }",
            "s:3:19: error: -1 is out of range (at plants[0].care.litres); write a whole number from 0 to 65535",
        ),
        (
            "{ litres = 1, kind = \"watr\" }",
            "s:3:29: error: unknown value `watr` (at plants[0].care.kind); did you mean `water`?",
        ),
        (
            "{ kind = \"water\" }",
            "s:3:8: error: `litres` is missing (at plants[0].care); add it",
        ),
        (
            "{ kind = \"water\", litres = 1, ofen = true }",
            "s:3:38: error: unknown key `ofen` (at plants[0].care.ofen); did you mean `often`?",
        ),
    ] {
        assert_eq!(
            mistakes(&format!("[[plants]]\nname = \"a\"\ncare = {care}\n")),
            said
        );
    }
}

#[test]
fn a_file_full_of_mistakes_says_that_more_are_not_listed() {
    let text: String = (0..100).map(|n| format!("x{n} = 1\n")).collect();
    let reported = mistakes(&text);
    assert_eq!(reported.lines().count(), MAX_MISTAKES + 1);
    let last = "s: error: further mistakes are not listed; fix the ones above first";
    assert_eq!(reported.lines().last(), Some(last));
}

/// Otherwise a mistake would seem to be two.
#[test]
fn what_is_wrong_is_not_missing_too() {
    assert_eq!(
        mistakes("[[plants]]\nname = 5\ncare = 5\n"),
        "\
s:2:8: error: expected a text, found a whole number (at plants[0].name); write a text between double quotes
s:3:8: error: expected a table, found a whole number (at plants[0].care); write a table"
    );
}

#[test]
fn a_value_is_found_by_its_key() {
    let text = "[[tools]]\nname = \"a\"\n[[tools]]\nname = \"a\"\n";
    let mut toml = TomlText::new("g", text);
    assert!(toml.read_leniently::<Garden>().is_some());
    let mistake = toml.mistake("tools[1].name", "it is there twice");
    assert_eq!(
        mistake.to_string(),
        "g:4:8: error: it is there twice (at tools[1].name)"
    );
}

#[test]
fn a_long_list_of_keys_is_not_printed() {
    let known: Vec<String> = (0..53).map(|n| format!("`knob-{n}`")).collect();
    let message = |word: &str| {
        format!(
            "unknown field `{word}`, expected one of {}",
            known.join(", ")
        )
    };
    let (_, help) = error_text(&message("nonsense"), Some("a text"), "a table");
    assert_eq!(help, "it is like none of the 53 keys that may stand here");
    let (_, help) = error_text(&message("knbo-7"), Some("a text"), "a table");
    assert_eq!(help, "did you mean `knob-7`?");
}

/// The first of all, not the first that were found.
#[test]
fn the_mistakes_that_are_listed_are_the_first_of_the_file() {
    let listed = |count: usize| {
        let text: String = (0..count).rev().map(|n| format!("x{n:03} = 1\n")).collect();
        mistakes(&text)
    };
    let all = listed(MAX_MISTAKES);
    assert_eq!(all.lines().count(), MAX_MISTAKES);
    assert!(!all.contains("not listed"), "{all}");
    let first = listed(200);
    assert!(
        first.starts_with("s:1:1: error: unknown key `x199`"),
        "{first}"
    );
    assert!(
        first.contains("\ns:64:1: ") && !first.contains("\ns:65:1: "),
        "{first}"
    );
}

/// Otherwise a mistake would seem to be two; that of another element stays one.
#[test]
fn what_cannot_be_parsed_is_not_missing_in_its_element() {
    for (plant, mistake) in [
        (
            "name = \ncare = { kind = \"cut\" }\n",
            "its value is missing (at plants.name)",
        ),
        (
            "name = \"a\ncare = { kind = \"cut\" }\n",
            "lacks a quotation mark (at plants.name)",
        ),
        (
            "name = \"a\"\ncare = { kind = \"cut\", kind = \"cut\" }\n",
            "duplicate key",
        ),
    ] {
        let reported = mistakes(&format!("[[plants]]\n{plant}"));
        assert!(reported.contains(mistake), "{reported}");
        assert_eq!(reported.lines().count(), 1, "{reported}");
    }
    let text =
        "[[plants]]\ncare = { kind = \"cut\" }\n[[plants]]\nname = \ncare = { kind = \"cut\" }\n";
    let reported = mistakes(text);
    assert!(
        reported.starts_with("s:1:1: error: `name` is missing (at plants[0])"),
        "{reported}"
    );
    assert_eq!(reported.lines().count(), 2, "{reported}");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Trip {
    title: String,
    days: u16,
    far: bool,
    stops: Vec<Stop>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Stop {
    at: u16,
    #[serde(flatten)]
    what: Task,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
#[expect(dead_code, reason = "only read")]
enum Task {
    Rest { hours: u16 },
    Work,
}

#[test]
fn all_that_is_missing_is_reported_and_hides_nothing() {
    let reported = |text: &str| {
        let mut toml = TomlText::new("t", text);
        let read = toml.read_leniently::<Trip>();
        assert!(
            read.is_none_or(|trip| trip.stops.is_empty()),
            "nothing is made up"
        );
        toml.into_mistakes().to_string()
    };
    assert_eq!(
        reported(""),
        "\
t:1:1: error: `title` is missing; add it
t:1:1: error: `days` is missing; add it
t:1:1: error: `far` is missing; add it
t:1:1: error: `stops` is missing; add it"
    );
    let begin = "title = \"a\"\ndays = 1\nfar = true\n[[stops]]\n";
    let sleep = "error: unknown value `wrk` (at stops[0].what); did you mean `work`?";
    assert_eq!(
        reported(&format!("{begin}what = \"wrk\"\n")),
        format!("t:4:1: error: `at` is missing (at stops[0]); add it\nt:5:8: {sleep}")
    );
    assert_eq!(
        reported(&format!("{begin}at = \"x\"\nwhat = \"wrk\"\n")),
        format!(
            "t:5:6: error: expected a whole number, found a text (at stops[0].at); write a whole number from 0 to 65535\nt:6:8: {sleep}"
        )
    );
    assert_eq!(
        reported(&format!("{begin}what = \"rest\"\n")),
        "t:4:1: error: `at` is missing (at stops[0]); add it\nt:4:1: error: `hours` is missing (at stops[0]); add it"
    );
}

/// A table whose kind one of its keys names is searched by halves, and all reading has a limit.
#[test]
fn a_table_of_thousands_of_wrong_keys_is_given_up_in_time() {
    let keys: String = (0..20_000).map(|n| format!(", k{n} = 1")).collect();
    let text = format!(
        "[[plants]]\nname = \"a\"\ncare = {{ kind = \"water\", litres = \"two\"{keys} }}\n"
    );
    let reported = mistakes(&text);
    assert!(reported.starts_with("s:3:"), "{reported}");
    assert!(reported.contains("(at plants[0].care.k"), "{reported}");
    assert!(
        reported.ends_with("further mistakes are not listed; fix the ones above first"),
        "{reported}"
    );
    assert!(reported.lines().count() <= MAX_MISTAKES + 1, "{reported}");
}

#[test]
fn a_key_forges_no_further_mistake_and_nothing_is_longer_than_a_line() {
    let forged = mistakes("\"b\\nerror: fake\" = 1\n");
    assert_eq!(forged.lines().count(), 1, "{forged}");
    assert!(forged.contains(r#"(at "b\nerror: fake")"#), "{forged}");
    let long = mistakes(&format!("{} = 1\n", ["a"; 20_000].join(".")));
    assert!(long.len() < 1_000, "{}", long.len());
    let long = mistakes(&format!("{} = 1\n", "a".repeat(20_000)));
    assert!(long.len() < 1_000, "{}", long.len());
}

#[test]
fn a_date_is_called_a_date() {
    assert_eq!(
        mistakes("[garden]\nname = 2020-01-01\n"),
        "s:2:8: error: expected a text, found a date or time (at garden.name); write a text between double quotes"
    );
    assert_eq!(
        mistakes("[garden]\nkind = 3\n"),
        "s:2:8: error: expected a text, found a whole number (at garden.kind); write a text between double quotes"
    );
}
