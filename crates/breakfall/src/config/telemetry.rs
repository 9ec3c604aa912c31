//! Where the file wants telemetry to go, for who sends it.

use std::collections::BTreeMap;

use super::load::Config;

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
