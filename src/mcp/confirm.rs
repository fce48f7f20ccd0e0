//! Asks a person to confirm an action that cannot be undone.
//!
//! Clients ask differently: a client of the newest revision is sent away with the question and comes back with the answer,
//! and one of an older revision is asked in between. Where the client can ask, only the person's answer counts. One that
//! cannot ask has to say `confirm: true`. A no is final for that very action as long as the server runs, whichever client
//! asks for it next; so that an agent cannot ask until the person gives in, or say yes in the person's place.

use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
    SealOptions,
};
use sha2::{Digest as _, Sha256};

use super::tool_context::ToolContext;
use super::tool_definition::ToolCall;
use super::tool_error::ToolError;

/// The name of the question, and of its one answer.
const KEY: &str = "confirm";
/// How long a person may think about it.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a person said.
pub(super) enum Confirmation {
    /// Do it.
    Yes,
    /// Ask by this, and come back.
    RunRequest(Box<InputRequiredResult>),
}

/// Whether a person wants this. `question` says everything that is about to happen; `pinned` is what is done, with what
/// must still be so when the answer comes back, such as the commit that was checked. `said`: the client says that the
/// person wants it, which counts only where it cannot ask.
pub(super) async fn confirm_action(
    desk: &ToolContext,
    call: &ToolCall,
    said: bool,
    question: &str,
    pinned: &str,
) -> Result<Confirmation, ToolError> {
    let action = digest_of(&[call.request.name.as_bytes(), pinned.as_bytes()]);
    if desk.answers.declined.is_remembered(&action) {
        return Err(declined_before());
    }
    if !asks_a_person(call) {
        return if said {
            Ok(Confirmation::Yes)
        } else {
            Err(ToolError::new(format!(
                "{question} This client cannot ask a person, so nothing was done; when the user wants it, \
                 call again with `confirm: true`"
            )))
        };
    }
    let modern = call
        .context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let word = if modern {
        ask_by_return(desk, call, question, pinned)
    } else {
        ask_during_call(desk, call, question).await
    };
    match word {
        Ok(ConfirmationAnswer::Yes) if desk.answers.declined.is_remembered(&action) => {
            Err(declined_before())
        }
        Ok(ConfirmationAnswer::Yes) => Ok(Confirmation::Yes),
        Ok(ConfirmationAnswer::RunRequest(ask)) => Ok(Confirmation::RunRequest(ask)),
        Ok(ConfirmationAnswer::No) => {
            desk.answers.declined.remember_digest(action);
            Err(ToolError::new(
                "the person said no, so nothing was done. That is final for this action: do not call this again, neither \
                 with `confirm: true` nor through another client; the person can do it where it is to be done",
            ))
        }
        Err(trouble) => Err(trouble),
    }
}

fn declined_before() -> ToolError {
    ToolError::new(
        "the person has said no to this very action, and that is final, whatever `confirm` says; nothing was done. The \
         person can do it where it is to be done, or start this server again to be asked again",
    )
}

/// What came of asking.
enum ConfirmationAnswer {
    Yes,
    No,
    /// The client is to ask by this, and to come back.
    RunRequest(Box<InputRequiredResult>),
}

/// Asks by a client that can be asked while the call waits.
async fn ask_during_call(
    desk: &ToolContext,
    call: &ToolCall,
    question: &str,
) -> Result<ConfirmationAnswer, ToolError> {
    let request = ElicitRequest::new(confirmation_form(question));
    let asked = call.context.peer.create_elicitation(request.params);
    let asked = tokio::select! {
        asked = tokio::time::timeout(PATIENCE, asked) => asked,
        // Its answer cannot arrive any more.
        () = desk.changes.wait_for_end() => {
            let text = "the client has closed its input before the person answered, so nothing was done";
            return Err(ToolError::new(text));
        }
    };
    match asked {
        Ok(Ok(result)) => read_verdict(&result),
        Ok(Err(error)) => Err(ToolError::new(format!(
            "the client could not ask the person ({error}), so nothing was done; only the person's answer counts, so call \
             again when the client can ask"
        ))),
        Err(_) => Err(ToolError::new(format!(
            "the person did not answer within {} s, so nothing was done; call again to ask again",
            PATIENCE.as_secs()
        ))),
    }
}

/// The question for a client that comes back with the answer, or the answer that it has come back with.
fn ask_by_return(
    desk: &ToolContext,
    call: &ToolCall,
    question: &str,
    pinned: &str,
) -> Result<ConfirmationAnswer, ToolError> {
    let bound = bound_to(call, pinned);
    let answer = call
        .request
        .input_responses
        .as_ref()
        .and_then(|answers| answers.get(KEY));
    if let Some(state) = &call.request.request_state {
        if desk.seal.open_with(state, &bound).is_err() {
            return Err(ToolError::new(
                "this answer belongs to another question, is too old, or what it was about has changed since; nothing \
                 was done, so call again without `requestState`",
            ));
        }
        if let Some(answer) = answer {
            let result = serde_json::from_value::<ElicitResult>(answer.clone());
            return match result {
                Ok(result) => use_answer_once(desk, state, read_verdict(&result)?),
                Err(error) => Err(ToolError::new(format!(
                    "the answer `{KEY}` cannot be read: {error}; nothing was done"
                ))),
            };
        }
    }
    let request = ElicitRequest::new(confirmation_form(question));
    let requests: InputRequests = [(KEY.to_owned(), InputRequest::Elicitation(request))].into();
    let options = SealOptions::new().associated_data(&bound).ttl(PATIENCE);
    let state = desk.seal.seal_with(KEY.as_bytes(), &options);
    Ok(ConfirmationAnswer::RunRequest(Box::new(
        InputRequiredResult::new(Some(requests), Some(state)),
    )))
}

/// One yes is one action: who sends the answer once more asks once more.
fn use_answer_once(
    desk: &ToolContext,
    state: &str,
    said: ConfirmationAnswer,
) -> Result<ConfirmationAnswer, ToolError> {
    if matches!(said, ConfirmationAnswer::Yes)
        && !desk
            .answers
            .used
            .remember_digest(digest_of(&[state.as_bytes()]))
    {
        return Err(ToolError::new(
            "this answer was used already, so nothing was done; call again without `requestState` to ask again",
        ));
    }
    Ok(said)
}

/// What an answer counts for: this tool, these arguments, and things as they stand.
fn bound_to(call: &ToolCall, pinned: &str) -> Vec<u8> {
    let arguments = serde_json::to_vec(&call.request.arguments).unwrap_or_default();
    digest_of(&[call.request.name.as_bytes(), &arguments, pinned.as_bytes()]).to_vec()
}

fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

fn read_verdict(result: &ElicitResult) -> Result<ConfirmationAnswer, ToolError> {
    let yes = result
        .content
        .as_ref()
        .and_then(|content| content.get(KEY))
        .and_then(serde_json::Value::as_bool);
    match (&result.action, yes) {
        (ElicitationAction::Accept, Some(true)) => Ok(ConfirmationAnswer::Yes),
        // Closing a question is no answer to it.
        (ElicitationAction::Cancel, _) => Err(ToolError::new(
            "the person closed the question without an answer, so nothing was done; call again to ask again",
        )),
        _ => Ok(ConfirmationAnswer::No),
    }
}

/// Whether the client can ask its user.
pub(super) fn asks_a_person(call: &ToolCall) -> bool {
    can_ask(call.context.client_capabilities().as_ref())
}

fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities
        .and_then(|capabilities| capabilities.elicitation.as_ref())
        // A client that names no way knows forms alone.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

fn confirmation_form(question: &str) -> ElicitRequestParams {
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
