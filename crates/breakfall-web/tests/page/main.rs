//! The page over real connections: who comes in, what is shown, what can be changed.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod browser;
mod certificate;
mod door;
mod limits;
mod live;
mod screens;
