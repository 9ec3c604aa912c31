//! The counts as OTLP has metrics: cumulative, since we began.

use std::time::SystemTime;

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};

use crate::attributes::{flag, text};
use crate::metrics::{AttemptOf, BreakerOf, Durations, Metrics, Of};
use crate::names::{self, BOUNDS};
use crate::spans::nanos;

/// From when to when counts are.
#[derive(Clone, Copy)]
struct Between {
    start: u64,
    end: u64,
}

pub(crate) fn of(metrics: &Metrics) -> Vec<Metric> {
    let between = Between { start: nanos(metrics.started), end: nanos(SystemTime::now()) };
    let counted = metrics.counted();
    let durations = counted.calls.iter().map(|(of, took)| histogram(of.as_ref(), took, between));
    let attempts = counted.attempts.iter().map(|(of, count)| {
        let attributes = of.as_ref().map_or_else(overflow, attempt_attributes);
        number(attributes, *count, between)
    });
    let duration = Metric {
        name: names::DURATION.to_owned(),
        description: "How long calls took, with every attempt and wait.".to_owned(),
        unit: "s".to_owned(),
        data: Some(metric::Data::Histogram(Histogram {
            data_points: durations.collect(),
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
        })),
        ..Metric::default()
    };
    let turns = counted.breakers.iter().flat_map(|(of, turns)| {
        [("open", turns.opened), ("closed", turns.closed)].map(|(to, count)| {
            let mut attributes = of.as_ref().map_or_else(overflow, breaker_attributes);
            attributes.push(text(names::BREAKER, to));
            number(attributes, count, between)
        })
    });
    let open = counted.breakers.iter().filter_map(|(of, turns)| {
        Some(number(breaker_attributes(of.as_ref()?), u64::from(turns.is_open), between))
    });
    let open = Metric {
        name: names::OPEN.to_owned(),
        description: "Whether a breaker holds calls back, as the last call saw it.".to_owned(),
        unit: "1".to_owned(),
        data: Some(metric::Data::Gauge(Gauge { data_points: open.collect() })),
        ..Metric::default()
    };
    let lost = number(Vec::new(), metrics.lost(), between);
    let all = [
        duration,
        sum(
            names::ATTEMPTS,
            "Attempts, also those that another made good.",
            "{attempt}",
            attempts.collect(),
        ),
        sum(names::TURNS, "How often breakers opened and closed.", "{turn}", turns.collect()),
        open,
        sum(
            names::LOST,
            "Records whose spans did not reach the collector.",
            "{record}",
            vec![lost],
        ),
    ];
    // One without a point says nothing, and some collectors refuse it.
    all.into_iter().filter(has_points).collect()
}

fn has_points(metric: &Metric) -> bool {
    match &metric.data {
        Some(metric::Data::Histogram(it)) => !it.data_points.is_empty(),
        Some(metric::Data::Sum(it)) => !it.data_points.is_empty(),
        Some(metric::Data::Gauge(it)) => !it.data_points.is_empty(),
        _ => false,
    }
}

fn histogram(of: Option<&Of>, durations: &Durations, between: Between) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: of.map_or_else(overflow, call_attributes),
        start_time_unix_nano: between.start,
        time_unix_nano: between.end,
        count: durations.count(),
        sum: Some(durations.sum),
        bucket_counts: durations.buckets.to_vec(),
        explicit_bounds: BOUNDS.to_vec(),
        ..HistogramDataPoint::default()
    }
}

fn call_attributes(of: &Of) -> Vec<KeyValue> {
    let mut all = vec![
        text(names::OPERATION, names::EXECUTE_TOOL),
        text(names::TOOL, &of.tool),
        text(names::TOOL_TYPE, "function"),
        text(names::ENDING, of.ending),
    ];
    all.extend((!of.upstream.is_empty()).then(|| text(names::UPSTREAM, &of.upstream)));
    all.extend(of.kind.map(|kind| text(names::ERROR, kind)));
    all
}

fn attempt_attributes(of: &AttemptOf) -> Vec<KeyValue> {
    let mut all = vec![text(names::TOOL, &of.tool)];
    all.extend((!of.upstream.is_empty()).then(|| text(names::UPSTREAM, &of.upstream)));
    all.extend(of.kind.map(|kind| text(names::ERROR, kind)));
    all
}

/// The breaker of an upstream has no tool.
fn breaker_attributes(of: &BreakerOf) -> Vec<KeyValue> {
    let given = [(names::TOOL, &of.tool), (names::UPSTREAM, &of.upstream)];
    let given = given.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| text(name, value)).collect()
}

fn overflow() -> Vec<KeyValue> {
    vec![flag(names::OVERFLOW, true)]
}

fn sum(name: &str, description: &str, unit: &str, data_points: Vec<NumberDataPoint>) -> Metric {
    Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        data: Some(metric::Data::Sum(Sum {
            data_points,
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
            is_monotonic: true,
        })),
        ..Metric::default()
    }
}

fn number(attributes: Vec<KeyValue>, count: u64, between: Between) -> NumberDataPoint {
    NumberDataPoint {
        attributes,
        start_time_unix_nano: between.start,
        time_unix_nano: between.end,
        value: Some(Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX))),
        ..NumberDataPoint::default()
    }
}
