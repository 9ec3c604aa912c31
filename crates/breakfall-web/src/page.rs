//! Where the page is, and what it takes to reach it: an address of this machine, or a token and a
//! certificate.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use breakfall_http::{Bounds, TlsAcceptor, accept};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;

use crate::door::Door;
use crate::error::Error;
use crate::live::Live;
use crate::routes::{Site, router};
use crate::shelf::Shelf;
use crate::token::Token;

/// A browser has a handful of connections for each tab; nobody else comes.
const BOUNDS: Bounds = Bounds { most: 128, head: Duration::from_secs(10), head_bytes: 16 << 10 };

/// How long the store may take to close.
const ENDING: Duration = Duration::from_secs(1);

/// The text at `/metrics`.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The chain, the page's own first.
    pub chain: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What the page shows, and where.
pub struct Opening {
    /// Where it listens.
    pub address: SocketAddr,
    /// What opens it.
    pub token: Token,
    /// What it proves to be who it is with; without it the page is not encrypted.
    pub certificate: Option<Certificate>,
    /// Whether an address that others can reach needs no certificate.
    pub insecure: bool,
    /// The names under which browsers may ask for it, beside addresses.
    pub names: Vec<String>,
    /// The database.
    pub store: String,
    /// The text at `/metrics`, where there is one.
    pub metrics: Option<Metrics>,
    /// How often the database is looked at for what is new, while somebody looks at the page.
    pub looks: Duration,
}

impl Opening {
    /// A page on a free port of this machine.
    pub fn new(store: impl Into<String>, token: Token) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            token,
            certificate: None,
            insecure: false,
            names: Vec::new(),
            store: store.into(),
            metrics: None,
            looks: Duration::from_secs(1),
        }
    }
}

/// A page that listens.
pub struct Page {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    site: Arc<Site>,
    link: String,
    address: SocketAddr,
}

impl Page {
    /// Listens. An address that others can reach needs a token that somebody chose and a
    /// certificate.
    pub async fn listen(opening: Opening) -> Result<Self, Error> {
        let Opening { address, token, certificate, insecure, names, store, metrics, looks } =
            opening;
        let is_safe = certificate.is_some() && token.is_chosen();
        if !address.ip().is_loopback() && !is_safe && !insecure {
            return Err(Error::Open { address });
        }
        let tls = certificate.as_ref().map(acceptor).transpose()?;
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let link = link(address, tls.is_some(), &token);
        let door = Door::new(address, tls.is_some(), names, token);
        let shelf = Arc::new(Shelf::new(store));
        let live = Live::new(Arc::clone(&shelf), looks);
        let site = Arc::new(Site { door, shelf, live, metrics });
        Ok(Self { listener, tls, site, link, address })
    }

    /// Where to go to. It holds the token, unless somebody chose that.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows the page until told to stop.
    pub async fn serve(self, until: impl Future<Output = ()>) {
        let router = router(Arc::clone(&self.site));
        tokio::select! {
            () = accept(self.listener, self.tls, BOUNDS, || router.clone()) => {}
            () = self.site.live.watch() => {}
            () = until => {}
        }
        // Whoever still asks something is not waited for.
        let _ = tokio::time::timeout(ENDING, self.site.shelf.close()).await;
    }
}

fn link(address: SocketAddr, is_encrypted: bool, token: &Token) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    let mut shown = address;
    if address.ip().is_unspecified() {
        // `0.0.0.0` is no place to go to.
        let here = if address.is_ipv4() {
            IpAddr::from([127, 0, 0, 1])
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        };
        shown.set_ip(here);
    }
    let query = if token.is_chosen() { String::new() } else { format!("?token={}", token.text()) };
    format!("{scheme}://{shown}/{query}")
}

fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Pem { path, source }
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&certificate.chain)
        .and_then(Iterator::collect)
        .map_err(failed(&certificate.chain))?;
    let key = PrivateKeyDer::from_pem_file(&certificate.key).map_err(failed(&certificate.key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map_err(Error::Certificate)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
