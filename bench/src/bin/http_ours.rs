//! The echo server on this library over HTTP: `http_ours <smol|tokio> <auto|json|sse>`.

use std::io;

use sansio_mcp_bench::http::{ours_server, place};
use sansio_mcp_http::server::{Config, Endpoint, Mode, smol, tokio};

fn main() -> io::Result<()> {
    place::begin_server()?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let usage = || io::Error::other("usage: http_ours <smol|tokio> <auto|json|sse>");
    let [runtime, mode] = &arguments[..] else {
        return Err(usage());
    };
    let mode = match mode.as_str() {
        "auto" => Mode::Auto,
        "json" => Mode::JsonOnly,
        "sse" => Mode::SseOnly,
        _ => return Err(usage()),
    };
    let endpoint = Endpoint::new(ours_server().map_err(io::Error::other)?)
        .address(([127, 0, 0, 1], 0))
        .config(Config::new().mode(mode));
    match runtime.as_str() {
        "smol" => {
            let bound = smol::bind(endpoint).map_err(io::Error::other)?;
            place::announce(bound.local_addr().port())?;
            ::smol::block_on(bound.serve())
        }
        "tokio" => {
            let bound = tokio::bind(endpoint).map_err(io::Error::other)?;
            place::announce(bound.local_addr().port())?;
            let runtime = ::tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(bound.serve())
        }
        _ => Err(usage()),
    }
}
