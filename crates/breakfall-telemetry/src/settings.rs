//! Where telemetry goes: what the file says, and what OpenTelemetry's variables say to every
//! program. Ours stands above theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use breakfall::{ConfiguredTelemetry, filled, secret_in_header};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Error;
use crate::names;
use crate::spans::{Terms, Transport};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const OUR_ENDPOINT: &str = "telemetry.endpoint";
const OUR_HEADERS: &str = "telemetry.headers";
const SPOKEN: &str = "http/protobuf";

/// How often metrics are sent, and how long a request may take, until told otherwise.
const INTERVAL: Duration = Duration::from_mins(1);
const TIMEOUT: Duration = Duration::from_secs(10);

/// What is sent where. Only a usable one exists.
#[derive(Clone)]
pub struct Settings {
    pub(crate) traces: Option<Target>,
    pub(crate) metrics: Option<Target>,
    pub(crate) resource: BTreeMap<String, String>,
    pub(crate) terms: Terms,
    pub(crate) timeout: Duration,
    pub(crate) interval: Duration,
}

/// Where one sort of it goes.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
}

/// The names of the variables for one sort.
struct Sort {
    path: &'static str,
    endpoint: &'static str,
    headers: &'static str,
    protocol: &'static str,
    exporter: &'static str,
}

const TRACES: Sort = Sort {
    path: "v1/traces",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    exporter: "OTEL_TRACES_EXPORTER",
};

const METRICS: Sort = Sort {
    path: "v1/metrics",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    protocol: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    exporter: "OTEL_METRICS_EXPORTER",
};

/// The headers hold secrets, and so may the addresses.
impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the file's table and OpenTelemetry's variables; nothing where neither names an
    /// endpoint, or `OTEL_SDK_DISABLED` is `true`.
    ///
    /// ```
    /// use breakfall::Config;
    /// use breakfall_telemetry::Settings;
    ///
    /// let config = Config::from_toml("[telemetry]\nendpoint = 'http://localhost:4318'", "a.toml")?;
    /// let settings = Settings::read(&config.telemetry(), |name| std::env::var(name).ok())?;
    /// assert!(settings.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(
        file: &ConfiguredTelemetry,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Error> {
        let variable =
            |name: &str| variable(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        if variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = target(file, &variable, &TRACES)?;
        let metrics = target(file, &variable, &METRICS)?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let millis = |name: &str| {
            let given = variable(name)?.parse().ok().map(Duration::from_millis);
            // Nought would be without end.
            given.filter(|given| !given.is_zero())
        };
        Ok(Some(Self {
            traces,
            metrics,
            resource: resource(file, &variable),
            terms: Terms { contents: file.contents, ..Terms::default() },
            timeout: millis("OTEL_EXPORTER_OTLP_TIMEOUT").unwrap_or(TIMEOUT),
            interval: millis("OTEL_METRIC_EXPORT_INTERVAL").unwrap_or(INTERVAL),
        }))
    }

    /// Tells how an upstream is reached that is an MCP server.
    #[must_use]
    pub fn upstream(mut self, name: impl Into<String>, transport: Transport) -> Self {
        self.terms.transports.insert(name.into(), transport);
        self
    }

    /// What must never be shown: the values of headers.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let targets = [&self.traces, &self.metrics].into_iter().flatten();
        let headers = targets.flat_map(|target| &target.headers);
        let secrets = headers.filter_map(|(name, value)| {
            secret_in_header(name.as_str(), value.to_str().ok()?).map(ToOwned::to_owned)
        });
        let all: BTreeSet<String> = secrets.collect();
        all.into_iter().collect()
    }
}

