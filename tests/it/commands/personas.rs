//! `phileas persona add` and `persona roster`.

use std::fs;

use phileas::starter::PACKS;
use phileas_domain::model::PersonaId;
use serde_json::Value;

use super::bench::{alone, bench, text_of};
use crate::support::Folder;

fn add(folder: &Folder, words: &[&str]) -> super::bench::Ran {
    alone(&[&["persona", "add", "--dir", folder.text()], words].concat())
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

#[test]
fn what_people_wrote_stays_to_the_byte() {
    let plan = "# Ours\r\ncycle = [\r\n    \"curator\", # first\r\n    \"janitor\" # last\r\n]\r\n\r\n[schedules]   # by the clock\r\nauditor = \"30 4 * * 1\"\r\n";
    let folder = Folder::repository(plan, &["curator", "janitor", "auditor"]);
    let path = folder.join(".jules/schedules.toml");
    let prompt = folder.join(".jules/personas/curator/prompt.md");
    let before = fs::read(&prompt).unwrap();
    // The persona that is there is another one.
    add(&folder, &["curator"]).refused(2, "nothing is written over");
    assert_eq!(fs::read(&prompt).unwrap(), before);
    assert_eq!(text_of(&path), plan);
    add(&folder, &["testr"]).refused(2, "did you mean `tester`?");
    add(&folder, &["tester", "--schedule", "61 * * * *"]).refused(2, "nothing was written");
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
    add(&folder, &["profiler"]).refused(2, "no TOML");
    assert!(!folder.join(".jules/personas/profiler").exists());
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
        text.contains("STREAK") && text.contains(entry.persona_id.as_str()),
        "{text}"
    );
}
