//! What can be wrong with how servers are described or started.

/// What a developer reads; never a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration of servers cannot be used.
    #[error("{origin}: {what}")]
    Servers {
        /// Where it comes from.
        origin: String,
        /// What is wrong, and what is accepted.
        what: String,
    },
    /// A program that did not start.
    #[error("`{program}` did not start")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// An address that others can reach, and nothing that keeps them out.
    #[error("{address} can be reached by others, who would need no token")]
    Open {
        /// The address.
        address: std::net::SocketAddr,
    },
    /// An address on which nobody can listen.
    #[error("could not listen on {address}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Too many clients.
    #[error("there are {most} clients already")]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// A recording that cannot be kept.
    #[error("could not record into {}", path.display())]
    Record {
        /// The directory or file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The guard could not be put together.
    #[error(transparent)]
    Guard(#[from] breakfall::Error),
    /// The client's end is gone.
    #[error("the client's stream failed")]
    Client(#[source] std::io::Error),
}
