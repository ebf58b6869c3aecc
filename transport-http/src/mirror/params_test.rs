//! Every rule of the page, kept and broken.

use super::*;

/// The headers of a schema with these properties.
fn compile(properties: &str) -> Result<Vec<String>, (String, AnnotationFault)> {
    from_root(&format!(r#"{{"type":"object","properties":{{{properties}}}}}"#))
}

fn from_root(schema: &str) -> Result<Vec<String>, (String, AnnotationFault)> {
    match ParamHeaders::from_json(schema) {
        Ok(rules) => Ok(rules.names().map(ToString::to_string).collect()),
        Err(error) => Err((error.at, error.fault)),
    }
}

#[test]
fn what_is_allowed() {
    for (properties, headers) in [
        (r#""q":{"type":"string"}"#, vec![]),
        (r#""r":{"type":"string","x-mcp-header":"Region"}"#, vec!["mcp-param-region"]),
        (
            r#""r":{"type":"integer","x-mcp-header":"a!#$%&'*+-.^_`|~1Z"}"#,
            vec!["mcp-param-a!#$%&'*+-.^_`|~1z"],
        ),
        (r#""r":{"type":"boolean","x-mcp-header":"Method"}"#, vec!["mcp-param-method"]),
        (r#""r":{"type":["string","null"],"x-mcp-header":"R"}"#, vec!["mcp-param-r"]),
        (
            r#""a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"C"}}}}}"#,
            vec!["mcp-param-c"],
        ),
        // Names of properties, and values, are not annotations.
        (r#""x-mcp-header":{"type":"string"}"#, vec![]),
        (r#""properties":{"type":"string","x-mcp-header":"P"}"#, vec!["mcp-param-p"]),
        (r#""r":{"type":"object","default":{"x-mcp-header":"R"},"enum":[{"x-mcp-header":"R"}]}"#, vec![]),
        (r#""r":{"const":{"x-mcp-header":1},"examples":[{"x-mcp-header":""}]}"#, vec![]),
        (r#""r":{"description":"x-mcp-header"}"#, vec![]),
        // The key may be written with escapes.
        (r#""r":{"type":"string","x-mcp\u002dheader":"R"}"#, vec!["mcp-param-r"]),
    ] {
        assert_eq!(compile(properties), Ok(headers.into_iter().map(str::to_owned).collect()), "{properties}");
    }
}

#[test]
fn what_is_not() {
    use AnnotationFault::*;
    let long = format!(r#""r":{{"type":"string","x-mcp-header":"{}"}}"#, "a".repeat(MAX_HEADER_NAME + 1));
    for (properties, at, fault) in [
        (r#""r":{"type":"string","x-mcp-header":""}"#, "/properties/r", Empty),
        (r#""r":{"type":"string","x-mcp-header":7}"#, "/properties/r", NotAString),
        (r#""r":{"type":"string","x-mcp-header":null}"#, "/properties/r", NotAString),
        (r#""r":{"type":"string","x-mcp-header":"a b"}"#, "/properties/r", NotAToken),
        (r#""r":{"type":"string","x-mcp-header":"a:b"}"#, "/properties/r", NotAToken),
        (r#""r":{"type":"string","x-mcp-header":"é"}"#, "/properties/r", NotAToken),
        (r#""r":{"type":"string","x-mcp-header":"a\r\nb"}"#, "/properties/r", NotAToken),
        (r#""r":{"type":"string","x-mcp-header":"a\u0007"}"#, "/properties/r", NotAToken),
        (r#""r":{"type":"string","x-mcp-header":"a(b)"}"#, "/properties/r", NotAToken),
        (&long, "/properties/r", TooLong),
        (
            r#""a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"R"}"#,
            "/properties/b",
            Twice,
        ),
        (
            r#""a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"rEGION"}}}"#,
            "/properties/b/properties/c",
            Twice,
        ),
        (r#""r":{"type":"number","x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"type":"object","x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"type":"array","x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"type":"null","x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"type":["null"],"x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"type":["string","number"],"x-mcp-header":"R"}"#, "/properties/r", Type),
        (r#""r":{"x-mcp-header":"R"}"#, "/properties/r", Type),
        (
            r#""r":{"type":"array","items":{"type":"string","x-mcp-header":"R"}}"#,
            "/properties/r/items",
            Unreachable,
        ),
        (
            r#""a/~":{"type":"array","items":{"properties":{"b":{"type":"string","x-mcp-header":"R"}}}}"#,
            "/properties/a~1~0/items/properties/b",
            Unreachable,
        ),
        (
            r#""r":{"prefixItems":[true,{"type":"string","x-mcp-header":"R"}]}"#,
            "/properties/r/prefixItems/1",
            Unreachable,
        ),
    ] {
        assert_eq!(compile(properties), Err((at.to_owned(), fault)), "{properties}");
    }
    let marked = r#"{"type":"string","x-mcp-header":"R"}"#;
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let schema = format!(r#"{{"type":"object","{keyword}":[{{"properties":{{"r":{marked}}}}}]}}"#);
        assert_eq!(from_root(&schema), Err((format!("/{keyword}/0/properties/r"), Unreachable)), "{schema}");
    }
    for keyword in ["not", "if", "then", "else", "additionalProperties", "contains", "propertyNames", "x-own"]
    {
        let schema = format!(r#"{{"type":"object","{keyword}":{marked}}}"#);
        assert_eq!(from_root(&schema), Err((format!("/{keyword}"), Unreachable)), "{schema}");
    }
    for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas"] {
        let schema = format!(r#"{{"type":"object","{keyword}":{{"default":{marked}}}}}"#);
        assert_eq!(from_root(&schema), Err((format!("/{keyword}/default"), Unreachable)), "{schema}");
    }
    assert_eq!(from_root(marked), Err((String::new(), Unreachable)));
    assert_eq!(from_root(r#"["x-mcp-header"]"#), Err((String::new(), Unreadable)));
}

#[test]
fn as_many_as_may_be_and_one_more() {
    let many = |count: usize| {
        let one = |at| format!(r#""p{at}":{{"type":"string","x-mcp-header":"H{at}"}}"#);
        compile(&(0..count).map(one).collect::<Vec<_>>().join(","))
    };
    assert_eq!(many(MAX_PARAM_HEADERS).unwrap().len(), MAX_PARAM_HEADERS);
    assert_eq!(many(MAX_PARAM_HEADERS + 1).unwrap_err().1, AnnotationFault::TooMany);
}

#[test]
fn a_schema_that_is_nested_too_deeply_is_told() {
    let deep = format!(r#"{{"x-mcp-header":{}1{}}}"#, r#"{"not":"#.repeat(10_000), "}".repeat(10_000));
    assert_eq!(from_root(&deep), Err((String::new(), AnnotationFault::Unreadable)));
}
