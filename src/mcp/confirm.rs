//! Asks a person to confirm an action that cannot be undone.
//!
//! A client of the newest revision gets the question as its reply, and repeats the call with the
//! answer. A client of an older revision is asked while the call waits. If the client can ask, only
//! the person's answer counts; otherwise it must pass `confirm: true`. A refusal is final for that
//! action and for all clients until the server restarts. So an agent cannot repeat the question
//! until the person gives in, and cannot answer in the person's place.

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

/// The key of the question and of its one answer.
const KEY: &str = "confirm";
/// How long a person may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// The result of asking for confirmation.
pub(super) enum Confirmation {
    /// The person confirmed.
    Yes,
    /// The client must ask this question, and repeat the call with the answer.
    AskPerson(Box<InputRequiredResult>),
}

/// Asks whether the person wants an action. `question` describes it completely. `pinned` is the
/// action with the facts that must be unchanged when the answer arrives, such as the commit that
/// was checked. `said`: the client claims that the person wants it, which counts only if the client
/// cannot ask.
pub(super) async fn confirm_action(
    context: &ToolContext,
    call: &ToolCall,
    said: bool,
    question: &str,
    pinned: &str,
) -> Result<Confirmation, ToolError> {
    let action = digest_of(&[call.request.name.as_bytes(), pinned.as_bytes()]);
    if context.answers.declined.is_remembered(&action) {
        return Err(declined_before());
    }
    if !asks_a_person(call) {
        return if said {
            Ok(Confirmation::Yes)
        } else {
            Err(ToolError::new(format!(
                "{question} Nothing was done, because this client cannot ask a person; if the user wants it, call \
                 again with `confirm: true`"
            )))
        };
    }
    let modern = call
        .context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let word = if modern {
        ask_by_return(context, call, question, pinned)
    } else {
        ask_during_call(context, call, question).await
    };
    match word {
        Ok(ConfirmationAnswer::Yes) if context.answers.declined.is_remembered(&action) => {
            Err(declined_before())
        }
        Ok(ConfirmationAnswer::Yes) => Ok(Confirmation::Yes),
        Ok(ConfirmationAnswer::AskPerson(ask)) => Ok(Confirmation::AskPerson(ask)),
        Ok(ConfirmationAnswer::No) => {
            context.answers.declined.remember_digest(action);
            Err(ToolError::new(
                "nothing was done, because the person refused. That is final for this action: do not call this again, \
                 neither with `confirm: true` nor through another client; the person can do it directly",
            ))
        }
        Err(trouble) => Err(trouble),
    }
}

fn declined_before() -> ToolError {
    ToolError::new(
        "nothing was done, because the person has refused this action before. That is final, whatever `confirm` is; \
         the person can do it directly, or restart this server to be asked again",
    )
}

/// The answer to a question.
enum ConfirmationAnswer {
    Yes,
    No,
    /// The client must ask this question, and repeat the call with the answer.
    AskPerson(Box<InputRequiredResult>),
}

/// Asks through a client that can answer while the call waits.
async fn ask_during_call(
    context: &ToolContext,
    call: &ToolCall,
    question: &str,
) -> Result<ConfirmationAnswer, ToolError> {
    let request = ElicitRequest::new(confirmation_form(question));
    let asked = call.context.peer.create_elicitation(request.params);
    let asked = tokio::select! {
        asked = tokio::time::timeout(PATIENCE, asked) => asked,
        // The input is closed, so the answer cannot arrive.
        () = context.changes.wait_for_end() => {
            let text = "nothing was done, because the client closed its input before the person answered";
            return Err(ToolError::new(text));
        }
    };
    match asked {
        Ok(Ok(result)) => read_verdict(&result),
        Ok(Err(error)) => Err(ToolError::new(format!(
            "nothing was done, because the client failed to ask the person ({error}). Only the person's answer counts, \
             so call again when the client can ask"
        ))),
        Err(_) => Err(ToolError::new(format!(
            "nothing was done, because the person did not answer within {} s; call again to repeat the question",
            PATIENCE.as_secs()
        ))),
    }
}

/// Returns the question for a client that repeats the call, or reads the answer that it brought.
fn ask_by_return(
    context: &ToolContext,
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
        if context.seal.open_with(state, &bound).is_err() {
            return Err(ToolError::new(
                "nothing was done, because this answer belongs to another question, is too old, or its subject has \
                 changed since; call again without `requestState`",
            ));
        }
        if let Some(answer) = answer {
            let result = serde_json::from_value::<ElicitResult>(answer.clone());
            return match result {
                Ok(result) => use_answer_once(context, state, read_verdict(&result)?),
                Err(error) => Err(ToolError::new(format!(
                    "nothing was done, because the answer `{KEY}` cannot be read: {error}"
                ))),
            };
        }
    }
    let request = ElicitRequest::new(confirmation_form(question));
    let requests: InputRequests = [(KEY.to_owned(), InputRequest::Elicitation(request))].into();
    let options = SealOptions::new().associated_data(&bound).ttl(PATIENCE);
    let state = context.seal.seal_with(KEY.as_bytes(), &options);
    Ok(ConfirmationAnswer::AskPerson(Box::new(
        InputRequiredResult::new(Some(requests), Some(state)),
    )))
}

/// Accepts each answer once: a repeated answer needs a new question.
fn use_answer_once(
    context: &ToolContext,
    state: &str,
    said: ConfirmationAnswer,
) -> Result<ConfirmationAnswer, ToolError> {
    if matches!(said, ConfirmationAnswer::Yes)
        && !context
            .answers
            .used
            .remember_digest(digest_of(&[state.as_bytes()]))
    {
        return Err(ToolError::new(
            "nothing was done, because this answer was used before; call again without `requestState` to repeat the \
             question",
        ));
    }
    Ok(said)
}

/// What an answer is valid for: this tool, these arguments and the pinned facts.
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
        // A person who closes the question has not answered it.
        (ElicitationAction::Cancel, _) => Err(ToolError::new(
            "nothing was done, because the person closed the question without an answer; call again to repeat the \
             question",
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
        // A client that lists no kind of question supports forms alone.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

fn confirmation_form(question: &str) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder()
        .required_bool_with(KEY, |field| {
            field.title("Do it").description("Whether to do it")
        })
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.to_owned(),
        requested_schema: schema,
    }
}
