//! Forms: made, read, filled in, checked (client/elicitation, "Requested Schema").
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, raw, read, refusal, same, written};
use sansio_mcp::model::{
    BooleanSchema, ElicitFormParams, EnumSchema, FieldSchema, Form, FormSchema, MultiSelectSchema, Number,
    NumberSchema, RawMembers, StringFormat, StringSchema, TitledEnumSchema, TitledMultiSelectSchema,
};

/// One field of each kind, each with all it can have.
fn order() -> Form {
    let colours = [("#F00", "Red"), ("#0F0", "Green"), ("#00F", "Blue")];
    Form::new("Your order")
        .required(
            "code",
            StringSchema::new()
                .with_title("Code")
                .with_description("As printed")
                .with_min_length(4)
                .with_max_length(6)
                .with_pattern("^[A-Z]+$")
                .with_default("ABCD"),
        )
        .optional("email", StringSchema::of(StringFormat::Email))
        .optional("price", NumberSchema::number().with_minimum(0.5).with_maximum(99.5).with_default(10))
        .required("copies", NumberSchema::integer().with_minimum(1).with_maximum(9).with_default(1))
        .optional("gift", BooleanSchema::new().with_title("Gift").with_default(false))
        .optional("cover", EnumSchema::new(["paper", "cloth"]).with_default("paper"))
        .optional("colour", TitledEnumSchema::new(colours).with_default("#0F0"))
        .optional("extras", MultiSelectSchema::new(["bag", "card"]).with_default(vec!["bag".to_owned()]))
        .optional("marks", TitledMultiSelectSchema::new(colours).with_min_items(1).with_max_items(2))
}

fn schema() -> FormSchema {
    order().build().unwrap().requested_schema
}

fn members(text: &str) -> RawMembers {
    read(text)
}

#[test]
fn a_form_is_what_the_page_shows() {
    let form = order().build().unwrap();
    let expected = concat!(
        r#"{"mode":"form","message":"Your order","requestedSchema":{"type":"object","properties":{"#,
        r#""code":{"type":"string","title":"Code","description":"As printed","minLength":4,"maxLength":6,"#,
        r#""pattern":"^[A-Z]+$","default":"ABCD"},"email":{"type":"string","format":"email"},"#,
        r#""price":{"type":"number","minimum":0.5,"maximum":99.5,"default":10},"#,
        r#""copies":{"type":"integer","minimum":1,"maximum":9,"default":1},"#,
        r#""gift":{"type":"boolean","title":"Gift","default":false},"#,
        r#""cover":{"type":"string","enum":["paper","cloth"],"default":"paper"},"#,
        r##""colour":{"type":"string","oneOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"},"##,
        r##"{"const":"#00F","title":"Blue"}],"default":"#0F0"},"##,
        r#""extras":{"type":"array","items":{"type":"string","enum":["bag","card"]},"default":["bag"]},"#,
        r##""marks":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"#F00","title":"Red"},"##,
        r##"{"const":"#0F0","title":"Green"},{"const":"#00F","title":"Blue"}]}}},"required":["code","copies"]}}"##,
    );
    assert_eq!(json(&form), expected);
    assert_eq!(written(|out| form.write(out)), expected);
    assert_eq!(read::<ElicitFormParams>(expected), form);
    assert!(form.requested_schema.is_required("code") && !form.requested_schema.is_required("email"));
    // No fields at all: the user agrees or does not.
    let bare = Form::new("Really?").build().unwrap();
    assert_eq!(
        json(&bare),
        r#"{"mode":"form","message":"Really?","requestedSchema":{"type":"object","properties":{}}}"#
    );
}

