//! What a tool's success makes stale.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use sansio_mcp::model::UriTemplate;
use sansio_mcp::subscription::Change;

use super::reply::{Answer, Reply};
use crate::engine::Call;
use crate::mode::Mode;

/// Resources, by their URIs.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    exact: Vec<String>,
    /// What URIs begin with.
    prefixes: Vec<String>,
    templates: Vec<UriTemplate>,
}

impl Stale {
    /// # Errors
    /// A text that names nothing.
    pub(super) fn new(texts: Vec<String>) -> Result<Self, String> {
        let mut stale = Self::default();
        for text in texts {
            if text.is_empty() {
                return Err("is empty".to_owned());
            }
            if let Some(prefix) = text.strip_suffix('*') {
                if prefix.contains(['{', '}']) {
                    // No URI has a brace: as a prefix it would be one of nothing, for ever and without a word.
                    return Err(format!("{text:?}: a template has no `*` at its end"));
                }
                stale.prefixes.push(prefix.to_owned());
            } else if text.contains(['{', '}']) {
                let template = UriTemplate::new(text.as_str()).map_err(|why| format!("{text:?}: {why}"))?;
                stale.templates.push(template);
            } else {
                stale.exact.push(text);
            }
        }
        Ok(stale)
    }

    fn matches(&self, uri: &str) -> bool {
        self.prefixes.iter().any(|prefix| uri.starts_with(prefix.as_str()))
            || self.templates.iter().any(|template| template.matches(uri).is_some())
    }

    /// Tells everybody who listens. That nobody could is refused when the tool is added.
    fn publish<M: Mode>(&self, call: &Call<M>) {
        for uri in &self.exact {
            let _ = call.hub.publish(Change::Resource(uri));
        }
        if !self.prefixes.is_empty() || !self.templates.is_empty() {
            call.hub.publish_known(&|uri| self.matches(uri));
        }
    }
}

/// A tool's handler, in whatever form, whose success makes resources stale.
pub struct Watched<M: Mode> {
    pub(super) run: M::Future<Reply>,
    pub(super) call: Arc<Call<M>>,
    pub(super) stale: Arc<Stale>,
}

impl<M: Mode> Future for Watched<M> {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let reply = ready!(Pin::new(&mut self.run).poll(cx));
        // Told before the answer is handed over: whoever has the answer must not find the old state in a cache.
        let success = matches!(&reply, Reply::Answer(Answer::Tool(result)) if !result.is_error());
        if success && !self.call.signal.is_stopped() {
            self.stale.publish(&self.call);
        }
        Poll::Ready(reply)
    }
}
