//! The shop, the relay before it, the pages, and visits to them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chromium::Chromium;
use crate::pages::Pages;
use crate::raw::post;
use crate::relay::{Asked, Relay};
use crate::shop::Shop;
use crate::tally::{Failure, Step};
use crate::until::LOOKS;

pub(crate) const ANYWHERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

pub(crate) struct Stage {
    chromium: PathBuf,
    folder: PathBuf,
    shop: Shop,
    relay: Relay,
    pages: Pages,
}

impl Stage {
    pub(crate) async fn open(chromium: &Path, bookshop: &Path, folder: &Path) -> io::Result<Self> {
        let pages = Pages::open().await?;
        let listed = format!("http://listed.example:{}", pages.port);
        let shop = Shop::open(bookshop, SocketAddr::from(ANYWHERE), None, &["--origin", &listed]).await?;
        let relay = Relay::open(shop.address).await?;
        Ok(Self { chromium: chromium.to_owned(), folder: folder.to_owned(), shop, relay, pages })
    }

    pub(crate) fn listed(&self) -> String {
        format!("http://listed.example:{}", self.pages.port)
    }

    pub(crate) fn unlisted(&self) -> String {
        format!("http://unlisted.example:{}", self.pages.port)
    }

    pub(crate) fn local(&self) -> String {
        format!("http://127.0.0.1:{}", self.pages.port)
    }

    /// Opens the page under an origin; what came of what it tried, and what the shop was asked meanwhile.
    pub(crate) async fn visit(&self, origin: &str) -> Result<(Value, Vec<Asked>), Failure> {
        self.relay.forget();
        let endpoint = format!("http://{}/mcp", self.relay.address);
        let mut browser = Chromium::open(&self.chromium, &self.folder, &format!("{origin}/?to={endpoint}"))?;
        let outcome = self.pages.outcome().await?;
        browser.close().await?;
        if outcome["origin"] != *origin {
            return Err(format!("another page: {outcome}").into());
        }
        Ok((outcome, self.relay.asked()))
    }

    /// Waits until the shop's copies on hold are these.
    pub(crate) async fn holds(&self, wanted: Value) -> Step {
        loop {
            let (_, answer) = post(self.shop.address, "hold_status", json!({"arguments": {}})).await?;
            if answer["result"]["structuredContent"] == wanted {
                return Ok(());
            }
            smol::Timer::after(LOOKS).await;
        }
    }
}
