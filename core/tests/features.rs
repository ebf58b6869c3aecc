//! Prompts, resources, completion and log levels between a client and a server: what is sent, what reaches the application,
//! what is refused before it does.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::client::{CallSpec, ClientEvent, InputAnswer, Outcome, Refused, StreamId};
use sansio_mcp::id::RequestId;
use sansio_mcp::model::{
    CompleteParams, CompleteResult, ElicitResult, Form, GetPromptResult, Implementation, InputParams,
    InputRequest, InputResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListRootsResult, LoggingLevel, PromptReference, RawJson, RawMembers, ReadResourceResult,
    ResourceTemplateReference, ServerCapabilities, SubscriptionsListenResult,
};
use sansio_mcp::server::{Exchange, Kind, Method, ResultBody, Server, ServerConfig, Status};
use serde_json::{Value, json};
use short::{ClientExt, META, START, ServerExt, client, code, request, single};

#[path = "support/short.rs"]
mod short;

const ALL: &str = r#"{"tools":{},"prompts":{},"resources":{},"completions":{},"logging":{}}"#;

fn config(capabilities: &str) -> Arc<ServerConfig> {
    let capabilities: ServerCapabilities = serde_json::from_str(capabilities).unwrap();
    Arc::new(ServerConfig::builder(Implementation::new("s", "1"), capabilities).build().unwrap())
}

fn server() -> Server {
    Server::new(config(ALL))
}

