//! What differs between handlers of tools, prompts, resources and completions: what they take of their request, and what
//! becomes of what they give.

use sansio_mcp::admission::LaneKey;
use sansio_mcp::code::wire;
use sansio_mcp::model::{
    CacheScope, CallToolResult, CompleteParams, CompleteResult, Completion, ContentBlock, GetPromptResult,
    Members, PromptArgument, PromptMessage, ReadResourceResult, UriTemplate,
};
use sansio_mcp::server::Request;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;

use super::exit::Exit;
use super::reply::{Answer, Failure, Reply};

/// A kind of handler.
pub(crate) trait Kind: Send + Sync + 'static {
    /// What of the request is needed again once there is a result.
    type Kept: Send + 'static;
}

/// What a handler gets of its request.
pub(crate) struct Taken<A, K> {
    pub(crate) input: A,
    pub(crate) lane: Option<LaneKey>,
    pub(crate) kept: K,
}

impl<A> Taken<A, ()> {
    fn plain(input: A) -> Self {
        Self { input, lane: None, kept: () }
    }
}

/// What a handler takes, by its kind.
pub(crate) trait Takes<A>: Kind {
    fn take(&self, request: &Request) -> Result<Taken<A, Self::Kept>, Reply>;
}

/// What becomes of what a handler gives, by its kind.
pub(crate) trait Gives<T>: Kind {
    fn give(&self, kept: Self::Kept, result: Result<T, Exit>) -> Reply;
}

fn invalid(message: impl Into<String>) -> Reply {
    Reply::error(wire::INVALID_PARAMS, message)
}

// Prompts.

/// What a prompt's handler may return as its value.
pub trait PromptOutput {
    /// The result for the client.
    fn into_prompt(self) -> GetPromptResult;
}

impl PromptOutput for GetPromptResult {
    fn into_prompt(self) -> GetPromptResult {
        self
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_prompt(self) -> GetPromptResult {
        GetPromptResult::new(self)
    }
}

impl PromptOutput for String {
    /// One text, said by the person.
    fn into_prompt(self) -> GetPromptResult {
        GetPromptResult::text(self)
    }
}

impl PromptOutput for &str {
    /// One text, said by the person.
    fn into_prompt(self) -> GetPromptResult {
        GetPromptResult::text(self)
    }
}

impl PromptOutput for ContentBlock {
    /// Something the person says.
    fn into_prompt(self) -> GetPromptResult {
        GetPromptResult::new(vec![PromptMessage::user(self)])
    }
}

/// The rules for each request of one prompt.
pub(crate) struct PromptRules {
    pub(crate) arguments: Vec<PromptArgument>,
}

impl Kind for PromptRules {
    type Kept = ();
}

impl<A: DeserializeOwned> Takes<A> for PromptRules {
    fn take(&self, request: &Request) -> Result<Taken<A, ()>, Reply> {
        let given = request.prompt_arguments();
        let missing = self
            .arguments
            .iter()
            .find(|argument| argument.is_required() && given.get(&argument.name).is_none());
        if let Some(missing) = missing {
            return Err(invalid(format!("the prompt needs its argument {:?}", missing.name)));
        }
        let arguments = from_texts(&given);
        arguments
            .map(Taken::plain)
            .map_err(|why| invalid(format!("the prompt's arguments do not fit: {why}")))
    }
}

impl<T: PromptOutput> Gives<T> for PromptRules {
    fn give(&self, (): (), result: Result<T, Exit>) -> Reply {
        plain(result, |output| Answer::Prompt(output.into_prompt()))
    }
}

// Resources.

/// What a resource's handler may return as its value.
pub trait ResourceOutput {
    /// The result for the client; `uri` is the one that was read, `mime_type` what the resource is said to be.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult;
}

impl ResourceOutput for ReadResourceResult {
    fn into_contents(self, _: &str, _: Option<&str>) -> ReadResourceResult {
        self
    }
}

impl ResourceOutput for String {
    /// Its text.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        typed(ReadResourceResult::text(uri, self), mime_type)
    }
}

impl ResourceOutput for &str {
    /// Its text.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        typed(ReadResourceResult::text(uri, self), mime_type)
    }
}

impl ResourceOutput for Vec<u8> {
    /// Its bytes.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        typed(ReadResourceResult::bytes(uri, &self), mime_type)
    }
}

fn typed(mut result: ReadResourceResult, mime_type: Option<&str>) -> ReadResourceResult {
    use sansio_mcp::model::ResourceContents;
    for contents in &mut result.contents {
        let place = match contents {
            ResourceContents::Text(text) => &mut text.mime_type,
            ResourceContents::Blob(blob) => &mut blob.mime_type,
        };
        *place = mime_type.map(str::to_owned);
    }
    result
}

/// The rules for each request of one resource, or of the resources of one template.
pub(crate) struct ResourceRules {
    pub(crate) template: Option<UriTemplate>,
    pub(crate) mime_type: Option<String>,
    pub(crate) cache: Option<(u64, CacheScope)>,
}

impl Kind for ResourceRules {
    /// The URI.
    type Kept = Box<str>;
}

