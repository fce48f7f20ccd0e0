use proptest::prelude::*;

use super::super::AllowedBot;
use super::super::policy::{
    AdvanceOn, Automation, Branch, Driver, MainRed, Merge, Novelty, NoveltyMode, PlanApproval,
    Priority, RefusalsFor, Tier,
};
use super::*;
use crate::model::{self, Mode};

const PERSONAS: [&str; 5] = ["curator", "refactor", "sentinel", "bolt", "auditor"];

fn prompt(id: &str) -> (String, String) {
    (
        format!(".jules/personas/{id}/prompt.md.j2"),
        format!("---\nid: {id}\nemoji: x\n---\nDo it.\n"),
    )
}

fn tree(text: &str) -> Tree {
    let mut tree = Tree::from_texts(PERSONAS.map(prompt));
    tree.insert_text(SCHEDULES_PATH, text);
    tree
}

/// `line:column key: message; fix`, without the file.
fn report_lines(text: &str) -> Vec<String> {
    let (_, diagnostics) = read(&tree(text));
    diagnostics
        .iter()
        .map(|d| {
            assert_eq!(d.file, SCHEDULES_PATH);
            let (line, column) = (d.line.unwrap(), d.column.unwrap());
            format!("{line}:{column} {}: {}; {}", d.key, d.message, d.help)
        })
        .collect()
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let text = "cycle = [\"bolt\"]\n[schedules]\nauditor = \"0 8 * * 1\"\n";
    assert_eq!(plan(&format!("\u{feff}{text}")), plan(text));
    let wrong = report_lines("\u{feff}cycle = [\"bolt\"]\n[schedules]\nauditor = \"x\"\n");
    assert!(wrong[0].starts_with("3:11 "), "{wrong:?}");
}

/// The first Monday of the month was meant, and it started on eight days.
#[test]
fn a_day_of_the_month_and_a_weekday_are_named_as_a_union() {
    for (cron, days) in [
        (
            "0 8 1-7 * 1",
            "days 1, 2, 3, 4, 5, 6, 7 of each month, and also every Monday",
        ),
        (
            "0 8 */10 * MON-TUE",
            "days 1, 11, 21, 31 of each month, and also every Monday, Tuesday",
        ),
        (
            "0 8 15 6,7 0",
            "day 15 of month 6, 7, and also every Sunday",
        ),
        ("0 8 15 * 7", "day 15 of each month, and also every Sunday"),
        ("0 8 1-31 * 1", "every day"),
        (
            "0 8 1 * */2",
            "day 1 of each month, and also every Sunday, Tuesday, Thursday, Saturday",
        ),
    ] {
        for (text, place) in [
            (
                format!("[schedules]\nauditor = \"{cron}\"\n"),
                "2:11 schedules.auditor: ",
            ),
            (
                format!("[schedules.auditor]\ncron = \"{cron}\"\n"),
                "2:8 schedules.auditor.cron: ",
            ),
            (
                format!("[tracks.a]\nsteps = [\"bolt\"]\nstart = \"{cron}\"\n"),
                "3:9 tracks.a.start: ",
            ),
        ] {
            let found = report_lines(&text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(place), "{}", found[0]);
            assert!(
                found[0].contains(&format!("starts on {days}: ")),
                "{}",
                found[0]
            );
        }
    }
    let both = report_lines("[schedules]\nauditor = \"0 8 1-7 * 1\"\n").remove(0);
    assert!(
        both.ends_with("write `0 8 1-7 * *` or `0 8 * * 1`; cron cannot express both at once"),
        "{both}"
    );
    for cron in ["0 8 1-7 * *", "0 8 * * 1", "0 8 */1 * 1", "0 8 1 * */1"] {
        assert_eq!(
            report_lines(&format!("[schedules]\nauditor = \"{cron}\"\n")),
            [""; 0],
            "{cron}"
        );
    }
}

#[track_caller]
fn plan(text: &str) -> Plan {
    let (plan, diagnostics) = read(&tree(text));
    assert_eq!(diagnostics, []);
    plan
}

fn steps(plan: &Plan, track: &str) -> Vec<String> {
    let steps = &plan.tracks[track].steps;
    steps.iter().map(|step| step.kind.to_string()).collect()
}

