//! A tool asks in the middle of its work: the person is asked by the client, and the tool goes on where it was.

use std::error::Error;
use std::time::Duration;

use sansio_mcp_sdk::client::{CallError, Client};
use serde_json::{Value, json};

use crate::person::{Person, Says};
use crate::{Stage, shown, structured};

/// The states of an entry that ends with a question.
const ASKS: [&str; 4] = ["gate", "running", "asks", "over"];
/// The states of an entry that ends with an answer.
const ANSWERS: [&str; 4] = ["gate", "running", "answered", "over"];

impl Stage {
    /// Shows questions, and what becomes of their answers.
    pub(crate) async fn questions(&self, client: &Client, person: &Person) -> Result<(), Box<dyn Error>> {
        self.approved(client, person).await?;
        self.declined(client, person).await?;
        self.visited(client, person).await?;
        self.three_in_a_row(client, person).await?;
        self.given_up(client, person).await?;
        Ok(())
    }

    async fn approved(&self, client: &Client, person: &Person) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A refund asks, and is approved");
        person.will_say([Says::Accepts(json!({"approved": true, "reason": "came damaged"}))]);
        t.client("refunds 12000 cents of INV-8");
        let refund = client.call_tool("refund", &json!({"invoice": "INV-8", "cents": 12_000})).await;
        t.client(format!("has {}", shown(&refund)));
        t.until("refund", "answered").await;
        self.lab.sleep(Duration::from_millis(1)).await;
        t.check("a refund of much asked, and was made once it was approved", {
            person.asked() == ["Refund 120.00 EUR on invoice INV-8?"]
                && structured(&refund?)["refunded_cents"] == 12_000
        });
        t.check("the question ended one request, and its answer came with another", {
            t.states("refund", 0) == ASKS && t.states("refund", 1) == ANSWERS
        });
        t.check("while the person thought, the server held neither slot nor lane", person.held_nothing());
        Ok(())
    }

    async fn declined(&self, client: &Client, person: &Person) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A refund asks, and is declined");
        person.will_say([Says::Declines]);
        t.client("refunds 7000 cents of INV-8");
        let refund = client.call_tool("refund", &json!({"invoice": "INV-8", "cents": 7_000})).await;
        t.client(format!("has {}", shown(&refund)));
        let refund = refund?;
        t.check("a decline is an answer: the tool read it, and asked nobody again", {
            person.asked().len() == 1
                && refund.is_error == Some(true)
                && refund.first_text().is_some_and(|text| text.contains("not approved"))
        });
        let invoice = self.read(client, "invoice://INV-8").await?;
        t.check("nothing was paid back that was not approved", invoice["refunded_cents"] == 12_000);
        Ok(())
    }

    async fn visited(&self, client: &Client, person: &Person) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("An account is linked on the shop's own page");
        person.will_say([Says::Accepts(json!({}))]);
        t.client("links the account");
        let linked = client.call_tool("link_account", &json!({})).await;
        t.client(format!("has {}", shown(&linked)));
        let (linked, asked) = (linked?, person.asked());
        let code = asked.first().and_then(|asked| asked.rsplit_once("code=")).map(|(_, code)| code);
        t.check("the person was sent to a URL, and agreed; the tool knew its code again", {
            linked.first_text().zip(code).is_some_and(|(text, code)| text.contains(&format!("Link {code} ")))
        });
        Ok(())
    }

    async fn three_in_a_row(&self, client: &Client, person: &Person) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A gift asks three times in a row");
        person.will_say([
            Says::Accepts(json!({"name": "Ann"})),
            Says::Accepts(json!({"paper": "gold"})),
            Says::Accepts(json!({"text": "Happy birthday!"})),
        ]);
        t.client("orders a gift");
        let gift = client.call_tool("order_gift", &json!({"isbn": "9781718503106"})).await;
        t.client(format!("has {}", shown(&gift)));
        let gift = structured(&gift?);
        t.check("three questions were asked, each knowing the answers before it", {
            person.asked()
                == [
                    r#"Who is "The Rust Programming Language" for?"#,
                    "How shall it be wrapped for Ann?",
                    "What shall the card for Ann say?",
                ]
        });
        t.check(
            "all three answers were there at the fourth entry, with the default of a field left empty",
            {
                [&gift["recipient"], &gift["paper"], &gift["card"]] == ["Ann", "gold", "Happy birthday!"]
                    && gift["ribbon"] == true
            },
        );
        t.check("the call was four requests", (0..3).all(|nth| t.states("order_gift", nth) == ASKS));
        Ok(())
    }

    async fn given_up(&self, client: &Client, person: &Person) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A call is given up while the person thinks");
        person.will_say([Says::Accepts(json!({"approved": true}))]);
        t.client("refunds 9000 cents of INV-8");
        let refund = client.call_tool("refund", &json!({"invoice": "INV-8", "cents": 9_000}));
        let refund = self.lab.spawn(refund);
        self.lab.sleep(Duration::from_secs(1)).await;
        t.client("drops the call");
        refund.abort();
        self.lab.sleep(Duration::from_secs(10)).await;
        t.check("the question went with its call, and the server had nothing to give up", {
            person.asked().len() == 1 && person.withdrawn() == 1 && t.states("refund", 0) == ASKS
        });
        t.check("no request followed", t.states("refund", 1).is_empty());
        let invoice = self.read(client, "invoice://INV-8").await?;
        t.check("and nothing was paid back", invoice["refunded_cents"] == 12_000);
        Ok(())
    }

    /// Reads a resource of JSON, on the side.
    pub(crate) async fn read(&self, client: &Client, uri: &str) -> Result<Value, CallError> {
        self.timeline.quiet(true);
        let read = client.read_resource(uri).await;
        self.timeline.quiet(false);
        let text = serde_json::to_value(&read?).unwrap_or_default()["contents"][0]["text"].take();
        self.timeline.client(format!("reads {uri}: {}", text.as_str().unwrap_or_default()));
        Ok(serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_default())
    }
}
