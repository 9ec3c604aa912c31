//! A collector in the test: a real HTTP server that keeps what it is sent, and can be made to
//! refuse, to be silent and to come back.
#![allow(dead_code, reason = "not every test asks everything")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// How long anything is waited for.
const LONG: Duration = Duration::from_secs(20);

/// What was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

/// How the collector behaves.
#[derive(Clone, Debug)]
pub(crate) enum Mood {
    Takes,
    /// With a body of its own.
    Says(Vec<u8>),
    Refuses(&'static str),
    Hangs,
}

#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) url: String,
    mood: Arc<Mutex<Mood>>,
    sent: Arc<Mutex<Vec<Sent>>>,
    refused: Arc<Mutex<u32>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn on(listener: TcpListener) -> Self {
        let collector = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            mood: Arc::new(Mutex::new(Mood::Takes)),
            sent: Arc::default(),
            refused: Arc::default(),
        };
        let it = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let it = it.clone();
                std::thread::spawn(move || it.serve(&stream));
            }
        });
        collector
    }

    pub(crate) fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn serve(&self, stream: &TcpStream) {
        let mut lines = BufReader::new(stream);
        loop {
            let mut headers = String::new();
            while !headers.ends_with("\r\n\r\n") {
                if lines.read_line(&mut headers).unwrap_or(0) == 0 {
                    return;
                }
            }
            let length = headers.to_ascii_lowercase();
            let length = length.split("content-length:").nth(1).unwrap().lines().next().unwrap();
            let mut body = vec![0; length.trim().parse().unwrap()];
            lines.read_exact(&mut body).unwrap();
            let path = headers.split(' ').nth(1).unwrap().to_owned();
            let mood = self.mood.lock().unwrap().clone();
            let (status, answer) = match mood {
                Mood::Takes => ("200 OK", Vec::new()),
                Mood::Says(answer) => ("200 OK", answer),
                Mood::Refuses(status) => (status, Vec::new()),
                Mood::Hangs => {
                    *self.refused.lock().unwrap() += 1;
                    std::thread::sleep(LONG);
                    return;
                }
            };
            if status == "200 OK" {
                self.sent.lock().unwrap().push(Sent { path, headers, body });
            } else {
                *self.refused.lock().unwrap() += 1;
            }
            let length = answer.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/x-protobuf\r\ncontent-length: {length}\r\n\r\n"
            );
            let mut stream = stream;
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&answer)).is_err() {
                return;
            }
        }
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// How often it did not take what was sent.
    pub(crate) fn refused(&self) -> u32 {
        *self.refused.lock().unwrap()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let sent = self.sent();
        let traces = sent.iter().filter(|sent| sent.path == "/v1/traces");
        let requests = traces.map(|sent| ExportTraceServiceRequest::decode(&*sent.body).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        resources.flat_map(|it| it.scope_spans).flat_map(|it| it.spans).collect()
    }

    /// The metrics of the last export, by name.
    pub(crate) fn metrics(&self) -> BTreeMap<String, Metric> {
        let sent = self.sent();
        let Some(last) = sent.iter().rfind(|sent| sent.path == "/v1/metrics") else {
            return BTreeMap::new();
        };
        let request = ExportMetricsServiceRequest::decode(&*last.body).unwrap();
        let scopes = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
        scopes.flat_map(|it| it.metrics).map(|metric| (metric.name.clone(), metric)).collect()
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Attributes as they can be compared.
pub(crate) fn told(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let value = |attribute: &KeyValue| match attribute.value.clone().and_then(|it| it.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(Value::BoolValue(is)) => is.to_string(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|one| (one.key.clone(), value(one))).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