#[test]
fn the_file_of_the_repository_that_began_it_loads_without_a_word() {
    let text = include_str!("../../../../../tests/fixtures/plan/schedules.toml");
    let ids = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"personas/")?.split('/').next());
    let mut tree = Tree::from_texts(ids.map(prompt));
    tree.insert_text(SCHEDULES_PATH, text);
    let (plan, diagnostics) = read(&tree);
    assert_eq!(diagnostics, []);
    assert_eq!(
        plan.tracks.keys().map(|n| n.as_str()).collect::<Vec<_>>(),
        ["default"]
    );
    let steps = steps(&plan, "default");
    assert_eq!(
        (steps.len(), steps[0].as_str(), steps[23].as_str()),
        (24, "curator", "steward")
    );
    assert_eq!(plan.schedules.len(), 23);
    assert_eq!(
        plan.schedules["simplifier"]
            .cron
            .as_ref()
            .unwrap()
            .expression(),
        "0 */2 * * *"
    );
    assert_eq!(plan.defaults, Policy::default());
}

#[test]
fn the_full_form_is_understood() {
    let plan = plan(
        r#"
version = 1
[defaults]
mode = "observe"
timezone = "europe/lisbon"
advance_on = "completed"
plan_approval = "writers"
automation = "none"
branch = "persona"
max_nudges = 4
stuck_minutes = 30
abandon_after = "1h30m"
retry = 2
catch_up = "all"
skip_unchanged = false
rest_after = 0
priority = "high"
merge = "green"
environment_variables = true
[budget]
max_active = 7
daily_sessions = 50
max_open_pulls = 9
requests_per_actor_hour = 0
tier = "pro"
key_daily = 90
key_active = 0xA
reserve_for_people = 5
[gate]
main_red = "critical_only"
protected_paths = ["docs/**"]
driver = "action"
allow_bots = [{ login = "renovate[bot]", id = 123 }]
[tracks]
short = ["bolt"]
[tracks.quality]
steps = ["curator", "layer:observers", { persona = "sentinel", advance_on = "merged", retry = 0 }, { layer = "decider", priority = "critical" }]
start = "30 19 * * 1-5"
retry = 1
branch = "develop"
[schedules]
bolt = "manual"
curator = { cron = "0 5 * * *", timezone = "UTC" }
[schedules.auditor]
cron = "30 4 * * 1"
catch_up = "none"
"#,
    );
    let defaults = &plan.defaults;
    assert_eq!(defaults.timezone, "Europe/Lisbon");
    assert_eq!(defaults.abandon_after_secs, 5_400);
    assert_eq!(
        (
            defaults.max_nudges,
            defaults.stuck_minutes,
            defaults.rest_after
        ),
        (4, 30, 0)
    );
    assert!(!defaults.skip_unchanged);
    assert!(defaults.environment_variables);
    assert_eq!(plan.budget.tier, Tier::Pro);
    assert_eq!(
        (plan.budget.key_daily, plan.budget.key_active),
        (Some(90), Some(10))
    );
    assert_eq!(
        (plan.budget.max_active, plan.budget.requests_per_actor_hour),
        (7, 0)
    );
    assert_eq!(
        (plan.gate.main_red, plan.gate.driver),
        (MainRed::CriticalOnly, Driver::Action)
    );
    assert_eq!(plan.gate.protected_paths, ["docs/**"]);
    let bot = AllowedBot {
        login: "renovate[bot]".to_owned(),
        id: 123,
    };
    assert_eq!(plan.gate.allow_bots, [bot]);

    assert_eq!(steps(&plan, "short"), ["bolt"]);
    assert_eq!(
        steps(&plan, "quality"),
        ["curator", "layer:observers", "sentinel", "layer:decider"]
    );
    let track = &plan.tracks["quality"];
    let start = track.start.as_ref().unwrap();
    assert_eq!(
        (start.expression(), start.timezone()),
        ("30 19 * * 1-5", "Europe/Lisbon")
    );
    assert_eq!(
        (track.policy.retry, track.policy.branch.clone()),
        (1, Branch::Named("develop".to_owned()))
    );
    assert_eq!(
        (
            track.steps[0].policy.retry,
            track.steps[0].policy.advance_on
        ),
        (1, AdvanceOn::Completed)
    );
    assert_eq!(
        (
            track.steps[2].policy.retry,
            track.steps[2].policy.advance_on
        ),
        (0, AdvanceOn::Merged)
    );
    assert_eq!(
        (track.steps[3].policy.retry, track.steps[3].policy.priority),
        (1, Priority::Critical)
    );

    assert_eq!(plan.schedules["bolt"].cron, None);
    assert_eq!(
        plan.schedules["curator"].cron.as_ref().unwrap().timezone(),
        "UTC"
    );
    let auditor = plan.schedules["auditor"].cron.as_ref().unwrap();
    assert_eq!(auditor.timezone(), "Europe/Lisbon");
}

