//! Requests that need input: basic/patterns/mrtr, client/elicitation, client/roots.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::client::{ClientBuilder, Question};
use sansio_mcp_sdk::model::{ElicitAction, ElicitFormParams, ElicitResult, Root};
use sansio_mcp_sdk::server::{
    Asked, BooleanSchema, Builder, Context, ElicitUrlParams, EnumSchema, Exit, Form, InputRequired,
    ListRootsParams, NoArguments, NumberSchema, RawArguments, ResourceSpec, StringFormat, StringSchema,
    Typed,
};
use serde::Deserialize;
use serde_json::json;

use crate::flows;
use crate::stage::{Person, Stage, client, server};

flows! {
    multi_round_trip: ["> prompts/get" "< input_required" "> prompts/get" "< result"];
    more_input: ["> resources/read" "< input_required" "> resources/read" "< result"];
    more_input_with_state: [
        "> tools/call" "< input_required" "> tools/call" "< input_required" "> tools/call" "< result"
    ];
    form: [
        "> tools/call" "< input_required" "> tools/call" "< result"
        "> tools/call" "< input_required" "> tools/call" "< result"
    ];
    url: ["> tools/call" "< input_required" "> tools/call" "< result"];
    url_for_a_third_party: [
        "> tools/call" "< input_required" "> tools/call" "< input_required" "> tools/call" "< result"
    ];
    roots: ["> tools/call" "< input_required" "> tools/call" "< result"];
}

/// A person who fills in forms as `with` says.
fn filling(
    person: &Person,
    with: impl Fn(&Question<ElicitFormParams>) -> Option<serde_json::Value> + Send + Sync + 'static,
) -> ClientBuilder {
    let person = person.clone();
    client().on_form(move |form| {
        let person = person.clone();
        let filled = with(&form);
        async move {
            let Some(filled) = filled else {
                person.does(Duration::from_secs(3), "would rather not").await;
                return Ok(ElicitResult::decline());
            };
            person.does(Duration::from_secs(20), "fills in the form").await;
            form.accept(&filled)
        }
    })
}

