//! `phileas persona add` and `persona roster`.

use std::fs;

use phileas::starter::PACKS;
use phileas_domain::model::PersonaId;
use serde_json::Value;

use super::bench::{alone, bench, text_of};
use crate::support::Folder;

fn add(folder: &Folder, words: &[&str]) -> super::bench::Ran {
    alone(&[&["persona", "add"], words, &[folder.text()]].concat())
}

#[test]
fn every_pack_is_added_to_an_empty_repository() {
    let folder = Folder::empty();
    folder.write("README.md", "# Widget\n");
    let listed = alone(&["persona", "add"]).done().out;
    for pack in PACKS {
        assert!(listed.contains(pack.id), "{listed}");
        add(&folder, &[pack.id]).done();
    }
    let ended = alone(&["validate", folder.text()]).done();
    assert!(
        ended
            .out
            .contains("8 schedules, 8 personas; 0 errors, 0 warnings"),
        "{ended:?}"
    );
    let plan = text_of(&folder.join(".jules/schedules.toml"));
    assert!(
        plan.starts_with("#:schema https://"),
        "editors look at the first line: {plan}"
    );
    let forecast = alone(&["simulate", folder.text()]).done();
    assert!(forecast.out.contains("craftsman"), "{forecast:?}");
    let again = add(&folder, &["tester"]).done();
    assert!(again.out.contains("is there already"), "{again:?}");
}

/// A mistake that was there before is printed, as by `persona list`.
#[test]
fn mistakes_of_the_plan_are_printed() {
    let folder = Folder::repository("cycle = []\n[budgets]\nmax_active = 1\n", &[]);
    let ran = add(&folder, &["tester"]).refused(1, "unknown key `budgets`");
    assert!(ran.out.contains("wrote the prompt of `tester`"), "{ran:?}");
    assert!(folder.join(".jules/personas/tester/prompt.md").exists());
}

#[test]
fn a_prompt_with_a_mistake_is_a_finding_of_render() {
    let folder = Folder::empty();
    let prompt = "---\nid: other\nemoji: x\ndescription: d\n---\nDo.\n";
    folder.write(".jules/personas/tester/prompt.md", prompt);
    let words = ["prompt", "render", "tester", folder.text()];
    let ran = alone(&words).refused(1, "the id `other` is not the name of its folder");
    assert!(!ran.err.contains("there is no persona"), "{ran:?}");
}

/// A plan of which nothing can be read is not counted.
#[test]
fn a_plan_that_cannot_be_read_is_not_counted() {
    let folder = Folder::repository("cycle: [curator]\n", &[]);
    let ran = alone(&["validate", folder.text()]);
    assert!(
        ran.out
            .contains("not ok: the plan has no track and no schedule that can be read; 0 personas, 1 error, 0 warnings"),
        "{ran:?}"
    );
}

/// The plan that `init` writes invites to uncomment its table; a table above that comment would be there twice then.
#[test]
fn a_commented_table_of_schedules_is_begun_in_its_place() {
    let plan = "cycle = []\n\n# On a schedule:\n# [schedules]\n# auditor = \"30 4 * * 1\"\n";
    let folder = Folder::repository(plan, &[]);
    let ran = add(&folder, &["craftsman", "--schedule", "manual"])
        .refused(1, "the track has no steps (at cycle)");
    assert!(
        ran.out.contains("`craftsman` runs only when a person asks"),
        "{ran:?}"
    );
    let path = folder.join(".jules/schedules.toml");
    assert_eq!(
        text_of(&path),
        "cycle = []\n\n# On a schedule:\n[schedules]\ncraftsman = \"manual\"\n# auditor = \"30 4 * * 1\"\n"
    );
    add(&folder, &["tester"]).refused(1, "the track has no steps");
    assert_eq!(text_of(&path).matches("[schedules]").count(), 1);
    // Keys that follow the comment do not become part of the table.
    let plan = "version = 1\n# [schedules]\n# auditor = \"30 4 * * 1\"\ncycle = [\"craftsman\"]\n";
    folder.write(".jules/schedules.toml", plan);
    add(&folder, &["profiler", "--schedule", "0 6 * * *"]).done();
    assert_eq!(
        text_of(&path),
        format!("{plan}\n[schedules]\nprofiler = \"0 6 * * *\"\n")
    );
    let ran = add(&folder, &["profiler", "--schedule", "bad"]).refused(2, "--schedule: `bad`");
    assert!(!ran.err.contains("schedules.toml"), "{ran:?}");
}