/// Where one sort goes, and with which headers: those of the variables go only where the variables
/// say.
fn target(
    file: &ConfiguredTelemetry,
    variable: &impl Fn(&str) -> Option<String>,
    sort: &Sort,
) -> Result<Option<Target>, Error> {
    if variable(sort.exporter).is_some_and(|exporter| exporter == "none") {
        return Ok(None);
    }
    let mut headers = HeaderMap::new();
    let ours =
        file.endpoint.as_deref().map(|endpoint| whole(endpoint, OUR_ENDPOINT)).transpose()?;
    let url = if let Some(ours) = ours {
        below(&ours, sort.path).ok_or(Error::Address { from: OUR_ENDPOINT })?
    } else {
        let (given, from) = match (variable(sort.endpoint), variable(ENDPOINT)) {
            (Some(own), _) => (address(&own), sort.endpoint),
            (None, Some(all)) => (below(&all, sort.path), ENDPOINT),
            (None, None) => return Ok(None),
        };
        is_spoken(variable, sort)?;
        for from in [HEADERS, sort.headers] {
            for (name, value) in pairs(&variable(from).unwrap_or_default()) {
                insert(&mut headers, &name, &value, from)?;
            }
        }
        given.ok_or(Error::Address { from })?
    };
    for (name, value) in &file.headers {
        insert(&mut headers, name, &whole(value, OUR_HEADERS)?, OUR_HEADERS)?;
    }
    Ok(Some(Target { url, headers }))
}

fn is_spoken(variable: &impl Fn(&str) -> Option<String>, sort: &Sort) -> Result<(), Error> {
    let names = [sort.protocol, "OTEL_EXPORTER_OTLP_PROTOCOL"];
    let given = names.into_iter().find_map(|name| Some((name, variable(name)?)));
    match given {
        Some((variable, given)) if given != SPOKEN => {
            let given = given.chars().filter(|c| !c.is_control()).take(32).collect();
            Err(Error::Protocol { variable, given })
        }
        _ => Ok(()),
    }
}

/// A text with the values of its variables.
fn whole(text: &str, from: &'static str) -> Result<String, Error> {
    match filled(text) {
        (whole, None) => Ok(whole),
        (_, Some(name)) => Err(Error::Variable { name, from }),
    }
}

