//! The shop over HTTP.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;

use async_signal::{Signal, Signals};
use sansio_mcp_http::origin::Policy;
use sansio_mcp_http::server::{Config, Endpoint, Handle, smol};
use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::Server;

/// Where it listens, and to whom.
pub(super) struct Http {
    address: SocketAddr,
    policy: Policy,
}

impl Http {
    /// What the command line says; without `--http` nothing.
    pub(super) fn from_arguments(
        arguments: impl Iterator<Item = String>,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        let (mut address, mut policy) = (None, Policy::default());
        let mut arguments = arguments.peekable();
        let any = arguments.peek().is_some();
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{option} wants a value"))?;
            match &*option {
                "--http" => address = Some(value.parse().map_err(|_| format!("{value} is no ADDRESS:PORT"))?),
                "--host" => policy = policy.allow_host(&value)?,
                "--origin" => policy = policy.allow_origin(&value)?,
                _ => return Err(format!("unknown: {option}").into()),
            }
        }
        match address {
            None if any => Err("hosts and origins are of HTTP: --http is missing".into()),
            None => Ok(None),
            Some(address) => Ok(Some(Self { address, policy })),
        }
    }

    /// Serves until a signal, and what comes of that, is over.
    pub(super) async fn serve(self, server: Server<Shared>) -> Result<(), Box<dyn Error>> {
        let config = Config::new().policy(self.policy);
        let bound = smol::bind(Endpoint::new(server).address(self.address).config(config))?;
        let _leaving = ::smol::spawn(leave(signals()?, bound.handle()));
        writeln!(std::io::stdout(), "{}", bound.url())?;
        bound.serve().await?;
        Ok(())
    }
}

fn signals() -> std::io::Result<Signals> {
    let wanted = [Signal::Int, Signal::Term];
    // Elsewhere there is only the first.
    Signals::new(wanted.iter().take(if cfg!(unix) { 2 } else { 1 }))
}

async fn leave(mut signals: Signals, handle: Handle) {
    while ::smol::stream::StreamExt::next(&mut signals).await.is_some() {
        handle.shutdown();
    }
}
