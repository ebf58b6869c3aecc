//! One POST, from its head to the end of its response.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body::Body;
use pin_project_lite::pin_project;
use sansio_mcp::client::{StreamId, TransportError};
use sansio_mcp_sdk::client::ClientConnection;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use tower_service::Service;

use super::BoxError;
use super::answer::{Answer, Ended, Target};
use super::body::RequestBody;
use super::credentials::{CredentialsError, Refusal, Verdict, Working};
use super::failure::{chain, code};
use super::head::Kind;
use super::options::Options;
use super::tools::Tools;

/// Bytes that are read behind an answer, so that the connection can be used again.
const DRAINED: usize = 64 * 1024;

/// What all POSTs of a client share.
pub(super) struct Env<'a, S> {
    pub(super) service: &'a mut S,
    pub(super) connection: &'a ClientConnection,
    pub(super) clock: &'a dyn Clock,
    pub(super) uri: &'a Uri,
    pub(super) options: &'a Options,
    pub(super) tools: &'a mut Tools,
}

pin_project! {
    /// One POST. Dropping it closes its stream, which abandons the request.
    pub(super) struct Post<S, F, B> {
        pub(super) stream: StreamId,
        pub(super) kind: Kind,
        message: Bytes,
        // Without credentials, and what was sent with them: kept only where there are some.
        head: HeaderMap,
        sent: HeaderMap,
        // 401 and 403 were tried again.
        again: (bool, bool),
        #[pin]
        stage: Stage<S, F, B>,
    }
}

pin_project! {
    #[project = StageProj]
    enum Stage<S, F, B> {
        /// To be sent with these headers.
        Begin { headers: HeaderMap },
        Attaching { working: Working<Result<HeaderMap, CredentialsError>> },
        /// The service takes no request yet.
        Waiting { service: S, request: Option<Request<RequestBody>> },
        Sending { #[pin] future: F },
        /// Somebody decides what becomes of a 401 or 403.
        Asking { working: Working<Verdict>, refused: Option<Response<B>> },
        Reading { answer: Answer, drain: Option<Drain>, #[pin] body: B },
    }
}

/// The answer came; the rest is read for the connection's sake.
#[derive(Default)]
struct Drain {
    read: usize,
    sleep: Option<Sleep>,
}

impl<S, F, B> Post<S, F, B> {
    pub(super) fn new(stream: StreamId, kind: Kind, message: Bytes, headers: HeaderMap) -> Self {
        Self {
            stream,
            kind,
            message,
            head: HeaderMap::new(),
            sent: HeaderMap::new(),
            again: (false, false),
            stage: Stage::Begin { headers },
        }
    }
}

impl<S, F, B> Post<S, F, B>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Future = F> + Clone,
    S::Error: Into<BoxError>,
    F: Future<Output = Result<Response<B>, S::Error>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    /// Goes on as far as it can. Ready: it is over, and its request with it.
    pub(super) fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>, env: &mut Env<'_, S>) -> Poll<()> {
        let stream = self.stream;
        let Err(ended) = ready!(self.as_mut().go_on(cx, env)) else { return Poll::Ready(()) };
        match ended {
            Ended::Answered(_) => {}
            Ended::Lost(cause) => env.connection.stream_end(stream, &cause),
            Ended::Failed(error) => env.connection.stream_failure(stream, error),
        }
        Poll::Ready(())
    }

    fn go_on(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        env: &mut Env<'_, S>,
    ) -> Poll<Result<(), Ended>> {
        loop {
            let mut this = self.as_mut().project();
            let next = match this.stage.as_mut().project() {
                StageProj::Begin { headers } => {
                    let headers = std::mem::take(headers);
                    match &env.options.credentials {
                        None => self.as_mut().submit(cx, env, headers)?,
                        Some(credentials) => {
                            this.head.clone_from(&headers);
                            let working = contained(|| credentials.attach(headers))
                                .map_err(|()| no_credentials("the hook panicked"))?;
                            this.stage.set(Stage::Attaching { working });
                        }
                    }
                    continue;
                }
                StageProj::Attaching { working } => {
                    let attached = contained(|| working.as_mut().poll(cx))
                        .map_err(|()| no_credentials("the hook panicked"))?;
                    let headers = ready!(attached).map_err(|error| no_credentials(&error.0))?;
                    this.sent.clone_from(&headers);
                    self.as_mut().submit(cx, env, headers)?;
                    continue;
                }
                StageProj::Waiting { service, request } => {
                    ready!(service.poll_ready(cx)).map_err(not_sent)?;
                    let Some(request) = request.take() else { return Poll::Ready(Ok(())) };
                    let future = service.call(request);
                    Stage::Sending { future }
                }
                StageProj::Sending { future } => {
                    let response = ready!(future.poll(cx)).map_err(not_sent)?;
                    let status = response.status();
                    match &env.options.credentials {
                        Some(credentials) if ask(this.again, status) => {
                            let refusal = Refusal {
                                status,
                                headers: response.headers().clone(),
                                sent: std::mem::take(this.sent),
                            };
                            match contained(|| credentials.refused(refusal)) {
                                Ok(working) => Stage::Asking { working, refused: Some(response) },
                                Err(()) => begin_reading(response, *this.kind, env.options)?,
                            }
                        }
                        _ => begin_reading(response, *this.kind, env.options)?,
                    }
                }
                StageProj::Asking { working, refused } => {
                    let verdict = match contained(|| working.as_mut().poll(cx)) {
                        Ok(verdict) => ready!(verdict),
                        Err(()) => Verdict::GiveUp,
                    };
                    let Some(response) = refused.take() else { return Poll::Ready(Ok(())) };
                    match verdict {
                        Verdict::Retry => Stage::Begin { headers: std::mem::take(this.head) },
                        Verdict::GiveUp => begin_reading(response, *this.kind, env.options)?,
                    }
                }
                StageProj::Reading { drain: Some(drain), body, .. } => {
                    ready!(drain.poll(body, cx, env.clock, env.options.limits.drain));
                    return Poll::Ready(Ok(()));
                }
                StageProj::Reading { answer, drain, body } => {
                    let mut target = Target {
                        connection: env.connection,
                        stream: *this.stream,
                        kind: *this.kind,
                        tools: env.tools,
                        limits: &env.options.limits,
                    };
                    match ready!(answer.poll(body, cx, &mut target)) {
                        Ended::Answered(false) => *drain = Some(Drain::default()),
                        ended => return Poll::Ready(Err(ended)),
                    }
                    continue;
                }
            };
            this.stage.set(next);
        }
    }

    /// Hands the request to the service.
    fn submit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        env: &mut Env<'_, S>,
        headers: HeaderMap,
    ) -> Result<(), Ended> {
        let mut this = self.project();
        // Only somebody with credentials may have to send it again.
        let message = match &env.options.credentials {
            Some(_) => this.message.clone(),
            None => std::mem::take(this.message),
        };
        let mut request = Request::new(RequestBody::new(message));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = env.uri.clone();
        *request.headers_mut() = headers;
        let stage = match env.service.poll_ready(cx) {
            Poll::Ready(Ok(())) => Stage::Sending { future: env.service.call(request) },
            Poll::Ready(Err(error)) => return Err(not_sent(error)),
            // A clone of its own: of those who wait for the same one, the last alone would be woken.
            Poll::Pending => Stage::Waiting { service: env.service.clone(), request: Some(request) },
        };
        this.stage.set(stage);
        Ok(())
    }
}