#[test]
fn frontmatter_overrides_defaults_and_is_overridden_by_its_track() {
    let mut tree = tree(
        "[defaults]\nbranch = \"a\"\n[tracks.t]\nsteps = [\"x\", \"bolt\", { persona = \"x\", branch = \"c\" }]\npriority = \"high\"\n[schedules]\nx = \"0 1 * * *\"\n[schedules.bolt]\ncron = \"manual\"\nbranch = \"d\"",
    );
    tree.insert_text(
        ".jules/personas/x/prompt.md",
        "---\nid: x\nbranch: b\npriority: critical\nautomation_mode: MANUAL\nrequire_plan_approval: true\n---\n",
    );
    let (plan, diagnostics) = read(&tree);
    assert_eq!(diagnostics, []);
    let named = |name: &str| Branch::Named(name.to_owned());
    let steps = &plan.tracks["t"].steps;
    let branches: Vec<Branch> = steps
        .iter()
        .map(|step| step.policy.branch.clone())
        .collect();
    assert_eq!(branches, [named("b"), named("a"), named("c")]);
    // The track's priority counts more than the persona's.
    assert_eq!(steps[0].policy.priority, Priority::High);
    assert_eq!(steps[0].policy.automation, Automation::None);
    assert_eq!(steps[0].policy.plan_approval, PlanApproval::Writers);
    assert_eq!(plan.tracks["t"].policy.branch, named("a"));
    assert_eq!(plan.schedules["x"].policy.branch, named("b"));
    assert_eq!(plan.schedules["x"].policy.priority, Priority::Critical);
    assert_eq!(plan.schedules["bolt"].policy.branch, named("d"));
    assert_eq!(
        plan.personas["x"].overrides().over(&plan.defaults).branch,
        named("b")
    );
}

#[test]
fn every_mistake_is_reported_with_location_and_help() {
    let text = r#"version = "1"
cycel = ["bolt"]
max_active = 3
cycle = ["curater", 7, "layer:observer", "observers/taxonomy", "absent", "observers", "retry", { persona = "bolt", layer = "decider" }, { retry = 1 }, { persona = "bolt", mode = "act", retri = 1 }]
[defaults]
advance_on = "merge"
max_nudges = 21
retry = -1
skip_unchanged = "yes"
abandon_after = "5m"
stuck_minutes = "20"
timezone = "Lisbon"
branch = "a b"
daily_sessions = 3
[budget]
daily_sessions = 0
max_actve = 1
tier = "Free"
[gate]
driver = 1
protected_paths = ["/a", "a[", "ok/**"]
allow_bots = [{ login = "me" }, 3]
[novelty]
mode = "labels"
plan = "yes"
remember_refusals = "forever"
quote_review = true
refusals_for = "team"
rest_after = 2
[tracks]
empty = []
"schedule:x" = ["bolt"]
"a b" = ["bolt"]
[tracks.q]
step = ["bolt"]
[schedules]
bolt = "* * * * *"
curator = "@daily"
sentinel = "0 0 30 2 *"
absent2 = "0 0 * * *"
run = "0 0 * * *"
[schedules.refactor]
timezone = "UTC"
[schedules.auditor]
cron = "0 9 * * *"
timezone = "Europe/Lisbo"
"#;
    insta::assert_snapshot!(report_lines(text).join("\n"));
    let (plan, _) = read(&tree(text));
    assert_eq!(plan.defaults.max_nudges, Policy::default().max_nudges);
    assert_eq!(plan.gate.protected_paths, ["ok/**"]);
    // A step that names no persona keeps its index; a track with a broken time does not run.
    assert_eq!(plan.tracks["default"].steps.len(), 10);
    assert_eq!(plan.tracks.len(), 1);
    assert_eq!(
        plan.schedules
            .keys()
            .map(|id| id.as_str())
            .collect::<Vec<_>>(),
        ["absent2"]
    );
}

#[test]
fn novelty_is_read_whole() {
    let read_novelty = |text: &str| read(&tree(&format!("[novelty]\n{text}"))).0.novelty;
    assert_eq!(read_novelty(""), Novelty::default());
    let novelty = read_novelty(
        "mode = \"close\"\nplan = true\navoid_overlap = true\ncount_merged = \"30d\"\nremember_refusals = \"90d\"\nquote_reviews = true\nrefusals_for = \"all\"\n",
    );
    let expected = Novelty {
        mode: NoveltyMode::Close,
        plan: true,
        avoid_overlap: true,
        count_merged_secs: 2_592_000,
        remember_refusals_secs: 7_776_000,
        quote_reviews: true,
        refusals_for: RefusalsFor::All,
    };
    assert_eq!(novelty, expected);
    assert_eq!(
        read_novelty("remember_refusals = \"30d\"").remember_refusals_secs,
        2_592_000
    );
    // A broken value keeps its default.
    assert_eq!(
        read_novelty(
            "mode = 1\nremember_refusals = \"4000d\"\nplan = 0\navoid_overlap = 1\ncount_merged = true"
        ),
        Novelty::default()
    );
}

