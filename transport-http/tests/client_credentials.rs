//! Credentials: attached to every request, asked for again at a 401 or 403.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderValue};
use sansio_mcp_http::client::{Bearer, Credentials, CredentialsError, Options, Refusal, Verdict, Working};
use serde_json::json;
use support::{World, begin, codes, settle, setup, world_with};

/// A token that is renewed whenever it is refused, as often as there are more.
#[derive(Clone)]
struct Tokens {
    seen: Arc<Mutex<Vec<(u16, String, String)>>>,
    left: Arc<Mutex<Vec<&'static str>>>,
}

impl Credentials for Tokens {
    fn attach(&self, mut headers: HeaderMap) -> Working<Result<HeaderMap, CredentialsError>> {
        let token = self.left.lock().unwrap().last().copied();
        Box::pin(async move {
            settle().await;
            let token = token.ok_or_else(|| CredentialsError("nobody is there".into()))?;
            headers.insert("authorization", HeaderValue::from_static(token));
            Ok(headers)
        })
    }

    fn refused(&self, refusal: Refusal) -> Working<Verdict> {
        let this = self.clone();
        Box::pin(async move {
            settle().await;
            let text = |headers: &HeaderMap, name: &str| {
                headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
            };
            let challenge = text(&refusal.headers, "www-authenticate");
            let sent = text(&refusal.sent, "authorization");
            this.seen.lock().unwrap().push((refusal.status.as_u16(), challenge, sent));
            let mut left = this.left.lock().unwrap();
            left.pop();
            if left.is_empty() { Verdict::GiveUp } else { Verdict::Retry }
        })
    }
}

fn tokens(left: &[&'static str]) -> (World, Tokens) {
    let tokens = Tokens { seen: Arc::default(), left: Arc::new(Mutex::new(left.to_vec())) };
    (world_with(setup(), Options::new().credentials(tokens.clone())), tokens)
}

#[test]
fn they_are_renewed_once_for_each_refusal() {
    let (world, tokens) = tokens(&["d", "c", "b", "a"]);
    world.lab.run(async {
        let mut call = world.client.call_tool("t", &json!({"x": 1}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!(post.header("authorization"), Some("a"));
        post.head(401, &[("www-authenticate", "Bearer")]);
        let post = world.fake.next().await;
        assert_eq!((post.header("authorization"), post.header("mcp-name")), (Some("b"), Some("t")));
        assert_eq!(post.message["params"]["arguments"], json!({"x": 1}));
        post.respond(403, "application/json", r#"{"error":"insufficient_scope"}"#);
        let post = world.fake.next().await;
        assert_eq!(post.header("authorization"), Some("c"));
        post.head(401, &[]);
        assert_eq!(codes(call.await), "UNAUTHORIZED", "not a second time");
        let seen = tokens.seen.lock().unwrap();
        assert_eq!(*seen, [(401, "Bearer".into(), "a".into()), (403, String::new(), "b".into())]);
    });
}

#[test]
fn giving_up_leaves_what_the_server_said() {
    let (world, _tokens) = tokens(&["a"]);
    world.lab.run(async {
        let mut call = world.client.call_tool("t", &json!({}));
        begin(&mut call).await;
        world.fake.next().await.error(403, -32000);
        let error = call.await.unwrap_err();
        assert_eq!(error.code(), "PEER_ERROR");
        // Then there are none any more.
        let error = world.client.call_tool("t", &json!({})).await.unwrap_err();
        assert_eq!(error.code(), "CREDENTIALS");
        assert!(error.to_string().contains("nobody is there"));
    });
}

#[test]
fn giving_up_a_call_gives_up_its_renewal() {
    let (world, tokens) = tokens(&["b", "a"]);
    world.lab.run(async {
        let mut call = world.client.call_tool("t", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        post.head(401, &[]);
        drop(call);
        settle().await;
        settle().await;
        assert!(post.is_gone());
        assert!(world.fake.try_next().is_none());
        assert!(tokens.seen.lock().unwrap().is_empty());
    });
}

#[test]
fn a_token_a_closure_and_one_that_panics() {
    let world = world_with(setup(), Options::new().credentials(Bearer::new("secret").unwrap()));
    world.lab.run(async {
        let mut call = world.client.call_tool("t", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!(post.header("authorization"), Some("Bearer secret"));
        assert!(post.headers["authorization"].is_sensitive());
        post.head(401, &[]);
        assert_eq!(codes(call.await), "UNAUTHORIZED");
    });
    assert!(Bearer::new("a\nb").is_err());
    let closure = async |mut headers: HeaderMap| {
        headers.insert("x-key", HeaderValue::from_static("k"));
        Ok(headers)
    };
    let world = world_with(setup(), Options::new().credentials(closure));
    world.lab.run(async {
        let mut call = world.client.call_tool("t", &json!({}));
        begin(&mut call).await;
        assert_eq!(world.fake.next().await.header("x-key"), Some("k"));
    });
    let panics = |headers: HeaderMap| async move {
        assert!(headers.is_empty(), "never");
        Ok(headers)
    };
    let world = world_with(setup(), Options::new().credentials(panics));
    world.lab.run(async {
        assert_eq!(codes(world.client.call_tool("t", &json!({})).await), "CREDENTIALS");
        assert_eq!(codes(world.client.call_tool("t", &json!({})).await), "CREDENTIALS", "it goes on");
    });
}
