//! Makes a function an MCP tool: a description, typed arguments, a typed answer.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool_context::ToolContext;
use super::tool_error::ToolError;

/// Whole numbers below this are exact as floating-point numbers.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// What a tool is.
pub(super) struct ToolCard {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
    pub(super) effect: ToolEffect,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// It asks Jules or GitHub.
    Asks,
    /// It reads what this machine keeps.
    Looks,
    /// It writes what this machine keeps; again does nothing more.
    Notes,
    /// It puts something in the place of what this machine keeps.
    Replaces,
    /// It changes something outside that can be gone on from.
    Acts,
    /// It ends something outside; again does nothing more.
    PullEnds,
    /// It changes something outside that cannot be taken back.
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

/// How a tool answers.
pub(super) enum ToolReply<T> {
    /// It is done.
    Done(T),
    /// The client must ask a person first, and call again.
    RunRequest(Box<InputRequiredResult>),
}

/// One call of a tool, beside its arguments.
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
    /// A tool that answers at once.
    pub(super) fn new<I, O, F, R>(card: ToolCard, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(Arc<ToolContext>, I, ToolCall) -> R + Copy + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        Self::with_confirmation(card, move |desk, input, call| {
            let later = run(desk, input, call);
            async move { Ok(ToolReply::Done(later.await?)) }
        })
    }

    /// A tool that may have to ask a person first.
    pub(super) fn with_confirmation<I, O, F, R>(card: ToolCard, run: F) -> Self
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
            run: Box::new(move |desk, call| {
                let given = call.request.arguments.clone();
                let input = parse_arguments::<I>(card.name, &schema, given);
                Box::pin(async move {
                    let reply = match input {
                        Ok(input) => run(desk, input, call).await,
                        Err(trouble) => Err(trouble),
                    };
                    match reply {
                        Ok(ToolReply::Done(output)) => success_result(&output).into(),
                        Ok(ToolReply::RunRequest(question)) => (*question).into(),
                        Err(trouble) => error_result(&trouble).into(),
                    }
                })
            }),
        }
    }

    /// Whether these are arguments that it takes, by their names and types.
    pub(super) fn check_arguments(&self, given: JsonObject) -> Result<(), ToolError> {
        (self.check)(Some(given))
    }

    /// Calls it.
    pub(super) async fn call(&self, desk: Arc<ToolContext>, call: ToolCall) -> CallToolResponse {
        (self.run)(desk, call).await
    }
}

/// A schema of arguments that may be left out, rather than be null: many models know only one type for a value.
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

/// A schema whose descriptions are not broken where the lines of this code are.
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
    serde_json::from_value(Value::Object(given))
        .map_err(|error| ToolError::new(format!("the arguments of {tool} are wrong: {error}")))
}

/// Turns a value into one of the type that the schema asks for, where it says the same: many models write numbers, truth
/// values, objects and lists as texts.
fn coerce_value(value: &mut Value, kind: &str) {
    let fitted = match (&*value, kind) {
        (Value::String(text), "integer" | "number" | "boolean" | "object" | "array") => {
            let mut read = serde_json::from_str(text.trim()).unwrap_or_default();
            if !matches!(read, Value::String(_)) {
                coerce_value(&mut read, kind);
            }
            Some(read)
        }
        // A whole number as others write it: 5.0.
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

/// The answer as structure, and the same as text for clients of revisions that know no structure.
fn success_result(output: &impl Serialize) -> CallToolResult {
    let value = serde_json::to_value(output).expect("answers are made of texts and numbers");
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// A failure that the model reads.
pub(super) fn error_result(trouble: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(trouble.to_string())])
}
