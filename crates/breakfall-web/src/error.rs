//! Why there is no page.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What a developer reads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Others could reach the address, and hear what is said there.
    #[error(
        "`{address}` can be reached by others: expected an address of this machine \
         (`127.0.0.1`, `[::1]`), or a token and a certificate"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// A token that can be guessed.
    #[error(
        "the token has {length} characters: expected at least 16, of letters, digits, `-`, `_`, `.`, `~`"
    )]
    Token {
        /// How long it is.
        length: usize,
    },
    /// The system gave no chance.
    #[error("no token could be made")]
    Chance(#[source] std::io::Error),
    /// The address cannot be used.
    #[error("could not listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A certificate or its key cannot be read.
    #[error("could not read `{}`: expected PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// A certificate and a key that do not belong together.
    #[error("the certificate cannot be used")]
    Certificate(#[source] rustls::Error),
}
