//! Middleware: an onion around every request.

use std::future::Future;
use std::sync::Arc;

use sansio_mcp::code::wire;
use sansio_mcp::server::Method;

use super::context::Context;
use super::exit::Exit;
use super::handler::{RunTool, Running};
use super::offers::Served;
use super::registry::Registry;
use super::reply::{Answer, Reply};
use super::stale::Watched;
use crate::engine::Call;
use crate::mode::{Local, Mode, Shared};

/// One layer, behind its registration.
pub trait Layer<M: Mode> {
    fn call(&self, next: Next<M>) -> M::Future<Reply>;
}

/// The hook that makes a request's own context, behind its registration.
pub trait ContextHook<M: Mode> {
    fn prepare(&self, call: Entered<M>) -> M::Future<Result<(), Exit>>;
}

/// One entry of a request into its handler.
pub struct Entered<M: Mode>(pub(super) Arc<Call<M>>);

/// What lies inside a layer: the next layer, or the handler. What the context hook sets is there after
/// [`run`](Self::run), not before.
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
            Some(layer) => layer.call(Next { call, registry: Arc::clone(&registry), depth: depth + 1 }),
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
        Method::ToolsList => M::ready(registry.list_tools(request.cursor())),
        Method::ToolsCall => match registry.offers.tool(request) {
            Ok(tool) => {
                let Some(stale) = &tool.thing.stale else {
                    return tool.handler.run(Running { hook: registry.hook.clone(), call });
                };
                let run = tool.handler.run(Running { hook: registry.hook.clone(), call: Arc::clone(&call) });
                M::watched(Watched { run, call, stale: Arc::clone(stale) })
            }
            Err(refusal) => M::ready(refusal),
        },
        Method::PromptsList => M::ready(registry.list_prompts(request.cursor())),
        Method::ResourcesList => M::ready(registry.list_resources(request.cursor())),
        Method::ResourceTemplatesList => M::ready(registry.list_templates(request.cursor())),
        Method::PromptsGet => serve(registry, registry.offers.prompt(request), &call),
        Method::ResourcesRead => serve(registry, registry.offers.resource(request), &call),
        Method::Complete => serve(registry, registry.offers.completion(request), &call),
        Method::SubscriptionsListen => {
            M::ready(Reply::Answer(Answer::Subscribed(request.subscription_filter().unwrap_or_default())))
        }
        other => M::ready(Reply::error(wire::METHOD_NOT_FOUND, format!("unknown method: {}", other.name()))),
    }
}

fn serve<M: Mode>(registry: &Registry<M>, served: Served<'_, M>, call: &Arc<Call<M>>) -> M::Future<Reply> {
    match served {
        Ok(handler) => handler.run(Running { hook: registry.hook.clone(), call: Arc::clone(call) }),
        Err(reply) => M::ready(reply),
    }
}

/// A function as a layer or as the context hook.
pub(crate) struct Function<F, S> {
    pub(crate) code: F,
    pub(crate) state: Arc<S>,
}

macro_rules! functions {
    ($mode:ty, [$($send:tt)*], [$($sync:tt)*]) => {
        impl<F, Fut, S> Layer<$mode> for Function<F, S>
        where
            F: Fn(Context<S, $mode>, Next<$mode>) -> Fut $($sync)* + 'static,
            Fut: Future<Output = Reply> $($send)* + 'static,
            S: 'static $($sync)*,
        {
            fn call(&self, next: Next<$mode>) -> <$mode as Mode>::Future<Reply> {
                let context = Context::new(Arc::clone(&next.call), Arc::clone(&self.state));
                Box::pin((self.code)(context, next))
            }
        }

        impl<F, Fut, S> ContextHook<$mode> for Function<F, S>
        where
            F: Fn(Context<S, $mode>) -> Fut $($sync)* + 'static,
            Fut: Future<Output = Result<(), Exit>> $($send)* + 'static,
            S: 'static $($sync)*,
        {
            fn prepare(&self, Entered(call): Entered<$mode>) -> <$mode as Mode>::Future<Result<(), Exit>> {
                Box::pin((self.code)(Context::new(call, Arc::clone(&self.state))))
            }
        }
    };
}

functions!(Local, [], []);
functions!(Shared, [+ Send], [+ Send + Sync]);
