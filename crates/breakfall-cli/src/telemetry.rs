//! Where the program tells of calls, when it is told where.

use std::sync::Arc;

use breakfall::{Config, GuardBuilder};
use breakfall_mcp::{Reach, Server};
use breakfall_telemetry::{Error, Exporter, Metrics, Settings, Transport, probe};

use crate::failed::Failed;

/// One exporter for all guards of the program, where an endpoint is given; or only counts, where
/// somebody shows them; or nothing.
#[derive(Clone)]
pub(crate) enum Telemetry {
    Sent(Arc<Exporter>),
    Counted(Arc<Metrics>),
    Off,
}

impl Telemetry {
    /// Tells of calls where the configuration says, and counts them in `shown` where that is given.
    pub(crate) fn start(
        config: &Config,
        servers: &[Server],
        shown: Option<Arc<Metrics>>,
    ) -> Result<Self, Failed> {
        let counts = shown.clone().unwrap_or_default();
        let started = settings(config, servers).and_then(|settings| {
            let start = |settings| Exporter::start(&settings, counts).map(Arc::new);
            settings.map(start).transpose()
        });
        let unsent = shown.map_or(Self::Off, Self::Counted);
        match started {
            Ok(exporter) => Ok(exporter.map_or(unsent, Self::Sent)),
            // What is said to every program must not stop this one.
            Err(error) if config.telemetry().endpoint.is_none() => {
                tracing::warn!(%error, "Telemetry is off");
                Ok(unsent)
            }
            Err(error) => Err(unusable(error)),
        }
    }

    pub(crate) fn watch(&self, guard: GuardBuilder) -> GuardBuilder {
        match self {
            Self::Sent(exporter) => exporter.watch(guard),
            Self::Counted(metrics) => guard.sink(Arc::clone(metrics) as _),
            Self::Off => guard,
        }
    }

    /// Sends what is left: sessions that end later must not keep it back.
    pub(crate) fn end(&self) {
        if let Self::Sent(exporter) = self {
            exporter.end();
        }
    }
}

/// Tells a person whether the collector takes what would be sent.
pub(crate) async fn tell(config: &Config) -> Result<(), Failed> {
    let settings = match settings(config, &[]) {
        Ok(Some(settings)) => settings,
        Ok(None) => return Ok(()),
        Err(error) if config.telemetry().endpoint.is_some() => return Err(unusable(error)),
        Err(error) => {
            say!("warn  telemetry is off: {error}");
            return Ok(());
        }
    };
    match probe(&settings).await {
        Ok(()) => say!("ok    telemetry: the collector takes what is sent"),
        Err(error) => {
            say!("warn  telemetry: {error}");
            say!(
                "      next: start the collector, or mend its address and headers; calls go on without it"
            );
        }
    }
    Ok(())
}

fn unusable(error: Error) -> Failed {
    Failed::new("telemetry cannot be used").because(error)
}

fn settings(config: &Config, servers: &[Server]) -> Result<Option<Settings>, Error> {
    let settings = Settings::read(&config.telemetry(), |name| std::env::var(name).ok())?;
    let told = |settings: Settings| {
        servers.iter().fold(settings, |settings, server| {
            let transport = match server.reach {
                Reach::Command(_) => Transport::Pipe,
                Reach::Address(_) => Transport::Http,
            };
            settings.upstream(&server.key, transport)
        })
    };
    Ok(settings.map(told))
}
