//! Continuation state: how a call that asks for input goes on, without the server remembering anything
//! (basic/patterns/mrtr).
//!
//! A handler that needs input ends its request with `input_required`; the client answers with a request of its own, to
//! whichever replica. What the call knows by then travels through the client as `requestState`, sealed: the round, the
//! questions just asked, **every answer so far**, and what the handler wants back. The wire itself carries the last
//! round's answers alone, so without this a second question would forget the first one's answer.
//!
//! ```
//! # #[cfg(feature = "seal")] {
//! use sansio_mcp::limits::STATE_LIFE;
//! use sansio_mcp::model::{InputRequest, RawJson};
//! use sansio_mcp::server::continuation::{
//!     Bound, Continuation, KeyRing, Questions, SealKey, open_state, question_digest, seal_state,
//! };
//! use sansio_mcp::time::Now;
//!
//! # let random = |out: &mut [u8]| { out.fill(7); Ok(()) };
//! // One ring for a process and its replicas; `random` fills a slice from the operating system.
//! let ring = KeyRing::new(SealKey::random(&random)?, random);
//! let now = Now { unix_millis: 1_800_000_000_000, ..Now::default() };
//!
//! // First attempt: there is no answer yet, so the question goes out, and the state with it.
//! let bound = Bound::new("tools/call", r#"{"name":"refund","arguments":{"invoice":7}}"#, b"alice");
//! let params = RawJson::from_text(r#"{"message":"Refund 40?","requestedSchema":{"type":"object"}}"#)?;
//! let sure = question_digest(&InputRequest::new("elicitation/create").with_params(params));
//! let continuation = Continuation::first();
//! assert!(continuation.answer("sure", &sure).is_none());
//! let continuation = continuation.next_round(Questions::from([("sure".into(), sure)]), None)?;
//! let state = seal_state(&ring, &bound, &continuation, now, STATE_LIFE)?;
//!
//! // Second attempt, perhaps on another replica: same request, answers and state.
//! let again = Bound::new("tools/call", r#"{"arguments":{"invoice":7.0},"name":"refund","_meta":{}}"#, b"alice");
//! let mut continuation = open_state(&ring, &state, &again, now)?;
//! continuation.absorb(r#"{"sure":{"action":"accept","content":{}}}"#);
//! assert_eq!(continuation.round(), 1);
//! assert!(continuation.answer("sure", &sure).is_some());
//!
//! // The same state on another caller's request.
//! let mallory = Bound::new("tools/call", r#"{"name":"refund","arguments":{"invoice":7}}"#, b"mallory");
//! let refused = open_state(&ring, &state, &mallory, now).unwrap_err();
//! assert_eq!(refused.reply().code, -32602);
//! assert_eq!(refused.reason().code(), "STATE_OTHER_CALLER"); // for the operator's log alone
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the seal keeps from happening
//!
//! * A state is forged, read or changed: it is encrypted and authenticated, in one spelling.
//! * It is moved: to another method, tool, prompt, resource, to other arguments, to another caller ([`Bound`]).
//! * It is kept for later: it expires, and one from a clock far ahead is refused.
//! * An answer is given to one question and counted for another: each is kept with its question's digest, and a question
//!   whose amount or wording changed since is not answered.
//! * A refusal tells the client why: all are the same -32602, and take the same work as far as is reasonable.
//!
//! # What it does not
//!
//! * *Replay within its life.* The same caller may send the same state with the same request again, or in a later round
//!   go back to an earlier state and answer differently. It goes on at the state's own round. What must happen once needs
//!   a guard of the handler's: an idempotency key, a row that is taken (basic/patterns/mrtr says so too).
//! * *Starting anew.* A client that leaves the state out is at round 0. The cap of eight rounds bounds a confused client,
//!   not a hostile one; that one can be asked again for ever, at the price of a call each time.
//! * *Truth.* An answer is what the client says the person said.
//! * *Callers that nobody told apart.* With an empty caller, as on stdio, whoever holds a state and makes the same
//!   request may go on.
//! * *`_meta`* is not bound: it belongs to the attempt (progress token, trace, capabilities, log level).
//!
//! # Replicas
//!
//! Give all replicas the same keys, and clocks within a minute of each other; nothing else is shared. [`KeyRing`] says
//! how keys are changed while states are out. A key made at start ([`SealKey::random`]) serves one process: its states
//! do not survive a restart.

mod bound;
mod canonical;
mod digest;
mod layout;
mod number;
mod responses;
#[cfg(feature = "seal")]
mod ring;
mod rounds;
mod sealer;
mod state;

pub use bound::Bound;
pub use digest::Digest;
pub use layout::{DecodeError, Record};
#[cfg(feature = "seal")]
pub use ring::{KeyRing, NotAKey, SealKey};
pub use rounds::{Continuation, Questions, RoundsExceeded, question_digest, questions};
pub use sealer::{Entropy, NoEntropy, OpenError, SealError, Sealer};
pub(super) use state::STATE_REFUSED;
pub use state::{Reason, StateRefused, open_state, seal_state};
