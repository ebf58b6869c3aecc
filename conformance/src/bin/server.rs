//! The server of the conformance suite.
//!
//! ```text
//! server --stdio
//! ```

use std::env;
use std::error::Error;
use std::process::ExitCode;

use sansio_mcp_conformance::server;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let words: Vec<_> = env::args().skip(1).collect();
    if words != ["--stdio"] {
        eprintln!("usage: server --stdio");
        return Ok(ExitCode::from(2));
    }
    smol::block_on(sansio_mcp_stdio::serve(server::builder()?.build()?))?;
    Ok(ExitCode::SUCCESS)
}
