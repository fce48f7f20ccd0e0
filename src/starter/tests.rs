use std::collections::BTreeMap;

use phileas_domain::Diagnostic;
use phileas_domain::layers::FileChangeKind;
use phileas_domain::plan;

use super::*;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn found_files(tree: Tree) -> RepositoryFiles {
    RepositoryFiles {
        repository: "acme/widget".parse().unwrap(),
        default_branch: "trunk".to_owned(),
        tree,
        workflows: BTreeMap::new(),
        untracked: BTreeSet::new(),
    }
}

fn pin() -> Pin {
    format!("{HOME}@{COMMIT}").parse().unwrap()
}

fn written(parts: &[StarterFile]) -> BTreeMap<&str, &str> {
    let texts = parts.iter().filter_map(|part| match &part.change {
        FileChange::Write(text) => Some((part.path.as_str(), text.as_str())),
        FileChange::Stage | FileChange::Leave(_) => None,
    });
    texts.collect()
}

#[test]
fn a_beginning_is_a_sound_plan() {
    let found = found_files(Tree::new());
    let parts = parts(&found, &pin(), false);
    assert_eq!(written(&parts).len(), 4);
    let tree = tree_after(&found, &parts);
    let (plan, told) = plan::read(&tree);
    assert_eq!(told, [], "{told:?}");
    assert_eq!(plan.personas.len(), 2);
    for persona in plan.personas.values() {
        let told: Vec<Diagnostic> = phileas_domain::prompt::validate_prompt(
            persona,
            &phileas_domain::prompt::SourceFiles::of_default_branch(&tree),
            &phileas_domain::prompt::InProcess,
        );
        assert_eq!(told, []);
        assert!(
            !persona.body.contains("phileas"),
            "the prompt is about the work"
        );
    }
    assert!(has_schema_line(tree.text(SCHEDULES_PATH).unwrap()));
}

#[test]
fn no_place_of_a_template_stays_empty() {
    let mut found = found_files(Tree::new());
    found.workflows.insert(
        ".github/workflows/ci.yml".to_owned(),
        "name: ci\non: push\n".to_owned(),
    );
    let parts = parts(&found, &pin(), false);
    for (path, text) in written(&parts) {
        for line in text.lines() {
            let place = line.split_whitespace().any(|word| {
                let word = word.trim_matches(['"', '[', ']']);
                word.starts_with('@')
            });
            assert!(!place, "{path}: {line}");
        }
        assert_eq!(seal_of(text), Seal::Unchanged, "{path}");
    }
    let workflow = written(&parts)[WORKFLOW_PATH];
    let read: serde_json::Value = serde_yaml::from_str(workflow).unwrap();
    assert_eq!(read["permissions"], serde_json::json!({}));
    assert_eq!(read["concurrency"]["queue"], "max");
    assert_eq!(read["on"]["push"]["branches"][0], "trunk");
    assert_eq!(read["on"]["workflow_run"]["workflows"][0], "ci");
    assert!(read["on"].get("pull_request").is_none());
    assert_eq!(read["jobs"]["tick"]["environment"], ENVIRONMENT);
    assert_eq!(
        read["jobs"]["tick"]["steps"][0]["uses"],
        format!("{HOME}@{COMMIT}")
    );
    assert_eq!(workflow_hints(workflow), Vec::<String>::new());
}

/// Nothing is checked out, run by a shell or taken from a cache, and nothing that an untrusted user writes is handed on.
#[test]
fn r24_the_workflow_only_calls_the_action_and_hands_on_nothing_of_an_event() {
    let parts = parts(&found_files(Tree::new()), &pin(), false);
    let workflow = written(&parts)[WORKFLOW_PATH];
    let read: serde_json::Value = serde_yaml::from_str(workflow).unwrap();
    let jobs = read["jobs"].as_object().unwrap();
    assert_eq!(jobs.keys().collect::<Vec<_>>(), ["tick"]);
    let steps = jobs["tick"]["steps"].as_array().unwrap();
    let [step] = &steps[..] else {
        panic!("{steps:?}");
    };
    let keys: Vec<&String> = step.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "uses", "with"]);
    let given = step["with"].as_object().unwrap();
    assert_eq!(given.len(), 3);
    assert_eq!(given["build-from-source"], true);
    assert_eq!(given["jules-api-key"], "${{ secrets.JULES_API_KEY }}");
    assert_eq!(given["paused"], "${{ vars.PHILEAS_PAUSED }}");
    assert_eq!(read["permissions"], serde_json::json!({}));
    let events = read["on"].as_object().unwrap();
    assert!(!events.keys().any(|event| event.starts_with("pull_request")));
}

#[test]
fn what_is_there_stays() {
    let tree = Tree::from_texts([(SCHEDULES_PATH, "cycle = [\"a\"]\n")]);
    let parts = parts(&found_files(tree), &pin(), false);
    assert_eq!(
        written(&parts).keys().copied().collect::<Vec<_>>(),
        [WORKFLOW_PATH]
    );
    let FileChange::Leave(hints) = &parts[1].change else {
        panic!("{parts:?}");
    };
    assert!(hints[0].contains("#:schema"), "{hints:?}");
}

#[test]
fn personas_without_a_plan_get_one() {
    let prompt = "---\nid: mender\nemoji: x\n---\nFix.\n";
    let found = found_files(Tree::from_texts([(
        ".jules/personas/mender/prompt.md",
        prompt,
    )]));
    let parts = parts(&found, &pin(), false);
    let written = written(&parts);
    assert_eq!(written.len(), 2);
    assert!(written[SCHEDULES_PATH].contains("cycle = [\"mender\"]"));
}

