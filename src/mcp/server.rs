//! Requests of the protocol, answered.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::desk::Desk;
use super::offer::{Call, Offer, failed};
use super::trouble::Trouble;
use super::{revision, tools};

/// The server. Clones share everything.
#[derive(Clone)]
pub struct Server {
    desk: Arc<Desk>,
    offers: Arc<Vec<Offer>>,
}

impl Server {
    /// A server of the tools that this desk's policy allows.
    #[must_use]
    pub fn new(desk: Desk) -> Self {
        Self {
            desk: Arc::new(desk),
            offers: Arc::new(tools::all()),
        }
    }

    fn is_offered(&self, offer: &Offer) -> bool {
        !(self.desk.policy.read_only && offer.effect.writes())
    }

    fn offer(&self, name: &str) -> Result<&Offer, Trouble> {
        let offer = self.offers.iter().find(|offer| offer.tool.name == name);
        let offer = offer.ok_or_else(|| {
            Trouble::new(format!(
                "there is no tool `{name}`; tools/list shows those that there are"
            ))
        })?;
        if self.is_offered(offer) {
            Ok(offer)
        } else {
            Err(Trouble::new(format!(
                "{name} would change something, and this server was started read-only; a person can start it without \
                 `--read-only`"
            )))
        }
    }
}

/// The revision of a request. A client that names none has shaken hands with the newest that knows handshakes.
fn revision_of(context: &RequestContext<RoleServer>) -> ProtocolVersion {
    let version = context.protocol_version();
    version.unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        revision::config(&ProtocolVersion::LATEST)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let agreed = self.negotiate_initialize(&request)?.protocol_version;
        Ok(revision::config(&agreed).with_protocol_version(agreed))
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
        Some(self.offer(name).ok()?.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let revision = revision_of(&context);
        let answer = match self.offer(&request.name) {
            Ok(offer) => {
                let call = Call { request, context };
                offer.call(Arc::clone(&self.desk), call).await
            }
            Err(trouble) => failed(&trouble).into(),
        };
        Ok(match answer {
            CallToolResponse::Complete(result) => revision::result_for(&revision, result).into(),
            other => other,
        })
    }
}
