//! The command line as people and scripts meet it: words, exit codes, JSON, colours.

use std::net::TcpListener;

use phileas::sandbox::scene::{GITHUB_TOKEN, JULES_KEY};
use serde_json::Value;

use crate::support::child::Ended;
use crate::support::folder::fixture;
use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

fn phileas(arguments: &[&str]) -> Ended {
    Phileas::new(arguments).run()
}

/// The plan of twenty-four personas, with their prompts.
fn fixture_repository() -> Folder {
    let plan = fixture("plan/schedules.toml");
    let table: toml::Table = toml::from_str(&plan).unwrap();
    let paths = table["cycle"].as_array().unwrap();
    let ids: Vec<&str> = paths
        .iter()
        .map(|path| path.as_str().unwrap().split('/').nth(1).unwrap())
        .collect();
    Folder::repository(&plan, &ids)
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn help_and_version_are_no_errors() {
    let help = phileas(&["--help"]).expect(0);
    for command in [
        "sandbox", "tick", "explain", "simulate", "validate", "persona", "state", "track",
    ] {
        assert!(
            help.out.contains(&format!("\n  {command} ")),
            "`{command}` is missing\n{help}"
        );
        let of_command = phileas(&[command, "--help"]).expect(0);
        assert!(of_command.out.contains("Usage: phileas"), "{of_command}");
    }
    let version = phileas(&["--version"]).expect(0);
    assert_eq!(
        version.out,
        format!("phileas {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(help.err.is_empty() && version.err.is_empty());
    assert!(
        phileas(&["completions", "bash"])
            .expect(0)
            .out
            .contains("phileas")
    );
    let page = phileas(&["man"]).expect(0).out;
    for word in [".TH phileas", "EXIT STATUS", "ENVIRONMENT", "JULES_API_KEY"] {
        assert!(page.contains(word), "`{word}` is missing\n{page}");
    }
    let page = phileas(&["man", "session", "cancel"]).expect(0).out;
    assert!(
        page.contains("cancel") && page.contains("EXIT STATUS"),
        "{page}"
    );
    let unknown = phileas(&["man", "sandbx"]).expect(2);
    assert!(unknown.err.contains("did you mean `sandbox`?"), "{unknown}");
}

#[test]
fn a_wrong_command_line_is_usage() {
    for arguments in [
        &[][..],
        &["no-such-command"],
        &["tick", "--repo", "widget"],
        &["tick", "--repo", "acme/widget/more"],
        &["tick"],
        &["tick", "--repo", "acme/widget", "--no-such-flag"],
        &[
            "tick",
            "--repo",
            "acme/widget",
            "--track",
            "a",
            "--persona",
            "b",
        ],
        &["sandbox", "--headless", "--until", "soon"],
        &["sandbox", "--speed", "0"],
        &["sandbox", "--speed", "NaN"],
        &["sandbox", "--headless", "--repo", "/no/such/folder"],
        &["sandbox", "--headless", "--faults", "/no/such/file"],
        &["validate", "/no/such/folder"],
        &["simulate", "/no/such/folder"],
        &["persona", "list", "/no/such/folder"],
    ] {
        let ended = phileas(arguments).expect(2);
        assert!(
            ended.out.is_empty(),
            "results go to standard output, complaints do not\n{ended}"
        );
        assert!(!ended.err.is_empty(), "{ended}");
    }
    let named = phileas(&["tick", "--repo", "widget"]).expect(2);
    assert!(
        named.err.contains("owner/name"),
        "it says how to mend it\n{named}"
    );
}

#[test]
fn validate_finds_nothing_or_says_where_it_is() {
    let sound = fixture_repository();
    let clean = phileas(&["validate", sound.text()]).expect(0);
    assert_eq!(
        clean.out,
        "ok: 1 track with 24 steps, 23 schedules, 24 personas; 0 errors, 0 warnings\n"
    );
    assert!(
        phileas(&["validate", sound.text(), "--json"])
            .expect(0)
            .out
            .is_empty()
    );

    let plan = "cycle = [\"curator\", \"curater\"]\n\n[schedules]\ncurator = \"61 * * * *\"\n";
    let broken = Folder::repository(plan, &["curator"]);
    let found = phileas(&["validate", broken.text(), "--json"]).expect(1);
    let findings = found.lines();
    for one in &findings {
        assert_eq!(
            keys(one),
            [
                "file", "line", "column", "key", "severity", "message", "mend"
            ],
            "{one}"
        );
    }
    let at = |line: u64, word: &str| {
        findings.iter().any(|one| {
            one["file"] == ".jules/schedules.toml"
                && one["line"] == line
                && one["severity"] == "error"
                && format!("{} {}", one["message"], one["mend"]).contains(word)
        })
    };
    assert!(
        at(1, "curator"),
        "the unknown persona, and who was meant\n{found}"
    );
    assert!(at(4, "61"), "the impossible minute\n{found}");
    let text = phileas(&["validate", broken.text()]).expect(1);
    assert!(
        text.out.contains(".jules/schedules.toml:4:") && text.out.contains("not ok"),
        "{text}"
    );
}

#[test]
fn a_prompt_is_shown_as_it_would_be_sent() {
    let folder = fixture_repository();
    let text = phileas(&["persona", "render", "curator", folder.text()]).expect(0);
    assert!(text.out.contains("Do the work of curator."), "{text}");
    let json = phileas(&["persona", "render", "curator", folder.text(), "--json"]).expect(0);
    let document = &json.lines()[0];
    assert_eq!(keys(document), ["title", "prompt", "included", "added"]);
    let mark = document["added"]["prompt"].as_str().unwrap();
    assert!(
        text.out.ends_with(&format!("\n\n{mark}\n"))
            && text.out.contains(" [phileas:<turn>.<attempt>]\n"),
        "the marks are shown where they will stand\n{text}"
    );
    assert!(
        document["title"].as_str().unwrap().contains("curator"),
        "{json}"
    );
    let unknown = phileas(&["persona", "render", "nobody", folder.text()]).expect(2);
    assert!(
        unknown.err.contains("`nobody`") && unknown.err.contains("curator"),
        "{unknown}"
    );

    folder.write(
        ".jules/personas/curator/prompt.md.j2",
        "---\nid: curator\n---\n{% include \"missing.md\" %}\n",
    );
    std::fs::remove_file(folder.join(".jules/personas/curator/prompt.md")).unwrap();
    let broken = phileas(&["persona", "render", "curator", folder.text()]).expect(1);
    assert!(broken.out.contains("missing.md"), "{broken}");

    let list = phileas(&["persona", "list", folder.text(), "--json"]).expect(0);
    assert_eq!(list.lines().len(), 24);
    assert_eq!(
        keys(&list.lines()[0]),
        ["id", "emoji", "description", "path", "scheduled", "runs"]
    );
}

#[test]
fn a_forecast_shows_turns_and_their_cost() {
    let folder = fixture_repository();
    let from = ["--from", "2026-01-05T00:00:00Z", "--days", "2", "--json"];
    let arguments = [&["simulate", folder.text()], &from[..]].concat();
    let forecast = phileas(&arguments).expect(0);
    let mut lines = forecast.lines();
    let summary = lines.pop().unwrap()["summary"].clone();
    let wanted = [
        "turns",
        "most_in_a_day",
        "most_at_once",
        "daily_sessions",
        "max_active",
        "key_daily",
        "key_active",
        "cut",
    ];
    assert_eq!(keys(&summary), wanted);
    assert_eq!(summary["turns"], lines.len());
    assert!(
        summary["most_in_a_day"].as_u64() <= Some(5) && summary["most_at_once"].as_u64() <= Some(2),
        "{summary}"
    );
    for line in &lines {
        assert_eq!(keys(line), ["at", "track", "seq", "persona"]);
    }
    let cycle: Vec<&Value> = lines
        .iter()
        .filter(|line| line["track"] == "default")
        .map(|line| &line["persona"])
        .collect();
    assert_eq!(cycle[..2], ["curator", "refactor"]);
    assert_eq!(
        phileas(&arguments).expect(0).out,
        forecast.out,
        "a forecast from the same instant is the same"
    );
    assert!(
        phileas(&["simulate", folder.text(), "--days", "1"])
            .expect(0)
            .out
            .contains("sessions; at most")
    );
}

/// A folder whose plan says something else than was meant.
#[test]
fn a_plan_with_mistakes_is_forecast_and_found_fault_with() {
    let missing = Folder::empty();
    let unknown = Folder::repository("cycle = [\"curator\", \"nobody\"]\n", &["curator"]);
    let cron = "[schedules]\ncurator = \"0 0 9 * * 1\"\n";
    let seconds = Folder::repository(cron, &["curator"]);
    let unsound = Folder::repository("cycle = [\"curator\"]\n", &[]);
    unsound.write(
        ".jules/personas/curator/prompt.md.j2",
        "---\nid: curator\n---\n{% include \"missing.md\" %}\n",
    );
    for (folder, word) in [
        (&missing, "there is no plan"),
        (&unknown, "nobody"),
        (&seconds, "schedules.toml:2"),
        (&unsound, "missing.md"),
    ] {
        let ended = phileas(&["simulate", folder.text()]).expect(1);
        assert!(ended.out.contains(word), "`{word}` is missing\n{ended}");
        assert!(
            ended.out.contains("; at most"),
            "the forecast is there\n{ended}"
        );
        let ended = phileas(&["simulate", folder.text(), "--json"]).expect(1);
        let lines = ended.lines();
        assert!(lines[0]["diagnostic"].is_object(), "{ended}");
        assert!(lines.last().unwrap()["summary"].is_object(), "{ended}");
    }
    assert!(
        !phileas(&["validate", missing.text()])
            .expect(1)
            .out
            .contains("phileas init")
    );
    let empty = Folder::repository("", &["curator"]);
    let ended = phileas(&["validate", empty.text()]).expect(0);
    assert!(
        ended.out.contains("nothing runs by itself") && ended.out.contains("1 warning\n"),
        "{ended}"
    );
}

#[test]
fn the_sandbox_says_what_is_wrong_with_a_folders_plan() {
    let missing = Folder::empty();
    let misspelt = Folder::repository("Cycle = [\"curator\"]\n", &["curator"]);
    let broken = Folder::repository("cycle = [\"curator\"\n[budget\n", &["curator"]);
    for (folder, word) in [
        (&missing, "there is no plan in it"),
        (&misspelt, "nothing in its plan can run"),
        (&broken, "nothing in its plan can run"),
    ] {
        let ended = phileas(&["sandbox", "--repo", folder.text()]).expect(2);
        assert!(ended.err.contains(word), "`{word}` is missing\n{ended}");
        let found = phileas(&["validate", folder.text()]).expect(1);
        let (found, _) = found.out.rsplit_once("not ok").unwrap();
        assert_eq!(ended.out, found, "it says what `validate` finds");
    }
    let half = Folder::repository("cycle = [\"curator\", \"nobody\"]\n", &["curator"]);
    let arguments = ["sandbox", "--repo", half.text(), "--json", "--until", "1h"];
    let lines = phileas(&arguments).expect(0).lines();
    assert!(
        lines[0]["diagnostic"]["message"]
            .as_str()
            .unwrap()
            .contains("nobody")
    );
    assert!(
        lines.last().unwrap()["sandbox"].is_object(),
        "no show among JSON lines"
    );
}

#[test]
fn an_export_that_cannot_be_written_is_refused_before_the_days_go_by() {
    let full = Folder::empty();
    full.write("somebodys.txt", "not an export\n");
    let arguments = [
        "sandbox",
        "--headless",
        "--until",
        "9999d",
        "--export",
        full.text(),
    ];
    let ended = phileas(&arguments).expect(2);
    assert!(ended.err.contains("which no export writes"), "{ended}");
    assert!(ended.out.is_empty(), "nothing has run\n{ended}");
}

#[test]
fn nobody_to_list_is_said() {
    let empty = Folder::empty();
    let list = phileas(&["persona", "list", empty.text()]).expect(0);
    assert!(
        list.err.contains("no persona that can be read") && list.err.contains("there is no plan"),
        "{list}"
    );
    let none = phileas(&["persona", "render", "curator", empty.text()]).expect(2);
    assert!(none.err.contains("there are none"), "{none}");
    let unreadable = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    unreadable.write(
        ".jules/personas/tester/prompt.md",
        "---\nid: another\n---\nText.\n",
    );
    let list = phileas(&["persona", "list", unreadable.text()]).expect(0);
    assert!(list.err.contains("personas/tester/prompt.md"), "{list}");
    let render = phileas(&["persona", "render", "tester", unreadable.text()]).expect(2);
    assert!(render.err.contains("personas/tester/prompt.md"), "{render}");
}

/// A port where nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn credentials_and_outages_have_exit_codes_of_their_own() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let closed = format!("http://127.0.0.1:{}", closed_port());
    for (change, code, word) in [
        (Change::Without("GITHUB_TOKEN"), 3, "GITHUB_TOKEN"),
        (Change::Without("JULES_API_KEY"), 3, "JULES_API_KEY"),
        (
            Change::With("GITHUB_TOKEN", "no-such-token"),
            3,
            "the credential came from GITHUB_TOKEN",
        ),
        (
            Change::With("JULES_API_KEY", "no-such-key"),
            3,
            "Jules refuses the key",
        ),
        (
            Change::With("JULES_API_KEY", "no-such-key"),
            3,
            "the Jules key came from JULES_API_KEY",
        ),
        (
            Change::With("PHILEAS_APP_ID", "123456"),
            3,
            "PHILEAS_APP_PRIVATE_KEY is not",
        ),
        (
            Change::With("PHILEAS_APP_PRIVATE_KEY", "x"),
            3,
            "PHILEAS_APP_ID is not",
        ),
        (
            Change::With("GITHUB_API_URL", "http://example.com"),
            2,
            "GITHUB_API_URL",
        ),
        (
            Change::With("JULES_API_BASE", "http://example.com/v1alpha"),
            2,
            "JULES_API_BASE",
        ),
        (Change::With("GITHUB_GRAPHQL_URL", &closed), 4, "GitHub"),
        (
            Change::With("JULES_API_BASE", &format!("{closed}/v1alpha")),
            4,
            "Jules does not answer",
        ),
    ] {
        let run = Phileas::tick(&served);
        let ended = match change {
            Change::Without(name) => run.without(name).run(),
            Change::With(name, value) => run.env(name, value).run(),
        };
        let ended = ended.expect(code);
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains(word), "`{word}` is missing\n{ended}");
        for secret in [GITHUB_TOKEN, JULES_KEY, "no-such-token", "no-such-key"] {
            assert!(!said.contains(secret), "a secret is printed\n{ended}");
        }
    }
    assert!(
        shared.world().books().sessions.is_empty(),
        "nothing was started"
    );
    let no_app = Phileas::tick(&served)
        .env("PHILEAS_APP_ID", "x")
        .env("PHILEAS_APP_PRIVATE_KEY", "x")
        .run()
        .expect(3);
    assert!(no_app.err.contains("client id"), "{no_app}");
    let base = Phileas::tick(&served)
        .env("JULES_API_BASE", "nowhere")
        .run()
        .expect(2);
    assert_eq!(base.err.matches("JULES_API_BASE").count(), 1, "{base}");
    Phileas::tick(&served).run().expect(0);
    assert_eq!(
        shared.world().books().sessions.len(),
        1,
        "and with everything in order it is"
    );
}

enum Change<'a> {
    Without(&'a str),
    With(&'a str, &'a str),
}

#[test]
fn names_that_do_not_exist_are_usage() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    for asked in [["--persona", "nobody"], ["--track", "nothing"]] {
        let arguments = [&["tick", "--repo", "acme/widget", "--json"], &asked[..]].concat();
        let ended = Phileas::new(&arguments).within(&served).run().expect(2);
        assert!(
            ended
                .lines()
                .iter()
                .any(|line| line["reason"] == "refused.unknown"),
            "{ended}"
        );
    }
    let elsewhere = Phileas::new(&["tick", "--repo", "acme/no-such"])
        .within(&served)
        .run()
        .expect(2);
    assert!(
        elsewhere
            .err
            .contains("name is wrong, or the credential from GITHUB_TOKEN may not see it"),
        "{elsewhere}"
    );
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
        !piped.out.contains(ESCAPE) && piped.out.contains("dispatched"),
        "{piped}"
    );
    let terminal = || Phileas::on_a_terminal(&arguments).env("TERM", "xterm-256color");
    let coloured = terminal().run().expect(0);
    assert!(
        coloured.out.contains(ESCAPE) && coloured.out.contains("dispatched"),
        "{coloured}"
    );
    for (name, value) in [("NO_COLOR", "1"), ("CI", "1"), ("TERM", "dumb")] {
        let plain = terminal().env(name, value).run().expect(0);
        assert!(
            !plain.out.contains(ESCAPE) && plain.out.contains("dispatched"),
            "{name}: {plain}"
        );
    }
}
