//! The server of the conformance suite.
//!
//! ```text
//! server --stdio
//! server --http ADDRESS [--auto|--json|--events]
//! ```
//!
//! Over HTTP it says first where it is, in one line. Port 0 is one that is free. The last word says which form answers have; without
//! it it is `--auto`.

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;

use sansio_mcp_conformance::server;
use sansio_mcp_http::server::{Config, Endpoint, Mode, smol as http};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let words: Vec<_> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--stdio"] => smol::block_on(sansio_mcp_stdio::serve(server::builder()?.build()?))?,
        ["--http", address] | ["--http", address, "--auto"] => over_http(address, Mode::Auto)?,
        ["--http", address, "--json"] => over_http(address, Mode::JsonOnly)?,
        ["--http", address, "--events"] => over_http(address, Mode::SseOnly)?,
        _ => {
            eprintln!("usage: server --stdio, or server --http ADDRESS [--auto|--json|--events]");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn over_http(address: &str, mode: Mode) -> Result<(), Box<dyn Error>> {
    let address: SocketAddr = address.parse()?;
    let endpoint =
        Endpoint::new(server::builder()?.build()?).config(Config::new().mode(mode)).address(address);
    let bound = http::bind(endpoint)?;
    println!("{}", bound.url());
    smol::block_on(bound.serve())?;
    Ok(())
}