#[test]
fn a_track_with_a_broken_start_does_not_run() {
    for start in [
        "start = \"0 25 * * *\"",
        "start = 5",
        "start = \"0 4 * * *",
        "start",
        "start = \"0 4 * * *\"\ntimezone = \"Mars\"",
        "start = \"0 4 * * *\"\ntimezone = ",
        "start = \"0 4 * * *\"\nmode = observe",
    ] {
        let text =
            format!("[tracks.a]\nsteps = [\"bolt\"]\n{start}\n[tracks.b]\nsteps = [\"bolt\"]\n");
        let (plan, diagnostics) = read(&tree(&text));
        assert_eq!(
            plan.tracks.keys().map(|n| n.as_str()).collect::<Vec<_>>(),
            ["b"],
            "{start}"
        );
        assert_eq!(diagnostics.len(), 1, "{start}: {diagnostics:?}");
        assert!(diagnostics[0].line >= Some(3), "{start}");
    }
}

/// The line that cannot be read may be the one against merges.
#[test]
fn what_a_mistake_stops_keeps_its_settings_and_merges_nothing() {
    let text = "[defaults]\nmerge = \"green\"\n[tracks.a]\nsteps = [\"bolt\"]\nretry = 2\nmerg = \"off\"\n\
                [schedules.bolt]\ncron = \"0 4 * * *\"\nretry = 3\nmerge = \"of\"\n";
    let (plan, _) = read(&tree(text));
    assert!(plan.tracks.is_empty() && plan.schedules.is_empty());
    let stopped: Vec<_> = plan
        .stopped
        .iter()
        .map(|(name, policy)| (name.as_str(), policy.retry, policy.merge))
        .collect();
    assert_eq!(
        stopped,
        [("a", 2, Merge::Off), ("schedule:bolt", 3, Merge::Off)]
    );
}

#[test]
fn a_schedule_that_lost_a_line_does_not_run() {
    for lines in [
        "cron = \"0 4 * * *\"\ntimezone = ",
        "cron = ",
        "cron = \"0 4 * * *\"\n\"mode\" = \"observe",
    ] {
        let text =
            format!("[schedules.bolt]\n{lines}\n[schedules.auditor]\ncron = \"0 4 * * *\"\n");
        let (plan, diagnostics) = read(&tree(&text));
        assert_eq!(
            plan.schedules
                .keys()
                .map(|id| id.as_str())
                .collect::<Vec<_>>(),
            ["auditor"],
            "{lines}"
        );
        assert_eq!(diagnostics.len(), 1, "{lines}: {diagnostics:?}");
    }
}

#[test]
fn one_broken_line_hides_nothing_else() {
    let text = "cycle = [\"bolt\"]\n[budget]\nmax_active = 3 3\ndaily_sessions = 9\n[schedules]\nbolt = 0 4 * * *\ncurator = \"0 5 * * *\"\n[gate]\ndrivr = \"any\"\n";
    assert_eq!(report_lines(text).len(), 3);
    let (plan, _) = read(&tree(text));
    assert_eq!((plan.budget.max_active, plan.budget.daily_sessions), (2, 9));
    assert_eq!(steps(&plan, "default"), ["bolt"]);
    assert_eq!(plan.schedules.len(), 1);
}

#[test]
fn cycle_and_the_track_default_are_the_same_thing() {
    let text = "cycle = [\"bolt\"]\n[tracks]\ndefault = [\"curator\"]\nother = [\"auditor\"]\n";
    assert_eq!(report_lines(text).len(), 1);
    let (plan, _) = read(&tree(text));
    assert_eq!(
        (steps(&plan, "default"), steps(&plan, "other")),
        (vec!["bolt".to_owned()], vec!["auditor".to_owned()])
    );
    let alone = self::plan("[tracks]\ndefault = [\"curator\"]\n");
    assert_eq!(steps(&alone, "default"), ["curator"]);
}

#[test]
fn keys_twice_are_a_mistake_and_the_first_counts() {
    let text = "[schedules]\nbolt = \"0 4 * * *\"\nbolt = \"0 5 * * *\"\n[budget]\nmax_active = 1\n[budget]\nmax_active = 9\n";
    let said = report_lines(text);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|line| line.contains("duplicate key")));
    let (plan, _) = read(&tree(text));
    assert_eq!(plan.budget.max_active, 1);
}

