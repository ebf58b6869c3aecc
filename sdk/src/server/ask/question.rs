//! What can be asked, and what comes back.

use std::marker::PhantomData;

use sansio_mcp::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult, ElicitUrlParams,
    Form, InputError, InputRequest, InputResponse, ListRootsParams, RawJson, RawMembers, Root,
};
use serde::de::DeserializeOwned;

use super::{Answered, Asked};

/// Something to ask: a [`Form`] (its fields raw, or [as a type](Typed::of)), a visit of a URL ([`ElicitUrlParams`]), the
/// client's language model ([`CreateMessageParams`]), its roots ([`ListRootsParams`]).
pub trait Question {
    /// What an answer contains.
    type Value;
    /// What asking gives.
    type Outcome;

    /// The question as it is sent.
    ///
    /// # Errors
    /// It breaks a rule of its page.
    fn request(&self) -> Result<InputRequest, InputError>;

    /// Reads an answer of the right kind.
    ///
    /// # Errors
    /// Why it does not fit; it is asked again.
    fn read(&self, response: InputResponse) -> Result<Self::Outcome, String>;

    /// The outcome as one of four.
    fn answered(outcome: Self::Outcome) -> Answered<Self::Value>;
}

/// A form whose fields are read as a type. Made by [`Typed::of`].
///
/// The form says what the user may fill in; a type that does not take what its form allows has the question asked again.
#[derive(Clone, Debug)]
pub struct FormOf<T> {
    form: Result<ElicitFormParams, InputError>,
    value: PhantomData<fn() -> T>,
}

/// Forms that can be read as a type.
pub trait Typed: Sized {
    /// The same form, its fields read as a `T`.
    fn of<T: DeserializeOwned>(self) -> FormOf<T>;
}

impl Typed for Form {
    fn of<T: DeserializeOwned>(self) -> FormOf<T> {
        FormOf { form: self.build().map_err(InputError::from), value: PhantomData }
    }
}

impl Typed for ElicitFormParams {
    fn of<T: DeserializeOwned>(self) -> FormOf<T> {
        FormOf { form: Ok(self), value: PhantomData }
    }
}

fn checked(request: InputRequest) -> Result<InputRequest, InputError> {
    request.validate()?;
    Ok(request)
}

fn unlike<T>() -> Result<T, String> {
    Err("the answer is to another kind of question".to_owned())
}

fn elicited(response: InputResponse) -> Result<Asked<RawMembers>, String> {
    let InputResponse::Elicit(ElicitResult { action, content, .. }) = response else { return unlike() };
    Ok(match action {
        ElicitAction::Accept => Asked::Accepted(content.unwrap_or_default()),
        ElicitAction::Decline => Asked::Declined,
        ElicitAction::Cancel => Asked::Cancelled,
    })
}

impl Question for Form {
    type Value = RawMembers;
    type Outcome = Asked<RawMembers>;

    fn request(&self) -> Result<InputRequest, InputError> {
        Ok(InputRequest::form(&self.clone().build()?))
    }

    fn read(&self, response: InputResponse) -> Result<Asked<RawMembers>, String> {
        elicited(response)
    }

    fn answered(outcome: Self::Outcome) -> Answered<RawMembers> {
        outcome.into()
    }
}

impl Question for ElicitFormParams {
    type Value = RawMembers;
    type Outcome = Asked<RawMembers>;

    fn request(&self) -> Result<InputRequest, InputError> {
        checked(InputRequest::form(self))
    }

    fn read(&self, response: InputResponse) -> Result<Asked<RawMembers>, String> {
        elicited(response)
    }

    fn answered(outcome: Self::Outcome) -> Answered<RawMembers> {
        outcome.into()
    }
}

impl<T: DeserializeOwned> Question for FormOf<T> {
    type Value = T;
    type Outcome = Asked<T>;

    fn request(&self) -> Result<InputRequest, InputError> {
        checked(InputRequest::form(self.form.as_ref().map_err(Clone::clone)?))
    }

    fn read(&self, response: InputResponse) -> Result<Asked<T>, String> {
        Ok(match elicited(response)? {
            Asked::Accepted(content) => {
                let read = RawJson::from_value(&content).and_then(|content| content.parse());
                Asked::Accepted(read.map_err(|error| error.to_string())?)
            }
            Asked::Declined => Asked::Declined,
            Asked::Cancelled => Asked::Cancelled,
        })
    }

    fn answered(outcome: Self::Outcome) -> Answered<T> {
        outcome.into()
    }
}

/// Whether the user agreed to go there; what they did there the server hears in its own way.
impl Question for ElicitUrlParams {
    type Value = ();
    type Outcome = Asked<()>;

    fn request(&self) -> Result<InputRequest, InputError> {
        let mut request = InputRequest::url(&self.message, &self.url);
        if !self.extra.is_empty() {
            request.params =
                RawJson::from_value(self).map(Some).map_err(|error| InputError::Params(error.to_string()))?;
        }
        checked(request)
    }

    fn read(&self, response: InputResponse) -> Result<Asked<()>, String> {
        Ok(match elicited(response)? {
            Asked::Accepted(_) => Asked::Accepted(()),
            Asked::Declined => Asked::Declined,
            Asked::Cancelled => Asked::Cancelled,
        })
    }

    fn answered(outcome: Self::Outcome) -> Answered<()> {
        outcome.into()
    }
}

impl Question for CreateMessageParams {
    type Value = CreateMessageResult;
    type Outcome = CreateMessageResult;

    fn request(&self) -> Result<InputRequest, InputError> {
        checked(InputRequest::create_message(self))
    }

    fn read(&self, response: InputResponse) -> Result<CreateMessageResult, String> {
        let InputResponse::CreateMessage(result) = response else { return unlike() };
        Ok(*result)
    }

    fn answered(outcome: Self::Outcome) -> Answered<CreateMessageResult> {
        Answered::Accepted(outcome)
    }
}

impl Question for ListRootsParams {
    type Value = Vec<Root>;
    type Outcome = Vec<Root>;

    fn request(&self) -> Result<InputRequest, InputError> {
        Ok(InputRequest::list_roots())
    }

    fn read(&self, response: InputResponse) -> Result<Vec<Root>, String> {
        let InputResponse::ListRoots(result) = response else { return unlike() };
        Ok(result.roots)
    }

    fn answered(outcome: Self::Outcome) -> Answered<Vec<Root>> {
        Answered::Accepted(outcome)
    }
}
