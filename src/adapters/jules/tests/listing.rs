//! Tests listings that are unordered, overlapping, endless, and full of other repositories' sessions.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{KeyUsage, ListingNeed, Sessions};
use phileas_domain::model::{Marker, PromptLine, PullNumber, RepositoryId};
use serde_json::{Value, json};

use super::super::listing::MAX_PAGES;
use super::stage::{
    Reply, Scripted, at, marker, ok, refusal, repository, size_of, stage, too_large,
};
use crate::runtime::ports::{Disposition, ReadJules as _, WriteJules as _};

fn now() -> Timestamp {
    at("2026-01-05T12:00:00Z")
}

fn ago(minutes: i64) -> Timestamp {
    now()
        .checked_sub(SignedDuration::from_mins(minutes))
        .unwrap()
}

/// A session of this repository that was created this many minutes ago.
fn ours(id: u64, minutes: i64) -> Value {
    json!({"id": id.to_string(), "createTime": ago(minutes).to_string(), "state": "IN_PROGRESS",
           "sourceContext": {"source": "sources/github/Acme/Widget"}})
}

fn page(sessions: &[Value], next: &str) -> Reply {
    ok(json!({"sessions": sessions, "nextPageToken": next}))
}

const DAYS: i64 = 24 * 60;

fn since(minutes: i64) -> ListingNeed {
    ListingNeed::Since(ago(minutes))
}

async fn list(scripted: &Scripted, need: ListingNeed) -> Sessions {
    let sessions = scripted
        .jules
        .list_sessions(&repository(), &need, now())
        .await
        .unwrap();
    assert!(scripted.stage.is_used_up());
    assert_eq!(sessions.taken_at, now());
    sessions
}

fn ids(sessions: &Sessions) -> Vec<&str> {
    sessions
        .sessions
        .iter()
        .map(|session| session.id.as_str())
        .collect()
}

#[tokio::test]
async fn an_empty_account_is_an_empty_object() {
    let scripted = stage([ok(json!({}))]);
    let sessions = list(&scripted, since(0)).await;
    assert_eq!(
        (ids(&sessions).len(), sessions.since, sessions.archived),
        (0, None, false)
    );
    assert_eq!(scripted.stage.lines(), ["GET /sessions?pageSize=100"]);
}

#[tokio::test]
async fn while_the_order_holds_a_listing_stops_where_it_may() {
    let scripted = stage([
        page(&[ours(5, 1), ours(4, 2 * DAYS)], "a"),
        page(&[ours(3, 3 * DAYS), ours(2, 4 * DAYS)], "b"),
    ]);
    let sessions = list(&scripted, since(60)).await;
    assert_eq!(ids(&sessions), ["2", "3", "4", "5"]);
    // It reaches back a day at least, because the key's use is counted over a day.
    assert_eq!(sessions.since, Some(ago(DAYS)));
    assert!(!sessions.archived);
    assert_eq!(
        scripted.stage.lines()[1],
        "GET /sessions?pageSize=100&pageToken=a"
    );
}

#[tokio::test]
async fn an_order_that_broke_is_not_relied_on_any_more() {
    let scripted = stage([
        page(&[ours(1, 9 * DAYS), ours(2, 5)], "a"),
        page(&[ours(3, 8 * DAYS)], "b"),
        page(&[ours(4, 3)], ""),
    ]);
    let sessions = list(&scripted, since(60)).await;
    assert_eq!(ids(&sessions), ["1", "3", "2", "4"]);
    assert_eq!(sessions.since, None);
}

#[tokio::test]
async fn what_must_prove_an_absence_reads_everything_and_the_archive() {
    let scripted = stage([
        page(&[ours(5, 1)], "a"),
        page(&[ours(4, 9 * DAYS)], "b"),
        page(&[ours(3, 10 * DAYS)], ""),
        page(&[ours(2, 2), ours(5, 1)], ""),
    ]);
    let sessions = list(&scripted, ListingNeed::CompleteSince(ago(30))).await;
    assert_eq!(ids(&sessions), ["3", "4", "2", "5"]);
    assert!(sessions.covers(ago(30)) && sessions.since.is_none());
    assert_eq!(
        scripted.stage.lines()[3],
        "GET /sessions?pageSize=100&filter=archived+%3D+true"
    );
    let archived: Vec<_> = sessions
        .sessions
        .iter()
        .map(|session| session.archived)
        .collect();
    assert_eq!(archived, [false, false, true, true]);
}

#[tokio::test]
async fn a_refused_archive_is_said_to_be_missing() {
    let scripted = stage([
        page(&[ours(1, 1)], ""),
        refusal(400, "INVALID_ARGUMENT", "bad filter"),
    ]);
    let sessions = list(&scripted, ListingNeed::Everything).await;
    assert!(!sessions.archived && !sessions.covers(now()));
    assert_eq!(ids(&sessions), ["1"]);
}

#[tokio::test]
async fn a_failed_page_is_a_failed_listing() {
    let scripted = stage([
        page(&[ours(1, 1)], "a"),
        refusal(403, "PERMISSION_DENIED", "no"),
    ]);
    let failure = scripted
        .jules
        .list_sessions(&repository(), &ListingNeed::Everything, now())
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
}

