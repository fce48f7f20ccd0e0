//! What the conformance suites call by name, around the server as it is. Everything else goes through to that server.
#![expect(
    deprecated,
    reason = "the suites still ask for sampling, roots and subscriptions of the older era"
)]

mod content;
mod questions;

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use phileas::mcp::{PhileasApi, Server, TickAnswer, ToolError};
use phileas_domain::engine::{MergeFacts, MergeMethod, RunRequest, Snapshot};
use phileas_domain::model::{Oid, PullNumber, RepositoryName};
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

/// The suites ask nothing of a repository.
pub(crate) struct NoHouse;

fn nothing<T>() -> Result<T, ToolError> {
    Err(ToolError::new("there is no repository here"))
}

#[async_trait]
impl PhileasApi for NoHouse {
    async fn explain_repository(
        &self,
        _: &RepositoryName,
        _: RunRequest,
    ) -> Result<(TickAnswer, Box<Snapshot>), ToolError> {
        nothing()
    }

    async fn run(&self, _: &RepositoryName, _: RunRequest) -> Result<TickAnswer, ToolError> {
        nothing()
    }

    async fn read_state(&self, _: &RepositoryName) -> Result<Option<String>, ToolError> {
        nothing()
    }

    async fn read_text(&self, _: &RepositoryName, _: &str) -> Result<Option<String>, ToolError> {
        nothing()
    }

    async fn merge_facts(
        &self,
        _: &RepositoryName,
        _: PullNumber,
    ) -> Result<Option<MergeFacts>, ToolError> {
        nothing()
    }

    async fn merge_pull(
        &self,
        _: &RepositoryName,
        _: PullNumber,
        _: &Oid,
        _: MergeMethod,
    ) -> Result<(), ToolError> {
        nothing()
    }
}

/// The server with the fixtures.
#[derive(Clone)]
pub(crate) struct Decorated {
    server: Server,
    seal: RequestStateCodec,
}

impl Decorated {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            seal: RequestStateCodec::new_unchecked([9; 32]),
        }
    }

    pub(crate) fn for_another(&self) -> Self {
        Self {
            server: self.server.for_another(),
            seal: self.seal.clone(),
        }
    }
}

const PLAIN: [(&str, &str); 9] = [
    ("test_simple_text", "A text"),
    ("test_image_content", "An image"),
    ("test_audio_content", "A sound"),
    ("test_embedded_resource", "A resource"),
    ("test_multiple_content_types", "Several blocks"),
    ("test_error_handling", "An error"),
    ("test_tool_with_progress", "Progress"),
    ("test_sampling", "Asks a model"),
    ("test_missing_capability", "Needs sampling"),
];

fn tools() -> Vec<Tool> {
    let object = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    let empty = || object(json!({"type": "object", "properties": {}}));
    let mut tools: Vec<Tool> = PLAIN
        .iter()
        .chain(questions::TOOLS.iter())
        .map(|(name, text)| Tool::new(*name, *text, empty()))
        .collect();
    tools.push(Tool::new(
        "json_schema_2020_12_tool",
        "A schema with everything",
        object(content::schema()),
    ));
    tools.push(Tool::new(
        "test_custom_header",
        "A parameter that travels as a header, too",
        object(json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})),
    ));
    tools
}

impl ServerHandler for Decorated {
    fn get_info(&self) -> ServerConfig {
        self.server.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.server.initialize(request, context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(request, context).await?;
        listed.tools.extend(tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let own = tools().into_iter().find(|tool| tool.name == name);
        own.or_else(|| self.server.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(result) = content::of_tool(&request.name) {
            return Ok(result.into());
        }
        match request.name.as_ref() {
            "test_tool_with_progress" => {
                let token = context.meta.get_progress_token();
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = &token {
                        let progress =
                            ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
                        let _unheard = context.peer.notify_progress(progress).await;
                    }
                    // The suite wants to see them arrive one after another.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
            }
            "test_missing_capability" => {
                let capabilities = context.client_capabilities();
                if capabilities.is_some_and(|known| known.sampling.is_some()) {
                    return Ok(
                        CallToolResult::success(vec![ContentBlock::text("it is there")]).into(),
                    );
                }
                let needed = ClientCapabilities::builder().enable_sampling().build();
                Err(ErrorData::missing_required_client_capability(needed))
            }
            name if questions::is_one(name) => questions::ask(&self.seal, request, context).await,
            _ => self.server.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.server.list_resources(request, context).await?;
        listed.resources.extend(content::resources());
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self
            .server
            .list_resource_templates(request, context)
            .await?;
        listed.resource_templates.push(
            ResourceTemplate::new("test://template/{id}/data", "template")
                .with_mime_type("application/json"),
        );
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match content::read(&request.uri) {
            Some(result) => Ok(result.into()),
            None => self.server.read_resource(request, context).await,
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.server.listen(context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri == content::WATCHED {
            return Ok(());
        }
        self.server.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.unsubscribe(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.server.list_prompts(request, context).await?;
        listed.prompts.extend(content::prompts());
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == questions::PROMPT {
            return Ok(questions::of_prompt(&request));
        }
        match content::prompt(&request) {
            Some(result) => Ok(result.into()),
            None => self.server.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.server.complete(request, context).await
    }
}
