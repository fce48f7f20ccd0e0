//! Tests that good messages are read between any other lines.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use tokio::io::AsyncReadExt as _;

use super::*;

/// The id of a request that a test damages.
const SPOILED: u64 = 1;
/// The first id of undamaged requests; no damage turns the other id into one of these.
const GOOD: u64 = 1 << 40;
/// How deep values are nested.
const DEEP: usize = 5_000;

/// A line, or several.
#[derive(Debug, Clone)]
enum Said {
    /// This many requests; more than one form a batch.
    Asked(usize),
    /// A damaged request, or other bytes.
    Rubbish(Vec<u8>),
}

/// The result of an input.
struct Outcome {
    /// The ids of the requests that were read, in order.
    received: Vec<u64>,
    /// The errors that the transport wrote.
    answered: Vec<Value>,
    /// How often `at_end` was called.
    ends: usize,
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

/// Reads an input to its end.
fn outcome(input: &[u8]) -> Outcome {
    runtime().block_on(async {
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let answers = tokio::spawn(async move {
            let mut text = String::new();
            far.read_to_string(&mut text).await.unwrap();
            text
        });
        let ends = std::sync::atomic::AtomicUsize::new(0);
        let tell = || {
            ends.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let mut lines = LineTransport::new(input, near, Duration::ZERO, tell);
        let mut heard = Vec::new();
        while let Some(message) = lines.receive().await {
            let message = serde_json::to_value(&message).unwrap();
            heard.extend(message["id"].as_u64());
        }
        lines.close().await.unwrap();
        drop(lines);
        let answered = answers.await.unwrap();
        let answered = answered.lines().map(serde_json::from_str);
        Outcome {
            received: heard,
            answered: answered.collect::<Result<_, _>>().unwrap(),
            ends: ends.into_inner(),
        }
    })
}

/// Regression: the first client closes its input at once, and lost a reply that took longer than 5
/// seconds.
#[test]
fn the_input_ends_when_all_answers_are_written() {
    runtime().block_on(async {
        let (near, _far) = tokio::io::duplex(1 << 10);
        let input = ping(7).to_string();
        let mut lines = LineTransport::new(input.as_bytes(), near, ANSWER_LIMIT, || {});
        assert!(lines.receive().await.is_some());
        tokio::select! {
            biased;
            ended = lines.receive() => panic!("the answer is not written: {ended:?}"),
            () = tokio::task::yield_now() => {}
        }
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
        let answer = serde_json::from_value(answer).unwrap();
        lines.send(answer).await.unwrap();
        assert!(lines.receive().await.is_none());
    });
}

#[test]
fn a_request_that_is_cancelled_is_not_waited_for() {
    runtime().block_on(async {
        let (near, _far) = tokio::io::duplex(1 << 10);
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"},
        }});
        let cancel = |id: u64| {
            let params = json!({"requestId": id});
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        };
        let input = format!("{begin}\n{}\n{}\n{}\n", ping(7), cancel(1), cancel(7));
        let mut lines = LineTransport::new(input.as_bytes(), near, ANSWER_LIMIT, || {});
        for _ in 0..4 {
            assert!(lines.receive().await.is_some());
        }
        tokio::select! {
            biased;
            ended = lines.receive() => assert!(ended.is_none()),
            () = tokio::task::yield_now() => panic!("it waits for an answer that is never written"),
        }
    });
}

fn spoil() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "",
        "\0",
        "\u{feff}",
        "\r",
        "\n",
        "\\ud800",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "-1",
        "1e999",
        "99999999999999999999999999",
        "{\"jsonrpc\":",
        "\"method\":[",
        "\"id\":{},",
        "\"params\":7,",
        "💥",
    ];
    prop_oneof![
        6 => select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..12),
        1 => select(vec!["[", "{\"params\":", "null,"]).prop_map(|piece| piece.repeat(DEEP).into_bytes()),
    ]
}

fn any_line() -> impl Strategy<Value = Said> {
    let changes = prop::collection::vec((any::<Index>(), 0..40_usize, spoil()), 1..4);
    let rubbish = changes.prop_map(|changes| {
        let mut line = ping(SPOILED).to_string().into_bytes();
        for (at, taken, put) in changes {
            let start = at.index(line.len() + 1);
            let end = (start + taken).min(line.len());
            line.splice(start..end, put);
        }
        Said::Rubbish(line)
    });
    prop_oneof![(1..5_usize).prop_map(Said::Asked), rubbish]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_between_rubbish_are_heard_in_order(
        said in prop::collection::vec(any_line(), 0..12),
        has_last_end in any::<bool>(),
    ) {
        let mut input = Vec::new();
        let mut asked = Vec::new();
        for (at, one) in said.iter().enumerate() {
            if at > 0 {
                input.push(b'\n');
            }
            match one {
                Said::Asked(many) => {
                    let first = GOOD + asked.len() as u64;
                    let ids = first..first + *many as u64;
                    asked.extend(ids.clone());
                    let mut all: Vec<Value> = ids.map(ping).collect();
                    let line = if all.len() == 1 { all.remove(0) } else { all.into() };
                    input.extend(line.to_string().bytes());
                }
                Said::Rubbish(line) => input.extend(line),
            }
        }
        if has_last_end {
            input.push(b'\n');
        }
        let outcome = outcome(&input);
        let heard = outcome.received.iter().copied().filter(|id| asked.contains(id));
        prop_assert_eq!(heard.collect::<Vec<_>>(), asked);
        prop_assert_eq!(outcome.ends, 1);
        for answer in &outcome.answered {
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
            prop_assert!(answer["error"]["message"].is_string(), "{}", answer);
            prop_assert!(answer["result"].is_null(), "{}", answer);
        }
    }

    /// A line that is not JSON gets one error, without an id.
    #[test]
    fn each_line_that_is_no_json_is_answered_once(lines in prop::collection::vec("x[ -~]{0,40}", 0..8)) {
        let outcome = outcome(lines.join("\n").as_bytes());
        prop_assert_eq!(outcome.answered.len(), lines.len());
        for answer in &outcome.answered {
            prop_assert_eq!(&answer["id"], &Value::Null);
            prop_assert_eq!(&answer["error"]["code"], ErrorCode::PARSE_ERROR.0);
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    for length in [MAX_LINE_BYTES, MAX_LINE_BYTES + 1] {
        let mut input = b"\n".to_vec();
        input.resize(length + 1, b' ');
        input.extend(format!("\n{}", ping(7)).bytes());
        let outcome = outcome(&input);
        assert_eq!(outcome.received, [7]);
        assert_eq!(outcome.answered.len(), length - MAX_LINE_BYTES, "{length}");
    }
}