#[tokio::test]
async fn of_two_pictures_of_a_session_the_later_one_is_kept() {
    let picture = |state: &str, minutes| {
        let mut session = ours(1, 30);
        session["state"] = state.into();
        session["updateTime"] = ago(minutes).to_string().into();
        session
    };
    let scripted = stage([
        page(&[picture("COMPLETED", 1)], "a"),
        page(&[picture("IN_PROGRESS", 9)], ""),
    ]);
    let sessions = list(&scripted, since(0)).await;
    assert_eq!(sessions.sessions.len(), 1);
    assert!(!sessions.sessions[0].state.is_live());
}

#[tokio::test]
async fn others_sessions_count_for_the_key_and_are_dropped() {
    let other = |id: u64, minutes, state: &str| {
        let mut session = ours(id, minutes);
        session["sourceContext"]["source"] = "sources/github/acme/other".into();
        session["prompt"] = "Tidy up.".into();
        session["state"] = state.into();
        session
    };
    let mut lone = ours(8, 7);
    lone.as_object_mut().unwrap().remove("sourceContext");
    let mut marked = lone.clone();
    marked["id"] = "9".into();
    marked["title"] = format!("x{}", marker().title_suffix()).into();
    assert!(Marker::from_title(marked["title"].as_str().unwrap()).is_some());
    let scripted = stage([page(
        &[
            ours(1, 1),
            other(2, 2, "COMPLETED"),
            other(3, 3, "PAUSED"),
            other(4, DAYS - 1, "FAILED"),
            other(5, DAYS, "DREAMING"),
            lone,
            marked,
        ],
        "",
    )]);
    let sessions = list(&scripted, since(0)).await;
    assert_eq!(ids(&sessions), ["9", "1"]);
    assert_eq!(sessions.sessions[0].source, None);
    let counted = KeyUsage {
        active: 5,
        created_last_day: 6,
    };
    assert_eq!(sessions.key, counted);
}

/// A listing is kept in memory, and is read for less than it contains.
#[tokio::test]
async fn a_listing_keeps_no_patches_but_knows_of_changes() {
    let patch = "+line\n".repeat(1_000);
    let outputs = [
        json!({ "pullRequest": { "url": "https://github.com/acme/widget/pull/5", "description": patch } }),
        json!({ "changeSet": { "gitPatch": { "unidiffPatch": patch, "suggestedCommitMessage": patch } } }),
        json!({ "changeSet": { "gitPatch": { "unidiffPatch": "", "baseCommitId": patch } } }),
        json!({ "somethingNew": patch }),
    ];
    let sessions = (1..).zip(outputs).map(|(id, output)| {
        let mut session = ours(id, 1);
        session["outputs"] = json!([output]);
        session
    });
    let sessions = sessions.collect::<Vec<_>>();
    let scripted = stage([page(&sessions, ""), page(&sessions, "")]);
    let account = scripted.client.read_account(&since(0), now()).await;
    let kept = format!("{:?}", account.unwrap().sessions);
    assert!(kept.contains("pull/5") && !kept.contains("+line"), "{kept}");
    let listed = list(&scripted, since(0)).await;
    let known: Vec<_> = listed
        .sessions
        .iter()
        .map(|session| (session.has_changes, session.pulls.len()))
        .collect();
    assert_eq!(known, [(true, 1), (true, 0), (false, 0), (false, 0)]);
}

#[tokio::test]
async fn archived_sessions_hold_no_place() {
    let mut paused = ours(1, 1);
    paused["state"] = "PAUSED".into();
    let scripted = stage([page(&[], ""), page(&[paused], "")]);
    let sessions = list(&scripted, ListingNeed::Everything).await;
    let counted = KeyUsage {
        active: 0,
        created_last_day: 1,
    };
    assert_eq!(sessions.key, counted);
}

#[tokio::test]
async fn the_limit_of_pages_is_owned_up_to() {
    let endless = |ordered: bool| {
        (0..MAX_PAGES).map(move |number| {
            let minutes = i64::try_from(number).unwrap();
            let minutes = if ordered { minutes } else { 1_000 - minutes };
            page(&[ours(number as u64, minutes)], &format!("page {number}"))
        })
    };
    let archive = || page(&[], "");
    let oldest = ago(MAX_PAGES as i64 - 1);

    let scripted = stage(endless(true).chain([archive()]));
    let sessions = list(&scripted, ListingNeed::Everything).await;
    assert_eq!(sessions.sessions.len(), MAX_PAGES);
    assert!(!sessions.covers(oldest) && sessions.covers(ago(MAX_PAGES as i64 - 2)));

    let scripted = stage(endless(false).chain([archive()]));
    let sessions = list(&scripted, ListingNeed::Everything).await;
    assert_eq!(sessions.since, Some(now()));
}

