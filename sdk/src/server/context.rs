//! What a handler and a layer hold of their request.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{Progress, Request};
use sansio_mcp::subscription::Change;
use serde::de::DeserializeOwned;

use super::exit::Exit;
use crate::clock::Sleep;
use crate::engine::{Call, Cancelled, Cleanup};
use crate::mode::{Local, Mode, Shared};

/// What became of a report of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Report {
    /// It will be sent.
    Queued,
    /// The reader is slow: it will be sent in place of the one before it.
    Replaced,
    /// The request did not ask for progress, or its channel carries its answer alone
    /// ([`Context::carries_answer_only`]): nothing was allocated, locked or queued.
    NotAsked,
    /// Not greater than what was reported before; not sent.
    NotIncreasing,
    /// A percentage outside 0 to 100, or a value that is not a finite number; not sent.
    OutOfRange,
    /// The request is over: answered, cancelled, or its channel has gone.
    Over,
}

/// One entry of a request into its handler: its facts, its side channel out, its signal in.
///
/// `S` is the application's state. Cheap to clone; may be handed on.
pub struct Context<S = (), M: Mode = Shared> {
    pub(super) call: Arc<Call<M>>,
    state: Arc<S>,
}

impl<S, M: Mode> Clone for Context<S, M> {
    fn clone(&self) -> Self {
        Self { call: Arc::clone(&self.call), state: Arc::clone(&self.state) }
    }
}

impl<S, M: Mode> Context<S, M> {
    pub(crate) fn new(call: Arc<Call<M>>, state: Arc<S>) -> Self {
        Self { call, state }
    }

    pub(crate) fn refuse(&self, report: Report) -> Report {
        self.call.refused(report)
    }

    #[cfg(feature = "blocking")]
    pub(crate) fn begin_blocking(&self) -> crate::engine::Outstanding {
        self.call.signal.begin_blocking()
    }

    /// The same request, for a blocking body on another thread.
    #[cfg(feature = "blocking")]
    pub(crate) fn for_thread(&self) -> Context<S, Shared> {
        Context::new(self.call.twin(), Arc::clone(&self.state))
    }

    // Facts.

    /// The application's state.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// The application's state, to be moved into a clean-up or a task of one's own.
    pub fn state_arc(&self) -> Arc<S> {
        Arc::clone(&self.state)
    }

    /// The request: method, tool, metadata, what the client declared.
    pub fn request(&self) -> &Request {
        &self.call.request
    }

