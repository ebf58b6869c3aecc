//! The bookshop as a server for any MCP client, on stdin and stdout or over HTTP:
//!
//! ```text
//! cargo run --example bookshop
//! cargo run --example bookshop -- --http 127.0.0.1:3000 [--host NAME].. [--origin ORIGIN]..
//! ```
//!
//! What it has to tell its operator goes to stderr; `RUST_LOG=trace` tells more. Over HTTP its URL is the one line on stdout; it
//! serves this machine alone, unless further names of it (`--host`) and origins of pages (`--origin`) are listed, and leaves
//! in order on SIGINT and SIGTERM: what it has accepted it finishes.
//!
//! `BOOKSHOP_STATE_KEY`, 64 hexadecimal digits from a random source (`openssl rand -hex 32`), is the key that seals the
//! state of a question. Several bookshops with one key go on with each other's questions. Without it each process
//! makes a key of its own, and a question can be answered to that process alone.
//!
//! It is winter while the file exists that `BOOKSHOP_WINTER` names; the shop then offers more, and tells those who listen.

mod http;
#[path = "../shop/mod.rs"]
mod shop;

use std::env::{self, VarError};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Http;
use sansio_mcp_sdk::server::{KeyRing, SealKey, SystemEntropy, UpdateError};
use sansio_mcp_stdio::{SystemClock, serve};
use shop::{Season, Shop};

const STATE_KEY: &str = "BOOKSHOP_STATE_KEY";
const WINTER: &str = "BOOKSHOP_WINTER";
/// How often the shop looks whether it is winter.
const LOOKS: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let level = env::var("RUST_LOG").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level.unwrap_or(tracing::Level::WARN))
        .init();

    let http = Http::from_arguments(env::args().skip(1))?;
    // Process numbers would not do: replicas in containers have the same.
    let desk = format!("{:016x}", getrandom::u64()?);
    let shop = Shop::new(Arc::new(SystemClock::new()), desk, std::thread::sleep);
    let season = shop.season();
    // A host may ask for much at once: 256 run side by side, the rest waits.
    let mut server = shop::server(shop).slots(256).queue(4096);
    if let Some(key) = state_key()? {
        server = server.state_keys(KeyRing::new(key, SystemEntropy));
    }
    let server = server.build()?;
    let _keeper = env::var_os(WINTER).map(|file| smol::spawn(keep(season, file.into())));
    match http {
        Some(http) => smol::block_on(http.serve(server))?,
        None => smol::block_on(serve(server))?,
    }
    Ok(())
}

/// Opens and closes the season, until the server has gone.
async fn keep(season: Season, file: PathBuf) -> Result<(), UpdateError> {
    let mut winter = false;
    loop {
        let now = smol::fs::metadata(&file).await.is_ok();
        if now != winter {
            if now { season.open() } else { season.close() }?;
            winter = now;
        }
        smol::Timer::after(LOOKS).await;
    }
}

/// The configured key. What is wrong with one is told without repeating it.
fn state_key() -> Result<Option<SealKey>, String> {
    let text = match env::var(STATE_KEY) {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => return Err(format!("{STATE_KEY} is not text")),
    };
    SealKey::from_hex(&text).map(Some).map_err(|error| format!("{STATE_KEY}: {error}"))
}
