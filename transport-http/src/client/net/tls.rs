//! TLS: who is trusted, and which protocol is spoken inside.

use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::TlsConnector;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::ServerName;
use futures_rustls::rustls::{ClientConfig, RootCertStore};

use super::io::Connected;
use super::stream::Io;

/// What a handshake needs.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    /// For a host, by this configuration or the default.
    pub(super) fn new(host: &str, config: Option<&Arc<ClientConfig>>, http2: bool) -> Result<Self, String> {
        let mut config = match config {
            Some(config) => Arc::clone(config),
            None => Arc::new(trusting_the_system()?),
        };
        if config.alpn_protocols.is_empty() {
            let h2 = b"h2".to_vec();
            Arc::make_mut(&mut config).alpn_protocols =
                if http2 { vec![h2] } else { vec![h2, b"http/1.1".to_vec()] };
        }
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host:?} is no name that a certificate can be for"))?;
        Ok(Self { connector: TlsConnector::from(config), name })
    }

    /// Shakes hands; whether HTTP/2 was agreed on.
    pub(super) async fn connect<T>(&self, stream: T) -> Connected
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = self.connector.connect(self.name.clone(), stream).await?;
        let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Box::new(Io::new(stream, false)), h2))
    }
}

fn trusting_the_system() -> Result<ClientConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or("there are none".into(), ToString::to_string);
        return Err(format!("the system's certificates could not be had: {why}"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
