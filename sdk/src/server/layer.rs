//! Middleware: an onion around every request.

use std::future::Future;
use std::sync::Arc;

use sansio_mcp::code::wire;
use sansio_mcp::server::Method;

use super::context::Context;
use super::handler::{RunTool, Running};
use super::registry::Registry;
use super::reply::Reply;
use crate::engine::Call;
use crate::mode::{Local, Mode, Shared};

/// One layer: runs before and after everything inside it, sees the answer or the error, and may give another. What the
/// context hook sets is there after [`Next::run`], not before.
/// Dropped where it stands when the request is cancelled.
pub trait Layer<M: Mode> {
    #[doc(hidden)]
    fn call(&self, context: Context<(), M>, next: Next<M>) -> M::Future<Reply>;
}

/// The hook that makes a request's own context.
pub trait ContextHook<M: Mode> {
    #[doc(hidden)]
    fn prepare(&self, context: Context<(), M>) -> M::Future<Result<(), super::Exit>>;
}

/// What lies inside a layer: the next layer, or the handler.
pub struct Next<M: Mode> {
    call: Arc<Call<M>>,
    registry: Arc<Registry<M>>,
    depth: usize,
}

impl<M: Mode> Next<M> {
    /// Runs it. A request whose layers never come here never starts its handler.
    pub fn run(self) -> M::Future<Reply> {
        let Self { call, registry, depth } = self;
        match registry.layers.get(depth) {
            Some(layer) => {
                let context = Context::new(Arc::clone(&call), Arc::new(()));
                layer.call(context, Next { call, registry: Arc::clone(&registry), depth: depth + 1 })
            }
            None => handle(&registry, call),
        }
    }
}

/// Runs a request through all layers.
pub(crate) fn run_request<M: Mode>(registry: &Arc<Registry<M>>, call: &Arc<Call<M>>) -> M::Future<Reply> {
    if registry.layers.is_empty() {
        return handle(registry, Arc::clone(call));
    }
    Next { call: Arc::clone(call), registry: Arc::clone(registry), depth: 0 }.run()
}

/// The innermost: the method itself.
fn handle<M: Mode>(registry: &Registry<M>, call: Arc<Call<M>>) -> M::Future<Reply> {
    let request = &call.request;
    match request.method() {
        Method::ToolsList => M::ready(registry.list(request.cursor())),
        Method::ToolsCall => {
            if let Some(tool) = registry.tool(request.name().unwrap_or_default()) {
                tool.run(Running { hook: registry.hook.clone(), call })
            } else {
                let name: String = request.name().unwrap_or_default().chars().take(128).collect();
                M::ready(Reply::error(wire::INVALID_PARAMS, format!("Unknown tool: {name}")))
            }
        }
        other => M::ready(Reply::error(wire::METHOD_NOT_FOUND, format!("unknown method: {}", other.name()))),
    }
}

/// A function as a layer.
pub(crate) struct Function<F>(pub(crate) F);

impl<F, Fut> Layer<Local> for Function<F>
where
    F: Fn(Context<(), Local>, Next<Local>) -> Fut + 'static,
    Fut: Future<Output = Reply> + 'static,
{
    fn call(&self, context: Context<(), Local>, next: Next<Local>) -> <Local as Mode>::Future<Reply> {
        Box::pin((self.0)(context, next))
    }
}

impl<F, Fut> Layer<Shared> for Function<F>
where
    F: Fn(Context<(), Shared>, Next<Shared>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    fn call(&self, context: Context<(), Shared>, next: Next<Shared>) -> <Shared as Mode>::Future<Reply> {
        Box::pin((self.0)(context, next))
    }
}
