//! The future that moves a client's messages.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use sansio_mcp::client::{StreamId, TransportError};
use sansio_mcp_sdk::client::{ClientConnection, Queued};
use sansio_mcp_sdk::clock::{Alarm, Clock};
use sansio_mcp_sdk::lines::Port;
use tower_service::Service;

use super::BoxError;
use super::body::RequestBody;
use super::endpoint::Endpoint;
use super::failure::code;
use super::head::{Kind, Seen};
use super::options::Options;
use super::post::{Env, Post};
use super::refresh::Refresh;
use super::set::Set;
use super::spawn::{Spawned, Work};
use super::tools::Tools;

/// Tasks polled in one turn, before others of the same executor have theirs.
const TURN: usize = 256;
/// Room for the request of a small call.
const SMALL: usize = 640;
/// Requests that wait for others to end, before those that were given up are sorted out.
const SORTED: usize = 256;

pin_project! {
    /// Moves the messages of a client: poll it, or spawn it. It is over when the client was closed and everything in flight
    /// abandoned. Dropping it ends every call as lost, and its connections with it.
    ///
    /// All requests are small tasks in it, polled when something happened for them, so that none waits for another.
    #[must_use = "nothing is sent before it is polled"]
    pub struct Driver<S, F, B> {
        connection: ClientConnection,
        service: S,
        clock: Arc<dyn Clock>,
        endpoint: Endpoint,
        options: Options,
        tools: Tools,
        refresh: Refresh,
        tasks: Set<Task<S, F, B>>,
        streams: HashMap<StreamId, u32>,
        // Requests under way that count.
        posts: usize,
        waiting: VecDeque<StreamId>,
        sort_at: usize,
        alarm: Option<Alarm>,
        spawned: Spawned,
    }
}

enum Task<S, F, B> {
    Post(Pin<Box<Post<S, F, B>>>),
    Work(Work),
}

impl<S, F, B> Driver<S, F, B>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Future = F> + Clone,
    S::Error: Into<BoxError>,
    F: Future<Output = Result<Response<B>, S::Error>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(
        connection: ClientConnection,
        service: S,
        endpoint: Endpoint,
        options: Options,
        spawned: Spawned,
    ) -> Self {
        connection.correct_headers();
        Self {
            clock: connection.clock(),
            connection,
            service,
            endpoint,
            options,
            tools: Tools::default(),
            refresh: Refresh::default(),
            tasks: Set::new(),
            streams: HashMap::new(),
            posts: 0,
            waiting: VecDeque::new(),
            sort_at: SORTED,
            alarm: None,
            spawned,
        }
    }

    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut budget = TURN;
        loop {
            loop {
                match self.connection.poll_ready_stream(cx) {
                    Poll::Ready(Some(stream)) => self.ready(stream),
                    Poll::Ready(None) => {
                        self.tasks.clear();
                        return Poll::Ready(());
                    }
                    Poll::Pending => break,
                }
            }
            let mut moved = self.refresh.poll(&self.connection, cx);
            while let Some(work) = self.spawned.next(cx) {
                self.tasks.insert(Task::Work(work));
            }
            moved |= self.run(&mut budget);
            moved |= self.time(cx);
            if budget == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !moved && self.tasks.sleep(cx) {
                return Poll::Pending;
            }
        }
    }

    /// A stream has something to send.
    fn ready(&mut self, stream: StreamId) {
        match self.connection.queued(stream) {
            Some(Queued::Call) if self.posts >= self.options.limits.posts => {
                if self.waiting.len() >= self.sort_at {
                    let connection = &self.connection;
                    self.waiting.retain(|stream| connection.queued(*stream).is_some());
                    self.sort_at = self.waiting.len() * 2 + SORTED;
                }
                self.waiting.push_back(stream);
            }
            _ => self.send(stream),
        }
    }

    /// Takes a request, or that one is abandoned.
    fn send(&mut self, stream: StreamId) {
        let mut message = Vec::with_capacity(SMALL);
        let (tools, further) = (&self.tools, &self.options.headers);
        let look = |head: sansio_mcp_sdk::client::Head<'_>| Seen::new(&head, tools, further);
        let Some((_, seen)) = self.connection.transmit_with(stream, &mut message, look) else { return };
        let Some(seen) = seen else {
            // Its stream is closed: the server sees that, whatever it was doing.
            if let Some(at) = self.streams.remove(&stream) {
                self.remove(at);
            }
            return;
        };
        let kind = seen.kind;
        let message = Bytes::from(message);
        match seen.headers(&message, &self.tools, &self.options.headers) {
            Ok(headers) => {
                let post = Box::pin(Post::new(stream, kind, message, headers));
                self.streams.insert(stream, self.tasks.insert(Task::Post(post)));
                self.posts += usize::from(kind != Kind::Listen);
            }
            Err(error) => {
                let error = TransportError::new(code::UNSENDABLE, error.to_string());
                self.connection.stream_failure(stream, error);
            }
        }
    }

    fn remove(&mut self, at: u32) {
        if let Some(Task::Post(post)) = self.tasks.remove(at) {
            self.posts -= usize::from(post.kind != Kind::Listen);
        }
        while self.posts < self.options.limits.posts
            && let Some(stream) = self.waiting.pop_front()
        {
            self.send(stream);
        }
    }

    /// Polls what was woken; whether anything was.
    fn run(&mut self, budget: &mut usize) -> bool {
        let mut moved = false;
        while *budget > 0
            && let Some((at, task, waker)) = self.tasks.next_woken()
        {
            *budget -= 1;
            moved = true;
            let cx = &mut Context::from_waker(waker);
            let over = match task {
                Task::Work(work) => work.as_mut().poll(cx).is_ready(),
                Task::Post(post) => {
                    let mut env = Env {
                        service: &mut self.service,
                        connection: &self.connection,
                        clock: &*self.clock,
                        uri: self.endpoint.uri(),
                        options: &self.options,
                        tools: &mut self.tools,
                    };
                    let over = post.as_mut().poll(cx, &mut env).is_ready();
                    if over {
                        self.streams.remove(&post.stream);
                    }
                    over
                }
            };
            if over {
                self.remove(at);
            }
        }
        moved
    }

    fn time(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(at) = self.connection.next_timeout()
            && self.alarm.as_ref().is_none_or(|alarm| at < alarm.at())
        {
            self.alarm = Some(Alarm::new(&*self.clock, at));
        }
        let Some(alarm) = &mut self.alarm else { return false };
        if alarm.poll(&*self.clock, cx).is_pending() {
            return false;
        }
        self.alarm = None;
        self.connection.handle_timeout();
        true
    }
}

impl<S, F, B> Future for Driver<S, F, B>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Future = F> + Clone + Unpin,
    S::Error: Into<BoxError>,
    F: Future<Output = Result<Response<B>, S::Error>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.get_mut().turn(cx)
    }
}
