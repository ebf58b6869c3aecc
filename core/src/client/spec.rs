//! What is to be called, and how long it may take.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::model::SubscriptionFilter;
use crate::model::{CompleteParams, LoggingLevel, Members};
use crate::wire::params::key;
use crate::wire::{serialize, write};

/// Why a call could not be described or made. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Params and arguments are JSON objects.
    #[error("{0} must serialise to a JSON object")]
    NotAnObject(&'static str),
    /// The arguments of a prompt are texts.
    #[error("arguments must serialise to a JSON object of strings")]
    NotTexts,
    /// They could not be written as JSON.
    #[error("the params cannot be encoded: {0}")]
    NotEncodable(String),
    /// The engine writes this member itself.
    #[error("params.{0} is written by the engine; see CallSpec for the way to set it")]
    Reserved(&'static str),
    /// A subscription is more than a call: it is opened with [`Client::listen`](super::Client::listen).
    #[error("subscriptions/listen is opened with Client::listen")]
    Listen,
    /// As many calls are open as [`ClientLimits`](crate::limits::ClientLimits) allows.
    #[error("too many calls are open")]
    TooManyCalls,
    /// So much waits to be sent that the peer is not reading.
    #[error("too much waits to be sent")]
    TooManyBytes,
    /// The channel has ended.
    #[error("the channel has ended")]
    Closed,
}

/// One call before it is made: method, params, deadlines.
#[derive(Clone, Debug)]
pub struct CallSpec {
    pub(super) method: Cow<'static, str>,
    /// `Mcp-Name` of the HTTP binding: the tool, prompt or resource.
    target: Option<Target>,
    /// The members of `params`, without braces and without `_meta`.
    pub(super) members: Vec<u8>,
    /// Further members of `_meta`, without braces.
    pub(super) meta: Vec<u8>,
    pub(super) progress: bool,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) idle: Option<Duration>,
    pub(super) total: Option<Duration>,
}

/// A name that is among the members already.
#[derive(Clone, Debug)]
enum Target {
    /// It stands there as it is.
    Written(Range<usize>),
    /// It stands there with escapes.
    Escaped(Box<str>),
}

/// Room for the members of a call with small arguments, and for the small answer that takes their place.
const SMALL: usize = 512;

/// The default for the total deadline of a call: five minutes. The specification asks for one and leaves its
/// length open; a call that takes longer says so.
pub const DEFAULT_TOTAL: Duration = Duration::from_mins(5);

impl CallSpec {
    fn bare(method: Cow<'static, str>) -> Self {
        Self {
            method,
            target: None,
            members: Vec::new(),
            meta: Vec::new(),
            progress: false,
            log_level: None,
            idle: None,
            total: Some(DEFAULT_TOTAL),
        }
    }

    /// `subscriptions/listen` with this filter (basic/patterns/subscriptions).
    pub(super) fn listen(filter: &SubscriptionFilter) -> Self {
        let mut spec = Self::bare("subscriptions/listen".into());
        spec.members.extend_from_slice(b"\"notifications\":");
        filter.write(&mut spec.members);
        spec
    }

    /// `server/discover`.
    pub fn discover() -> Self {
        Self::bare("server/discover".into())
    }

    /// `tools/list`, from the beginning or from a cursor (server/utilities/pagination).
    pub fn list_tools(cursor: Option<&str>) -> Self {
        Self::list("tools/list", cursor)
    }

    /// `prompts/list`, from the beginning or from a cursor.
    pub fn list_prompts(cursor: Option<&str>) -> Self {
        Self::list("prompts/list", cursor)
    }

    /// `resources/list`, from the beginning or from a cursor.
    pub fn list_resources(cursor: Option<&str>) -> Self {
        Self::list("resources/list", cursor)
    }

    /// `resources/templates/list`, from the beginning or from a cursor.
    pub fn list_resource_templates(cursor: Option<&str>) -> Self {
        Self::list("resources/templates/list", cursor)
    }

    fn list(method: &'static str, cursor: Option<&str>) -> Self {
        let mut spec = Self::bare(method.into());
        if let Some(cursor) = cursor {
            spec.members.extend_from_slice(b"\"cursor\":");
            write::string(&mut spec.members, cursor);
        }
        spec
    }

    /// `tools/call` with arguments that serialise to an object.
    ///
    /// # Errors
    /// The arguments are not an object, or cannot be written as JSON.
    pub fn tool(name: &str, arguments: &(impl Serialize + ?Sized)) -> Result<Self, Refused> {
        let mut spec = Self::addressed("tools/call", b"\"name\":", name);
        spec.arguments(arguments)?;
        Ok(spec)
    }

    /// `prompts/get` with arguments that serialise to an object of texts.
    ///
    /// # Errors
    /// The arguments are not an object of texts, or cannot be written as JSON.
    pub fn prompt(name: &str, arguments: &(impl Serialize + ?Sized)) -> Result<Self, Refused> {
        let mut spec = Self::addressed("prompts/get", b"\"name\":", name);
        let written = spec.arguments(arguments)?;
        let texts = spec.members.get(written..).unwrap_or_default();
        serde_json::from_slice::<Members<String>>(texts).map_err(|_| Refused::NotTexts)?;
        Ok(spec)
    }

