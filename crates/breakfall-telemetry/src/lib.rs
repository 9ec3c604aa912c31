//! Spans and metrics of calls, over OTLP and for Prometheus.
