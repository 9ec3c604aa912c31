//! What serves HTTP within bounds, and who may come in: for MCP clients and for the page.

mod accepting;
mod impatient;
mod visitor;

pub use accepting::{Bounds, accept};
pub use tokio_rustls::TlsAcceptor;
pub use visitor::{bearer, host, is_here, is_same, text};
