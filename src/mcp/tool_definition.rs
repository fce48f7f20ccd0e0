//! Makes a function an MCP tool with a description, typed arguments and a typed result.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    JsonObject, MetaObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool_context::ToolContext;
use super::tool_error::{ErrorCause, ToolError};

/// Whole numbers below this are exact as floating-point numbers.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The description of a tool.
pub(super) struct ToolCard {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
    pub(super) effect: ToolEffect,
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// It reads from Jules or GitHub.
    Asks,
    /// It reads files of this machine.
    Looks,
    /// It writes files of this machine; a repeated call changes nothing more.
    Notes,
    /// It overwrites files of this machine.
    Replaces,
    /// It changes something at Jules or GitHub; work continues from there.
    Acts,
    /// It ends something at Jules or GitHub; a repeated call changes nothing more.
    PullEnds,
    /// It changes something at Jules or GitHub that cannot be undone.
    Decides,
}

impl ToolEffect {
    pub(super) fn is_write(self) -> bool {
        !matches!(self, Self::Asks | Self::Looks)
    }

    fn tool_annotations(self, title: &str) -> ToolAnnotations {
        let (destructive, idempotent, open) = match self {
            Self::Asks => (false, true, true),
            Self::Looks | Self::Notes => (false, true, false),
            Self::Replaces => (true, false, false),
            Self::Acts => (false, false, true),
            Self::PullEnds => (true, true, true),
            Self::Decides => (true, false, true),
        };
        ToolAnnotations::with_title(title)
            .read_only(!self.is_write())
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open)
    }
}

/// The reply of a tool.
pub(super) enum ToolReply<T> {
    /// The result.
    Done(T),
    /// The result, and what kept the tool from a part of its work.
    Partly(T, ErrorCause),
    /// The client must ask a person first, and call again.
    AskPerson(Box<InputRequiredResult>),
}

impl<T> ToolReply<T> {
    /// The result, with what kept the tool from a part of its work, if anything did.
    pub(super) fn with_cause(output: T, cause: Option<ErrorCause>) -> Self {
        match cause {
            Some(cause) => Self::Partly(output, cause),
            None => Self::Done(output),
        }
    }
}

/// One call of a tool, without its arguments.
pub(super) struct ToolCall {
    pub(super) request: CallToolRequestParams,
    pub(super) context: RequestContext<RoleServer>,
}

type CheckArguments = Box<dyn Fn(Option<JsonObject>) -> Result<(), ToolError> + Send + Sync>;
type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type RunTool =
    Box<dyn Fn(Arc<ToolContext>, ToolCall) -> BoxedFuture<CallToolResponse> + Send + Sync>;

/// A tool.
pub(super) struct ToolDefinition {
    pub(super) tool: Tool,
    pub(super) effect: ToolEffect,
    check: CheckArguments,
    run: RunTool,
}

impl ToolDefinition {
    /// Creates a tool that replies at once.
    pub(super) fn new<I, O, F, R>(card: ToolCard, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(Arc<ToolContext>, I) -> R + Copy + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        Self::with_reply(card, move |context, input, _call| {
            let later = run(context, input);
            async move { Ok(ToolReply::Done(later.await?)) }
        })
    }

    /// Creates a tool that makes its own reply: it may ask a person first, end with its own exit code, or report progress.
    pub(super) fn with_reply<I, O, F, R>(card: ToolCard, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(Arc<ToolContext>, I, ToolCall) -> R + Copy + Send + Sync + 'static,
        R: Future<Output = Result<ToolReply<O>, ToolError>> + Send + 'static,
    {
        let input = schema_for_input::<I>().expect("the arguments of a tool are an object");
        let input = in_one_line(&without_null(&input));
        let tool = Tool::new(card.name, card.text, input)
            .with_title(card.title)
            .with_raw_output_schema(in_one_line(&schema_for_output::<O>()))
            .with_annotations(card.effect.tool_annotations(card.title));
        let schema = Arc::clone(&tool.input_schema);
        let schema_of_check = Arc::clone(&schema);
        Self {
            tool,
            effect: card.effect,
            check: Box::new(move |given| {
                parse_arguments::<I>(card.name, &schema_of_check, given).map(drop)
            }),
            run: Box::new(move |context, call| {
                let given = call.request.arguments.clone();
                let input = parse_arguments::<I>(card.name, &schema, given);
                Box::pin(async move {
                    let reply = match input {
                        Ok(input) => run(context, input, call).await,
                        Err(trouble) => Err(trouble),
                    };
                    match reply {
                        Ok(ToolReply::Done(output)) => success_result(&output).into(),
                        Ok(ToolReply::Partly(output, cause)) => {
                            let mut result = success_result(&output);
                            result.meta = Some(cause_meta(cause));
                            result.into()
                        }
                        Ok(ToolReply::AskPerson(question)) => (*question).into(),
                        Err(trouble) => error_result(&trouble).into(),
                    }
                })
            }),
        }
    }

    /// Checks the names and types of arguments.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(super) fn check_arguments(&self, given: JsonObject) -> Result<(), ToolError> {
        (self.check)(Some(given))
    }

