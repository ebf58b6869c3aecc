//! Adding prompts, resources, templates and completions.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_core::Stream;
use sansio_mcp::model::CompleteParams;
use serde::de::DeserializeOwned;

use super::ConfigError;
use super::builder::Builder;
use super::context::Context;
use super::exit::Exit;
#[cfg(feature = "blocking")]
use super::handler::Blocking;
use super::handler::{Asynchronous, Coded, Common, Streaming};
use super::kinds::{
    CompletionOutput, CompletionRules, PromptOutput, PromptRules, ResourceOutput, ResourceRules,
};
use super::offer::{PromptSpec, ResourceSpec, TemplateSpec};
use super::output::NoArguments;
use super::shelf::Owner;
use super::step::Step;
use crate::mode::{Local, Mode, Shared};

impl<M: Mode, S> Builder<M, S> {
    fn common<K>(&self, rules: K) -> Common<S, K> {
        Common { state: Arc::clone(&self.state), rules }
    }

    fn fail(&mut self, fault: ConfigError) {
        self.fault.get_or_insert(fault);
    }

    fn add_prompt(&mut self, spec: PromptSpec, handler: impl FnOnce(Common<S, PromptRules>) -> Box<M::Tool>) {
        match spec.checked() {
            Ok(prompt) => {
                let rules = PromptRules { arguments: prompt.arguments.clone().unwrap_or_default() };
                let handler = handler(self.common(rules));
                let name = prompt.name.clone();
                if !self.offers.prompts.push(&name, prompt, handler) {
                    self.fail(ConfigError::new(
                        "prompt.name",
                        format!("{name:?} is there twice: names tell prompts apart"),
                    ));
                }
            }
            Err(fault) => self.fail(fault),
        }
    }

    fn add_resource(
        &mut self,
        spec: ResourceSpec,
        handler: impl FnOnce(Common<S, ResourceRules>) -> Box<M::Tool>,
    ) {
        let (cache, mime_type) = (spec.cache.clone(), spec.said_mime_type());
        match spec.checked() {
            Ok(resource) => {
                let handler = handler(self.common(ResourceRules { template: None, mime_type, cache }));
                let uri = resource.uri.clone();
                if !self.offers.resources.push(&uri, resource, handler) {
                    self.fail(ConfigError::new("resource.uri", format!("{uri:?} is there twice")));
                }
            }
            Err(fault) => self.fail(fault),
        }
    }

    fn add_template(
        &mut self,
        spec: TemplateSpec,
        handler: impl FnOnce(Common<S, ResourceRules>) -> Box<M::Tool>,
    ) {
        let (cache, mime_type) = (spec.cache.clone(), spec.said_mime_type());
        match spec.checked() {
            Ok(template) => {
                let compiled = Some(template.compiled.clone());
                let handler = handler(self.common(ResourceRules { template: compiled, mime_type, cache }));
                let text = template.listed.uri_template.clone();
                if !self.offers.templates.push(&text, template, handler) {
                    self.fail(ConfigError::new("template.uri_template", format!("{text:?} is there twice")));
                }
            }
            Err(fault) => self.fail(fault),
        }
    }

    fn add_completion(&mut self, owner: Owner, argument: &str, handler: Box<M::Tool>) {
        if self.offers.completions.insert((owner, argument.to_owned()), handler).is_some() {
            self.fail(ConfigError::new("completion", format!("of {argument:?} is there twice")));
        }
    }
}

macro_rules! in_mode {
    ($mode:ty, [$($send:tt)*], [$($sync:tt)*]) => {
        impl<S: 'static $($sync)*> Builder<$mode, S> {
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
                    Box::new(Asynchronous::<_, A, _, _> { tool: Arc::new(Coded { code: handler, common }), input: PhantomData })
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
                    Box::new(Streaming::<_, A, _, _> { tool: Arc::new(Coded { code: handler, common }), input: PhantomData })
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
                    Box::new(Asynchronous::<_, NoArguments, _, _> { tool: Arc::new(Coded { code, common }), input: PhantomData })
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
                    Box::new(Streaming::<_, NoArguments, _, _> { tool: Arc::new(Coded { code, common }), input: PhantomData })
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
                    Box::new(Asynchronous::<_, A, _, _> { tool: Arc::new(Coded { code: handler, common }), input: PhantomData })
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
                let common = self.common(CompletionRules);
                let handler = Asynchronous::<_, CompleteParams, _, _> { tool: Arc::new(Coded { code: handler, common }), input: PhantomData };
                self.add_completion(Owner::Prompt(prompt.to_owned()), argument, Box::new(handler));
                self
            }

            /// Suggests values for a variable of a resource template (server/utilities/completion).
            pub fn complete_template<T, F, Fut>(mut self, template: &str, variable: &str, handler: F) -> Self
            where
                F: Fn(CompleteParams, Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
                T: CompletionOutput + 'static,
            {
                let common = self.common(CompletionRules);
                let handler = Asynchronous::<_, CompleteParams, _, _> { tool: Arc::new(Coded { code: handler, common }), input: PhantomData };
                self.add_completion(Owner::Template(template.to_owned()), variable, Box::new(handler));
                self
            }
        }
    };
}

in_mode!(Local, [], []);
in_mode!(Shared, [+ Send], [+ Send + Sync]);

#[cfg(feature = "blocking")]
macro_rules! blocking_in_mode {
    ($mode:ty) => {
        impl<S: Send + Sync + 'static> Builder<$mode, S> {
            /// As [`prompt`](Self::prompt), with a plain function that blocks; see
            /// [`blocking_tool`](Self::blocking_tool).
            pub fn blocking_prompt<A, T, F>(mut self, spec: impl Into<PromptSpec>, handler: F) -> Self
            where
                F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
                A: DeserializeOwned + Send + 'static,
                T: PromptOutput + 'static,
            {
                self.add_prompt(spec.into(), |common| {
                    Box::new(Blocking::<_, A, _, _> {
                        tool: Arc::new(Coded { code: handler, common }),
                        input: PhantomData,
                    })
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
                    Box::new(Blocking::<_, NoArguments, _, _> {
                        tool: Arc::new(Coded { code, common }),
                        input: PhantomData,
                    })
                });
                self
            }
        }
    };
}

#[cfg(feature = "blocking")]
blocking_in_mode!(Local);
#[cfg(feature = "blocking")]
blocking_in_mode!(Shared);
