use serde_json::{Value, json as value};

use super::super::scripted::{Outcome, json, lost, set};
use super::*;

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
        .make_branch_once(&"phileas/a-1".into(), &"1f".into())
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
    let failure = make([taken(), absent()]).await.unwrap_err();
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
        let done = set.client.retarget(PullNumber(3), &"main".into()).await;
        assert_eq!(done.is_ok(), fine, "{done:?}");
        assert_eq!(set.script.seen()[0].body, value!({ "base": "main" }));
    }
}
