// M3, M7: the state that travels through the client.

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::server::continuation::NoEntropy;
use sansio_mcp_sdk::server::{Context, Exit, Form, KeyRing, SealKey, Server, StringSchema};
use sansio_mcp_tests::{Bench, Trace, accepted, answering, asking, rows};
use serde_json::{Value, json};

rows! {
    m3_three_questions_in_a_row_on_three_servers_with_one_key: all;
    m7_state_that_is_not_this_requests_is_one_opaque_refusal: all;
    m7_the_order_of_arguments_and_the_spelling_of_numbers_do_not_matter: all;
    m7_another_key_another_process_and_a_rotated_key: all;
    m7_another_caller: open;
    m7_state_expires: all;
    edge_31_each_character_counts_and_only_the_operator_learns_why: all;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Refund {
    #[allow(dead_code)]
    invoice: f64,
    #[allow(dead_code)]
    #[serde(default)]
    note: String,
}

/// Random enough for a test: each nonce is another.
#[allow(clippy::unnecessary_wraps)] // the form of a source
fn nonces(out: &mut [u8]) -> Result<(), NoEntropy> {
    static COUNT: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);
    out.fill(COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    Ok(())
}

type Ring = KeyRing<fn(&mut [u8]) -> Result<(), NoEntropy>>;

fn ring(key: u8) -> Ring {
    KeyRing::new(SealKey::new([key; 32]), nonces)
}

/// Asks three times, under two names; notes each entry.
fn shop(trace: &Trace, keys: Option<Ring>) -> Server<M> {
    let handler = |trace: Trace| {
        move |_: Refund, cx: Context<(), M>| {
            trace.note(format!("round {}", cx.round()));
            async move {
                let mut said = Vec::new();
                for key in ["a", "b", "c"] {
                    let form = Form::new(format!("{key}?")).required("text", StringSchema::new());
                    said.extend(
                        cx.ask(key, form)?.accepted().and_then(|all| all.get("text")?.parse::<String>().ok()),
                    );
                }
                Ok::<_, Exit>(said.join(" "))
            }
        }
    };
    let mut server = Server::<M>::builder("t", "1").state_life(Duration::from_mins(10));
    if let Some(keys) = keys {
        server = server.state_keys(keys);
    }
    server.tool("refund", handler(trace.clone())).tool("other", handler(trace.clone())).build().unwrap()
}

fn text(key: &str, text: &str) -> Value {
    json!({key: accepted(&json!({"text": text}))})
}

fn invoice() -> Value {
    json!({"invoice": 7, "note": "n"})
}

#[track_caller]
fn refused(answer: &Value) {
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "the request state is not valid here; make the call anew without it"}),
    );
}

async fn m3_three_questions_in_a_row_on_three_servers_with_one_key(b: Bench) {
    let traces = [Trace::new(), Trace::new(), Trace::new(), Trace::new()];
    let rigs: Vec<_> = traces.iter().map(|trace| b.serve(shop(trace, Some(ring(1))))).collect();
    let mut wires: Vec<_> = rigs.iter().map(sansio_mcp_tests::Rig::wire).collect();
    let mut more = json!({});
    for (n, key) in ["a", "b", "c"].into_iter().enumerate() {
        wires[n].send(&asking(1, "refund", &invoice(), &more)).await;
        let asked = wires[n].answer(1).await;
        assert!(asked["result"]["inputRequests"][key].is_object(), "{asked}");
        more = answering(&asked, &text(key, &format!("{n}")));
    }
    wires[3].send(&asking(1, "refund", &invoice(), &more)).await;
    assert_eq!(wires[3].answer(1).await["result"]["content"][0]["text"], "0 1 2");
    for (n, trace) in traces.iter().enumerate() {
        assert_eq!(trace.all(), [format!("round {n}")]);
    }
}

async fn m7_state_that_is_not_this_requests_is_one_opaque_refusal(b: Bench) {
    let trace = Trace::new();
    let mut wire = b.serve(shop(&trace, Some(ring(1)))).wire();
    wire.send(&asking(1, "refund", &invoice(), &json!({}))).await;
    let asked = wire.answer(1).await;
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let entered = trace.all().len();
    for (id, name, arguments, state, code) in [
        (2, "other", invoice(), state.clone(), "STATE_OTHER_REQUEST"),
        (3, "refund", json!({"invoice": 8, "note": "n"}), state.clone(), "STATE_OTHER_REQUEST"),
        (4, "refund", json!({"invoice": 7}), state.clone(), "STATE_OTHER_REQUEST"),
        (5, "refund", invoice(), state[..state.len() - 4].to_owned(), "STATE_TAMPERED"),
        (6, "refund", invoice(), String::new(), "STATE_TAMPERED"),
        (7, "refund", invoice(), "not base64 !".to_owned(), "STATE_TAMPERED"),
        (8, "no such tool", invoice(), state.clone(), "STATE_OTHER_REQUEST"),
    ] {
        let more = json!({"requestState": state, "inputResponses": text("a", "x")});
        wire.send(&asking(id, name, &arguments, &more)).await;
        refused(&wire.answer(id).await);
        assert!(b.log.has(code), "{code}: {:?}", b.log.codes());
    }
    assert_eq!(trace.all().len(), entered, "the handler never sees it");
    // A method that takes no state: the same.
    let list = sansio_mcp_tests::request(9, "tools/list", json!({"requestState": state}), &json!({}));
    wire.send(&list).await;
    refused(&wire.answer(9).await);
    // The first one is still good.
    wire.send(&asking(10, "refund", &invoice(), &answering(&asked, &text("a", "x")))).await;
    assert!(wire.answer(10).await["result"]["inputRequests"]["b"].is_object());
}

