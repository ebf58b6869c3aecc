//! The pump against streams and a port that do what they are told, and note what is done to them.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::{Frame, Framer};

use super::Port;
use super::pump::{AHEAD, BATCH, BUDGET, LINGER, Pump, pump};
use crate::clock::{Clock, Sleep};

#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // switches of a fake
struct World {
    log: Vec<String>,
    /// What reads give; nothing is Pending.
    reads: VecDeque<io::Result<Vec<u8>>>,
    /// What writes accept; nothing is all of it.
    writes: VecDeque<Poll<io::Result<usize>>>,
    written: Vec<u8>,
    /// What the port has to send.
    messages: VecDeque<String>,
    deadline: Option<Mono>,
    finished: bool,
    deaf: bool,
    /// After this line nothing more is wanted.
    deafening: String,
    /// Nothing is wanted while something waits to be sent.
    busy: bool,
    waker: Option<Waker>,
    now: Mono,
    sleeps: Vec<Mono>,
    /// Sleeps complete at once.
    restless: bool,
    wakes: usize,
    /// Of the one task that polls.
    own: Option<Waker>,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<World>>);

impl Fake {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn note(&self, what: impl Into<String>) {
        self.world().log.push(what.into());
    }

    fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.world().log)
    }

    fn pump(&self) -> Pump<Self, Self, Self> {
        pump(self.clone(), self.clone(), self.clone(), Arc::new(self.clone()), 1000)
    }

    fn poll(&self, pump: &mut Pump<Self, Self, Self>) -> Poll<()> {
        let waker = self.world().own.get_or_insert_with(|| Arc::new(self.clone()).into()).clone();
        Pin::new(pump).poll(&mut Context::from_waker(&waker))
    }

    fn read(&self, bytes: &str) {
        self.world().reads.push_back(Ok(bytes.into()));
    }
}

impl Wake for Fake {
    fn wake(self: Arc<Self>) {
        self.world().wakes += 1;
    }
}

impl Port for Fake {
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize {
        let mut lines = framer.feed(chunk);
        while !self.world().deaf
            && let Some(Frame::Line(line)) = lines.next()
        {
            self.note(format!("in {}", String::from_utf8_lossy(line)));
            let mut world = self.world();
            world.deaf = line == world.deafening.as_bytes();
            if line.starts_with(b"ask ") {
                world.messages.push_back("answer".into());
            }
        }
        chunk.len() - lines.unread()
    }
    fn input_end(&self, framer: &mut Framer) {
        if let Some(Frame::Line(line)) = framer.finish() {
            self.note(format!("in {}", String::from_utf8_lossy(line)));
        }
        self.note("input end");
    }
    fn lost(&self, cause: &str) {
        self.note(format!("lost: {cause}"));
    }
    fn wants_input(&self) -> bool {
        let world = self.world();
        !world.deaf && (!world.busy || world.messages.is_empty())
    }
    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()> {
        let mut world = self.world();
        world.waker = Some(cx.waker().clone());
        let start = out.len();
        while out.len() - start < max
            && let Some(message) = world.messages.pop_front()
        {
            out.extend_from_slice(message.as_bytes());
            out.push(b'\n');
        }
        if out.len() > start { Poll::Ready(()) } else { Poll::Pending }
    }
    fn is_finished(&self) -> bool {
        self.world().finished
    }
    fn next_timeout(&self) -> Option<Mono> {
        self.world().deadline
    }
    fn handle_timeout(&self) {
        let mut world = self.world();
        world.log.push("timeout".into());
        world.deadline = world.deadline.filter(|at| *at > world.now);
    }
}

impl AsyncRead for Fake {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let next = self.world().reads.pop_front();
        match next {
            None => Poll::Pending,
            Some(Err(error)) => Poll::Ready(Err(error)),
            Some(Ok(bytes)) => {
                let n = bytes.len().min(buffer.len());
                buffer[..n].copy_from_slice(&bytes[..n]);
                if n < bytes.len() {
                    self.world().reads.push_front(Ok(bytes[n..].to_vec()));
                }
                Poll::Ready(Ok(n))
            }
        }
    }
}

impl AsyncWrite for Fake {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let mut world = self.world();
        let done = world.writes.pop_front().unwrap_or(Poll::Ready(Ok(buffer.len())));
        if let Poll::Ready(Ok(n)) = &done {
            let n = (*n).min(buffer.len());
            world.written.extend_from_slice(&buffer[..n]);
            world.log.push(format!("write {n}"));
        }
        done
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note("flush");
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note("close");
        Poll::Ready(Ok(()))
    }
}

impl Clock for Fake {
    fn now(&self) -> Now {
        Now::at(self.world().now)
    }
    fn sleep_until(&self, at: Mono) -> Sleep {
        self.world().sleeps.push(at);
        let fake = self.clone();
        Box::pin(std::future::poll_fn(move |_| {
            let world = fake.world();
            if world.now >= at || world.restless { Poll::Ready(()) } else { Poll::Pending }
        }))
    }
}

fn at(seconds: u64) -> Mono {
    Mono::ZERO + Duration::from_secs(seconds)
}

