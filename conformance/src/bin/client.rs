//! The client of the conformance suite.
//!
//! ```text
//! client URL
//! client --stdio COMMAND [ARGUMENT...]
//! ```
//!
//! `MCP_CONFORMANCE_SCENARIO` says what to do, `MCP_CONFORMANCE_CONTEXT` with what. The exit code is 0 when it was done, 1
//! when something failed, 2 when this client cannot do it.

use std::env;
use std::error::Error;
use std::future::Future;
use std::process::{Command, ExitCode};

use sansio_mcp_conformance::client::{Failure, Scenario, setup};
use sansio_mcp_http::client::smol as http;
use sansio_mcp_sdk::client::Client;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let words: Vec<_> = env::args().skip(1).collect();
    let played = match &words[..] {
        [how, command, arguments @ ..] if how == "--stdio" => {
            let mut command = Command::new(command);
            command.args(arguments);
            let (client, server) = sansio_mcp_stdio::launch(command, setup()?)?;
            smol::block_on(play(client, server))
        }
        [url] if !url.starts_with('-') => {
            let (client, driver) = http::connect(url, setup()?)?;
            smol::block_on(play(client, driver))
        }
        _ => {
            eprintln!("usage: client URL, or client --stdio COMMAND [ARGUMENT...]");
            return Ok(ExitCode::from(2));
        }
    };
    Ok(match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(if matches!(why, Failure::UnknownScenario(_)) { 2 } else { 1 })
        }
    })
}

/// Plays the scenario beside whatever moves the client's messages, and lets that come to its end.
async fn play(client: Client, driver: impl Future + Send + 'static) -> Result<(), Failure> {
    let driver = smol::spawn(async move { drop(driver.await) });
    let played = scenario(&client).await;
    drop(client);
    driver.await;
    played
}

async fn scenario(client: &Client) -> Result<(), Failure> {
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default().parse::<Scenario>()?;
    scenario.play(client, &env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default()).await
}
