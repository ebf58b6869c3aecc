use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use ::smol::io::Cursor;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::server::Server;

use super::*;
use crate::system::stream::Io;

/// Every connection fails like this.
struct Failing {
    kind: ErrorKind,
    asked: AtomicUsize,
}

impl Listener for Failing {
    type Io = Io<Cursor<Vec<u8>>>;

    fn poll_accept(&self, _: &mut Context<'_>) -> Poll<io::Result<Self::Io>> {
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            0..3 => Poll::Ready(Err(self.kind.into())),
            _ => Poll::Pending,
        }
    }
}

#[derive(Clone)]
struct Nowhere;

impl Spawn for Nowhere {
    fn spawn(&self, _: impl Future<Output = ()> + Send + 'static) {}
}

#[test]
fn a_client_that_has_gone_keeps_no_other_waiting() {
    let lab = Lab::new();
    let server = Server::shared("t", "1").build().unwrap();
    let endpoint = Endpoint::new(server).address(([127, 0, 0, 1], 0));
    let Running { common, stages, .. } = endpoint.bind::<()>(Arc::new(lab.clock())).unwrap().running;
    for (kind, asked) in
        [(ErrorKind::ConnectionAborted, 4), (ErrorKind::ConnectionReset, 4), (ErrorKind::OutOfMemory, 1)]
    {
        let listener = Failing { kind, asked: AtomicUsize::new(0) };
        let mut accepting = Accepting { listener: Some(listener), pause: None };
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(accepting.poll(cx, &common, &stages, &Nowhere).is_pending());
        assert_eq!(accepting.pause.is_some(), asked == 1, "{kind}");
        assert_eq!(accepting.listener.unwrap().asked.into_inner(), asked, "{kind}");
    }
}
