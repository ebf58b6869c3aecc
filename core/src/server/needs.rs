//! What a method requires of its params, beyond what every request needs.

use alloc::string::{String, ToString};

use serde::Deserialize;

use super::method::Method;
use super::request::filter_of;
use super::transmit::Status;
use super::triage::{Answer, refuse};
use crate::code::wire;
use crate::model::{CompleteParams, CompletionReference, LoggingLevel, Members};
use crate::wire::params::key;
use crate::wire::{Meta, Params};

/// The refusal of a log level that does not exist (server/utilities/logging, "Error Handling").
pub(super) fn wrong_level(meta: &Meta<'_>) -> Option<Answer> {
    let level = meta.other(key::LOG_LEVEL)?;
    if serde_json::from_str::<LoggingLevel>(level).is_ok() {
        return None;
    }
    let message = "params._meta: io.modelcontextprotocol/logLevel is not a log level";
    Some(refuse(Status::BadRequest, wire::INVALID_PARAMS, message))
}

/// The refusal of params that lack what the method needs. `line` is the whole message.
pub(super) fn lacking(method: &Method, params: &Params<'_>, line: &str) -> Option<Answer> {
    let missing = |message| Some(refuse(Status::BadRequest, wire::INVALID_PARAMS, message));
    match method {
        Method::ToolsCall => {
            if params.name.is_none() {
                return missing("tools/call needs params.name, a string");
            }
            let wrong = params.arguments.is_some_and(|arguments| !arguments.is_object());
            wrong.then(|| refuse(Status::Ok, wire::INVALID_PARAMS, "params.arguments is not an object"))
        }
        Method::PromptsGet => {
            if params.name.is_none() {
                return missing("prompts/get needs params.name, a string");
            }
            let arguments = params.arguments?;
            let error = serde_json::from_str::<Members<String>>(arguments.get()).err()?;
            let message = alloc::format!("params.arguments: {}", said(&error));
            Some(refuse(Status::Ok, wire::INVALID_PARAMS, message))
        }
        Method::ResourcesRead if params.uri.is_none() => missing("resources/read needs params.uri, a string"),
        Method::Complete => completion(line),
        Method::SubscriptionsListen if filter_of(line).is_none() => {
            missing("subscriptions/listen needs params.notifications, a filter")
        }
        Method::ToolsList
        | Method::PromptsList
        | Method::ResourcesList
        | Method::ResourceTemplatesList
        | Method::ResourcesRead
        | Method::SubscriptionsListen
        | Method::Other(_) => None,
    }
}

fn completion(line: &str) -> Option<Answer> {
    #[derive(Deserialize)]
    struct Whole {
        params: CompleteParams,
    }
    let message = match serde_json::from_str::<Whole>(line) {
        Ok(Whole { params: CompleteParams { reference: CompletionReference::Unknown(_), .. } }) => {
            "params.ref.type is neither ref/prompt nor ref/resource".into()
        }
        Ok(_) => return None,
        Err(error) => alloc::format!("params: {}", said(&error)),
    };
    Some(refuse(Status::BadRequest, wire::INVALID_PARAMS, message))
}

/// An error without its place in a line that nobody sees, and not longer than a person reads: it may quote the peer.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
    said.chars().take(200).collect()
}
