//! Sockets, hyper, and the end of a server; the same on every runtime.

mod bind;
mod connection;
mod endpoint;
mod io;
mod life;
mod stage;

use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, Write};
use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::clock::{Alarm, Clock};

use self::stage::{Seat, Stage, Stages};
use super::{Limits, Service};

pub(super) use bind::Running;
pub use bind::{BindError, Bound, Endpoint, Handle};

/// How long to wait after a connection could not be accepted: usually there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// After which the reactor has told of everything that had come before.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a server that leaves goes on accepting connections, and serving what comes, while there are any. Each is used
/// once more.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// How long connections may take to write what is left, once everything is over.
const FLUSH_TIME: Duration = Duration::from_secs(1);
/// Connections that are accepted before others get their turn.
const ACCEPTS: usize = 64;

/// Where tasks go.
pub(super) trait Spawn: Clone + Send + Sync + 'static {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);
}

/// A socket that listens, on its runtime.
pub(super) trait Listener {
    type Io: Read + Write + Unpin + Send + 'static;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<Self::Io>>;
}

/// What connections share.
pub(super) struct Common {
    service: Service,
    path: Arc<str>,
    check: Option<Box<bind::Check>>,
    limits: Limits,
    clock: Arc<dyn Clock>,
}

/// Serves until it was told to end and everything is over.
pub(super) async fn serve<M: Mode, L: Listener>(listener: L, running: Running<M>, spawn: impl Spawn) {
    let Running { common, driver, stages } = running;
    let clock = Arc::clone(&common.clock);
    let engine = common.service.engine().clone();
    let mut driver = pin!(driver);
    let turn = &common.service.inner.turn;
    let mut drive = |cx: &mut Context<'_>| turn.drive(cx, |cx| driver.as_mut().poll(cx)).is_ready();
    let mut driven = false;
    let mut accepting = Accepting { listener: Some(listener), pause: None };

    // While it serves.
    poll_fn(|cx| {
        stages.register(cx);
        driven = driven || drive(cx);
        if driven || stages.stage() > Stage::Serving {
            return Poll::Ready(());
        }
        accepting.poll(cx, &common, &stages, &spawn)
    })
    .await;

    // What is on its way is served: of a connection, and of a request on one that was idle, nobody can say that it came too late.
    let steps = [(Stage::Settling, GLANCE), (Stage::Settling, SETTLE_TIME), (Stage::Draining, GLANCE)];
    for (stage, time) in steps {
        stages.advance(stage);
        if stage == Stage::Draining {
            accepting.listener = None;
        }
        let mut alarm = Alarm::new(&*clock, clock.mono() + time);
        poll_fn(|cx| {
            stages.register(cx);
            driven = driven || drive(cx);
            let _ = accepting.poll(cx, &common, &stages, &spawn);
            let over = driven || time > GLANCE && stages.connections() == 0;
            if over { Poll::Ready(()) } else { alarm.poll(&*clock, cx) }
        })
        .await;
    }

    // Calls may finish.
    common.service.close();
    let mut idle = pin!(common.service.idle());
    let mut alarm = Alarm::new(&*clock, clock.mono() + common.limits.drain_time);
    poll_fn(|cx| {
        stages.register(cx);
        driven = driven || drive(cx);
        let over = driven || idle.as_mut().poll(cx).is_ready() || stages.stage() == Stage::Over;
        if over { Poll::Ready(()) } else { alarm.poll(&*clock, cx) }
    })
    .await;

    // What is left is cancelled; the engine bounds how long that takes.
    engine.shutdown();
    poll_fn(|cx| {
        driven = driven || drive(cx);
        if driven { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    turn.leave();

    // Everything is over but the writing of it.
    let mut alarm = Alarm::new(&*clock, clock.mono() + FLUSH_TIME);
    let all_gone = |cx: &mut Context<'_>| {
        stages.register(cx);
        if stages.connections() == 0 { Poll::Ready(()) } else { Poll::Pending }
    };
    poll_fn(|cx| if all_gone(cx).is_ready() { Poll::Ready(()) } else { alarm.poll(&*clock, cx) }).await;
    stages.advance(Stage::Over);
    poll_fn(all_gone).await;
}

struct Accepting<L> {
    listener: Option<L>,
    pause: Option<Alarm>,
}

impl<L: Listener> Accepting<L> {
    /// Accepts connections, as many as may be. Never ready.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        common: &Arc<Common>,
        stages: &Arc<Stages>,
        spawn: &impl Spawn,
    ) -> Poll<()> {
        let Some(listener) = &self.listener else { return Poll::Pending };
        let clock = &*common.clock;
        for _ in 0..ACCEPTS {
            if let Some(pause) = &mut self.pause {
                ready!(pause.poll(clock, cx));
                self.pause = None;
            }
            if stages.connections() >= common.limits.connections {
                // Told when one ends.
                return Poll::Pending;
            }
            match ready!(listener.poll_accept(cx)) {
                Ok(io) => {
                    let seat = Seat::take(stages);
                    spawn.spawn(connection::serve(io, Arc::clone(common), spawn.clone(), seat));
                }
                // Its client has gone already: the next one is not to wait for that.
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    tracing::warn!(%error, code = "ACCEPT", "a connection could not be accepted");
                    self.pause = Some(Alarm::new(clock, clock.mono() + ACCEPT_PAUSE));
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(all(test, feature = "smol"))]
#[allow(clippy::unwrap_used)]
#[path = "accept_test.rs"]
mod tests;
