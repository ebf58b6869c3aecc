//! The service as hyper calls it: under its path, each request noted on its connection.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;

use super::Common;
use super::life::{self, Life};
use super::stage::{Stage, Stages};
use crate::server::refusal::empty;
use crate::server::{Body, BodyError, ResponseFuture};

pub(super) struct Endpoint {
    pub(super) common: Arc<Common>,
    pub(super) life: Arc<Life>,
    pub(super) stages: Arc<Stages>,
}

pin_project! {
    pub(super) struct Answer {
        #[pin]
        future: ResponseFuture<Incoming>,
        request: Option<life::Request>,
        // Of a connection that can say so; elsewhere it is said otherwise.
        stages: Option<Arc<Stages>>,
    }
}

/// The body of a response, whose end is the end of its request.
pub(super) struct Noted {
    body: Body,
    request: Option<life::Request>,
}

impl hyper::service::Service<Request<Incoming>> for Endpoint {
    type Response = Response<Noted>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        let noted = Some(self.life.begin());
        let stages = (request.version() < Version::HTTP_2).then(|| Arc::clone(&self.stages));
        Answer { future: self.future(request), request: noted, stages }
    }
}

impl Endpoint {
    fn future(&self, request: Request<Incoming>) -> ResponseFuture<Incoming> {
        let Common { service, path, check, .. } = &*self.common;
        if request.uri().path() != &**path {
            return ResponseFuture::done(empty(StatusCode::NOT_FOUND));
        }
        let Some(check) = check else { return service.call_shared(request) };
        let (mut head, body) = request.into_parts();
        match check(&mut head) {
            Ok(()) => service.call_shared(Request::from_parts(head, body)),
            Err(refused) => ResponseFuture::done(refused.map(|()| Body::empty())),
        }
    }
}

impl Future for Answer {
    type Output = Result<Response<Noted>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = ready!(this.future.poll(cx))?;
        if this.stages.as_ref().is_some_and(|stages| stages.stage() > Stage::Serving) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let request = this.request.take();
        if !response.status().is_success()
            && let Some(life::Request(life)) = &request
        {
            life.refuse();
        }
        Poll::Ready(Ok(response.map(|body| Noted { body, request })))
    }
}

impl http_body::Body for Noted {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        drop(self.request.take());
    }
}
