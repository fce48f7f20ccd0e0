//! Two comments instead of one: replicas that searched at the same moment both wrote one.

use jiff::{SignedDuration, Timestamp};

use super::*;

/// The comments on an issue, the one that the ledger knows, the one that is edited, and those that are deleted.
type Copies<'a> = (&'a [Value], Option<u64>, u64, &'a [u64]);

fn bot(id: u64, ours: bool, body: &str) -> Value {
    comment(id, ours, by("Bot", "phileas-test"), "NONE", body)
}

fn own(id: u64) -> Value {
    bot(id, true, BEFORE)
}

/// Written this many seconds after the racing ones.
fn later(seconds: i64, mut comment: Value) -> Value {
    let first: Timestamp = comment["createdAt"].as_str().unwrap().parse().unwrap();
    comment["createdAt"] = (first + SignedDuration::from_secs(seconds))
        .to_string()
        .into();
    comment
}

/// Edited since, by this account; `None` stands for a deleted account.
fn edited(editor: Value, mut comment: Value) -> Value {
    comment["lastEditedAt"] = "2026-01-06T00:00:00Z".into();
    comment["editor"] = editor;
    comment
}

/// The numbers of the comments that were deleted, of the requests behind the listing and the edit.
fn deleted(lines: &[String]) -> Vec<u64> {
    Vec::from_iter(lines.iter().map(|line| {
        assert!(line.starts_with("DELETE"), "{line}");
        let (_, id) = line.rsplit_once('/').unwrap();
        id.parse::<u64>().unwrap()
    }))
}

async fn hold(cases: &[Copies<'_>]) {
    for (comments, known, edited, gone) in cases {
        let mut answers = vec![json(200, &page(comments)), json(200, &value!({}))];
        answers.extend(gone.iter().map(|_| json(204, &Value::Null)));
        let set = set(answers);
        assert_eq!(write_status(&set, *known).await.unwrap(), *edited);
        let lines = set.script.lines().split_off(1);
        let end = format!("/issues/comments/{edited}");
        assert!(
            lines[0].starts_with("PATCH") && lines[0].ends_with(&end),
            "{lines:?}"
        );
        assert_eq!(deleted(&lines[1..]), *gone, "{known:?}");
    }
}

/// The older one stays, whichever the ledger knows.
#[tokio::test]
async fn younger_copies_are_taken_away_once_the_oldest_is_told() {
    hold(&[
        (&[own(6), own(7)], None, 6, &[7]),
        (&[own(6), own(7)], Some(7), 6, &[7]),
        (&[bot(6, false, BEFORE), own(7)], Some(6), 6, &[7]),
        (&[bot(6, false, BEFORE), own(8)], None, 6, &[8]),
        (&[own(5), bot(6, false, BEFORE)], Some(6), 6, &[]),
        (&[own(6), later(600, own(7))], Some(6), 6, &[7]),
        // No more than three at once.
        (
            &[own(6), own(10), own(9), own(8), own(7)],
            Some(6),
            6,
            &[7, 8, 9],
        ),
    ])
    .await;
}

/// Deleting cannot be undone: what another account wrote or edited stays, and what was written when no race can have been.
#[tokio::test]
async fn an_intentional_comment_is_never_deleted() {
    let quoted = bot(8, true, "So it said:\n> <!-- phileas:status -->\n");
    let ourselves = || by("Bot", "phileas-test");
    hold(&[
        (&[own(6), quoted, bot(9, false, BEFORE)], Some(6), 6, &[]),
        (&[own(6), later(601, own(7))], Some(6), 6, &[]),
        (
            &[own(6), edited(by("User", "mia"), own(7))],
            Some(6),
            6,
            &[],
        ),
        (&[own(6), edited(Value::Null, own(7))], Some(6), 6, &[]),
        (&[own(6), edited(ourselves(), own(7))], Some(6), 6, &[7]),
    ])
    .await;
}

/// The status is written by then; the next write tries again.
#[tokio::test]
async fn a_copy_that_stays_is_no_failure() {
    let ours = listed(&[(6, true, BEFORE), (7, true, BEFORE), (8, true, BEFORE)]);
    let denied = json(
        403,
        &value!({ "message": "Resource not accessible by integration" }),
    );
    let set = set([json(200, &ours), json(200, &value!({})), denied]);
    assert_eq!(write_status(&set, Some(6)).await.unwrap(), 6);
    assert_eq!(set.script.lines().len(), 3);
}

#[tokio::test]
async fn a_copy_that_another_process_deleted_is_gone_and_the_next_one_goes_too() {
    let ours = listed(&[(6, true, BEFORE), (7, true, BEFORE), (8, true, BEFORE)]);
    let gone = json(404, &value!({ "message": "Not Found" }));
    let answers = [json(200, &ours), json(200, &value!({})), gone];
    let set = set(answers.into_iter().chain([json(204, &Value::Null)]));
    assert_eq!(write_status(&set, Some(6)).await.unwrap(), 6);
    assert_eq!(deleted(&set.script.lines()[2..]), [7, 8]);
}

/// The one that stays may have been deleted by hand meanwhile, and another replica write to the copy.
#[tokio::test]
async fn who_was_held_up_takes_nothing_away() {
    struct Long(Duration);
    impl Stopwatch for Long {
        fn elapsed(&self) -> Duration {
            self.0
        }
    }
    let set = set([json(204, &Value::Null)]);
    set.client.delete_copies(&[7], &Long(COPY_TTL)).await;
    assert!(set.script.lines().is_empty());
    let quick = COPY_TTL - Duration::from_millis(1);
    set.client.delete_copies(&[7], &Long(quick)).await;
    assert_eq!(deleted(&set.script.lines()), [7]);
}

#[tokio::test]
async fn a_copy_that_is_taken_away_before_it_is_edited_leads_to_the_one_that_stays() {
    let gone = || json(404, &value!({ "message": "Not Found" }));
    let seen = |ids: &[u64]| json(200, &page(&Vec::from_iter(ids.iter().map(|id| own(*id)))));
    let moved = set([seen(&[7]), gone(), seen(&[6]), json(200, &value!({}))]);
    assert_eq!(write_status(&moved, Some(7)).await.unwrap(), 6);
    let lines = moved.script.lines();
    assert!(lines[3].starts_with("PATCH"), "{lines:?}");
    assert!(lines[3].ends_with("/issues/comments/6"), "{lines:?}");

    // If it is still listed, or no comment is, the next tick checks.
    for second in [seen(&[7]), seen(&[])] {
        let set = set([seen(&[7]), gone(), second]);
        let failure = write_status(&set, Some(7)).await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::NotFound);
        assert_eq!(set.script.lines().len(), 3);
    }
}

/// The answer was lost, and both have written: the older one says what the other replica knew.
#[tokio::test]
async fn the_other_ones_comment_says_what_this_one_could_not_hear_of() {
    let both = page(&[own(6), bot(7, true, TEXT)]);
    let set = set([
        json(200, &listed(&[])),
        lost(),
        json(200, &both),
        json(200, &value!({})),
        json(204, &Value::Null),
    ]);
    assert_eq!(write_status(&set, None).await.unwrap(), 6);
    let lines = set.script.lines();
    assert!(lines[3].starts_with("PATCH"), "{lines:?}");
    assert!(lines[3].ends_with("/issues/comments/6"), "{lines:?}");
    assert_eq!(deleted(&lines[4..]), [7]);
}
