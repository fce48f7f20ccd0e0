//! Listings, filters, pages and what knobs hide.

use super::*;

#[test]
fn unknown_kinds() {
    let scenario = Scenario {
        unknown_state: Some("REVIEWING".into()),
        unknown_activity: Some("codeReviewed".into()),
        unknown_artifact: Some("trace".into()),
        unknown_output: Some("report".into()),
        ..Scenario::with_ending(Ending::Changes).with_minutes(10.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "REVIEWING");
    bench.wait_for_state(&id, "COMPLETED");
    assert_eq!(bench.count_activities(&id, "codeReviewed"), 1);
    assert!(
        bench.get_session(&id)["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .any(|output| output.get("report").is_some())
    );
    assert!(
        bench
            .list_activities(&id)
            .iter()
            .any(|a| a["artifacts"][0].get("trace").is_some())
    );
}

#[test]
fn new_sessions_may_be_hidden_for_a_while() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.fresh_activities_404_seconds = 60;
    bench.knobs.fresh_session_404_seconds = 20;
    bench.knobs.listing_lag_seconds = 90;
    let id = bench.create_session("t", json!({}));
    let activities = format!("/v1alpha/sessions/{id}/activities");
    assert_eq!(bench.get_status(&format!("/v1alpha/sessions/{id}")), 404);
    bench.pass_time(30);
    assert_eq!(
        (
            bench.get_status(&format!("/v1alpha/sessions/{id}")),
            bench.get_status(&activities)
        ),
        (200, 404)
    );
    assert_eq!(bench.get("/v1alpha/sessions"), json!({}));
    bench.pass_time(70);
    assert_eq!(bench.get_status(&activities), 200);
    assert_eq!(
        bench.get("/v1alpha/sessions")["sessions"][0]["id"],
        id.as_str()
    );
}

#[test]
fn empty_updates_and_missing_originators() {
    let scenario = Scenario {
        progress: Some(vec![String::new(), "Testing".into()]),
        no_originator: true,
        ..Scenario::with_ending(Ending::NoChange).with_minutes(9.0)
    };
    let mut bench = Bench::new(vec![scenario]);
    bench.knobs.activity_id_in_name_only = true;
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let activities = bench.list_activities(&id);
    assert!(activities.iter().any(|a| a["progressUpdated"] == json!({})));
    assert!(
        activities
            .iter()
            .all(|a| a.get("originator").is_none() && a.get("id").is_none())
    );
    let name = activities[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(bench.get(&format!("/v1alpha/{name}")), activities[0]);
}

#[test]
fn sources_come_from_the_installed_repositories() {
    let mut bench = scripted_bench(Ending::Changes);
    bench
        .github
        .seed(&Seed::new("acme", "other", files(&[("a", "a")])), bench.now);
    bench.jules.install_app(
        "octocat",
        Installed {
            more_branches: 500,
            ..Installed::new("ACME", "Other")
        },
    );
    bench
        .jules
        .install_app("octocat", Installed::new("acme", "gone"));
    let all = bench.get("/v1alpha/sources?pageSize=1");
    assert_eq!(all["sources"][0]["name"], "sources/github/acme/widget");
    assert_eq!(
        all["sources"][0]["githubRepo"]["defaultBranch"]["displayName"],
        "main"
    );
    assert!(all["sources"][0]["githubRepo"].get("isPrivate").is_none());
    let token = all["nextPageToken"].as_str().unwrap();
    let rest = bench.get(&format!("/v1alpha/sources?pageToken={token}"));
    assert_eq!(rest["sources"].as_array().unwrap().len(), 1);
    assert_eq!(
        rest["sources"][0]["githubRepo"]["branches"]
            .as_array()
            .unwrap()
            .len(),
        501
    );
    let one = bench.get("/v1alpha/sources?filter=name%3Dsources/github/acme/widget+OR+name%3Dsources/github/acme/none");
    assert_eq!(one["sources"].as_array().unwrap().len(), 1);
    assert_eq!(
        bench.get("/v1alpha/sources/github/acme/other")["id"],
        "github/ACME/Other"
    );
    assert_eq!(bench.get_status("/v1alpha/sources/github/acme/none"), 404);
    bench.knobs.source_case_changed = true;
    assert_eq!(
        bench.get("/v1alpha/sources")["sources"][0]["name"],
        "sources/github/Acme/Widget"
    );
}

#[test]
fn listings_page_from_new_to_old_while_new_ones_come() {
    let mut bench = scripted_bench(Ending::Changes);
    let mut ids: Vec<String> = (0..5)
        .map(|n| bench.create_session(&format!("t{n}"), json!({})))
        .collect();
    ids.reverse();
    let first = bench.get("/v1alpha/sessions?pageSize=2");
    bench.create_session("late", json!({}));
    let token = first["nextPageToken"].as_str().unwrap();
    let second = bench.get(&format!("/v1alpha/sessions?pageSize=100&pageToken={token}"));
    let seen: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["sessions"].as_array().unwrap())
        .map(|session| session["id"].as_str().unwrap())
        .collect();
    assert_eq!(seen, ids);
    assert!(second.get("nextPageToken").is_none());
    bench.knobs.listing_order = ListingOrder::Unordered;
    let mut all: Vec<String> = Vec::new();
    let mut token = String::new();
    loop {
        let page = bench.get(&format!("/v1alpha/sessions?pageSize=4&pageToken={token}"));
        all.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["id"].as_str().unwrap().to_owned()),
        );
        match page["nextPageToken"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn knobs_hide_titles_and_prompts() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.title = TitleKept::Dropped;
    bench.knobs.listing_without_prompt = true;
    bench.knobs.session_name_bare = true;
    let id = bench.create_session("marker", json!({}));
    let listed = bench.get("/v1alpha/sessions")["sessions"][0].clone();
    assert!(listed.get("title").is_none() && listed.get("prompt").is_none());
    assert_eq!(listed["name"], id.as_str());
    assert_eq!(bench.get_session(&id)["prompt"], "Do marker");
    assert_eq!(bench.books.sessions[0].title.as_deref(), Some("marker"));
    bench.knobs.title = TitleKept::Truncated;
    let id = bench.create_session(&"x".repeat(70), json!({}));
    assert_eq!(bench.get_session(&id)["title"], "x".repeat(60));
}

#[test]
fn activities_are_read_incrementally_or_page_by_page() {
    let mut bench = scripted_bench(Ending::Changes);
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let all = bench.list_activities(&id);
    let times: Vec<&str> = all
        .iter()
        .map(|a| a["createTime"].as_str().unwrap())
        .collect();
    let instants: Vec<Timestamp> = times.iter().map(|t| t.parse().unwrap()).collect();
    assert!(instants.is_sorted());
    assert!(
        instants.windows(2).any(|pair| pair[0] == pair[1]),
        "equal timestamps occur: {times:?}"
    );
    let filter = format!("create_time%3E%22{}%22", times[1]);
    let newer = bench.get(&format!(
        "/v1alpha/sessions/{id}/activities?filter={filter}"
    ));
    let expected = instants.iter().filter(|at| **at > instants[1]).count();
    assert_eq!(newer["activities"].as_array().unwrap().len(), expected);
    let page = bench.get(&format!("/v1alpha/sessions/{id}/activities?pageSize=2"));
    let token = page["nextPageToken"].as_str().unwrap();
    let rest = bench.get(&format!(
        "/v1alpha/sessions/{id}/activities?pageToken={token}"
    ));
    assert_eq!(rest["activities"].as_array().unwrap().len(), all.len() - 2);
    let (status, body) = bench.send_request(
        Method::GET,
        &format!("/v1alpha/sessions/{id}/activities?createTime=x"),
        "",
    );
    assert_eq!(status, 400);
    assert!(String::from_utf8_lossy(&body).contains(r#"Unknown name \"createTime\": Cannot bind query parameter. Field 'createTime' could not be found in request message."#));
    bench.knobs.activity_filter = false;
    assert_eq!(
        bench.get_status(&format!(
            "/v1alpha/sessions/{id}/activities?filter={filter}"
        )),
        400
    );
}

#[test]
fn outputs_may_come_after_the_state() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.outputs_lag_seconds = 120;
    let id = bench.create_session("t", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    assert!(bench.get_session(&id).get("outputs").is_none());
    bench.pass_time(121);
    assert!(bench.get_session(&id).get("outputs").is_some());
}

#[test]
fn verbs_answer_in_three_forms() {
    let mut bench = scripted_bench(Ending::Changes);
    let id = bench.create_session("t", json!({}));
    for (form, length) in [(VerbReply::EmptyBody, 0), (VerbReply::EmptyObject, 2)] {
        bench.knobs.approve_reply = form;
        let (status, body) = bench.send_request(
            Method::POST,
            &format!("/v1alpha/sessions/{id}:approvePlan"),
            "",
        );
        assert_eq!((status, body.len()), (200, length));
    }
    bench.knobs.approve_reply = VerbReply::Session;
    let (_, body) = bench.send_request(
        Method::POST,
        &format!("/v1alpha/sessions/{id}:approvePlan"),
        "{}",
    );
    let session: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(session["id"], id.as_str());
    assert!(session.get("sourceContext").is_none());
}
