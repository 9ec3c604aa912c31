//! Where the file wants telemetry to go: its table, and what it means for who sends it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::load::Config;

/// Where spans and metrics of calls go.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TelemetryTable {
    /// The address of an OpenTelemetry collector that takes OTLP over HTTP; `/v1/traces` and
    /// `/v1/metrics` are put behind it.
    #[schemars(regex(pattern = r"^(https?://|\$\{)."))]
    #[schemars(extend("title" = "an address that begins with `http://` or `https://`"))]
    pub(super) endpoint: Option<String>,
    /// Headers that every request to it carries; `${NAME}` stands for a variable's value.
    pub(super) headers: BTreeMap<String, String>,
    /// What we are called there; `breakfall` until told otherwise.
    #[schemars(length(min = 1))]
    pub(super) service_name: Option<String>,
    /// Whether arguments and outputs go there, too, redacted.
    pub(super) contents: Option<bool>,
}

/// What the file says of telemetry. Values of variables are not filled in yet.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredTelemetry {
    /// The collector's address; without it the file turns nothing on.
    pub endpoint: Option<String>,
    /// What every request to it carries; values are secrets.
    pub headers: BTreeMap<String, String>,
    /// What we are called there.
    pub service_name: Option<String>,
    /// Whether arguments and outputs go there, too, redacted.
    pub contents: bool,
}

/// The headers hold secrets, and so may the address.
impl std::fmt::Debug for ConfiguredTelemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredTelemetry")
            .field("contents", &self.contents)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// What the file says of telemetry.
    pub fn telemetry(&self) -> ConfiguredTelemetry {
        let table = &self.file.telemetry;
        ConfiguredTelemetry {
            endpoint: table.endpoint.clone(),
            headers: table.headers.clone(),
            service_name: table.service_name.clone(),
            contents: table.contents.unwrap_or_default(),
        }
    }
}
