//! Tools that fail on purpose, and a recorder of what came of it: for testing what an agent does
//! when its tools fail.
//!
//! ```
//! use breakfall::{Call, FailureKind, Guard};
//! use breakfall_test::{Recorder, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), breakfall::Error> {
//! let recorder = Recorder::new();
//! let guard = Guard::builder()
//!     .tool(Script::new("weather").fails(FailureKind::Network).answers("sunny").tool())
//!     .tool(Script::new("mail").fails(FailureKind::Permission).tool())
//!     .sink(recorder.sink())
//!     .build()?;
//!
//! let first = guard.handle(Call::new("1", "weather", "{}")).await;
//! let second = guard.handle(Call::new("2", "mail", "{}")).await;
//!
//! assert_eq!((first.text.as_str(), first.attempts), ("sunny", 2));
//! assert_eq!(second.kind(), Some(FailureKind::Permission));
//! recorder.assert_endings(["succeeded", "failed: permission"]);
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a kit for tests: it panics on purpose, and asserts"
)]

mod recorder;
mod script;
mod specimen;

pub use breakfall::{Fault, Trouble, failure_of};
pub use recorder::Recorder;
pub use script::{Script, Step};
pub use specimen::{reply_to, specimen};