    /// A key of the request's `_meta`, read as a type; `None` if it is absent or of another type.
    pub fn meta<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.call.request.meta(key)?).ok()
    }

    /// Who makes the request, as the transport verified it ([`Engine::connect_as`](crate::Engine::connect_as)); `None` where
    /// it knows nobody.
    pub fn caller(&self) -> Option<Arc<[u8]>> {
        self.call.hub.lock().caller(self.call.channel)
    }

    /// Whether the client asked for progress and can be told. Reports to one that did not cost nothing.
    pub fn wants_progress(&self) -> bool {
        !self.call.silent
    }

    /// Whether nothing can be sent before the answer: plain JSON over HTTP. There is no progress then
    /// ([`Report::NotAsked`]) and no log to the client ([`Logged::NotAsked`](super::Logged::NotAsked)), whatever was asked for.
    pub fn carries_answer_only(&self) -> bool {
        self.call.answer_only
    }

    /// A value of this request's own context: one that the context hook, a layer or a handler has
    /// [set](Self::set), or else, until the request is answered, what its transport has
    /// [attached](crate::ExchangeOptions::attach).
    pub fn get<T: Any + Clone>(&self) -> Option<T> {
        self.call.get()
    }

    /// Sets a value of this request's own context, in place of an earlier one of its type. Whoever has part in the
    /// request finds it: layers, the context hook, handlers, and a blocking handler on its own thread, which is
    /// why it is `Send` in either mode.
    pub fn set<T: Any + Clone + Send + Sync>(&self, value: T) {
        self.call.set(value);
    }

    /// Completes after `time`, by the engine's clock.
    pub fn sleep(&self, time: Duration) -> Sleep {
        self.call.hub.clock.sleep(time)
    }

    // The side channel out.

    /// Reports how far the work is, in percent, and for a person what it is doing. The text is formatted only
    /// if the client asked for progress.
    pub fn progress(&self, percent: f64, message: impl fmt::Display) -> Report {
        if self.call.silent {
            return Report::NotAsked;
        }
        if !(0.0..=100.0).contains(&percent) {
            return self.call.refused(Report::OutOfRange);
        }
        let text = message.to_string();
        self.call.report(&Progress::new(percent).of(100.0).message(&text))
    }

    /// Reports progress in any unit, with any total.
    pub fn report(&self, report: &Progress<'_>) -> Report {
        self.call.report(report)
    }

    /// Tells the subscriptions that asked for it that something has changed: see
    /// [`Engine::publish`](crate::Engine::publish). A handler that changes something says so when it has succeeded.
    ///
    /// # Errors
    /// The server has not declared that it tells of this ([`list_changes`](super::Builder::list_changes),
    /// [`resource_updates`](super::Builder::resource_updates)).
    pub fn publish(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.call.hub.publish(change)
    }

    /// As [`publish`](Self::publish), for every resource that was asked for and whose URI `matches`.
    ///
    /// # Errors
    /// The server has not declared that resources can be subscribed to.
    pub fn publish_resources(&self, matches: &dyn Fn(&str) -> bool) -> Result<(), Misuse> {
        self.call.hub.publish_resources(matches)
    }

    // The signal in.

    /// Does nothing while the request lives and fails once it is cancelled: for blocking handlers, between
    /// two steps.
    ///
    /// # Errors
    /// The way out of the handler, to be returned with `?`.
    pub fn check_cancelled(&self) -> Result<(), Exit> {
        if self.is_cancelled() { Err(Exit::cancelled()) } else { Ok(()) }
    }

    /// Whether the request is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.call.signal.is_stopped()
    }

    /// The cancellation as a value: to await, to poll, to hand on.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled::new(Arc::clone(&self.call.signal))
    }
}

impl<S> Context<S, Local> {
    /// As [`set`](Self::set), for a value that may not leave its thread: a blocking handler does not find it. Where
    /// both have set one of the same type, this one is found.
    pub fn set_local<T: Any + Clone>(&self, value: T) {
        self.call.set_own(Arc::new(value));
    }
}

macro_rules! in_mode {
    ($mode:ty, [$($send:tt)*]) => {
        impl<S> Context<S, $mode> {
            /// Registers clean-up: it runs however this entry of the handler ends (return, error, question, panic,
            /// cancellation), once, last registered first, shielded from cancellation, after the answer was handed over and while
            /// slot and lane are still held. It is dropped at the engine's bound (5 s; 1.5 s while shutting
            /// down). What is returned can take it back; dropping that does nothing.
            pub fn on_exit(&self, cleanup: impl Future<Output = ()> $($send)* + 'static) -> OnExit<$mode> {
                OnExit::new(&self.call, Cleanup { future: Box::pin(cleanup), bound: None })
            }

            /// As [`on_exit`](Self::on_exit), with a bound of its own in place of the engine's, shorter or longer;
            /// while shutting down never more than the engine's.
            pub fn on_exit_within(
                &self,
                bound: Duration,
                cleanup: impl Future<Output = ()> $($send)* + 'static,
            ) -> OnExit<$mode> {
                OnExit::new(&self.call, Cleanup { future: Box::pin(cleanup), bound: Some(bound) })
            }
        }
    };
}

in_mode!(Local, []);
in_mode!(Shared, [+ Send]);

/// Clean-up that was registered with [`Context::on_exit`].
pub struct OnExit<M: Mode = Shared> {
    call: Arc<Call<M>>,
    number: usize,
}

impl<M: Mode> OnExit<M> {
    fn new(call: &Arc<Call<M>>, cleanup: Cleanup<M>) -> Self {
        Self { number: call.on_exit(cleanup), call: Arc::clone(call) }
    }

    /// Takes the clean-up back: it is dropped and does not run, what it would have undone is to stay. False if it
    /// has begun already.
    pub fn disarm(self) -> bool {
        self.call.disarm(self.number).is_some()
    }
}

impl<M: Mode> fmt::Debug for OnExit<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnExit").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<S, M: Mode> fmt::Debug for Context<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("request", &self.call.request).finish_non_exhaustive()
    }
}
