//! The endpoint in axum, beside another route and below a layer that knows who calls:
//!
//! ```text
//! cargo run -p sansio-mcp-http --features tokio --example axum
//! ```

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use sansio_mcp_http::server::tokio::SystemClock;
use sansio_mcp_http::server::{Caller, Config, Service};
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Driver, Engine};

/// Everything that is served, and the future in which handlers run.
fn app() -> Result<(Router, Service, Driver<sansio_mcp_sdk::Shared>), Box<dyn Error>> {
    let server = Server::shared("hello", "1").tool("who", async |_: NoArguments, cx: Context| {
        let caller = cx.caller().unwrap_or_default();
        Ok(format!("hello {}", String::from_utf8_lossy(&caller)))
    });
    let (engine, driver) = Engine::new(server.build()?, Arc::new(SystemClock::new()));
    let service = Service::new(engine, Config::new())?;
    let app = Router::new()
        .route_service("/mcp", service.clone())
        .layer(from_fn(known_callers))
        .route("/health", get(async || "well"));
    Ok((app, service, driver))
}

/// Stands for whatever checks a token.
async fn known_callers(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let caller = match token {
        Some("Bearer alices-token") => Caller::new("alice"),
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (app, service, driver) = app()?;
    let handlers = tokio::spawn(driver);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let shutdown = async move {
        let _ = tokio::signal::ctrl_c().await;
        // Listens end, calls may finish; then axum waits for its connections.
        service.close();
        service.idle().await;
        service.engine().shutdown();
    };
    axum::serve(listener, app).with_graceful_shutdown(shutdown).await?;
    Ok(handlers.await?)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt;

    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{},"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn call(token: &str) -> Request {
        Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", token)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "who")
            .body(Body::from(CALL))
            .expect("a request")
    }

    #[tokio::test]
    async fn the_endpoint_beside_a_route_and_below_a_layer() {
        let (app, service, driver) = app().expect("an app");
        let handlers = tokio::spawn(driver);
        let answer = async |request: Request| {
            let response = app.clone().oneshot(request).await.expect("a response");
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.expect("a body");
            (status, String::from_utf8(body.to_vec()).expect("text"))
        };
        let (status, body) = answer(call("Bearer alices-token")).await;
        assert!(status == 200 && body.contains("hello alice"), "{status} {body}");
        assert_eq!(answer(call("Bearer stolen")).await.0, 401);
        let health = Request::get("/health").body(Body::empty()).expect("a request");
        assert_eq!(answer(health).await, (200, "well".to_owned()));
        service.close();
        service.idle().await;
        service.engine().shutdown();
        handlers.await.expect("the driver ends");
    }
}
