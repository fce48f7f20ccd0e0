use proptest::prelude::*;

use super::*;

fn diagnostics_of(text: &str) -> (Vec<String>, String) {
    let document = Document::of(text);
    let said = document
        .mistakes
        .iter()
        .map(|mistake| {
            let (line, _) = document.lines.place(text, mistake.offset);
            format!("{line} {}", mistake.key)
        })
        .collect();
    let left: Vec<&str> = document.clean.split_whitespace().collect();
    (said, left.join(" "))
}

#[test]
fn each_broken_statement_is_found_and_the_rest_stays() {
    for (text, mistakes, left) in [
        ("a = 1\n", vec![], "a = 1"),
        (
            "a = \nb = 5x\nc = 1 2\nd\ne = 3\n",
            vec!["1 a", "2 b", "3 c", "4 d"],
            "e = 3",
        ),
        ("foo bar = 1\nb=2\n= 3\n", vec!["1 foo bar", "3 "], "b=2"),
        (
            "[budget\nmax = 3\n[gate]\nx = 1\n",
            vec!["1 budget"],
            "[gate] x = 1",
        ),
        (
            "[z]\nq = 1\n[z]\nq = 2\n[y]\n",
            vec!["3 z"],
            "[z] q = 1 [y]",
        ),
        (
            "a = [\n 1,\n]\na = [\n \"x\",\n # y\n\n]\nb = 1\n",
            vec!["4 a"],
            "a = [ 1, ] b = 1",
        ),
        (
            "cycle = [\n \"a\",\n \"b\"\n\n[s]\na = \"x\"\n",
            vec!["1 cycle"],
            "[s] a = \"x\"",
        ),
        ("a = '''\nfoo\n[s]\nb=1\n", vec!["1 a"], "[s] b=1"),
        ("[s]\na = \"x\nb = \"y\"\n", vec!["2 s.a"], "[s] b = \"y\""),
        (
            "a = [\n \"x\" \"y\",\n \"z\",\n]\nd\nb = [\n 1 2\n]\ne = 1\n",
            vec!["2 a", "5 d", "7 b"],
            "e = 1",
        ),
        (
            "y = { a = 1, b }\nz = { a = 1, a = 2 }\nx = 1",
            vec!["1 y", "2 z"],
            "x = 1",
        ),
        (
            "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> x\nc = 1\n",
            vec!["2 "],
            "a = 1 c = 1",
        ),
    ] {
        assert_eq!(
            diagnostics_of(text),
            (
                mistakes.into_iter().map(str::to_owned).collect(),
                left.to_owned()
            ),
            "{text}"
        );
    }
}

#[test]
fn a_missing_value_is_no_unquoted_text() {
    for (text, missing) in [
        ("retry = \n", true),
        ("retry =\r\nmode = \"act\"\r\n", true),
        ("retry = # later\n", true),
        ("retry = never\n", false),
        ("retry = 5x\n", false),
    ] {
        let document = Document::of(text);
        let first = &document.mistakes[0];
        assert_eq!(first.key, "retry", "{text}");
        assert_eq!(
            first.message == "its value is missing",
            missing,
            "{first:?}"
        );
        assert_eq!(
            first.help.starts_with("write it behind"),
            missing,
            "{first:?}"
        );
    }
}

#[test]
fn a_conflict_that_opens_a_table_takes_what_follows_with_it() {
    let text =
        "[x]\na = 1\n<<<<<<< HEAD\n[t.a]\n=======\n[t.b]\n>>>>>>> x\nsteps = 1\n[y]\nb = 1\n";
    assert_eq!(diagnostics_of(text).1, "[x] a = 1 [y] b = 1");
    let document = Document::of(text);
    assert!(document.is_broken("t.a") && document.is_broken("t.b") && document.is_broken("t"));
    assert!(!document.is_broken("y"));
}

#[test]
fn a_conflict_inside_an_array_breaks_the_whole_array() {
    let text = "cycle = [\n \"a\",\n<<<<<<< HEAD\n \"b\",\n=======\n \"c\",\n>>>>>>> x\n]\nd = 1\n";
    let document = Document::of(text);
    assert!(document.is_broken("cycle"));
    assert!(!document.is_broken("d"));
}

proptest! {
    #[test]
    fn what_is_left_is_always_readable(text in "([\\[\\]{}=,.\"'#a-c1 \n\r\t\\\\é]|<<<<<<< |>>>>>>> |\"\"\"|= 1\n){0,60}") {
        let document = Document::of(&text);
        prop_assert_eq!(document.clean.len(), text.len());
        prop_assert!(DeTable::parse(&document.clean).is_ok());
    }
}