#[test]
fn what_the_page_forbids_is_refused_when_built() {
    let text = StringSchema::new;
    let whole = NumberSchema::integer;
    let pick = || MultiSelectSchema::new(["a", "b"]);
    let table: Vec<(FieldSchema, &str)> = vec![
        (text().with_min_length(3).with_max_length(2).into(), "the least length is more than the most"),
        (text().with_format("uuid").into(), "the format is none of"),
        (text().with_pattern("(").into(), "the pattern is not a regular expression"),
        (text().with_pattern("(?=a)").into(), "the pattern looks ahead"),
        (text().with_min_length(3).with_default("ab").into(), "the default has fewer than 3 characters"),
        (text().with_max_length(1).with_default("éé").into(), "the default has more than 1 characters"),
        (text().with_pattern("^a$").with_default("b").into(), "the default does not match the pattern"),
        (
            StringSchema::of(StringFormat::Date).with_default("x").into(),
            "the default is not of the format date",
        ),
        (whole().with_minimum(2).with_maximum(1).into(), "the minimum is more than the maximum"),
        (whole().with_minimum(f64::NAN).into(), "a bound or the default is not a number"),
        (NumberSchema::number().with_default(f64::INFINITY).into(), "a bound or the default is not a number"),
        (whole().with_default(1.5).into(), "the default is not a whole number"),
        (whole().with_minimum(2).with_default(1).into(), "the default is less than 2"),
        (whole().with_maximum(2).with_default(3).into(), "the default is more than 2"),
        (EnumSchema::new::<&str>([]).into(), "there is nothing to choose from"),
        (EnumSchema::new(["a", "a"]).into(), "there is the same thing to choose twice"),
        (EnumSchema::new(["a"]).with_default("b").into(), "the default is not one of the options"),
        (TitledEnumSchema::new([("a", "A"), ("a", "B")]).into(), "there is the same thing to choose twice"),
        (
            TitledEnumSchema::new([("a", "A")]).with_default("A").into(),
            "the default is not one of the options",
        ),
        (pick().with_min_items(2).with_max_items(1).into(), "the least items are more than the most"),
        (pick().with_min_items(3).into(), "the least items are more than there are"),
        (pick().with_default(vec!["c".to_owned()]).into(), "the default is not one of the options"),
        (pick().with_default(vec!["a".to_owned(); 2]).into(), "the default names an option twice"),
        (pick().with_min_items(1).with_default(vec![]).into(), "the default chooses fewer than 1"),
        (MultiSelectSchema::new::<&str>([]).into(), "there is nothing to choose from"),
        (TitledMultiSelectSchema::new([("a", "A"); 2]).into(), "there is the same thing to choose twice"),
        (read(r#"{"type":"object","properties":{}}"#), "forms have no fields of this kind"),
        (
            read(r#"{"type":"string","enum":["a"],"enumNames":["A","B"]}"#),
            "there are not as many names as values",
        ),
    ];
    for (field, problem) in table {
        let shown = json(&field);
        let error = Form::new("m").optional("f", field).build().unwrap_err();
        assert_eq!(&*error.field, "f", "{shown}");
        assert!(error.to_string().starts_with(&format!("`f`: {problem}")), "{shown}: {error}");
    }
    let error = Form::new("m").required("", text()).build().unwrap_err();
    assert_eq!(error.to_string(), "``: the field's name is empty");
    let error = Form::new("m").required("a", text()).optional("a", whole()).build().unwrap_err();
    assert_eq!(error.to_string(), "`a`: the form has this field twice");
    assert_eq!(&*Form::new(" \n").build().unwrap_err().field, "message");
    let error = read::<FormSchema>(r#"{"properties":{},"required":["a"]}"#).validate().unwrap_err();
    assert_eq!(error.to_string(), "`a`: is required, and not a field of the form");
}

#[test]
fn forms_of_peers_come_back_verbatim() {
    same::<FormSchema>(concat!(
        r#"{"type":"object","$schema":"s","properties":{"#,
        r#""a":{"type":"string","minLength":1,"default":"x","widget":[1.0e2 ]},"#,
        r#""b":{"type":"integer","minimum":-9007199254740993,"maximum":18446744073709551615,"multipleOf":1.50},"#,
        r#""c":{"type":"number","minimum":1.0},"d":{"type":"boolean","x":null},"#,
        r#""e":{"type":"string","enum":["a"],"enumNames":["A"],"y":1e1},"#,
        r#""f":{"type":"string","oneOf":[{"const":"a","title":"A","z":1.0}]},"#,
        r#""g":{"type":"array","items":{"type":"string","enum":["a"],"u":1.0},"uniqueItems":true},"#,
        r#""h":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}],"v":1.0}},"#,
        r#""i":{"type":["string","null"]},"j":{"type":"array","items":{"type":"number"}},"k":{},"#,
        r#""l":{"type":"object","properties":{ }}},"required":["a"],"additionalProperties":false}"#,
    ));
    // The type may stand anywhere, and need not stand at all for the whole.
    let form: FormSchema =
        read(r#"{"properties":{"a":{"minimum":1,"type":"integer"},"b":{"enum":["x"],"type":"string"}}}"#);
    assert!(matches!(form.properties.get("a"), Some(FieldSchema::Number(_))));
    assert!(matches!(form.properties.get("b"), Some(FieldSchema::Enum(_))));
    assert_eq!(form.properties.get("a").and_then(FieldSchema::title), None);
}

#[test]
fn malformed_forms_name_the_member() {
    let field = |text: &str| refusal::<FormSchema>(&format!(r#"{{"properties":{{"f":{text}}}}}"#));
    for (text, path) in [
        (r#"{"type":"string","minLength":"1"}"#, "properties: f: minLength: "),
        (r#"{"type":"string","maxLength":-1}"#, "properties: f: maxLength: "),
        (r#"{"type":"integer","minimum":"1"}"#, "properties: f: minimum: expected a number"),
        (r#"{"type":"number","maximum":1e999}"#, "properties: f: maximum: expected a number"),
        (r#"{"type":"boolean","default":1}"#, "properties: f: default: "),
        (r#"{"type":"string","enum":[1]}"#, "properties: f: enum: "),
        (r#"{"type":"string","oneOf":[{"const":"a"}]}"#, "properties: f: oneOf: missing field `title`"),
        (r#"{"type":"array","items":{"enum":"a"}}"#, "properties: f: items: enum: "),
        (
            r#"{"type":"array","items":{"anyOf":[{"title":"a"}]}}"#,
            "properties: f: items: anyOf: missing field `const`",
        ),
        (r#"{"type":"string","title":"a","title":"b"}"#, "properties: f: duplicate field `title`"),
        ("1", "properties: f: "),
    ] {
        let error = field(text);
        assert!(error.starts_with(path), "{text}: {error}");
    }
    assert!(refusal::<FormSchema>("{}").contains("missing field `properties`"));
    assert!(refusal::<FormSchema>(r#"{"type":"array","properties":{}}"#).starts_with("type: "));
    assert!(refusal::<FormSchema>(r#"{"properties":{},"required":"a"}"#).starts_with("required: "));
}

/// What both sides say of one value of one field.
fn say(field: &str, value: &str) -> [String; 2] {
    let content = members(&format!(r#"{{"code":"ABCD","copies":1,"{field}":{value}}}"#));
    let content: RawMembers = content.into_iter().collect();
    let text = |result: Result<(), String>| result.err().unwrap_or_else(|| "fits".to_owned());
    [
        text(schema().check(&content).map_err(|errors| errors.to_string())),
        text(schema().accept(&content).map(drop).map_err(|errors| errors.to_string())),
    ]
}

#[test]
fn every_constraint_is_checked() {
    let table = [
        ("email", "\"a@b.org\"", "fits"),
        ("email", "\"a\"", "`email` is not of the format email"),
        ("email", "7", "`email` is not a text"),
        ("email", "\"\\ud800\"", "`email` is not a text"),
        ("price", "0.5", "fits"),
        ("price", "99.50", "fits"),
        ("price", "0.4999999999999999", "`price` is less than 0.5"),
        ("price", "100", "`price` is more than 99.5"),
        ("price", "1e999", "`price` is not a number"),
        ("price", "\"1\"", "`price` is not a number"),
        ("gift", "true", "fits"),
        ("gift", "\"true\"", "`gift` is not true or false"),
        ("gift", "0", "`gift` is not true or false"),
        ("cover", "\"cloth\"", "fits"),
        ("cover", "\"Cloth\"", "`cover` is not one of the options"),
        ("cover", "[\"cloth\"]", "`cover` is not a text"),
        ("colour", "\"#F00\"", "fits"),
        ("colour", "\"Red\"", "`colour` is not one of the options"),
        ("extras", "[]", "fits"),
        ("extras", "[\"card\",\"bag\"]", "fits"),
        ("extras", "[\"card\",\"card\"]", "`extras` names an option twice"),
        ("extras", "\"card\"", "`extras` is not a list of texts"),
        ("extras", "[1]", "`extras` is not a list of texts"),
        ("marks", "[\"#F00\"]", "fits"),
        ("marks", "[]", "`marks` chooses fewer than 1"),
        ("marks", "[\"#F00\",\"#0F0\",\"#00F\"]", "`marks` chooses more than 2"),
        ("marks", "[\"Red\"]", "`marks` is not one of the options"),
    ];
    for (field, value, expected) in table {
        assert_eq!(say(field, value), [expected, expected], "{field}: {value}");
    }
    let code = |value: &str| {
        let content = members(&format!(r#"{{"code":"{value}","copies":1}}"#));
        schema().accept(&content).err().map_or("fits".to_owned(), |errors| errors.to_string())
    };
    assert_eq!(code("ABCDEF"), "fits");
    assert_eq!(code("ABC"), "`code` has fewer than 4 characters");
    assert_eq!(code("ABCDEFG"), "`code` has more than 6 characters");
    assert_eq!(code("ABCÉ"), "`code` does not match the pattern");
    // Characters are counted, not bytes.
    let wide: FormSchema = read(r#"{"properties":{"w":{"type":"string","minLength":2,"maxLength":2}}}"#);
    assert!(wide.accept(&members(r#"{"w":"😀é"}"#)).is_ok());
}

#[test]
fn bounds_lose_nothing() {
    let form: FormSchema = read(
        r#"{"properties":{"n":{"type":"integer","minimum":9007199254740993,"maximum":18446744073709551615}}}"#,
    );
    for (value, fits) in [
        ("9007199254740993", true),
        ("9007199254740992", false),
        ("9007199254740992.0", false),
        ("18446744073709551615", true),
        ("18446744073709551616", false),
    ] {
        assert_eq!(form.accept(&members(&format!(r#"{{"n":{value}}}"#))).is_ok(), fits, "{value}");
    }
}

#[test]
fn a_server_takes_the_fields_of_the_form_alone() {
    let content =
        members(r#"{"x":{"y":1},"copies":5.0,"code":"ABCD","price":1.50,"gift":null,"cover":"cloth"}"#);
    let taken = schema().accept(&content).unwrap();
    assert_eq!(json(&taken), r#"{"code":"ABCD","price":1.50,"copies":5,"cover":"cloth"}"#);
    // A client may not send that.
    let errors = schema().check(&content).unwrap_err();
    assert_eq!(errors.to_string(), "`gift` is not true or false; `x` is not a field of the form");
    let errors = schema().accept(&members(r#"{"code":null,"copies":5.5}"#)).unwrap_err();
    assert_eq!(errors.to_string(), "`code` is missing; `copies` is not a whole number");
    assert_eq!(errors.fields().len(), 2);
    assert_eq!(errors.fields()[0].field, "code");
}

#[test]
fn many_wrong_fields_are_not_all_kept() {
    let many: RawMembers = (0..10_000).map(|n| (format!("f{n}"), raw("1"))).collect();
    assert_eq!(schema().check(&many).unwrap_err().fields().len(), 32);
}

#[test]
fn a_pattern_that_only_the_server_knows_is_left_to_it() {
    let form: FormSchema = read(r#"{"properties":{"p":{"type":"string","pattern":"(?<=a)b"}}}"#);
    let content = members(r#"{"p":"x"}"#);
    assert!(form.check(&content).is_ok());
    assert!(form.accept(&content).is_err());
    assert!(form.validate().unwrap_err().to_string().contains("looks behind"));
}

#[test]
fn defaults_fill_what_was_left_empty() {
    let filled = |content: &str| json(&schema().fill(&members(content)));
    assert_eq!(
        filled("{}"),
        r##"{"code":"ABCD","price":10,"copies":1,"gift":false,"cover":"paper","colour":"#0F0","extras":["bag"]}"##
    );
    assert_eq!(
        filled(
            r#"{"extras":[],"x":1.50,"gift":null,"copies":2,"code":"","price":0.5,"cover":"?","colour":""}"#
        ),
        r#"{"extras":[],"x":1.50,"copies":2,"code":"","price":0.5,"cover":"?","colour":"","gift":false}"#
    );
    assert!(schema().check(&schema().fill(&RawMembers::new())).is_ok());
    // One that does not fit its own field helps nobody.
    let odd: FormSchema =
        read(r#"{"properties":{"a":{"type":"integer","maximum":1,"default":2},"b":{"type":"x"}}}"#);
    assert!(odd.fill(&RawMembers::new()).is_empty());
}

#[test]
fn a_large_form_and_a_large_answer_take_no_time() {
    // Each field looked up in a list would be 10^9 steps.
    let options: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let field: FieldSchema = MultiSelectSchema::new(options.clone()).with_default(options).into();
    let fields = (0..20_000).map(|n| format!(r#""f{n}":{{"type":"integer","default":{n}}}"#));
    let text =
        format!(r#"{{"properties":{{{},"all":{}}}}}"#, fields.collect::<Vec<_>>().join(","), json(&field));
    let form: FormSchema = read(&text);
    form.validate().unwrap();
    let filled = form.fill(&RawMembers::new());
    assert_eq!(filled.len(), 20_001);
    assert_eq!(form.accept(&filled).unwrap().len(), 20_001);
}

#[test]
fn numbers_come_from_all_kinds() {
    let schema = NumberSchema::number().with_minimum(i64::MIN).with_maximum(u64::MAX).with_default(0.25);
    assert_eq!(
        json(&schema),
        r#"{"type":"number","minimum":-9223372036854775808,"maximum":18446744073709551615,"default":0.25}"#
    );
    assert_eq!(Number::from(3_u8).as_i64(), Some(3));
}

#[test]
fn a_peers_form_full_of_patterns_costs_a_client_a_bounded_amount() {
    // Compiled this takes nearly as much as it may, and each character of the text meets all of it.
    let field =
        StringSchema::new().with_pattern("^(?:a*){300}b$").with_default(format!("{}b", "a".repeat(1000)));
    let schema = |fields: usize| {
        let form =
            (0..fields).fold(Form::new("Long"), |form, n| form.optional(format!("f{n}"), field.clone()));
        form.build().unwrap().requested_schema
    };
    let none = RawMembers::new();
    assert_eq!(schema(1).fill(&none).len(), 1);
    let long = schema(8);
    let filled = long.fill(&none);
    assert!((1..8).contains(&filled.len()), "{} defaults were tried", filled.len());
    // What a client no longer looks at it leaves to the server, who knows what its own form costs.
    let answer: Vec<String> = (0..8).map(|n| format!(r#""f{n}":"c""#)).collect();
    let answer = members(&format!("{{{}}}", answer.join(",")));
    assert!(long.check(&answer).is_err());
    assert_eq!(long.accept(&answer).unwrap_err().fields().len(), 8);
}
