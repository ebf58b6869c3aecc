//! Pipes of the operating system through smol's reactor, and a lab that knows when the reactor is about to wake
//! somebody.
//!
//! The reactor is another thread: what it has yet to say, the lab has to wait for, and nothing else, or time would
//! stand still. So both ends count bytes. A reader that waits while bytes are there, or a writer that waits while the
//! pipe is empty, will be woken for certain: until then an `External` is held.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_memory::{External, Lab};

#[derive(Default)]
pub(crate) struct Counts {
    written: u64,
    read: u64,
    reader: End,
    writer: End,
    external: Option<External>,
}

/// One direction, as both of its ends see it.
pub(crate) type Flow = Arc<Mutex<Counts>>;

#[derive(Default)]
struct End {
    /// It waits for the reactor.
    armed: bool,
    gone: bool,
    task: Option<Waker>,
}

impl Counts {
    fn is_due(&self) -> bool {
        let readable = self.written > self.read || self.writer.gone;
        let writable = self.written == self.read || self.reader.gone;
        self.reader.armed && readable || self.writer.armed && writable
    }

    fn end(&mut self, role: Role) -> &mut End {
        match role {
            Role::Reader => &mut self.reader,
            Role::Writer => &mut self.writer,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Role {
    Reader,
    Writer,
}

/// The one waker that the reactor gets for an end.
struct Relay {
    flow: Flow,
    role: Role,
}

fn lock(flow: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    flow.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let task = lock(&self.flow).end(self.role).task.take();
        // It counts as waiting until it is really woken: the reactor may come late, for what was read long ago, and stop
        // here while the lab goes on.
        if let Some(task) = task {
            task.wake();
        }
        let done = {
            let mut flow = lock(&self.flow);
            let end = flow.end(self.role);
            // Unless it has come again meanwhile.
            end.armed &= end.task.is_some();
            if flow.is_due() { None } else { flow.external.take() }
        };
        drop(done);
    }
}

/// An end of a pipe, or of one direction of a socket.
pub(crate) struct Tracked {
    lab: Lab,
    file: Async<File>,
    flow: Flow,
    relay: Waker,
    role: Role,
}

impl Tracked {
    pub(crate) fn new(lab: &Lab, end: impl Into<OwnedFd>, flow: &Flow, role: Role) -> Self {
        let file = Async::new(File::from(end.into())).expect("a pipe can be non-blocking");
        let relay = Waker::from(Arc::new(Relay { flow: Arc::clone(flow), role }));
        Self { lab: lab.clone(), file, flow: Arc::clone(flow), relay, role }
    }

    /// Announces what the reactor will certainly say, or takes it back.
    fn account(&self) {
        let mut flow = lock(&self.flow);
        let due = flow.is_due();
        let done = match (due, flow.external.is_some()) {
            (true, false) => flow.external.replace(self.lab.external()),
            (false, true) => flow.external.take(),
            _ => None,
        };
        drop(flow);
        drop(done);
    }

    pub(crate) fn poll(
        &mut self,
        cx: &Context<'_>,
        io: impl FnOnce(Pin<&mut Async<File>>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        {
            let mut flow = lock(&self.flow);
            let end = flow.end(self.role);
            end.armed = true;
            end.task = Some(cx.waker().clone());
        }
        let done = io(Pin::new(&mut self.file), &mut Context::from_waker(&self.relay));
        if let Poll::Ready(done) = &done {
            let mut flow = lock(&self.flow);
            flow.end(self.role).armed = false;
            let count = *done.as_ref().unwrap_or(&0) as u64;
            match self.role {
                Role::Reader => flow.read += count,
                Role::Writer => flow.written += count,
            }
        }
        self.account();
        done
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        {
            let mut flow = lock(&self.flow);
            let end = flow.end(self.role);
            end.gone = true;
            end.armed = false;
        }
        // Before the descriptor closes: from then on the reactor may speak.
        self.account();
    }
}

/// The end to read from.
pub struct OsReader(Tracked);

/// The end to write to.
pub struct OsWriter(Tracked);

/// Makes a pipe.
pub fn os_pipe(lab: &Lab) -> (OsReader, OsWriter) {
    let (reader, writer) = io::pipe().expect("there are descriptors left");
    let flow = Arc::default();
    (
        OsReader(Tracked::new(lab, reader, &flow, Role::Reader)),
        OsWriter(Tracked::new(lab, writer, &flow, Role::Writer)),
    )
}

impl AsyncRead for OsReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll(cx, |file, cx| file.poll_read(cx, buffer))
    }
}

impl AsyncWrite for OsWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll(cx, |file, cx| file.poll_write(cx, buffer))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.file).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.file).poll_close(cx)
    }
}
