//! State that a request brings along: what happens while it is opened, and where it is refused unopened.
#![allow(missing_docs)]

use std::sync::{Arc, Mutex};

use sansio_mcp::server::continuation::{OpenError, SealError, Sealer};
use sansio_mcp_sdk::Connection;
use sansio_mcp_sdk::server::{Context, Form, NoArguments, Server, StringSchema, ToolSpec};
use sansio_mcp_tests::{Bench, Gate, accepted, answering, asking, cancel, request, rows, tool};
use serde_json::{Value, json};

rows! {
    c11_a_request_cancelled_while_its_state_is_opened_is_logged_as_stopped: [memory];
    edge_31_state_for_a_method_that_takes_none_is_refused_and_the_operator_learns_why: all;
    answered_questions_wait_beyond_the_queue_up_to_their_own_bound: [memory];
}

/// Does something while it opens.
struct Meanwhile(Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>);

impl Sealer for Meanwhile {
    fn seal(&self, _: &[u8]) -> Result<String, SealError> {
        Ok("sealed".to_owned())
    }

    fn open(&self, _: &str) -> Result<Vec<u8>, OpenError> {
        let action = self.0.lock().unwrap().take();
        if let Some(action) = action {
            action();
        }
        Err(OpenError::UnknownKey)
    }
}

async fn c11_a_request_cancelled_while_its_state_is_opened_is_logged_as_stopped(b: Bench) {
    let meanwhile = Arc::new(Mutex::new(None));
    let server = Server::shared("t", "1")
        .state_keys(Meanwhile(Arc::clone(&meanwhile)))
        .tool("t", async |_: NoArguments, _: Context| Ok("done"));
    let rig = b.serve(server.build().unwrap());
    let channel: Arc<Connection> = Arc::new(rig.engine().unwrap().connect());
    let cancels = Arc::clone(&channel);
    *meanwhile.lock().unwrap() =
        Some(Box::new(move || cancels.handle_message(cancel(1).to_string().as_bytes()))
            as Box<dyn FnOnce() + Send>);
    let more = json!({"requestState": "sealed", "inputResponses": {}});
    channel.handle_message(asking(1, "t", &json!({}), &more).to_string().as_bytes());
    b.settle().await;
    let stopped: Vec<_> =
        b.log.events().into_iter().filter(|event| event.fields.contains_key("started")).collect();
    assert_eq!(stopped.len(), 1, "{:?}", b.log.events());
    let fields = &stopped[0].fields;
    let of = |name| fields.get(name).map(String::as_str);
    assert_eq!((of("state"), of("code"), of("started")), (Some("stopped"), Some("CANCELLED"), Some("false")));
    // Its number is free, and what comes under it is not taken for it.
    channel.handle_message(tool(1, "t", &json!({})).to_string().as_bytes());
    b.settle().await;
    let mut out = Vec::new();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(sansio_mcp_sdk::lines::Port::poll_fill(&*channel, &mut cx, &mut out, 65536).is_ready());
    let answer: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "done");
}

async fn edge_31_state_for_a_method_that_takes_none_is_refused_and_the_operator_learns_why(b: Bench) {
    let server = Server::shared("t", "1").tool("t", async |_: NoArguments, _: Context| Ok("done"));
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    for (id, method) in [(1_usize, "tools/list"), (2, "server/discover")] {
        wire.send(&request(id, method, json!({"requestState": "abc"}), &json!({}))).await;
        let error = wire.answer(id).await["error"].clone();
        let message = "the request state is not valid here; make the call anew without it";
        assert_eq!(error, json!({"code": -32602, "message": message}), "{method}");
        b.settle().await;
        let told = b.log.codes().iter().filter(|code| *code == "STATE_NOT_ALLOWED").count();
        assert_eq!(told, id, "{method}: {:?}", b.log.events());
    }
}

async fn answered_questions_wait_beyond_the_queue_up_to_their_own_bound(b: Bench) {
    let gate = Gate::new();
    let waits = gate.clone();
    let server = Server::shared("t", "1")
        .slots(1)
        .queue(0)
        .answered_queue(1)
        .tool("asks", async |_: NoArguments, cx: Context| {
            cx.ask("text", Form::new("What?").required("text", StringSchema::new()))?;
            Ok("done")
        })
        .tool(ToolSpec::new("holds"), move |_: NoArguments, _: Context| {
            let waits = waits.clone();
            async move {
                waits.passed().await;
                Ok("held")
            }
        });
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    let mut more = Vec::new();
    for id in [1, 2] {
        wire.send(&asking(id, "asks", &json!({}), &json!({}))).await;
        more.push(answering(&wire.answer(id).await, &json!({"text": accepted(&json!({"text": "yes"}))})));
    }
    wire.send(&tool(3, "holds", &json!({}))).await;
    wire.drain().await;
    for (id, more) in [(4, &more[0]), (5, &more[1])] {
        wire.send(&asking(id, "asks", &json!({}), more)).await;
    }
    assert_eq!(wire.answer(5).await["error"]["code"], 1001);
    gate.open();
    assert_eq!(wire.answer(4).await["result"]["content"][0]["text"], "done");
}
