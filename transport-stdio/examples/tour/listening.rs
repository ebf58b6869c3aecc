//! Something changes while a client keeps it: whoever listens is told, and asks anew.

use std::error::Error;
use std::time::Duration;

use sansio_mcp_sdk::client::{Cache, CacheLimits, Changed, Client, ListenEnd, ListenEvent, ListenSpec};
use sansio_mcp_sdk::model::Implementation;
use serde_json::json;

use crate::{Stage, client_config, shown, structured};

const PRICES: &str = "shop://prices";
const BOOK: &str = "9780262033848";

impl Stage {
    /// Shows what a client that listens hears of what another one does, and the operator.
    pub(crate) async fn listening(&self, other: &Client) -> Result<(), Box<dyn Error>> {
        self.price(other).await?;
        self.season().await?;
        Ok(())
    }

    async fn price(&self, other: &Client) -> Result<(), Box<dyn Error>> {
        let t = &self.timeline;
        t.scene("A price changes while a client listens");
        let cache = Cache::new(CacheLimits::default());
        let setup = Client::builder(Implementation::new("tour", "1")).cache(cache).build()?;
        let (client, _) = self.connect(setup);
        t.client("listens to the price list");
        let mut prices = client.listen(ListenSpec::new().resource(PRICES));
        let agreed = prices.acknowledged().await;
        t.client("reads it");
        let first = client.read_resource(PRICES).await?;
        t.client("reads it again: from its cache, for a minute; nothing goes over the wire");
        let second = client.read_resource(PRICES).await?;

        t.client("(another one) sets a price");
        other.call_tool("set_price", &json!({"isbn": BOOK, "cents": 7_999})).await?;
        let heard = prices.next().await;
        t.client("hears that the list has changed, and reads it");
        let third = client.read_resource(PRICES).await?;
        t.client("has heard enough");
        prices.cancel("enough");
        let end = prices.next().await;
        self.lab.sleep(Duration::from_millis(1)).await;

        t.check("the server agreed to tell of the price list, and told when it changed", {
            agreed.is_ok_and(|agreed| agreed.granted == [Changed::Resource(PRICES.into())])
                && heard == Some(ListenEvent::Changed(Changed::Resource(PRICES.into())))
        });
        let list = |read| serde_json::to_value(read).unwrap_or_default()["contents"][0]["text"].take();
        let (first, second, third) = (list(&first), list(&second), list(&third));
        t.check("the cache kept the list until then, and let go of it", {
            first == second && third.as_str().is_some_and(|text| text.contains("7999"))
        });
        t.check("the server read it twice, not three times", {
            !t.states("resources/read", 1).is_empty() && t.states("resources/read", 2).is_empty()
        });
        t.check("the subscription ended when it was cancelled", {
            end == Some(ListenEvent::Ended(ListenEnd::Cancelled))
        });
        Ok(())
    }

    async fn season(&self) -> Result<(), Box<dyn Error>> {
        let t = &self.timeline;
        t.scene("A tool comes for the season, and goes");
        let (client, _) = self.connect(client_config()?);
        t.client("listens to the list of tools");
        let mut tools = client.listen(ListenSpec::new().tools());
        let agreed = tools.acknowledged().await;
        let isbn = json!({"isbn": BOOK});
        let mut heard = Vec::new();
        let mut called = Vec::new();
        for winter in [true, false] {
            if winter {
                self.season.open()?;
            } else {
                self.season.close()?;
            }
            heard.push(tools.next().await);
            t.client("hears that the list has changed");
            let offer = client.call_tool("winter_offer", &isbn).await;
            t.client(format!("calls winter_offer and has {}", shown(&offer)));
            called.push(offer.map(|offer| structured(&offer)));
        }
        t.check("each change of the tools was told to the client that listens to them", {
            let change = Some(ListenEvent::Changed(Changed::Tools));
            agreed.is_ok() && heard == [change.clone(), change]
        });
        t.check("the tool answered while it was there, and was unknown afterwards", {
            called.first().is_some_and(|offer| offer.as_ref().is_ok_and(|offer| offer["cents"] == 6_399))
                && called.last().is_some_and(Result::is_err)
        });
        tools.cancel("enough");
        self.lab.sleep(Duration::from_millis(1)).await;
        Ok(())
    }
}
