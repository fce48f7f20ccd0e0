//! Asking a person before something is done that cannot be taken back.
//!
//! Who can be asked differs: a client of the newest revision is sent away with the question and comes back with the
//! answer, one of an older revision is asked in between, and one that can ask nobody has to say `confirm: true`.

use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
    SealOptions,
};
use sha2::{Digest as _, Sha256};

use super::desk::Desk;
use super::offer::Call;
use super::trouble::Trouble;

/// The name of the question, and of its one answer.
const KEY: &str = "confirm";
/// How long a person may think about it.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a person said.
pub(super) enum Word {
    /// Do it.
    Yes,
    /// Ask by this, and come back.
    Ask(Box<InputRequiredResult>),
}

/// Whether a person wants this. `question` says everything that is about to happen; `pinned` is what must still be so
/// when the answer comes back, such as the commit that was looked at.
pub(super) async fn confirmed(
    desk: &Desk,
    call: &Call,
    said: bool,
    question: &str,
    pinned: &str,
) -> Result<Word, Trouble> {
    if said {
        return Ok(Word::Yes);
    }
    let modern = call
        .context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let capabilities = call.context.client_capabilities();
    if !can_ask(capabilities.as_ref()) {
        return Err(Trouble::new(format!(
            "{question} This client can ask nobody, so nothing was done; when the person whom you work for wants it, \
             call again with `confirm: true`"
        )));
    }
    if modern {
        return again(desk, call, question, pinned);
    }
    let request = ElicitRequest::new(form(question));
    let asked = call.context.peer.create_elicitation(request.params);
    let asked = tokio::select! {
        asked = tokio::time::timeout(PATIENCE, asked) => asked,
        // Its answer cannot arrive any more.
        () = desk.changes.ended() => {
            let text = "the client has closed its input before the person answered, so nothing was done";
            return Err(Trouble::new(text));
        }
    };
    match asked {
        Ok(Ok(result)) => verdict(&result),
        Ok(Err(error)) => Err(Trouble::new(format!(
            "nobody could be asked ({error}), so nothing was done; call again with `confirm: true` when it is wanted"
        ))),
        Err(_) => Err(Trouble::new(format!(
            "nobody answered within {} s, so nothing was done",
            PATIENCE.as_secs()
        ))),
    }
}

/// The question for a client that comes back with the answer, or the answer that it has come back with.
fn again(desk: &Desk, call: &Call, question: &str, pinned: &str) -> Result<Word, Trouble> {
    let bound = bound_to(call, pinned);
    let answer = call
        .request
        .input_responses
        .as_ref()
        .and_then(|answers| answers.get(KEY));
    if let Some(state) = &call.request.request_state {
        if desk.seal.open_with(state, &bound).is_err() {
            return Err(Trouble::new(
                "this answer belongs to another question, is too old, or what it was about has changed since; nothing \
                 was done, so call again without `requestState`",
            ));
        }
        if let Some(answer) = answer {
            let result = serde_json::from_value::<ElicitResult>(answer.clone());
            return match result {
                Ok(result) => verdict(&result),
                Err(error) => Err(Trouble::new(format!(
                    "the answer `{KEY}` cannot be read: {error}; nothing was done"
                ))),
            };
        }
    }
    let request = ElicitRequest::new(form(question));
    let requests: InputRequests = [(KEY.to_owned(), InputRequest::Elicitation(request))].into();
    let options = SealOptions::new().associated_data(&bound).ttl(PATIENCE);
    let state = desk.seal.seal_with(KEY.as_bytes(), &options);
    Ok(Word::Ask(Box::new(InputRequiredResult::new(
        Some(requests),
        Some(state),
    ))))
}

/// What an answer counts for: this tool, these arguments, and things as they stand.
fn bound_to(call: &Call, pinned: &str) -> Vec<u8> {
    let arguments = serde_json::to_vec(&call.request.arguments).unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [call.request.name.as_bytes(), &arguments, pinned.as_bytes()] {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    digest.finalize().to_vec()
}

fn verdict(result: &ElicitResult) -> Result<Word, Trouble> {
    let yes = result
        .content
        .as_ref()
        .and_then(|content| content.get(KEY))
        .and_then(serde_json::Value::as_bool);
    match (&result.action, yes) {
        (ElicitationAction::Accept, Some(true)) => Ok(Word::Yes),
        _ => Err(Trouble::new("the person said no, so nothing was done")),
    }
}

fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities
        .and_then(|capabilities| capabilities.elicitation.as_ref())
        // A client that names no way knows forms alone.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

fn form(question: &str) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder()
        .required_bool_with(KEY, |field| {
            field.title("Do it").description("Whether it is to be done")
        })
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.to_owned(),
        requested_schema: schema,
    }
}
