//! `x-mcp-header`: which arguments of a tool stand in headers too (server/tools, "x-mcp-header";
//! basic/transports/streamable-http, "Custom Headers from Tool Parameters").

use http::HeaderName;
use sansio_mcp::model::InputSchema;
use serde_json::{Map, Value};

/// Arguments of one tool that may be repeated in headers. The specification has no limit; HTTP servers have one, commonly
/// a hundred headers in all. A tool with more is invalid.
pub const MAX_PARAM_HEADERS: usize = 64;

/// Bytes of one `x-mcp-header`. The specification has no limit; a longer one is invalid.
pub const MAX_HEADER_NAME: usize = 128;

const ANNOTATION: &str = "x-mcp-header";

/// What a tool's input schema wants of the headers, compiled.
#[derive(Clone, Debug, Default)]
pub struct ParamHeaders {
    pub(super) root: Node,
    pub(super) headers: Vec<ParamHeader>,
}

/// One annotated property.
#[derive(Clone, Debug)]
pub(super) struct ParamHeader {
    pub(super) name: HeaderName,
    /// As it is written in messages to people: `Mcp-Param-Region`.
    pub(super) label: String,
}

/// Where the annotated properties are: a tree of the keys that lead to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) children: Vec<(Box<str>, Node)>,
    /// The place among the headers.
    pub(super) header: Option<usize>,
}

/// An annotation that breaks a rule, which makes its tool invalid: over HTTP a client leaves it out of the list and should say
/// so, with the tool's name and this.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("x-mcp-header at {at:?} {fault}")]
#[non_exhaustive]
pub struct AnnotationError {
    /// Where in the schema it stands, as a JSON pointer to the annotated schema.
    pub at: String,
    /// The rule.
    pub fault: AnnotationFault,
}

/// The rules that an annotation can break.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotationFault {
    /// The annotation is no string.
    #[error("is not a string")]
    NotAString,
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It is no token as names of headers have to be: among others a space, a colon, control characters, what is not ASCII.
    #[error("is not a token of RFC 9110")]
    NotAToken,
    /// It is longer than [`MAX_HEADER_NAME`].
    #[error("is too long")]
    TooLong,
    /// Another has the same name, upper and lower case not told apart.
    #[error("stands twice")]
    Twice,
    /// The property's `type` is missing or something else than string, integer, boolean, or one of these and null.
    #[error("is on a property whose type is not string, integer or boolean")]
    Type,
    /// It is not on a property that is reached from the root through `properties` alone.
    #[error("is not on a property that is reached through `properties` alone")]
    Unreachable,
    /// There are more than [`MAX_PARAM_HEADERS`].
    #[error("is one too many")]
    TooMany,
    /// The schema cannot be read: it is no JSON object, or nested too deeply.
    #[error("cannot be looked for: the schema is not readable")]
    Unreadable,
}

impl ParamHeaders {
    /// Compiles the annotations of a tool's input schema.
    ///
    /// # Errors
    /// The first annotation that breaks a rule.
    pub fn compile(schema: &InputSchema) -> Result<Self, AnnotationError> {
        Self::from_json(schema.as_json().get())
    }

    /// As [`compile`](Self::compile), of a schema as text.
    ///
    /// # Errors
    /// As there.
    pub fn from_json(schema: &str) -> Result<Self, AnnotationError> {
        let mut compiler = Compiler::default();
        // Nearly all schemas have none.
        if !schema.contains(ANNOTATION) && !schema.contains('\\') {
            return Ok(compiler.found);
        }
        match serde_json::from_str(schema) {
            Ok(Value::Object(schema)) => compiler.schema(&schema, false, true)?,
            Ok(_) | Err(_) => return Err(compiler.error(AnnotationFault::Unreadable)),
        }
        Ok(compiler.found)
    }

    /// Whether no argument is repeated.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// The headers, `mcp-param-` included.
    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.headers.iter().map(|header| &header.name)
    }
}

