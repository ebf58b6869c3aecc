//! The echo server on this library, shared by the in-memory measurement and `stdio_ours`: written as a user would.

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::server::{Asked, Builder, Context, Exit, Form, Progress, Server};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::harness::Wrong;
use crate::load::{PROGRESS_MESSAGE, PROGRESS_STEPS};

/// The arguments of both tools.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Echo {
    /// Comes back as it is.
    pub text: String,
}

/// The same, as a client that owns its texts sends it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EchoOf<'a> {
    /// What is to be echoed.
    pub text: &'a str,
}

/// The tools `echo`, `echo_progress`, and `echo_asked`, which asks first whether it may.
pub fn server() -> Result<Server<Local>, Wrong> {
    tools().build().map_err(Wrong::when("building the server"))
}

/// The same, to be added to.
pub fn tools() -> Builder<Local> {
    Server::<Local>::builder("bench", "1.0.0")
        .tool("echo", async |echo: Echo, _: Context<(), Local>| {
            Ok::<_, Exit>(echo.text)
        })
        .tool("echo_progress", async |echo: Echo, cx: Context<(), Local>| {
            for step in 1..=PROGRESS_STEPS {
                let progress = Progress::new(f64::from(step))
                    .of(f64::from(PROGRESS_STEPS))
                    .message(PROGRESS_MESSAGE);
                cx.report(&progress);
            }
            Ok::<_, Exit>(echo.text)
        })
        .tool("echo_asked", async |echo: Echo, cx: Context<(), Local>| match cx
            .ask("may_i", Form::new("May I?"))?
        {
            Asked::Accepted(_) => Ok(echo.text),
            Asked::Declined | Asked::Cancelled => Err(Exit::failure("it was not allowed")),
        })
        .list_changes()
}
