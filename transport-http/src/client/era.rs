//! Whether a server speaks this revision at all (basic/versioning, "Backward Compatibility with Initialization-Based
//! Versions").

use sansio_mcp::client::PeerError;
use sansio_mcp::code::wire;
use sansio_mcp::model::DiscoverResult;
use sansio_mcp_sdk::client::{CallError, Client};
use serde::Deserialize;

use super::failure::code;

/// Revisions with a handshake, which are spoken otherwise.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a server speaks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Era {
    /// A revision without a handshake, 2026-07-28 or later. What it offers.
    Modern(Box<DiscoverResult>),
    /// Earlier ones alone, with a handshake, which this client does not speak.
    Legacy(LegacyServer),
}

/// A server of earlier revisions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LegacyServer {
    /// The revisions it named, if it did.
    pub versions: Vec<String>,
    /// How it answered, for people.
    pub answer: String,
}

/// Asks a server over HTTP what it speaks, by `server/discover`.
///
/// A server that refuses that as only those of earlier revisions do, or that names earlier revisions alone, is
/// [`Era::Legacy`].
///
/// # Errors
/// Everything that says nothing about revisions: 401, 403, a failing or busy server, a connection that fails, time-outs.
pub async fn detect(client: &Client) -> Result<Era, CallError> {
    let error = match client.discover().await {
        Ok(found) => {
            let modern = found.supported_versions.iter().any(|version| !LEGACY.contains(&version.as_str()));
            if modern {
                return Ok(Era::Modern(Box::new(found)));
            }
            let answer = "server/discover names no revision without a handshake".into();
            return Ok(Era::Legacy(LegacyServer { versions: found.supported_versions, answer }));
        }
        Err(error) => error,
    };
    match &error {
        CallError::Transport(transport) if transport.code == code::LEGACY_SERVER => {
            Ok(Era::Legacy(LegacyServer { versions: Vec::new(), answer: transport.to_string() }))
        }
        CallError::Peer(peer) => match legacy_alone(peer) {
            Some(versions) => Ok(Era::Legacy(LegacyServer { versions, answer: peer.to_string() })),
            None => Err(error),
        },
        _ => Err(error),
    }
}

/// The revisions of a server that supports earlier ones alone.
fn legacy_alone(error: &PeerError) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data = error.data.as_deref().filter(|_| error.code == wire::UNSUPPORTED_VERSION)?;
    let Data { supported } = serde_json::from_str(data).ok()?;
    let legacy = !supported.is_empty() && supported.iter().all(|version| LEGACY.contains(&version.as_str()));
    legacy.then_some(supported)
}
