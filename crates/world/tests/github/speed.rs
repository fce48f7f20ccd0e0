use std::time::Duration;

use data_encoding::BASE64;
use phileas_world::clock::later_by;
use serde_json::json;

use crate::stage::Stage;

/// Seconds of processor time that this thread has used. What other programs take of the machine is none of it.
fn processor_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| -> f64 { fields[at].parse().unwrap() };
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// 48 virtual hours with 2,000 requests: a simulation of a thousand seeds has to be affordable. The bound is loose,
/// since machines differ.
#[test]
fn two_thousand_requests_take_about_a_second() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    stage
        .world
        .github_mut()
        .add_hook(repo, "http://127.0.0.1:1/", Some("s"), &["*"], now);
    let read = "query { repository(owner: \"olivia\", name: \"garden\") { ref(qualifiedName: \"refs/heads/jules\") { target { oid } }
      state: object(expression: \"jules:.jules/cycle_state.json\") { ... on Blob { text } }
      pullRequests(first: 20, states: [OPEN]) { nodes { number title headRefOid author { login } } }
      issues(first: 20, states: [OPEN]) { nodes { number title labels(first: 10) { nodes { name } } } } } }";
    let commit = "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }";
    let state = "{\"version\": 5}\n".repeat(1_000);
    let before = processor_seconds();
    for n in 0..1_000 {
        let body = stage.post_graphql(read, json!({}));
        let head = body["data"]["repository"]["ref"]["target"]["oid"].clone();
        let contents = BASE64.encode(format!("{state}{n}").as_bytes());
        let input = json!({"input": {
            "branch": {"repositoryNameWithOwner": "olivia/garden", "branchName": "jules"}, "message": {"headline": "x"},
            "expectedHeadOid": head, "fileChanges": {"additions": [{"path": ".jules/cycle_state.json", "contents": contents}]},
        }});
        let done = stage.post_graphql(commit, input);
        assert!(done["errors"].is_null(), "{done}");
        let next = later_by(stage.world.now(), Duration::from_secs(173));
        stage.world.advance_to(next);
        for delivery in stage.world.take_due_deliveries() {
            stage.world.delivery_done(delivery.id, Some(202));
        }
    }
    let took = processor_seconds() - before;
    assert_eq!(stage.world.books().requests.len(), 2_000);
    assert!(took < 10.0, "{took:.1} s");
    println!("2,000 requests over 48 virtual hours: {took:.1} s of processor time");
}
