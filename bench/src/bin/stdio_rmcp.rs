//! The echo server on rmcp over standard streams: `stdio_rmcp <pipes|default> <current|multi>`.

use std::io;

use rmcp::ServiceExt;
use rmcp::transport::{stdio, stdio_pipes};
use sansio_mcp_bench::rmcp_server::EchoServer;
use tokio::runtime::Builder;

fn main() -> io::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (pipes, mut runtime) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pipes", "current"] => (true, Builder::new_current_thread()),
        ["pipes", "multi"] => (true, Builder::new_multi_thread()),
        ["default", "current"] => (false, Builder::new_current_thread()),
        ["default", "multi"] => (false, Builder::new_multi_thread()),
        _ => {
            return Err(io::Error::other(
                "usage: stdio_rmcp <pipes|default> <current|multi>",
            ));
        }
    };
    runtime.enable_all().build()?.block_on(async {
        let service = if pipes {
            EchoServer.serve(stdio_pipes()).await
        } else {
            EchoServer.serve(stdio()).await
        };
        service.map_err(io::Error::other)?.waiting().await?;
        Ok(())
    })
}
