//! See `rows/catalog.rs` and `rows/stale.rs`; every row runs with handlers that stay on their thread and with handlers that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;
    include!("rows/catalog.rs");

    mod stale {
        type M = sansio_mcp_sdk::Local;
        include!("rows/stale.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;
    include!("rows/catalog.rs");

    mod stale {
        type M = sansio_mcp_sdk::Shared;
        include!("rows/stale.rs");
    }
}

/// Threads change the catalog while requests are served.
mod threads {
    use sansio_mcp_sdk::server::{Catalog, Context, NoArguments, Server};
    use sansio_mcp_tests::{Bench, Target, run};

    const THREADS: usize = 4;
    const TURNS: usize = 100;
    const TOOLS: usize = 20;

    #[test]
    fn what_threads_bring_and_take_together_is_never_seen_in_part() {
        async fn row(b: Bench) {
            let catalog = Catalog::<(), sansio_mcp_sdk::Shared>::new();
            let server = Server::shared("t", "1").catalog(&catalog).build().unwrap();
            let client = b.serve(server).client();
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (catalog, external) = (catalog.clone(), b.lab.external());
                    std::thread::spawn(move || {
                        let name = |tool: usize| format!("{thread}.{tool}");
                        for turn in 0..TURNS {
                            let tool = async |_: NoArguments, _: Context| Ok("done");
                            let added = catalog
                                .update(|shop| (0..TOOLS).fold(shop, |shop, n| shop.tool(name(n), tool)));
                            added.unwrap();
                            if turn + 1 < TURNS {
                                let removed = catalog.update(|shop| {
                                    (0..TOOLS).fold(shop, |shop, n| shop.remove_tool(name(n)))
                                });
                                removed.unwrap();
                            }
                        }
                        drop(external);
                    })
                })
                .collect();
            loop {
                let over = threads.iter().all(std::thread::JoinHandle::is_finished);
                let tools = client.list_tools().await.unwrap();
                for thread in 0..THREADS {
                    let its = format!("{thread}.");
                    let count = tools.iter().filter(|tool| tool.name.starts_with(&its)).count();
                    assert!(count == 0 || count == TOOLS, "{count} of {thread}");
                }
                if over {
                    assert_eq!(tools.len(), THREADS * TOOLS);
                    break;
                }
            }
            for thread in threads {
                thread.join().unwrap();
            }
        }
        run(Target::memory(), row);
    }
}
