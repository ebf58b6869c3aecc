//! Subscriptions on the server: acknowledgement, changes, bounds, ends (basic/patterns/subscriptions).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::id::ServingId;
use sansio_mcp::limits::ServerLimits;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::{
    Implementation, PromptsCapability, ResourcesCapability, ServerCapabilities, SubscriptionFilter,
    ToolsCapability,
};
use sansio_mcp::server::{ErrorReply, Exchange, Kind, Server, ServerConfig, Status, Stopped};
use sansio_mcp::subscription::Change;
use serde_json::{Value, json};
use short::{DONE, START, ServerExt, cancel, code, request};

#[path = "support/short.rs"]
mod short;

fn config(limits: impl FnOnce(&mut ServerLimits)) -> Arc<ServerConfig> {
    let capabilities = ServerCapabilities::default()
        .with_tools(ToolsCapability::default().with_list_changed(true))
        .with_prompts(PromptsCapability::default())
        .with_resources(ResourcesCapability::default().with_subscribe(true));
    let mut bounds = ServerLimits::default();
    limits(&mut bounds);
    let config = ServerConfig::builder(Implementation::new("s", "1"), capabilities).limits(bounds);
    Arc::new(config.build().unwrap())
}

fn server() -> Server {
    Server::new(config(|_| {}))
}

fn listen(id: &str, filter: &Value) -> String {
    request(id, "subscriptions/listen", &format!(r#""notifications":{filter}"#))
}

fn all() -> Value {
    json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": false,
        "resourceSubscriptions": ["b", "a", "b"]})
}

/// Opens and accepts a subscription for everything that the server offers.
fn listening(server: &mut Server, id: &str) -> ServingId {
    let (serving, request) = server.asked(listen(id, &all()));
    server.acknowledge(serving, &request.subscription_filter().unwrap()).unwrap();
    serving
}

