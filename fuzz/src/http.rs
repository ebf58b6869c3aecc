//! The rules of the HTTP binding: any bytes as headers, schemas, messages and streams.

use sansio_mcp::wire::Envelope;
use sansio_mcp_http::accept::{accepted, form};
use sansio_mcp_http::http::{HeaderMap, HeaderName, HeaderValue};
use sansio_mcp_http::mirror::{self, ParamHeaders};
use sansio_mcp_http::origin::Policy;
use sansio_mcp_http::sse::{Fields, Read, Reader, SseLimits, comment, event};

/// Three parts between NUL: an input schema, a message, and lines of headers. Whatever they are, they are judged; what a client
/// makes of a message and a schema a server takes, carries no line ends, and is refused once any header is left out or
/// doubled.
pub fn http_mirror(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut part = || parts.next().unwrap_or_default();
    let (schema, message, lines) = (part(), part(), part());
    let schema = String::from_utf8_lossy(schema);
    let rules = ParamHeaders::from_json(&schema).unwrap_or_default();
    let headers = headers(lines);
    let _ = (accepted(&headers), form(&headers), Policy::default().admit(&headers, None));
    for value in headers.values() {
        if let Ok(text) = mirror::decode(value) {
            let again = mirror::encode(&text);
            assert_eq!(mirror::decode(&again).as_deref(), Ok(&*text), "there and back");
        }
    }
    let Ok(envelope) = Envelope::parse(message) else { return };
    if let Err(refusal) = mirror::validate(&headers, &envelope, |_| Some(&rules)) {
        let mut body = Vec::new();
        refusal.write(&mut body);
        Envelope::parse(&body).expect("a refusal is a message");
    }

    let mut headers = HeaderMap::new();
    if mirror::produce(&envelope, Some(&rules), &mut headers).is_err() {
        return;
    }
    for value in headers.values() {
        assert!(value.as_bytes().iter().all(|byte| matches!(byte, b' '..=b'~')), "{value:?}");
    }
    let taken = |headers: &HeaderMap| match mirror::validate(headers, &envelope, |_| Some(&rules)) {
        Ok(()) => true,
        // Another revision than ours is refused whatever stands in its headers.
        Err(refusal) => refusal.code() == -32022,
    };
    assert!(taken(&headers), "what is produced is valid");
    let ours = mirror::validate(&headers, &envelope, |_| Some(&rules)).is_ok();
    let is_request = matches!(envelope.message(), sansio_mcp::wire::Message::Request { .. });
    for name in headers.keys().filter(|_| ours && is_request) {
        let mut changed = headers.clone();
        changed.append(name, headers[name].clone());
        assert!(!taken(&changed), "{name} stands twice");
        changed.remove(name);
        assert!(!taken(&changed), "{name} is missing");
    }
}

fn headers(lines: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n').take(100) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(&line[colon + 1..]);
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

/// The first two bytes are limits, the third says how many of the next are lengths of pieces, the rest is the stream. Cut in
/// these pieces, singly, or not at all, its events are the same, no more is kept than the limits allow, and an event that is
/// written again is read again.
pub fn sse(bytes: &[u8]) {
    let [line, most, cuts, rest @ ..] = bytes else { return };
    let limits = SseLimits { line: usize::from(*line), event: usize::from(*most) };
    let (cuts, stream) = rest.split_at(rest.len().min(usize::from(cuts % 16)));
    let whole = read(limits, stream, &[]);
    assert_eq!(read(limits, stream, &[1]), whole, "singly");
    assert_eq!(read(limits, stream, cuts), whole, "in pieces");

    let mut again = Vec::new();
    let events: Vec<_> = read(SseLimits::default(), stream, &[]);
    for found in &events {
        let Read::Event(found) = found else { continue };
        comment(&mut again, &found.data);
        let fields = Fields { kind: Some(&found.kind), id: Some(&found.id), retry: None };
        event(&mut again, &fields, found.data.as_bytes()).expect("what was a field is one");
    }
    assert_eq!(read(SseLimits::default(), &again, cuts), events, "written again");
}

fn read(limits: SseLimits, mut stream: &[u8], cuts: &[u8]) -> Vec<Read> {
    let mut reader = Reader::new(limits);
    let mut found = Vec::new();
    let mut lengths = cuts.iter().cycle();
    while !stream.is_empty() {
        let len = lengths.next().map_or(stream.len(), |len| usize::from(*len).clamp(1, stream.len()));
        let (mut piece, rest) = stream.split_at(len);
        while let Some(read) = reader.read(&mut piece) {
            found.push(read);
        }
        assert!(reader.buffered() <= 3 * limits.line + limits.event, "{} are kept", reader.buffered());
        stream = rest;
    }
    found
}
