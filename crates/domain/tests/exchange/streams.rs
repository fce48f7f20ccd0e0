//! Tests that workstreams are independent, whichever form their paths have.

use phileas_domain::exchange::{EventState, Layout, check_exchange, find_fixes, inspect_exchange};
use phileas_domain::model::Tree;

use crate::examples::{
    DECIDED, PENDING, REQUIREMENT, diagnostics_of, event, flat, issue, requirement, streams, with,
};

fn tree(files: &[(String, String)]) -> Tree {
    Tree::from_texts(
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    )
}

#[track_caller]
fn assert_diagnostic(files: &[(String, String)], word: &str) {
    let found = diagnostics_of(files);
    assert!(
        found.iter().any(|one| one.contains(word)),
        "{word}: {found:#?}"
    );
}

const CORE: &str = ".jules/workstreams/core";

#[test]
pub(crate) fn both_forms_are_read_into_the_same_model() {
    let [nested, plain] =
        [true, false].map(|form| check_exchange(&tree(&streams(form))).exchange.unwrap());
    assert_eq!(
        (nested.layout, plain.layout),
        (Layout::Workstreams, Layout::Workstreams)
    );
    for (name, stream) in &nested.streams {
        let other = &plain.streams[name];
        let values = |stream: &phileas_domain::exchange::Stream| {
            let events: Vec<_> = stream
                .events
                .iter()
                .map(|event| event.value.clone())
                .collect();
            let items: Vec<_> = stream.items.iter().map(|item| item.value.clone()).collect();
            (events, items)
        };
        assert_eq!(values(stream), values(other));
        assert_eq!(stream.events_in(EventState::Pending).count(), 1);
        assert_eq!(stream.roster.as_ref().unwrap().observers, ["taxonomy"]);
    }
    assert_eq!(
        nested.changes.unwrap().value.to_commit.as_deref(),
        Some("5d2e3f4")
    );
}

#[test]
pub(crate) fn streams_do_not_mix() {
    let path = format!("{CORE}/issues/refacts/one-name.yml");
    assert_diagnostic(
        &with(streams(false), &path, &issue("citem0", "devent")),
        "the event `devent` is one of the workstream `docs`",
    );
    // The same id in two streams means two events.
    let other = format!("{CORE}/events/pending/same.yml");
    assert_eq!(
        diagnostics_of(&with(streams(false), &other, &event("dpend0", ""))),
        [""; 0]
    );
}

#[test]
pub(crate) fn an_issue_lies_in_the_folder_of_its_label() {
    let path = format!("{CORE}/issues/bugs/one-name.yml");
    let files = with(
        streams(false),
        &format!("{CORE}/issues/refacts/one-name.yml"),
        "",
    );
    assert_diagnostic(
        &with(files.clone(), &path, &issue("citem0", "cevent")),
        "its label is `refacts`, and its folder `bugs`",
    );
    let odd = format!("{CORE}/issues/oddities/one-name.yml");
    assert_diagnostic(
        &with(files, &odd, &issue("citem0", "cevent")),
        "its folder `oddities` is not a label",
    );
}

#[test]
pub(crate) fn commands_start_no_agents() {
    let path = format!("{CORE}/issues/refacts/one-name.yml");
    let text = issue("citem0", "cevent");
    assert_diagnostic(
        &with(
            streams(false),
            &path,
            &text.replace("cargo test", "jules new x"),
        ),
        "a command that starts an agent",
    );
    assert_diagnostic(
        &with(
            streams(false),
            &path,
            &text.replace("cargo test", "jlo run planner"),
        ),
        "a command that starts an agent",
    );
    assert_diagnostic(
        &with(
            streams(false),
            &path,
            &text.replace("verification_commands", "verification_criteria"),
        ),
        "here it is called `verification_commands`",
    );
}