fn named(message: &Value) -> &Value {
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

fn methods(heard: &[Value]) -> Vec<String> {
    let short = |message: &Value| match (&message["method"], &message["params"]["uri"]) {
        (Value::String(method), Value::String(uri)) => {
            format!("{} {uri}", method.trim_start_matches("notifications/"))
        }
        (Value::String(method), _) => method.trim_start_matches("notifications/").to_string(),
        _ => "end".to_string(),
    };
    heard.iter().map(short).collect()
}

#[test]
fn the_acknowledgement_names_what_is_asked_for_and_offered() {
    for (id, json_id) in [("1", json!(1)), ("\"\"", json!("")), ("0", json!(0))] {
        let mut server = server();
        listening(&mut server, id);
        let heard = server.heard();
        let uris = json!(["b", "a"]);
        assert_eq!(
            heard[0]["params"]["notifications"],
            json!({"toolsListChanged": true, "resourceSubscriptions": uris})
        );
        assert_eq!(named(&heard[0]), &json_id);
        assert_eq!(methods(&heard), ["subscriptions/acknowledged"]);
        server.publish(Change::Tools);
        server.publish(Change::Resource("a"));
        let heard = server.heard();
        assert_eq!(methods(&heard), ["tools/list_changed", "resources/updated a"]);
        assert!(heard.iter().all(|message| named(message) == &json_id && message["id"].is_null()));
    }
}

#[test]
fn edge_55_nothing_precedes_the_acknowledgement_and_nothing_is_told_that_was_not_asked_for() {
    let mut server = server();
    let (serving, request) = server.asked(listen("1", &all()));
    server.publish(Change::Tools);
    assert!(server.heard().is_empty());
    server.acknowledge(serving, &request.subscription_filter().unwrap()).unwrap();
    // Raised while the acknowledgement waits to be written: behind it.
    server.publish(Change::Tools);
    for change in [Change::Prompts, Change::Resources, Change::Resource("a/"), Change::Resource("")] {
        server.publish(change);
    }
    assert_eq!(methods(&server.heard()), ["subscriptions/acknowledged", "tools/list_changed"]);
    server.publish_resources(&|uri| uri != "a");
    assert_eq!(methods(&server.heard()), ["resources/updated b"]);
}

#[test]
fn an_application_may_grant_less_but_not_more() {
    let mut server = server();
    let (serving, request) = server.asked(listen("1", &json!({"resourceSubscriptions": ["a", "b"]})));
    let mut filter = request.subscription_filter().unwrap();
    filter.resource_subscriptions = Some(vec!["a".into()]);
    server.acknowledge(serving, &filter).unwrap();
    server.publish(Change::Resource("a"));
    server.publish(Change::Resource("b"));
    server.publish(Change::Tools);
    assert_eq!(methods(&server.heard()), ["subscriptions/acknowledged", "resources/updated a"]);

    let (serving, _) = server.asked(listen("2", &json!({})));
    server.refuse(serving, Status::Ok, &ErrorReply::new(-32602, "no")).unwrap();
    assert_eq!(code(&server.heard()[0]), -32602);
    assert_eq!(server.subscriptions(), 1);
}

#[test]
fn edge_56_equal_changes_that_wait_to_be_sent_stand_for_each_other() {
    let mut server = server();
    listening(&mut server, "1");
    for _ in 0..10_000 {
        server.publish(Change::Tools);
        server.publish(Change::Resource("a"));
    }
    assert!(server.unsent_bytes() < 1000);
    let expected = ["subscriptions/acknowledged", "tools/list_changed", "resources/updated a"];
    assert_eq!(methods(&server.heard()), expected);
    server.publish(Change::Tools);
    assert_eq!(methods(&server.heard()), ["tools/list_changed"], "what was sent may come again");
}

#[test]
fn edge_56_overflow_ends_that_subscription_alone_and_frees_its_place() {
    let mut server = Server::new(config(|limits| limits.subscriptions = 2));
    let uris: Vec<String> = (0..1025).map(|n| format!("r{n}")).collect();
    let (serving, request) = server.asked(listen("1", &json!({ "resourceSubscriptions": uris })));
    server.acknowledge(serving, &request.subscription_filter().unwrap()).unwrap();
    listening(&mut server, "2");
    server.says(listen("3", &all()));
    server.events();
    server.publish_resources(&|_| true);
    let heard = server.heard();
    assert_eq!(code(&heard[0]), 1001, "two are as many as may be");
    let one: Vec<Value> = heard.iter().filter(|m| named(m) == &json!(1) || m["id"] == 1).cloned().collect();
    assert_eq!(methods(&one), ["subscriptions/acknowledged", "end"]);
    assert_eq!(server.subscriptions(), 1);
    server.publish(Change::Tools);
    assert_eq!(methods(&server.heard()), ["tools/list_changed"], "the other lives");
    listening(&mut server, "1");
    assert_eq!(server.subscriptions(), 2);
}

#[test]
fn edge_56_who_has_read_everything_is_not_behind_however_much_changes_at_once() {
    let mut server = server();
    let uris: Vec<String> = (0..1000).map(|n| format!("invoice://{n:0100}")).collect();
    let (serving, request) = server.asked(listen("1", &json!({ "resourceSubscriptions": uris })));
    server.acknowledge(serving, &request.subscription_filter().unwrap()).unwrap();
    server.heard();
    for _ in 0..2 {
        server.publish_resources(&|_| true);
        assert_eq!(server.heard().len(), 1000);
    }
    // One that has not read what waits is behind: the next change ends it.
    server.publish_resources(&|uri| uri < uris[999].as_str());
    server.publish(Change::Resource(&uris[999]));
    assert_eq!(methods(&server.heard()), ["end"]);
}

#[test]
fn a_channel_that_reads_nothing_costs_bounded_memory() {
    let mut server = Server::new(config(|limits| {
        limits.congested_bytes = 10_000;
        limits.outgoing_bytes = 20_000;
    }));
    for id in 0..100 {
        listening(&mut server, &id.to_string());
        server.heard();
    }
    for n in 0..100 {
        server.publish(Change::Tools);
        server.publish_resources(&|uri| (uri == "a") == (n % 2 == 0));
    }
    assert!(server.unsent_bytes() < 20_000 + 100 * 300, "{}", server.unsent_bytes());
    let ended = server.heard().iter().filter(|message| message["id"].is_i64()).count();
    assert_eq!(server.subscriptions(), 100 - ended);
    assert!(ended > 0);
}

#[test]
fn edge_56_a_channel_names_a_bounded_number_of_resources() {
    let mut server = Server::new(config(|limits| limits.named_resources = 3));
    let granted = |server: &mut Server, id: &str, uris: &[&str]| {
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": uris});
        let (serving, request) = server.asked(listen(id, &filter));
        server.acknowledge(serving, &request.subscription_filter().unwrap()).unwrap();
        server.heard()[0]["params"]["notifications"].clone()
    };
    let first = granted(&mut server, "1", &["b", "a", "b"]);
    assert_eq!(first, json!({"toolsListChanged": true, "resourceSubscriptions": ["b", "a"]}));
    let second = granted(&mut server, "2", &["c", "d", "a"]);
    assert_eq!(second, json!({"toolsListChanged": true, "resourceSubscriptions": ["c"]}));
    assert_eq!(
        granted(&mut server, "3", &["a"]),
        json!({"toolsListChanged": true}),
        "the lists are still told of"
    );
    server.publish_resources(&|_| true);
    assert_eq!(server.heard().len(), 3, "what was not granted is not told of");
    server.says(cancel("1"));
    server.events();
    let again = granted(&mut server, "4", &["e", "f", "g"]);
    assert_eq!(
        again,
        json!({"toolsListChanged": true, "resourceSubscriptions": ["e", "f"]}),
        "their places are free"
    );
}

#[test]
fn edge_57_shutdown_answers_what_listens_and_a_cancel_is_silent() {
    let end = |heard: &[Value]| {
        let last = heard.last().unwrap().clone();
        assert_eq!(last["result"]["resultType"], "complete");
        assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], last["id"]);
        assert!(last["result"].get("content").is_none());
    };
    // Shutdown: what waits is told, then the end.
    let mut server = server();
    listening(&mut server, "1");
    server.publish(Change::Tools);
    server.close(START);
    let heard = server.heard();
    assert_eq!(methods(&heard), ["subscriptions/acknowledged", "tools/list_changed", "end"]);
    end(&heard);
    assert!(server.is_finished() && server.stops().is_empty());
    // End of input: nobody could say that it has heard enough.
    let mut server = self::server();
    listening(&mut server, "1");
    let (opening, request) = server.asked(listen("2", &all()));
    server.handle_input_end(START);
    end(&server.heard());
    server.acknowledge(opening, &request.subscription_filter().unwrap()).unwrap();
    let heard = server.heard();
    assert_eq!(methods(&heard), ["subscriptions/acknowledged", "end"]);
    end(&heard);
    assert!(server.is_finished());
    // One that was never accepted is stopped like any request.
    let mut server = self::server();
    server.asked(listen("1", &all()));
    server.close(START);
    assert!(server.heard().is_empty());
    assert_eq!(server.stops(), [Stopped::Closing]);
    // The application's wish.
    let mut server = self::server();
    let serving = listening(&mut server, "1");
    server.end_subscription(serving).unwrap();
    end(&server.heard());
    assert_eq!(server.end_subscription(serving), Err(Misuse::Over));
    // A cancel: silence, and what waits is withdrawn.
    let mut server = self::server();
    listening(&mut server, "1");
    server.says(cancel("1"));
    server.publish(Change::Tools);
    assert!(server.heard().is_empty() && server.subscriptions() == 0);
    assert!(matches!(server.stops().as_slice(), [Stopped::Cancelled(None)]));
    listening(&mut server, "1");
    // A loss.
    server.handle_stream_end(START);
    server.publish(Change::Tools);
    assert_eq!(server.subscriptions(), 0);
    assert!(server.heard().is_empty() && server.is_finished() | !server.stops().is_empty());
}

