//! Keeps what failed, in SQLite or Postgres, and tells of it again.
//!
//! ```text
//! record ──▶ row ──▶ batch ──▶ groups, hours, samples, rollups
//! ```
//!
//! A [`Keeper`] is a sink: it takes records off the path of calls, and no call ever waits for it. A
//! [`Store`] reads.

mod backend;
mod batch;
mod calendar;
mod error;
mod fingerprint;
mod histogram;
mod keeper;
mod overflow;
mod place;
mod read;
mod recovery;
mod row;
mod spool;
mod sweep;
mod write;
mod writer;

pub use breakfall::Calendar;
pub use calendar::now;
pub use error::Error;
pub use keeper::{Keeper, Keeping};
pub use place::default_file;
pub use read::{
    Breaker, Choice, Group, Groups, Known, Marker, Moment, Recovery, RunRow, Sample, Seen, Sort,
    Span, State, Step, Store, Tail, Timeline, ToolRow, Wanted,
};
pub use sweep::Keep;
