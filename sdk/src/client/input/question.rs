//! What a handler is given.

use sansio_mcp::model::{ElicitFormParams, ElicitResult, RawJson, RawMembers};
use serde::Serialize;

use super::InputFailure;

/// One question of a server, and which call it is about.
///
/// It is the server's words: whoever shows it says which server asks, and lets the person decline
/// (client/elicitation, "User Interaction Model").
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question<P> {
    /// What is asked.
    pub params: P,
    /// The round of the call, from 1 to 8. Questions of one round are asked at the same time.
    pub round: u8,
    /// The server's key for it, unique in its round.
    pub key: Box<str>,
    /// The method of the call, such as `tools/call`.
    pub method: Box<str>,
    /// What the call is addressed to: a tool, a prompt, the URI of a resource.
    pub target: Option<Box<str>>,
}

impl Question<()> {
    pub(super) fn with<P>(&self, params: P) -> Question<P> {
        let Self { params: (), round, key, method, target } = self.clone();
        Question { params, round, key, method, target }
    }
}

impl Question<ElicitFormParams> {
    /// The answer of a person who filled in the form: a value that serialises to an object of its fields. Fields that
    /// are absent or `null` get their defaults, where they have one.
    ///
    /// # Errors
    /// The content does not fit the form; ask the person again. (An answer that was made in another way is checked
    /// all the same, and then fails the call.)
    pub fn accept(&self, content: &(impl Serialize + ?Sized)) -> Result<ElicitResult, InputFailure> {
        let content: RawMembers = RawJson::from_value(content)?.parse()?;
        let schema = &self.params.requested_schema;
        let content = schema.fill(&content);
        schema.check(&content)?;
        Ok(ElicitResult::accept(content))
    }
}
