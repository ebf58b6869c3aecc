//! Between the browser and the shop: passes bytes on, and notes what was asked and how it was answered.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smol::Task;
use smol::future::or;
use smol::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};

use crate::stage::ANYWHERE;

/// Method, origin and status of a request.
pub(crate) type Asked = (String, String, u16);

pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    seen: Seen,
    _serving: Task<io::Result<()>>,
}

/// Of each connection what was sent to the shop, and what from it.
type Seen = Arc<Mutex<Vec<[Vec<u8>; 2]>>>;

fn lock(seen: &Seen) -> MutexGuard<'_, Vec<[Vec<u8>; 2]>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Relay {
    pub(crate) async fn open(to: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(ANYWHERE).await?;
        let address = listener.local_addr()?;
        let seen = Seen::default();
        let note = Arc::clone(&seen);
        let serving = smol::spawn(async move {
            loop {
                let (browser, _) = listener.accept().await?;
                smol::spawn(relay(browser, to, Arc::clone(&note))).detach();
            }
        });
        Ok(Self { address, seen, _serving: serving })
    }

    /// What came before is of no interest; nobody is connected.
    pub(crate) fn forget(&self) {
        lock(&self.seen).clear();
    }

    /// What was asked, and how it was answered.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        lock(&self.seen).iter().flat_map(|[there, back]| asked(there, back)).collect()
    }
}

/// Ends in both directions when one has ended: a browser that goes away goes away from the shop.
async fn relay(browser: TcpStream, to: SocketAddr, seen: Seen) -> io::Result<()> {
    let shop = TcpStream::connect(to).await?;
    let connection = {
        let mut seen = lock(&seen);
        seen.push(Default::default());
        seen.len() - 1
    };
    let there = pass(browser.clone(), shop.clone(), &seen, connection, 0);
    let back = pass(shop.clone(), browser.clone(), &seen, connection, 1);
    or(there, back).await
}

async fn pass<R, W>(mut from: R, mut to: W, seen: &Seen, connection: usize, way: usize) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut chunk = vec![0; 8192];
    loop {
        let read = from.read(&mut chunk).await?;
        let bytes = chunk.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(place) = lock(seen).get_mut(connection).and_then(|ways| ways.get_mut(way)) {
            place.extend_from_slice(bytes);
        }
        to.write_all(bytes).await?;
    }
}

/// The requests of a connection. Neither side sends lines in bodies that could be taken for those of heads.
fn asked(there: &[u8], back: &[u8]) -> Vec<Asked> {
    let (there, back) = (String::from_utf8_lossy(there), String::from_utf8_lossy(back));
    let mut requests: Vec<(String, String)> = Vec::new();
    for line in there.split("\r\n") {
        // The body of the request before has no line end of its own.
        let method =
            ["POST", "OPTIONS"].iter().find(|method| line.ends_with(&format!("{method} /mcp HTTP/1.1")));
        if let Some(method) = method {
            requests.push(((*method).to_owned(), String::new()));
        } else if let (Some(origin), Some(last)) = (line.strip_prefix("Origin: "), requests.last_mut()) {
            origin.clone_into(&mut last.1);
        }
    }
    let statuses =
        back.split("HTTP/1.1 ").skip(1).map(|head| head.get(..3).and_then(|it| it.parse().ok()).unwrap_or(0));
    requests.into_iter().zip(statuses).map(|((method, origin), status)| (method, origin, status)).collect()
}
