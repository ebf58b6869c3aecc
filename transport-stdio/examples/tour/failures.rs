//! Every way in which a call can fail, made to happen, with its code and the sentence that comes with it.

use std::error::Error;
use std::time::Duration;

use sansio_mcp_sdk::client::CallError;
use sansio_mcp_sdk::protocol::client::CallSpec;
use serde_json::json;

use crate::{Stage, client_config};

impl Stage {
    /// Shows the codes.
    pub(crate) async fn failures(&self) -> Result<(), Box<dyn Error>> {
        let t = &self.timeline;
        t.scene("How a call can fail, and what it says");
        t.quiet(true);
        let mut codes = Vec::new();
        let mut show = |error: Option<CallError>| {
            let (code, sentence) = match &error {
                Some(error) => (error.code(), error.to_string()),
                None => ("(none)", "the call did not fail".into()),
            };
            say!("  {code:<18} {sentence}");
            codes.push(code);
        };
        let rust = json!({"query": "rust"});
        let order = json!({"isbn": "9780131103627", "copies": 1});

        let (client, served) = self.connect(client_config()?);
        show(client.call_tool("burn_book", &json!({})).await.err());
        let secs = Duration::from_secs;
        show(client.call_tool("order_book", &order).total_timeout(Some(secs(5))).await.err());
        show(client.call_tool("order_book", &order).idle_timeout(secs(10)).await.err());
        let mut call = client.call_tool("order_book", &order);
        call.cancel("no need");
        show(call.await.err());
        let title = CallSpec::tool("find_book", &rust).map_err(CallError::from)?;
        show(client.call(title).typed::<Vec<u8>>().await.err());
        show(client.call_tool("find_book", &"rust").await.err());
        let lost = self.lab.spawn(client.call_tool("order_book", &order));
        self.lab.sleep(secs(1)).await;
        served.abort();
        show(lost.await.err());

        let (client, _) = self.connect(client_config()?);
        client.close();
        show(client.call_tool("find_book", &rust).await.err());

        // A server that does not know its trade.
        let question = json!({"method": "elicitation/create", "params": {}});
        let asks = json!({"resultType": "input_required", "inputRequests": {"name": question}});
        let again = json!({"resultType": "input_required", "requestState": "more"});
        let circle = json!({
            "resultType": "complete", "tools": [], "nextCursor": "1", "ttlMs": 0, "cacheScope": "public"
        });
        for answer in [json!({"resultType": "later"}), asks, again] {
            let client = self.scripted(client_config()?, answer);
            show(client.call_tool("find_book", &rust).await.err());
        }
        show(self.scripted(client_config()?, circle).list_tools().await.err());

        let result =
            self.connect(client_config()?).0.call_tool("find_book", &json!({"query": "nothing"})).await?;
        let text = result.first_text().unwrap_or_default();
        say!(
            "\n  A tool that fails is no failed call; it is a result for the model to read:\n  isError  {text}"
        );
        // Clean-up of what was given up above.
        self.lab.sleep(secs(1)).await;
        let mut distinct = codes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        t.check(
            "each way to fail has a code of its own",
            distinct.len() == codes.len() && !codes.contains(&"(none)"),
        );
        Ok(())
    }
}