fn name() -> Form {
    Form::new("Who is it for?").required("name", StringSchema::new().with_max_length(40))
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Any request that may be answered with a question: a prompt here, a resource and tools below.
async fn multi_round_trip(stage: Stage) {
    let server = server().prompt("greeting", async |_: NoArguments, cx: Context<(), Local>| {
        let asked: Asked<Name> = cx.ask("who", name().of())?;
        Ok(asked.accepted().map_or("Greet nobody.".to_owned(), |who| format!("Greet {}.", who.name)))
    });
    let person = stage.person("person");
    let client = stage.connect(server, filling(&person, |_| Some(json!({"name": "Ms Aas"}))));
    let greeting = client.get_prompt("greeting", &json!({})).await.unwrap();
    assert_eq!(greeting.messages.len(), 1);
}

async fn more_input(stage: Stage) {
    let diary = ResourceSpec::new("log://bridge", "log of the bridge").mime_type("text/plain");
    let server = server().resource(diary, async |cx: Context<(), Local>| {
        let asked: Asked<Name> =
            cx.ask("who", Form::new("Who reads it?").required("name", StringSchema::new()).of())?;
        Ok(format!("for {}: all quiet", asked.accepted().map_or_else(|| "?".to_owned(), |who| who.name)))
    });
    let person = stage.person("person");
    let client = stage.connect(server, filling(&person, |_| Some(json!({"name": "the mate"}))));
    let read = client.read_resource("log://bridge").await.unwrap();
    assert_eq!(read.contents.len(), 1);
}

#[derive(Deserialize)]
struct Seats {
    seats: u8,
}

/// Two rounds, the second with an answer of the first within its state; what was kept comes back with it.
async fn more_input_with_state(stage: Stage) {
    let server = server().tool("book", async |_: RawArguments, cx: Context<(), Local>| {
        let hold = cx.kept().unwrap_or(7001_u32);
        cx.keep(&hold)?;
        let who: Asked<Name> = cx.ask("who", name().of())?;
        let seats = Form::new("How many seats?").required("seats", NumberSchema::integer());
        let seats: Asked<Seats> = cx.ask("seats", seats.of())?;
        let (Some(who), Some(seats)) = (who.accepted(), seats.accepted()) else {
            return Ok("not booked".to_owned());
        };
        Ok(format!("hold {hold}: {} seats for {}", seats.seats, who.name))
    });
    let person = stage.person("person");
    let client = filling(&person, |form| {
        Some(if &*form.key == "who" { json!({"name": "Ms Aas"}) } else { json!({"seats": 4}) })
    });
    let client = stage.connect(server, client);
    let booked = client.call_tool("book", &json!({"from": "Nesvik", "to": "Sand"})).await.unwrap();
    assert_eq!(booked.first_text(), Some("hold 7001: 4 seats for Ms Aas"));
}

/// One form filled in, its default added; one that is declined, which is an answer too.
async fn form(stage: Stage) {
    let server = server().tool("subscribe", async |_: NoArguments, cx: Context<(), Local>| {
        let form = Form::new("Where may we write to?")
            .required("email", StringSchema::of(StringFormat::Email))
            .required("language", EnumSchema::new(["nb", "en"]).with_default("nb"))
            .optional("storms", BooleanSchema::new().with_title("Warn me of storms").with_default(true));
        Ok(match cx.ask("address", form)? {
            Asked::Accepted(filled) => format!("{} fields", filled.len()),
            Asked::Declined => "declined".to_owned(),
            Asked::Cancelled => "cancelled".to_owned(),
        })
    });
    let person = stage.person("person");
    let first = std::sync::atomic::AtomicBool::new(true);
    let client = filling(&person, move |_| {
        let first = first.swap(false, std::sync::atomic::Ordering::Relaxed);
        first.then(|| json!({"email": "aas@example.com", "language": "en"}))
    });
    let client = stage.connect(server, client);
    let filled = client.call_tool("subscribe", &json!({})).await.unwrap();
    assert_eq!(filled.first_text(), Some("3 fields"));
    let declined = client.call_tool("subscribe", &json!({})).await.unwrap();
    assert_eq!(declined.first_text(), Some("declined"));
}

/// A client whose person agrees to visit.
fn visiting(stage: &Stage) -> ClientBuilder {
    let person = stage.person("person");
    client().on_url(move |_| {
        let person = person.clone();
        async move {
            person.does(Duration::from_secs(6), "agrees, and the browser opens the page").await;
            Ok(ElicitAction::Accept)
        }
    })
}

/// Something that happens in the browser, at a time.
fn done_in_browser(stage: &Stage, at: Duration, what: &'static str) -> Rc<Cell<bool>> {
    let done = Rc::new(Cell::new(false));
    let (by_browser, stage) = (Rc::clone(&done), stage.clone());
    let lab = stage.lab().clone();
    lab.spawn(async move {
        stage.lab().sleep(at).await;
        stage.note("browser", what);
        by_browser.set(true);
    });
    done
}

/// Waits so long at most.
async fn wait(cx: &Context<(), Local>, done: &Cell<bool>, seconds: u32) -> bool {
    for _ in 0..seconds {
        if done.get() {
            return true;
        }
        cx.sleep(Duration::from_secs(1)).await;
    }
    done.get()
}

/// The person agrees at once and pays a while later; the handler waits for that.
async fn url(stage: Stage) {
    let paid = done_in_browser(&stage, Duration::from_millis(29_500), "reports that it is paid");
    let server = server().tool("pay", move |_: NoArguments, cx: Context<(), Local>| {
        let paid = Rc::clone(&paid);
        async move {
            let visit = ElicitUrlParams::new("Pay for your crossing.", "https://pay.example/ferry/7001");
            if !matches!(cx.ask("pay", visit)?, Asked::Accepted(())) {
                return Ok("not paid");
            }
            Ok(if wait(&cx, &paid, 60).await { "paid" } else { "still not paid" })
        }
    });
    let client = visiting(&stage);
    let client = stage.connect(server, client);
    assert_eq!(client.call_tool("pay", &json!({})).await.unwrap().first_text(), Some("paid"));
}

/// The same for an account elsewhere, which takes longer than the handler likes to be waited for: it asks the client to come
/// again, by state alone. What goes on between browser, server and third party is no part of the protocol.
async fn url_for_a_third_party(stage: Stage) {
    let linked = done_in_browser(
        &stage,
        Duration::from_millis(26_700),
        "has linked the account, the server has its tokens",
    );
    let server: Builder<Local> = server().tool("calendar", move |_: NoArguments, cx: Context<(), Local>| {
        let linked = Rc::clone(&linked);
        async move {
            let visit = ElicitUrlParams::new("Link your calendar.", "https://ferries.example/link/calendar");
            if !matches!(cx.ask("link", visit)?, Asked::Accepted(())) {
                return Ok("not linked");
            }
            if !wait(&cx, &linked, 20).await {
                return Err(Exit::input_required(InputRequired::new()));
            }
            Ok("entered in the calendar")
        }
    });
    let client = visiting(&stage);
    let client = stage.connect(server, client);
    let entered = client.call_tool("calendar", &json!({})).await.unwrap();
    assert_eq!(entered.first_text(), Some("entered in the calendar"));
}

async fn roots(stage: Stage) {
    let server = server().tool("backup", async |_: NoArguments, cx: Context<(), Local>| {
        let roots = cx.ask("folders", ListRootsParams::default())?;
        Ok(format!("{} folders", roots.len()))
    });
    let client = client().on_roots(async |_| {
        Ok(vec![Root::new("file:///home/aas/timetables"), Root::new("file:///srv/maps")])
    });
    let client = stage.connect(server, client);
    assert_eq!(client.call_tool("backup", &json!({})).await.unwrap().first_text(), Some("2 folders"));
}
