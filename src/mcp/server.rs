//! Handles the requests of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, ServerResult,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use phileas_domain::plan::closest;
use serde_json::{Value, from_value};

use super::resources::ResourceError;
use super::subscriptions::{ExpectedListeners, Subscribers};
use super::tool_context::ToolContext;
use super::tool_definition::{ToolCall, ToolDefinition, error_result};
use super::tool_error::ToolError;
use super::{prompts, resources, revision, subscriptions, tools};

/// The server. All clones share its state.
#[derive(Clone)]
pub struct Server {
    context: Arc<ToolContext>,
    offers: Arc<Vec<ToolDefinition>>,
    /// The subscriptions of a client of an older revision. [`Server::for_another`] begins with
    /// none.
    subscribers: Subscribers,
    expected: ExpectedListeners,
}

impl Server {
    /// Creates a server with the tools that the context's policy allows.
    #[must_use]
    pub fn new(context: ToolContext) -> Self {
        Self {
            context: Arc::new(context),
            offers: Arc::new(tools::all_tools()),
            subscribers: Subscribers::default(),
            expected: ExpectedListeners::default(),
        }
    }

    /// Returns the same server for another client.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self {
            subscribers: Subscribers::default(),
            expected: ExpectedListeners::default(),
            ..self.clone()
        }
    }

    /// Releases calls that wait for a change: no client will read their reply.
    pub fn end_waits(&self) {
        self.context.changes.end_waits();
    }

    /// Checks that a tool exists and accepts arguments of these names and types.
    ///
    /// # Errors
    ///
    /// What is wrong, and how to fix it.
    pub fn check_call(&self, tool: &str, arguments: JsonObject) -> Result<(), ToolError> {
        self.find_tool(tool)?.check_arguments(arguments)
    }

    /// Whether a tool does nothing without an argument of this name.
    #[must_use]
    pub fn is_required(&self, tool: &str, argument: &str) -> bool {
        let Ok(found) = self.find_tool(tool) else {
            return false;
        };
        let required = found.tool.input_schema.get("required");
        let mut required = required.and_then(Value::as_array).into_iter().flatten();
        required.any(|name| name == argument)
    }

    fn is_offered(&self, offer: &ToolDefinition) -> bool {
        !(self.context.policy.read_only && offer.effect.is_write())
    }

    fn find_tool(&self, name: &str) -> Result<&ToolDefinition, ToolError> {
        let offer = self.offers.iter().find(|offer| offer.tool.name == name);
        let offer = offer.ok_or_else(|| self.unknown_tool(name))?;
        if self.is_offered(offer) {
            Ok(offer)
        } else {
            Err(ToolError::new(format!(
                "{name} is not available, because it changes something and phileas was started with `--read-only`; a person \
                 can start it without"
            )))
        }
    }

    fn unknown_tool(&self, name: &str) -> ToolError {
        let offered = self.offers.iter().filter(|offer| self.is_offered(offer));
        let names: Vec<&str> = offered.map(|offer| offer.tool.name.as_ref()).collect();
        let help = match closest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the tools are {}", names.join(", ")),
        };
        ToolError::input(format!("there is no tool `{name}`; {help}"))
    }
}