#[derive(Default)]
struct Compiler {
    found: ParamHeaders,
    /// Keys from the root to the schema that is looked at.
    pointer: Vec<String>,
    /// Names of the properties among them.
    path: Vec<String>,
}

impl Compiler {
    fn error(&self, fault: AnnotationFault) -> AnnotationError {
        let mut at = String::new();
        for key in &self.pointer {
            at.push('/');
            at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        AnnotationError { at, fault }
    }

    /// `reachable`: through `properties` alone. As deep as `serde_json` reads.
    fn schema(
        &mut self,
        schema: &Map<String, Value>,
        property: bool,
        reachable: bool,
    ) -> Result<(), AnnotationError> {
        if let Some(name) = schema.get(ANNOTATION) {
            if !(property && reachable) {
                return Err(self.error(AnnotationFault::Unreachable));
            }
            self.annotation(name, schema.get("type")).map_err(|fault| self.error(fault))?;
        }
        for (keyword, value) in schema {
            self.pointer.push(keyword.clone());
            match keyword.as_str() {
                // Instances, not schemas.
                "const" | "default" | "enum" | "examples" | ANNOTATION => {}
                "properties" => self.named(value, reachable)?,
                "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties" => {
                    self.named(value, false)?;
                }
                _ => self.elsewhere(value)?,
            }
            self.pointer.pop();
        }
        Ok(())
    }

    /// An object whose keys are names, not keywords.
    fn named(&mut self, schemas: &Value, reachable: bool) -> Result<(), AnnotationError> {
        let Value::Object(schemas) = schemas else { return Ok(()) };
        for (name, schema) in schemas {
            self.pointer.push(name.clone());
            self.path.push(name.clone());
            match schema {
                Value::Object(schema) => self.schema(schema, true, reachable)?,
                other => self.elsewhere(other)?,
            }
            self.path.pop();
            self.pointer.pop();
        }
        Ok(())
    }

    /// Anything under a keyword behind which no annotation may stand.
    fn elsewhere(&mut self, value: &Value) -> Result<(), AnnotationError> {
        match value {
            Value::Object(schema) => self.schema(schema, false, false),
            Value::Array(values) => {
                for (at, value) in values.iter().enumerate() {
                    self.pointer.push(at.to_string());
                    self.elsewhere(value)?;
                    self.pointer.pop();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn annotation(&mut self, name: &Value, kind: Option<&Value>) -> Result<(), AnnotationFault> {
        let Value::String(name) = name else { return Err(AnnotationFault::NotAString) };
        if name.is_empty() {
            return Err(AnnotationFault::Empty);
        }
        if name.len() > MAX_HEADER_NAME {
            return Err(AnnotationFault::TooLong);
        }
        let label = format!("Mcp-Param-{name}");
        let name = HeaderName::from_bytes(label.as_bytes()).map_err(|_| AnnotationFault::NotAToken)?;
        if self.found.names().any(|other| *other == name) {
            return Err(AnnotationFault::Twice);
        }
        if !kind.is_some_and(is_primitive) {
            return Err(AnnotationFault::Type);
        }
        if self.found.headers.len() == MAX_PARAM_HEADERS {
            return Err(AnnotationFault::TooMany);
        }
        let node = self.path.iter().fold(&mut self.found.root, |node, key| node.child(key));
        node.header = Some(self.found.headers.len());
        self.found.headers.push(ParamHeader { name, label });
        Ok(())
    }
}

impl Node {
    fn child(&mut self, key: &str) -> &mut Node {
        let at = self.children.iter().position(|(name, _)| &**name == key).unwrap_or_else(|| {
            self.children.push((key.into(), Node::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }
}

/// An optional argument has a type of two: its own and null, for which there is no header.
fn is_primitive(kind: &Value) -> bool {
    let primitive = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Value::Array(kinds) => {
            kinds.iter().any(primitive) && kinds.iter().all(|kind| primitive(kind) || kind == "null")
        }
        kind => primitive(kind),
    }
}

#[cfg(test)]
#[path = "params_test.rs"]
mod tests;
