//! What a server may ask, a client that answers all of it, and a server that follows a script.

use sansio_mcp::model::{CreateMessageResult, ElicitAction, Root};
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::ClientSetup;
use serde_json::{Value, json};

use super::{Peer, builder};

pub fn form(schema: &Value) -> Value {
    json!({"method": "elicitation/create", "params": {"message": "Well?", "requestedSchema": schema}})
}

pub fn anything() -> Value {
    form(&json!({"type": "object", "properties": {"a": {"type": "string"}}}))
}

pub fn url() -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": "https://a.example/x"}})
}

pub fn sampling(more: &Value) -> Value {
    let mut params =
        json!({"maxTokens": 5, "messages": [{"role": "user", "content": {"type": "text", "text": "2+2"}}]});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    json!({"method": "sampling/createMessage", "params": params})
}

/// A client that agrees to everything.
pub fn willing() -> ClientSetup {
    builder()
        .on_form(async |form| form.accept(&json!({"a": "yes"})))
        .on_url(async |_| Ok(ElicitAction::Accept))
        .on_sampling(async |_| Ok(CreateMessageResult::new("m", "4")))
        .on_roots(async |_| Ok(vec![Root::new("file:///home").with_name("home")]))
        .build()
        .unwrap()
}

/// Answers each request with the next line, then returns all requests and the rest of what comes.
pub fn script(lab: &Lab, mut peer: Peer, lines: Vec<String>) -> Task<Vec<Value>> {
    lab.spawn(async move {
        let mut heard = Vec::new();
        for line in lines {
            heard.push(peer.line().await.unwrap());
            peer.send(line).await;
        }
        while let Some(line) = peer.line().await {
            heard.push(line);
        }
        heard
    })
}