#[test]
fn a_merge_conflict_is_called_by_its_name() {
    let text = "[schedules]\n<<<<<<< HEAD\nbolt = \"0 4 * * *\"\n=======\nbolt = \"0 5 * * *\"\n>>>>>>> other\ncurator = \"0 5 * * *\"\n";
    let said = report_lines(text);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("2:1 ") && said[0].contains("merge conflict"),
        "{said:?}"
    );
    let (plan, _) = read(&tree(text));
    assert_eq!(plan.schedules.len(), 1);
}

#[test]
fn a_conflict_in_a_cycle_stops_the_cycle() {
    let text = "cycle = [\n\"bolt\",\n<<<<<<< HEAD\n\"curator\",\n=======\n\"auditor\",\n>>>>>>> other\n]\n[tracks]\na = [\n\"bolt\",\n<<<<<<< HEAD\n\"curator\",\n=======\n>>>>>>> other\n]\n";
    let (plan, diagnostics) = read(&tree(text));
    assert_eq!(diagnostics.len(), 2);
    assert!(plan.tracks.is_empty());
}

#[test]
fn another_version_runs_nothing() {
    let (plan, diagnostics) = read(&tree(
        "version = 2\ncycle = [\"bolt\"]\n[schedules]\nbolt = \"0 4 * * *\"\n",
    ));
    assert_eq!(diagnostics.len(), 1);
    assert!(plan.tracks.is_empty() && plan.schedules.is_empty());
}

#[test]
fn without_a_plan_nothing_runs_and_one_error_explains_how_to_start() {
    let (plan, diagnostics) = read(&Tree::from_texts(PERSONAS.map(prompt)));
    assert!(plan.tracks.is_empty() && plan.schedules.is_empty());
    assert_eq!(plan.personas.len(), PERSONAS.len());
    assert_eq!(diagnostics.len(), 1);
    assert!(diagnostics[0].is_error() && diagnostics[0].help.contains("cycle = "));
    for path in [
        ".jules/schedule.toml",
        ".jules/Schedules.toml",
        ".jules/schedules.yml",
        "schedules.toml",
    ] {
        let (_, diagnostics) = read(&Tree::from_texts([(path, "cycle = []\n")]));
        assert_eq!(
            diagnostics[0].help,
            format!("if `{path}` is meant as the plan, move it to `.jules/schedules.toml`")
        );
    }
}

#[test]
fn a_folder_in_the_plan_s_place_is_called_one() {
    let (_, diagnostics) = read(&Tree::from_texts([(
        format!("{SCHEDULES_PATH}/plan.toml"),
        "",
    )]));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].file, SCHEDULES_PATH);
    assert!(diagnostics[0].is_error() && diagnostics[0].message.contains("is a folder"));
}

#[test]
fn a_plan_that_is_no_readable_file_is_a_finding() {
    let entry = |mode, size, text: Option<&str>| model::Entry {
        mode,
        oid: String::new(),
        size,
        text: text.map(Into::into),
    };
    for (broken, word) in [
        (entry(Mode::Link, 5, Some("cycle")), "link"),
        (entry(Mode::Submodule, 0, None), "submodule"),
        (
            entry(Mode::File, MAX_SCHEDULES_BYTES + 1, Some("")),
            "larger",
        ),
        (entry(Mode::File, 9, None), "UTF-8"),
    ] {
        let mut tree = Tree::new();
        tree.insert(SCHEDULES_PATH, broken);
        let (plan, diagnostics) = read(&tree);
        assert_eq!(plan, Plan::default());
        assert_eq!(diagnostics.len(), 1);
        assert!(diagnostics[0].message.contains(word), "{}", diagnostics[0]);
    }
}

#[test]
fn an_existing_persona_that_cannot_be_used_is_reported_as_such() {
    let mut tree = tree("cycle = [\"broken\", \"old\"]\n");
    tree.insert_text(".jules/personas/broken/prompt.md", "no frontmatter");
    tree.insert_text(
        ".jules/personas/_archived/old/prompt.md",
        "---\nid: old\n---\n",
    );
    let (plan, diagnostics) = read(&tree);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the prompt does not begin with frontmatter",
            "the persona `broken` cannot be read",
            "the persona `old` is archived"
        ]
    );
    assert_eq!(steps(&plan, "default"), ["broken", "old"]);
}

