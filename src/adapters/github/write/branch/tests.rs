use serde_json::{Value, json as value};

use super::*;
use crate::adapters::github::scripted::{Outcome, json, lost, set};

fn exists() -> Outcome {
    json(200, &value!({ "object": { "sha": "2b" } }))
}

fn absent() -> Outcome {
    json(404, &Value::Null)
}

async fn make(outcomes: impl IntoIterator<Item = Outcome>) -> Result<(), Failure> {
    let set = set(outcomes);
    let made = set
        .client
        .create_branch_once(&"phileas/a-1".into(), &"1f".into())
        .await;
    assert!(set.script.is_used_up());
    made
}

#[tokio::test]
async fn a_branch_that_exists_is_left_as_it_is() {
    let taken = || json(422, &value!({ "message": "Reference already exists" }));
    make([json(201, &value!({}))]).await.unwrap();
    make([taken(), exists()]).await.unwrap();
    make([lost(), exists()]).await.unwrap();
    // 422 for another reason.
    let none = || json(200, &value!([]));
    let failure = make([taken(), absent(), none()]).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
    let failure = make([lost(), absent()]).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Retry { after: None });
}

#[tokio::test]
async fn a_pull_that_points_there_already_is_fine() {
    let points_at = |branch: &str| json(200, &value!({ "base": { "ref": branch } }));
    for (outcomes, fine) in [
        (vec![json(200, &value!({}))], true),
        (vec![json(422, &value!({})), points_at("main")], true),
        (vec![json(422, &value!({})), points_at("dev")], false),
        (vec![lost(), points_at("main")], true),
        (vec![lost(), points_at("dev")], false),
    ] {
        let set = set(outcomes);
        let done = set
            .client
            .retarget_pull(PullNumber(3), &"main".into())
            .await;
        assert_eq!(done.is_ok(), fine, "{done:?}");
        assert_eq!(set.script.seen()[0].body, value!({ "base": "main" }));
    }
}

#[tokio::test]
async fn a_branch_in_the_way_is_named_with_the_command_that_moves_it() {
    let blocked = json(422, &value!({ "message": "Reference update failed" }));
    let listed = json(
        200,
        &value!([{ "ref": "refs/heads/phileas-2" }, { "ref": "refs/heads/phileas" }]),
    );
    let failure = make([blocked, absent(), listed]).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
    for words in [
        "`phileas/a-1` beside the branch `phileas`",
        "gh api -X POST repos/acme/widget/branches/phileas/rename -f new_name=moved-phileas",
        "git push origin --delete phileas",
    ] {
        assert!(failure.detail.contains(words), "{words}: {failure}");
    }
}

/// A branch's name may contain anything that a shell acts on, but no space.
#[tokio::test]
async fn a_branch_in_the_way_does_nothing_in_the_shell_of_who_copies_the_command() {
    let command = set([]).client.rename_command("a/$(id);'b");
    for words in [
        r"gh api -X POST 'repos/acme/widget/branches/a/$(id);'\''b/rename' -f 'new_name=moved-a-$(id);'\''b'",
        r"git push origin --delete 'a/$(id);'\''b'",
    ] {
        assert!(command.contains(words), "{words}: {command}");
    }
}

#[tokio::test]
async fn a_rule_in_the_way_is_named_with_the_branch() {
    let said =
        "Repository rule violations found\n\nCannot create ref due to creations being restricted.";
    let refused = json(422, &value!({ "message": said }));
    let rules = json(
        200,
        &value!([{ "type": "creation" }, { "type": "deletion" }]),
    );
    let failure = make([refused, absent(), rules]).await.unwrap_err();
    for words in [
        "the branch `phileas/a-1` of acme/widget",
        "creations being restricted",
        "the rules in force are creation;",
        "phileas doctor --repo acme/widget",
    ] {
        assert!(failure.detail.contains(words), "{words}: {failure}");
    }
}

#[test]
fn names_are_in_the_way_as_folders_of_one_another() {
    let names = ["a/b", "c", "jules-1", "jules/fix"].map(str::to_owned);
    for (name, blocking) in [
        ("jules", Some("jules/fix")),
        ("jules/fix/more", Some("jules/fix")),
        ("jules/fix", None),
        ("a", Some("a/b")),
        ("a/c", None),
        ("c/d/e", Some("c")),
        ("jule", None),
    ] {
        assert_eq!(find_blocking_branch(name, &names), blocking, "{name}");
    }
}