#[tokio::test]
async fn a_listing_that_goes_round_in_circles_proves_nothing() {
    let scripted = stage([
        page(&[ours(1, 1)], "a"),
        page(&[ours(1, 1)], "a"),
        page(&[], ""),
    ]);
    let sessions = list(&scripted, ListingNeed::Everything).await;
    assert_eq!(sessions.since, Some(now()));
    assert_eq!(ids(&sessions), ["1"]);
}

#[tokio::test]
async fn a_session_without_an_id_could_be_any() {
    let mut nameless = ours(1, 1);
    nameless["id"] = "".into();
    let scripted = stage([page(&[nameless, ours(2, 2)], ""), page(&[], "")]);
    let sessions = list(&scripted, ListingNeed::Everything).await;
    assert_eq!((ids(&sessions), sessions.since), (vec!["2"], Some(now())));
}

#[tokio::test]
async fn a_session_without_a_time_is_taken_for_new() {
    let mut timeless = ours(1, 0);
    timeless["createTime"] = "yesterday".into();
    let scripted = stage([page(&[timeless], "")]);
    let sessions = list(&scripted, since(0)).await;
    assert_eq!(sessions.sessions[0].created_at, now());
    assert_eq!(sessions.key.created_last_day, 1);
}

/// A session of the name that the repository had once, with the line of a repository in its prompt.
fn from_before_the_rename(id: u64, repository: u64) -> Value {
    let line = PromptLine {
        marker: marker(),
        repository: RepositoryId(repository),
        track: "default".into(),
        seq: 1,
        slot: "".into(),
        persona: "refactor".into(),
    };
    let mut session = ours(id, 9);
    session["sourceContext"]["source"] = "sources/github/acme/gadget".into();
    session["prompt"] = format!("Tidy up.\n\n{}", line.render()).into();
    session["outputs"] = json!([{"pullRequest": {"url": "https://github.com/acme/gadget/pull/5"}}]);
    session
}

#[tokio::test]
async fn a_session_from_before_a_rename_is_ours_by_our_line() {
    let scripted = stage([
        page(
            &[
                from_before_the_rename(1, repository().id.0),
                from_before_the_rename(2, 7),
            ],
            "",
        ),
        ok(from_before_the_rename(1, repository().id.0)),
    ]);
    let sessions = scripted
        .jules
        .list_sessions(&repository(), &since(0), now())
        .await
        .unwrap();
    assert_eq!(ids(&sessions), ["1"]);
    assert_eq!(sessions.sessions[0].pulls, [PullNumber(5)]);
    assert_eq!(sessions.key.active, 2);
    let read = scripted
        .jules
        .read_session(&"1".into())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(read.pulls, [PullNumber(5)]);
}

/// Only reading it shows that, and the engine does so where it matters.
#[tokio::test]
async fn a_session_under_another_name_that_hides_its_prompt_may_be_ours() {
    let mut hidden = from_before_the_rename(1, repository().id.0);
    hidden.as_object_mut().unwrap().remove("prompt");
    let scripted = stage([page(&[hidden], "")]);
    let sessions = list(&scripted, since(0)).await;
    assert_eq!(ids(&sessions), ["1"]);
    let only = &sessions.sessions[0];
    assert_eq!((only.elsewhere, &only.source), (true, &None));
}

#[tokio::test]
async fn the_name_that_was_typed_and_the_present_one_are_both_ours() {
    let named = |id: u64, name: &str| {
        let mut session = ours(id, 9);
        session["sourceContext"]["source"] = format!("sources/github/{name}").into();
        session["prompt"] = "Tidy up.".into();
        session
    };
    let renamed = phileas_domain::engine::Repository {
        name: "acme/Sprocket".parse().unwrap(),
        ..repository()
    };
    let scripted = stage([
        page(
            &[
                named(1, "acme/widget"),
                named(2, "acme/SPROCKET"),
                named(3, "acme/gadget"),
            ],
            "",
        ),
        ok(json!({"id": "4"})),
    ]);
    let sessions = scripted
        .jules
        .list_sessions(&renamed, &since(0), now())
        .await
        .unwrap();
    assert_eq!(ids(&sessions), ["1", "2"]);
    let create = phileas_domain::engine::CreateSession {
        source: renamed.name,
        ..super::stage::create()
    };
    scripted.jules.create_session(&create).await.unwrap();
    let sent: Value = serde_json::from_slice(scripted.stage.requests()[1].body()).unwrap();
    assert_eq!(
        sent["sourceContext"]["source"], "sources/github/acme/SPROCKET",
        "the present name, as Jules writes it"
    );
}

#[tokio::test]
async fn a_page_that_is_too_large_is_asked_for_in_smaller_ones() {
    let scripted = stage([
        page(&[ours(1, 1)], "a"),
        too_large(),
        page(&[ours(2, 2)], "b"),
        page(&[ours(3, 3)], ""),
    ]);
    let sessions = list(&scripted, since(DAYS)).await;
    assert_eq!(
        (ids(&sessions), sessions.since),
        (vec!["3", "2", "1"], None)
    );
    let sizes: Vec<_> = scripted
        .stage
        .lines()
        .iter()
        .map(|line| size_of(line))
        .collect();
    assert_eq!(sizes, [100, 100, 25, 50]);
}
