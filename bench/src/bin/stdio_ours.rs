//! The echo server on this library over standard streams, on smol.

use std::io;

use sansio_mcp_bench::ours_server::server;
use sansio_mcp_stdio::serve;

fn main() -> io::Result<()> {
    smol::block_on(serve(server().map_err(io::Error::other)?))
}