fn address(text: &str) -> Option<Url> {
    let url: Url = text.parse().ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// The address of a path below a collector's.
fn below(text: &str, path: &str) -> Option<Url> {
    let mut url = address(text)?;
    let whole = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    Some(url)
}

fn insert(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
    from: &'static str,
) -> Result<(), Error> {
    let name = HeaderName::try_from(name).map_err(|_| Error::Header { from })?;
    let mut value = HeaderValue::try_from(value).map_err(|_| Error::Header { from })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn resource(
    file: &ConfiguredTelemetry,
    variable: &impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let given = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let mut all: BTreeMap<String, String> = pairs(&given).into_iter().collect();
    let name = file.service_name.clone().or_else(|| variable("OTEL_SERVICE_NAME"));
    if let Some(name) = name {
        all.insert(names::SERVICE.to_owned(), name);
    }
    all.entry(names::SERVICE.to_owned()).or_insert_with(|| "breakfall".to_owned());
    let version = env!("CARGO_PKG_VERSION");
    all.entry(names::SERVICE_VERSION.to_owned()).or_insert_with(|| version.to_owned());
    all
}

/// `a=1,b=2`, what is not plain in `%` and two digits. What is no pair is left out.
fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split(',').filter_map(|part| part.split_once('='));
    let decoded = parts.map(|(name, value)| (decoded(name.trim()), decoded(value.trim())));
    decoded.filter(|(name, _)| !name.is_empty()).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits
            .and_then(|it| str::from_utf8(it).ok())
            .and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(toml: &str) -> ConfiguredTelemetry {
        breakfall::Config::from_toml(toml, "a.toml").unwrap().telemetry()
    }

    fn read(toml: &str, variables: &[(&str, &str)]) -> Result<Option<Settings>, Error> {
        let of = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Settings::read(&file(toml), of)
    }

    /// Where spans and metrics go, with their headers.
    fn targets(toml: &str, variables: &[(&str, &str)]) -> [Option<(String, Vec<String>)>; 2] {
        let settings = read(toml, variables).unwrap().unwrap();
        [settings.traces, settings.metrics].map(|target| {
            target.map(|Target { url, headers }| {
                let mut told: Vec<String> = headers
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                    .collect();
                told.sort();
                (url.to_string(), told)
            })
        })
    }

    #[test]
    fn nothing_is_sent_unless_an_endpoint_is_given() {
        assert!(read("", &[]).unwrap().is_none());
        assert!(read("[telemetry]\nservice_name = 'x'", &[(HEADERS, "a=1")]).unwrap().is_none());
        let off = [("OTEL_SDK_DISABLED", "TRUE"), (ENDPOINT, "http://a")];
        assert!(read("[telemetry]\nendpoint = 'http://b'", &off).unwrap().is_none());
    }

    #[test]
    fn the_file_stands_above_the_variables_and_headers_go_where_they_were_meant_to() {
        let one = |url: &str, headers: &[&str]| {
            Some((url.to_owned(), headers.iter().map(ToString::to_string).collect::<Vec<_>>()))
        };
        let environment =
            [(ENDPOINT, "http://a:4318/otlp/"), (HEADERS, "x-key=a%20b%2C,y=%zz, =1,z")];
        let headers = ["x-key: a b,", "y: %zz"];
        assert_eq!(
            targets("", &environment),
            [
                one("http://a:4318/otlp/v1/traces", &headers),
                one("http://a:4318/otlp/v1/metrics", &headers)
            ]
        );
        let ours = "[telemetry]\nendpoint = 'https://b'\nheaders = { a = '${NO_SUCH:-c}' }";
        assert_eq!(
            targets(ours, &environment),
            [one("https://b/v1/traces", &["a: c"]), one("https://b/v1/metrics", &["a: c"])]
        );
        let own = [(TRACES.endpoint, "http://c/here"), (TRACES.headers, "t=1")];
        assert_eq!(targets("", &own), [one("http://c/here", &["t: 1"]), None]);
        let none = [(ENDPOINT, "http://a"), (TRACES.exporter, "none")];
        assert_eq!(targets("", &none), [None, one("http://a/v1/metrics", &[])]);
    }

    #[test]
    fn what_is_wrong_is_told_without_secrets() {
        let secret = ["hun", "ter2"].concat();
        for (toml, name, value, words) in [
            (
                "",
                "OTEL_EXPORTER_OTLP_PROTOCOL",
                "grpc".to_owned(),
                "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`: only `http/protobuf` is spoken",
            ),
            (
                "",
                TRACES.protocol,
                "http/json".to_owned(),
                "`OTEL_EXPORTER_OTLP_TRACES_PROTOCOL` is `http/json`: only `http/protobuf` is spoken",
            ),
            (
                "",
                ENDPOINT,
                format!("ftp://a:{secret}@b"),
                "`OTEL_EXPORTER_OTLP_ENDPOINT` is no address that begins with `http://` or `https://`",
            ),
            (
                "",
                HEADERS,
                format!("a b={secret}"),
                "`OTEL_EXPORTER_OTLP_HEADERS` holds what is no header",
            ),
            (
                "[telemetry]\nendpoint = 'http://${NO_SUCH}'",
                "X",
                String::new(),
                "the variable `NO_SUCH` is not set, which `telemetry.endpoint` speaks of",
            ),
            (
                "[telemetry]\nendpoint = 'http://a'\nheaders = { A = '${NO_SUCH}' }",
                "X",
                String::new(),
                "the variable `NO_SUCH` is not set, which `telemetry.headers` speaks of",
            ),
        ] {
            let variables = [(name, value.as_str()), (ENDPOINT, "http://a")];
            let error = read(toml, &variables).unwrap_err();
            assert_eq!(error.to_string(), words);
            assert!(!format!("{error:?}").contains(&secret));
        }
        let settings = read("", &[(ENDPOINT, "http://a:b@c"), (HEADERS, &format!("a={secret}"))]);
        assert!(!format!("{:?}", settings.unwrap()).contains(&secret));
    }

    #[test]
    fn we_are_called_what_the_file_says_or_the_variables() {
        let named = |toml: &str, variables: &[(&str, &str)]| {
            let all = [variables, &[(ENDPOINT, "http://a")]].concat();
            read(toml, &all).unwrap().unwrap().resource[names::SERVICE].clone()
        };
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=attributed,a=b");
        assert_eq!(named("", &[]), "breakfall");
        assert_eq!(named("", &[attributes]), "attributed");
        assert_eq!(named("", &[attributes, ("OTEL_SERVICE_NAME", "named")]), "named");
        let ours = "[telemetry]\nservice_name = 'ours'";
        assert_eq!(named(ours, &[("OTEL_SERVICE_NAME", "named")]), "ours");
    }
}
