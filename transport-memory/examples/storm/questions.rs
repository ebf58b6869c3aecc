//! Questions of the storm, and a person who answers them as their text decides: at once, later, not at all.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp_sdk::client::{ClientBuilder, InputFailure};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::model::ElicitResult;
use sansio_mcp_sdk::server::{Asked, Context, Exit, Form, StringSchema};
use sansio_mcp_sdk::{Local, model::RawMembers};
use serde_json::json;

/// How long a person takes at most.
const PATIENCE: Duration = Duration::from_mins(1);

/// What becomes of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Yes,
    YesAfter(Duration),
    No,
    GoesAway,
    Fails,
    Nothing,
}

/// Decided by whose it is and which.
fn says(n: u64, nth: u8) -> Says {
    match n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(u32::from(nth) * 7) % 24 {
        0..=1 => Says::No,
        2 => Says::GoesAway,
        3..=5 => Says::YesAfter(Duration::from_secs(2)),
        6 if n.is_multiple_of(3) => Says::Fails,
        7 if n.is_multiple_of(3) => Says::Nothing,
        _ => Says::Yes,
    }
}

fn form(n: u64, nth: u8) -> Form {
    Form::new(format!("{n} {nth}")).required("text", StringSchema::new())
}

/// The handler: the first two questions in one round, the others one after another. Tells what was said.
pub(super) fn ask(cx: &Context<(), Local>, n: u64, asks: u8) -> Result<String, Exit> {
    let mut said = String::new();
    let mut hear = |nth: u8, asked: Asked<RawMembers>| {
        said.push(match asked {
            Asked::Accepted(members) => {
                // The answer to this question, not to another.
                let text = members.get("text").and_then(|text| text.parse::<String>().ok());
                assert_eq!(text, Some(format!("{n} {nth}")));
                'y'
            }
            Asked::Declined => 'n',
            Asked::Cancelled => '-',
        });
    };
    let together = if asks < 2 { 0 } else { 2 };
    if together > 0 {
        let (first, second) = cx.ask_all((("q0", form(n, 0)), ("q1", form(n, 1))))?;
        hear(0, first);
        hear(1, second);
    }
    for nth in together..asks {
        hear(nth, cx.ask(&format!("q{nth}"), form(n, nth))?);
    }
    Ok(format!("{n} {said}"))
}

/// What a call may end with: its text if it ends well, or the codes of a question that was not answered.
pub(super) fn expected(n: u64, asks: u8) -> Result<String, &'static [&'static str]> {
    let mut said = String::new();
    for nth in 0..asks {
        said.push(match says(n, nth) {
            Says::Yes | Says::YesAfter(_) => 'y',
            Says::No => 'n',
            Says::GoesAway => '-',
            // The first two are asked at once: both may come to nothing.
            Says::Fails | Says::Nothing => return Err(&["INPUT_FAILED", "INPUT_TIMED_OUT", "PEER_ERROR"]),
        });
    }
    // The first two are one round; the ninth round is refused.
    if asks > 9 { Err(&["PEER_ERROR"]) } else { Ok(format!("{n} {said}")) }
}

/// A client with such a person.
pub(super) fn person(client: ClientBuilder, clock: Arc<dyn Clock>) -> ClientBuilder {
    client.answer_within(PATIENCE).on_form(move |form| {
        let clock = Arc::clone(&clock);
        async move {
            let message = form.params.message.clone();
            let numbers =
                message.split_once(' ').and_then(|(n, nth)| Some((n.parse().ok()?, nth.parse().ok()?)));
            let (n, nth) = numbers.ok_or_else(|| InputFailure::new("not a question of the storm"))?;
            let yes = || form.accept(&json!({ "text": message }));
            match says(n, nth) {
                Says::Yes => yes(),
                Says::YesAfter(time) => {
                    clock.sleep(time).await;
                    yes()
                }
                Says::No => Ok(ElicitResult::decline()),
                Says::GoesAway => Ok(ElicitResult::cancel()),
                Says::Fails => Err(InputFailure::new("no screen")),
                Says::Nothing => pending().await,
            }
        }
    })
}