impl<A: DeserializeOwned> Takes<A> for ResourceRules {
    fn take(&self, request: &Request) -> Result<Taken<A, Box<str>>, Reply> {
        let uri = request.uri().unwrap_or_default();
        let values = self.template.as_ref().and_then(|template| template.matches(uri)).unwrap_or_default();
        // What does not fit the handler's type is no resource of this template.
        let input = from_texts(&values).map_err(|_| unknown_resource(uri))?;
        Ok(Taken { input, lane: None, kept: uri.into() })
    }
}

impl<T: ResourceOutput> Gives<T> for ResourceRules {
    fn give(&self, uri: Box<str>, result: Result<T, Exit>) -> Reply {
        plain(result, |output| {
            let mut result = output.into_contents(&uri, self.mime_type.as_deref());
            if let Some((ttl_ms, scope)) = self.cache.clone().filter(|_| result.ttl_ms == 0) {
                result = result.with_cache(ttl_ms, scope);
            }
            Answer::Resource(result)
        })
    }
}

/// The refusal of a URI behind which there is nothing (server/resources, "Error Handling").
pub(crate) fn unknown_resource(uri: &str) -> Reply {
    use sansio_mcp::model::RawJson;
    let mut failure = Failure::new(wire::INVALID_PARAMS, "Resource not found");
    failure.data = RawJson::from_value(&std::collections::BTreeMap::from([("uri", uri)])).ok();
    Reply::Error(failure)
}

// Completion.

/// What the handler of a completion may return as its value.
pub trait CompletionOutput {
    /// The result for the client.
    fn into_completion(self) -> CompleteResult;
}

impl CompletionOutput for CompleteResult {
    fn into_completion(self) -> CompleteResult {
        self
    }
}

impl CompletionOutput for Completion {
    fn into_completion(self) -> CompleteResult {
        let mut result = CompleteResult::default();
        result.completion = self;
        result
    }
}

impl<V: Into<String>> CompletionOutput for Vec<V> {
    /// These values, the best first; of more than a hundred the first.
    fn into_completion(self) -> CompleteResult {
        CompleteResult::new(self)
    }
}

/// Completions have no rules of their own.
pub(crate) struct CompletionRules;

impl Kind for CompletionRules {
    type Kept = ();
}

impl Takes<CompleteParams> for CompletionRules {
    fn take(&self, request: &Request) -> Result<Taken<CompleteParams, ()>, Reply> {
        request.completion().map(Taken::plain).map_err(|why| invalid(why.to_string()))
    }
}

impl<T: CompletionOutput> Gives<T> for CompletionRules {
    fn give(&self, (): (), result: Result<T, Exit>) -> Reply {
        plain(result, |output| Answer::Completion(output.into_completion()))
    }
}

// What they have in common.

/// Results without `isError`: what a tool would tell the model is a JSON-RPC error here.
fn plain<T>(result: Result<T, Exit>, answer: impl FnOnce(T) -> Answer) -> Reply {
    match result {
        Ok(output) => Reply::Answer(answer(output)),
        Err(exit) => match exit.into_reply() {
            Reply::Answer(Answer::Tool(result)) => failed(&result),
            other => other,
        },
    }
}

fn failed(result: &CallToolResult) -> Reply {
    Reply::error(wire::INTERNAL_ERROR, result.first_text().unwrap_or("the handler failed"))
}

/// A type from texts by name: numbers and booleans are read from their texts.
fn from_texts<A: DeserializeOwned>(texts: &Members<String>) -> Result<A, serde_json::Error> {
    let members = texts.iter().map(|(name, text)| (name, text::Text(text)));
    A::deserialize(MapDeserializer::new(members))
}

mod text {
    //! A text as whatever a type wants it to be.

    use serde::de::value::StrDeserializer;
    use serde::de::{Deserializer, IntoDeserializer, Visitor};
    use serde_json::Error;

    pub(super) struct Text<'a>(pub(super) &'a str);

    impl IntoDeserializer<'_, Error> for Text<'_> {
        type Deserializer = Self;
        fn into_deserializer(self) -> Self {
            self
        }
    }

    macro_rules! parsed {
        ($($method:ident => $visit:ident,)*) => {
            $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                match self.0.parse() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => visitor.visit_str(self.0),
                }
            })*
        };
    }

    impl<'de> Deserializer<'de> for Text<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_str(self.0)
        }

        parsed! {
            deserialize_bool => visit_bool,
            deserialize_i8 => visit_i8,
            deserialize_i16 => visit_i16,
            deserialize_i32 => visit_i32,
            deserialize_i64 => visit_i64,
            deserialize_u8 => visit_u8,
            deserialize_u16 => visit_u16,
            deserialize_u32 => visit_u32,
            deserialize_u64 => visit_u64,
            deserialize_f32 => visit_f32,
            deserialize_f64 => visit_f64,
        }

        fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_some(self)
        }

        fn deserialize_newtype_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            visitor: V,
        ) -> Result<V::Value, Error> {
            visitor.visit_newtype_struct(self)
        }

        fn deserialize_enum<V: Visitor<'de>>(
            self,
            name: &'static str,
            variants: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Error> {
            let text: StrDeserializer<'_, Error> = self.0.into_deserializer();
            text.deserialize_enum(name, variants, visitor)
        }

        serde::forward_to_deserialize_any! {
            i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
            ignored_any
        }
    }
}
