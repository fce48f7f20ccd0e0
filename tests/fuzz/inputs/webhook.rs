//! Any signature and any body at the webhook: a byte says how long the signature is, the rest is the body. Then any event
//! that is signed.

#[allow(
    clippy::duplicate_mod,
    reason = "the fuzzer and the black-box tests are two programs, which draw it from one file"
)]
#[path = "../../it/service/hook.rs"]
mod hook;

/// Sends one input.
pub(crate) fn run(data: &[u8]) {
    let Some((length, rest)) = data.split_first() else {
        return;
    };
    let (header, body) = rest.split_at(usize::from(*length).min(rest.len()));
    let delivery = b"72d3162e";
    let answered = hook::status(
        &[
            ("x-github-event", b"issues".to_vec()),
            ("x-github-delivery", delivery.to_vec()),
            ("x-hub-signature-256", header.to_vec()),
        ],
        body,
    );
    assert_eq!(answered, 401);
    let answered = hook::signed(header, delivery, body);
    // GitHub signs no empty body, so that one counts as unsigned.
    let expected: &[u16] = if body.is_empty() { &[401] } else { &[202, 400] };
    assert!(expected.contains(&answered), "{answered}");
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let body = "{\"action\":\"labeled\",\"issue\":{\"id\":1,\"node_id\":\"I_1\"},\"repository\":{\"id\":5,\"full_name\":\"acme/widget\"}}";
    let signature = format!("sha256={}", "0".repeat(64));
    [signature.as_str(), "issues", ""]
        .map(|header| {
            let length = u8::try_from(header.len()).unwrap();
            [&[length], header.as_bytes(), body.as_bytes()].concat()
        })
        .into()
}
