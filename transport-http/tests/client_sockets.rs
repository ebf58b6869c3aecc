//! The client on sockets: connections that are used again, cut, refused.
#![cfg(all(feature = "client", any(feature = "smol", feature = "tokio")))]
#![allow(clippy::unwrap_used)]

mod sockets;

use std::sync::{Arc, Barrier, Mutex, mpsc};

use sansio_mcp_http::client::{ConnectError, HttpLimits, Options, UrlError};
use serde_json::json;
use sockets::{on_each, serve, setup};

#[test]
fn calls_in_a_row_share_a_connection() {
    let server = serve(|connection, request| {
        assert!(request.head.starts_with("POST /mcp HTTP/1.1\r\n"), "{}", request.head);
        let head = request.head.to_ascii_lowercase();
        assert!(head.contains("\r\nhost: localhost:") && head.contains("\r\nmcp-name: t\r\n"), "{head}");
        if connection.served % 2 == 0 {
            connection.json(&request.answer("json"));
        } else {
            connection.events();
            let answer = request.answer("events");
            // The end of the stream comes with the answer, or behind it.
            connection.chunk(&format!("data: {answer}\n\n"));
            connection.write("0\r\n\r\n");
        }
        true
    });
    let before = Arc::new(Mutex::new(0));
    on_each(&server.url, &Options::new(), async |client| {
        for n in 0..20 {
            let result = client.call_tool("t", &json!({})).await.unwrap();
            assert_eq!(result.first_text(), Some(if n % 2 == 0 { "json" } else { "events" }));
        }
        let mut before = before.lock().unwrap();
        assert_eq!(server.connections() - *before, 1);
        *before = server.connections();
    });
}

#[test]
fn calls_at_once_have_one_each_up_to_the_cap() {
    let all = Arc::new(Barrier::new(8));
    let server = serve(move |connection, request| {
        // All eight are there at the same time.
        all.wait();
        connection.json(&request.answer(request.name()));
        true
    });
    let options = Options::new().limits(HttpLimits::default().with_posts(8));
    let before = Arc::new(Mutex::new(0));
    on_each(&server.url, &options, async |client| {
        let calls: Vec<_> = (0..64)
            .map(|n| {
                let call = client.call_tool(&n.to_string(), &json!({"fill": "x".repeat(n * 1000)}));
                smol::spawn(call)
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap().first_text(), Some(n.to_string().as_str()));
        }
        let mut before = before.lock().unwrap();
        assert_eq!(server.connections() - *before, 8);
        *before = server.connections();
    });
}

#[test]
fn a_connection_that_the_server_closes_is_not_used_again() {
    let server = serve(|connection, request| {
        let body = request.answer("once");
        let length = body.len();
        connection.write(&format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        ));
        false
    });
    on_each(&server.url, &Options::new(), async |client| {
        for _ in 0..10 {
            client.call_tool("t", &json!({})).await.unwrap();
        }
    });
}

#[test]
fn a_connection_that_was_closed_unannounced_loses_one_call_at_most() {
    let server = serve(|connection, request| {
        connection.json(&request.answer("once"));
        false
    });
    on_each(&server.url, &Options::new(), async |client| {
        for _ in 0..10 {
            // Whether the end was seen before the request was written is a matter of luck.
            match client.call_tool("t", &json!({})).await {
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.code(), "LOST");
                    client.call_tool("t", &json!({})).await.unwrap();
                }
            }
        }
    });
}

#[test]
fn a_connection_that_is_cut_loses_its_call() {
    let server = serve(|connection, request| {
        match request.name() {
            "head" => connection.write("HTTP/1.1 200 OK\r\ncontent-ty"),
            "body" => {
                connection.write(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
                );
            }
            "stream" => {
                connection.events();
                connection.chunk("data: {");
            }
            "garbage" => connection.write("what is this\r\n\r\n"),
            "ok" => {
                connection.json(&request.answer("ok"));
                return true;
            }
            _ => {}
        }
        false
    });
    on_each(&server.url, &Options::new(), async |client| {
        for name in ["nothing", "head", "body", "stream", "garbage"] {
            let error = client.call_tool(name, &json!({})).await.unwrap_err();
            assert_eq!(error.code(), "LOST", "{name}: {error}");
            client.call_tool("ok", &json!({})).await.unwrap();
        }
    });
}

#[test]
fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    on_each(&url, &Options::new(), async |client| {
        let error = client.call_tool("t", &json!({})).await.unwrap_err();
        assert_eq!(error.code(), "LOST");
        assert!(error.to_string().contains("refused"), "{error}");
    });
    on_each("http://no-such-host.invalid/", &Options::new(), async |client| {
        let error = client.call_tool("t", &json!({})).await.unwrap_err();
        assert_eq!(error.code(), "LOST");
    });
}

#[test]
fn giving_up_closes_the_connection_without_a_byte_of_the_server() {
    let (asked, was_asked) = mpsc::channel();
    let (closed, was_closed) = mpsc::channel();
    let server = serve(move |connection, request| {
        if request.name() == "fast" {
            connection.json(&request.answer("fast"));
            return true;
        }
        if request.name() == "stream" {
            connection.events();
            connection.chunk(": begun\n\n");
        }
        asked.send(()).unwrap();
        connection.closed();
        closed.send(()).unwrap();
        false
    });
    let (was_asked, was_closed) = (Mutex::new(was_asked), Mutex::new(was_closed));
    on_each(&server.url, &Options::new(), async |client| {
        for name in ["silent", "stream"] {
            let call = smol::spawn(client.call_tool(name, &json!({})));
            // The slow one is in nobody's way.
            client.call_tool("fast", &json!({})).await.unwrap();
            while was_asked.lock().unwrap().try_recv().is_err() {
                client.call_tool("fast", &json!({})).await.unwrap();
            }
            drop(call);
            while was_closed.lock().unwrap().try_recv().is_err() {
                client.call_tool("fast", &json!({})).await.unwrap();
            }
        }
    });
}

#[test]
fn urls_that_name_no_server() {
    let connect = |url: &str| {
        #[cfg(feature = "smol")]
        return sansio_mcp_http::client::connect(url, setup()).map(drop).unwrap_err();
        #[cfg(not(feature = "smol"))]
        return sansio_mcp_http::client::tokio::connect(url, setup()).map(drop).unwrap_err();
    };
    assert_eq!(connect("localhost:3000"), ConnectError::Url(UrlError::Scheme));
    #[cfg(not(feature = "tls"))]
    assert_eq!(connect("https://localhost/mcp"), ConnectError::NoTls);
}