#[test]
fn a_prompt_under_another_name_is_pointed_at() {
    let mut tree = tree("cycle = [\"near\", \"far\"]\n");
    tree.insert_text(".jules/personas/near/promt.md", "---\nid: near\n---\n");
    tree.insert_text(".jules/personas/far/journals/2026-01-05.md", "");
    let (_, diagnostics) = read(&tree);
    let said: Vec<_> = diagnostics
        .iter()
        .map(|d| (d.message.as_str(), d.help.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (
                "there is no prompt in `.jules/personas/near`",
                "rename `promt.md` there to `prompt.md`"
            ),
            (
                "there is no prompt in `.jules/personas/far`",
                "write it to `.jules/personas/far/prompt.md`, or take `far` out here"
            ),
        ]
    );
}

#[test]
fn thousands_of_mistakes_are_cut_short() {
    let text: String = (0..3_000).map(|n| format!("key{n} = 1\n")).collect();
    let (_, diagnostics) = read(&tree(&text));
    assert_eq!(
        diagnostics.len(),
        super::super::section::MAX_DIAGNOSTICS + 1
    );
    assert!(diagnostics.last().unwrap().message.contains("2800 more"));
    // What is never closed hides the next one.
    let text: String = (0..200).map(|n| format!("[t{n}]\na = [\n")).collect();
    let (plan, diagnostics) = read(&tree(&format!("cycle = [\"bolt\"]\n{text}")));
    assert!(diagnostics.iter().any(|d| d.message.contains("too many")));
    assert!(plan.tracks.is_empty());
}

#[test]
fn unclosed_values_are_reported_at_their_start() {
    let (first, second) = (
        "cycle = [\n[budget]\nmax_active = 1\n",
        "[budget]\nmax_active = 1\n[tracks]\na =   [\"bolt\",\n[gate]\n",
    );
    let last = "[budget]\nmax_active = 1\n[tracks]\na = [\"bolt\",\n  \"curator\",\n";
    for (text, place) in [
        (first, "1:9 cycle: "),
        (second, "4:7 tracks.a: "),
        (last, "4:5 tracks.a: "),
        ("cycle = [\"bolt\"", "1:9 cycle: "),
        ("cycle = [\n  \"bolt\"\n\nversion = 1\n", "1:9 cycle: "),
    ] {
        let report_lines = report_lines(text);
        let begun =
            format!("{place}what begins here is never closed; put `]` where the array ends");
        assert!(
            report_lines
                .iter()
                .any(|report_lines| report_lines.starts_with(&begun)),
            "{report_lines:?}"
        );
    }
}

