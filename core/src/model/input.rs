//! The questions of a round as what they are, and answers held against them (basic/patterns/mrtr).

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::capabilities::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use super::create_message::{CreateMessageParams, CreateMessageResult, MessagesError};
use super::elicit::{ElicitAction, ElicitFormParams, ElicitResult, ElicitUrlParams, UrlError};
use super::form::{FormError, FormErrors};
use super::input_required::{InputRequest, InputRequests};
use super::members::RawMembers;
use super::missing::missing_capabilities;
use super::raw::RawJson;
use super::roots::{ListRootsParams, ListRootsResult};

/// The method that asks a user.
const ELICIT: &str = "elicitation/create";
/// The method that asks a language model.
const CREATE_MESSAGE: &str = "sampling/createMessage";
/// The method that asks for folders and files.
const LIST_ROOTS: &str = "roots/list";

/// The params of a question, by its method and mode.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputParams {
    /// The user is asked by a form (client/elicitation).
    Form(ElicitFormParams),
    /// The user is sent to a URL (client/elicitation).
    Url(ElicitUrlParams),
    /// The language model is asked (client/sampling).
    CreateMessage(Box<CreateMessageParams>),
    /// Folders and files are asked for (client/roots).
    ListRoots(ListRootsParams),
}

/// Why a question is not one that the page allows.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Only three methods ask for input (basic/patterns/mrtr).
    #[error("method: {0} does not ask for input")]
    Method(String),
    /// The params are not those of the method.
    #[error("params: {0}")]
    Params(String),
    /// The form breaks a rule.
    #[error("params: requestedSchema: {0}")]
    Form(#[from] FormError),
    /// The URL is none.
    #[error("params: {0}")]
    Url(#[from] UrlError),
    /// The conversation breaks a rule.
    #[error("params: {0}")]
    Messages(#[from] MessagesError),
}

impl InputRequest {
    /// Asks the user by a form.
    pub fn form(params: &ElicitFormParams) -> Self {
        Self::new(ELICIT).with_params(RawJson::written(params))
    }

    /// Sends the user to a URL.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(ELICIT).with_params(RawJson::written(&ElicitUrlParams::new(message, url)))
    }

    /// Asks the client's language model.
    pub fn create_message(params: &CreateMessageParams) -> Self {
        Self::new(CREATE_MESSAGE).with_params(RawJson::written(params))
    }

    /// Asks for the client's roots.
    pub fn list_roots() -> Self {
        Self::new(LIST_ROOTS)
    }

    /// What is asked, typed. What breaks rules of the page beyond types is read all the same;
    /// [`validate`](Self::validate) finds it.
    ///
    /// # Errors
    /// The method does not ask for input, or its params are malformed.
    pub fn typed(&self) -> Result<InputParams, InputError> {
        match self.method.as_str() {
            // The usual kind, which names no other mode.
            ELICIT => match self.parse().map(InputParams::Form) {
                Err(_) => self.elicitation(),
                form => form,
            },
            CREATE_MESSAGE => self.parse().map(|params| InputParams::CreateMessage(Box::new(params))),
            LIST_ROOTS => self.parse().map(InputParams::ListRoots),
            method => Err(InputError::Method(method.into())),
        }
    }

    /// An elicitation that is not a form, or a malformed one.
    fn elicitation(&self) -> Result<InputParams, InputError> {
        match self.parse::<Mode>()?.mode.as_deref() {
            None | Some("form") => self.parse().map(InputParams::Form),
            Some("url") => self.parse().map(InputParams::Url),
            Some(mode) => Err(InputError::Params(alloc::format!("mode: {mode:?} is neither form nor url"))),
        }
    }

    fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, InputError> {
        let params = self.params.as_ref().map_or("{}", RawJson::get);
        serde_json::from_str(params).map_err(|error| InputError::Params(error.to_string()))
    }

    /// Checks everything that the pages demand of the question.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn validate(&self) -> Result<(), InputError> {
        match self.typed()? {
            InputParams::Form(params) => params.requested_schema.validate()?,
            InputParams::Url(params) => params.check()?,
            InputParams::CreateMessage(params) => params.check()?,
            InputParams::ListRoots(_) => {}
        }
        Ok(())
    }

    /// Takes an answer to this question: of the right kind, with everything in it that was asked for. Of a form it
    /// keeps the fields of the form alone ([`FormSchema::accept`](super::FormSchema::accept)), and of a question that
    /// was not accepted no content at all.
    ///
    /// # Errors
    /// Says what does not fit; the question is to be asked again.
    pub fn accept(&self, answer: &RawJson) -> Result<InputResponse, AnswerError> {
        fn read<T: serde::de::DeserializeOwned>(answer: &RawJson) -> Result<T, AnswerError> {
            answer.parse().map_err(|error| AnswerError::Malformed(error.to_string()))
        }
        match self.typed()? {
            InputParams::Form(params) => {
                let mut result: ElicitResult = read(answer)?;
                let content = result.content.take().unwrap_or_default();
                if result.action == ElicitAction::Accept {
                    result.content = Some(params.requested_schema.accept(&content)?);
                }
                Ok(InputResponse::Elicit(result))
            }
            InputParams::Url(_) => {
                let result: ElicitResult = read(answer)?;
                Ok(InputResponse::Elicit(ElicitResult { content: None, ..result }))
            }
            InputParams::CreateMessage(_) => {
                read(answer).map(|result| InputResponse::CreateMessage(Box::new(result)))
            }
            InputParams::ListRoots(_) => {
                let result: ListRootsResult = read(answer)?;
                match result.roots.iter().find(|root| !root.is_file()) {
                    Some(root) => Err(AnswerError::NotAFile(root.uri.clone())),
                    None => Ok(InputResponse::ListRoots(result)),
                }
            }
        }
    }
}

