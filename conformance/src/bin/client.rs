//! The client of the conformance suite.
//!
//! ```text
//! client --stdio COMMAND [ARGUMENT...]
//! ```
//!
//! `MCP_CONFORMANCE_SCENARIO` says what to do, `MCP_CONFORMANCE_CONTEXT` with what. The exit code is 0 when it was done, 1
//! when something failed, 2 when this client cannot do it.

use std::env;
use std::process::{Command, ExitCode};

use sansio_mcp_conformance::client::{Failure, Scenario, setup};
use sansio_mcp_sdk::client::Client;

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let words: Vec<_> = env::args().skip(1).collect();
    let [how, command, arguments @ ..] = &words[..] else { return usage() };
    if how != "--stdio" {
        return usage();
    }
    smol::block_on(over_stdio(Command::new(command).args(arguments)))
}

fn usage() -> ExitCode {
    eprintln!("usage: client --stdio COMMAND [ARGUMENT...]");
    ExitCode::from(2)
}

async fn over_stdio(command: &mut Command) -> ExitCode {
    let command = std::mem::replace(command, Command::new(""));
    let launched = setup().map_err(|error| error.to_string()).and_then(|setup| {
        sansio_mcp_stdio::launch(command, setup)
            .map_err(|error| format!("the server cannot be launched: {error}"))
    });
    let (client, server) = match launched {
        Ok(launched) => launched,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let server = smol::spawn(server);
    let played = play(&client).await;
    drop(client);
    server.await;
    told(played)
}

async fn play(client: &Client) -> Result<(), Failure> {
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default().parse::<Scenario>()?;
    scenario.play(client, &env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default()).await
}

fn told(played: Result<(), Failure>) -> ExitCode {
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(if matches!(why, Failure::UnknownScenario(_)) { 2 } else { 1 })
        }
    }
}
