//! Tests that files on the branch `jules`, which others can write to, are treated as untrusted data. A bad file is
//! reported with its position and reason and reaches no session; the other files are used.

use phileas_domain::exchange::limits::ARTIFACT_LIMIT_BYTES;
use phileas_domain::exchange::{CheckResult, check_exchange};
use phileas_domain::model::{Entry, Mode, Tree};

use crate::examples::{PENDING, event, flat};

/// Added to the valid files of [`flat`]; sorted after most of them, and before some.
const BAD: &str = ".jules/exchange/events/pending/made-up.yml";

fn looked_at(path: &str, mode: Mode, text: &str) -> CheckResult {
    let mut tree = Tree::from_texts(flat());
    let entry = Entry {
        mode,
        oid: String::new(),
        size: text.len() as u64,
        // As trees are read: a file that is no regular file, or too large, has no text.
        text: (mode == Mode::File && text.len() <= ARTIFACT_LIMIT_BYTES).then(|| text.into()),
    };
    tree.insert(path, entry);
    let checked = check_exchange(&tree);
    crate::every_check::keep(&checked);
    checked
}

/// The valid artifacts, by path.
fn sound(checked: &CheckResult) -> Vec<&str> {
    let streams = checked.exchange.iter().flat_map(|one| one.streams.values());
    let events = streams.flat_map(|stream| &stream.events);
    let sound = events.filter(|event| event.sound);
    sound.map(|event| event.path.as_str()).collect()
}

fn aliases() -> String {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let row = [before.as_str(); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{row}]\n"));
    }
    bomb + &event("bad001", "")
}

#[test]
pub(crate) fn r12_each_bad_file_is_left_out_with_a_reason_and_the_others_go_on() {
    let good = event("bad001", "");
    let large = format!("{good}# {}\n", "x".repeat(ARTIFACT_LIMIT_BYTES));
    let many = format!("{good}rest: [{}]\n", "1,".repeat(5_000));
    let deep = format!("{good}rest: {}{}\n", "[".repeat(20), "]".repeat(20));
    let deeper = format!("{good}rest: {}{}\n", "[".repeat(9_000), "]".repeat(9_000));
    let conflict = format!("<<<<<<< HEAD\n{good}=======\n{good}>>>>>>> topic\n");
    let two = format!("{good}---\n{good}");
    for (text, place, reason) in [
        (aliases(), ":1:5: ", "anchors are not read"),
        (
            good.replace("title: Two", "title: !!binary Two"),
            ":7:8: ",
            "tags are not read",
        ),
        (
            good.replace("title: Two", "title: !ruby/object:Gem Two"),
            ":7:8: ",
            "tags are not read",
        ),
        (large, ": ", "larger than 65536 bytes"),
        (many, ":13:7946: ", "more than 4000 values"),
        (deep, ":13:", "nested more than 12 deep"),
        (deeper, ":13:", "recursion limit"),
        (conflict, ":1:1: ", "marks of a merge conflict"),
        (two, ":", "second document"),
        (
            good.replace("schema_version: 1", "schema_version: 9"),
            ":1:17: ",
            "version 9 is not known",
        ),
        (
            good.replace("confidence: high", "confidence: high\nconfidence: low"),
            ":7:1: ",
            "is there twice",
        ),
        (
            good.replace("confidence: high", "run: \"rm -rf /\""),
            ":6:1: ",
            "unknown key `run`",
        ),
        ("a: [".to_owned(), ":", "not YAML"),
        (String::new(), ":1:1: ", "nothing in it"),
    ] {
        let checked = looked_at(BAD, Mode::File, &text);
        let told: Vec<String> = checked
            .diagnostics
            .iter()
            .map(ToString::to_string)
            .collect();
        let begins = format!("{BAD}{place}");
        assert!(
            told.iter()
                .any(|one| one.starts_with(&begins) && one.contains(reason)),
            "{reason}: {told:#?}"
        );
        assert!(
            told.iter().all(|one| one.starts_with(BAD)),
            "{reason}: what is sound is blamed: {told:#?}"
        );
        let sound = sound(&checked);
        assert!(!sound.contains(&BAD), "{reason}: it is handed on");
        assert!(sound.contains(&PENDING), "{reason}: {sound:?}");
    }
}

#[test]
pub(crate) fn r12_what_is_no_regular_file_is_never_followed() {
    for (mode, reason) in [
        (Mode::Link, "symbolic link"),
        (Mode::Submodule, "not a file"),
        (Mode::Special, "not a file"),
    ] {
        let checked = looked_at(BAD, mode, "../../../../etc/passwd");
        let told: Vec<String> = checked
            .diagnostics
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with(BAD) && told[0].contains(reason),
            "{told:?}"
        );
        let sound = sound(&checked);
        assert!(
            !sound.contains(&BAD) && sound.contains(&PENDING),
            "{sound:?}"
        );
    }
}

/// On a file system that ignores case, one file would overwrite the other.
#[test]
pub(crate) fn r12_two_names_that_differ_in_capitals_are_told() {
    let second = PENDING.replace("dead-code", "Dead-Code");
    let checked = looked_at(&second, Mode::File, &event("bad001", ""));
    let told: Vec<String> = checked
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        told.iter().any(|one| one.contains("nothing but capitals")),
        "{told:?}"
    );
}

/// The same file without its mistake.
#[test]
pub(crate) fn r12_what_is_sound_is_read_with_the_rest() {
    let checked = looked_at(BAD, Mode::File, &event("bad001", ""));
    assert_eq!(checked.diagnostics, []);
    let sound = sound(&checked);
    assert!(
        sound.contains(&BAD) && sound.contains(&PENDING),
        "{sound:?}"
    );
}