#[test]
pub(crate) fn bindings_agree_with_folders_rosters_and_one_another() {
    let files = || streams(false);
    let prompt = |stream: &str| format!("role: taxonomy\nlayer: observers\nworkstream: {stream}\n");
    // By the rosters `taxonomy` works for both streams, so a prompt that names one contradicts the other's roster.
    let seed = ".jules/roles/observers/taxonomy/prompt.yml";
    assert_diagnostic(
        &with(files(), seed, &prompt("core")),
        "works for `core` here, and stands on the roster of `docs`",
    );
    assert_diagnostic(
        &with(files(), seed, &prompt("croe")),
        "there is no workstream `croe` (at workstream); did you mean `core`?",
    );
    let roster =
        "version = 1\nenabled = true\n[observers]\nroles = [\"qa\"]\n[deciders]\nroles = []\n";
    let alone = with(files(), ".jules/workstreams/docs/scheduled.toml", roster);
    let fits = with(alone.clone(), seed, &prompt("core"));
    assert!(
        !diagnostics_of(&fits)
            .iter()
            .any(|one| one.contains("taxonomy/prompt.yml")),
        "{:#?}",
        diagnostics_of(&fits)
    );
    assert_diagnostic(
        &with(alone, seed, &prompt("docs")),
        "works for `docs` here, and stands on the roster of `core`",
    );
    let unlisted = ".jules/roles/deciders/roles/judge/role.yml";
    assert_diagnostic(
        &with(files(), unlisted, "role: judge\nworkstream: core\n"),
        "`judge` is not on the roster of `core`",
    );
    assert_diagnostic(
        &with(files(), unlisted, "role: judge\n"),
        "warning: `judge` is on no roster",
    );
    assert_diagnostic(
        &with(files(), unlisted, "role: judge\n"),
        "there is no role `triage_core` among the deciders",
    );
    let twice = with(
        with(files(), seed, &prompt("core")),
        ".jules/roles/observers/taxonomy/role.yml",
        &prompt("docs"),
    );
    assert_diagnostic(
        &twice,
        "`taxonomy` works for `docs` here, and for `core` by",
    );
    let agreed = with(
        fits,
        ".jules/roles/observers/taxonomy/role.yml",
        &prompt("core"),
    );
    assert!(
        !diagnostics_of(&agreed)
            .iter()
            .any(|one| one.contains("works for")),
        "{:#?}",
        diagnostics_of(&agreed)
    );
    assert_diagnostic(
        &with(
            files(),
            ".jules/roles/planners/prompt.yml",
            "workstream: core\n",
        ),
        "planners/prompt.yml:1:13: error: the layer planners has no workstream",
    );
    // A prompt for a layer of many roles belongs to no single role.
    let of_all = ".jules/roles/observers/prompt.yml";
    let bound = with(files(), of_all, "workstream: core\n");
    assert_eq!(diagnostics_of(&bound), [""; 0]);
    assert_diagnostic(
        &with(flat(), seed, &prompt("core")),
        "there is no workstream `core`: the exchange is flat",
    );
    assert_eq!(
        diagnostics_of(&with(flat(), seed, &prompt("generic"))),
        [""; 0]
    );
    let shared = with(
        files(),
        ".jules/roles/observers/prompt.yml",
        "workstream: \"{{workstream}}\"\n",
    );
    assert_eq!(diagnostics_of(&shared), [""; 0]);
}

#[test]
fn only_a_role_that_no_roster_names_is_told_to_be_on_none() {
    let role = |name: &str| {
        let path = format!(".jules/roles/observers/{name}/role.yml");
        (path, format!("role: {name}\n"))
    };
    let (path, text) = role("taxonomy");
    let listed = with(streams(false), &path, &text);
    assert_eq!(diagnostics_of(&listed), [""; 0]);
    let (path, text) = role("qa");
    let unlisted = with(listed, &path, &text);
    let said = diagnostics_of(&unlisted);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].contains("`qa` is on no roster"), "{said:#?}");
    // Without any roster, none is missing.
    let bare = with(unlisted, &format!("{CORE}/scheduled.toml"), "");
    let bare = with(bare, ".jules/workstreams/docs/scheduled.toml", "");
    let said = diagnostics_of(&bare);
    assert!(
        said.iter().all(|one| !one.contains("is on no roster")),
        "{said:#?}"
    );
}

#[test]
pub(crate) fn rosters_are_checked_in_their_place() {
    let path = format!("{CORE}/scheduled.toml");
    assert_diagnostic(
        &with(streams(true), &path, "version = 1\nenabled = true\n"),
        "`[observers]` is missing",
    );
}

#[test]
pub(crate) fn two_layouts_at_once_are_one_mistake() {
    let mut files = flat();
    files.extend(streams(false));
    let found = diagnostics_of(&files);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("two layouts"));
}

#[test]
pub(crate) fn a_change_summary_tells_what_it_left_out() {
    let path = ".jules/changes/latest.yml";
    let files = streams(true);
    let (_, text) = files
        .iter()
        .find(|(other, _)| other == path)
        .unwrap()
        .clone();
    for (from, to, word) in [
        (
            "commits_total: 1",
            "commits_total: 2",
            "warning: 1 of 2 commits are listed",
        ),
        ("[.jules/]", "[docs]", "`.jules/` is not among them"),
        (
            "incremental",
            "bootstrap",
            "`selection_mode` is bootstrap, and `selection_detail` says nothing",
        ),
        ("incremental", "random", "`random` is none of the words"),
        ("insertions: 3, ", "", "(at stats.insertions)"),
        (
            "to_commit: 5d2e3f4",
            "to_commit: HEAD",
            "`HEAD` is not a commit",
        ),
    ] {
        assert_diagnostic(
            &with(files.clone(), path, &text.replacen(from, to, 1)),
            word,
        );
    }
}

