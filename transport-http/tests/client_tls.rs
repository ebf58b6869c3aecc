//! TLS and HTTP/2: what is agreed on, whom the client trusts.
#![cfg(all(feature = "tls", feature = "smol", feature = "tokio"))]
#![allow(clippy::unwrap_used)]

mod sockets;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use futures_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use http::{Request, Response};
use http_body::Body;
use sansio_mcp_http::client::Options;
use serde_json::{Value, json};
use sockets::{on_each, serve_with};

fn certificate() -> (ServerConfig, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, Arc::new(client))
}

#[test]
fn http1_within_tls() {
    let (server, client) = certificate();
    let config = Arc::new(server);
    let server = serve_with(
        "https",
        move |stream| {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            Some(Box::new(rustls::StreamOwned::new(session, stream)))
        },
        |connection, request| {
            connection.json(&request.answer(request.name()));
            true
        },
    );
    let before = Arc::new(Mutex::new(0));
    on_each(&server.url, &Options::new().tls(client), async |client| {
        for n in 0..3 {
            let fill = "x".repeat(n * 50_000);
            let result = client.call_tool(&fill, &json!({})).await.unwrap();
            assert_eq!(result.first_text(), Some(fill.as_str()));
        }
        let mut before = before.lock().unwrap();
        assert_eq!(server.connections() - *before, 1);
        *before = server.connections();
    });
    // Nobody vouches for this certificate.
    let (_, stranger) = certificate();
    on_each(&server.url, &Options::new().tls(stranger), async |client| {
        let calls = [client.call_tool("a", &json!({})), client.call_tool("b", &json!({}))].map(smol::spawn);
        for call in calls {
            let error = call.await.unwrap_err();
            assert_eq!(error.code(), "LOST");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
    });
}

#[derive(Clone, Copy)]
struct Exec;

impl<F: Future<Output: Send> + Send + 'static> hyper::rt::Executor<F> for Exec {
    fn execute(&self, future: F) {
        smol::spawn(future).detach();
    }
}

/// Answers with the name of the tool and the version of HTTP; connections are counted.
fn serve_http2(tls: Option<ServerConfig>) -> (String, Arc<Mutex<usize>>) {
    let listener = smol::block_on(smol::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://localhost:{}/mcp", listener.local_addr().unwrap().port());
    let connections = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&connections);
    let tls = tls.map(|config| futures_rustls::TlsAcceptor::from(Arc::new(config)));
    smol::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            *counted.lock().unwrap() += 1;
            let tls = tls.clone();
            smol::spawn(async move {
                let service = hyper::service::service_fn(answer);
                let builder = hyper::server::conn::http2::Builder::new(Exec);
                let _ = match tls {
                    None => builder.serve_connection(smol_hyper::rt::FuturesIo::new(stream), service).await,
                    Some(tls) => {
                        let Ok(stream) = tls.accept(stream).await else { return };
                        builder.serve_connection(smol_hyper::rt::FuturesIo::new(stream), service).await
                    }
                };
            })
            .detach();
        }
    })
    .detach();
    (url, connections)
}

struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;
    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let bytes = std::mem::take(&mut self.0);
        std::task::Poll::Ready((!bytes.is_empty()).then(|| Ok(http_body::Frame::data(bytes))))
    }
}

async fn answer(
    request: Request<hyper::body::Incoming>,
) -> Result<Response<Whole>, std::convert::Infallible> {
    let (parts, mut body) = request.into_parts();
    assert!(parts.uri.authority().is_some_and(|authority| authority.host() == "localhost"));
    let mut text = Vec::new();
    while let Some(Ok(frame)) = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await
    {
        if let Ok(data) = frame.into_data() {
            text.extend_from_slice(&data);
        }
    }
    let message: Value = serde_json::from_slice(&text).unwrap();
    if message["params"]["name"] == "silent" {
        std::future::pending::<()>().await;
    }
    let said = format!("{} {:?}", message["params"]["name"].as_str().unwrap(), parts.version);
    let result = json!({"content": [{"type": "text", "text": said}]});
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Whole(answer.into())).unwrap())
}

#[test]
fn http2_has_one_connection_for_all() {
    let (mut server, client) = certificate();
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    for (tls, options) in [
        (None, Options::new().http2_prior_knowledge()),
        (Some(server.clone()), Options::new().tls(Arc::clone(&client))),
        (Some(server), Options::new().tls(client).http2_prior_knowledge()),
    ] {
        let (url, connections) = serve_http2(tls);
        let before = Arc::new(Mutex::new(0));
        on_each(&url, &options, async |client| {
            let silent = smol::spawn(client.call_tool("silent", &json!({})));
            let calls: Vec<_> = (0..64)
                .map(|n| smol::spawn(client.call_tool(&n.to_string(), &json!({"x": "y".repeat(2000)}))))
                .collect();
            for (n, call) in calls.into_iter().enumerate() {
                let result = call.await.unwrap();
                assert_eq!(result.first_text(), Some(format!("{n} HTTP/2.0").as_str()));
            }
            drop(silent);
            client.call_tool("after", &json!({})).await.unwrap();
            let mut before = before.lock().unwrap();
            let all = *connections.lock().unwrap();
            assert_eq!(all - *before, 1);
            *before = all;
        });
    }
}
