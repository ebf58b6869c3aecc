//! What a peer repeats word for word: a part of `_meta` in each request of a client, and `_meta` in each result of a server.
//!
//! Every request names its revision, its client and what the client can do, every result its server (basic/index,
//! "`_meta`"); what was read once and stands there again needs only to be compared. Members that were JSON once are JSON
//! wherever they stand again, and they end where they ended.

use alloc::string::String;

use super::envelope::{Envelope, Message};
use super::params::{Meta, key};
use super::raw::JsonText;
use super::text::{Piece, Text};
use crate::PROTOCOL_VERSION;

/// Longer ones are read each time.
const MAX: usize = 4096;

/// What is known of the peer whose message is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// Of a client.
    pub(crate) meta: Option<&'a KnownMeta>,
    /// Of a server: the `_meta` of its last result, or nothing.
    pub(crate) result_meta: &'a str,
}

/// The `_meta` of a server's last result.
#[derive(Debug, Default)]
pub(crate) struct KnownResultMeta(String);

impl KnownResultMeta {
    /// Learns from a result.
    pub(crate) fn learn(&mut self, meta: &str) {
        if self.0 != meta && meta.len() <= MAX {
            self.0.clear();
            self.0.push_str(meta);
        }
    }

    /// What was learnt.
    pub(crate) fn get(&self) -> &str {
        &self.0
    }
}

/// What a client said of itself, if it can be recognised again.
#[derive(Debug)]
pub(crate) struct KnownMeta(Option<Run>);

/// Members that stood next to each other, without white space.
#[derive(Debug)]
struct Run {
    text: String,
    protocol_version: Piece,
    client_info: Option<Piece>,
    client_capabilities: Piece,
}

impl KnownMeta {
    /// Learns from a request of ours; `None` if that is not one.
    pub(crate) fn learn(envelope: &Envelope<'_>) -> Option<Self> {
        let Message::Request { params: Ok(Some(params)), .. } = envelope.message() else { return None };
        let meta = params.meta.as_ref()?;
        let ours = meta.protocol_version.as_deref() == Some(PROTOCOL_VERSION);
        ours.then(|| Self(Run::find(envelope.text(), meta)))
    }

    /// Reads the members where they stand at the beginning of `rest`: gives their length.
    pub(super) fn read<'a>(&self, rest: &'a str, meta: &mut Meta<'a>) -> Option<usize> {
        let run = self.0.as_ref()?;
        let members = rest.get(..run.text.len())?;
        let twice = meta.protocol_version.is_some()
            || meta.client_info.is_some()
            || meta.client_capabilities.is_some();
        if members != run.text || twice {
            return None;
        }
        let piece = |piece: &Piece| piece.place(members);
        meta.protocol_version = piece(&run.protocol_version).map(Text::Borrowed);
        meta.client_info = run.client_info.as_ref().and_then(piece).map(JsonText::checked);
        meta.client_capabilities = piece(&run.client_capabilities).map(JsonText::checked);
        Some(members.len())
    }
}

impl Run {
    /// `None` where the members do not stand together, or in another form than programs write.
    fn find(line: &str, meta: &Meta<'_>) -> Option<Self> {
        let version = meta.protocol_version.as_deref()?;
        let info = meta.client_info.map(JsonText::get);
        let capabilities = meta.client_capabilities?.get();
        let mut parts = [
            Some((key::PROTOCOL_VERSION, "\"", version)),
            info.map(|info| (key::CLIENT_INFO, "", info)),
            Some((key::CLIENT_CAPABILITIES, "", capabilities)),
        ];
        // In the order in which they stand.
        parts.sort_by_key(|part| part.map(|(_, _, value)| value.as_ptr().addr()));
        let mut text = String::new();
        for (key, quote, value) in parts.into_iter().flatten() {
            let comma = if text.is_empty() { "" } else { "," };
            for piece in [comma, "\"", key, "\":", quote, value, quote] {
                text.push_str(piece);
            }
        }
        let at = line.find(&*text).filter(|_| text.len() <= MAX)?;
        let members = line.get(at..at + text.len())?;
        let place =
            |text: &str| Some(Piece::of(members, text)).filter(|piece| piece.place(members).is_some());
        Some(Self {
            protocol_version: place(version)?,
            client_info: match info {
                Some(info) => Some(place(info)?),
                None => None,
            },
            client_capabilities: place(capabilities)?,
            text,
        })
    }
}
