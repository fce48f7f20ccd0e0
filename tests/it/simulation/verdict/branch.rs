//! What was done to the ledger's branch as a whole, under any name of its repository.

use std::collections::BTreeSet;

use phileas_world::books::Write;

use super::BY_FORCE;

/// The branch, as its writes name it.
const BRANCH: &str = "refs/heads/jules";

/// It is born once, and then only grows.
pub(super) fn branch(writes: &[Write], names: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut births = 0;
    let own = writes.iter().filter(|write| {
        names.contains(&write.repository) && write.detail["ref"].as_str() == Some(BRANCH)
    });
    for write in own {
        match write.what.as_str() {
            "ref.moved" if write.detail["forced"] == true => {
                found.push(format!("the ledger {BY_FORCE} at {}", write.at));
            }
            "ref.deleted" => found.push(format!(
                "the ledger was deleted by {} at {}",
                write.actor, write.at
            )),
            "ref.created" => births += 1,
            _ => {}
        }
    }
    if births > 1 {
        found.push(format!("the ledger was born {births} times"));
    }
    found
}

#[test]
fn a_branch_that_only_grows_is_one_under_all_its_names() {
    let write = |what: &str, repository: &str, forced: bool| Write {
        at: "2026-01-05T06:00:00Z".parse().unwrap(),
        repository: repository.to_owned(),
        actor: "a user".to_owned(),
        what: what.to_owned(),
        detail: serde_json::json!({"ref": BRANCH, "forced": forced}),
    };
    let names = BTreeSet::from(["acme/new".to_owned(), "acme/old".to_owned()]);
    let born = write("ref.created", "acme/old", false);
    let grown = write("ref.moved", "acme/new", false);
    let foreign = write("ref.deleted", "acme/gadget", false);
    let sound = [born.clone(), grown, foreign];
    assert_eq!(branch(&sound, &names), [""; 0]);
    let forced = [born.clone(), write("ref.moved", "acme/old", true)];
    assert!(branch(&forced, &names)[0].contains(BY_FORCE));
    let again = [
        born.clone(),
        write("ref.deleted", "acme/old", false),
        write("ref.created", "acme/new", false),
    ];
    assert_eq!(branch(&again, &names).len(), 2);
}
