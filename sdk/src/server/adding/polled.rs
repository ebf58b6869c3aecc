//! Handlers that are polled: `async` functions and streams.

use std::future::Future;

use futures_core::Stream;
use sansio_mcp::model::CompleteParams;
use serde::de::DeserializeOwned;

use super::Adds;
use crate::mode::{Local, Shared};
use crate::server::builder::Builder;
use crate::server::catalog::Update;
use crate::server::context::Context;
use crate::server::exit::Exit;
use crate::server::handler::{Asynchronous, Handler, Streaming};
use crate::server::kinds::{CompletionOutput, PromptOutput, ResourceOutput};
use crate::server::offer::{PromptSpec, ResourceSpec, TemplateSpec};
use crate::server::offers::Owner;
use crate::server::output::{NoArguments, ToolInput, ToolOutput};
use crate::server::spec::ToolSpec;
use crate::server::step::Step;

macro_rules! in_mode {
    ($target:ty, $mode:ty, [$($send:tt)*], [$($sync:tt)*]) => {
        impl<S: 'static $($sync)*> $target {
            /// Adds a tool whose handler is an `async` function. It stops at its current await when the request
            /// is cancelled.
            ///
            /// A closure that captures is called again and again, so each call gets a clone:
            /// `move |a: A, cx: Context<S, _>| { let x = x.clone(); async move { .. } }`; an `async move |..|` that
            /// captures is refused by the compiler.
            pub fn tool<A, T, F, Fut>(mut self, spec: impl Into<ToolSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                A: ToolInput $($send)* + 'static,
                T: ToolOutput + 'static,
            {
                self.add_tool::<A, T>(spec.into(), |common| {
                    Handler::<Asynchronous, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// Adds a tool whose handler gives a stream of [`Step`]s, such as
            /// [`generator`](crate::server::generator) makes: progress on the way, the response at its end.
            pub fn stream_tool<A, T, F, Str>(mut self, spec: impl Into<ToolSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Str $($sync)* + 'static,
                Str: Stream<Item = Step<T>> $($send)* + 'static,
                A: ToolInput $($send)* + 'static,
                T: ToolOutput $($send)* + 'static,
            {
                self.add_tool::<A, T>(spec.into(), |common| {
                    Handler::<Streaming, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// Adds a prompt (server/prompts) whose handler is an `async` function. Its arguments, which are texts, are
            /// read as a type with a field for each: numbers, booleans and names of enums are read from their texts.
            /// What a tool would tell the model, a failure, is an error of the request here.
            pub fn prompt<A, T, F, Fut>(mut self, spec: impl Into<PromptSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                A: DeserializeOwned + 'static $($send)*,
                T: PromptOutput + 'static,
            {
                self.add_prompt(spec.into(), |common| {
                    Handler::<Asynchronous, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// As [`prompt`](Self::prompt), with a handler that gives a stream of [`Step`]s.
            pub fn stream_prompt<A, T, F, Str>(mut self, spec: impl Into<PromptSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Str $($sync)* + 'static,
                Str: Stream<Item = Step<T>> $($send)* + 'static,
                A: DeserializeOwned + 'static $($send)*,
                T: PromptOutput + 'static $($send)*,
            {
                self.add_prompt(spec.into(), |common| {
                    Handler::<Streaming, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// Adds a resource (server/resources) whose handler is an `async` function.
            pub fn resource<T, F, Fut>(mut self, spec: ResourceSpec, handler: F) -> Self
            where
                F: Fn(Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                T: ResourceOutput + 'static,
            {
                let code = move |_: NoArguments, cx: Context<S, $mode>| handler(cx);
                self.add_resource(spec, |common| {
                    Handler::<Asynchronous, _, NoArguments, _, _>::boxed(code, common)
                });
                self
            }

            /// As [`resource`](Self::resource), with a handler that gives a stream of [`Step`]s.
            pub fn stream_resource<T, F, Str>(mut self, spec: ResourceSpec, handler: F) -> Self
            where
                F: Fn(Context<S, $mode>) -> Str $($sync)* + 'static,
                Str: Stream<Item = Step<T>> $($send)* + 'static,
                T: ResourceOutput + 'static $($send)*,
            {
                let code = move |_: NoArguments, cx: Context<S, $mode>| handler(cx);
                self.add_resource(spec, |common| {
                    Handler::<Streaming, _, NoArguments, _, _>::boxed(code, common)
                });
                self
            }

            /// Adds all resources whose URIs a template makes. The template's variables are read as a type with a field
            /// for each; a URI that does not fit it is one of no resource. They are the peer's word: `..` and encoded
            /// slashes in them are the handler's to refuse. A resource of its own comes before templates, templates come in
            /// the order of their registration.
            pub fn resource_template<A, T, F, Fut>(mut self, spec: TemplateSpec, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                A: DeserializeOwned + 'static $($send)*,
                T: ResourceOutput + 'static,
            {
                self.add_template(spec, |common| {
                    Handler::<Asynchronous, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// As [`resource_template`](Self::resource_template), with a handler that gives a stream of [`Step`]s.
            pub fn stream_resource_template<A, T, F, Str>(mut self, spec: TemplateSpec, handler: F) -> Self
            where
                F: Fn(A, Context<S, $mode>) -> Str $($sync)* + 'static,
                Str: Stream<Item = Step<T>> $($send)* + 'static,
                A: DeserializeOwned + 'static $($send)*,
                T: ResourceOutput + 'static $($send)*,
            {
                self.add_template(spec, |common| {
                    Handler::<Streaming, _, A, _, _>::boxed(handler, common)
                });
                self
            }

            /// Suggests values for an argument of a prompt (server/utilities/completion).
            pub fn complete_prompt<T, F, Fut>(mut self, prompt: &str, argument: &str, handler: F) -> Self
            where
                F: Fn(CompleteParams, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                T: CompletionOutput + 'static,
            {
                self.add_completion(Owner::Prompt(prompt.to_owned()), argument, |common| {
                    Handler::<Asynchronous, _, CompleteParams, _, _>::boxed(handler, common)
                });
                self
            }

            /// Suggests values for a variable of a resource template (server/utilities/completion).
            pub fn complete_template<T, F, Fut>(mut self, template: &str, variable: &str, handler: F) -> Self
            where
                F: Fn(CompleteParams, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                T: CompletionOutput + 'static,
            {
                self.add_completion(Owner::Template(template.to_owned()), variable, |common| {
                    Handler::<Asynchronous, _, CompleteParams, _, _>::boxed(handler, common)
                });
                self
            }
        }
    };
}

in_mode!(Builder<Local, S>, Local, [], []);
in_mode!(Builder<Shared, S>, Shared, [+ Send], [+ Send + Sync]);
in_mode!(Update<S, Local>, Local, [], []);
in_mode!(Update<S, Shared>, Shared, [+ Send], [+ Send + Sync]);
