//! Tests work items as issues, on which people approve them.

use phileas_domain::exchange::{Publication, check_exchange, issue_text, work_item_issue};
use phileas_domain::model::Tree;

use crate::examples::{DECIDED, REQUIREMENT, event, flat, requirement, with};

/// The issue of an exchange's only work item, which has this text.
fn offered(text: &str) -> Result<Publication, String> {
    offered_of(with(flat(), REQUIREMENT, text))
}

fn offered_of(files: Vec<(String, String)>) -> Result<Publication, String> {
    offered_at(REQUIREMENT, files)
}

fn offered_at(path: &str, files: Vec<(String, String)>) -> Result<Publication, String> {
    let tree = Tree::from_texts(
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let exchange = check_exchange(&tree).exchange.unwrap();
    let stream = &exchange.streams["generic"];
    let item = stream.items.iter().find(|item| item.path == path).unwrap();
    let done = work_item_issue("implementer", "phileas:do", stream, item);
    done.map_err(|why| why.to_string())
}

#[test]
fn a_sound_item_is_shown_and_one_with_mistakes_is_not() {
    let sound = requirement("item01", "deci01");
    let issue = offered(&sound).unwrap();
    assert!(issue.label.starts_with("work/"), "{}", issue.label);
    assert!(issue.body.contains("### finding deci01"), "{}", issue.body);
    let wrong = sound.replace("priority: medium", "priority: whenever");
    let why = offered(&wrong).unwrap_err();
    assert!(why.contains("something is wrong with it"), "{why}");
    assert!(why.contains("phileas exchange check"), "{why}");
}

/// Its issue has a label, and GitHub allows fifty characters at most.
#[test]
fn an_item_whose_label_github_cannot_have_is_not_shown() {
    let of = |length: usize| {
        let label = "l".repeat(length);
        let text =
            requirement("item01", "deci01").replace("label: refacts", &format!("label: {label}"));
        let registry = format!("{{\"schema_version\":1,\"issue_labels\":{{\"{label}\":{{}}}}}}");
        let files = with(flat(), REQUIREMENT, &text);
        offered_of(with(files, ".jules/github-labels.json", &registry))
    };
    // `work/` is prefixed.
    assert_eq!(of(45).unwrap().label, format!("work/{}", "l".repeat(45)));
    for length in [46, 64] {
        let why = of(length).unwrap_err();
        assert!(why.contains("no label of more than 50 characters"), "{why}");
        assert!(why.contains("give its label a shorter name"), "{why}");
    }
}

/// GitHub limits the length of an issue's body. The item's own text has a limit; its file's name has none.
#[test]
fn an_item_whose_file_has_too_long_a_name_is_not_shown() {
    let text = requirement("item01", "deci01");
    let of = |length: usize| {
        let path = format!(".jules/exchange/requirements/{}.yml", "n".repeat(length));
        let files = with(flat(), &path, &text);
        let files = files.into_iter().filter(|(path, _)| path != REQUIREMENT);
        offered_at(&path, files.collect())
    };
    let room = 65_536 - of(1).unwrap().body.chars().count() + 1;
    assert_eq!(of(room).unwrap().body.chars().count(), 65_536);
    let why = of(room + 1).unwrap_err();
    assert!(why.contains("give its file a shorter name"), "{why}");
}

/// A finding that the item covers, with a statement of this length; `None` if it does not fit.
fn finding_of(statement: usize) -> Option<String> {
    const STATEMENT: &str = "The parser calls it a step, and the runner calls it a stage.";
    let note = format!("    note: {}\n", "n".repeat(450));
    let evidence = format!("  - path: src/parser.rs\n    loc: [12]\n{note}").repeat(20);
    let text = event("deci01", "item01").replace(STATEMENT, &"s".repeat(statement)) + &evidence;
    let body = offered_of(with(flat(), DECIDED, &text)).unwrap().body;
    let at = body.find("### finding deci01")?;
    let end = body[at..].find("\n```\n").expect("the fence ends");
    Some(body[at..at + end + "\n```".len()].to_owned())
}

#[test]
fn findings_take_the_room_that_there_is_and_no_more() {
    /// As in `exchange/limits.rs`.
    const ROOM: usize = 16 * 1024;
    let longest = (5_000..9_000)
        .rev()
        .find_map(finding_of)
        .expect("one of them has room");
    // The separator of sections counts with each. One more character may break a line, and so take two.
    let taken = longest.chars().count() + 2;
    assert!((ROOM - 1..=ROOM).contains(&taken), "{taken}");
}

/// An agent also writes the keys: a key that is no plain word is fenced like all its text, also in an unchecked item.
#[test]
fn a_key_that_is_no_word_is_no_heading() {
    let further = "open_points: None.\n\"Ask @everyone to [read](https://example.com)\": It is urgent.\n\"\": Nothing.\n";
    let text = requirement("item01", "deci01") + further;
    let why = offered(&text).unwrap_err();
    assert!(why.contains("something is wrong with it"), "{why}");
    let files = with(flat(), REQUIREMENT, &text);
    let tree = Tree::from_texts(files.iter().map(|(path, text)| (path, text.as_str())));
    let exchange = check_exchange(&tree).exchange.unwrap();
    let stream = &exchange.streams["generic"];
    let body = issue_text(stream, &stream.items[0]).unwrap();
    for section in [
        "### open points\n\n```text\nNone.\n```",
        "### further\n\n```text\nAsk @everyone to [read](https://example.com): It is urgent.\n```",
        "### further\n\n```text\n: Nothing.\n```",
    ] {
        assert!(body.contains(section), "{section}: {body}");
    }
}
