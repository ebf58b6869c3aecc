//! HTTP over sockets of the operating system: hyper at both ends of a TCP connection of this machine, each request on one of its
//! own. The lab knows what the kernel is about to say, as it does of pipes, so that time stands still meanwhile.

use std::future::Future;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use http::{HeaderValue, Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use sansio_mcp_http::client::BoxError;
use sansio_mcp_http::server::Service;
use sansio_mcp_memory::{Lab, Task};
use smol_hyper::rt::FuturesIo;

use crate::os_pipe::{Flow, Role, Tracked};

/// One end of a TCP connection.
struct Socket {
    reader: Tracked,
    writer: Tracked,
}

/// Makes a connection.
fn sockets(lab: &Lab) -> io::Result<(Socket, Socket)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    let (there, back) = (Arc::default(), Arc::default());
    Ok((Socket::new(lab, &near, &back, &there)?, Socket::new(lab, &far, &there, &back)?))
}

impl Socket {
    fn new(lab: &Lab, stream: &TcpStream, read: &Flow, written: &Flow) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: Tracked::new(lab, stream.try_clone()?, read, Role::Reader),
            writer: Tracked::new(lab, stream.try_clone()?, written, Role::Writer),
        })
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.reader.poll(cx, |file, cx| file.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.writer.poll(cx, |file, cx| file.poll_write(cx, buffer))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Dropping it is what closes it.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// An HTTP client that has a connection to the service for each request.
#[derive(Clone)]
pub(crate) struct Dial {
    pub(crate) lab: Lab,
    pub(crate) service: Service,
}

impl<B> tower_service::Service<Request<B>> for Dial
where
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Dialled>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Dialled>, BoxError>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Self { lab, service } = self.clone();
        request.headers_mut().entry(header::HOST).or_insert(HeaderValue::from_static("127.0.0.1:3000"));
        Box::pin(async move {
            let (near, far) = sockets(&lab)?;
            let serves = service_fn(move |request| service.call_shared(request));
            let server = hyper::server::conn::http1::Builder::new();
            let served = server.serve_connection(FuturesIo::new(far), serves);
            lab.spawn(async move { drop(served.await) });
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(FuturesIo::new(near)).await?;
            let connection = Open(lab.spawn(async move { drop(connection.await) }));
            let response = sender.send_request(request).await?;
            Ok(response.map(|body| Dialled { body, _connection: connection }))
        })
    }
}

/// Dropping it closes the connection.
struct Open(Task<()>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a response, with its connection.
pub(crate) struct Dialled {
    body: Incoming,
    _connection: Open,
}

impl Body for Dialled {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