#[test]
pub(crate) fn the_list_of_issues_is_kept_in_step() {
    let path = format!("{CORE}/issues/index.md");
    let row = "| [One name](./refacts/one-name.yml) | x |\n";
    for (text, word) in [
        (
            "# Issues\n".to_owned(),
            "`refacts/one-name.yml` is not listed",
        ),
        (
            format!("{row}| [Gone](./bugs/gone.yml) | x |\n"),
            "index.md:2:10: error: there is no issue `bugs/gone.yml`",
        ),
        (format!("{row}{row}"), "is listed twice, first on line 1"),
        (String::new(), "the list of issues is missing"),
    ] {
        let files = with(streams(false), &path, &text);
        assert_diagnostic(&files, word);
        let mut fixed = tree(&files);
        for one in find_fixes(&fixed) {
            fixed.insert_text(one.path, &one.text.unwrap());
        }
        assert_eq!(check_exchange(&fixed).diagnostics, []);
        assert_eq!(find_fixes(&fixed), []);
    }
}

/// One section for each label, including the repository's own.
#[test]
pub(crate) fn the_list_of_issues_is_ordered_by_their_labels() {
    let slow = issue("citem1", "cpend0")
        .replace("label: refacts", "label: perf")
        .replace("One name for a step", "Open faster");
    let files = with(
        streams(false),
        &format!("{CORE}/issues/perf/slow.yml"),
        &slow,
    );
    let path = format!("{CORE}/issues/index.md");
    let fixes = find_fixes(&tree(&files));
    let list = fixes.iter().find(|one| one.path == path).unwrap();
    let list = list.text.as_deref().unwrap();
    for section in [
        "## Refacts\n\n| Issue | Summary |\n|---|---|\n| [One name for a step](./refacts/one-name.yml) | ",
        "## Bugs\n\n| Issue | Summary |\n|---|---|\n| no open issues | |\n",
        "## Perf\n\n| Issue | Summary |\n|---|---|\n| [Open faster](./perf/slow.yml) | ",
    ] {
        assert!(list.contains(section), "{section}: {list}");
    }
}

/// Only unambiguous mistakes are fixed, and afterwards no fix is left.
#[test]
pub(crate) fn links_with_one_answer_are_fixed() {
    fn fixed(files: &[(String, String)]) -> Tree {
        let before = tree(files);
        let fixes = find_fixes(&before);
        let mut after = Tree::new();
        for (path, entry) in before.iter() {
            if !fixes
                .iter()
                .any(|one| one.path == path && one.text.is_none())
            {
                after.insert(path, entry.clone());
            }
        }
        for one in fixes {
            if let Some(text) = one.text {
                after.insert_text(one.path, &text);
            }
        }
        after
    }
    let unlinked = with(flat(), DECIDED, &event("deci01", ""));
    assert_eq!(check_exchange(&fixed(&unlinked)).diagnostics, []);
    let left = with(with(flat(), DECIDED, ""), PENDING, &event("deci01", ""));
    let after = fixed(&left);
    assert_eq!(check_exchange(&after).diagnostics, []);
    assert!(after.get(PENDING).is_none());
    assert!(
        after
            .text(".jules/exchange/events/decided/dead-code.yml")
            .unwrap()
            .contains("issue_id: \"item01\"")
    );
    let renamed = with(
        with(flat(), PENDING, ""),
        ".jules/exchange/events/pending/a.yaml",
        &event("pend01", ""),
    );
    assert_eq!(check_exchange(&fixed(&renamed)).diagnostics, []);
    // Two work items name it: a person must choose.
    let second = ".jules/exchange/requirements/other.yml";
    let two = with(flat(), second, &requirement("item02", "deci01"));
    assert_eq!(find_fixes(&tree(&two)), []);
    let unknown = with(flat(), REQUIREMENT, &requirement("item01", "absent"));
    assert_eq!(find_fixes(&tree(&unknown)), []);
    assert_eq!(find_fixes(&tree(&flat())), []);
}

#[test]
pub(crate) fn one_stream_can_be_looked_at_alone() {
    let path = ".jules/workstreams/docs/events/pending/new.yml";
    let checked = || check_exchange(&tree(&with(streams(false), path, "a")));
    assert_eq!(checked().diagnostics.len(), 1);
    let core = checked().only_stream("core").unwrap();
    assert_eq!(
        (core.diagnostics.len(), core.exchange.unwrap().streams.len()),
        (0, 1)
    );
    assert_eq!(checked().only_stream("docs").unwrap().diagnostics.len(), 1);
    let error = checked().only_stream("croe").unwrap_err().to_string();
    assert_eq!(error, "there is no workstream `croe`; did you mean `core`?");
    let error = check_exchange(&tree(&flat()))
        .only_stream("zzzzzzzz")
        .unwrap_err()
        .to_string();
    assert!(error.contains("the only one is `generic`"), "{error}");
    let error = check_exchange(&Tree::new())
        .only_stream("core")
        .unwrap_err()
        .to_string();
    assert!(error.contains("there is no exchange here"), "{error}");
}

