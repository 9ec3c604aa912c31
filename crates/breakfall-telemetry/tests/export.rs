//! What a guard's calls leave at a collector.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod collector;

use std::sync::Arc;
use std::time::Duration;

use breakfall::{
    Call, Config, Disposition, FailureKind, Fallback, Guard, GuardBuilder, Policy, Retry, Sink,
    Trace,
};
use breakfall_telemetry::{Exporter, Metrics, Settings, Transport, probe};
use breakfall_test::Script;
use collector::{Collector, Mood, hex, told, until};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn settings(url: &str, more: &str) -> Settings {
    let toml = format!("[telemetry]\nendpoint = '{url}'\n{more}");
    let config = Config::from_toml(&toml, "a.toml").unwrap();
    Settings::read(&config.telemetry(), |_| None).unwrap().unwrap()
}

fn exporter(settings: &Settings) -> Arc<Exporter> {
    Arc::new(Exporter::start(settings, Arc::default()).unwrap())
}

fn guarded(exporter: &Arc<Exporter>) -> GuardBuilder {
    let retry = Retry { first_delay: Duration::from_millis(1), ..Retry::default() };
    exporter
        .watch(Guard::builder())
        .policy(Policy { retry, ..Policy::default() })
        .fallback("falls", Fallback::tool("works"))
        .fallback("fixed", Fallback::value("a value").on([FailureKind::Upstream]))
        .tools([
            Script::new("works").answers("fine").tool(),
            Script::new("fails").fails(FailureKind::NotFound).tool().upstream("files"),
            Script::new("heals")
                .fails(FailureKind::Network)
                .answers("fine")
                .tool()
                .upstream("web")
                .effect(breakfall::Effect::ReadOnly),
            Script::new("falls").fails(FailureKind::Upstream).tool().upstream("web"),
            Script::new("fixed").fails(FailureKind::Upstream).tool(),
            Script::new("hangs").hangs().tool().upstream("web"),
        ])
}

/// A span with all that can be foreseen of it.
fn seen(span: &Span) -> String {
    let mut attributes = told(&span.attributes);
    for name in ["breakfall.attempt.wait", "breakfall.reference"] {
        attributes.entry(name.to_owned()).and_modify(|value| "…".clone_into(value));
    }
    let status = span.status.as_ref().map(|status| (status.code, status.message.as_str()));
    let all = attributes.iter().map(|(name, value)| format!("\n    {name}: {value}"));
    let under = if span.parent_span_id.is_empty() { "alone" } else { "under another" };
    format!("{} kind={} status={status:?} {under}{}", span.name, span.kind, all.collect::<String>())
}

