//! The server of the storm: tools that take their time, fail, share a lane, ask, and change what clients listen for.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sansio_mcp::limits::ServerLimits;
use sansio_mcp::server::continuation::{Entropy, NoEntropy};
use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::server::{Builder, Context, Exit, KeyRing, ResourceSpec, SealKey, Server, ToolSpec};

use super::listeners::{TOPICS, Versions};
use super::questions;

pub(super) const SLOTS: usize = 3;
pub(super) const QUEUE: usize = 4;

/// Subscriptions that one channel may have.
const SUBSCRIPTIONS: usize = 3;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    /// Comes back in the answer.
    n: u64,
    /// In milliseconds.
    takes: u64,
    /// So many questions.
    #[serde(default)]
    asks: u8,
}

/// What the handlers do, counted.
#[derive(Default)]
pub(super) struct Handlers {
    pub(super) begun: Cell<u64>,
    pub(super) cleaned: Cell<u64>,
    in_lane: Cell<u64>,
}

impl Handlers {
    /// One begins; its clean-up is counted.
    fn begin(self: &Rc<Self>, cx: &Context<(), Local>, lane: bool) {
        self.begun.set(self.begun.get() + 1);
        if lane {
            self.in_lane.set(self.in_lane.get() + 1);
            assert_eq!(self.in_lane.get(), 1, "two at a time in a lane");
        }
        let by_exit = Rc::clone(self);
        cx.on_exit(async move {
            by_exit.cleaned.set(by_exit.cleaned.get() + 1);
            if lane {
                by_exit.in_lane.set(by_exit.in_lane.get() - 1);
            }
        });
    }
}

/// Numbers in order: no nonce comes twice, and equal runs seal alike.
#[derive(Default)]
struct InOrder(AtomicU64);

impl Entropy for InOrder {
    fn fill(&self, out: &mut [u8]) -> Result<(), NoEntropy> {
        for chunk in out.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            chunk.iter_mut().zip(next).for_each(|(place, byte)| *place = byte);
        }
        Ok(())
    }
}

pub(super) fn server(handlers: &Rc<Handlers>, versions: &Versions) -> Server<Local> {
    let mut limits = ServerLimits::default();
    limits.subscriptions = SUBSCRIPTIONS;
    let server = Server::local("storm", "1")
        .slots(SLOTS)
        .queue(QUEUE)
        .limits(limits)
        .state_keys(KeyRing::new(SealKey::new([7; 32]), InOrder::default()))
        .list_changes()
        .resource_updates();
    let server = resources(workers(server, handlers));
    let (asking, restocking, versions) = (Rc::clone(handlers), Rc::clone(handlers), versions.clone());
    server
        .tool("asks", move |args: Args, cx: Context<(), Local>| {
            asking.begin(&cx, false);
            async move {
                cx.sleep(Duration::from_millis(args.takes / 4)).await;
                // What was kept at the entry before this one is there.
                let kept: Option<(u64, u8)> = cx.kept();
                assert_eq!(kept, cx.round().checked_sub(1).map(|last| (args.n, last)));
                cx.keep(&(args.n, cx.round()))?;
                questions::ask(&cx, args.n, args.asks)
            }
        })
        .tool("restock", move |args: Args, cx: Context<(), Local>| {
            restocking.begin(&cx, false);
            let versions = versions.clone();
            async move {
                cx.sleep(Duration::from_millis(args.takes / 4)).await;
                let topic = usize::try_from(args.n).unwrap_or(0) % TOPICS.len();
                versions.changed(topic);
                cx.publish(versions.change(topic)).map_err(Exit::failure)?;
                Ok(format!("{} restocked", args.n))
            }
        })
        .build()
        .expect("a server")
}

/// Tools that work for a while, with progress.
fn workers(server: Builder<Local>, handlers: &Rc<Handlers>) -> Builder<Local> {
    let handler = |lane: bool, fails: bool| {
        let handlers = Rc::clone(handlers);
        move |args: Args, cx: Context<(), Local>| {
            handlers.begin(&cx, lane);
            async move {
                for part in 1..=4_u32 {
                    cx.sleep(Duration::from_millis(args.takes / 4)).await;
                    cx.progress(f64::from(part) * 25.0, "on the way");
                }
                if fails {
                    return Err(Exit::failure(format!("{} fails", args.n)));
                }
                Ok(format!("{} {}", args.n, "x".repeat(usize::try_from(args.takes % 3000).unwrap_or(0))))
            }
        }
    };
    server
        .tool("plain", handler(false, false))
        .tool("fails", handler(false, true))
        .tool(ToolSpec::new("lane").one_at_a_time(), handler(true, false))
}

fn resources(server: Builder<Local>) -> Builder<Local> {
    TOPICS.iter().filter(|topic| topic.contains("://")).fold(server, |server, uri| {
        server.resource(ResourceSpec::new(*uri, *uri), async |_: Context<(), Local>| Ok("1"))
    })
}
