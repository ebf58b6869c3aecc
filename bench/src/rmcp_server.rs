//! The echo server on rmcp, shared by the in-memory measurement and `stdio_rmcp`.
//!
//! Tools are dispatched by hand in `call_tool`, which is faster than rmcp's router of macros, and arguments are taken
//! out of its map without a copy: rmcp at its best.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::load::{PROGRESS_MESSAGE, PROGRESS_STEPS};

/// The tools `echo` and `echo_progress`.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoServer;

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bench", "1.0.0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request
            .arguments
            .and_then(|mut arguments| arguments.remove("text"));
        let Some(Value::String(text)) = text else {
            return Err(ErrorData::invalid_params("text has to be a string", None));
        };
        match &*request.name {
            "echo" => {}
            "echo_progress" => {
                let token = context
                    .meta
                    .get_progress_token()
                    .ok_or_else(|| ErrorData::invalid_params("a progress token is needed", None))?;
                for step in 1..=PROGRESS_STEPS {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(step))
                        .with_total(f64::from(PROGRESS_STEPS))
                        .with_message(PROGRESS_MESSAGE);
                    context
                        .peer
                        .notify_progress(progress)
                        .await
                        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                }
            }
            _ => return Err(ErrorData::invalid_params("unknown tool", None)),
        }
        Ok(CallToolResponse::Complete(CallToolResult::success(vec![
            ContentBlock::text(text),
        ])))
    }
}
