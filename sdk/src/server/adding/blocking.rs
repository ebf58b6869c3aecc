//! Handlers that are plain functions, which block a thread.

use sansio_mcp::model::CompleteParams;
use serde::de::DeserializeOwned;

use super::Adds;
use crate::mode::{Local, Shared};
use crate::server::builder::Builder;
use crate::server::catalog::Update;
use crate::server::context::Context;
use crate::server::exit::Exit;
use crate::server::handler::{Blocking, Handler};
use crate::server::kinds::{CompletionOutput, PromptOutput, ResourceOutput};
use crate::server::offer::{PromptSpec, ResourceSpec, TemplateSpec};
use crate::server::offers::Owner;
use crate::server::output::{NoArguments, ToolInput, ToolOutput};
use crate::server::spec::ToolSpec;

macro_rules! in_mode {
    ($target:ty) => {
        impl<S: Send + Sync + 'static> $target {
            /// Adds a tool whose handler is a plain function that blocks; it runs on a pool of threads. It hears
            /// of its cancellation by [`check_cancelled`](Context::check_cancelled); one that never asks runs to
            /// its end and its result is thrown away. It keeps slot and lane until it returns. Its context is of
            /// the shared mode in either mode, since it leaves the thread.
            pub fn blocking_tool<A, T, F>(mut self, spec: impl Into<ToolSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                A: ToolInput + Send + 'static,
                T: ToolOutput + 'static,
            {
                self.add_tool::<A, T>(spec.into(), |common| {
                    Handler::<Blocking, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// As [`prompt`](Self::prompt), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_prompt<A, T, F>(mut self, spec: impl Into<PromptSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                A: DeserializeOwned + Send + 'static,
                T: PromptOutput + 'static,
            {
                self.add_prompt(spec.into(), |common| {
                    Handler::<Blocking, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// As [`resource`](Self::resource), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_resource<T, F>(mut self, spec: ResourceSpec, handler: F) -> Self
            where
                F: Fn(Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                T: ResourceOutput + 'static,
            {
                let code = move |_: NoArguments, cx: Context<S, Shared>| handler(cx);
                self.add_resource(spec, |common| {
                    Handler::<Blocking, _, NoArguments, _, _>::boxed(code, common)
                });
                self
            }

            /// As [`resource_template`](Self::resource_template), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_resource_template<A, T, F>(mut self, spec: TemplateSpec, handler: F) -> Self
            where
                F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                A: DeserializeOwned + Send + 'static,
                T: ResourceOutput + 'static,
            {
                self.add_template(spec, |common| Handler::<Blocking, _, A, _, _>::boxed(handler, common));
                self
            }

            /// As [`complete_prompt`](Self::complete_prompt), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_complete_prompt<T, F>(mut self, prompt: &str, argument: &str, handler: F) -> Self
            where
                F: Fn(CompleteParams, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                T: CompletionOutput + 'static,
            {
                self.add_completion(Owner::Prompt(prompt.to_owned()), argument, |common| {
                    Handler::<Blocking, _, CompleteParams, _, _>::boxed(handler, common)
                });
                self
            }

            /// As [`complete_template`](Self::complete_template), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_complete_template<T, F>(
                mut self,
                template: &str,
                variable: &str,
                handler: F,
            ) -> Self
            where
                F: Fn(CompleteParams, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                T: CompletionOutput + 'static,
            {
                self.add_completion(Owner::Template(template.to_owned()), variable, |common| {
                    Handler::<Blocking, _, CompleteParams, _, _>::boxed(handler, common)
                });
                self
            }
        }
    };
}

in_mode!(Builder<Local, S>);
in_mode!(Builder<Shared, S>);
in_mode!(Update<S, Local>);
in_mode!(Update<S, Shared>);
