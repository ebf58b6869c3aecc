//! A tool that never has enough. Nobody is asked a ninth time, whichever side has to see to it.

use std::error::Error;

use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::protocol::code::wire::ROUNDS_EXCEEDED;
use serde_json::{Value, json};

use crate::person::{Person, Says};
use crate::{Stage, shown};

const BOOK: &str = "9780201633610";

impl Stage {
    pub(crate) async fn nine_rounds(&self, client: &Client, person: &Person) -> Result<(), Box<dyn Error>> {
        let t = &self.timeline;
        t.scene("A tool asks for ever: the server refuses to ask a ninth time");
        person.will_say((1..=9).map(|offer| Says::Accepts(json!({"cents": offer * 100}))));
        t.client("haggles");
        let refused = client.call_tool("haggle", &json!({"isbn": BOOK})).await;
        t.client(format!("has {}", shown(&refused)));
        t.check("eight questions were asked and answered, the ninth was an error of the server", {
            let code = refused.as_ref().err().and_then(|error| match error {
                CallError::Peer(error) => Some(error.code),
                _ => None,
            });
            person.asked().len() == 8 && code == Some(ROUNDS_EXCEEDED)
        });
        t.check("the ninth request was answered with that error, and asked nothing", {
            let last = t.states("haggle", 8);
            last.contains(&"answered".to_owned()) && !last.contains(&"asks".to_owned())
        });

        t.scene("A server that does not count asks for ever: the client ends it");
        let form = json!({
            "message": "And now?",
            "requestedSchema": {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]}
        });
        let asks = json!({"offer": {"method": "elicitation/create", "params": form}});
        let answer = json!({"resultType": "input_required", "inputRequests": asks, "requestState": "s"});
        let client = self.scripted(person.setup()?, answer);
        person.will_say([Says::Accepts(json!({"cents": 1}))]);
        person.is_brief();
        t.client("haggles with that one");
        let ended = client.call_tool("haggle", &json!({"isbn": BOOK})).await;
        t.client(format!("has {}", shown(&ended)));
        let theirs = ended.err().as_ref().map(CallError::code);
        t.check("the client ended it: nobody was asked what would have been thrown away", {
            person.asked().len() == 8 && theirs == Some("ROUNDS_EXCEEDED")
        });
        Ok(())
    }

    /// A state that somebody has changed, sent by hand: no client of this library would.
    pub(crate) async fn tampered(&self) -> Result<(), Box<dyn Error>> {
        let t = &self.timeline;
        t.scene("A state that was tampered with is refused, and nobody is told why");
        let mut hand = self.by_hand();
        let capabilities = json!({"elicitation": {"form": {}}});
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let request = |id: u32, cents: u32, state: Option<&Value>| {
            let call = format!(r#""name":"refund","arguments":{{"invoice":"INV-9","cents":{cents}}}"#);
            let approved = json!({"approval": {"action": "accept", "content": {"approved": true}}});
            let answers =
                state.map(|state| format!(r#""inputResponses":{approved},"requestState":{state},"#));
            let params = format!(r#"{{{call},{}"_meta":{meta}}}"#, answers.unwrap_or_default());
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
        };
        let asked = hand.asks(&request(1, 6_000, None)).await;
        let state = &asked["result"]["requestState"];

        t.client("answers, with one character of the state changed");
        let changed = hand.asks(&request(2, 6_000, Some(&changed(state)))).await;
        t.client("answers with the state as it was, for another amount");
        let moved = hand.asks(&request(3, 600_000, Some(state))).await;
        t.client("answers as it should");
        let honest = hand.asks(&request(4, 6_000, Some(state))).await;
        t.client("answers so once more");
        let twice = hand.asks(&request(5, 6_000, Some(state))).await;

        t.check("both got the same opaque error -32602", {
            changed["error"]["code"] == -32602 && changed["error"] == moved["error"]
        });
        let reasons = [1, 2].map(|nth| t.fact("refund", nth, "refused").map(|fact| fact.code));
        t.check("the operator's log has the reasons, and they differ", {
            reasons.iter().all(Option::is_some) && reasons[0] != reasons[1]
        });
        t.check("the tool was not entered for either", {
            (1..=2).all(|nth| t.fact("refund", nth, "running").is_none())
        });
        let refunded = |answer: &Value| answer["result"]["structuredContent"]["refunded_cents"] == 6_000;
        t.check("the honest answer refunds, and the same one again refunds no more", {
            refunded(&honest) && refunded(&twice)
        });
        Ok(())
    }
}

/// The state with its last character but one exchanged.
fn changed(state: &Value) -> Value {
    let mut text: Vec<char> = state.as_str().unwrap_or_default().chars().collect();
    if let Some(place) = text.iter_mut().rev().nth(1) {
        *place = if *place == 'A' { 'B' } else { 'A' };
    }
    text.into_iter().collect::<String>().into()
}
