//! The short way to read a message of the usual form: no escapes in what is read here, no key that is not expected,
//! none twice. What is raw or of no interest is only checked to be JSON.
//!
//! `None` says nothing about a message but that it has to go the long way, which reads everything and knows what is
//! wrong. Where this gives a message, the long way gives the same one.

use alloc::string::String;

use serde::de::Deserialize;

use super::envelope::{Message, Response, ResultHead, ResultText};
use super::known::{Known, KnownMeta};
use super::params::{Meta, Params, key};
use super::raw::JsonText;
use super::skip;
use super::text::Text;
use super::write::clean_run;
use crate::id::{MAX_WIRE_ID, ProgressToken, RequestId};

/// How programs begin a message with an id: it needs only to be compared.
const BEGINNING: &str = r#"{"jsonrpc":"2.0","id":"#;

/// How servers begin a result.
const COMPLETE: &str = r#"{"resultType":"complete","#;

/// Digits that surely fit an `i64`.
const SHORT: usize = 18;

/// Reads a message into the place where it stays, since params are large and moving them costs; and where the result
/// stands, if it is one. What is in the places when this gives `None` means nothing.
pub(super) fn read<'a>(
    text: &'a str,
    known: Known<'_>,
    message: &mut Message<'a>,
    result_text: &mut Option<ResultText<'a>>,
) -> Option<()> {
    *message = Message::Request { id: RequestId::Int(0), method: Text::Borrowed(""), params: Ok(None) };
    let Message::Request { id: id_place, method: method_place, params: Ok(params) } = message else {
        return None;
    };
    let mut reader = Reader::new(text);
    let (mut jsonrpc, mut id, mut method, mut result) = (None, None, None, None);
    let begun = reader.literal(BEGINNING);
    if begun {
        jsonrpc = Some("2.0");
        id = Some(reader.id()?);
        reader.take(b',')?;
    }
    let members = |key: &str, reader: &mut Reader<'a>| match key {
        "jsonrpc" => once(&mut jsonrpc, reader.string().filter(|version| *version == "2.0")?),
        "id" => once(&mut id, reader.id()?),
        "method" => once(&mut method, reader.string()?),
        "params" => reader.params(params, known.meta),
        "result" => once(&mut result, reader.result(known.result_meta)?),
        _ => None,
    };
    if begun {
        reader.members(members)?;
    } else {
        reader.object(members)?;
    }
    reader.end()?;
    jsonrpc?;
    match (method.map(Text::Borrowed), id, result) {
        (Some(method), Some(id), None) => {
            (*id_place, *method_place) = (id, method);
        }
        (Some(method), None, None) => {
            let params = Ok(params.take());
            *message = Message::Notification { method, params };
        }
        (None, Some(id), Some((result, text))) if params.is_none() => {
            *message = Message::Response(Response { id: Some(id), outcome: Ok(result) });
            *result_text = Some(text);
        }
        _ => return None,
    }
    Some(())
}

pub(crate) fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

