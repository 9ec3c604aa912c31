//! Batches become requests, and requests are made again while the collector is away.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{Metric, ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::attributes::text;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::points;
use crate::send::{Later, Post, words};
use crate::settings::Settings;

/// How long a collector that is away is left alone; it doubles.
const AGAIN: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// How long a batch is tried for.
const PATIENCE: Duration = Duration::from_mins(1);

/// Sends batches.
pub(crate) struct Shipper {
    traces: Option<Post>,
    points: Option<Post>,
    resource: Resource,
    pub(crate) metrics: Arc<Metrics>,
    ending: watch::Receiver<bool>,
    /// It was told that the collector is away.
    is_away: bool,
}

impl Shipper {
    pub(crate) fn new(
        settings: &Settings,
        metrics: Arc<Metrics>,
        ending: watch::Receiver<bool>,
    ) -> Result<Self, Error> {
        let post = |target| Post::to(target, settings.timeout);
        Ok(Self {
            traces: settings.traces.as_ref().map(post).transpose()?,
            points: settings.metrics.as_ref().map(post).transpose()?,
            resource: resource(settings),
            metrics,
            ending,
            is_away: false,
        })
    }

    /// Sends spans; false where they are lost.
    pub(crate) async fn spans(&mut self, spans: Vec<Span>) -> bool {
        let Some(post) = self.traces.clone() else { return false };
        let request = traces(&self.resource, spans);
        let Some(answer) = self.deliver(&post, request).await else { return false };
        let partial = ExportTraceServiceResponse::decode(&*answer).ok();
        if let Some(partial) = partial.and_then(|answer| answer.partial_success) {
            rejected("spans", partial.rejected_spans, &partial.error_message);
        }
        true
    }

    /// Sends the counts as they are now.
    pub(crate) async fn metrics(&mut self) {
        let Some(post) = self.points.clone() else { return };
        let request = metrics(&self.resource, points::of(&self.metrics));
        let Some(answer) = self.deliver(&post, request).await else { return };
        let partial = ExportMetricsServiceResponse::decode(&*answer).ok();
        if let Some(partial) = partial.and_then(|answer| answer.partial_success) {
            rejected("data points", partial.rejected_data_points, &partial.error_message);
        }
    }

    /// Sends a request until it is taken, refused for good, or has waited long enough.
    async fn deliver(&mut self, post: &Post, body: Vec<u8>) -> Option<Vec<u8>> {
        let until = Instant::now() + PATIENCE;
        let mut wait = AGAIN;
        loop {
            let refused = match post.send(body.clone()).await {
                Ok(answer) => {
                    self.is_away = false;
                    return Some(answer);
                }
                Err(refused) => refused,
            };
            if !std::mem::replace(&mut self.is_away, true) {
                tracing::warn!(why = refused.why, "Telemetry cannot be sent now");
            }
            let pause = match refused.later {
                Later::Never => return None,
                Later::Perhaps => drawn(wait),
                // "At once" is not meant for ever.
                Later::After(asked) => asked.clamp(AGAIN, LONGEST),
            };
            if *self.ending.borrow() || Instant::now() + pause > until {
                return None;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // One last time, now.
                _ = self.ending.wait_for(|is_ending| *is_ending) => {}
            }
            wait = (wait * 2).min(LONGEST);
        }
    }
}

/// Asks the collector whether it takes what would be sent.
pub async fn probe(settings: &Settings) -> Result<(), Error> {
    let resource = resource(settings);
    let traces = traces(&resource, Vec::new());
    let metrics = metrics(&resource, Vec::new());
    for (what, target, body) in
        [("spans", &settings.traces, traces), ("metrics", &settings.metrics, metrics)]
    {
        let Some(target) = target else { continue };
        let sent = Post::to(target, settings.timeout)?.send(body).await;
        sent.map_err(|refused| Error::Refused { what, why: refused.why })?;
    }
    Ok(())
}

fn resource(settings: &Settings) -> Resource {
    let attributes = settings.resource.iter().map(|(name, value)| text(name, value));
    Resource { attributes: attributes.collect(), ..Resource::default() }
}

fn traces(resource: &Resource, spans: Vec<Span>) -> Vec<u8> {
    let scope_spans = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
    let resource_spans = ResourceSpans {
        resource: Some(resource.clone()),
        scope_spans: vec![scope_spans],
        ..ResourceSpans::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![resource_spans] }.encode_to_vec()
}

fn metrics(resource: &Resource, metrics: Vec<Metric>) -> Vec<u8> {
    let scope_metrics = ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() };
    let resource_metrics = ResourceMetrics {
        resource: Some(resource.clone()),
        scope_metrics: vec![scope_metrics],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] }.encode_to_vec()
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "breakfall".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

fn rejected(what: &str, count: i64, message: &str) {
    if count > 0 || !message.is_empty() {
        tracing::warn!(
            what,
            count,
            message = words(message),
            "The collector did not take everything"
        );
    }
}

/// From half of a time to all of it: many guards must not come back at once.
fn drawn(most: Duration) -> Duration {
    let part = u32::try_from(RandomState::new().hash_one(0) % 500).unwrap_or_default();
    most * (500 + part) / 1_000
}
