//! Questions of a round and their answers (basic/patterns/mrtr, client/elicitation, client/sampling, client/roots).
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, raw, read, refusal, same, written};
use sansio_mcp::model::{
    ClientCapabilities, ContentBlock, CreateMessageParams, CreateMessageResult, ElicitResult, Form,
    IncludeContext, InputParams, InputRequest, InputRequests, InputResponse, InputSchema, ListRootsResult,
    ModelHint, ModelPreferences, NumberSchema, RawMembers, Role, Root, SamplingBlock, SamplingContent,
    SamplingMessage, Tool, ToolChoiceMode, ToolResultContent, ToolUseContent,
};

fn form() -> InputRequest {
    let form = Form::new("How many?").required("n", NumberSchema::integer().with_minimum(1));
    InputRequest::form(&form.build().unwrap())
}

fn tool() -> Tool {
    Tool::new("t", InputSchema::new(raw(r#"{"type":"object"}"#)).unwrap())
}

#[test]
fn questions_are_made_as_the_pages_show_them() {
    let form = form();
    assert_eq!(
        json(&form),
        r#"{"method":"elicitation/create","params":{"mode":"form","message":"How many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}}}"#
    );
    let url = InputRequest::url("Sign in", "https://example.org/a");
    assert_eq!(
        json(&url),
        r#"{"method":"elicitation/create","params":{"mode":"url","message":"Sign in","url":"https://example.org/a"}}"#
    );
    assert_eq!(json(&InputRequest::list_roots()), r#"{"method":"roots/list"}"#);
    let params = CreateMessageParams::ask("Hi", 100)
        .with_model_preferences(
            ModelPreferences::default().with_hints(vec![ModelHint::new("large")]).with_cost_priority(0.5),
        )
        .with_system_prompt("Be brief")
        .with_include_context(IncludeContext::None)
        .with_temperature(1.0)
        .with_stop_sequences(vec!["END".to_owned()])
        .with_metadata(raw(r#"{"k":1.0}"#))
        .with_tools(vec![tool()])
        .with_tool_choice(ToolChoiceMode::Required);
    let message = InputRequest::create_message(&params);
    assert_eq!(
        json(&message),
        r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"modelPreferences":{"hints":[{"name":"large"}],"costPriority":0.5},"systemPrompt":"Be brief","includeContext":"none","temperature":1,"maxTokens":100,"stopSequences":["END"],"metadata":{"k":1.0},"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}}"#
    );
    assert_eq!(written(|out| params.write(out)), json(&params));
    for request in [&form, &url, &message, &InputRequest::list_roots()] {
        request.validate().unwrap();
    }
    assert!(matches!(form.typed(), Ok(InputParams::Form(_))));
    assert!(matches!(url.typed(), Ok(InputParams::Url(_))));
    assert!(matches!(message.typed(), Ok(InputParams::CreateMessage(read)) if *read == params));
    assert!(matches!(InputRequest::list_roots().typed(), Ok(InputParams::ListRoots(_))));
}

#[test]
fn questions_of_peers_are_read_and_come_back_verbatim() {
    // No mode is a form.
    let text = r#"{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{ }},"message":"m","x":1.0},"id":"a"}"#;
    same::<InputRequest>(text);
    assert!(matches!(read::<InputRequest>(text).typed(), Ok(InputParams::Form(_))));
    let problem = |text: &str| read::<InputRequest>(text).validate().unwrap_err().to_string();
    for (text, said) in [
        (r#"{"method":"tools/call","params":{"name":"t"}}"#, "method: tools/call does not ask for input"),
        (r#"{"method":"elicitation/create"}"#, "params: missing field `message`"),
        (
            r#"{"method":"elicitation/create","params":{"message":"m"}}"#,
            "params: missing field `requestedSchema`",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"voice","message":"m"}}"#,
            "params: mode: \"voice\" is",
        ),
        (r#"{"method":"elicitation/create","params":{"mode":1}}"#, "params: "),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m"}}"#,
            "params: missing field `url`",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"x"}}"#,
            "params: url: ",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"file:///x"}}"#,
            "params: url: ",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://?q=x"}}"#,
            "params: url: ",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://u@:443/x"}}"#,
            "params: url: ",
        ),
        (
            r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"properties":{"":{"type":"boolean"}}}}}"#,
            "params: requestedSchema: ``: the field's name is empty",
        ),
        (
            r#"{"method":"sampling/createMessage","params":{"messages":[]}}"#,
            "params: missing field `maxTokens`",
        ),
        (
            r#"{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":"hi"}]}}"#,
            "params: messages: content: ",
        ),
        (
            r#"{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"toolChoice":{"mode":"any"}}}"#,
            "params: toolChoice: mode: ",
        ),
    ] {
        let said_so = problem(text);
        assert!(said_so.starts_with(said), "{text}: {said_so}");
    }
}

