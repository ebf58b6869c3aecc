//! Values that fit a schema.

use sansio_mcp_sdk::model::{FieldSchema, Prompt, Tool};
use serde_json::{Map, Value, json};

/// Something for a field of a form; `None` for a kind that nobody knows.
pub(super) fn for_field(field: &FieldSchema) -> Option<Value> {
    Some(match field {
        FieldSchema::String(_) => json!("test"),
        FieldSchema::Number(_) => json!(1),
        FieldSchema::Boolean(_) => json!(true),
        FieldSchema::Enum(choice) => json!(choice.values.first()?),
        FieldSchema::TitledEnum(choice) => json!(choice.options.first()?.value),
        FieldSchema::MultiSelect(choice) => json!([choice.items.values.first()?]),
        FieldSchema::TitledMultiSelect(choice) => json!([choice.items.options.first()?.value]),
        _ => return None,
    })
}

/// Arguments for a tool of which nothing but the schema is known: its required parameters, by their types.
pub(super) fn for_tool(tool: &Tool) -> Value {
    let schema: Value = tool.input_schema.as_json().parse().unwrap_or_default();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let arguments: Map<String, Value> = required
        .map(|name| {
            let parameter = &schema["properties"][name];
            let value = match parameter["type"].as_str() {
                Some("number" | "integer") => parameter.get("minimum").cloned().unwrap_or(json!(1)),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                Some("null") => Value::Null,
                _ => json!("test"),
            };
            (name.to_owned(), value)
        })
        .collect();
    Value::Object(arguments)
}

/// The same for a prompt: a text for each argument that it needs.
pub(super) fn for_prompt(prompt: &Prompt) -> Value {
    let needed = prompt.arguments.iter().flatten().filter(|argument| argument.is_required());
    Value::Object(needed.map(|argument| (argument.name.clone(), json!("test"))).collect())
}
