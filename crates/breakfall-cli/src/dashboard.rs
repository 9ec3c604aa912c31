//! `breakfall dashboard`: what fails, in a browser. `breakfall guard --dashboard` shows the same
//! beside its work.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use breakfall_telemetry::Metrics;
use breakfall_web::{Certificate, Error, Opening, Page, Token};
use clap::Args;
use tokio::sync::oneshot;

use crate::failed::Failed;
use crate::guard::{block_on, log_to_stderr, told_to_end};
use crate::place::Place;
use crate::settings::Settings;

/// Where the token is that somebody chose.
const TOKEN: &str = "BREAKFALL_DASHBOARD_TOKEN";

#[derive(Args)]
pub(crate) struct Dashboard {
    /// Listen on this port of this machine; without it on a free one
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
    /// Listen on this address; one that others can reach needs a token in
    /// `BREAKFALL_DASHBOARD_TOKEN`, `--tls-cert` and `--tls-key`
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The certificate of the page with its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name under which browsers ask for the page; addresses need none
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Accept an address that others can reach without a certificate: who is on the way can read
    /// everything, the token too
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    settings: Settings,
}

impl Dashboard {
    /// Shows the page until the program is told to end.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let _log = log_to_stderr();
        let local = || SocketAddr::from((Ipv4Addr::LOCALHOST, self.port.unwrap_or(0)));
        let mut opening = Opening::new(self.place.place(&self.settings.config()?)?, token()?);
        opening.address = self.listen.unwrap_or_else(local);
        opening.certificate =
            self.tls_cert.zip(self.tls_key).map(|(chain, key)| Certificate { chain, key });
        opening.names = self.hosts;
        opening.insecure = self.insecure;
        block_on(async {
            let page = Page::listen(opening).await.map_err(|error| no_page(&error))?;
            welcome(page.link());
            if std::env::var_os(TOKEN).is_some() {
                note(&format!("It asks for the token of {TOKEN}."));
            }
            note("Ctrl-C ends it.");
            page.serve(told_to_end()).await;
            Ok(())
        })?
    }
}

/// A page beside other work, on a thread of its own: it must not delay a call. Dropped, it ends.
pub(crate) struct Beside {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    /// Shows the page of a guard, and prints its link where the protocol is not spoken. Where the
    /// address is taken, perhaps by another guard, the guard goes on without.
    pub(crate) fn start(
        address: SocketAddr,
        settings: &Settings,
        metrics: Arc<Metrics>,
    ) -> Result<Option<Self>, Failed> {
        if !address.ip().is_loopback() {
            return Err(Failed::new(format!("`--dashboard {address}` can be reached by others"))
                .hint("take an address of this machine, or run `breakfall dashboard --listen` beside the guard"));
        }
        let mut opening = Opening::new(Place::default().place(&settings.config()?)?, token()?);
        opening.address = address;
        opening.metrics = Some(Arc::new(move || metrics.text()));
        let (told, listening) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        let show = async move {
            match Page::listen(opening).await {
                Ok(page) => {
                    let _ = told.send(Ok(page.link().to_owned()));
                    page.serve(async { drop(ended.await) }).await;
                }
                Err(error) => drop(told.send(Err(error))),
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failed::new("could not start").because(error))?;
        let thread = std::thread::Builder::new()
            .name("breakfall-page".to_owned())
            .spawn(move || runtime.block_on(show))
            .map_err(|error| Failed::new("could not start").because(error))?;
        match listening.recv().map_err(|_| Failed::new("the page did not start"))? {
            Ok(link) => welcome(&link),
            Err(Error::Listen { address, source }) => {
                note(&format!(
                    "The guard has no page: could not listen on {address} ({source}). \
                     `--dashboard` alone takes a free port."
                ));
                return Ok(None);
            }
            Err(error) => return Err(no_page(&error)),
        }
        Ok(Some(Self { end: Some(end), thread: Some(thread) }))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn welcome(link: &str) {
    note(&format!("The page is at {link}"));
}

/// Says something to who started us. That nobody listens any more is no reason to end.
fn note(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

fn token() -> Result<Token, Failed> {
    let token = match std::env::var(TOKEN) {
        Ok(token) => Token::chosen(&token),
        Err(_) => Token::random(),
    };
    token.map_err(|error| {
        Failed::of(&error).hint("unset BREAKFALL_DASHBOARD_TOKEN to have a random token")
    })
}

fn no_page(error: &Error) -> Failed {
    let failed = Failed::of(error);
    match error {
        Error::Open { .. } => failed.hint(
            "listen on 127.0.0.1; or put a token into BREAKFALL_DASHBOARD_TOKEN and give \
             --tls-cert FILE and --tls-key FILE; or say --insecure",
        ),
        Error::Listen { .. } => failed.hint("port 0 takes one that is free"),
        _ => failed,
    }
}