#[test]
pub(crate) fn inspection_says_what_is_there_and_where_it_goes() {
    let exchange = check_exchange(&tree(&flat())).exchange.unwrap();
    let seen = inspect_exchange(&exchange, None);
    let stream = &seen["streams"]["generic"];
    assert_eq!(seen["layout"], "flat");
    assert_eq!(stream["events"]["states"][0]["count"], 1);
    assert_eq!(stream["events"]["pending_files"][0], PENDING);
    assert_eq!(stream["requirements"]["items"][0]["next"], "implementer");
    assert_eq!(
        stream["requirements"]["items"][0]["source_events"][0],
        "deci01"
    );
    let next = |from: &str, to: &str, labels: Option<&[String]>| {
        let text = requirement("item01", "deci01").replace(from, to);
        let exchange = check_exchange(&tree(&with(flat(), REQUIREMENT, &text)))
            .exchange
            .unwrap();
        let next =
            inspect_exchange(&exchange, labels)["streams"]["generic"]["requirements"]["items"][0]["next"]
                .clone();
        next.as_str().unwrap().to_owned()
    };
    let deep = "requires_deep_analysis: true\ndeep_analysis_reason: \"Many parts hang on it.\"";
    assert_eq!(
        next(
            "requires_deep_analysis: false\ndeep_analysis_reason: \"\"",
            deep,
            None
        ),
        "planner"
    );
    assert_eq!(next("requires_deep_analysis: false\n", "", None), "refused");
    assert_eq!(next("goal:", "attempts: 3\ngoal:", None), "suspended");
    assert_eq!(next("goal:", "attempts: 2\ngoal:", None), "implementer");
    assert_eq!(
        next("goal:", "goal:", Some(&["bugs".to_owned()])),
        "shelved"
    );
    assert_eq!(
        next("goal:", "goal:", Some(&["refacts".to_owned()])),
        "implementer"
    );
    let of_streams = inspect_exchange(
        &check_exchange(&tree(&streams(true))).exchange.unwrap(),
        None,
    );
    assert_eq!(of_streams["streams"]["core"]["issues"]["count"], 1);
    assert_eq!(of_streams["streams"]["core"]["roster"]["enabled"], true);
}

/// A file that is renamed in one step and moved in the next never existed in between.
#[test]
pub(crate) fn fixes_that_follow_one_another_touch_only_what_is_there() {
    let decided = requirement("item02", "pend01");
    let files: Vec<_> = flat()
        .into_iter()
        .map(|(path, text)| match path == PENDING {
            true => (path.replace(".yml", ".yaml"), text),
            false => (path, text),
        })
        .collect();
    let path = ".jules/exchange/requirements/dead-code.yml";
    let before = tree(&with(files, path, &decided));
    let fixes = find_fixes(&before);
    let removed: Vec<_> = fixes.iter().filter(|one| one.text.is_none()).collect();
    assert_eq!(removed.len(), 1, "{removed:?}");
    for one in removed {
        assert!(before.get(&one.path).is_some(), "{one:?}");
    }
    assert!(
        fixes
            .iter()
            .any(|one| one.path.ends_with("decided/dead-code.yml"))
    );
}

/// A workstream with files of both forms: the list of issues is complete, and the mixture is reported.
#[test]
pub(crate) fn files_of_both_forms_are_told_and_listed_once() {
    let mut files = streams(true);
    let plain = ".jules/workstreams/core/issues";
    files.push((format!("{plain}/docs/more.yml"), issue("citem1", "cevent")));
    files.push((
        format!("{plain}/refacts/one-name.yml"),
        issue("citem2", "cevent"),
    ));
    let before = tree(&files);
    let found: Vec<String> = check_exchange(&before)
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect();
    let message = format!(
        "{plain}/docs/more.yml: error: the workstream `core` has files in `.jules/workstreams/core/exchange`, too"
    );
    assert!(
        found.iter().any(|one| one.starts_with(&message)),
        "{found:#?}"
    );
    let mut fixed = before.clone();
    let fixes = find_fixes(&before);
    assert!(!fixes.is_empty());
    for one in fixes {
        fixed.insert_text(one.path, &one.text.unwrap());
    }
    assert_eq!(find_fixes(&fixed), [], "fixed once, nothing is left to fix");
    let found: Vec<String> = check_exchange(&fixed)
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        !found.iter().any(|one| one.contains("index.md")),
        "{found:#?}"
    );
}
