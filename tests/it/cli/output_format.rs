//! What is printed: JSON, widths, colours.

use super::{keys, phileas};
use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

/// Nothing that others wrote moves a cursor, sets a title or breaks a row.
#[test]
fn what_others_wrote_steers_no_terminal() {
    let folder = Folder::repository(
        "cycle = [\"curator\", \"\\u001b]0;who\\u0007\"]\n\"\\u001b[2J\\nkey\" = 1\n",
        &[],
    );
    folder.write(
        ".jules/personas/curator/prompt.md",
        "---\nid: curator\nemoji: \"\\e]0;title\\a📚\"\ndescription: \"Keeps\\nit \\e[8mtrue\"\n---\nDo it.\n",
    );
    folder.write(
        ".jules/personas/tester/prompt.md",
        "---\nid: \"tester\\e[31m\\n\"\n---\nDo it.\n",
    );
    for (arguments, code) in [
        (&["persona", "list"][..], 1),
        (&["validate"], 1),
        (&["simulate"], 1),
    ] {
        let arguments = [arguments, &[folder.text()]].concat();
        let ended = phileas(&arguments).expect(code);
        for text in [&ended.out, &ended.err] {
            let steers = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(steers), "{text:?}");
        }
    }
    let list = phileas(&["persona", "list", folder.text()]).expect(1);
    assert_eq!(
        list.out.lines().count(),
        2,
        "a heading and a persona\n{list}"
    );
    assert!(list.out.contains("description"), "{list}");
    assert!(list.out.contains("Keeps it [8mtrue"), "{list}");
    assert!(
        list.err.contains("U+001B"),
        "what was left out is told\n{list}"
    );
}

/// The work goes on when the log's reader is gone. The two days of faults log warnings from their first minutes on.
#[test]
fn warnings_without_a_reader_end_nothing() {
    let days = ["sandbox", "--headless", "--chaos", "--until", "2h"];
    let heard = phileas(&days).expect(0);
    assert!(!heard.err.is_empty(), "{heard}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unheard = Phileas::new(&days).into_command();
    let unheard = unheard.stderr(writer).output().unwrap();
    assert!(unheard.status.success(), "{unheard:?}");
    assert_eq!(String::from_utf8(unheard.stdout).unwrap(), heard.out);
}

/// The keys of a decision and of a summary, as the formats say. Programs read them.
#[test]
fn json_lines_have_exactly_the_documented_keys() {
    const LINE: [&str; 14] = [
        "at",
        "repo",
        "track",
        "seq",
        "slot",
        "persona",
        "decision",
        "reason",
        "turn",
        "session_id",
        "pr_number",
        "detail",
        "until",
        "forecast",
    ];
    const DECISIONS: [&str; 10] = [
        "dispatched",
        "adopted",
        "advanced",
        "waiting",
        "skipped",
        "refused",
        "paused",
        "held",
        "settled",
        "imported",
    ];
    let summary = [
        &DECISIONS[..],
        &[
            "commits",
            "failed_effects",
            "issues_opened",
            "issues_closed",
            "github_requests",
            "github_points",
            "jules_requests",
            "next_due",
            "forecast",
        ],
    ]
    .concat();
    let repository = Folder::repository(
        "cycle = [\"curator\"]\n[schedules]\nrefactor = \"0 9 * * 1\"\n",
        &["curator", "refactor"],
    );
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let sandbox = phileas(&["sandbox", "--headless", "--json", "--until", "4h"]).expect(0);
    let mut of_sandbox = sandbox.lines();
    let last = of_sandbox.pop().unwrap();
    let wanted = [
        "seed",
        "from",
        "until",
        "ticks",
        "failed_ticks",
        "sessions",
        "requests",
    ];
    assert_eq!(keys(&last["sandbox"]), wanted);
    let mut seen = 0;
    for line in Phileas::tick(&served)
        .run()
        .expect(0)
        .lines()
        .iter()
        .chain(&of_sandbox)
    {
        if line["summary"].is_object() {
            assert_eq!(keys(line), ["summary"]);
            assert_eq!(keys(&line["summary"]), summary);
        } else {
            assert_eq!(keys(line), LINE, "{line}");
            assert!(
                DECISIONS.contains(&line["decision"].as_str().unwrap()),
                "{line}"
            );
            assert_eq!(line["repo"], "acme/widget");
            assert_eq!(line["forecast"], false, "it was done");
            seen += 1;
        }
    }
    assert!(seen > 5);
}

/// Rows fit the terminal that says how wide it is.
#[test]
fn lines_are_wrapped_to_the_terminal() {
    const WIDTH: usize = 70;
    let arguments = ["sandbox", "--headless", "--until", "4h"];
    let piped = phileas(&arguments).expect(0);
    let widest = |text: &str| {
        text.lines()
            .map(|line| line.trim_end().chars().count())
            .max()
    };
    assert!(widest(&piped.out) > Some(WIDTH), "{piped}");
    let narrow = Phileas::on_a_terminal(&arguments)
        .env("COLUMNS", &WIDTH.to_string())
        .env("NO_COLOR", "1")
        .run()
        .expect(0);
    assert!(widest(&narrow.out) <= Some(WIDTH), "{narrow}");
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&narrow.out), words(&piped.out), "nothing is lost");
}

/// Colours are for a person at a terminal who has not said otherwise.
#[test]
fn colours_are_for_terminals_only() {
    const ESCAPE: char = '\u{1b}';
    let arguments = ["sandbox", "--headless", "--until", "2h"];
    let piped = phileas(&arguments).expect(0);
    assert!(
        !piped.out.contains(ESCAPE) && piped.out.contains("started"),
        "{piped}"
    );
    let terminal = || Phileas::on_a_terminal(&arguments).env("TERM", "xterm-256color");
    let coloured = terminal().run().expect(0);
    assert!(
        coloured.out.contains(ESCAPE) && coloured.out.contains("started"),
        "{coloured}"
    );
    for (name, value) in [("NO_COLOR", "1"), ("CI", "1"), ("TERM", "dumb")] {
        let plain = terminal().env(name, value).run().expect(0);
        assert!(
            !plain.out.contains(ESCAPE) && plain.out.contains("started"),
            "{name}: {plain}"
        );
    }
}