#[test]
fn many_lines_are_one_write_and_the_flush_comes_last() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages = (0..100).map(|n| format!("{n:09}")).collect();
    fake.read("a\nb\n");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in a", "in b", "write 1000", "flush"]);
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), [""; 0], "nothing to do, nothing done");
}

#[test]
fn a_batch_is_bounded_and_short_writes_go_on_where_they_stopped() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages = (0..100).map(|n| format!("{n:01023}")).collect();
    fake.world().writes =
        [Poll::Ready(Ok(10)), Poll::Ready(Err(ErrorKind::Interrupted.into())), Poll::Pending].into();
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["write 10"]);
    assert_eq!(fake.world().messages.len(), 100 - BATCH / 1024, "the rest stays where it can be withdrawn");
    assert!(fake.poll(&mut pump).is_pending());
    let rest = 100 * 1024 - BATCH;
    assert_eq!(fake.take_log(), [format!("write {}", BATCH - 10), format!("write {rest}"), "flush".into()]);
    let want: Vec<u8> = (0..100).flat_map(|n| format!("{n:01023}\n").into_bytes()).collect();
    assert!(fake.world().written == want);
}

#[test]
fn what_a_port_does_not_want_yet_waits_and_comes_before_what_is_read_next() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().deafening = "b".into();
    fake.read("a\nb\nc\nd");
    fake.read("e\n");
    fake.world().reads.push_back(Ok(Vec::new()));
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in a", "in b"]);
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), [""; 0]);
    fake.world().deaf = false;
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in c", "in de", "input end"]);
}

/// Nobody wakes a pump for input that its own writing made welcome.
#[test]
fn what_is_wanted_again_once_the_answers_are_taken_is_handed_in_at_once() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().busy = true;
    fake.world().messages.push_back("earlier".into());
    fake.read("ask 1\n");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["write 8", "flush", "in ask 1", "write 7", "flush"]);
}

/// Both ends work at once: the peer is not kept waiting until everything it asked is answered.
#[test]
fn the_first_answers_are_written_before_the_last_questions_are_handed_in() {
    let fake = Fake::default();
    let mut pump = fake.pump().by_parts(8192);
    let asked = format!("ask {}\n", "x".repeat(95)).repeat(400);
    // The read buffer grows first.
    fake.read(&"x\n".repeat(2048));
    fake.read(&asked);
    assert!(fake.poll(&mut pump).is_pending());
    let log = fake.take_log();
    let first = log.iter().position(|what| what.starts_with("write")).unwrap();
    assert!(first <= 2048 + 100, "{first}");
    assert_eq!(log.iter().filter(|what| what.starts_with("in ask x")).count(), 400);
    assert!(log.iter().filter(|what| what.starts_with("write")).count() <= 10, "still in batches");
}

#[test]
fn reading_goes_on_while_the_writer_is_stuck_unless_the_port_is_full() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages.push_back("out".into());
    fake.world().writes = [Poll::Pending, Poll::Pending].into();
    fake.read("a\n");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in a"]);
    fake.world().deaf = true;
    fake.world().writes.extend([Poll::Pending, Poll::Pending]);
    fake.read("b\n");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), [""; 0]);
    fake.world().deaf = false;
    fake.world().writes.clear();
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in b", "write 4", "flush"]);
}

/// A port that is full takes nothing more; whether the peer is still there has to be noticed all the same.
fn full() -> (Fake, Pump<Fake, Fake, Fake>) {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages.push_back("out".into());
    fake.world().writes = (0..99).map(|_| Poll::Pending).collect();
    fake.world().deaf = true;
    assert!(fake.poll(&mut pump).is_pending());
    (fake, pump)
}

#[test]
fn a_peer_that_takes_nothing_and_ends_its_input_is_lost() {
    let (fake, mut pump) = full();
    fake.read("a\nb");
    fake.read("");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!((fake.take_log(), fake.world().sleeps.clone()), (vec![], vec![Mono::ZERO + LINGER]));
    fake.world().now = Mono::ZERO + LINGER;
    assert!(fake.poll(&mut pump).is_ready());
    assert_eq!(fake.take_log(), ["lost: the peer did not take the last bytes in time"]);
}

#[test]
fn what_was_read_before_the_end_is_still_taken_in_order() {
    let (fake, mut pump) = full();
    for text in ["a\nb", "c\n", "d", ""] {
        fake.read(text);
        assert!(fake.poll(&mut pump).is_pending());
    }
    fake.world().writes.clear();
    fake.world().deaf = false;
    fake.world().deafening = "bc".into();
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in a", "in bc", "write 4", "flush"]);
    fake.world().deaf = false;
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in d", "input end"]);
}

#[test]
fn what_is_read_ahead_is_bounded() {
    let (fake, mut pump) = full();
    for _ in 0..100 {
        fake.read(&"x\n".repeat(10_000));
    }
    for _ in 0..100 {
        assert!(fake.poll(&mut pump).is_pending());
    }
    let left: usize = fake.world().reads.iter().flatten().map(Vec::len).sum();
    assert_eq!(100 * 20_000 - left, AHEAD);
    fake.world().writes.clear();
    fake.world().deaf = false;
    for _ in 0..100 {
        assert!(fake.poll(&mut pump).is_pending());
    }
    assert_eq!(fake.take_log().iter().filter(|line| *line == "in x").count(), 1_000_000);
}

