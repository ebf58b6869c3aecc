//! The replicas, the proxy before them, and clients.

use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use sansio_mcp_http::client::connect;
use sansio_mcp_sdk::client::{Client, InputFailure, Question};
use sansio_mcp_sdk::model::{ElicitFormParams, ElicitResult, Implementation};
use serde_json::{Value, json};

use crate::proxy::Proxy;
use crate::shop::Shop;
use crate::tally::Failure;

pub(crate) const BOOK: &str = "9781718503106";

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub(crate) struct Fleet {
    bookshop: PathBuf,
    key: String,
    pub(crate) shops: Vec<Shop>,
    pub(crate) proxy: Proxy,
}

impl Fleet {
    pub(crate) async fn open(nginx: &Path, bookshop: &Path, folder: &Path) -> io::Result<Self> {
        let key = random_key()?;
        let mut shops = Vec::new();
        for _ in 0..3 {
            shops.push(Shop::open(bookshop, ANYWHERE, Some(&key), &[]).await?);
        }
        let addresses: Vec<_> = shops.iter().map(|shop| shop.address).collect();
        let proxy = Proxy::open(nginx, folder, &addresses).await?;
        Ok(Self { bookshop: bookshop.to_owned(), key, shops, proxy })
    }

    /// A shop of somebody else, with another key.
    pub(crate) async fn stranger(&self) -> io::Result<Shop> {
        Shop::open(&self.bookshop, ANYWHERE, Some(&random_key()?), &[]).await
    }

    /// Starts a replica again, where it was.
    pub(crate) async fn reopen(&mut self, replica: usize) -> io::Result<()> {
        let Some(shop) = self.shops.get_mut(replica) else { return Ok(()) };
        *shop = Shop::open(&self.bookshop, shop.address, Some(&self.key), &[]).await?;
        Ok(())
    }

    /// The replica at an address.
    pub(crate) fn at(&mut self, address: SocketAddr) -> Result<(usize, &mut Shop), Failure> {
        let found = self.shops.iter_mut().enumerate().find(|(_, shop)| shop.address == address);
        found.ok_or_else(|| format!("no replica at {address}").into())
    }

    /// A client of the proxy, with somebody who answers.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let builder = Client::builder(Implementation::new("replicas", "1")).on_form(fills_in);
        start(&self.proxy.url(), builder.build())
    }
}

/// A client of one server, whose messages move by themselves.
pub(crate) fn start<E: ToString>(
    url: &str,
    setup: Result<sansio_mcp_sdk::client::ClientSetup, E>,
) -> Result<Client, Failure> {
    let setup = setup.map_err(|error| error.to_string())?;
    let (client, driver) = connect(url, setup).map_err(|error| error.to_string())?;
    smol::spawn(driver).detach();
    Ok(client)
}

pub(crate) async fn fills_in(form: Question<ElicitFormParams>) -> Result<ElicitResult, InputFailure> {
    form.accept(&answer(&form.params.message))
}

/// The answer to a question about a gift.
pub(crate) fn answer(question: &str) -> Value {
    if question.starts_with("Who") {
        json!({"name": "Bo"})
    } else if question.starts_with("How") {
        json!({"paper": "gold", "ribbon": false})
    } else {
        json!({"text": "To Bo"})
    }
}

fn random_key() -> io::Result<String> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let mut text = String::new();
    for byte in key {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