/// Where the mode of an elicitation is.
#[derive(serde::Deserialize)]
struct Mode {
    mode: Option<String>,
}

/// Answers of a round by the keys of their questions, as they came. [`InputRequest::accept`] reads one.
pub type InputResponses = RawMembers;

/// An answer that fits its question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// Of the user.
    Elicit(ElicitResult),
    /// Of the language model.
    CreateMessage(Box<CreateMessageResult>),
    /// Folders and files.
    ListRoots(ListRootsResult),
}

macro_rules! answers {
    ($($result:ident => $variant:ident,)*) => {
        $(impl From<$result> for RawJson {
            fn from(result: $result) -> Self {
                Self::written(&result)
            }
        }

        impl From<$result> for InputResponse {
            fn from(result: $result) -> Self {
                Self::$variant(result.into())
            }
        })*

        impl From<InputResponse> for RawJson {
            fn from(response: InputResponse) -> Self {
                match response {
                    $(InputResponse::$variant(result) => Self::written(&result),)*
                }
            }
        }
    };
}

answers! {
    ElicitResult => Elicit,
    CreateMessageResult => CreateMessage,
    ListRootsResult => ListRoots,
}

/// Why an answer does not fit its question.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is not of the form that answers to this method have.
    #[error("{0}")]
    Malformed(String),
    /// Fields of the form do not fit.
    #[error("content: {0}")]
    Content(#[from] FormErrors),
    /// Roots are `file://` URIs (client/roots, "Root").
    #[error("roots: {0} is not a file:// URI")]
    NotAFile(String),
    /// The question itself cannot be read.
    #[error(transparent)]
    Question(#[from] InputError),
}

impl InputRequests {
    /// What a client must be able to do for all of these questions (client/elicitation, client/sampling,
    /// client/roots, each "Capabilities").
    ///
    /// # Errors
    /// A question is not one that the page allows; gives its key.
    pub fn required_capabilities(&self) -> Result<ClientCapabilities, (&str, InputError)> {
        let mut required = ClientCapabilities::default();
        for (key, request) in self.iter() {
            let yes = || Some(RawJson::written(&RawMembers::new()));
            match request.typed().map_err(|error| (key, error))? {
                InputParams::Form(_) => {
                    required.elicitation.get_or_insert_with(ElicitationCapability::default).form = yes();
                }
                InputParams::Url(_) => {
                    required.elicitation.get_or_insert_with(ElicitationCapability::default).url = yes();
                }
                InputParams::CreateMessage(params) => {
                    let sampling = required.sampling.get_or_insert_with(SamplingCapability::default);
                    if params.needs_tools() {
                        sampling.tools = yes();
                    }
                    if params.needs_context() {
                        sampling.context = yes();
                    }
                }
                InputParams::ListRoots(_) => required.roots = yes(),
            }
        }
        Ok(required)
    }

    /// What of it a client did not declare: what -32021 says. `None` if all of these questions may be sent.
    ///
    /// # Errors
    /// A question is not one that the page allows; gives its key.
    pub fn missing_capabilities(
        &self,
        declared: &ClientCapabilities,
    ) -> Result<Option<ClientCapabilities>, (&str, InputError)> {
        let required = self.required_capabilities()?;
        Ok(missing_capabilities(declared, &required).map(|missing| missing.required_capabilities))
    }
}