/// The revision of a request. A client that names none has made the handshake of the newest
/// revision that has one.
fn revision_of(context: &RequestContext<RoleServer>) -> ProtocolVersion {
    let version = context.protocol_version();
    version.unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        revision::server_config(&ProtocolVersion::LATEST)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let agreed = self.negotiate_initialize(&request)?.protocol_version;
        Ok(revision::server_config(&agreed).with_protocol_version(agreed))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let revision = revision_of(&context);
        let offered = self.offers.iter().filter(|offer| self.is_offered(offer));
        let tools = offered.map(|offer| revision::tool_for(&revision, offer.tool.clone()));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(self.find_tool(name).ok()?.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let revision = revision_of(&context);
        let answer = match self.find_tool(&request.name) {
            Ok(offer) => {
                let call = ToolCall { request, context };
                offer.call(Arc::clone(&self.context), call).await
            }
            Err(trouble) => error_result(&trouble).into(),
        };
        Ok(match answer {
            CallToolResponse::Complete(result) => revision::result_for(&revision, result).into(),
            other => other,
        })
    }

    /// Handles a request whose parameters do not fit its method. `rmcp` treats it as an unknown
    /// method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method != "tools/call" {
            return Err(match wrong_parameters(&method, params) {
                Some(wrong) => ErrorData::invalid_params(wrong, None),
                None => ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    format!("unknown method `{method}`"),
                    None,
                ),
            });
        }
        let call = call_of(params.unwrap_or_default())
            .map_err(|wrong| ErrorData::invalid_params(wrong, None))?;
        let answer = self.call_tool(call, context).await?;
        let answer = serde_json::to_value(ServerResult::from(answer));
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CustomResult::new(answer))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list_resources(&self.context, cursor.as_deref())
            .map_err(|trouble| invalid_params(&trouble))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::address_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read_resource(&self.context, &request.uri).await {
            Ok(result) => Ok(result.into()),
            Err(ResourceError::Failed(error)) => {
                Err(ErrorData::internal_error(error.to_string(), None))
            }
            Err(ResourceError::Missing) => Err(ErrorData::resource_not_found(
                format!("there is no resource {}", request.uri),
                Some(serde_json::json!({ "uri": request.uri })),
            )),
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.expected.expect_listener(&self.context, requested);
        Some(subscriptions::accepted_filter(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        subscriptions::serve_listener(&self.context, &self.expected, &context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !resources::is_known(&request.uri) {
            return Err(ErrorData::resource_not_found(
                format!("there is no resource {}", request.uri),
                Some(serde_json::json!({ "uri": request.uri })),
            ));
        }
        self.subscribers
            .add_subscriber(&self.context, &request.uri, &context.peer)
            .map_err(|trouble| invalid_params(&trouble))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let revision = revision_of(&context);
        let mut listed = prompts::list_prompts();
        let prompts = std::mem::take(&mut listed.prompts).into_iter();
        listed.prompts = prompts
            .map(|one| revision::prompt_for(&revision, one))
            .collect();
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        Ok(prompts::get(&request.name, &given)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = resources::complete_argument(
            &self.context,
            &request.argument.name,
            &request.argument.value,
        );
        let info =
            CompletionInfo::new(values).map_err(|text| ErrorData::internal_error(text, None))?;
        Ok(CompleteResult::new(info))
    }
}

/// Says what is wrong with the parameters of a known method.
fn wrong_parameters(method: &str, params: Option<Value>) -> Option<String> {
    let params = params.unwrap_or_default();
    let error = match method {
        "resources/read" => from_value::<ReadResourceRequestParams>(params).err(),
        "resources/subscribe" => from_value::<SubscribeRequestParams>(params).err(),
        "resources/unsubscribe" => from_value::<UnsubscribeRequestParams>(params).err(),
        "prompts/get" => from_value::<GetPromptRequestParams>(params).err(),
        "completion/complete" => from_value::<CompleteRequestParams>(params).err(),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            from_value::<PaginatedRequestParams>(params).err()
        }
        "initialize" => from_value::<InitializeRequestParams>(params).err(),
        _ => None,
    }?;
    Some(format!("the parameters of {method} are wrong: {error}"))
}

/// Parses a tool call whose parameters did not fit. Arguments in the form of a JSON text are
/// accepted.
fn call_of(mut params: Value) -> Result<CallToolRequestParams, String> {
    let arguments = params.get_mut("arguments");
    if let Some(given) = arguments.filter(|given| !given.is_object() && !given.is_null()) {
        let object = given
            .as_str()
            .and_then(|text| serde_json::from_str::<JsonObject>(text.trim()).ok());
        let kind = match given {
            Value::String(_) => "a text without a JSON object",
            Value::Array(_) => "a list",
            Value::Number(_) => "a number",
            _ => "a boolean",
        };
        *given = Value::Object(object.ok_or_else(|| {
            format!(
                "`arguments` of tools/call is {kind}; give an object, such as {{\"job_id\": \"123\"}}"
            )
        })?);
    }
    from_value(params).map_err(|error| format!("the parameters of tools/call are wrong: {error}"))
}

fn invalid_params(trouble: &ToolError) -> ErrorData {
    ErrorData::invalid_params(trouble.to_string(), None)
}
