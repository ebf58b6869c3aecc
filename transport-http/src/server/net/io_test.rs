use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use sansio_mcp_memory::VirtualClock;

use super::*;

/// A peer that always has sent more.
struct Flood;

impl Read for Flood {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        buf.put_slice(b"x");
        Poll::Ready(Ok(()))
    }
}

impl Write for Flood {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Otherwise one connection that is flooded with frames holds up all others for as long as its client likes.
#[test]
fn a_flood_is_read_in_turns_each_of_which_asks_for_the_next() {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let mut io = Io::new(Flood, Life::new(Arc::clone(&clock)), clock, Duration::from_secs(30));
    for turn in 1..=3 {
        let mut reads = 0;
        loop {
            let mut byte = [0];
            let mut buf = ReadBuf::new(&mut byte);
            if Pin::new(&mut io).poll_read(&mut cx, buf.unfilled()).is_pending() {
                break;
            }
            reads += 1;
            assert!(reads < 100, "a turn that does not end");
        }
        assert_eq!((reads, wakes.0.load(Ordering::Relaxed)), (2, turn));
    }
}
