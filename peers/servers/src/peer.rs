//! The server as a child process, and our client connected to it.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::time::Duration;

use sansio_mcp_sdk::client::{Cache, Client, ClientSetup};
use sansio_mcp_stdio::{Ended, Launch};
use serde_json::{Value, json};

use crate::person::Person;
use crate::tally::Failure;

/// How long the server may take to exit once its input has ended: an interpreter takes a while.
pub(crate) const EXIT_WAIT: Duration = Duration::from_secs(5);

/// What the server was written with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Python,
    Npm,
}

pub(crate) struct Peer {
    pub(crate) kind: Kind,
    pub(crate) client: Client,
    pub(crate) person: Person,
    pub(crate) cache: Cache,
    pub(crate) running: smol::Task<Ended>,
}

/// Starts the server and connects a client.
pub(crate) fn launch(
    command: &[OsString],
    setup: ClientSetup,
    exit_wait: Duration,
) -> io::Result<(Client, smol::Task<Ended>)> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| io::Error::other("there is no command to launch"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    let launch = Launch::new(command).exit_wait(exit_wait);
    let (client, running) = sansio_mcp_stdio::launch(launch, setup)?;
    Ok((client, smol::spawn(running)))
}

impl Peer {
    pub(crate) fn launch(kind: Kind, command: &[OsString]) -> io::Result<Self> {
        let (person, cache) = (Person::new(), Cache::default());
        let setup = person.client().cache(cache.clone()).build().map_err(io::Error::other)?;
        let (client, running) = launch(command, setup, EXIT_WAIT)?;
        Ok(Self { kind, client, person, cache, running })
    }

    /// Calls a tool that says one text.
    pub(crate) async fn says(&self, tool: &str, arguments: Value) -> Result<String, Failure> {
        let result = self.client.call_tool(tool, &arguments).await?;
        if result.is_error() {
            return Err(format!("{tool} failed: {result:?}").into());
        }
        Ok(result.first_text().ok_or("no text")?.to_owned())
    }

    /// The keys of the calls of `wait` that were cancelled, as the server saw it.
    pub(crate) async fn cancelled(&self) -> Result<Vec<String>, Failure> {
        #[derive(serde::Deserialize)]
        struct Keys {
            keys: Vec<String>,
        }
        let result = self.client.call_tool("cancelled", &json!({})).await?;
        Ok(result.structured_as::<Keys>()?.ok_or("nothing structured")?.keys)
    }
}
