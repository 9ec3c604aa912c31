//! The page: what fails, seen in a browser.
//!
//! ```text
//! request ──▶ door (host, origin, token) ──▶ route ──▶ store ──▶ screen ──▶ HTML, escaped
//!                                              live ◀── one look at the store for all who listen
//! ```
//!
//! | module | turns | into |
//! |---|---|---|
//! | `page` | an address, a token, a certificate | a page that listens, or why it does not |
//! | `door` | a request | the same, if it may come in |
//! | `routes` | a request | what is asked of the store, then a screen |
//! | `screens` | what the store has | HTML; nothing in it is ever a tag of somebody else's |
//! | `live` | a change in the store | an event for everybody who looks |
//!
//! It reads, and it resolves groups. It starts nothing and takes no command line.

mod asked;
mod assets;
mod chart;
mod door;
mod error;
mod live;
mod page;
mod routes;
mod screens;
mod shelf;
mod token;
mod words;

pub use error::Error;
pub use page::{Certificate, Metrics, Opening, Page};
pub use token::Token;
