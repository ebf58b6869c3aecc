//! What the engine says by itself on a channel that all requests share.
//!
//! A request that it answers itself is in flight like any other, only answered from the start: until the answer is
//! taken a cancel withdraws it and its id is in use. Where as many are in flight as may be there is no room to remember one
//! more; such a request is answered all the same (most often that the server is busy), but its answer can no longer be
//! withdrawn and its id is free at once.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::channel::Server;
use super::outbox::Outbox;
use super::serving::Serving;
use super::transmit::{Kind, Status};
use super::triage::{Answer, malformed};
use crate::id::RequestId;
use crate::slab::{Key, Slab};
use crate::wire::Malformed;

/// What the engine has to send by itself.
#[derive(Debug, Default)]
pub(super) struct OwnAnswers {
    /// Those that nothing can withdraw: without an id, or beyond what may be in flight.
    pub(super) untracked: Outbox,
    /// Requests that were answered. May name some whose answer was withdrawn.
    pub(super) ready: VecDeque<Key>,
}

impl OwnAnswers {
    /// Answers what is not a message.
    pub(super) fn not_a_message(&mut self, why: Malformed) {
        self.push(Status::BadRequest, |out| malformed(out, why));
    }

    fn push(&mut self, status: Status, write: impl FnOnce(&mut Vec<u8>)) {
        let written: Result<(), Infallible> = self.untracked.push(Kind::Response(status), |out| {
            write(out);
            Ok(())
        });
        debug_assert!(written.is_ok());
    }
}

impl Server {
    /// Answers a request whose id is not in use.
    pub(super) fn answer(&mut self, id: RequestId, answer: &Answer) {
        let config = Arc::clone(&self.config);
        let outbox = self.has_room().then(|| self.spare.pop().unwrap_or_default());
        let serving = outbox.map(|outbox| Serving::answered(id.clone(), answer, &config, outbox));
        let Some(at) = serving.and_then(|serving| self.live.insert(serving)) else {
            return self.own.push(answer.status(), |out| answer.write(out, &id, &config));
        };
        self.unsent += self.live.get(at).map_or(0, Serving::unsent);
        self.by_id.insert(id, at);
        enlist(&mut self.own.ready, &self.live, at);
    }
}

/// Adds to a list of requests that have something to send. It may name some that are over: those are removed when they
/// are many, since a peer that cancels what it asks must not make the list grow.
pub(super) fn enlist(list: &mut VecDeque<Key>, live: &Slab<Serving>, at: Key) {
    if list.len() >= live.len() * 2 + 64 {
        list.retain(|at| live.get(*at).is_some());
    }
    list.push_back(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Implementation, ServerCapabilities};
    use crate::server::ServerConfig;
    use crate::time::Now;

    /// A list of answers that were withdrawn holds no more than a few.
    #[test]
    fn withdrawn_answers_leave_nothing_behind() {
        let config = ServerConfig::builder(Implementation::new("s", "1"), ServerCapabilities::default());
        let mut server = Server::new(Arc::new(config.build().unwrap()));
        for _ in 0..10_000 {
            server.handle_message(Now::default(), br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#);
            let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
            server.handle_message(Now::default(), cancel);
        }
        assert!(server.own.ready.len() <= 70, "{}", server.own.ready.len());
        assert!(!server.has_output() && server.poll_transmit(&mut Vec::new()).is_none());
    }
}