    /// `resources/read`.
    pub fn read_resource(uri: &str) -> Self {
        Self::addressed("resources/read", b"\"uri\":", uri)
    }

    /// `completion/complete`. Metadata among the params is left out; [`meta`](Self::meta) adds some.
    pub fn complete(params: &CompleteParams) -> Self {
        let mut spec = Self::bare("completion/complete".into());
        params.write_members(&mut spec.members);
        spec
    }

    /// A call to something that has a name: `member` is its key.
    fn addressed(method: &'static str, member: &[u8], name: &str) -> Self {
        let mut spec = Self::bare(method.into());
        let members = &mut spec.members;
        members.reserve(SMALL + name.len());
        members.extend_from_slice(member);
        let quoted = members.len();
        write::string(members, name);
        let written = quoted + 1..members.len() - 1;
        let plain = written.len() == name.len();
        spec.target = Some(if plain { Target::Written(written) } else { Target::Escaped(name.into()) });
        spec
    }

    /// Appends the arguments, and says where they start.
    fn arguments(&mut self, arguments: &(impl Serialize + ?Sized)) -> Result<usize, Refused> {
        let members = &mut self.members;
        members.extend_from_slice(b",\"arguments\":");
        let start = members.len();
        append(members, arguments)?;
        if members.get(start) == Some(&b'{') { Ok(start) } else { Err(Refused::NotAnObject("arguments")) }
    }

    /// Any method, with params that serialise to an object without `_meta`.
    ///
    /// # Errors
    /// The params are not an object, hold a member that the engine writes, or cannot be written as JSON.
    pub fn new(
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Self, Refused> {
        let mut spec = Self::bare(method.into());
        if spec.method == "subscriptions/listen" {
            return Err(Refused::Listen);
        }
        append(&mut spec.members, params)?;
        spec.members = object_members(spec.members, "params")?;
        Ok(spec)
    }

    /// What the call is addressed to within its method: the tool, prompt or resource.
    pub fn target(&self) -> Option<&str> {
        match self.target.as_ref()? {
            Target::Written(at) => core::str::from_utf8(self.members.get(at.clone())?).ok(),
            Target::Escaped(name) => Some(name),
        }
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The params as they are written, without braces and without `_meta`. Equal texts ask for the same.
    pub fn members(&self) -> &[u8] {
        &self.members
    }

    /// Whether it adds members of its own to `_meta`, or asks for log messages.
    pub fn has_meta(&self) -> bool {
        !self.meta.is_empty() || self.log_level.is_some()
    }

    /// Asks for progress.
    #[must_use]
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Ends the call as timed out when neither an answer nor progress has come for this long. Asks for
    /// progress, without which there would be nothing to wait for.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self.progress = true;
        self
    }

    /// Ends the call as timed out after this long, whatever progress it makes; the time in which the
    /// application answers a question does not count. `None`: never. The default is [`DEFAULT_TOTAL`].
    #[must_use]
    pub fn total_timeout(mut self, total: Option<Duration>) -> Self {
        self.total = total;
        self
    }

    /// Asks for log messages of this severity and above (server/utilities/logging, "Per-request log level").
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Adds members to `_meta`: a value that serialises to an object.
    ///
    /// # Errors
    /// Not an object, or it holds a key that the engine writes.
    pub fn meta(mut self, meta: &(impl Serialize + ?Sized)) -> Result<Self, Refused> {
        let mut text = Vec::new();
        append(&mut text, meta)?;
        let members = object_members(text, "_meta")?;
        if !self.meta.is_empty() && !members.is_empty() {
            self.meta.push(b',');
        }
        self.meta.extend_from_slice(&members);
        Ok(self)
    }
}

fn append(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), Refused> {
    let start = out.len();
    serialize::value(out, value).map_err(|error| Refused::NotEncodable(error.to_string()))?;
    write::one_line(out.get_mut(start..).unwrap_or_default());
    Ok(())
}

/// The text between the braces of an object that has no member of the engine's own.
fn object_members(object: Vec<u8>, what: &'static str) -> Result<Vec<u8>, Refused> {
    use alloc::collections::BTreeMap;
    let text = String::from_utf8(object).map_err(|error| Refused::NotEncodable(error.to_string()))?;
    let members: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(&text).map_err(|_| Refused::NotAnObject(what))?;
    let reserved: &[&'static str] = match what {
        "params" => &["_meta", "inputResponses", "requestState"],
        _ => &[
            key::PROGRESS_TOKEN,
            key::PROTOCOL_VERSION,
            key::CLIENT_INFO,
            key::CLIENT_CAPABILITIES,
            key::LOG_LEVEL,
        ],
    };
    if let Some(key) = reserved.iter().find(|key| members.contains_key(**key)) {
        return Err(Refused::Reserved(key));
    }
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    Ok(inner.trim().as_bytes().to_vec())
}