#[test]
fn what_people_wrote_stays_to_the_byte() {
    let plan = "# Ours\r\ncycle = [\r\n    \"curator\", # first\r\n    \"janitor\" # last\r\n]\r\n\r\n[schedules]   # on a schedule\r\nauditor = \"30 4 * * 1\"\r\n";
    let folder = Folder::repository(plan, &["curator", "janitor", "auditor"]);
    let path = folder.join(".jules/schedules.toml");
    let prompt = folder.join(".jules/personas/curator/prompt.md");
    let before = fs::read(&prompt).unwrap();
    // The persona that is there is another one.
    add(&folder, &["curator"]).refused(2, "nothing is written over");
    assert_eq!(fs::read(&prompt).unwrap(), before);
    assert_eq!(text_of(&path), plan);
    add(&folder, &["testr"]).refused(2, "did you mean `tester`?");
    add(&folder, &["tester", "--schedule", "61 * * * *"]).refused(2, "--schedule: ");
    assert!(!folder.join(".jules/personas/tester").exists());
    assert_eq!(text_of(&path), plan);

    add(&folder, &["tester", "--schedule", "manual"]).done();
    let after = text_of(&path);
    assert_eq!(
        after.replacen("tester = \"manual\"\r\n", "", 1),
        plan,
        "{after}"
    );
    assert!(after.contains("tester = "), "{after}");
    add(&folder, &["simplifier", "--cycle"]).done();
    let after = text_of(&path);
    assert!(
        after.contains("# first") && after.contains("# last"),
        "{after}"
    );
    let said = alone(&["persona", "list", "--json", folder.text()])
        .done()
        .lines();
    let runs = |id: &str| said.iter().find(|line| line["id"] == id).unwrap()["runs"].clone();
    assert_eq!(runs("simplifier"), serde_json::json!(["default[2]"]));
    assert_eq!(runs("tester"), serde_json::json!(["manual"]));
    // A plan that cannot be read is not written.
    folder.write(".jules/schedules.toml", "cycle = [\n");
    add(&folder, &["profiler"]).refused(1, "not valid TOML");
    assert!(!folder.join(".jules/personas/profiler").exists());
}

/// A user who asks for another folder than the persona's is told the persona's.
#[test]
fn a_persona_that_is_in_the_plan_stays_where_it_is() {
    let plan = "cycle = [\"curator\"]\n\n[schedules]\ntester = \"30 4 * * 1\"\n";
    let folder = Folder::repository(plan, &["curator"]);
    let path = folder.join(".jules/schedules.toml");
    let said = ".jules/schedules.toml: `tester` is there already and stays where it is: `30 4 * * 1` UTC\n";
    // Its prompt is new, its place is not.
    let ran = add(&folder, &["tester", "--cycle"]).done();
    assert!(
        ran.out.contains("wrote the prompt") && ran.out.contains(said),
        "{ran:?}"
    );
    assert_eq!(text_of(&path), plan);
    let prompt = folder.join(".jules/personas/tester/prompt.md");
    let before = fs::metadata(&prompt).unwrap().modified().unwrap();
    for words in [
        &["tester", "--cycle"][..],
        &["tester", "--schedule", "manual"],
        &["tester"],
    ] {
        assert_eq!(add(&folder, words).done().out, said, "{words:?}");
    }
    let line = add(&folder, &["tester", "--cycle", "--json"]).done().json();
    assert_eq!(line["done"], Value::Null);
    assert_eq!(line["runs"], serde_json::json!(["`30 4 * * 1` UTC"]));
    assert_eq!(text_of(&path), plan);
    assert_eq!(fs::metadata(&prompt).unwrap().modified().unwrap(), before);
}

