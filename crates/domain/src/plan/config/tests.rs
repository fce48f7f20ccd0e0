//! What the file compiles to, and every mistake with its place.

use serde_json::Value;

use super::keys::*;
use crate::Diagnostic;
use crate::model::{Mode, TrackName, Tree};
use crate::plan::{
    Approval, PASS_TRACK, Roster, SCHEDULES_PATH, StepKind, config_schema, read as read_plan,
};

/// Seed 001's own file, as its system writes it.
const SEED: &str = "\
[run]
jlo_target_branch = \"main\"
jules_worker_branch = \"jules\"

[workflow]
runner_mode = \"remote\"
cron = [\"0 19 * * *\"]
wait_minutes_default = 30

[observers]
roles = [
  { name = \"taxonomy\", enabled = true },
  { name = \"tests\", enabled = false },
]

[innovators]
roles = [{ name = \"leverage\", enabled = true }]

[jules]
timeout_secs = 30
";

fn plan(text: &str) -> (crate::plan::Plan, Vec<String>) {
    let (plan, found) = read_plan(&Tree::from_texts([(CONFIG_PATH, text)]));
    (plan, found.iter().map(ToString::to_string).collect())
}

fn steps(plan: &crate::plan::Plan, track: &str) -> Option<(Vec<String>, String)> {
    let track = plan.tracks.get(&TrackName::from(track))?;
    let steps = track.steps.iter().map(|step| match &step.kind {
        StepKind::Layer(layer) => layer.clone(),
        StepKind::Persona(id) => format!("persona {id}"),
    });
    let start = track.start.as_ref().unwrap();
    Some((
        steps.collect(),
        format!("{} {}", start.expression(), start.timezone()),
    ))
}

#[test]
fn an_empty_file_is_the_usual_pass_with_the_usual_roles() {
    let (plan, found) = plan("");
    assert_eq!(found, [""; 0]);
    assert_eq!(plan.roster, Roster::default());
    let pass = PASS.map(str::to_owned).to_vec();
    assert_eq!(
        steps(&plan, "layers"),
        Some((pass, format!("{DEFAULT_PASS} UTC")))
    );
    // The file has no `[innovators]`.
    assert_eq!(plan.tracks.len(), 1);
}

#[test]
fn the_file_of_jlo_runs_unchanged() {
    let (plan, found) = plan(SEED);
    let only_warnings = found
        .iter()
        .all(|one| one.contains("warning: ") && one.contains("has no effect"));
    assert!(only_warnings && found.len() == 4, "{found:#?}");
    assert!(
        found[1].starts_with(".jlo/config.toml:6:1: warning: `workflow.runner_mode`"),
        "{found:#?}"
    );
    let names: Vec<(&str, bool)> = plan
        .roster
        .observers
        .iter()
        .map(|one| (one.role.as_str(), one.enabled))
        .collect();
    assert_eq!(names, [("taxonomy", true), ("tests", false)]);
    assert_eq!(steps(&plan, "layers").unwrap().1, "0 19 * * * UTC");
    let innovation = (
        vec!["innovators".to_owned()],
        format!("{DEFAULT_INNOVATION} UTC"),
    );
    assert_eq!(steps(&plan, "innovators"), Some(innovation));
}

#[test]
fn all_keys_are_read() {
    let (plan, found) = plan(
        "version = 1\n[workflow]\ncron = \"5 7,19 * * 1-5\"\ntimezone = \"Europe/Lisbon\"\n\
         layers = [\"observers\", \"decider\"]\nlabels = [\"bugs\"]\n\
         [observers]\nroles = [\"docs\", { name = \"security\", sensitive = true }]\n\
         [innovators]\ncron = \"0 6 1 * *\"\nroles = [\"researcher\"]\n",
    );
    assert_eq!(found, [""; 0]);
    let pass = vec!["observers".to_owned(), "decider".to_owned()];
    assert_eq!(
        steps(&plan, "layers"),
        Some((pass, "5 7,19 * * 1-5 Europe/Lisbon".to_owned()))
    );
    assert_eq!(
        steps(&plan, "innovators").unwrap().1,
        "0 6 1 * * Europe/Lisbon"
    );
    assert_eq!(plan.roster.labels, Some(vec!["bugs".to_owned()]));
    assert!(
        plan.roster
            .member("observers", "security")
            .unwrap()
            .sensitive
    );
}

#[test]
fn what_is_off_does_not_run() {
    assert!(
        plan("[workflow]\nenabled = false\n[innovators]\n")
            .0
            .tracks
            .is_empty()
    );
    let (none, found) = plan("[innovators]\nroles = []\n");
    assert_eq!((none.tracks.len(), found), (1, vec![]));
    let (off, _) = plan("[innovators]\nroles = [{ name = \"leverage\", enabled = false }]\n");
    assert_eq!(off.tracks.len(), 1);
}

/// A repository without the file has no such track, and its layers' steps the usual roles.
#[test]
fn the_plan_of_schedules_counts_first() {
    let of = |schedules: &str, config: Option<&str>| {
        let mut tree = Tree::from_texts([(SCHEDULES_PATH, schedules)]);
        if let Some(config) = config {
            tree.insert_text(CONFIG_PATH, config);
        }
        read_plan(&tree)
    };
    let (plan, _) = of("[tracks]\na = [\"layer:observers\"]\n", None);
    assert_eq!((plan.tracks.len(), plan.roster), (1, Roster::default()));
    let own = "[defaults]\ntimezone = \"Europe/Paris\"\n[tracks.layers]\nsteps = [\"layer:decider\"]\nstart = \"0 3 * * *\"\n";
    let (plan, found) = of(own, Some("[innovators]\n"));
    assert_eq!(found, []);
    assert_eq!(
        steps(&plan, "layers").unwrap(),
        (
            vec!["decider".to_owned()],
            "0 3 * * * Europe/Paris".to_owned()
        )
    );
    assert!(
        steps(&plan, "innovators")
            .unwrap()
            .1
            .ends_with("Europe/Paris")
    );
    // A plan of another version leaves everything alone.
    assert!(of("version = 2\n", Some("")).0.tracks.is_empty());
}

#[test]
fn every_mistake_has_a_location_and_help() {
    for (text, word, runs) in [
        (
            "version = 2\n",
            ":1:11: error: it is written in version 2",
            false,
        ),
        ("version = \"1\"\n", "write `version = 1`", true),
        ("x = 1\n", ":1:1: error: unknown key `x`", false),
        (
            "cron = \"0 1 * * *\"\n",
            "it belongs in `[workflow]` or `[innovators]`",
            false,
        ),
        (
            "[workflow]\ncorn = 1\n",
            ":2:1: error: unknown key `corn` (at workflow.corn); did you mean `cron`?",
            false,
        ),
        (
            "[workflow]\ncron = \"0 25 * * *\"\n",
            ":2:8: error: ",
            false,
        ),
        ("[workflow]\ncron = []\n", "there are 0 expressions", false),
        (
            "[workflow]\ncron = [\"0 1 * * *\", \"0 2 * * *\"]\n",
            "there are 2 expressions, and a track has one",
            false,
        ),
        ("[workflow]\ncron = 7\n", "found a whole number", false),
        (
            "[workflow]\ntimezone = \"Mars\"\n",
            "is not an IANA time zone",
            false,
        ),
        ("[workflow]\nenabled = 1\n", "found a whole number", false),
        (
            "[workflow]\nlayers = [\"observer\"]\n",
            ":2:11: error: there is no layer `observer` (at workflow.layers[0]); did you mean `observers`?",
            false,
        ),
        ("[workflow]\nlayers = []\n", "there are 0 layers", false),
        (
            "[workflow]\nlabels = \"bugs\"\n",
            "an array of labels",
            false,
        ),
        (
            "[workflow]\nlabels = [\"a/b\"]\n",
            "`a/b` cannot be a label",
            false,
        ),
        ("workflow = 1\n", "a table `[workflow]`", false),
        ("[workflow\ncron = \"0 1 * * *\"\n", ":1:", false),
        ("[observers]\nroles = \"docs\"\n", "an array of roles", true),
        (
            "[observers]\nroles = [\"dcos\"]\n",
            ":2:10: error: the layer `observers` has no role `dcos` (at observers.roles[0]); did you mean `docs`?",
            true,
        ),
        (
            "[observers]\nroles = [\"absent-role\"]\n",
            "phileas role create observers absent-role",
            true,
        ),
        (
            "[observers]\nroles = [\"docs\", \"docs\"]\n",
            "`docs` is there twice",
            true,
        ),
        (
            "[observers]\nroles = [\"../x\"]\n",
            "`../x` cannot be a role",
            true,
        ),
        (
            "[observers]\nroles = [{ enabled = true }]\n",
            "it names no role",
            true,
        ),
        (
            "[observers]\nroles = [{ name = \"docs\", enabeld = true }]\n",
            "did you mean `enabled`?",
            true,
        ),
        (
            "[observers]\nroles = [{ name = 1 }]\n",
            "found a whole number",
            true,
        ),
        ("[observers]\nroles = [1]\n", "found a whole number", true),
        ("[observers]\ncron = \"0 1 * * *\"\n", "it belongs in", true),
        (
            "[innovators]\nroles = [\"docs\"]\n",
            "the layer `innovators` has no role `docs`",
            true,
        ),
    ] {
        let (plan, found) = plan(text);
        assert!(
            found
                .iter()
                .any(|one| one.contains(word) && one.starts_with(CONFIG_PATH)),
            "{text}: {found:#?}"
        );
        assert_eq!(
            plan.tracks.contains_key(&TrackName::from("layers")),
            runs,
            "{text}"
        );
    }
    // A line above all tables may have been any key.
    for line in [
        "approval : \"human\"",
        "approval \"human\"",
        "\"approval = \"human\"",
        "version =",
        "x",
        "=",
        "a remark",
    ] {
        let (read, found) = plan(&format!("{line}\n\n[workflow]\ncron = \"17 2 * * *\"\n"));
        assert!(!found.is_empty(), "{line}");
        assert!(read.tracks.is_empty(), "{line}: {:?}", read.tracks);
    }
    // A role with an unreadable line does not work.
    for text in [
        "[observers]\nroles = [\"docs\"\n",
        "observers = 1\n",
        "[innovators]\nroles = [\n",
        "innovators = 1\n",
        "[observers]\nrols = [\"docs\"]\n",
    ] {
        let (plan, found) = plan(text);
        assert!(!found.is_empty(), "{text}");
        let layer = &text.trim_start_matches('[')[..9];
        let members = plan.roster.of(if layer == "observers" {
            layer
        } else {
            "innovators"
        });
        assert!(members.is_empty(), "{text}: {members:?}");
        assert!(
            !plan.tracks.contains_key(&TrackName::from("innovators")),
            "{text}"
        );
    }
    // Two roles of one name would share one memory.
    let both = "role: docs\nlayer: innovators\n";
    let tree = Tree::from_texts([
        (".jlo/roles/innovators/docs/role.yml", both),
        (
            CONFIG_PATH,
            "[observers]\nroles = [\"docs\"]\n[innovators]\nroles = [\"docs\"]\n",
        ),
    ]);
    let (plan, found) = read_plan(&tree);
    assert!(found[0].message.contains("one memory"), "{found:?}");
    assert_eq!(found[0].line, Some(4));
    assert!(plan.roster.innovators.is_empty());
}

#[test]
fn an_entry_that_is_no_file_is_reported() {
    let (plan, found) = read_plan(&Tree::from_texts([(".jlo/config.toml/x", "")]));
    assert!(
        found
            .iter()
            .any(|one| one.file == CONFIG_PATH && one.message == "it is a folder")
    );
    assert!(plan.tracks.is_empty());
    let mut tree = Tree::new();
    for (mode, text, size, word) in [
        (Mode::Link, None, 1, "symbolic link"),
        (Mode::Submodule, None, 1, "not a file"),
        (Mode::File, None, 1, "UTF-8"),
        (Mode::File, Some("".into()), MAX_CONFIG_BYTES + 1, "larger"),
    ] {
        let entry = crate::model::Entry {
            mode,
            oid: String::new(),
            size,
            text,
        };
        tree.insert(CONFIG_PATH, entry);
        let (plan, found) = read_plan(&tree);
        assert!(found[0].message.contains(word), "{found:?}");
        assert!(plan.tracks.is_empty());
    }
}

/// What the reader takes, the schema takes; what the reader calls a mistake of form, the schema does, too.
#[test]
fn schema_and_reader_are_of_one_mind() {
    let schema = config_schema();
    let checker = jsonschema::validator_for(&schema).unwrap();
    let value = |text: &str| -> Value {
        serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
    };
    for (text, sound) in [
        ("", true),
        (SEED, true),
        (
            "version = 1\n[workflow]\ncron = \"0 1 * * *\"\nlayers = [\"decider\"]\nlabels = []\nenabled = false\ntimezone = \"UTC\"\n[observers]\nroles = [\"docs\"]\n[innovators]\ncron = [\"0 1 * * *\"]\n",
            true,
        ),
        (
            "[workflow]\napproval = \"human\"\nentry_point = \"requirements\"\n",
            true,
        ),
        ("[workflow]\napproval = \"people\"\n", false),
        ("[workflow]\napproval = true\n", false),
        ("[workflow]\nentry_point = \"planner\"\n", false),
        ("version = 2\n", false),
        ("x = 1\n", false),
        ("[workflow]\ncron = []\n", false),
        ("[workflow]\ncron = 7\n", false),
        ("[workflow]\nlayers = [\"observer\"]\n", false),
        ("[workflow]\nlabels = [\"a/b\"]\n", false),
        ("[observers]\nroles = [{ enabled = true }]\n", false),
        ("[observers]\nroles = [{ name = \"docs\", x = 1 }]\n", false),
        ("[observers]\nroles = [\"../x\"]\n", false),
        ("[observers]\ncron = \"0 1 * * *\"\n", false),
    ] {
        assert_eq!(checker.is_valid(&value(text)), sound, "{text}");
        let errors = read_plan(&Tree::from_texts([(CONFIG_PATH, text)])).1;
        assert_eq!(
            !errors.iter().any(Diagnostic::is_error),
            sound,
            "{text}: {errors:?}"
        );
    }
}

#[test]
fn unreadable_approval_means_a_person() {
    for (text, approval) in [
        ("", Approval::Auto),
        ("[workflow]\napproval = \"auto\"\n", Approval::Auto),
        ("[workflow]\napproval = \"human\"\n", Approval::Human),
        ("[workflow]\napproval = \"people\"\n", Approval::Human),
        ("[workflow]\napproval = 7\n", Approval::Human),
        ("[workflow]\napproval = \"hum\n", Approval::Human),
    ] {
        let (plan, _) = read_plan(&Tree::from_texts([(CONFIG_PATH, text)]));
        assert_eq!(plan.roster.approval, approval, "{text}");
    }
}

#[test]
fn a_pass_begins_at_its_entry_point() {
    let layers = |text: &str| {
        let (plan, found) = read_plan(&Tree::from_texts([(CONFIG_PATH, text)]));
        let track = plan.tracks.get(PASS_TRACK);
        let steps = track.map(|track| track.steps.clone()).unwrap_or_default();
        let names = steps.into_iter().map(|step| match step.kind {
            StepKind::Layer(name) => name,
            StepKind::Persona(id) => id.to_string(),
        });
        (names.collect::<Vec<_>>(), found)
    };
    let (steps, found) = layers("[workflow]\nentry_point = \"decider\"\n");
    assert_eq!(steps, ["decider", "planner", "implementer"]);
    assert_eq!(found, []);
    let (steps, found) = layers("[workflow]\nentry_point = \"innovators\"\n");
    assert!(steps.is_empty() && found.is_empty(), "{found:?}");
    let own =
        "[workflow]\nlayers = [\"narrator\", \"observers\"]\nentry_point = \"requirements\"\n";
    let (steps, found) = layers(own);
    assert!(steps.is_empty());
    assert!(
        found[0].message.contains("no layer planner or implementer"),
        "{found:?}"
    );
    assert_eq!(
        (found[0].line, found[0].key.as_str()),
        (Some(3), "workflow.entry_point")
    );
    let (steps, found) = layers("[workflow]\nentry_point = \"observer\"\n");
    assert!(steps.is_empty());
    assert!(found[0].help.contains("`observers`"), "{found:?}");
}
