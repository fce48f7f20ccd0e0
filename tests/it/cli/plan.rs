//! A plan and its personas as they are checked, shown and forecast.

use serde_json::Value;

use super::{fixture_repository, keys, phileas};
use crate::support::Folder;

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
                "file", "line", "column", "key", "severity", "message", "help"
            ],
            "{one}"
        );
    }
    let at = |line: u64, word: &str| {
        findings.iter().any(|one| {
            one["file"] == ".jules/schedules.toml"
                && one["line"] == line
                && one["severity"] == "error"
                && format!("{} {}", one["message"], one["help"]).contains(word)
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
    // The other parts of that plan run. Without a known limit nothing does.
    let nothing = "nothing starts until the plan is correct";
    assert!(!text.out.contains(nothing), "{text}");
    let unlimited = Folder::repository("cycle = [\"a\"]\n[budgets]\nmax_active = 1\n", &["a"]);
    let text = phileas(&["validate", unlimited.text()]).expect(1);
    assert!(text.out.contains(nothing), "{text}");
}

#[test]
fn a_prompt_is_shown_as_it_would_be_sent() {
    let folder = fixture_repository();
    let text = phileas(&["persona", "render", "curator", folder.text()]).expect(0);
    assert!(text.out.contains("Do the work of curator."), "{text}");
    assert!(text.err.contains("earlier work"), "{text}");
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
    let unknown = phileas(&["persona", "render", "absent", folder.text()]).expect(2);
    assert!(
        unknown.err.contains("`absent`") && unknown.err.contains("curator"),
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
        "turns_of",
        "daily_sessions",
        "track_share",
        "max_active",
        "key_daily",
        "key_active",
        "cut",
        "without_layers",
        "assumed",
    ];
    assert_eq!(keys(&summary), wanted);
    assert_eq!(summary["turns"], lines.len());
    assert!(
        summary["most_in_a_day"].as_u64() <= Some(5) && summary["most_at_once"].as_u64() <= Some(2),
        "{summary}"
    );
    for line in &lines {
        let wanted = ["at", "track", "seq", "persona", "held_since", "held_by"];
        assert_eq!(keys(line), wanted);
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

/// A slot that the day's budget holds comes a day late, and the forecast says why.
#[test]
fn a_forecast_says_what_makes_a_turn_late() {
    let plan = "[schedules]\ncurator = \"0 9 * * *\"\ntester = \"0 10 * * *\"\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 1\n";
    let folder = Folder::repository(plan, &["curator", "tester"]);
    let from = ["--from", "2026-01-05T00:00:00Z", "--days", "2"];
    let arguments = [&["simulate", folder.text()], &from[..]].concat();
    let shown = phileas(&arguments).expect(0);
    let late = "tester         due Mon 2026-01-05 10:00, held by `daily_sessions`";
    assert!(shown.out.contains(late), "{shown}");
    let lines = phileas(&[&arguments[..], &["--json"]].concat())
        .expect(0)
        .lines();
    let held = |persona: &str| {
        let turn = lines.iter().find(|line| line["persona"] == persona);
        let turn = turn.unwrap_or_else(|| panic!("{lines:?}"));
        (turn["held_since"].clone(), turn["held_by"].clone())
    };
    assert_eq!(held("curator"), (Value::Null, Value::Null));
    let since = "2026-01-05T10:00:00Z".into();
    let by = serde_json::json!(["waiting.budget_daily"]);
    assert_eq!(held("tester"), (since, by));
}

/// A folder whose plan says something else than was meant.
#[test]
fn a_plan_with_mistakes_is_forecast_and_found_fault_with() {
    let missing = Folder::empty();
    let unknown = Folder::repository("cycle = [\"curator\", \"absent\"]\n", &["curator"]);
    let cron = "[schedules]\ncurator = \"0 0 9 * * 1\"\n";
    let seconds = Folder::repository(cron, &["curator"]);
    let unsound = Folder::repository("cycle = [\"curator\"]\n", &[]);
    unsound.write(
        ".jules/personas/curator/prompt.md.j2",
        "---\nid: curator\n---\n{% include \"missing.md\" %}\n",
    );
    for (folder, word) in [
        (&missing, "there is no plan"),
        (&unknown, "absent"),
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
        (
            &missing,
            "it has no plan; correct it, then check it with `phileas validate",
        ),
        (&misspelt, "nothing in its plan can run"),
        (&broken, "nothing in its plan can run"),
    ] {
        let ended = phileas(&["sandbox", "--repo", folder.text()]).expect(2);
        assert!(ended.err.contains(word), "`{word}` is missing\n{ended}");
        let unseen = phileas(&["sandbox", "--headless", "--repo", folder.text()]).expect(2);
        assert_eq!((&unseen.out, &unseen.err), (&ended.out, &ended.err));
        let found = phileas(&["validate", folder.text()]).expect(1);
        let (found, _) = found.out.rsplit_once("not ok").unwrap();
        assert_eq!(ended.out, found, "it says what `validate` finds");
    }
    let limit = "cycle = [\"curator\"]\n[budget]\ndaily_sessions = \"many\"\n";
    let limitless = Folder::repository(limit, &["curator"]);
    let held = phileas(&["sandbox", "--headless", "--repo", limitless.text()]).expect(2);
    assert!(
        held.err
            .contains("its plan has a mistake that may concern everything")
            && held.out.contains("budget"),
        "{held}"
    );
    let half = Folder::repository("cycle = [\"curator\", \"absent\"]\n", &["curator"]);
    let arguments = ["sandbox", "--repo", half.text(), "--json", "--until", "1h"];
    let lines = phileas(&arguments).expect(0).lines();
    assert!(
        lines[0]["diagnostic"]["message"]
            .as_str()
            .unwrap()
            .contains("absent")
    );
    assert!(
        lines.last().unwrap()["sandbox"].is_object(),
        "no show among JSON lines"
    );
}

#[test]
#[cfg(unix)]
fn a_pipe_is_no_link() {
    let folder = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let path = folder.join(".jules/personas/curator/prompt.md");
    std::fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let ended = phileas(&["validate", folder.text()]).expect(1);
    assert!(ended.out.contains("the prompt is not a file"), "{ended}");
    assert!(!ended.out.contains("link"), "{ended}");
}

#[test]
fn an_export_that_cannot_be_written_is_refused_before_the_days_go_by() {
    let full = Folder::empty();
    full.write("somebodys.txt", "not an export\n");
    let arguments = [
        "sandbox",
        "--headless",
        "--until",
        "366d",
        "--export",
        full.text(),
    ];
    let ended = phileas(&arguments).expect(2);
    let said = "holds \"somebodys.txt\", which is not part of an export; choose a new folder";
    assert!(ended.err.contains(said), "{ended}");
    assert!(ended.out.is_empty(), "nothing has run\n{ended}");
}

#[test]
fn an_empty_list_is_reported() {
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
    let list = phileas(&["persona", "list", unreadable.text()]).expect(1);
    assert!(list.out.contains("curator"), "{list}");
    assert!(list.err.contains("personas/tester/prompt.md"), "{list}");
    let render = phileas(&["persona", "render", "tester", unreadable.text()]).expect(1);
    assert!(render.err.contains("personas/tester/prompt.md"), "{render}");
}

/// Where a persona runs is read in the plan, so its mistakes are told as `validate` tells them.
#[test]
fn a_list_tells_what_is_wrong_with_the_plan() {
    let typo = "cycle = [\"curator\", \"curater\"]\n";
    for (plan, place) in [("cycle = [\"curator\"\n", ":1:"), (typo, ":1:")] {
        let folder = Folder::repository(plan, &["curator"]);
        let checked = phileas(&["validate", folder.text()]).expect(1);
        let list = phileas(&["persona", "list", folder.text()]).expect(1);
        assert!(list.out.contains("curator"), "{list}");
        let mistake = list.err.lines().next().unwrap();
        assert!(
            mistake.starts_with(&format!(".jules/schedules.toml{place}")),
            "{list}"
        );
        assert!(checked.out.contains(mistake), "{checked}{list}");
    }
}

/// Limits that cannot be read are not replaced by the defaults, and shares add up to the whole.
#[test]
fn a_forecast_shows_only_limits_that_the_plan_has() {
    let plan = "cycle = [\"curator\"]\n[budget]\ndaily_sessions = \"many\"\n";
    let folder = Folder::repository(plan, &["curator"]);
    let shown = phileas(&["simulate", folder.text()]).expect(1);
    let said = "0 sessions: the plan has a mistake that may concern everything, so nothing starts";
    assert!(shown.out.contains(said), "{shown}");
    let shown = phileas(&["simulate", folder.text(), "--json"]).expect(1);
    let summary = &shown.lines().pop().unwrap()["summary"];
    for key in [
        "daily_sessions",
        "max_active",
        "key_daily",
        "key_active",
        "track_share",
    ] {
        assert!(summary[key].is_null(), "{key}: {shown}");
    }

    // A misspelt table loses its limits just so.
    for misspelt in [
        "[budgets]\ndaily_sessions = 1\n",
        "[default]\nmode = \"observe\"\n",
    ] {
        let folder =
            Folder::repository(&format!("cycle = [\"curator\"]\n{misspelt}"), &["curator"]);
        let shown = phileas(&["simulate", folder.text()]).expect(1);
        assert!(shown.out.contains(said), "{shown}");
    }

    let plan = "[tracks.a]\nsteps = [\"curator\"]\nstart = \"0 * * * *\"\n[tracks.b]\nsteps = [\"tester\"]\nstart = \"0 9 * * 1\"\n\
                [schedules]\nauditor = \"0 9 * * 2\"\n[budget]\ntrack_share = 0\n[defaults]\nskip_unchanged = false\n";
    let folder = Folder::repository(plan, &["curator", "tester", "auditor"]);
    let from = ["--from", "2026-01-05T00:00:00Z"];
    let shown = phileas(&[&["simulate", folder.text()], &from[..]].concat()).expect(0);
    let shares = shown.out.lines().filter(|line| line.ends_with(" %"));
    let shares: Vec<usize> = shares
        .map(|line| line.trim_end_matches(" %").rsplit(' ').next().unwrap())
        .map(|share| share.parse().unwrap())
        .collect();
    assert_eq!(shares.len(), 3, "{shown}");
    assert_eq!(shares.iter().sum::<usize>(), 100, "{shown}");
}

/// The hours of a plan were shown in UTC, and not in the plan's zone; and what made a turn late by itself was not said.
#[test]
fn a_forecast_is_shown_in_the_zone_of_the_plan() {
    let plan = "[schedules]\ncurator = \"30 9 * * *\"\n[defaults]\ntimezone = \"Asia/Kolkata\"\nskip_unchanged = false\n";
    let folder = Folder::repository(plan, &["curator"]);
    let from = ["--from", "2026-01-04T18:30:00Z", "--days", "2"];
    let shown = phileas(&[&["simulate", folder.text()], &from[..]].concat()).expect(0);
    assert!(
        shown
            .out
            .contains("2026-01-05 00:00 to 2026-01-07 00:00 Asia/Kolkata"),
        "{shown}"
    );
    assert!(shown.out.contains("Mon 2026-01-05\n  09:30  "), "{shown}");
    let late = "[schedules]\ncurator = \"0 */2 * * *\"\n[defaults]\nskip_unchanged = false\nadvance_on = \"merged\"\n";
    let folder = Folder::repository(late, &["curator"]);
    let arguments = [
        "simulate",
        folder.text(),
        "--from",
        "2026-01-05T00:00:00Z",
        "--days",
        "1",
    ];
    let shown = phileas(&[&arguments[..], &["--review", "150m"]].concat()).expect(0);
    for (at, held) in [
        ("05:00", "due 04:00, held by its own open pull request"),
        ("11:00", "due 10:00, held by its own open pull request"),
    ] {
        let mut turns = shown.out.lines();
        let turn = turns.find(|line| line.trim_start().starts_with(at));
        assert!(turn.is_some_and(|turn| turn.ends_with(held)), "{shown}");
    }
}
