//! The echo server on rmcp, with a tool that never answers and subscriptions.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::place::Held;
use crate::rmcp_server::EchoServer;

/// The tools of [`EchoServer`], and `hold`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpEcho;

impl ServerHandler for HttpEcho {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("bench", "1.0.0"))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "hold" {
            let _held = Held::begun();
            // A handler has to look for itself.
            context.ct.cancelled().await;
            return Ok(CallToolResponse::Complete(CallToolResult::success(Vec::new())));
        }
        EchoServer.call_tool(request, context).await
    }
}