/// What people write who know YAML, or copied the plan from a page, with the words for each.
#[test]
fn slips_of_notation_are_named() {
    let lacks = |mark: char| {
        format!(
            "the text that begins here lacks a quotation mark; put `{mark}` before and behind it"
        )
    };
    let typographic = |mark: char| {
        format!("`{mark}` is not a quotation mark of TOML; write the straight `\"` in its place")
    };
    let round = "an array stands between round brackets; write `[` and `]` in their place";
    let unclosed = "what begins here is never closed; put `]` where the array ends";
    let colon = |line: &str| format!("a colon stands in place of `=`; write `{line}`");
    let comma = "missing comma between key-value pairs, expected `,`; put a comma between the two";
    for (text, said) in [
        ("cycle = [\"curator, \"bolt\"]\n", format!("1:10 cycle: {}", lacks('"'))),
        ("cycle = [\"curator\", \"bolt]\n[budget]\nmax_active = 1\n", format!("1:21 cycle: {}", lacks('"'))),
        ("cycle = [curator\", \"bolt\"]\n", format!("1:10 cycle: {}", lacks('"'))),
        ("cycle = [\n  \"curator\",\n  \"bolt,\n]\n", format!("3:3 cycle: {}", lacks('"'))),
        ("[schedules]\nbolt = '0 8 * * 1\n[budget]\n", format!("2:8 schedules.bolt: {}", lacks('\''))),
        ("cycle = [“curator”, “bolt”]\n", format!("1:10 cycle: {}", typographic('“'))),
        ("cycle = [\"curator”, \"bolt\"]\n", format!("1:18 cycle: {}", typographic('”'))),
        ("[schedules]\nbolt = ‘0 8 * * 1’\n", format!("2:8 schedules.bolt: {}", typographic('‘'))),
        ("cycle = [\"curator\", \"bolt\",\nversion = 1\n", format!("1:9 cycle: {unclosed}")),
        ("cycle = [\n  \"curator\",\n  \"bolt\",\nversion = 1\n", format!("1:9 cycle: {unclosed}")),
        ("[budget]\nmax_active: 2\n", format!("2:11 budget.max_active: {}", colon("max_active = 2"))),
        ("[novelty]\nmode: label\n", format!("2:5 novelty.mode: {}", colon("mode = \"label\""))),
        ("# x\nNote: this is our plan\n", "2:5 Note: invalid unquoted key, expected letters, numbers, `-`, `_`; take it out, or put `#` before it if it is a remark".to_owned()),
        ("cycle: [\"curator, bolt]\n", format!("1:6 cycle: {}", colon("cycle = [\"curator\", \"bolt\"]"))),
        ("cycle: [curator, \"bolt\",]\n", format!("1:6 cycle: {}", colon("cycle = [\"curator\", \"bolt\"]"))),
        ("cycle: [bolt, \"auditor, x\"]\n", format!("1:6 cycle: {}", colon("cycle = [\"bolt\", \"auditor, x\"]"))),
        ("cycle: [\"bolt\"]\n", format!("1:6 cycle: {}", colon("cycle = [\"bolt\"]"))),
        ("cycle = (\"curator\", \"bolt\")\n", format!("1:9 cycle: {round}")),
        ("cycle = (\n  \"curator\",\n  \"bolt\",\n)\n[budget]\nmax_active = 1\n", format!("1:9 cycle: {round}")),
        ("[tracks]\nq = {\n  steps = [\"bolt\"]\n  start = \"0 8 * * 1\"\n}\n[budget]\nmax_active = 1\n", format!("4:3 tracks.q: {comma}")),
        ("[tracks]\nq = { steps = [\"bolt\"]\n  start = \"0 8 * * 1\" }\n[budget]\nmax_active = 1\n", format!("3:3 tracks.q: {comma}")),
        ("cycle = [bolt]\n", "1:10 cycle: a text stands here without quotation marks; put the text between double quotes".to_owned()),
        ("[budget]\ntier = free\n", "2:8 budget.tier: a text stands here without quotation marks; put the text between double quotes".to_owned()),
        ("[budget]\ntier = info\n", "2:8 budget.tier: a text stands here without quotation marks; put the text between double quotes".to_owned()),
        ("[budget]\ntier = nano\n", "2:8 budget.tier: a text stands here without quotation marks; put the text between double quotes".to_owned()),
        ("cycle = [tester]\n", "1:10 cycle: a text stands here without quotation marks; put the text between double quotes".to_owned()),
        ("[defaults]\nskip_unchanged = True\n", "2:18 defaults.skip_unchanged: invalid boolean, expected `true`; write `true` or `false`, in small letters".to_owned()),
        ("cycle = [\"phileas:bolt\"]\n", "1:10 cycle[0]: `phileas:bolt` is a label, not a persona; write `bolt`".to_owned()),
        ("[labels]\nhold = \"x\"\n", "1:2 labels: unknown key `labels`; take it out: no plan names labels; the label `phileas:<persona>` on an issue starts a persona".to_owned()),
        ("[budget]\nmax_active = [2]\n", "2:14 budget.max_active: expected a whole number, found an array; write a whole number from 1 to 1000".to_owned()),
        ("[novelty]\ncount_merged = 0\n", "2:16 novelty.count_merged: expected a span of time, found a whole number; write `\"0\"` to count no merged work; until then it counts as `0`".to_owned()),
        ("[novelty]\ncount_merged = \"30d\"\n", "2:16 novelty.count_merged: merged work counts nowhere; write `plan = true`, or `mode = \"label\"`".to_owned()),
        ("[novelty]\nmode = \"off\"\nplan = true\ncount_merged = \"30d\"\n", "4:16 novelty.count_merged: merged work counts nowhere, because `mode` is \"off\"; write another `mode`, or take this key out".to_owned()),
        ("[novelty]\nplan = true\nremember_refusals = \"7d\"\ncount_merged = \"30d\"\n", "4:16 novelty.count_merged: merged work counts only as long as it is remembered; write a `remember_refusals` that is as long".to_owned()),
        ("[novelty]\nremember_refusals = 0\n", "2:21 novelty.remember_refusals: expected a span of time, found a whole number; write `\"0\"` to remember no refusal; until then it counts as `180d`".to_owned()),
    ] {
        assert_eq!(report_lines(text), [said], "{text}");
    }
}

