//! What a request needs of its client, against what the client declared for it (basic/index, "`_meta`").

use super::capabilities::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use super::error::MissingRequiredClientCapability;
use super::members::{Members, RawMembers};
use super::raw::RawJson;

/// The part of `required` that `declared` lacks: what `data.requiredCapabilities` of -32021 says. `None` if
/// nothing is lacking.
///
/// Elicitation declared without a mode means forms alone (client/elicitation, "Capabilities").
pub fn missing_capabilities(
    declared: &ClientCapabilities,
    required: &ClientCapabilities,
) -> Option<MissingRequiredClientCapability> {
    let mut lacking = ClientCapabilities::default();
    if declared.roots.is_none() {
        lacking.roots.clone_from(&required.roots);
    }
    lacking.sampling = required.sampling.as_ref().and_then(|required| sampling(declared, required));
    lacking.elicitation = required.elicitation.as_ref().and_then(|required| elicitation(declared, required));
    lacking.extensions = members(declared.extensions.as_ref(), required.extensions.as_ref());
    lacking.experimental = members(declared.experimental.as_ref(), required.experimental.as_ref());
    let nothing = lacking == ClientCapabilities::default();
    (!nothing).then(|| MissingRequiredClientCapability::new(lacking))
}

fn sampling(declared: &ClientCapabilities, required: &SamplingCapability) -> Option<SamplingCapability> {
    let Some(declared) = &declared.sampling else { return Some(required.clone()) };
    let lacking = SamplingCapability {
        context: lack(declared.context.as_ref(), required.context.as_ref()),
        tools: lack(declared.tools.as_ref(), required.tools.as_ref()),
        ..SamplingCapability::default()
    };
    (lacking != SamplingCapability::default()).then_some(lacking)
}

fn elicitation(
    declared: &ClientCapabilities,
    required: &ElicitationCapability,
) -> Option<ElicitationCapability> {
    let Some(declared) = &declared.elicitation else { return Some(required.clone()) };
    let mut lacking = ElicitationCapability::default();
    if required.accepts_form() && !declared.accepts_form() {
        lacking.form = required.form.clone().or_else(|| RawJson::from_text("{}").ok());
    }
    lacking.url = lack(declared.url.as_ref(), required.url.as_ref());
    (lacking != ElicitationCapability::default()).then_some(lacking)
}

fn lack(declared: Option<&RawJson>, required: Option<&RawJson>) -> Option<RawJson> {
    if declared.is_some() { None } else { required.cloned() }
}

fn members(declared: Option<&RawMembers>, required: Option<&RawMembers>) -> Option<RawMembers> {
    let lacking: RawMembers = required?
        .iter()
        .filter(|(name, _)| declared.is_none_or(|declared| declared.get(name).is_none()))
        .map(|(name, value)| (name, value.clone()))
        .collect::<Members<_>>();
    (!lacking.is_empty()).then_some(lacking)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn lacking(declared: &str, required: &str) -> Option<String> {
        let declared = serde_json::from_str(declared).unwrap();
        let required = serde_json::from_str(required).unwrap();
        missing_capabilities(&declared, &required).map(|missing| serde_json::to_string(&missing).unwrap())
    }

    #[test]
    fn elicitation_without_a_mode_means_forms_alone() {
        assert_eq!(lacking(r#"{"elicitation":{}}"#, r#"{"elicitation":{}}"#), None);
        assert_eq!(lacking(r#"{"elicitation":{}}"#, r#"{"elicitation":{"form":{}}}"#), None);
        assert_eq!(lacking(r#"{"elicitation":{"form":{}}}"#, r#"{"elicitation":{}}"#), None);
        assert_eq!(
            lacking(r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#).as_deref(),
            Some(r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#)
        );
        assert_eq!(
            lacking(r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{}}"#).as_deref(),
            Some(r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#)
        );
    }

    #[test]
    fn only_what_is_lacking_is_named() {
        let required = r#"{"roots":{},"sampling":{"tools":{}},"extensions":{"a/b":{},"c/d":{"x":1}}}"#;
        assert_eq!(
            lacking(r#"{"sampling":{},"extensions":{"a/b":{}}}"#, required).as_deref(),
            Some(
                r#"{"requiredCapabilities":{"roots":{},"sampling":{"tools":{}},"extensions":{"c/d":{"x":1}}}}"#
            )
        );
        assert_eq!(
            lacking("{}", r#"{"sampling":{}}"#).as_deref(),
            Some(r#"{"requiredCapabilities":{"sampling":{}}}"#)
        );
        assert_eq!(lacking(required, required), None);
        assert_eq!(lacking("{}", "{}"), None);
    }
}