/// The status and the message of a refusal, which a channel and an exchange give alike.
fn refused(line: &str) -> (Status, String) {
    let answer = server().answers(line);
    let mut exchange = Exchange::new(config(ALL));
    exchange.handle_message(line.as_bytes());
    let (kind, same) = single(&mut exchange).unwrap();
    assert_eq!(same, answer);
    assert_eq!(code(&answer), -32602, "{line}");
    let Kind::Response(status) = kind else { panic!("{kind:?}") };
    (status, answer["error"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_method_is_there_if_its_capability_is() {
    let methods = [
        ("tools", "tools/list", ""),
        ("tools", "tools/call", r#""name":"t""#),
        ("prompts", "prompts/list", ""),
        ("prompts", "prompts/get", r#""name":"p""#),
        ("resources", "resources/list", ""),
        ("resources", "resources/templates/list", ""),
        ("resources", "resources/read", r#""uri":"u""#),
        (
            "completions",
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}"#,
        ),
    ];
    for declared in ["tools", "prompts", "resources", "completions", "logging"] {
        for (capability, method, params) in methods {
            let mut server = Server::new(config(&format!(r#"{{"{declared}":{{}}}}"#)));
            let line = request("1", method, params);
            if declared == capability {
                assert_eq!(server.asked(line).1.method().name(), method);
            } else {
                assert_eq!(code(&server.answers(line)), -32601, "{declared} {method}");
            }
        }
    }
}

#[test]
fn three_methods_may_ask() {
    let asking = [Method::ToolsCall, Method::PromptsGet, Method::ResourcesRead];
    assert!(asking.iter().all(|method| method.takes_input() == Some(true)));
    let others = [
        Method::ToolsList,
        Method::PromptsList,
        Method::ResourcesList,
        Method::ResourceTemplatesList,
        Method::Complete,
        Method::Other("x/y".into()),
    ];
    assert!(others.iter().all(|method| method.takes_input() != Some(true)));
}

#[test]
fn what_each_method_needs_of_its_params() {
    let needs = |method: &str, params: &str| refused(&request("1", method, params));
    for params in ["", r#""name":5"#, r#""name":null"#, r#""Name":"p""#] {
        assert_eq!(needs("prompts/get", params).0, Status::BadRequest, "{params}");
    }
    for (arguments, said) in [
        (r#"{"a":1}"#, "params.arguments: a: invalid type: integer `1`, expected a string"),
        (r#"{"a":null}"#, "params.arguments: a: invalid type: null, expected a string"),
        (r#"{"a":"1","a":"2"}"#, "params.arguments: duplicate field `a`"),
        ("[]", "params.arguments: invalid type: sequence, expected an object"),
        ("null", "params.arguments: invalid type: null, expected an object"),
    ] {
        let refusal = needs("prompts/get", &format!(r#""name":"p","arguments":{arguments}"#));
        assert_eq!(refusal, (Status::Ok, said.to_owned()));
    }
    for params in ["", r#""uri":5"#, r#""uri":null"#, r#""name":"u""#] {
        assert_eq!(needs("resources/read", params).0, Status::BadRequest, "{params}");
    }
    for (params, said) in [
        ("", "params: missing field `ref`"),
        (r#""ref":{"type":"ref/prompt","name":"p"}"#, "params: missing field `argument`"),
        (r#""ref":{"name":"p"},"argument":{"name":"a","value":""}"#, "params: ref: missing field `type`"),
        (
            r#""ref":{"type":"ref/prompt"},"argument":{"name":"a","value":""}"#,
            "params: ref: missing field `name`",
        ),
        (
            r#""ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"a"}"#,
            "params: argument: missing field `value`",
        ),
        (
            r#""ref":{"type":"ref/tool","name":"p"},"argument":{"name":"a","value":""}"#,
            "params.ref.type is neither ref/prompt nor ref/resource",
        ),
        (
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},"context":{"arguments":{"b":1}}"#,
            "params: context: arguments: b: invalid type: integer `1`, expected a string",
        ),
    ] {
        assert_eq!(needs("completion/complete", params), (Status::BadRequest, said.to_owned()));
    }
    // A peer's text is not repeated without end.
    let long = format!(r#""name":"p","arguments":{{"{}":1}}"#, "x".repeat(10_000));
    assert!(needs("prompts/get", &long).1.len() < 300);
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        assert_eq!(needs(method, r#""cursor":5"#).0, Status::BadRequest);
    }
}

#[test]
fn what_another_method_knows_may_be_anything() {
    for (method, params) in [
        ("tools/call", r#""name":"t","uri":5,"cursor":[]"#),
        ("prompts/get", r#""name":"p","uri":5,"message":{}"#),
        ("resources/read", r#""uri":"u","name":5,"arguments":[],"cursor":7"#),
        ("resources/list", r#""uri":5,"name":[],"requestId":true"#),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},"name":5,"uri":[]"#,
        ),
    ] {
        assert_eq!(server().asked(request("1", method, params)).1.method().name(), method);
    }
}

#[test]
fn what_reaches_the_application() {
    let mut server = server();
    let (_, asked) =
        server.asked(request("1", "prompts/get", r#""name":"p","arguments":{"b":"1","a":"\n"}"#));
    assert_eq!(asked.name(), Some("p"));
    let arguments: Vec<(String, String)> = asked.prompt_arguments().into_iter().collect();
    assert_eq!(arguments, [("b".to_owned(), "1".to_owned()), ("a".to_owned(), "\n".to_owned())]);
    let (_, asked) = server.asked(request("2", "prompts/get", r#""name":"p""#));
    assert!(asked.prompt_arguments().is_empty());
    let read = r#""uri":"file:\/\/\/\u00e9","inputResponses":{"k":{}},"requestState":"s""#;
    let (_, asked) = server.asked(request("3", "resources/read", read));
    assert_eq!((asked.uri(), asked.name()), (Some("file:///é"), None));
    assert_eq!((asked.input_responses(), asked.request_state()), (Some(r#"{"k":{}}"#), Some("s")));
    let (_, asked) = server.asked(request("4", "resources/list", r#""cursor":"c""#));
    assert_eq!((asked.cursor(), asked.uri()), (Some("c"), None));
    let (_, asked) = server.asked(request(
        "5",
        "completion/complete",
        r#""ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}}"#,
    ));
    let completion = asked.completion().unwrap();
    assert_eq!(completion.reference, ResourceTemplateReference::new("u").into());
    assert_eq!((completion.argument.name.as_str(), completion.argument.value.as_str()), ("a", "v"));
    assert_eq!(completion.known("b"), Some("c"));
    let (_, asked) = server.asked(request("6", "tools/list", ""));
    assert!(asked.completion().is_err());
}

#[test]
fn a_log_level_that_does_not_exist_is_refused() {
    let line = |method: &str, level: &str| {
        let meta = META
            .replace("\"_meta\":{", &format!("\"_meta\":{{\"io.modelcontextprotocol/logLevel\":{level},"));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"t",{meta}}}}}}}"#)
    };
    for level in ["\"loud\"", "\"Info\"", "5", "null", "{}", "\"\""] {
        for method in ["tools/call", "tools/list", "server/discover"] {
            let (status, said) = refused(&line(method, level));
            assert_eq!(status, Status::BadRequest, "{method} {level}");
            assert!(said.contains("logLevel"), "{said}");
        }
    }
    assert_eq!(server().asked(line("tools/call", "\"warning\"")).1.log_level(), Some(LoggingLevel::Warning));
    assert_eq!(
        server().asked(line("tools/call", "\"d\\u0065bug\"")).1.log_level(),
        Some(LoggingLevel::Debug)
    );
    assert_eq!(server().asked(request("1", "tools/call", r#""name":"t""#)).1.log_level(), None);
}

/// The result that a server answers with.
fn answered(method: &str, params: &str, result: &dyn ResultBody) -> Value {
    let mut server = server();
    let (serving, _) = server.asked(request("1", method, params));
    server.respond(serving, result).unwrap().unwrap();
    server.heard().remove(0)["result"].take()
}

#[test]
fn results_go_out_whole() {
    let info = || json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
    let list = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": info()});
    let listed = |member: &str| {
        let mut list = list.clone();
        list[member] = json!([]);
        list
    };
    assert_eq!(answered("prompts/list", "", &ListPromptsResult::default()), listed("prompts"));
    assert_eq!(answered("resources/list", "", &ListResourcesResult::default()), listed("resources"));
    assert_eq!(
        answered("resources/templates/list", "", &ListResourceTemplatesResult::default()),
        listed("resourceTemplates")
    );
    assert_eq!(
        answered("resources/read", r#""uri":"u""#, &ReadResourceResult::default()),
        listed("contents")
    );
    assert_eq!(
        answered("prompts/get", r#""name":"p""#, &GetPromptResult::text("a")),
        json!({
            "resultType": "complete",
            "messages": [{"role": "user", "content": {"type": "text", "text": "a"}}],
            "_meta": info(),
        })
    );
    let complete = r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}"#;
    assert_eq!(
        answered("completion/complete", complete, &CompleteResult::new(["x"])),
        json!({"resultType": "complete", "completion": {"values": ["x"]}, "_meta": info()})
    );
    let end = SubscriptionsListenResult::default().with_subscription_id(&RequestId::Int(1));
    let meta = &answered("tools/list", "", &end)["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], json!(1));
    assert_eq!(meta["io.modelcontextprotocol/serverInfo"], json!({"name": "s", "version": "1"}));
    // More than a hundred are not sent, whoever put them there.
    let mut many = CompleteResult::default();
    many.completion.values = vec![String::new(); 101];
    assert!(ResultBody::write_members(&many, &mut Vec::new()).is_err());
}

#[test]
fn calls_go_out_as_the_pages_show_them() {
    let completion = CompleteParams::new(PromptReference::new("p"), "a", "v")
        .with_known([("b", "c".to_owned())].into_iter().collect())
        .with_meta(RawJson::from_text(r#"{"k":1}"#).unwrap());
    let table = [
        (CallSpec::list_prompts(None), "prompts/list", json!({})),
        (CallSpec::list_prompts(Some("c\"")), "prompts/list", json!({"cursor": "c\""})),
        (CallSpec::list_resources(Some("c")), "resources/list", json!({"cursor": "c"})),
        (CallSpec::list_resource_templates(None), "resources/templates/list", json!({})),
        (CallSpec::read_resource("file:///a b\""), "resources/read", json!({"uri": "file:///a b\""})),
        (
            CallSpec::prompt("p", &json!({"b": "1"})).unwrap(),
            "prompts/get",
            json!({"name": "p", "arguments": {"b": "1"}}),
        ),
        (
            CallSpec::complete(&completion),
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "p"},
                "argument": {"name": "a", "value": "v"},
                "context": {"arguments": {"b": "c"}},
            }),
        ),
    ];
    let mut server = server();
    for (n, (spec, method, params)) in table.into_iter().enumerate() {
        let mut client = client();
        client.call(START, spec.log_level(LoggingLevel::Notice)).unwrap();
        let mut sent = client.sends().remove(0);
        assert_eq!(sent["method"], method);
        // A server takes it, and knows which log messages are wanted.
        sent["id"] = json!(n);
        assert_eq!(server.asked(sent.to_string()).1.log_level(), Some(LoggingLevel::Notice));
        let mut without = sent["params"].take();
        assert_eq!(without["_meta"]["io.modelcontextprotocol/logLevel"], "notice");
        without.as_object_mut().unwrap().remove("_meta");
        assert_eq!(without, params, "{method}");
    }
}

#[test]
fn a_call_says_what_it_is_addressed_to() {
    let mut client = client();
    let mut target = |spec| {
        let call = client.call(START, spec).unwrap();
        client.target(call).map(str::to_owned)
    };
    assert_eq!(target(CallSpec::read_resource("u\u{e9}\"")).as_deref(), Some("u\u{e9}\""));
    assert_eq!(target(CallSpec::read_resource("file:///a")).as_deref(), Some("file:///a"));
    assert_eq!(target(CallSpec::prompt("p", &json!({})).unwrap()).as_deref(), Some("p"));
    assert_eq!(target(CallSpec::list_prompts(None)), None);
}

#[test]
fn arguments_of_a_prompt_are_texts() {
    let refusal = |arguments: Value| CallSpec::prompt("p", &arguments).unwrap_err();
    assert_eq!(refusal(json!({"a": 1})), Refused::NotTexts);
    assert_eq!(refusal(json!({"a": null})), Refused::NotTexts);
    assert_eq!(refusal(json!([])), Refused::NotAnObject("arguments"));
    let twice = CallSpec::list_prompts(None).meta(&json!({"io.modelcontextprotocol/logLevel": "info"}));
    assert!(matches!(twice, Err(Refused::Reserved(_))));
}

#[test]
fn a_question_is_read_and_answered_typed() {
    let mut client = client();
    let call = client.calls(CallSpec::read_resource("u"));
    let form = Form::new("Sure?").build().unwrap();
    client.hears(&json!({"id": 1, "result": {
        "resultType": "input_required",
        "inputRequests": {"sure": InputRequest::form(&form), "roots": InputRequest::list_roots()},
    }}));
    let Some(ClientEvent::InputRequired { questions, .. }) = client.poll_event() else { panic!() };
    let asked: Vec<InputRequest> = questions.iter().map(|question| question.read().unwrap()).collect();
    assert!(asked.iter().any(|request| request.typed() == Ok(InputParams::Form(form.clone()))));
    let sure = RawJson::from(ElicitResult::accept(RawMembers::new()));
    let roots = RawJson::from(InputResponse::from(ListRootsResult::default()));
    client
        .answer(START, call, &[InputAnswer::new("sure", &sure), InputAnswer::new("roots", &roots)])
        .unwrap();
    let sent = client.sends().remove(0);
    assert_eq!(
        sent["params"]["inputResponses"],
        json!({"sure": {"action": "accept", "content": {}}, "roots": {"roots": []}})
    );
    // What was sent is what the questions take.
    let requests = [("sure", &asked), ("roots", &asked)];
    for (key, asked) in requests {
        let answer = RawJson::from_text(sent["params"]["inputResponses"][key].to_string()).unwrap();
        assert_eq!(asked.iter().filter(|request| request.accept(&answer).is_ok()).count(), 1, "{key}");
    }
}

#[test]
fn a_result_of_each_method_is_read_typed() {
    let mut client = client();
    client.calls(CallSpec::read_resource("u"));
    client.hears(&json!({"id": 1, "result": {"contents": [{"uri": "u", "blob": "AQI="}], "ttlMs": 5}}));
    let Some(ClientEvent::Finished { outcome: Outcome::Complete(answer), .. }) = client.poll_event() else {
        panic!()
    };
    let result: ReadResourceResult = answer.result().unwrap();
    assert_eq!((result.ttl_ms, result.contents.len()), (5, 1));
    assert!(client.poll_transmit(StreamId::SHARED, &mut Vec::new()).is_none());
}
