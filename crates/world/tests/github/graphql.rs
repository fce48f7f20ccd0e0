use data_encoding::BASE64;
use phileas_world::Knobs;
use phileas_world::knobs::StaleText;
use serde_json::{Value, json};

use crate::stage::Stage;

const COMMIT: &str = "mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid signature { isValid } } ref { name } }
}";

fn commit_input(expected: &str, additions: &[(&str, &str)], deletions: &[&str]) -> Value {
    let additions: Vec<Value> = additions
        .iter()
        .map(|(path, text)| json!({"path": path, "contents": BASE64.encode(text.as_bytes())}))
        .collect();
    let deletions: Vec<Value> = deletions.iter().map(|path| json!({"path": path})).collect();
    json!({"input": {
        "branch": {"repositoryNameWithOwner": "olivia/garden", "branchName": "jules"},
        "message": {"headline": "phileas: intent", "body": "Phileas-Turn: x"}, "expectedHeadOid": expected,
        "fileChanges": {"additions": additions, "deletions": deletions},
    }})
}

fn branch_head(stage: &Stage) -> String {
    stage
        .world
        .github()
        .branch_head(stage.repo, "jules")
        .unwrap()
        .to_string()
}

#[test]
fn a_commit_lands_only_on_the_head_that_was_read() {
    let mut stage = Stage::new();
    let old = branch_head(&stage);
    let done = stage.post_graphql(
        COMMIT,
        commit_input(
            &old,
            &[(".jules/cycle_state.json", "{\"version\": 5}\n")],
            &[],
        ),
    );
    assert_eq!(
        done["data"]["createCommitOnBranch"]["commit"]["oid"],
        branch_head(&stage),
        "{done}"
    );
    assert_eq!(
        done["data"]["createCommitOnBranch"]["commit"]["signature"]["isValid"],
        true
    );
    let lost = stage.post_graphql(COMMIT, commit_input(&old, &[("x", "y")], &[]));
    assert_eq!(lost["errors"][0]["type"], "STALE_DATA");
    let text = format!("Expected branch to point to \"{old}\" but it did not. Pull and try again.");
    assert_eq!(lost["errors"][0]["message"], text);
    assert_eq!(lost["data"]["createCommitOnBranch"], Value::Null);
    stage.world.knobs_mut().stale_text = StaleText::IsAtButExpected;
    let lost = stage.post_graphql(COMMIT, commit_input(&old, &[("x", "y")], &[]));
    assert!(
        lost["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains(&format!("but expected {old}"))
    );
    let now = branch_head(&stage);
    let missing = stage.post_graphql(COMMIT, commit_input(&now, &[], &["no/such/file"]));
    assert!(
        missing["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("does not exist")
    );
    let mut elsewhere = commit_input(&now, &[("x", "y")], &[]);
    elsewhere["input"]["branch"]["branchName"] = "nowhere".into();
    assert_eq!(
        stage.post_graphql(COMMIT, elsewhere)["errors"][0]["type"],
        "NOT_FOUND"
    );
    assert_eq!(branch_head(&stage), now);
}

#[test]
fn the_read_of_a_tick_is_answered_in_one_query() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let number = github.open_issue(repo, "Fix it", "Body", &[], "outsider", now);
    github.add_label(repo, number, "phileas:sentinel", "walter", now);
    github.edit_body(repo, number, "Another body", "outsider", now);
    github.comment(
        repo,
        number,
        "/phileas status",
        "google-labs-jules[bot]",
        now,
    );
    let query = "query Tick($owner: String!, $name: String!, $withRate: Boolean = true) {
      repository(owner: $owner, name: $name) {
        id databaseId
        defaultBranchRef { name target { oid } }
        ledger: ref(qualifiedName: \"refs/heads/jules\") { target { oid ... on Commit { file(path: \".jules/cycle_state.json\") { object { ... on Blob { text byteSize } } } } } }
        state: object(expression: \"jules:.jules/cycle_state.json\") { __typename ...text }
        folder: object(expression: \"HEAD:src\") { ... on Tree { entries { name path type mode extension size } } }
        none: object(expression: \"HEAD:no/such\") { id }
        issues(first: 10, states: [OPEN], filterBy: {labels: [\"phileas:sentinel\"]}) {
          totalCount
          nodes {
            number title lastEditedAt
            author { __typename login }
            labels(first: 5) { nodes { name } }
            timelineItems(first: 10, itemTypes: [LABELED_EVENT, RENAMED_TITLE_EVENT]) { nodes { __typename ... on LabeledEvent { id createdAt actor { login } label { name } } } }
            comments(last: 3) { nodes { databaseId body author { __typename login } } pageInfo { hasPreviousPage } }
            userContentEdits(first: 5) { nodes { editedAt diff editor { login } } }
          }
        }
      }
      rateLimit @include(if: $withRate) { cost remaining }
    }
    fragment text on Blob { text isBinary isTruncated }";
    let body = stage.post_graphql(query, json!({"owner": "Olivia", "name": "Garden"}));
    assert_eq!(body["errors"], Value::Null, "{body}");
    let repository = &body["data"]["repository"];
    assert_eq!(
        repository["state"],
        json!({"__typename": "Blob", "text": "{}\n", "isBinary": false, "isTruncated": false})
    );
    assert_eq!(
        repository["ledger"]["target"]["file"]["object"]["byteSize"],
        3
    );
    assert_eq!(
        repository["folder"]["entries"][0],
        json!({"name": "lib.rs", "path": "lib.rs", "type": "blob", "mode": 33188, "extension": ".rs", "size": 16})
    );
    assert_eq!(repository["none"], Value::Null);
    let issue = &repository["issues"]["nodes"][0];
    assert_eq!(
        issue["timelineItems"]["nodes"][0]["actor"]["login"],
        "walter"
    );
    assert_eq!(
        issue["comments"]["nodes"][0]["author"],
        json!({"__typename": "Bot", "login": "google-labs-jules"})
    );
    assert_eq!(
        issue["userContentEdits"]["nodes"][0]["diff"],
        "Another body"
    );
    assert_eq!(issue["lastEditedAt"], "2026-01-05T00:00:00Z");
    assert!(body["data"]["rateLimit"]["remaining"].as_u64().unwrap() < 5_000);
    assert_eq!(stage.world.books().requests.last().unwrap().points, 1);
    // The node id of an event leads back to it.
    let id = issue["timelineItems"]["nodes"][0]["id"].clone();
    let node = stage.post_graphql(
        "query($id: ID!) { node(id: $id) { id ... on LabeledEvent { label { name } } } }",
        json!({"id": id}),
    );
    assert_eq!(node["data"]["node"]["label"]["name"], "phileas:sentinel");
}

#[test]
fn mistakes_are_errors_of_githubs_form() {
    let mut stage = Stage::new();
    let wrong = stage.post_graphql(
        "query Q { repository(owner: \"o\", name: \"n\", size: 1) { oidd ref { name } } }",
        Value::Null,
    );
    assert_eq!(wrong["data"], Value::Null);
    let codes: Vec<_> = wrong["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["extensions"]["code"].as_str().unwrap())
        .collect();
    assert_eq!(
        codes,
        [
            "argumentNotAccepted",
            "undefinedField",
            "missingRequiredArguments"
        ]
    );
    assert_eq!(
        wrong["errors"][1]["message"],
        "Field 'oidd' doesn't exist on type 'Repository'"
    );
    assert_eq!(
        wrong["errors"][1]["path"],
        json!(["query Q", "repository", "oidd"])
    );
    let unknown = stage.post_graphql(
        "{ repository(owner: \"o\", name: \"n\") { id } }",
        Value::Null,
    );
    assert_eq!(
        (
            &unknown["errors"][0]["type"],
            &unknown["data"]["repository"]
        ),
        (&json!("NOT_FOUND"), &Value::Null)
    );
    let unpaged = stage.post_graphql(
        "{ repository(owner: \"olivia\", name: \"garden\") { issues { totalCount } } }",
        Value::Null,
    );
    assert_eq!(
        unpaged["errors"][0]["type"],
        "MISSING_PAGINATION_BOUNDARIES"
    );
    let large = stage.post_graphql(
        "{ repository(owner: \"olivia\", name: \"garden\") { issues(first: 101) { totalCount } } }",
        Value::Null,
    );
    assert_eq!(large["errors"][0]["type"], "EXCESSIVE_PAGINATION");
    let unused = stage.post_graphql("query($x: Int) { viewer { login } }", Value::Null);
    assert_eq!(unused["errors"][0]["extensions"]["code"], "variableNotUsed");
    let missing = stage.post_graphql(
        "query($o: String!) { repository(owner: $o, name: \"n\") { id } }",
        Value::Null,
    );
    assert!(
        missing["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("$o")
    );
    let broken = stage.post_graphql("query { viewer { login }", Value::Null);
    assert!(
        broken["errors"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Parse error")
    );
    let (status, _) = stage.ask_as(
        "nonsense",
        "POST",
        "/graphql",
        json!({"query": "{ viewer { login } }"}),
    );
    assert_eq!(status, 401);
}

#[test]
fn connections_are_walked_in_both_directions() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    for n in 0..7 {
        stage
            .world
            .github_mut()
            .open_issue(repo, &format!("{n}"), "", &[], "trudy", now);
    }
    let query = "query($after: String) { repository(owner: \"olivia\", name: \"garden\") {
      issues(first: 3, after: $after) { nodes { title } edges { cursor } pageInfo { endCursor hasNextPage hasPreviousPage } } } }";
    let (mut seen, mut after, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let body = stage.post_graphql(query, json!({"after": after}));
        let page = &body["data"]["repository"]["issues"];
        seen.extend(
            page["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|node| node["title"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(
        (pages, seen),
        (3, (0..7).map(|n| n.to_string()).collect::<Vec<_>>())
    );
    let last = stage.post_graphql("{ repository(owner: \"olivia\", name: \"garden\") { issues(last: 2, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { title } } } }", Value::Null);
    assert_eq!(
        last["data"]["repository"]["issues"]["nodes"],
        json!([{"title": "1"}, {"title": "0"}])
    );
}

#[test]
fn knobs_spoil_answers_without_undoing_effects() {
    let knobs = Knobs {
        commit_done_although_502: 1.0,
        graphql_partial: 1.0,
        ..Knobs::documented()
    };
    let mut stage = Stage::with_knobs(knobs);
    let old = branch_head(&stage);
    let (status, _) = stage.ask_owner(
        "POST",
        "/graphql",
        json!({"query": COMMIT, "variables": commit_input(&old, &[("x", "y")], &[])}),
    );
    assert_eq!(status, 502);
    assert_ne!(branch_head(&stage), old, "the commit was made all the same");
    let body = stage.post_graphql(
        "{ repository(owner: \"olivia\", name: \"garden\") { id owner { login } } }",
        Value::Null,
    );
    assert!(
        body["errors"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Something went wrong")
    );
    assert_eq!(body["data"]["repository"]["owner"], Value::Null);
    assert!(body["data"]["repository"]["id"].is_string());
}

#[test]
fn labels_comments_and_issues_are_made_by_mutations() {
    let mut stage = Stage::new();
    let ids = stage.post_graphql(
        "{ repository(owner: \"olivia\", name: \"garden\") { id label(name: \"bug\") { id } } }",
        Value::Null,
    );
    let (repo, label) = (
        &ids["data"]["repository"]["id"],
        &ids["data"]["repository"]["label"]["id"],
    );
    let made = stage.post_graphql(
        "mutation($repo: ID!) { createIssue(input: {repositoryId: $repo, title: \"T\", body: \"B\", clientMutationId: \"c1\"}) { clientMutationId issue { id number } } }",
        json!({"repo": repo}),
    );
    assert_eq!(
        made["data"]["createIssue"]["clientMutationId"], "c1",
        "{made}"
    );
    let issue = made["data"]["createIssue"]["issue"]["id"].clone();
    let both = stage.post_graphql(
        "mutation($id: ID!, $label: ID!) {
           addLabelsToLabelable(input: {labelableId: $id, labelIds: [$label]}) { labelable { labels(first: 1) { nodes { name } } } }
           addComment(input: {subjectId: $id, body: \"hi\"}) { commentEdge { node { id body } } }
           addReaction(input: {subjectId: $id, content: EYES}) { reaction { content } }
           closeIssue(input: {issueId: $id, stateReason: NOT_PLANNED}) { issue { state stateReason } }
         }",
        json!({"id": issue, "label": label}),
    );
    assert_eq!(both["errors"], Value::Null, "{both}");
    assert_eq!(
        both["data"]["closeIssue"]["issue"],
        json!({"state": "CLOSED", "stateReason": "NOT_PLANNED"})
    );
    let comment = both["data"]["addComment"]["commentEdge"]["node"]["id"].clone();
    let edited = stage.post_graphql(
        "mutation($id: ID!) { updateIssueComment(input: {id: $id, body: \"edited\"}) { issueComment { body lastEditedAt } } }",
        json!({"id": comment}),
    );
    assert_eq!(
        edited["data"]["updateIssueComment"]["issueComment"]["body"],
        "edited"
    );
    let last = stage.world.books().requests.last().unwrap();
    assert_eq!(
        (last.points, last.fields.as_slice()),
        (5, &["updateIssueComment".to_owned()][..])
    );
}

#[test]
fn the_base_of_a_pull_request_moves_with_a_push_to_it_or_with_its_branch() {
    const BASE: &str = "query { repository(owner: \"olivia\", name: \"garden\") { pullRequest(number: 1) { baseRefOid } } }";
    for follows in [false, true] {
        let mut stage = Stage::with_knobs(Knobs {
            base_oid_follows: follows,
            ..Knobs::documented()
        });
        let (repo, now) = (stage.repo, stage.world.now());
        let push = |stage: &mut Stage, branch: &str| {
            let github = stage.world.github_mut();
            let head = github.branch_head(repo, branch);
            let files = [(format!("{branch}.txt"), Some("More.\n".into()))];
            let commit = github.commit_files(repo, head, &files, "walter", "Add", now);
            github.move_branch(repo, branch, commit, "walter", now);
            commit.to_string()
        };
        let base = |stage: &mut Stage| {
            let answer = stage.post_graphql(BASE, json!({}));
            let oid = &answer["data"]["repository"]["pullRequest"]["baseRefOid"];
            oid.as_str().unwrap().to_owned()
        };
        let github = stage.world.github_mut();
        let first = github.branch_head(repo, "main").unwrap();
        github.create_branch(repo, "topic", first, "walter", now);
        push(&mut stage, "topic");
        let pull = json!({"title": "T", "head": "topic", "base": "main"});
        let (status, _) = stage.ask_owner("POST", "/repos/olivia/garden/pulls", pull);
        assert_eq!((status, base(&mut stage)), (201, first.to_string()));
        let second = push(&mut stage, "main");
        assert_eq!(base(&mut stage) == second, follows);
        push(&mut stage, "topic");
        assert_eq!(base(&mut stage), second);
    }
}