    /// Calls the tool.
    pub(super) async fn call(&self, context: Arc<ToolContext>, call: ToolCall) -> CallToolResponse {
        (self.run)(context, call).await
    }
}

/// Makes optional arguments absent instead of null in a schema: many models know only one type for
/// a value.
fn without_null(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(serde_json::Map::values_mut) {
        let Some(kind) = property.get_mut("type") else {
            continue;
        };
        let one = kind.as_array().and_then(|kinds| match kinds.as_slice() {
            [kind, null] if null == "null" => Some(kind.clone()),
            _ => None,
        });
        if let Some(one) = one {
            *kind = one;
        }
    }
    schema
}

/// Removes the line breaks of this code from the descriptions of a schema.
fn in_one_line(schema: &JsonObject) -> Arc<JsonObject> {
    fn unwrap_lines(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    match field {
                        Value::String(text) if name == "description" => {
                            *text = text.replace('\n', " ");
                        }
                        other => unwrap_lines(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(unwrap_lines),
            _ => {}
        }
    }
    let mut schema = schema.clone();
    schema.values_mut().for_each(unwrap_lines);
    Arc::new(schema)
}

fn parse_arguments<I: DeserializeOwned>(
    tool: &str,
    schema: &JsonObject,
    given: Option<JsonObject>,
) -> Result<I, ToolError> {
    let mut given = given.unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in &mut given {
        if let Some(kind) = properties.and_then(|all| all.get(name)?.get("type")?.as_str()) {
            coerce_value(value, kind);
        }
    }
    phileas_domain::read_json_value(Value::Object(given))
        .map_err(|error| ToolError::input(format!("the arguments of {tool} are wrong: {error}")))
}

/// Converts a value to the type of the schema if it means the same: many models write numbers,
/// booleans, objects and lists as texts.
fn coerce_value(value: &mut Value, kind: &str) {
    let fitted = match (&*value, kind) {
        (Value::String(text), "integer" | "number" | "boolean" | "object" | "array") => {
            let mut read = serde_json::from_str(text.trim()).unwrap_or_default();
            if !matches!(read, Value::String(_)) {
                coerce_value(&mut read, kind);
            }
            Some(read)
        }
        // A whole number may be written as 5.0.
        (Value::Number(number), "integer") if number.is_f64() => number
            .as_f64()
            .filter(|number| number.fract() == 0.0 && (0.0..MAX_WHOLE).contains(number))
            .map(|number| Value::from(number as u64)),
        _ => None,
    };
    let is_of_kind = |fitted: &Value| match kind {
        "integer" => fitted.is_u64() || fitted.is_i64(),
        "number" => fitted.is_number(),
        "boolean" => fitted.is_boolean(),
        "object" => fitted.is_object(),
        _ => fitted.is_array(),
    };
    if let Some(fitted) = fitted.filter(is_of_kind) {
        *value = fitted;
    }
}

/// The structured result, and the same as text for clients of revisions without structured results.
fn success_result(output: &impl Serialize) -> CallToolResult {
    let value = serde_json::to_value(output).expect("results are made of texts and numbers");
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// The error result, for the model to read, with its cause for programs.
pub(super) fn error_result(trouble: &ToolError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(trouble.to_string())]);
    result.meta = Some(cause_meta(trouble.cause()));
    result
}

fn cause_meta(cause: ErrorCause) -> MetaObject {
    let cause = Value::from(cause.name());
    MetaObject([(ErrorCause::KEY.to_owned(), cause)].into_iter().collect())
}
