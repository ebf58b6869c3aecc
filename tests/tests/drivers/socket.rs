//! Servers and clients on Unix sockets.

use std::fs;
use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server};
use sansio_mcp_stdio::Listener;
use sansio_mcp_stdio::threads::Wait;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::on_every_driver;
use crate::support::{Folder, call, until};

on_every_driver! {
    many_clients_share_one_engine
    one_client_too_many_is_turned_away
    a_lost_client_is_cancelled_and_others_stay
    stopping_runs_clean_up_and_ends_every_client
    the_end_of_a_clients_input_is_a_half_close
}

/// Tells that it is time to stop.
#[derive(Default)]
struct Stop {
    set: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Stop {
    fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
        if let Some(waker) = self.waker.lock().unwrap().take() {
            waker.wake();
        }
    }
}

/// What the tools of the test server share.
#[derive(Default)]
struct Shop {
    calls: AtomicU32,
    held: AtomicU32,
    released: AtomicU32,
}

/// A server that runs on a thread.
struct Served {
    _folder: Folder,
    path: PathBuf,
    stop: Arc<Stop>,
    shop: Arc<Shop>,
    thread: JoinHandle<()>,
}

impl Served {
    fn start<D: Driver>(connections: usize) -> Self {
        let folder = Folder::new();
        let path = folder.path("socket");
        let listener = Listener::bind(&path).unwrap().max_connections(connections);
        let shop = Arc::new(Shop::default());
        let server = server(&shop);
        let stop = Arc::new(Stop::default());
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let stopped = poll_fn(move |cx| {
                *stopped.waker.lock().unwrap() = Some(cx.waker().clone());
                if stopped.set.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
            });
            D::serve(server, listener, stopped);
        });
        Self { _folder: folder, path, stop, shop, thread }
    }

    fn stop(self) {
        self.stop.set();
        self.thread.join().unwrap();
        assert!(!self.path.exists(), "the socket is still there");
    }
}

fn server(shop: &Arc<Shop>) -> Server<Shared> {
    Server::shared("shop", "1")
        .state(Arc::clone(shop))
        .tool("count", async |_: NoArguments, cx: Context<Arc<Shop>>| {
            Ok::<_, Exit>((cx.state().calls.fetch_add(1, Ordering::SeqCst) + 1).to_string())
        })
        .tool("hold", |_: NoArguments, cx: Context<Arc<Shop>>| async move {
            let shop = Arc::clone(cx.state());
            shop.held.fetch_add(1, Ordering::SeqCst);
            cx.on_exit(async move {
                shop.released.fetch_add(1, Ordering::SeqCst);
            });
            std::future::pending::<()>().await;
            Ok::<_, Exit>("never")
        })
        .build()
        .unwrap()
}

fn many_clients_share_one_engine<D: Driver>() {
    let served = Served::start::<D>(64);
    let clients: Vec<_> = (0..20).map(|_| D::connect(&served.path)).collect();
    let mut counted: Vec<u32> = clients
        .iter()
        .map(|(client, _)| call(client, "count", &json!({})).unwrap().first_text().unwrap().parse().unwrap())
        .collect();
    counted.sort_unstable();
    assert_eq!(counted, (1..=20).collect::<Vec<u32>>());
    for (client, lines) in clients {
        drop(client);
        lines.join().unwrap();
    }
    served.stop();
}

fn one_client_too_many_is_turned_away<D: Driver>() {
    let served = Served::start::<D>(2);
    let [first, second] = [D::connect(&served.path), D::connect(&served.path)];
    // Both are certainly there once they are answered.
    for (client, _) in [&first, &second] {
        call(client, "count", &json!({})).unwrap();
    }
    let (third, lines) = D::connect(&served.path);
    assert!(call(&third, "count", &json!({})).is_err());
    lines.join().unwrap();
    // Those that are there are not disturbed, and a place that is free again is given away.
    call(&second.0, "count", &json!({})).unwrap();
    drop(first.0);
    first.1.join().unwrap();
    until("a place is free", || {
        let (client, lines) = D::connect(&served.path);
        let served = call(&client, "count", &json!({})).is_ok();
        drop(client);
        lines.join().unwrap();
        served
    });
    served.stop();
}

fn a_lost_client_is_cancelled_and_others_stay<D: Driver>() {
    let served = Served::start::<D>(8);
    let (other, _lines) = D::connect(&served.path);
    let mut lost = UnixStream::connect(&served.path).unwrap();
    lost.write_all(request(1, "hold").as_bytes()).unwrap();
    until("it holds", || served.shop.held.load(Ordering::SeqCst) == 1);
    // Both directions at once, with something to be written to it: not a half-close.
    lost.write_all(request(2, "count").as_bytes()).unwrap();
    drop(lost);
    until("it is released", || served.shop.released.load(Ordering::SeqCst) == 1);
    call(&other, "count", &json!({})).unwrap();
    drop(other);
    served.stop();
}

fn stopping_runs_clean_up_and_ends_every_client<D: Driver>() {
    let served = Served::start::<D>(8);
    let (client, lines) = D::connect(&served.path);
    let held = client.call_tool("hold", &json!({}));
    let held = thread::spawn(|| held.wait());
    let shop = Arc::clone(&served.shop);
    until("it holds", || shop.held.load(Ordering::SeqCst) == 1);
    let path = served.path.clone();
    served.stop();
    assert_eq!(shop.released.load(Ordering::SeqCst), 1);
    assert!(held.join().unwrap().is_err());
    lines.join().unwrap();
    assert!(UnixStream::connect(path).is_err());
}

fn the_end_of_a_clients_input_is_a_half_close<D: Driver>() {
    let served = Served::start::<D>(8);
    let mut client = UnixStream::connect(&served.path).unwrap();
    client.write_all(request(1, "count").as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    let answer: Value = serde_json::from_str(answers.trim()).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "1", "{answers}");
    served.stop();
}

fn request(id: i64, tool: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

#[test]
fn a_socket_that_a_server_left_behind_is_replaced() {
    let folder = Folder::new();
    let path = folder.path("socket");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(&path).unwrap();
    UnixStream::connect(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(listener);
    assert!(!path.exists());
}

#[test]
fn a_socket_that_somebody_listens_on_is_left_alone() {
    let folder = Folder::new();
    let path = folder.path("socket");
    let living = UnixListener::bind(&path).unwrap();
    assert_eq!(Listener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
    // The connection of that try has not been accepted, and now there is room for no more: it is not waited for.
    rustix::net::listen(&living, 0).unwrap();
    assert_eq!(Listener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let folder = Folder::new();
    let path = folder.path("socket");
    fs::write(&path, "precious").unwrap();
    assert_eq!(Listener::bind(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_socket_that_has_taken_ones_place_is_not_removed() {
    let folder = Folder::new();
    let path = folder.path("socket");
    let first = Listener::bind(&path).unwrap();
    // The new one first, elsewhere, so that it cannot have the old one's number.
    let second = Listener::bind(folder.path("other")).unwrap();
    fs::rename(folder.path("other"), &path).unwrap();
    drop(first);
    UnixStream::connect(&path).unwrap();
    drop(second);
    assert!(path.exists());
}
