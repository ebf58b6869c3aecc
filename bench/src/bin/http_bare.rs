//! Bare hyper that reads, checks and answers the same: `http_bare <smol|tokio> <json|streamed|whole>`.

use std::future::Future;
use std::io;
use std::net::TcpListener;

use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sansio_mcp_bench::http::{Answering, place};
use smol_hyper::rt::FuturesIo;

fn main() -> io::Result<()> {
    place::begin_server()?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (runtime, answering) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [runtime, "json"] => (runtime, Answering::Json),
        [runtime, "streamed"] => (runtime, Answering::Streamed),
        [runtime, "whole"] => (runtime, Answering::AtOnce),
        _ => ("", Answering::Json),
    };
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    match runtime {
        "smol" => {
            place::announce(port)?;
            let executor = smol::LocalExecutor::new();
            smol::block_on(executor.run(async {
                let listener = smol::net::TcpListener::try_from(listener)?;
                loop {
                    let (socket, _) = listener.accept().await?;
                    socket.set_nodelay(true)?;
                    executor.spawn(serve(FuturesIo::new(socket), answering)).detach();
                }
            }))
        }
        "tokio" => {
            place::announce(port)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                loop {
                    let (socket, _) = listener.accept().await?;
                    socket.set_nodelay(true)?;
                    tokio::spawn(serve(TokioIo::new(socket), answering));
                }
            })
        }
        _ => Err(io::Error::other(
            "usage: http_bare <smol|tokio> <json|streamed|whole>",
        )),
    }
}

fn serve<I: Read + Write + Unpin>(io: I, answering: Answering) -> impl Future<Output = ()> {
    let connection =
        http1::Builder::new().serve_connection(io, service_fn(move |request| answering.answer(request)));
    async move {
        // Clients that go are none of its business.
        let _ = connection.await;
    }
}
