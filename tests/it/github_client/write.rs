use phileas::runtime::ports::{Disposition, Issue, ReadGitHub as _, WriteGitHub as _};
use phileas_domain::model::{BranchName, PullNumber};
use serde_json::json;

use super::place::ClientWorld;

#[tokio::test]
async fn a_notice_is_opened_once_found_and_closed() {
    let place = ClientWorld::new();
    let client = place.client();
    let number = client
        .open_notice("ledger_corrupt", "Help", "text")
        .await
        .unwrap();
    let again = place.client();
    assert_eq!(
        again
            .open_notice("ledger_corrupt", "Help", "text")
            .await
            .unwrap(),
        number
    );
    let other = again
        .open_notice("jules_credential", "Key", "text")
        .await
        .unwrap();
    assert_ne!(other, number);
    let keys: Vec<String> = client
        .observe_repository()
        .await
        .unwrap()
        .notices
        .into_iter()
        .map(|notice| notice.key)
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    for _ in 0..2 {
        client.close_notice(number, "fixed").await.unwrap();
    }
    assert_eq!(client.observe_repository().await.unwrap().notices.len(), 1);
    let comments = place.world().github().comments(place.repo, number).count();
    assert_eq!(comments, 1);
    let next = client
        .open_notice("ledger_corrupt", "Help", "text")
        .await
        .unwrap();
    assert_ne!(next, number);
}

#[tokio::test]
async fn a_notice_whose_answer_was_lost_is_not_doubled() {
    for kind in ["drop-after", "timeout-after"] {
        let place = ClientWorld::new();
        let client = place.client();
        place.faults(&json!([{ "method": "POST", "path": "*/issues", "nth": 1,
            "fault": { "kind": kind } }]));
        let number = client.open_notice("turn:x.1", "t", "b").await.unwrap();
        assert_eq!(
            client.open_notice("turn:x.1", "t", "b").await.unwrap(),
            number
        );
        assert_eq!(place.world().github().issues(place.repo).count(), 1);
    }
}

/// A listing that lags does not show what was opened a moment ago.
#[tokio::test]
async fn a_notice_that_no_listing_shows_yet_is_not_opened_again() {
    let place = ClientWorld::new();
    place.world().knobs_mut().replica_lag_seconds = 60;
    let client = place.client();
    let open = || client.open_notice("jules_credential", "Key", "text");
    let number = open().await.unwrap();
    for _ in 0..3 {
        assert_eq!(open().await.unwrap(), number);
    }
    assert_eq!(place.world().github().issues(place.repo).count(), 1);
}

#[tokio::test]
async fn branches_are_made_and_pulls_are_pointed_at_them() {
    let place = ClientWorld::new();
    let client = place.client();
    let head = client
        .observe_repository()
        .await
        .unwrap()
        .repository
        .default_head
        .unwrap();
    let name = BranchName::from("phileas/default/curator-1");
    for _ in 0..2 {
        client.make_branch(&name, &head).await.unwrap();
    }
    let made = place
        .world()
        .github()
        .branch_head(place.repo, name.as_str());
    assert_eq!(made.unwrap().to_string(), head.to_string());
    let bad = client.make_branch(&BranchName::from("a..b"), &head).await;
    assert_eq!(bad.unwrap_err().disposition, Disposition::Refused);
    let missing = client.retarget_pull(PullNumber(99), &name).await;
    assert_eq!(missing.unwrap_err().disposition, Disposition::NotFound);
}

#[tokio::test]
async fn a_status_comment_whose_answer_was_lost_is_not_doubled() {
    let marker = "<!-- phileas:status -->";
    for kind in ["drop-after", "timeout-after"] {
        let place = ClientWorld::new();
        let client = place.client();
        let now = place.world().now();
        let forged = format!("look at me {marker}");
        let issue = {
            let mut world = place.world();
            let github = world.github_mut();
            let issue = github.open_issue(place.repo, "t", "b", &[], "mia", now);
            github.comment(place.repo, issue, &forged, "mia", now);
            issue
        };
        place.faults(&json!([{ "method": "POST", "path": "*/comments", "nth": 1,
            "fault": { "kind": kind } }]));
        let tell = async |known, text: &str| {
            let body = format!("{text} {marker}");
            client.write_status(issue, known, marker, &body).await
        };
        let id = tell(None, "one").await.unwrap();
        assert_eq!(tell(None, "two").await.unwrap(), id);
        assert_eq!(tell(Some(id), "three").await.unwrap(), id);
        let world = place.world();
        let comments = world.github().comments(place.repo, issue);
        let bodies: Vec<_> = comments.map(|one| one.body.clone()).collect();
        assert_eq!(bodies, [forged, format!("three {marker}")]);
    }
}

/// No label on a closed issue approves work. A proposal that a person has closed is none any more.
#[tokio::test]
async fn a_closed_issue_shows_no_work_and_still_is_a_proposals() {
    let place = ClientWorld::new();
    let client = place.client();
    for (closed_will_do, same) in [(true, true), (false, false)] {
        let marker = format!("<!-- phileas:work:{closed_will_do} -->");
        let body = format!("Fix it.\n\n{marker}\n");
        let issue = Issue {
            title: "Fix it",
            body: &body,
            label: "work/bugs",
            about: "Work",
            marker: &marker,
            closed_will_do,
        };
        let first = client.publish_issue(&issue).await.unwrap();
        assert_eq!(
            client.publish_issue(&issue).await.unwrap(),
            first,
            "it is open"
        );
        client.close_notice(first, "no").await.unwrap();
        assert_eq!(client.publish_issue(&issue).await.unwrap() == first, same);
    }
}

/// Agents' words further up in another issue are not the marker.
#[tokio::test]
async fn a_marker_counts_at_the_end_of_a_text_alone() {
    let place = ClientWorld::new();
    let client = place.client();
    let publish = async |marker: &str, text: &str| {
        let body = format!("{text}\n\n{marker}\n");
        let issue = Issue {
            title: "Fix it",
            body: &body,
            label: "work/bugs",
            about: "Work",
            marker,
            closed_will_do: false,
        };
        client.publish_issue(&issue).await.unwrap()
    };
    let (one, two) = ("<!-- phileas:work:a:1 -->", "<!-- phileas:work:b:2 -->");
    let first = publish(one, &format!("Fix it. {two}")).await;
    assert_ne!(publish(two, "Fix it.").await, first);
    assert_eq!(publish(one, "Fix it.").await, first);
}
