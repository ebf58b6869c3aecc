//! Whether handlers may leave their thread.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

use crate::server::{ContextHook, Layer, Reply, RunTool, Watched};

/// Handlers need not be `Send`: the engine's driver runs on one thread. For editors, game loops, browsers.
#[derive(Debug)]
pub enum Local {}

/// Handlers are `Send`: the driver, and each handler through the spawn hook, may run on any thread.
#[derive(Debug)]
pub enum Shared {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Local {}
    impl Sealed for super::Shared {}
}

/// [`Local`] or [`Shared`]: what the futures and objects of a server are made of. Sealed, as are the objects: tools, layers
/// and hooks are functions, given to a [`Builder`](crate::server::Builder).
pub trait Mode: sealed::Sealed + Sized + 'static {
    /// A boxed future.
    type Future<T: 'static>: Future<Output = T> + Unpin + 'static;
    // What a server keeps of the functions that it was given.
    #[doc(hidden)]
    type Tool: ?Sized + RunTool<Self>;
    #[doc(hidden)]
    type Layer: ?Sized + Layer<Self>;
    #[doc(hidden)]
    type Hook: ?Sized + ContextHook<Self>;
    /// A value of a request's own context that stays on its thread.
    #[doc(hidden)]
    type Value: ?Sized;
    /// Hands work to an executor.
    #[doc(hidden)]
    type Spawn: ?Sized + Fn(Self::Future<()>);

    #[doc(hidden)]
    fn as_any(value: &Self::Value) -> &dyn Any;
    #[doc(hidden)]
    fn ready<T: Send + 'static>(value: T) -> Self::Future<T>;
    #[doc(hidden)]
    fn from_shared<T: 'static>(future: <Shared as Mode>::Future<T>) -> Self::Future<T>;
    #[doc(hidden)]
    fn work(work: Work<Self>) -> Self::Future<()>;
    #[doc(hidden)]
    fn watched(run: Watched<Self>) -> Self::Future<Reply>;
}

/// Work for a spawn hook. Opaque.
#[doc(hidden)]
pub struct Work<M: Mode>(pub(crate) crate::engine::Work<M>);

impl Mode for Local {
    type Future<T: 'static> = Pin<Box<dyn Future<Output = T>>>;
    type Tool = dyn RunTool<Self>;
    type Layer = dyn Layer<Self>;
    type Hook = dyn ContextHook<Self>;
    type Value = dyn Any;
    type Spawn = dyn Fn(Self::Future<()>);

    fn as_any(value: &Self::Value) -> &dyn Any {
        value
    }

    fn ready<T: Send + 'static>(value: T) -> Self::Future<T> {
        Box::pin(std::future::ready(value))
    }

    fn from_shared<T: 'static>(future: <Shared as Mode>::Future<T>) -> Self::Future<T> {
        future
    }

    fn work(work: Work<Self>) -> Self::Future<()> {
        Box::pin(work.0)
    }

    fn watched(run: Watched<Self>) -> Self::Future<Reply> {
        Box::pin(run)
    }
}

impl Mode for Shared {
    type Future<T: 'static> = Pin<Box<dyn Future<Output = T> + Send>>;
    type Tool = dyn RunTool<Self> + Send + Sync;
    type Layer = dyn Layer<Self> + Send + Sync;
    type Hook = dyn ContextHook<Self> + Send + Sync;
    type Value = dyn Any + Send + Sync;
    type Spawn = dyn Fn(Self::Future<()>) + Send + Sync;

    fn as_any(value: &Self::Value) -> &dyn Any {
        value
    }

    fn ready<T: Send + 'static>(value: T) -> Self::Future<T> {
        Box::pin(std::future::ready(value))
    }

    fn from_shared<T: 'static>(future: <Shared as Mode>::Future<T>) -> Self::Future<T> {
        future
    }

    fn work(work: Work<Self>) -> Self::Future<()> {
        Box::pin(work.0)
    }

    fn watched(run: Watched<Self>) -> Self::Future<Reply> {
        Box::pin(run)
    }
}
