//! Tests that activities are read completely once, and then only new ones.

use phileas_domain::engine::Activity;
use serde_json::{Value, json};

use super::super::activities::MAX_PAGES;
use super::stage::{Reply, Scripted, missing, ok, refusal, size_of, stage, too_large};
use crate::runtime::ports::{Disposition, ReadJules as _};

fn activity(id: &str, time: &str) -> Value {
    json!({"id": id, "createTime": format!("2026-01-05T{time}Z"), "agentMessaged": {"agentMessage": id}})
}

fn page(activities: &[Value], next: &str) -> Reply {
    ok(json!({"activities": activities, "nextPageToken": next}))
}

async fn read(scripted: &Scripted) -> Vec<Activity> {
    scripted
        .jules
        .read_activities(&"15".into())
        .await
        .unwrap()
        .unwrap()
}

fn ids(activities: &[Activity]) -> Vec<&str> {
    activities
        .iter()
        .map(|activity| activity.id.as_str())
        .collect()
}

const WHOLE: &str = "GET /sessions/15/activities?pageSize=100";

#[tokio::test]
async fn the_second_reading_asks_for_what_is_new() {
    let scripted = stage([
        page(
            &[activity("a", "10:00:00"), activity("b", "10:05:00.25")],
            "p",
        ),
        page(
            &[activity("b", "10:05:00.25"), activity("c", "10:05:00.25")],
            "",
        ),
        page(
            &[
                activity("c", "10:05:00.25"),
                activity("d", "10:05:00.25"),
                activity("e", "10:06:00"),
            ],
            "",
        ),
        page(&[], ""),
    ]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b", "c"]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b", "c", "d", "e"]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b", "c", "d", "e"]);
    let filter = |time: &str| format!("{WHOLE}&filter=create_time%3E%222026-01-05T{time}Z%22");
    assert_eq!(
        scripted.stage.lines(),
        [
            WHOLE.to_owned(),
            format!("{WHOLE}&pageToken=p"),
            filter("10%3A04%3A00.25"),
            filter("10%3A05%3A00"),
        ]
    );
}

#[tokio::test]
async fn a_refused_filter_is_given_up_for_good() {
    let message = "Unknown name \"filter\": Cannot bind query parameter.";
    let first = || page(&[activity("a", "10:00:00")], "");
    let both = || page(&[activity("a", "10:00:00"), activity("b", "10:01:00")], "");
    let scripted = stage([
        first(),
        refusal(400, "INVALID_ARGUMENT", message),
        both(),
        both(),
    ]);
    assert_eq!(read(&scripted).await.len(), 1);
    assert_eq!(ids(&read(&scripted).await), ["a", "b"]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b"]);
    assert_eq!(scripted.stage.lines()[2..], [WHOLE, WHOLE]);
}

#[tokio::test]
async fn another_refusal_of_the_whole_listing_stands() {
    let scripted = stage([refusal(400, "INVALID_ARGUMENT", "no")]);
    let failure = scripted
        .jules
        .read_activities(&"15".into())
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
}

#[tokio::test]
async fn activities_that_come_out_of_order_are_put_in_order() {
    let scripted = stage([page(
        &[activity("b", "10:01:00"), activity("a", "10:00:00")],
        "",
    )]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b"]);
}

#[tokio::test]
async fn a_session_that_is_gone_is_forgotten() {
    let scripted = stage([
        page(&[activity("a", "10:00:00")], ""),
        missing(),
        page(&[], ""),
    ]);
    read(&scripted).await;
    assert_eq!(
        scripted.jules.read_activities(&"15".into()).await.unwrap(),
        None
    );
    assert!(read(&scripted).await.is_empty());
    assert_eq!(scripted.stage.lines()[2], WHOLE);
}

#[tokio::test]
async fn an_endless_session_is_a_failure_and_not_a_standstill() {
    let scripted = stage((0..MAX_PAGES).map(|page_number| page(&[], &page_number.to_string())));
    let failure = scripted
        .jules
        .read_activities(&"15".into())
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::Retry { after: None });
    assert!(
        failure.detail.contains("more than 100 pages"),
        "{}",
        failure.detail
    );
}

#[tokio::test]
async fn a_page_that_is_too_large_is_asked_for_in_smaller_ones() {
    let scripted = stage([
        too_large(),
        too_large(),
        page(&[activity("a", "10:00:00")], "p"),
        too_large(),
        too_large(),
        page(&[activity("b", "10:01:00")], "q"),
        page(&[activity("c", "10:02:00")], ""),
    ]);
    assert_eq!(ids(&read(&scripted).await), ["a", "b", "c"]);
    let sizes: Vec<_> = scripted
        .stage
        .lines()
        .iter()
        .map(|line| size_of(line))
        .collect();
    assert_eq!(sizes, [100, 25, 6, 12, 3, 1, 2]);
}

#[tokio::test]
async fn one_activity_that_is_too_large_ends_the_reading() {
    let scripted = stage((0..4).map(|_| too_large()));
    let failure = scripted
        .jules
        .read_activities(&"15".into())
        .await
        .unwrap_err();
    assert!(failure.detail.contains("larger than"), "{failure}");
    let sizes: Vec<_> = scripted
        .stage
        .lines()
        .iter()
        .map(|line| size_of(line))
        .collect();
    assert_eq!(sizes, [100, 25, 6, 1]);
}