#[test]
fn only_unchanged_files_may_go() {
    let mut found = found_files(Tree::new());
    let parts = parts(&found, &pin(), false);
    found.tree = tree_after(&found, &parts);
    found.workflows.insert(
        WORKFLOW_PATH.to_owned(),
        written(&parts)[WORKFLOW_PATH].to_owned(),
    );
    assert!(find_remnants(&found).iter().all(|one| one.stays.is_none()));
    assert_eq!(find_remnants(&found).len(), 4);

    // A plan that stays keeps the personas that it names.
    let plan = format!("{}# mine\n", found.tree.text(SCHEDULES_PATH).unwrap());
    found.tree.insert_text(SCHEDULES_PATH, &plan);
    found.tree.insert_text(
        ".jules/personas/own/prompt.md",
        "---\nid: own\nemoji: x\n---\nDo.\n",
    );
    let left = find_remnants(&found);
    assert_eq!(left.len(), 4, "{left:?}"); // `own` is none of phileas's
    assert_eq!(left[0].stays, None);
    assert!(left[1].stays.as_deref().unwrap().contains("changed"));
    assert!(
        left[2..]
            .iter()
            .all(|one| one.stays.as_deref().unwrap().contains("names it"))
    );
}

/// A workflow that was edited is upgraded, too, by the commit that its `uses:` line names.
#[test]
fn an_edited_workflow_gets_the_new_commit_and_keeps_its_changes() {
    let mut found = found_files(Tree::new());
    let blank = parts(&found, &Pin::to_fill_in(), false);
    let text = written(&blank)[WORKFLOW_PATH].replace("ubuntu-24.04", "mine");
    let upgraded = |found: &RepositoryFiles| sealed_files(found, Some(&pin())).remove(0).kind;
    for (text, step) in [
        (text.clone(), format!("uses: {}", pin())),
        (text.replace('\n', "\r\n"), format!("uses: {}\r\n", pin())),
        (
            text.replace("uses: phileas/phileas@", "uses: \"fork/phileas@"),
            format!("uses: {}", pin()),
        ),
    ] {
        found
            .workflows
            .insert(WORKFLOW_PATH.to_owned(), text.clone());
        let FileChangeKind::Pin(new) = upgraded(&found) else {
            panic!("{:?}", upgraded(&found));
        };
        assert!(
            new.contains(&step) && new.contains("runs-on: mine"),
            "{new}"
        );
        let differ = |(old, new): &(&str, &str)| old != new;
        assert_eq!(text.lines().zip(new.lines()).filter(differ).count(), 1);
        found.workflows.insert(WORKFLOW_PATH.to_owned(), new);
        assert!(matches!(upgraded(&found), FileChangeKind::Changed(_)));
    }
    // The same commit in quotes, or with a comment of its own, is no other one.
    let quoted = text.replace("phileas/phileas@COMMIT", &format!("\"{}\"", pin()));
    found.workflows.insert(WORKFLOW_PATH.to_owned(), quoted);
    assert!(matches!(upgraded(&found), FileChangeKind::Changed(_)));
}

/// A prompt that `phileas persona add` wrote is named among what stays.
#[test]
fn an_added_persona_is_named() {
    let mut found = found_files(Tree::new());
    let pack = Pack::named("craftsman").unwrap();
    let path = ".jules/personas/craftsman/prompt.md";
    found.tree.insert_text(path, &pack.prompt());
    let left = find_remnants(&found);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].path, path);
    assert_eq!(
        left[0].stays.as_deref(),
        Some("phileas init did not write it")
    );
}

#[test]
fn home_is_where_the_package_says() {
    assert_eq!(
        env!("CARGO_PKG_REPOSITORY"),
        format!("https://github.com/{HOME}")
    );
}

#[test]
fn what_an_earlier_run_left_is_staged_and_what_people_wrote_is_not() {
    let empty = found_files(Tree::new());
    let whole = parts(&empty, &pin(), false);
    let mut half = found_files(tree_after(&empty, &whole));
    half.workflows.insert(
        WORKFLOW_PATH.to_owned(),
        written(&whole)[WORKFLOW_PATH].to_owned(),
    );
    half.tree.remove(SCHEDULES_PATH);
    half.untracked = whole.iter().map(|part| part.path.clone()).collect();
    half.untracked.remove(SCHEDULES_PATH);
    let paths = |parts: &[StarterFile], fate: fn(&FileChange) -> bool| {
        let fitting = parts.iter().filter(|part| fate(&part.change));
        fitting.map(|part| part.path.clone()).collect::<Vec<_>>()
    };
    let again = parts(&half, &pin(), false);
    let staged = paths(&again, |fate| *fate == FileChange::Stage);
    assert_eq!(staged.len(), 3, "{again:?}");
    assert_eq!(written(&again), written(&whole[1..2]), "{again:?}");
    // A workflow that was changed stays as it is; so does what git knows already.
    let workflow = half.workflows.get_mut(WORKFLOW_PATH).unwrap();
    workflow.push_str("# mine\n");
    let again = parts(&half, &pin(), false);
    let left = paths(&again, |fate| matches!(fate, FileChange::Leave(_)));
    assert_eq!(left, [WORKFLOW_PATH]);
    half.untracked.clear();
    let again = parts(&half, &pin(), false);
    assert_eq!(paths(&again, |fate| *fate == FileChange::Stage).len(), 0);
    // A plan of one's own, and all of it is one's own.
    let mut own = found_files(Tree::from_texts([(
        SCHEDULES_PATH,
        "cycle = [\"curator\"]\n",
    )]));
    own.untracked.insert(SCHEDULES_PATH.to_owned());
    let parts = parts(&own, &pin(), false);
    assert_eq!(
        paths(&parts, |fate| matches!(fate, FileChange::Leave(_))),
        [SCHEDULES_PATH]
    );
}