/// Reads forward; `None` ends it.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Nothing but white space is left.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.space();
        (self.at == self.text.len()).then_some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        self.at = skip::space(self.text.as_bytes(), self.at);
    }

    /// The next byte that is not white space, taken if it is this one.
    fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            self.space();
            if self.peek()? != byte {
                return None;
            }
        }
        self.at += 1;
        Some(())
    }

    /// Takes this text if it stands next.
    fn literal(&mut self, literal: &str) -> bool {
        let there =
            self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(literal.as_bytes()));
        if there {
            self.at += literal.len();
        }
        there
    }

    /// An object, each of whose members `member` reads after its key.
    pub(crate) fn object(&mut self, member: impl FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        self.members(member)
    }

    /// The rest of an object, from a key on.
    fn members(&mut self, mut member: impl FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        loop {
            let key = self.string()?;
            self.take(b':')?;
            member(key, self)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// An array, each of whose values `item` reads.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// A string, with or without escapes.
    pub(crate) fn text(&mut self) -> Option<String> {
        let start = self.at;
        if let Some(plain) = self.string() {
            return Some(plain.into());
        }
        self.at = start;
        self.value()
    }

    /// A string without escapes.
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let end = start + clean_run(bytes.get(start..)?);
        if *bytes.get(end)? != b'"' {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// An integer that is not negative and has few digits.
    fn int(&mut self) -> Option<i64> {
        self.space();
        let start = self.at;
        let mut value = 0;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if self.at - start == SHORT {
                return None;
            }
            value = value * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        let first = self.text.as_bytes().get(start)?;
        let digits = self.at - start;
        (digits == 1 || digits > 1 && *first != b'0').then_some(value)
    }

    fn id(&mut self) -> Option<RequestId> {
        self.space();
        if self.peek()? == b'"' {
            let id = self.string()?;
            return (id.len() <= MAX_WIRE_ID).then(|| RequestId::Str(id.into()));
        }
        self.int().map(RequestId::Int)
    }

    fn token(&mut self) -> Option<ProgressToken> {
        self.id().map(|id| match id {
            RequestId::Int(token) => ProgressToken::Int(token),
            RequestId::Str(token) => ProgressToken::Str(token),
        })
    }

    #[allow(clippy::cast_precision_loss)] // as `serde_json` gives an integer to who wants a double
    fn number(&mut self) -> Option<f64> {
        let start = self.at;
        if let Some(whole) = self.int()
            && !matches!(self.peek(), Some(b'.' | b'e' | b'E'))
        {
            return Some(whole as f64);
        }
        self.at = start;
        self.value()
    }

    /// A value of a type, read by `serde_json`.
    pub(crate) fn value<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.text.get(self.at..)?).into_iter();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// Any value, as it stands.
    pub(crate) fn raw(&mut self) -> Option<JsonText<'a>> {
        self.space();
        let end = skip::value(self.text.as_bytes(), self.at)?;
        let raw = self.text.get(self.at..end)?;
        self.at = end;
        Some(JsonText::checked(raw))
    }

    pub(crate) fn raw_object(&mut self) -> Option<JsonText<'a>> {
        self.raw().filter(|raw| raw.is_object())
    }

    /// An object that may be this one, whose text was read before.
    fn raw_object_like(&mut self, known: &str) -> Option<JsonText<'a>> {
        let start = self.at;
        if known.is_empty() || !self.literal(known) {
            return self.raw_object();
        }
        self.text.get(start..self.at).map(JsonText::checked)
    }

    /// An object that is this part of the text, if it stands here: it was read before.
    pub(crate) fn raw_object_at(&mut self, part: Option<&'a str>) -> Option<JsonText<'a>> {
        match part {
            Some(part) if self.text.get(self.at..)?.as_ptr() == part.as_ptr() => {
                self.at += part.len();
                Some(JsonText::checked(part))
            }
            _ => self.raw_object(),
        }
    }

    fn params(&mut self, place: &mut Option<Params<'a>>, known: Option<&KnownMeta>) -> Option<()> {
        if place.is_some() {
            return None;
        }
        let params = place.insert(Params::default());
        self.object(|key, reader| match key {
            "_meta" => reader.meta(&mut params.meta, known),
            "name" => once(&mut params.name, Text::Borrowed(reader.string()?)),
            "arguments" => once(&mut params.arguments, reader.raw()?),
            "inputResponses" => once(&mut params.input_responses, reader.raw_object()?),
            "requestState" => once(&mut params.request_state, Text::Borrowed(reader.string()?)),
            "uri" => once(&mut params.uri, Text::Borrowed(reader.string()?)),
            "cursor" => once(&mut params.cursor, Text::Borrowed(reader.string()?)),
            "requestId" => once(&mut params.request_id, reader.id()?),
            "reason" => once(&mut params.reason, Text::Borrowed(reader.string()?)),
            "progressToken" => once(&mut params.progress_token, reader.token()?),
            "progress" => once(&mut params.progress, reader.number()?),
            "total" => once(&mut params.total, reader.number()?),
            "message" => once(&mut params.message, Text::Borrowed(reader.string()?)),
            _ => None,
        })
    }

    fn meta(&mut self, place: &mut Option<Meta<'a>>, known: Option<&KnownMeta>) -> Option<()> {
        if place.is_some() {
            return None;
        }
        let meta = place.insert(Meta::default());
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let rest = self.text.get(self.at..)?;
            match known.and_then(|known| known.read(rest, meta)) {
                Some(members) => self.at += members,
                None => self.meta_member(meta)?,
            }
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    fn meta_member(&mut self, meta: &mut Meta<'a>) -> Option<()> {
        let key = self.string()?;
        self.take(b':')?;
        match key {
            key::PROGRESS_TOKEN => once(&mut meta.progress_token, self.token()?),
            key::PROTOCOL_VERSION => once(&mut meta.protocol_version, Text::Borrowed(self.string()?)),
            key::CLIENT_INFO => once(&mut meta.client_info, self.raw_object()?),
            key::CLIENT_CAPABILITIES => once(&mut meta.client_capabilities, self.raw_object()?),
            _ => {
                meta.other.push((Text::Borrowed(key), self.raw()?));
                Some(())
            }
        }
    }

    fn result(&mut self, meta: &str) -> Option<(ResultHead<'a>, ResultText<'a>)> {
        self.space();
        let start = self.at;
        let mut head = ResultHead { well_formed: true, ..ResultHead::default() };
        let mut metadata = None;
        let complete = self.literal(COMPLETE);
        if complete {
            head.result_type = Some(Text::Borrowed("complete"));
        }
        let members = |key: &str, reader: &mut Self| match key {
            "resultType" => once(&mut head.result_type, Text::Borrowed(reader.string()?)),
            "inputRequests" => once(&mut head.input_requests, reader.raw_object()?),
            "requestState" => once(&mut head.request_state, Text::Borrowed(reader.string()?)),
            // Of two, whoever wants the result as a type says that there are two.
            "_meta" => reader.raw_object_like(meta).map(|meta| metadata = Some(meta)),
            _ => reader.raw().map(|_| ()),
        };
        if complete {
            self.members(members)?;
        } else {
            self.object(members)?;
        }
        let whole = JsonText::checked(self.text.get(start..self.at)?);
        Some((head, ResultText { whole, meta: metadata }))
    }
}
