//! An editor or a game that answers calls between two frames: no thread, no runtime, an executor that is ticked by the
//! loop that is there anyway, and a world that only this thread may touch.
//!
//! ```text
//! cargo run --example game_loop
//! ```
//!
//! Here both ends live in the process, over a pipe in memory; a socket would do as well.

use std::cell::RefCell;
use std::error::Error;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use async_executor::LocalExecutor;
use sansio_mcp_memory::pair;
use sansio_mcp_sdk::client::{ClientConfig, Progress};
use sansio_mcp_sdk::model::{ClientCapabilities, Implementation};
use sansio_mcp_sdk::server::{Context, Exit, Server};
use sansio_mcp_sdk::{Engine, Local};
use sansio_mcp_stdio::{SystemClock, connect_on, serve_engine};
use serde::Deserialize;
use serde_json::json;

/// Work done for others in one frame.
const TICKS: usize = 32;

/// What the loop advances and the tools see. Not `Send`, and it need not be.
#[derive(Default)]
struct World {
    frame: u64,
    waiting: Vec<Waker>,
}

impl World {
    fn next_frame(world: &RefCell<Self>) {
        let waiting = {
            let mut world = world.borrow_mut();
            world.frame += 1;
            std::mem::take(&mut world.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Completes in the first frame after the one that is drawn.
async fn frame_after(world: &RefCell<World>) -> u64 {
    let now = world.borrow().frame;
    poll_fn(|cx| {
        let mut world = world.borrow_mut();
        if world.frame > now {
            return Poll::Ready(world.frame);
        }
        world.waiting.push(cx.waker().clone());
        Poll::Pending
    })
    .await
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Walk {
    steps: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let world = Rc::new(RefCell::new(World::default()));
    let seen = Rc::clone(&world);
    let server = Server::local("game", "1.0.0").tool("walk", move |walk: Walk, cx: Context<(), Local>| {
        let world = Rc::clone(&seen);
        async move {
            for step in 1..=walk.steps {
                let frame = frame_after(&world).await;
                cx.progress(
                    100.0 * f64::from(step) / f64::from(walk.steps),
                    format_args!("step {step} in frame {frame}"),
                );
            }
            Ok::<_, Exit>(format!("there in frame {}", world.borrow().frame))
        }
    });

    let executor = LocalExecutor::new();
    let clock = Arc::new(SystemClock::new());
    let (here, there) = pair();
    let (engine, driver) = Engine::new(server.build()?, clock.clone());
    let (reader, writer) = there.split();
    executor.spawn(driver).detach();
    executor.spawn(serve_engine(&engine, reader, writer, clock.clone())).detach();

    let me = Implementation::new("editor", "1.0.0");
    let config = ClientConfig::builder(me, ClientCapabilities::default()).build()?;
    let (reader, writer) = here.split();
    let (client, lines) = connect_on(config, reader, writer, clock);
    executor.spawn(lines).detach();
    let call = client
        .call_tool("walk", &json!({ "steps": 3 }))
        .on_progress(|report: Progress| println!("  progress: {}", report.message.unwrap_or_default()));
    let call = executor.spawn(call);

    while !call.is_finished() {
        World::next_frame(&world);
        println!("frame {}", world.borrow().frame);
        // What can be done now, and no more than fits into a frame.
        for _ in 0..TICKS {
            if !executor.try_tick() {
                break;
            }
        }
    }
    let result = smol::block_on(call)?;
    println!("{}", result.first_text().unwrap_or_default());
    Ok(())
}
