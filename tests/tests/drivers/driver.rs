//! The drivers under test, with one face.

use std::future::Future;
use std::path::Path;
use std::thread::{self, JoinHandle};

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::server::Server;
use sansio_mcp_stdio::{Ended, Launch, Listener};

use crate::support::config;

/// One of the drivers.
pub(crate) trait Driver {
    /// The example server on this driver.
    const SERVER: &str;

    fn launch(launch: Launch) -> (Client, JoinHandle<Ended>);

    fn connect(path: &Path) -> (Client, JoinHandle<()>);

    /// Serves on the calling thread.
    fn serve(server: Server<Shared>, listener: Listener, stop: impl Future<Output = ()>);
}

pub(crate) struct Smol;

impl Driver for Smol {
    const SERVER: &str = env!("CARGO_BIN_EXE_on_smol");

    fn launch(launch: Launch) -> (Client, JoinHandle<Ended>) {
        let (client, running) = sansio_mcp_stdio::smol::launch(launch, config()).unwrap();
        (client, thread::spawn(|| smol::block_on(smol::spawn(running))))
    }

    fn connect(path: &Path) -> (Client, JoinHandle<()>) {
        let (client, lines) = smol::block_on(sansio_mcp_stdio::smol::connect_unix(path, config())).unwrap();
        (client, thread::spawn(|| smol::block_on(lines)))
    }

    fn serve(server: Server<Shared>, listener: Listener, stop: impl Future<Output = ()>) {
        smol::block_on(sansio_mcp_stdio::smol::serve_unix(server, listener, stop)).unwrap();
    }
}

pub(crate) struct Tokio;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

impl Driver for Tokio {
    const SERVER: &str = env!("CARGO_BIN_EXE_on_tokio");

    fn launch(launch: Launch) -> (Client, JoinHandle<Ended>) {
        let runtime = runtime();
        let (client, running) = {
            let _inside = runtime.enter();
            sansio_mcp_stdio::tokio::launch(launch, config()).unwrap()
        };
        let running = thread::spawn(move || runtime.block_on(async { tokio::spawn(running).await.unwrap() }));
        (client, running)
    }

    fn connect(path: &Path) -> (Client, JoinHandle<()>) {
        let runtime = runtime();
        let (client, lines) =
            runtime.block_on(sansio_mcp_stdio::tokio::connect_unix(path, config())).unwrap();
        (client, thread::spawn(move || runtime.block_on(lines)))
    }

    fn serve(server: Server<Shared>, listener: Listener, stop: impl Future<Output = ()>) {
        runtime().block_on(sansio_mcp_stdio::tokio::serve_unix(server, listener, stop)).unwrap();
    }
}

pub(crate) struct Threads;

impl Driver for Threads {
    const SERVER: &str = env!("CARGO_BIN_EXE_on_threads");

    fn launch(launch: Launch) -> (Client, JoinHandle<Ended>) {
        sansio_mcp_stdio::threads::launch(launch, config()).unwrap()
    }

    fn connect(path: &Path) -> (Client, JoinHandle<()>) {
        sansio_mcp_stdio::threads::connect_unix(path, config()).unwrap()
    }

    fn serve(server: Server<Shared>, listener: Listener, stop: impl Future<Output = ()>) {
        sansio_mcp_stdio::threads::serve_unix(server, listener, stop).unwrap();
    }
}