/// Editors look for the schema in the first line.
/// A folder stands where the plan belongs, so that nothing could name what was added.
#[test]
fn a_persona_is_added_whole_or_not_at_all() {
    let folder = Folder::empty();
    let plan = ".jules/schedules.toml";
    fs::create_dir_all(folder.join(plan)).unwrap();
    let said = format!("{plan}: the plan is a folder; put a file here");
    let ran = add(&folder, &["sentinel"]).refused(1, &said);
    assert_eq!(ran.out, "");
    assert!(!folder.join(".jules/personas").exists());
    fs::remove_dir(folder.join(plan)).unwrap();
    add(&folder, &["sentinel"]).done();
    assert!(folder.join(plan).is_file());
}

#[test]
fn what_stands_at_the_head_of_a_plan_stays_there() {
    let schema = "#:schema https://example.org/schedules.json\n";
    for (before, words, after) in [
        (
            format!("{schema}[schedules]\nauditor = \"manual\"\n"),
            &["tester", "--cycle"][..],
            format!("{schema}\ncycle = [\"tester\"]\n\n[schedules]\nauditor = \"manual\"\n"),
        ),
        (
            format!("{schema}# Ours.\n\n# On a schedule.\n[schedules]\nauditor = \"manual\"\n"),
            &["tester", "--cycle"],
            format!(
                "{schema}# Ours.\n\ncycle = [\"tester\"]\n\n# On a schedule.\n[schedules]\nauditor = \"manual\"\n"
            ),
        ),
        (
            "# On a schedule.\r\n[schedules]\r\nauditor = \"manual\"\r\n".to_owned(),
            &["tester", "--cycle"],
            "cycle = [\"tester\"]\r\n\r\n# On a schedule.\r\n[schedules]\r\nauditor = \"manual\"\r\n".to_owned(),
        ),
        (
            schema.trim_end().to_owned(),
            &["tester", "--cycle"],
            format!("{schema}\ncycle = [\"tester\"]\n"),
        ),
        (
            format!("{schema}\n"),
            &["tester", "--schedule", "manual"],
            format!("{schema}\n[schedules]\ntester = \"manual\"\n"),
        ),
        (
            format!("{schema}cycle = [\"auditor\"]\n"),
            &["tester", "--schedule", "manual"],
            format!("{schema}cycle = [\"auditor\"]\n\n[schedules]\ntester = \"manual\"\n"),
        ),
    ] {
        let folder = Folder::repository(&before, &["auditor"]);
        add(&folder, words).done();
        let path = folder.join(".jules/schedules.toml");
        assert_eq!(text_of(&path), after, "{before:?}");
    }
}

#[test]
fn the_roster_tells_what_became_of_each() {
    let bench = bench();
    let blank = bench.run(&["persona", "roster", "--json"]).done().lines();
    assert!(blank.iter().all(|line| line["last"].is_null()), "{blank:?}");
    let state = bench.until(|state| {
        let mut outcomes = state
            .history
            .values()
            .filter_map(|entry| entry.outcome.as_ref());
        outcomes.next().is_some()
    });
    let entry = state
        .history
        .values()
        .find(|entry| entry.outcome.is_some())
        .unwrap();
    let lines = bench.run(&["persona", "roster", "--json"]).done().lines();
    let of = |id: &PersonaId| -> Value {
        let line = lines.iter().find(|line| line["persona"] == id.as_str());
        line.unwrap().clone()
    };
    let one = of(&entry.persona_id);
    assert_eq!(
        one["last"]["outcome"],
        entry.outcome.as_ref().unwrap().to_string()
    );
    assert_eq!(
        one["last"]["pr_number"],
        Value::from(entry.pr_number.map(|number| number.0))
    );
    assert_eq!(one["streak"], 1);
    assert_eq!(one["known"], true);
    assert!(one["yield"]["sessions"].as_u64().unwrap() >= 1, "{one}");
    let text = bench.run(&["persona", "roster"]).done().out;
    assert!(
        text.contains("streak") && text.contains(entry.persona_id.as_str()),
        "{text}"
    );
}