#[test]
fn what_is_said_may_be_one_block_or_several() {
    same::<SamplingMessage>(r#"{"role":"user","content":{"type":"text","text":"a","x":1.0}}"#);
    same::<SamplingMessage>(r#"{"role":"user","content":[{"type":"text","text":"a"}],"_meta":{"k":1.0}}"#);
    same::<SamplingMessage>(r#"{"role":"assistant","content":[]}"#);
    same::<SamplingMessage>(r#"{"role":"assistant","content":{"type":"thinking","n":1.0e2}}"#);
    let one: SamplingMessage = read(r#"{"role":"assistant","content":{"text":"a","type":"text"}}"#);
    assert_eq!((one.content.blocks().len(), one.content.first_text()), (1, Some("a")));
    assert_eq!(one, SamplingMessage::assistant("a"));
    let error =
        refusal::<SamplingMessage>(r#"{"role":"user","content":[{"type":"tool_use","id":"1","name":"t"}]}"#);
    assert!(error.contains("missing field `input`"), "{error}");
    assert!(refusal::<SamplingMessage>(r#"{"role":"user","content":"a"}"#).starts_with("content: "));
    let blocks: Vec<SamplingBlock> = vec![
        "a".into(),
        ToolUseContent::new("1", "t", RawMembers::new()).into(),
        ToolResultContent::new("1", vec![ContentBlock::text("r")]).with_is_error(true).into(),
    ];
    let message = SamplingMessage::new(Role::User, blocks);
    assert_eq!(written(|out| message.write(out)), json(&message));
    assert_eq!(read::<SamplingMessage>(&json(&message)), message);
}

#[test]
fn conversations_with_tools_are_balanced() {
    let uses = |ids: &[&str]| {
        let blocks = ids.iter().map(|id| ToolUseContent::new(*id, "t", RawMembers::new()).into());
        SamplingMessage::assistant(blocks.collect::<Vec<SamplingBlock>>())
    };
    let results = |role, ids: &[&str], text: Option<&str>| {
        let blocks = ids.iter().map(|id| ToolResultContent::new(*id, Vec::new()).into());
        SamplingMessage::new(role, blocks.chain(text.map(Into::into)).collect::<Vec<SamplingBlock>>())
    };
    let user = |ids: &[&str]| results(Role::User, ids, None);
    let hi = || SamplingMessage::user("hi");
    let check = |messages: Vec<SamplingMessage>| {
        CreateMessageParams::new(messages, 1).check().err().map(|error| error.to_string())
    };
    assert_eq!(
        check(vec![hi(), uses(&["a", "b"]), user(&["b", "a"]), SamplingMessage::assistant("x")]),
        None
    );
    assert_eq!(check(vec![uses(&["a"]), user(&["a"]), uses(&["a"]), user(&["a"])]), None);
    let mixed = "messages[1]: results of tools must stand alone in a message of the user";
    assert_eq!(check(vec![uses(&["a"]), results(Role::User, &["a"], Some("x"))]).as_deref(), Some(mixed));
    assert_eq!(check(vec![uses(&["a"]), results(Role::Assistant, &["a"], None)]).as_deref(), Some(mixed));
    for (messages, at) in [
        (vec![uses(&["a", "b"]), user(&["a"])], 1),
        (vec![uses(&["a"]), user(&["b"])], 1),
        (vec![uses(&["a"]), user(&["a", "a"])], 1),
        (vec![uses(&["a"]), hi(), user(&["a"])], 1),
        (vec![hi(), user(&["a"])], 1),
        (vec![uses(&["a"])], 1),
    ] {
        assert!(check(messages).unwrap().starts_with(&format!("messages[{at}]: every use")));
    }
}

#[test]
fn an_answer_counts_for_its_own_question() {
    let accept = |request: &InputRequest, answer: &str| request.accept(&raw(answer));
    let said = |request: &InputRequest, answer: &str| accept(request, answer).unwrap_err().to_string();
    let content = |answer: &str| match accept(&form(), answer) {
        Ok(InputResponse::Elicit(result)) => result.content.map(|content| json(&content)),
        other => panic!("{other:?}"),
    };
    assert_eq!(content(r#"{"action":"accept","content":{"n":2.0,"x":1}}"#).as_deref(), Some(r#"{"n":2}"#));
    assert_eq!(content(r#"{"action":"decline","content":{"n":"junk"}}"#), None);
    assert_eq!(content(r#"{"action":"cancel"}"#), None);
    assert_eq!(said(&form(), r#"{"action":"accept","content":{"n":0}}"#), "content: `n` is less than 1");
    assert_eq!(said(&form(), r#"{"action":"accept"}"#), "content: `n` is missing");
    assert_eq!(said(&form(), r#"{"action":"accept","content":null}"#), "content: `n` is missing");
    for (answer, why) in [
        ("5", "invalid type"),
        ("null", "invalid type"),
        ("[]", "invalid type"),
        (r#"{"content":{"n":1}}"#, "missing field `action`"),
        (r#"{"action":"Accept","content":{"n":1}}"#, "action: "),
        (r#"{"action":"accept","content":[1]}"#, "content: "),
        (r#"{"action":"accept","content":{"n":1,"n":2}}"#, "content: duplicate field `n`"),
    ] {
        let error = said(&form(), answer);
        assert!(error.starts_with(why), "{answer}: {error}");
    }
    let url = InputRequest::url("m", "https://example.org");
    assert_eq!(
        accept(&url, r#"{"action":"accept","content":{"k":"secret"}}"#),
        Ok(InputResponse::Elicit(ElicitResult::visit()))
    );
    let model = InputRequest::create_message(&CreateMessageParams::ask("a", 1));
    let answer = CreateMessageResult::new("m", "b").with_stop_reason("endTurn");
    assert_eq!(accept(&model, &json(&answer)), Ok(InputResponse::CreateMessage(Box::new(answer.clone()))));
    assert_eq!(json(&answer.into_message()), r#"{"role":"assistant","content":{"type":"text","text":"b"}}"#);
    assert!(said(&model, r#"{"action":"accept"}"#).contains("missing field"));
    let roots = InputRequest::list_roots();
    let answer = ListRootsResult::new(vec![Root::new("file:///a").with_name("A")]);
    assert_eq!(accept(&roots, &json(&answer)), Ok(InputResponse::ListRoots(answer)));
    assert_eq!(said(&roots, r#"{"roots":[{"uri":"http://a"}]}"#), "roots: http://a is not a file:// URI");
    assert!(said(&InputRequest::new("x"), "{}").contains("does not ask for input"));
}

#[test]
fn capabilities_are_those_of_the_whole_round() {
    let ask = |params: CreateMessageParams| InputRequest::create_message(&params);
    let plain = || CreateMessageParams::ask("a", 1);
    let url = || InputRequest::url("m", "https://example.org");
    let missing = |requests: Vec<InputRequest>, declared: &str| {
        let requests: InputRequests =
            requests.into_iter().enumerate().map(|(n, request)| (n.to_string(), request)).collect();
        let declared: ClientCapabilities = read(declared);
        requests.missing_capabilities(&declared).unwrap().map_or("none".to_owned(), |missing| json(&missing))
    };
    for (requests, declared, lacking) in [
        (vec![form()], r#"{"elicitation":{}}"#, "none"),
        (vec![form()], r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"form":{}}}"#),
        (vec![form()], "{}", r#"{"elicitation":{"form":{}}}"#),
        (vec![url()], r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#),
        (vec![url()], r#"{"elicitation":{"url":{}}}"#, "none"),
        (vec![form(), url()], r#"{"elicitation":{"form":{}}}"#, r#"{"elicitation":{"url":{}}}"#),
        (vec![form(), url()], "{}", r#"{"elicitation":{"form":{},"url":{}}}"#),
        (vec![ask(plain())], r#"{"sampling":{}}"#, "none"),
        (vec![ask(plain())], "{}", r#"{"sampling":{}}"#),
        (vec![ask(plain().with_tools(vec![]))], r#"{"sampling":{}}"#, r#"{"sampling":{"tools":{}}}"#),
        (
            vec![ask(plain().with_tool_choice(ToolChoiceMode::None))],
            r#"{"sampling":{"context":{}}}"#,
            r#"{"sampling":{"tools":{}}}"#,
        ),
        (vec![ask(plain().with_tools(vec![tool()]))], r#"{"sampling":{"tools":{}}}"#, "none"),
        (vec![ask(plain().with_include_context(IncludeContext::None))], r#"{"sampling":{}}"#, "none"),
        (
            vec![ask(plain().with_include_context(IncludeContext::AllServers))],
            r#"{"sampling":{}}"#,
            r#"{"sampling":{"context":{}}}"#,
        ),
        (vec![InputRequest::list_roots()], r#"{"elicitation":{}}"#, r#"{"roots":{}}"#),
        (
            vec![form(), InputRequest::list_roots(), ask(plain())],
            r#"{"roots":{}}"#,
            r#"{"sampling":{},"elicitation":{"form":{}}}"#,
        ),
        (vec![], "{}", "none"),
    ] {
        let shown: Vec<String> = requests.iter().map(json).collect();
        assert_eq!(missing(requests, declared), lacking, "{shown:?} {declared}");
    }
    let odd: InputRequests = [("a", form()), ("b", InputRequest::new("ping"))].into_iter().collect();
    assert_eq!(odd.required_capabilities().unwrap_err().0, "b");
}

#[test]
fn a_single_text_is_a_single_block() {
    assert_eq!(json(&SamplingContent::from("a")), r#"{"type":"text","text":"a"}"#);
}
