use proptest::prelude::*;

use super::*;

#[track_caller]
fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[track_caller]
fn slots(expression: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    Cron::parse(expression, zone)
        .unwrap()
        .slots_in(at(after), Timestamp::MAX, count)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn rules_of_the_fields() {
    // 2026-01-04 is a Sunday.
    for (expression, after, expected) in [
        ("30 4 * * 1", "2026-01-04T00:00:00Z", "2026-01-05T04:30:00Z"),
        ("0 9 * * 0", "2026-01-03T09:00:00Z", "2026-01-04T09:00:00Z"),
        ("0 9 * * 7", "2026-01-03T09:00:00Z", "2026-01-04T09:00:00Z"),
        (
            "0 9 * * sun",
            "2026-01-04T09:00:00Z",
            "2026-01-11T09:00:00Z",
        ),
        (
            "0 9 * * fri-sun",
            "2026-01-04T09:00:00Z",
            "2026-01-09T09:00:00Z",
        ),
        (
            "0 */2 * * *",
            "2026-01-04T02:00:00Z",
            "2026-01-04T04:00:00Z",
        ),
        (
            "*/5 * * * *",
            "2026-01-04T02:00:01Z",
            "2026-01-04T02:05:00Z",
        ),
        ("0 0 29 2 *", "2026-01-04T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
        // Both day fields restricted: either one selects.
        ("0 0 13 * 5", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"),
        ("0 0 13 * 5", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"),
        ("0 0 30 2 1", "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"),
        (
            "0 0 */1 * 1",
            "2026-01-04T00:00:00Z",
            "2026-01-05T00:00:00Z",
        ),
        (
            "0 0 1-31 * 1",
            "2026-01-05T00:00:00Z",
            "2026-01-06T00:00:00Z",
        ),
        (
            "0 0 1 jan,jul *",
            "2026-01-04T00:00:00Z",
            "2026-07-01T00:00:00Z",
        ),
    ] {
        assert_eq!(
            slots(expression, "UTC", after, 1),
            [expected],
            "{expression}"
        );
    }
}

#[test]
fn what_never_starts_is_refused() {
    for expression in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 feb */1"] {
        let wrong = Cron::parse(expression, "UTC").unwrap_err();
        assert!(matches!(wrong, CronError::Never { .. }), "{expression}");
    }
}

#[test]
fn what_starts_too_often_is_refused() {
    for expression in [
        "* * * * *",
        "*/4 * * * *",
        "0,3 4 * * *",
        "58,1 * * * *",
        "1,58 3,4 * * *",
        "1,58 0,23 * * *",
        "1,58 0,23 * * 1,2",
        "1,58 0,23 31,1 * *",
        "1,58 0,23 29 2 3",
        "*/7 * * * *",
    ] {
        let wrong = Cron::parse(expression, "UTC");
        assert!(
            matches!(wrong, Err(CronError::TooOften { minutes: 5, .. })),
            "{expression}: {wrong:?}"
        );
    }
    for expression in [
        "*/5 * * * *",
        "55,0 * * * *",
        "1,58 3 * * *",
        "1,58 3,5 * * *",
        "1,58 0,23 1 * *",
        "1,58 0,23 * * 1,3,5",
        "1,58 0,22 * * *",
    ] {
        assert!(Cron::parse(expression, "UTC").is_ok(), "{expression}");
    }
}

#[test]
fn clock_changes_do_not_make_an_expression_too_frequent() {
    // 02:55 falls into New York's gap and starts with 03:00's slot; 03:05 follows.
    let cron = "*/5 * * * *";
    assert_eq!(
        slots(cron, "America/New_York", "2026-03-08T06:50:00Z", 3),
        [
            "2026-03-08T06:55:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-08T07:05:00Z"
        ]
    );
}

#[test]
fn a_word_that_is_nearly_manual_was_meant_so() {
    for (wrong, meant) in [
        ("manaul", "did you mean `manual`?"),
        ("Manual", "did you mean `manual`?"),
        ("annual", "write five fields"),
        ("@dayly", "write five fields"),
        ("0 0 * *", "write five fields"),
    ] {
        let help = Cron::parse(wrong, "UTC").unwrap_err().help();
        assert!(help.starts_with(meant), "{wrong}: {help}");
    }
}

#[test]
fn zones_are_known_by_their_iana_names() {
    for (written, known) in [("UTC", "UTC"), ("europe/lisbon", "Europe/Lisbon")] {
        assert_eq!(Cron::parse("0 0 * * *", written).unwrap().timezone(), known);
    }
    for (wrong, help) in [
        ("Europe/Lisbom", "did you mean `Europe/Lisbon`?"),
        ("New York", "did you mean `America/New_York`?"),
        ("", "write an IANA name such as `Europe/Lisbon`, or `UTC`"),
        (
            "+02:00",
            "write an IANA name such as `Europe/Lisbon`, or `UTC`",
        ),
        ("Etc/Unknown", ""),
        ("WEST5EAST", ""),
    ] {
        let error = Cron::parse("0 0 * * *", wrong).unwrap_err();
        assert!(matches!(error, CronError::Timezone { .. }), "{wrong}");
        if !help.is_empty() {
            assert_eq!(error.help(), help);
        }
    }
}

#[test]
fn a_local_time_in_a_gap_starts_at_the_first_instant_after_it() {
    for (expression, zone, after, expected) in [
        // 01:00 WET -> 02:00 WEST.
        (
            "30 1 * * *",
            "Europe/Lisbon",
            "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
        ),
        (
            "0 1 * * *",
            "Europe/Lisbon",
            "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
        ),
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-07T12:00:00Z",
            "2026-03-08T07:00:00Z",
        ),
        // Half an hour: 02:00 -> 02:30.
        (
            "15 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T12:00:00Z",
            "2026-10-03T15:30:00Z",
        ),
        // Midnight itself is missing: 24:00 -> 01:00.
        (
            "0 0 * * *",
            "America/Asuncion",
            "2024-10-05T12:00:00Z",
            "2024-10-06T04:00:00Z",
        ),
        (
            "30 0 * * *",
            "America/Santiago",
            "2026-09-05T12:00:00Z",
            "2026-09-06T04:00:00Z",
        ),
        (
            "0 0 * * *",
            "Africa/Cairo",
            "2026-04-23T12:00:00Z",
            "2026-04-23T22:00:00Z",
        ),
        (
            "0 0 * * *",
            "Asia/Beirut",
            "2026-03-28T12:00:00Z",
            "2026-03-28T22:00:00Z",
        ),
        // A whole day is missing: Samoa had no 30 December 2011.
        (
            "0 12 30 12 *",
            "Pacific/Apia",
            "2011-12-29T00:00:00Z",
            "2011-12-30T10:00:00Z",
        ),
    ] {
        assert_eq!(slots(expression, zone, after, 1), [expected], "{zone}");
    }
}

#[test]
fn several_local_times_of_a_gap_start_once() {
    assert_eq!(
        slots(
            "0,20,40 * * * *",
            "America/New_York",
            "2026-03-08T06:39:00Z",
            3
        ),
        [
            "2026-03-08T06:40:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-08T07:20:00Z"
        ]
    );
}

#[test]
fn a_repeated_local_time_starts_once_and_first() {
    for (expression, zone, after, expected) in [
        (
            "30 1 * * *",
            "America/New_York",
            "2026-11-01T00:00:00Z",
            ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
        ),
        (
            "*/30 * * * *",
            "America/New_York",
            "2026-11-01T05:00:00Z",
            ["2026-11-01T05:30:00Z", "2026-11-01T07:00:00Z"],
        ),
        (
            "0 * * * *",
            "Europe/Lisbon",
            "2026-10-24T23:00:00Z",
            ["2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"],
        ),
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T00:00:00Z",
            ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
        ),
    ] {
        assert_eq!(slots(expression, zone, after, 2), expected, "{zone}");
    }
    // Asked from within the second half, the first half's slots are over.
    assert_eq!(
        slots(
            "*/30 * * * *",
            "America/New_York",
            "2026-11-01T06:05:00Z",
            1
        ),
        ["2026-11-01T07:00:00Z"]
    );
}

#[test]
fn the_newest_slot_is_found_from_within_a_fold() {
    let cron = Cron::parse("45 1 * * *", "America/New_York").unwrap();
    let newest = |until: &str| {
        cron.newest_in(at("2026-10-01T00:00:00Z"), at(until))
            .map(|slot| slot.to_string())
    };
    // 01:10 for the second time: 01:45 has been.
    assert_eq!(
        newest("2026-11-01T06:10:00Z").unwrap(),
        "2026-11-01T05:45:00Z"
    );
    assert_eq!(
        newest("2026-11-01T05:44:59Z").unwrap(),
        "2026-10-31T05:45:00Z"
    );
    assert_eq!(
        newest("2026-11-01T05:45:00Z").unwrap(),
        "2026-11-01T05:45:00Z"
    );
}

#[test]
fn the_interval_is_open_at_its_beginning_and_closed_at_its_end() {
    let cron = Cron::parse("0 9 * * *", "UTC").unwrap();
    let nine = at("2026-01-05T09:00:00Z");
    assert_eq!(cron.newest_in(nine, at("2026-01-05T23:00:00Z")), None);
    assert_eq!(cron.newest_in(at("2026-01-05T08:59:59Z"), nine), Some(nine));
    assert_eq!(cron.newest_in(nine, nine), None);
    assert_eq!(cron.newest_in(nine, at("2026-01-01T00:00:00Z")), None);
    assert_eq!(cron.slots_in(nine, at("2026-01-06T09:00:00Z"), 9).len(), 1);
    assert!(cron.slots_in(nine, Timestamp::MAX, 0).is_empty());
}

#[test]
fn the_ends_of_time_are_no_trap() {
    for zone in ["UTC", "Pacific/Apia", "America/New_York"] {
        let cron = Cron::parse("0 0 29 2 *", zone).unwrap();
        assert_eq!(cron.next_after(Timestamp::MAX), None);
        assert_eq!(cron.newest_in(Timestamp::MIN, Timestamp::MIN), None);
        let _ = cron.next_after(Timestamp::MIN);
        let _ = cron.newest_in(Timestamp::MIN, Timestamp::MAX);
    }
}

const EXPRESSIONS: [&str; 10] = [
    "*/5 * * * *",
    "*/30 * * * *",
    "0 * * * *",
    "30 1 * * *",
    "15 2 * * *",
    "0 0 * * *",
    "59 23 * * 6",
    "0 0,1,2,3 1 * 0",
    "7-59/13 0-4/2 * 3-11 *",
    "30 2 29 2 *",
];
const ZONES: [&str; 9] = [
    "UTC",
    "Europe/Lisbon",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Cairo",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Antarctica/Troll",
];

/// Near a change of the clocks, or anywhere.
fn instants() -> impl Strategy<Value = (usize, Timestamp)> {
    (
        0..ZONES.len(),
        0_i64..2_000_000_000,
        any::<bool>(),
        -90_000_i64..90_000,
    )
        .prop_map(|(zone, second, near, away)| {
            let instant = Timestamp::from_second(second).unwrap();
            let zone_of = self::zone(ZONES[zone]).unwrap();
            let change = zone_of.following(instant).next().map(|t| t.timestamp());
            let base = if near {
                change.unwrap_or(instant)
            } else {
                instant
            };
            (zone, base + SignedDuration::from_secs(away))
        })
}

#[test]
fn clocks_that_go_back_at_the_very_end_of_a_span_hide_no_slot() {
    // Cairo's clocks showed 02:00 again at 1994-10-01T00:00:00Z.
    let cron = Cron::parse("*/5 * * * *", "Africa/Cairo").unwrap();
    let (after, until) = (at("1994-09-29T22:26:36Z"), at("1994-10-01T00:00:00Z"));
    let last = at("1994-09-30T23:55:00Z");
    assert_eq!(cron.slots_in(after, until, 10_000).last(), Some(&last));
    assert_eq!(cron.newest_in(after, until), Some(last));
}

proptest! {
    #[test]
    fn slots_increase_and_no_local_time_starts_twice(
        (zone, after) in instants(),
        expression in 0..EXPRESSIONS.len(),
    ) {
        let cron = Cron::parse(EXPRESSIONS[expression], ZONES[zone]).unwrap();
        let slots = cron.slots_in(after, Timestamp::MAX, 40);
        prop_assert!(slots.first().is_none_or(|first| *first > after));
        for pair in slots.windows(2) {
            prop_assert!(pair[0] < pair[1]);
        }
        let zone = self::zone(ZONES[zone]).unwrap();
        let mut local: Vec<DateTime> = slots.iter().map(|slot| zone.to_datetime(*slot)).collect();
        local.sort();
        local.dedup();
        prop_assert_eq!(local.len(), slots.len());
    }

    #[test]
    fn the_newest_slot_is_the_last_of_the_slots(
        (zone, after) in instants(),
        expression in 0..EXPRESSIONS.len(),
        seconds in -10_i64..200_000,
    ) {
        let cron = Cron::parse(EXPRESSIONS[expression], ZONES[zone]).unwrap();
        let until = after + SignedDuration::from_secs(seconds);
        let slots = cron.slots_in(after, until, 10_000);
        prop_assert_eq!(cron.newest_in(after, until), slots.last().copied());
    }

    #[test]
    fn parsing_never_panics(expression in ".{0,30}", zone in ".{0,20}") {
        let _ = Cron::parse(&expression, &zone);
        let _ = Cron::parse(&expression, "UTC");
    }

    #[test]
    fn what_is_taken_starts_sooner_or_later(
        fields in proptest::array::uniform5("(\\*|[0-9]{1,2}|[0-9]-[0-9]{1,2}|\\*/[0-9]{1,2})"),
    ) {
        if let Ok(cron) = Cron::parse(&fields.join(" "), "UTC") {
            let slots = cron.slots_in(Timestamp::UNIX_EPOCH, Timestamp::MAX, 50);
            prop_assert_eq!(slots.len(), 50);
            for pair in slots.windows(2) {
                prop_assert!(pair[0].duration_until(pair[1]) >= SignedDuration::from_mins(5));
            }
        }
    }
}
