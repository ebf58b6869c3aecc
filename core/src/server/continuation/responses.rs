//! The client's answers, `inputResponses` (basic/patterns/mrtr, "`InputResponses`").

use core::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};

use crate::model::RawJson;
use crate::wire::{JsonText, Text};

/// Hands on each answer that is an object, with its key; a number or null where an object belongs is no answer. What
/// stands before the end of JSON gone wrong is handed on all the same: whoever read the message has refused it by then.
pub(super) fn each(responses: &str, answer: impl FnMut(&str, &dyn Fn() -> RawJson)) {
    struct Answers<F>(F);

    impl<'de, F: FnMut(&str, &dyn Fn() -> RawJson)> Visitor<'de> for Answers<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("inputResponses: an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((key, value)) = map.next_entry::<Text<'de>, JsonText<'de>>()? {
                if value.is_object() {
                    (self.0)(&key, &|| value.into());
                }
            }
            Ok(())
        }
    }

    let mut json = serde_json::Deserializer::from_str(responses);
    let _ = json.deserialize_map(Answers(answer));
}
