//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::rt::{Executor, Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::HttpService;
use sansio_mcp_sdk::clock::{Alarm, Clock};

use super::endpoint::{Endpoint, Noted};
use super::io::Io;
use super::life::Life;
use super::stage::{Seat, Stage};
use super::{Common, Spawn};
use crate::server::Limits;

/// Serves a connection until it is over.
pub(super) async fn serve<I>(io: I, common: Arc<Common>, spawn: impl Spawn, seat: Seat)
where
    I: Read + Write + Unpin + Send + 'static,
{
    let clock = Arc::clone(&common.clock);
    let limits = common.limits;
    let life = Life::new(Arc::clone(&clock));
    let mut io = Io::new(io, Arc::clone(&life), Arc::clone(&clock), limits.write_time);
    let mut watch = Watch { seat, life: Arc::clone(&life), limits, clock, alarm: None, said: false };
    let begun = poll_fn(|cx| {
        if let Poll::Ready(is_http2) = io.poll_is_http2(cx) {
            return Poll::Ready(is_http2.ok());
        }
        // Nothing was begun yet that a draining server would wait for.
        let over = watch.poll_over(cx).is_ready() || watch.seat.poll_reached(Stage::Draining, cx).is_ready();
        if over { Poll::Ready(None) } else { Poll::Pending }
    });
    let Some(is_http2) = begun.await else { return };
    let stages = Arc::clone(watch.seat.stages());
    let endpoint = Endpoint { common, life, stages };
    if is_http2 {
        let connection = http2::Builder::new(Spawned(spawn))
            .max_concurrent_streams(limits.concurrent_streams)
            .max_pending_accept_reset_streams(limits.pending_resets)
            .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
            .serve_connection(io, endpoint);
        // Its clients are told which requests were taken.
        watch.drive(pin!(connection), Stage::Settling).await;
    } else {
        // No `pipeline_flush`: it holds an answer back while the next request is there in part, and knows no bound for what waits
        // to be written.
        let mut connection = http1::Builder::new()
            .half_close(false)
            .max_buf_size(limits.header_bytes)
            .serve_connection(io, endpoint);
        let ended = watch.drive(Pin::new(&mut connection), Stage::Draining).await;
        let linger = ended.is_some_and(|ended| ended.is_err()) || watch.life.is_refused();
        let mut io = connection.into_parts().io;
        let mut alarm =
            Alarm::new(&*watch.clock, watch.clock.mono() + if linger { LINGER } else { Duration::ZERO });
        poll_fn(|cx| {
            if io.poll_last(linger, cx).is_ready() || watch.seat.poll_reached(Stage::Over, cx).is_ready() {
                return Poll::Ready(());
            }
            alarm.poll(&*watch.clock, cx)
        })
        .await;
    }
}

/// How long a client may go on sending what was refused. To close before it stops would take the answer from it.
const LINGER: Duration = Duration::from_secs(2);

/// What ends a connection from outside.
struct Watch {
    seat: Seat,
    life: Arc<Life>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    alarm: Option<Alarm>,
    /// It was told to begin nothing new.
    said: bool,
}

impl Watch {
    /// Polls a connection until it ends, or has to. `None`: it had to. From a stage on it begins nothing new, but what has come
    /// in already.
    async fn drive<C: Connection>(
        &mut self,
        mut connection: Pin<&mut C>,
        last: Stage,
    ) -> Option<hyper::Result<()>> {
        poll_fn(|cx| {
            let mut polled = connection.as_mut().poll_connection(cx);
            if polled.is_pending() && !self.said && self.seat.poll_reached(last, cx).is_ready() {
                self.said = true;
                connection.as_mut().drain();
                polled = connection.as_mut().poll_connection(cx);
            }
            if let Poll::Ready(ended) = polled {
                if let Err(error) = &ended {
                    tracing::debug!(%error, code = "CONNECTION", "a connection ended badly");
                }
                return Poll::Ready(Some(ended));
            }
            self.poll_over(cx).map(|()| None)
        })
        .await
    }

    /// Ready when it has been waited for too long, or the server is over.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.seat.poll_reached(Stage::Over, cx).is_ready() {
            return Poll::Ready(());
        }
        let clock = &*self.clock;
        loop {
            let deadline = self.life.deadline(&self.limits);
            // An alarm that goes off early is set again then; while requests are open there is only one to look again.
            if let Some(alarm) = &mut self.alarm
                && deadline.is_none_or(|deadline| alarm.at() <= deadline)
            {
                if alarm.poll(clock, cx).is_pending() {
                    return Poll::Pending;
                }
                if deadline.is_some_and(|deadline| clock.mono() >= deadline) {
                    tracing::debug!(code = "IDLE", "a connection is closed: no request came in time");
                    return Poll::Ready(());
                }
            }
            let at = deadline.unwrap_or_else(|| clock.mono() + self.limits.idle_time);
            self.alarm = Some(Alarm::new(clock, at));
        }
    }
}

/// A connection of either version.
trait Connection {
    fn poll_connection(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<hyper::Result<()>>;
    /// Lets what is begun finish, and begins nothing new.
    fn drain(self: Pin<&mut Self>);
}

impl<I> Connection for http1::Connection<Io<I>, Endpoint>
where
    I: Read + Write + Unpin + 'static,
{
    fn poll_connection(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        self.poll_without_shutdown(cx)
    }

    fn drain(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S: Spawn> Connection for http2::Connection<Io<I>, Endpoint, Spawned<S>>
where
    I: Read + Write + Unpin + 'static,
    Endpoint: HttpService<Incoming, ResBody = Noted, Error = Infallible>,
{
    fn poll_connection(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        self.poll(cx)
    }

    fn drain(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Where hyper's tasks go: one for each request on HTTP/2.
#[derive(Clone)]
struct Spawned<S>(S);

impl<S: Spawn, F: Future<Output = ()> + Send + 'static> Executor<F> for Spawned<S> {
    fn execute(&self, future: F) {
        self.0.spawn(future);
    }
}