impl Drain {
    fn poll<B: Body>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
        clock: &dyn Clock,
        time: Duration,
    ) -> Poll<()> {
        while let Poll::Ready(frame) = body.as_mut().poll_frame(cx) {
            let Some(Ok(frame)) = frame else { return Poll::Ready(()) };
            // What is empty counts as well: an end must come.
            self.read += frame.data_ref().map_or(1, |data| data.remaining().max(1));
            if self.read > DRAINED {
                return Poll::Ready(());
            }
        }
        self.sleep.get_or_insert_with(|| clock.sleep(time)).as_mut().poll(cx)
    }
}

/// Whether somebody is to be asked about this status, once for each of the two.
fn ask(again: &mut (bool, bool), status: StatusCode) -> bool {
    let once = match status {
        StatusCode::UNAUTHORIZED => &mut again.0,
        StatusCode::FORBIDDEN => &mut again.1,
        _ => return false,
    };
    !std::mem::replace(once, true)
}

fn begin_reading<S, F, B>(
    response: Response<B>,
    kind: Kind,
    options: &Options,
) -> Result<Stage<S, F, B>, Ended> {
    let (parts, body) = response.into_parts();
    let answer = Answer::new(parts.status, parts.headers, &options.limits, kind).map_err(Ended::Failed)?;
    Ok(Stage::Reading { answer, drain: None, body })
}

fn not_sent(error: impl Into<BoxError>) -> Ended {
    Ended::Lost(chain(&*error.into()))
}

fn no_credentials(cause: &str) -> Ended {
    Ended::Failed(TransportError::new(code::CREDENTIALS, cause))
}

/// A hook that panics fails its own request alone.
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, ()> {
    catch_unwind(AssertUnwindSafe(work)).map_err(drop)
}
