//! Spans and metrics of calls, over OTLP and for Prometheus.
//!
//! ```text
//! record ──▶ counts ──▶ metrics ──▶ OTLP, /metrics
//!        └─▶ spans ──▶ batch ──▶ OTLP
//! ```
//!
//! An [`Exporter`] is a sink: it takes records off the path of calls, and no call ever waits for it.
//! [`Metrics`] alone are one, too, for who only wants to be scraped. The guide is
//! `docs/telemetry.md`.

mod attributes;
mod error;
mod exporter;
mod metrics;
mod names;
mod points;
mod prometheus;
mod send;
mod settings;
mod ship;
mod spans;

pub use error::Error;
pub use exporter::{Exported, Exporter};
pub use metrics::{CONTENT_TYPE, Metrics};
pub use settings::Settings;
pub use ship::probe;
pub use spans::Transport;