#[test]
fn misuse_changes_nothing() {
    let mut server = server();
    let serving = listening(&mut server, "1");
    let filter = SubscriptionFilter::default();
    assert_eq!(server.acknowledge(serving, &filter), Err(Misuse::Over));
    assert_eq!(server.respond(serving, &DONE).err(), Some(Misuse::Subscription));
    assert_eq!(server.refuse(serving, Status::Ok, &ErrorReply::new(1, "m")), Err(Misuse::Subscription));
    let (call, request) = server.asked(short::call("2"));
    assert_eq!(server.acknowledge(call, &filter), Err(Misuse::NotASubscription));
    assert_eq!(server.end_subscription(call), Err(Misuse::NotASubscription));
    assert_eq!(request.subscription_filter(), None);
    // Nobody would ever answer it.
    let (opening, _) = server.asked(listen("3", &all()));
    assert_eq!(server.end_subscription(opening), Err(Misuse::NotAccepted));
    assert!(server.is_running(opening));
    server.refuse(opening, Status::Ok, &ErrorReply::new(-32602, "no")).unwrap();
    assert_eq!(code(&server.heard().pop().unwrap()), -32602);
    server.publish(Change::Tools);
    assert_eq!(methods(&server.heard()), ["tools/list_changed"]);
}

#[test]
fn a_listen_without_a_filter_or_to_a_server_that_tells_nothing_is_refused() {
    let mut server = server();
    for members in ["", r#""notifications":true"#, r#""notifications":{"toolsListChanged":1}"#] {
        let answer = server.answers(request("1", "subscriptions/listen", members));
        assert_eq!(code(&answer), -32602, "{members}");
    }
    let mut deaf = short::server();
    assert_eq!(code(&deaf.answers(listen("1", &all()))), -32601);
}

#[test]
fn a_subscription_on_a_stream_of_its_own() {
    let mut exchange = Exchange::new(config(|_| {}));
    exchange.handle_message(listen("7", &all()).as_bytes());
    let Some(sansio_mcp::server::ServerEvent::Request { request, .. }) = exchange.poll_event() else {
        panic!()
    };
    exchange.publish(Change::Tools);
    exchange.acknowledge(&request.subscription_filter().unwrap()).unwrap();
    exchange.publish(Change::Tools);
    exchange.publish_resources(&|uri| uri == "a");
    assert!(exchange.is_subscription());
    exchange.close();
    let mut heard = Vec::new();
    let mut out = Vec::new();
    while let Some(transmit) = exchange.poll_transmit(&mut out) {
        let message: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(transmit.last, matches!(transmit.kind, Kind::Response(Status::Ok)));
        heard.push(message);
        out.clear();
    }
    let expected = ["subscriptions/acknowledged", "tools/list_changed", "resources/updated a", "end"];
    assert_eq!(methods(&heard), expected);
    assert!(exchange.is_finished() && !exchange.is_subscription());
    // Its stream's end is the cancel.
    let mut exchange = Exchange::new(config(|_| {}));
    exchange.handle_message(listen("7", &all()).as_bytes());
    exchange.poll_event();
    exchange.handle_stream_end();
    assert!(exchange.poll_transmit(&mut Vec::new()).is_none());
}