#[test]
fn a_key_that_follows_an_unclosed_list_is_read() {
    let lines = report_lines("cycle = [\n  \"bolt\"\n\nversion = 9\n");
    assert!(
        lines.iter().any(|line| line.contains("version 9")),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn a_cycle_below_a_table_is_told_where_it_belongs() {
    for table in ["budget", "defaults", "gate", "schedules", "tracks.one"] {
        let lines = report_lines(&format!("[{table}]\ncycle = [\"bolt\"]\n"));
        let said = "unknown key `cycle`; it belongs in the lines above the first table";
        assert!(lines.iter().any(|line| line.contains(said)), "{lines:?}");
    }
}

#[test]
fn a_setting_below_the_schedules_is_told_where_it_belongs() {
    for (line, home) in [
        ("timezone = \"UTC\"", "[defaults]"),
        ("daily_sessions = 2", "[budget]"),
        ("count_merged = \"30d\"", "[novelty]"),
    ] {
        let key = line.split(' ').next().unwrap();
        let lines = report_lines(&format!("cycle = [\"bolt\"]\n[schedules]\n{line}\n"));
        let said = format!("schedules.{key}: unknown key `{key}`; it belongs in `{home}`");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&said), "{lines:?}");
    }
}

#[test]
fn the_largest_file_is_read_in_reasonable_time_however_broken() {
    let largest = usize::try_from(MAX_SCHEDULES_BYTES).unwrap();
    for piece in [
        "x\n",
        "[\n",
        "]\n",
        "= =\n",
        "[a]\n",
        "a = [\n",
        "<<<<<<< a\n",
        "<<<<<<< a\n>>>>>>> b\n",
        "a = \"\n",
        "a = '''\n",
        "{",
        "[[a]]\nb = 1\n",
        "[t.x]\nsteps = [\n",
        "é = 1\n",
        "a.b.c.d = 1\n",
        "\"",
        "<<<<<<< a\nx = 1\n",
    ] {
        let (_, diagnostics) = read(&tree(&piece.repeat(largest / piece.len())));
        let most = super::super::section::MAX_DIAGNOSTICS + 1;
        assert!((1..=most).contains(&diagnostics.len()), "{piece}");
    }
    let long = "x".repeat(largest - 100);
    for text in [
        format!("[defaults]\ntimezone = \"{long}\""),
        format!("{long} = 1"),
        format!("cycle = [\"{long}\"]"),
        format!("[schedules]\nbolt = \"{long}\""),
    ] {
        let said = report_lines(&text);
        assert_eq!(said.len(), 1);
        assert!(said[0].len() < 2_000);
    }
}

fn lines() -> impl Strategy<Value = String> {
    let word =
        "[a-z_]{1,8}|bolt|cron|steps|start|default|quality|tracks|schedules|budget|gate|timezone";
    let value = "\"[^\"\\\\\n]{0,12}\"|[0-9]{1,4}|true|\\[\"bolt\", 1\\]|\\{ persona = \"bolt\" \\}|\"0 4 \\* \\* \\*\"|";
    prop_oneof![
        6 => (word, value).prop_map(|(key, value)| format!("{key} = {value}")),
        3 => word.prop_map(|name| format!("[{name}]")),
        2 => (word, word).prop_map(|(outer, inner)| format!("[{outer}.{inner}]")),
        1 => "<<<<<<< a|=======|>>>>>>> b|\\[|\\]|\"bolt\",|'''|é = \"",
    ]
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn text_that_is_nearly_a_plan_never_panics(lines in proptest::collection::vec(lines(), 0..25)) {
        check(&lines.join("\n"))?;
    }

    #[test]
    fn a_plan_that_was_cut_or_torn_never_panics(cut in 0_usize..5_000, hole in 0_usize..200, junk in "\\PC{0,5}") {
        let whole: Vec<char> = include_str!("../../../../../tests/fixtures/plan/schedules.toml").chars().collect();
        let cut = cut.min(whole.len());
        let rest = (cut + hole).min(whole.len());
        let text: String = whole[..cut].iter().copied().chain(junk.chars()).chain(whole[rest..].iter().copied()).collect();
        check(&text)?;
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let (plan, diagnostics) = read(&tree(text));
    let lines = u32::try_from(text.matches('\n').count() + 1).unwrap();
    for diagnostic in &diagnostics {
        prop_assert_eq!(&diagnostic.file, SCHEDULES_PATH);
        prop_assert!(
            diagnostic
                .line
                .is_some_and(|line| (1..=lines).contains(&line)),
            "{}",
            diagnostic
        );
        prop_assert!(
            diagnostic.column.is_some_and(|column| column >= 1),
            "{}",
            diagnostic
        );
        prop_assert!(
            !diagnostic.message.is_empty() && !diagnostic.help.is_empty(),
            "{}",
            diagnostic
        );
    }
    for track in plan.tracks.values() {
        prop_assert!(!track.steps.is_empty());
    }
    Ok(())
}
