//! Rubbish at the webhook: a caller without the secret is refused whatever the header says, and one with it is answered
//! whatever the payload says. Nothing panics, and nothing that was signed is answered as a fault of ours.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::hook::{SECRET, sign, signed, status};

/// How deep things are put into one another.
const DEEP: usize = 5_000;
/// An event as GitHub sends it, for spoiling.
const EVENT: &str = r#"{"action":"labeled","issue":{"id":1,"node_id":"I_1","labels":[{"id":2,"name":"phileas:fixer"}]},
"comment":{"node_id":"IC_4","user":{"id":3}},"repository":{"id":5,"node_id":"R_5","full_name":"acme/widget"},
"installation":{"id":7},"sender":{"login":"mona","id":8}}"#;

/// What is put into a signature: pieces of one, and anything else.
fn signature() -> impl Strategy<Value = Vec<u8>> {
    let digits = "[0-9a-fA-F]{0,70}".prop_map(String::into_bytes);
    let schemes = select(vec![
        "sha256=", "sha1=", "SHA256=", "sha256", "sha256==", " sha256=", "",
    ]);
    prop_oneof![
        4 => (schemes, digits).prop_map(|(scheme, digits)| [scheme.as_bytes(), &digits].concat()),
        2 => prop::collection::vec(any::<u8>(), 0..200),
        1 => select(vec!["sha256=\u{e9}", "sha256=00,sha256=00", "sha256=0x"]).prop_map(|text| text.into()),
        1 => (0..20_000_usize).prop_map(|length| [b"sha256=".to_vec(), vec![b'0'; length]].concat()),
    ]
}

/// What is put into an event.
fn spoil() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        "",
        "\0",
        "\u{feff}",
        "\\ud800",
        "\\u0000",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "true",
        "-0",
        "1e999",
        "99999999999999999999999999",
        "-5",
        "{}",
        "\"id\":",
        "\"repository\":{",
        "\"full_name\":\"../..\"",
        "\"action\":[",
        "💥",
    ];
    prop_oneof![
        6 => select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..12),
        1 => select(vec!["[", "{\"a\":", "{\"repository\":", "{\"issue\":["])
            .prop_map(|piece| piece.repeat(DEEP).into_bytes()),
        1 => select(vec!["a", "9", " ", "\"x\","]).prop_map(|piece| piece.repeat(30_000).into_bytes()),
    ]
}

/// GitHub sends none, so that a signature over nothing is no delivery.
#[test]
fn an_empty_body_counts_as_unsigned() {
    assert_eq!(signed(b"issues", b"72d3162e", b""), 401);
    assert_eq!(signed(b"issues", b"72d3162e", b"{}"), 202);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_signature_that_is_none_opens_nothing(
        signature in signature(),
        second in prop::option::of(signature()),
        event in "[a-z_]{0,20}",
    ) {
        let right = sign(SECRET, EVENT.as_bytes()).into_bytes();
        prop_assume!(signature != right && second.as_ref() != Some(&right));
        let mut headers = vec![
            ("x-github-event", event.into_bytes()),
            ("x-github-delivery", b"72d3162e".to_vec()),
            ("x-hub-signature-256", signature),
        ];
        headers.extend(second.map(|second| ("x-hub-signature-256", second)));
        prop_assert_eq!(status(&headers, EVENT.as_bytes()), 401);
    }

    /// A byte of the body, or of the signature, is another: that is enough.
    #[test]
    fn a_signature_over_something_else_opens_nothing(at in any::<Index>(), by in 1..=255_u8) {
        let mut body = EVENT.as_bytes().to_vec();
        let at = at.index(body.len());
        body[at] ^= by;
        let headers = [
            ("x-github-event", b"issues".to_vec()),
            ("x-github-delivery", b"72d3162e".to_vec()),
            ("x-hub-signature-256", sign(SECRET, EVENT.as_bytes()).into_bytes()),
        ];
        prop_assert_eq!(status(&headers, &body), 401);
    }

    #[test]
    fn a_signed_event_is_answered_whatever_it_says(
        changes in prop::collection::vec((any::<Index>(), 0..60_usize, spoil()), 0..5),
        event in prop_oneof![3 => Just(b"issues".to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..200)],
        delivery in prop_oneof![3 => Just(b"72d3162e".to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..100)],
    ) {
        let mut body = EVENT.as_bytes().to_vec();
        for (at, taken, put) in changes {
            let start = at.index(body.len() + 1);
            let end = (start + taken).min(body.len());
            body.splice(start..end, put);
        }
        let answered = signed(&event, &delivery, &body);
        // An empty body is never signed by GitHub, and counts as unsigned.
        let expected: &[u16] = if body.is_empty() { &[401] } else { &[202, 400] };
        prop_assert!(expected.contains(&answered), "{}", answered);
        // What is sound JSON under sound headers is stored, whatever its shape.
        let is_sound = serde_json::from_slice::<serde_json::Value>(&body).is_ok();
        if is_sound && event == b"issues" && delivery == b"72d3162e" {
            prop_assert_eq!(answered, 202);
        }
    }
}
