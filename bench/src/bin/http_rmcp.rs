//! The echo server on rmcp over HTTP, its service right under hyper: `http_rmcp tokio <json|sse>`.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sansio_mcp_bench::http::{HttpEcho, place};

fn main() -> io::Result<()> {
    place::begin_server()?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let json = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tokio", "json"] => true,
        ["tokio", "sse"] => false,
        _ => return Err(io::Error::other("usage: http_rmcp tokio <json|sse>")),
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(json);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(HttpEcho), sessions, config);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        place::announce(listener.local_addr()?.port())?;
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let service = service.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, Infallible>(service.handle(request).await) }
                });
                // Clients that go are none of its business.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), answer)
                    .await;
            });
        }
    })
}
