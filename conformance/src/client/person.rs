//! Whoever answers what servers ask.

use sansio_mcp_sdk::client::{Client, ClientSetup, InputFailure, Question};
use sansio_mcp_sdk::model::{
    CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult, Implementation, Root,
};
use sansio_mcp_sdk::protocol::config::ConfigError;
use serde_json::{Map, Value};

use super::values;

/// A client that answers every kind of question, and so declares every capability.
///
/// # Errors
/// None that depends on anything but this program.
pub fn setup() -> Result<ClientSetup, ConfigError> {
    Client::builder(Implementation::new("conformance-client", env!("CARGO_PKG_VERSION")))
        .on_form(fill_in)
        .on_url(async |_| Ok(ElicitAction::Accept))
        .on_sampling(async |_| {
            let text = "This is a test response.".to_owned();
            Ok(CreateMessageResult::new("test-model", text).with_stop_reason("endTurn"))
        })
        .on_roots(async |_| Ok(vec![Root::new("file:///workspace").with_name("workspace")]))
        .build()
}

/// Accepts. Fields that have a default are left empty: the sdk fills those in.
async fn fill_in(form: Question<ElicitFormParams>) -> Result<ElicitResult, InputFailure> {
    let fields = form.params.requested_schema.properties.iter();
    let content: Map<String, Value> = fields
        .filter(|(_, field)| field.default_value().is_none())
        .filter_map(|(name, field)| Some((name.to_owned(), values::for_field(field)?)))
        .collect();
    form.accept(&content)
}