#[test]
fn the_executor_gets_its_turn() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.read(&"x\n".repeat(4 * BUDGET));
    let mut polls = 0;
    while !fake.world().reads.is_empty() {
        let wakes = fake.world().wakes;
        assert!(fake.poll(&mut pump).is_pending());
        let lines = fake.take_log().len();
        assert!(lines * 2 <= BUDGET + 64 * 1024, "{lines} lines in one poll");
        assert!(fake.world().wakes > wakes || fake.world().reads.is_empty());
        polls += 1;
    }
    assert!((7..=9).contains(&polls), "{polls}");
}

#[test]
fn after_the_end_of_input_what_is_left_is_sent_and_the_writer_closed() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.read("whole\npart");
    fake.read("");
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["in whole", "in part", "input end"]);
    fake.world().messages.push_back("answer".into());
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["write 7", "flush"]);
    fake.world().messages.push_back("last".into());
    fake.world().finished = true;
    assert!(fake.poll(&mut pump).is_ready());
    assert_eq!(fake.take_log(), ["write 5", "flush", "close"]);
    assert!(fake.poll(&mut pump).is_ready());
    assert_eq!(fake.take_log(), [""; 0]);
}

#[test]
fn errors_lose_the_connection_with_their_cause() {
    type Arrange = fn(&mut World);
    let cases: [(Arrange, &str); 4] = [
        (
            |world| world.reads.push_back(Err(ErrorKind::ConnectionReset.into())),
            "lost: read failed: connection reset",
        ),
        (
            |world| {
                world.writes.push_back(Poll::Ready(Err(ErrorKind::BrokenPipe.into())));
            },
            "lost: write failed: broken pipe",
        ),
        (|world| world.writes.push_back(Poll::Ready(Ok(0))), "lost: write failed: write zero"),
        (|world| world.reads.push_back(Err(ErrorKind::Interrupted.into())), "write 4"),
    ];
    for (arrange, want) in cases {
        let fake = Fake::default();
        let mut pump = fake.pump();
        fake.world().messages.push_back("out".into());
        arrange(&mut fake.world());
        let done = fake.poll(&mut pump).is_ready();
        assert_eq!(done, want.starts_with("lost"), "{want}");
        assert!(fake.take_log().iter().any(|line| line == want), "{want}");
    }
}

#[test]
fn one_alarm_for_the_nearest_deadline() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    for seconds in [9, 9, 20, 5, 7] {
        fake.world().deadline = Some(at(seconds));
        assert!(fake.poll(&mut pump).is_pending());
    }
    assert_eq!(fake.world().sleeps, [at(9), at(5)]);
    // It goes off early for the deadline that was moved on, which then gets its own.
    fake.world().now = at(5);
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.world().sleeps, [at(9), at(5), at(7)]);
    fake.world().now = at(7);
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.take_log(), ["timeout", "timeout"]);
    assert_eq!(fake.world().sleeps.len(), 3);
}

#[test]
fn a_peer_that_does_not_take_the_last_bytes_is_not_waited_for_for_ever() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages.push_back("last".into());
    fake.world().finished = true;
    fake.world().writes = (0..9).map(|_| Poll::Pending).collect();
    assert!(fake.poll(&mut pump).is_pending());
    assert_eq!(fake.world().sleeps, [Mono::ZERO + LINGER]);
    fake.world().now = Mono::ZERO + LINGER;
    assert!(fake.poll(&mut pump).is_ready());
}

#[test]
fn a_sleep_that_is_early_does_not_cut_the_last_bytes_short() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().restless = true;
    fake.world().messages.push_back("last".into());
    fake.world().finished = true;
    fake.world().writes = (0..9).map(|_| Poll::Pending).collect();
    for _ in 0..3 {
        let wakes = fake.world().wakes;
        assert!(fake.poll(&mut pump).is_pending());
        assert_eq!(fake.world().wakes, wakes + 1, "it comes back, but not before others had their turn");
    }
    fake.world().now = Mono::ZERO + LINGER;
    assert!(fake.poll(&mut pump).is_ready());
}

#[test]
fn a_stuck_pump_that_moves_to_another_task_is_still_woken() {
    let fake = Fake::default();
    let mut pump = fake.pump();
    fake.world().messages.push_back("out".into());
    fake.world().writes = (0..9).map(|_| Poll::Pending).collect();
    assert!(fake.poll(&mut pump).is_pending());
    let other = Fake::default();
    let waker = Waker::from(Arc::new(other.clone()));
    assert!(Pin::new(&mut pump).poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(fake.world().waker.as_ref().is_some_and(|kept| kept.will_wake(&waker)));
    // A waker that was used is given again.
    fake.world().waker = None;
    assert!(fake.poll(&mut pump).is_pending());
    assert!(fake.world().waker.is_some());
}
