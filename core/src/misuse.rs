//! What the application did at the wrong time.

/// A command that does not fit the state it was given in. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The call or request is over: answered, cancelled, lost, or never there. Handlers meet this whenever
    /// the peer was faster; it needs no more than being noticed.
    #[error("it is over already")]
    Over,
    /// The call is not waiting for input.
    #[error("the call is not waiting for input")]
    NotAsked,
    /// A value that JSON cannot carry: not a number, or infinite.
    #[error("not a finite number")]
    NotFinite,
    /// Not a JSON object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The request is not a subscription.
    #[error("the request is not a subscription")]
    NotASubscription,
    /// The request is a subscription, which has no result of the application's.
    #[error("the request is a subscription")]
    Subscription,
    /// The subscription has not been accepted: refuse it instead.
    #[error("the subscription has not been accepted")]
    NotAccepted,
    /// The server declared no capability to tell of this.
    #[error("the server has not declared that it tells of this")]
    NotOffered,
    /// The request's method may not ask for input, or not with what was given.
    #[error("the request cannot ask for input this way")]
    CannotAsk,
}
