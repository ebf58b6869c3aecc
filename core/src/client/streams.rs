//! Streams: what waits on one, how one ends, and headers that were refused on it.

use alloc::sync::Arc;

use super::call::Input;
use super::calls::Client;
use super::config::Routing;
use super::event::{Outcome, StreamId, TransportError};
use super::outgoing::Outgoing;
use crate::id::CallId;
use crate::time::Now;

impl Client {
    // Facts.

    /// The revision of the specification under which the attempt of a call is made.
    pub fn version(&self, call: CallId) -> Option<&str> {
        let revision = self.calls.get(call.key())?.revision;
        self.config.revisions.get(usize::from(revision)).map(|revision| &*revision.version)
    }

    /// The call whose request waits to be taken from this stream of its own, and whether it is a subscription.
    pub fn waiting_on(&self, stream: StreamId) -> Option<(CallId, bool)> {
        let at = self.queued(i64::try_from(stream.0).ok()?)?;
        Some((CallId::of(at), self.calls.get(at)?.listening.is_some()))
    }

    /// Whether a request on this stream of its own waits for its answer, or to be taken.
    pub fn awaits(&self, stream: StreamId) -> bool {
        i64::try_from(stream.0).is_ok_and(|id| self.ids.owner(id).is_some())
    }

    // World in.

    /// A stream has gone: its attempt is lost. If it was the shared channel, every call is, and nothing can
    /// be called any more.
    pub fn handle_stream_end(&mut self, now: Now, stream: StreamId, cause: &str) {
        self.tick(now);
        let cause: Arc<str> = cause.into();
        if stream == StreamId::SHARED {
            self.finish_all(Input::Lost, &Outcome::Lost(cause));
            self.out = Outgoing::default();
            return;
        }
        self.stream_over(stream, Outcome::Lost(cause));
    }

    /// What came on a stream of its own is no answer to its request, which is over with this cause.
    pub fn handle_stream_failure(&mut self, now: Now, stream: StreamId, error: TransportError) {
        self.tick(now);
        self.stream_over(stream, Outcome::Transport(error.into()));
    }

    fn stream_over(&mut self, stream: StreamId, outcome: Outcome) {
        if self.config.routing == Routing::Shared {
            return;
        }
        let Ok(id) = i64::try_from(stream.0) else {
            return;
        };
        // Nothing can be said on it any more.
        self.out.abandoned.remove(&id);
        if let Some(at) = self.ids.owner(id) {
            self.apply(at, Input::Lost, |_| outcome);
        }
    }

    // Application in.

    /// From now on a call of a tool whose headers are refused (-32020) does not fail, but waits with
    /// [`HeadersRefused`](super::ClientEvent::HeadersRefused) for [`corrected`](Self::corrected), once a call
    /// (basic/transports/streamable-http, "Client Behavior"). For transports that mirror arguments into headers.
    pub fn correct_headers(&mut self) {
        self.corrects_headers = true;
    }

    /// The headers of a call were looked at again: it is sent once more, as another request. If that is of no use
    /// (`false`), the call fails with the refusal. A call that waits for no correction is left alone.
    pub fn corrected(&mut self, now: Now, call: CallId, again: bool) {
        self.tick(now);
        let at = call.key();
        let Some(waiting) = self.calls.get_mut(at) else { return };
        let Some(refusal) = waiting.refusal.take() else { return };
        if again {
            self.apply(at, Input::Corrected, |_| Outcome::Closed);
        } else {
            self.apply(at, Input::Lost, |_| Outcome::Error(*refusal));
        }
    }
}