#[tokio::test]
async fn the_export_holds_every_span_with_its_attributes() {
    let collector = Collector::start();
    let settings = settings(&collector.url, "service_name = 'tested'")
        .upstream("files", Transport::Pipe)
        .upstream("web", Transport::Http);
    let exporter = exporter(&settings);
    let guard =
        guarded(&exporter).disposition(FailureKind::NotFound, Disposition::Pause).build().unwrap();
    for (id, tool) in ["works", "fails", "heals", "falls", "fixed", "no_such"].iter().enumerate() {
        guard
            .handle(Call::new(format!("call_{id}"), *tool, r#"{"a":"secret"}"#).in_run("run_1"))
            .await;
    }
    {
        let call = guard.handle(Call::new("call_6", "hangs", "{}"));
        let _ = tokio::time::timeout(Duration::from_millis(20), call).await;
    }
    drop(guard);
    drop(exporter);
    let spans = collector.spans();
    let seen: Vec<String> = spans.iter().map(seen).collect();
    insta::assert_snapshot!(seen.join("\n\n"));

    // Every attempt stands under its call, in its time and its trace.
    for (at, span) in spans.iter().enumerate() {
        assert!(
            span.start_time_unix_nano > 0 && span.start_time_unix_nano <= span.end_time_unix_nano
        );
        assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
        if !span.parent_span_id.is_empty() {
            let call = spans[..at].iter().rfind(|it| it.span_id == span.parent_span_id).unwrap();
            assert_eq!(call.trace_id, span.trace_id);
            assert!(call.start_time_unix_nano <= span.start_time_unix_nano);
            assert!(span.end_time_unix_nano <= call.end_time_unix_nano);
        }
    }
    let sent = collector.sent();
    let request = ExportTraceServiceRequest::decode(&*sent[0].body).unwrap();
    let resource = request.resource_spans[0].resource.clone().unwrap();
    assert_eq!(told(&resource.attributes)["service.name"], "tested");
    assert!(sent[0].headers.to_ascii_lowercase().contains("content-type: application/x-protobuf"));
    // Contents are off.
    assert!(sent.iter().all(|sent| !String::from_utf8_lossy(&sent.body).contains("secret")));
}

#[tokio::test]
async fn the_export_holds_the_metrics_and_prometheus_the_same_counts() {
    let collector = Collector::start();
    let exporter = exporter(&settings(&collector.url, ""));
    let metrics = Arc::clone(exporter.metrics());
    let guard = guarded(&exporter).build().unwrap();
    for (id, tool) in
        ["works", "works", "fails", "heals", "falls", "no_such", "other"].iter().enumerate()
    {
        guard.handle(Call::new(id.to_string(), *tool, "{}")).await;
    }
    drop(guard);
    drop(exporter);
    let found = collector.metrics();
    let Some(Data::Histogram(duration)) = &found["gen_ai.execute_tool.duration"].data else {
        panic!("no histogram")
    };
    assert_eq!(
        (found["gen_ai.execute_tool.duration"].unit.as_str(), duration.aggregation_temporality),
        ("s", 2)
    );
    let mut seen: Vec<String> = Vec::new();
    for point in &duration.data_points {
        assert_eq!(
            point.explicit_bounds,
            [
                0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96,
                81.92
            ]
        );
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
        assert!(point.start_time_unix_nano < point.time_unix_nano && point.sum.unwrap() > 0.0);
        seen.push(format!("{:?} {}", told(&point.attributes), point.count));
    }
    let Some(Data::Sum(attempts)) = &found["breakfall.attempts"].data else { panic!("no sum") };
    assert!(attempts.is_monotonic);
    for point in &attempts.data_points {
        let Some(Value::AsInt(count)) = point.value else { panic!("no number") };
        seen.push(format!("attempts {:?} {count}", told(&point.attributes)));
    }
    let Some(Data::Sum(lost)) = &found["breakfall.records.lost"].data else { panic!("no sum") };
    assert_eq!(lost.data_points[0].value, Some(Value::AsInt(0)));
    insta::assert_snapshot!(seen.join("\n"));
    let text = metrics.text();
    let counts: Vec<&str> =
        text.lines().filter(|it| it.starts_with("breakfall_") || it.contains("_count{")).collect();
    insta::assert_snapshot!("prometheus", counts.join("\n"));
}

#[tokio::test]
async fn a_breaker_that_turns_is_told_of() {
    let collector = Collector::start();
    let exporter = exporter(&settings(&collector.url, ""));
    let guard = guarded(&exporter).policy(Policy { retry: Retry::never(), ..Policy::default() });
    let gone = Script::new("gone").fails(FailureKind::Network).tool().upstream("web");
    let guard = guard.tool(gone).build().unwrap();
    for id in 0..6 {
        guard.handle(Call::new(id.to_string(), "gone", format!(r#"{{"n":{id}}}"#))).await;
    }
    drop(guard);
    drop(exporter);
    let mut found = collector.metrics();
    let Some(Data::Sum(turns)) = found.remove("breakfall.breaker.transitions").unwrap().data else {
        panic!("no sum")
    };
    let Some(Data::Gauge(open)) = found.remove("breakfall.breaker.open").unwrap().data else {
        panic!("no gauge")
    };
    let points = turns.data_points.iter().chain(&open.data_points);
    let seen: Vec<_> = points
        .map(|point| {
            let Some(Value::AsInt(count)) = point.value else { panic!("no number") };
            format!("{:?} {count}", told(&point.attributes))
        })
        .collect();
    assert_eq!(
        seen,
        [
            r#"{"breakfall.breaker.to": "open", "breakfall.upstream": "web"} 1"#,
            r#"{"breakfall.breaker.to": "closed", "breakfall.upstream": "web"} 0"#,
            r#"{"breakfall.breaker.to": "open", "breakfall.upstream": "web", "gen_ai.tool.name": "gone"} 1"#,
            r#"{"breakfall.breaker.to": "closed", "breakfall.upstream": "web", "gen_ai.tool.name": "gone"} 0"#,
            r#"{"breakfall.upstream": "web"} 1"#,
            r#"{"breakfall.upstream": "web", "gen_ai.tool.name": "gone"} 1"#,
        ]
    );
}

#[tokio::test]
async fn a_call_stands_in_the_trace_of_its_caller_unless_that_is_not_recorded() {
    let collector = Collector::start();
    let exporter = exporter(&settings(&collector.url, ""));
    let guard = guarded(&exporter).build().unwrap();
    let caller = Trace::parse(PARENT, Some("vendor=1")).unwrap();
    guard.handle(Call::new("1", "works", "{}").traced(caller)).await;
    let unsampled = Trace::parse(&PARENT.replace("-01", "-00"), None).unwrap();
    guard.handle(Call::new("2", "works", "{}").traced(unsampled)).await;
    drop(guard);
    let metrics = Arc::clone(exporter.metrics());
    drop(exporter);
    let spans = collector.spans();
    let [call, attempt] = spans.as_slice() else { panic!("two spans: {spans:?}") };
    assert_eq!(hex(&call.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&call.parent_span_id), "b7ad6b7169203331");
    assert_eq!((call.trace_state.as_str(), call.flags), ("vendor=1", 0x301));
    assert_eq!((&attempt.parent_span_id, attempt.flags), (&call.span_id, 0x101));
    assert!(
        metrics
            .text()
            .contains(r#"breakfall_calls_total{tool="works",upstream="",ending="succeeded"} 2"#)
    );
    assert_eq!(metrics.lost(), 0);
}

#[tokio::test]
async fn contents_are_told_where_they_are_wanted_and_secrets_never() {
    let collector = Collector::start();
    let token = ["ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let exporter = exporter(&settings(
        &collector.url,
        &format!(
            "contents = true\nheaders = {{ Authorization = 'Bearer {token}', X-Key = 'lets-me-in' }}"
        ),
    ));
    let guard = exporter
        .watch(Guard::builder())
        .tool(Script::new("tell").answers(format!("here it is: {token}")).tool())
        // What lets us in at the collector is no shape that anybody knows.
        .tool(Script::new("tell_key").answers("lets-me-in").tool())
        .tool(Script::new("fail").errs(format!("no luck with {token}")).tool())
        .build()
        .unwrap();
    let arguments = format!(r#"{{"key":"{token}","path":"a.txt"}}"#);
    for tool in ["tell", "fail", "tell_key", &token] {
        guard.handle(Call::new("1", tool, arguments.as_str())).await;
    }
    drop(guard);
    drop(exporter);
    let spans = collector.spans();
    let attributes = told(&spans[0].attributes);
    assert!(
        attributes["gen_ai.tool.call.arguments"].contains(r#""path":"a.txt""#),
        "{attributes:?}"
    );
    assert!(
        attributes["gen_ai.tool.call.result"].starts_with("here it is: [redacted"),
        "{attributes:?}"
    );
    let failed = spans.iter().find(|span| span.name == "execute_tool fail").unwrap();
    assert!(told(&failed.attributes)["gen_ai.tool.call.result"].contains("`fail`"));
    let status = failed.status.as_ref().unwrap();
    assert!(status.message.starts_with("no luck with [redacted"), "{status:?}");
    for sent in collector.sent() {
        assert!(sent.headers.contains(&token));
        let body = String::from_utf8_lossy(&sent.body);
        assert!(!body.contains(&token) && !body.contains("lets-me-in"), "{}", sent.path);
    }
}

#[tokio::test]
async fn a_collector_that_refuses_for_a_while_gets_everything_when_it_is_back() {
    let collector = Collector::start();
    collector.is(Mood::Refuses("503 Service Unavailable\r\nretry-after: 0"));
    let exporter = exporter(&settings(&collector.url, ""));
    let guard = guarded(&exporter).build().unwrap();
    assert!(guard.handle(Call::new("1", "works", "{}")).await.success());
    until("it refused", || collector.refused() >= 2);
    assert!(guard.handle(Call::new("2", "works", "{}")).await.success());
    collector.is(Mood::Takes);
    until("both arrived", || collector.spans().len() == 4);
    until("both are counted", || exporter.exported().sent == 2);
    assert_eq!(exporter.exported().lost, 0);
}

#[tokio::test]
async fn a_collector_that_is_away_or_silent_costs_no_call_and_what_is_lost_is_counted() {
    let silent = Collector::start();
    silent.is(Mood::Hangs);
    // Nobody listens there.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refusing = Collector::start();
    refusing.is(Mood::Refuses("400 Bad Request"));
    for url in [silent.url.clone(), format!("http://{closed}"), refusing.url.clone()] {
        let exporter = exporter(&settings(&url, ""));
        let guard = guarded(&exporter).build().unwrap();
        for id in 0..10_000 {
            assert!(guard.handle(Call::new(id.to_string(), "works", "{}")).await.success());
        }
        drop(guard);
        let metrics = Arc::clone(exporter.metrics());
        drop(exporter);
        assert_eq!(metrics.lost(), 10_000, "{url}");
        let text = metrics.text();
        assert!(text.contains(
            r#"breakfall_calls_total{tool="works",upstream="",ending="succeeded"} 10000"#
        ));
        assert!(text.contains("breakfall_lost_records_total 10000"));
    }
}

#[tokio::test]
async fn a_collector_that_takes_only_some_has_taken_it() {
    let collector = Collector::start();
    let partial =
        ExportTracePartialSuccess { rejected_spans: 1, error_message: "too old".to_owned() };
    let answer = ExportTraceServiceResponse { partial_success: Some(partial) };
    collector.is(Mood::Says(answer.encode_to_vec()));
    let exporter = exporter(&settings(&collector.url, ""));
    let guard = guarded(&exporter).build().unwrap();
    guard.handle(Call::new("1", "works", "{}")).await;
    until("it arrived", || exporter.exported().sent == 1);
    assert_eq!((collector.spans().len(), exporter.exported().lost), (2, 0));
}

#[tokio::test]
async fn names_that_a_model_invents_fill_no_memory() {
    let metrics = Arc::new(Metrics::default());
    let sink = || Arc::clone(&metrics) as Arc<dyn Sink>;
    let guard = Guard::builder().sink(sink()).build().unwrap();
    for at in 0..3_000 {
        guard.handle(Call::new("1", format!("invented_{at}"), "{}")).await;
    }
    let tools = (0..2_100).map(|at| Script::new(format!("tool_{at}")).answers("fine").tool());
    let guard = Guard::builder().sink(sink()).tools(tools).build().unwrap();
    for at in 0..2_100 {
        guard.handle(Call::new("1", format!("tool_{at}"), "{}")).await;
    }
    let text = metrics.text();
    assert!(!text.contains("invented"));
    let lines = || text.lines().filter(|line| line.starts_with("breakfall_calls_total{"));
    assert_eq!(lines().count(), 2_001);
    let count = |line: &str| -> u64 { line.rsplit(' ').next().unwrap().parse().unwrap() };
    assert_eq!(lines().map(count).sum::<u64>(), 5_100);
    assert!(text.contains(r#"breakfall_calls_total{otel_metric_overflow="true"} 101"#));
}

#[tokio::test]
async fn a_collector_can_be_asked_whether_it_is_there() {
    let collector = Collector::start();
    probe(&settings(&collector.url, "")).await.unwrap();
    let paths: Vec<String> = collector.sent().into_iter().map(|sent| sent.path).collect();
    assert_eq!(paths, ["/v1/traces", "/v1/metrics"]);
    collector.is(Mood::Refuses("401 Unauthorized"));
    let error = probe(&settings(&collector.url, "")).await.unwrap_err();
    assert_eq!(error.to_string(), "the collector does not take spans: HTTP status 401");
}