async fn m7_the_order_of_arguments_and_the_spelling_of_numbers_do_not_matter(b: Bench) {
    let mut wire = b.serve(shop(&Trace::new(), Some(ring(1)))).wire();
    wire.send(&asking(1, "refund", &invoice(), &json!({}))).await;
    let asked = wire.answer(1).await;
    let again: Value = serde_json::from_str(r#"{"note": "\u006e", "invoice": 7.0}"#).unwrap();
    wire.send(&asking(2, "refund", &again, &answering(&asked, &text("a", "x")))).await;
    assert!(wire.answer(2).await["result"]["inputRequests"]["b"].is_object());
}

async fn m7_another_key_another_process_and_a_rotated_key(b: Bench) {
    let trace = Trace::new();
    let mut old = b.serve(shop(&trace, Some(ring(1)))).wire();
    old.send(&asking(1, "refund", &invoice(), &json!({}))).await;
    let asked = old.answer(1).await;
    let next = asking(2, "refund", &invoice(), &answering(&asked, &text("a", "x")));

    let mut stranger = b.serve(shop(&trace, Some(ring(2)))).wire();
    stranger.send(&next).await;
    refused(&stranger.answer(2).await);
    assert!(b.log.has("STATE_UNKNOWN_KEY"));

    let mut rotated = ring(1);
    rotated.rotate(SealKey::new([2; 32]));
    let mut rotated = b.serve(shop(&trace, Some(rotated))).wire();
    rotated.send(&next).await;
    let second = rotated.answer(2).await;
    assert!(second["result"]["inputRequests"]["b"].is_object(), "{second}");
    // It is sealed under the newest.
    stranger.send(&asking(3, "refund", &invoice(), &answering(&second, &text("b", "y")))).await;
    assert!(stranger.answer(3).await["result"]["inputRequests"]["c"].is_object());

    // Without keys each process has its own, and says so.
    assert!(!b.log.has("OWN_STATE_KEY"));
    let (mut one, mut two) = (b.serve(shop(&trace, None)).wire(), b.serve(shop(&trace, None)).wire());
    one.send(&asking(1, "refund", &invoice(), &json!({}))).await;
    let asked = one.answer(1).await;
    let next = asking(2, "refund", &invoice(), &answering(&asked, &text("a", "x")));
    two.send(&next).await;
    refused(&two.answer(2).await);
    one.send(&next).await;
    assert!(one.answer(2).await["result"]["inputRequests"]["b"].is_object());
    assert_eq!(b.log.codes().iter().filter(|code| *code == "OWN_STATE_KEY").count(), 2, "once a server");
}

async fn m7_another_caller(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(shop(&trace, Some(ring(1))));
    let engine = rig.engine().unwrap();
    let said = |caller: Option<&'static [u8]>, message: Value| {
        let exchange = match caller {
            Some(caller) => engine.exchange_as(caller),
            None => engine.exchange(),
        };
        exchange.handle_message(message.to_string().as_bytes());
        let exchange = Arc::new(exchange);
        async move {
            let mut out = Vec::new();
            std::future::poll_fn(|cx| exchange.poll_transmit(cx, &mut out)).await;
            serde_json::from_slice::<Value>(&out).unwrap()
        }
    };
    let asked = said(Some(b"alice"), asking(1, "refund", &invoice(), &json!({}))).await;
    let next = asking(2, "refund", &invoice(), &answering(&asked, &text("a", "x")));
    refused(&said(Some(b"mallory"), next.clone()).await);
    refused(&said(None, next.clone()).await);
    assert!(b.log.has("STATE_OTHER_CALLER"));
    assert!(said(Some(b"alice"), next).await["result"]["inputRequests"]["b"].is_object());
}

async fn m7_state_expires(b: Bench) {
    let mut wire = b.serve(shop(&Trace::new(), Some(ring(1)))).wire();
    wire.send(&asking(1, "refund", &invoice(), &json!({}))).await;
    let asked = wire.answer(1).await;
    b.pass(Duration::from_secs(599)).await;
    let next = |id: u32| asking(id, "refund", &invoice(), &answering(&asked, &text("a", "x")));
    wire.send(&next(2)).await;
    assert!(wire.answer(2).await["result"]["inputRequests"]["b"].is_object());
    b.pass(Duration::from_secs(1)).await;
    wire.send(&next(3)).await;
    refused(&wire.answer(3).await);
    assert!(b.log.has("STATE_EXPIRED"));
}

async fn edge_31_each_character_counts_and_only_the_operator_learns_why(b: Bench) {
    let trace = Trace::new();
    let mut wire = b.serve(shop(&trace, Some(ring(1)))).wire();
    wire.send(&asking(0, "refund", &invoice(), &json!({}))).await;
    let asked = wire.answer(0).await;
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let entered = trace.all().len();
    for at in 0..state.len() {
        let mut wrong: Vec<char> = state.chars().collect();
        wrong[at] = if wrong[at] == 'A' { 'B' } else { 'A' };
        let more = json!({"requestState": wrong.iter().collect::<String>()});
        let id = u32::try_from(at).unwrap() + 1;
        wire.send(&asking(id, "refund", &invoice(), &more)).await;
        refused(&wire.answer(id).await);
    }
    assert_eq!(trace.all().len(), entered);
}
