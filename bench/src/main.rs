//! `sansio-mcp-bench <memory|rounds|listens|core|stdio|http|http-listens|http-disconnect|http-client|all> [--rounds N] [--seconds S]`:
//! prints tables; fails if an answer was wrong.

use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sansio_mcp_bench::harness::{CountingAllocator, Load, Plan, Side, Wrong, measure, table};
use sansio_mcp_bench::http::load::Form;
use sansio_mcp_bench::listens::{self, Listens};
use sansio_mcp_bench::load::{PROGRESS_STEPS, Text};
use sansio_mcp_bench::ours_memory::OursMemory;
use sansio_mcp_bench::{core_sides, http, memory_sides, stdio_load};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A table that takes longer hangs: an answer that never comes is a wrong answer.
const PATIENCE: Duration = Duration::from_mins(10);

const USAGE: &str = "usage: sansio-mcp-bench <memory|rounds|listens|core|stdio|\
    http|http-listens|http-disconnect|http-client|all> [--rounds N] [--seconds S]";

fn main() -> ExitCode {
    match parse().and_then(|(what, plan)| run(&what, plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Wrong(what)) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

fn parse() -> Result<(String, Plan), Wrong> {
    let usage = || Wrong(USAGE.into());
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().ok_or_else(usage)?;
    let mut plan = Plan {
        rounds: 5,
        run_time: Duration::from_millis(700),
    };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(usage)?;
        match flag.as_str() {
            "--rounds" => plan.rounds = value.parse().map_err(Wrong::when(USAGE))?,
            "--seconds" => {
                let seconds = value.parse().map_err(Wrong::when(USAGE))?;
                plan.run_time = Duration::try_from_secs_f64(seconds).map_err(Wrong::when(USAGE))?;
            }
            _ => return Err(usage()),
        }
    }
    if plan.rounds == 0 || plan.run_time.is_zero() {
        Err(usage())
    } else {
        Ok((what, plan))
    }
}

fn run(what: &str, plan: Plan) -> Result<(), Wrong> {
    if cfg!(debug_assertions) {
        eprintln!("not a release build: the figures mean nothing");
    }
    match what {
        "memory" => memory(plan),
        "rounds" => rounds(plan),
        "listens" => listens(plan),
        "core" => core(plan),
        "stdio" => stdio(plan),
        "http" => http(plan),
        "http-listens" => http_listens(plan),
        "http-disconnect" => http_disconnect(plan),
        "http-client" => http_client(plan),
        // Those over HTTP last: they pin this process to a core.
        "all" => [
            memory,
            rounds,
            listens,
            core,
            stdio,
            http,
            http_listens,
            http_disconnect,
            http_client,
        ]
        .into_iter()
        .try_for_each(|part| part(plan)),
        _ => Err(Wrong(USAGE.into())),
    }
}

fn memory(plan: Plan) -> Result<(), Wrong> {
    let mut sides = memory_sides::sides()?;
    for (text, in_flight, progress) in [
        (Text::Short, 1, 0),
        (Text::Short, 64, 0),
        (Text::Short, 1, PROGRESS_STEPS),
        (Text::Short, 64, PROGRESS_STEPS),
        (Text::Long, 1, 0),
    ] {
        let with = if progress == 0 {
            String::new()
        } else {
            format!(", {progress} progress notifications")
        };
        let title = format!("In memory, {}, {in_flight} in flight{with}", text.title());
        show(
            &title,
            Load {
                calls: 0,
                in_flight,
                progress,
                text,
            },
            plan,
            &mut sides,
        )?;
    }
    Ok(())
}

fn rounds(plan: Plan) -> Result<(), Wrong> {
    let pair = |plain, asked| -> [Box<dyn Side>; 2] { [Box::new(plain), Box::new(asked)] };
    let mut memory = pair(OursMemory::start()?, OursMemory::asked()?);
    let mut child = pair(OursMemory::launched(false)?, OursMemory::launched(true)?);
    for (sides, between) in [(&mut memory, "in memory"), (&mut child, "standard streams")] {
        for in_flight in [1, 64] {
            let title = format!("A question in the middle, {between}, 100 B, {in_flight} in flight");
            let load = Load {
                calls: 0,
                in_flight,
                progress: 0,
                text: Text::Short,
            };
            show(&title, load, plan, sides)?;
        }
    }
    Ok(())
}

fn listens(plan: Plan) -> Result<(), Wrong> {
    let title = format!(
        "One change of a list told to {} subscriptions, in memory",
        listens::ALL
    );
    let load = Load {
        calls: 0,
        in_flight: 1,
        progress: 0,
        text: Text::Short,
    };
    show(&title, load, plan, &mut [Box::new(Listens::start()?)])
}

fn core(plan: Plan) -> Result<(), Wrong> {
    let mut sides = core_sides::sides()?;
    for text in [Text::Short, Text::Long, Text::LongEscaped] {
        let title = format!("Core alone, {}", text.title());
        show(
            &title,
            Load {
                calls: 0,
                in_flight: 1,
                progress: 0,
                text,
            },
            plan,
            &mut sides,
        )?;
    }
    Ok(())
}

fn stdio(plan: Plan) -> Result<(), Wrong> {
    let mut sides = stdio_load::sides();
    let load = Load {
        calls: 0,
        in_flight: 64,
        progress: 0,
        text: Text::Short,
    };
    show("Standard streams, 100 B, 64 in flight", load, plan, &mut sides)
}

fn http(plan: Plan) -> Result<(), Wrong> {
    begin_load()?;
    for (form, said) in [(Form::Json, "JSON"), (Form::Events, "events")] {
        let mut sides = http::load::sides(form);
        let without = [(Text::Short, 0), (Text::Long, 0)];
        let progress = (form == Form::Events).then_some((Text::Short, PROGRESS_STEPS));
        for (text, progress) in without.into_iter().chain(progress) {
            for in_flight in [1, 32] {
                let with = if progress == 0 {
                    ""
                } else {
                    ", ten progress notifications"
                };
                let title = format!("HTTP, {said}, {}, connections: {in_flight}{with}", text.title());
                let load = Load {
                    calls: 0,
                    in_flight,
                    progress,
                    text,
                };
                show(&title, load, plan, &mut sides)?;
            }
        }
    }
    Ok(())
}

fn http_listens(plan: Plan) -> Result<(), Wrong> {
    begin_load()?;
    let title = "HTTP, open subscriptions";
    let table = patiently(title, || {
        http::listens::measure(plan, &mut http::listens::sides())
    })?;
    println!("{table}");
    Ok(())
}

fn http_disconnect(plan: Plan) -> Result<(), Wrong> {
    begin_load()?;
    let title = "HTTP, from close to handler";
    let table = patiently(title, || {
        http::disconnect::measure(plan, &mut http::disconnect::sides())
    })?;
    println!("{table}");
    Ok(())
}

fn http_client(plan: Plan) -> Result<(), Wrong> {
    begin_load()?;
    let mut sides = http::client::sides()?;
    let in_flight = http::client::IN_FLIGHT;
    for (progress, with) in [(0, ""), (PROGRESS_STEPS, ", ten progress notifications")] {
        let title = format!("HTTP, clients, 100 B, {in_flight} in flight{with}");
        let load = Load {
            calls: 0,
            in_flight,
            progress,
            text: Text::Short,
        };
        show(&title, load, plan, &mut sides)?;
    }
    Ok(())
}

/// Puts what loads servers on its core.
fn begin_load() -> Result<(), Wrong> {
    http::place::raise_descriptors().map_err(Wrong::when("raising the limit of descriptors"))?;
    http::place::pin(http::place::LOAD_CORE).map_err(Wrong::when("pinning to a core"))
}

fn show(title: &str, load: Load, plan: Plan, sides: &mut [Box<dyn Side>]) -> Result<(), Wrong> {
    let rows = patiently(title, || measure(load, plan, sides))?;
    println!("{}", table(title, &rows));
    let notes: Vec<_> = sides.iter_mut().filter_map(|side| side.note()).collect();
    if !notes.is_empty() {
        println!("{}\n", notes.join("\n"));
    }
    Ok(())
}

/// Does it within [`PATIENCE`].
fn patiently<T>(title: &str, work: impl FnOnce() -> Result<T, Wrong>) -> Result<T, Wrong> {
    let (done, over) = mpsc::channel::<()>();
    let named = title.to_owned();
    thread::spawn(move || {
        if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{named}: not done after {} s", PATIENCE.as_secs());
            std::process::exit(1);
        }
    });
    let outcome = work();
    drop(done);
    outcome
}
